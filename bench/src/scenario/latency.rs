//! Latency under light load: as many publishers as subscribers, one message a second each, at QoS 0, 1 and 2.

use std::time::Duration;

use tidegate_codec::QoS;

use super::{Target, charts, published::latency as published};
use crate::load::template::{PayloadTemplate, Template};
use crate::load::{LoadError, LoadPlan, Outcome, Pace};
use crate::report::format::{bytes, count, millis, number};
use crate::report::{Report, Screen, Table};

/// Parameters of the scenario.
#[derive(Debug, Clone)]
pub struct Latency {
    /// Publishers, and as many subscribers, each to one of them.
    pub clients: u32,
    /// Payload in bytes.
    pub payload_bytes: usize,
    /// Between two messages of a publisher.
    pub every: Duration,
    /// Publishing before measuring, for each QoS.
    pub warm_up: Duration,
    /// Publishing that is measured, for each QoS.
    pub duration: Duration,
    /// The QoS of messages and subscriptions, one after the other.
    pub qos: Vec<QoS>,
}

/// What one broker showed at one QoS.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Name of the broker.
    pub name: String,
    /// QoS of messages and subscriptions.
    pub qos: QoS,
    /// What it showed.
    pub outcome: Outcome,
}

impl Latency {
    /// As published, with measured periods of `duration`.
    pub fn lasting(duration: Duration) -> Self {
        Self {
            clients: published::CLIENTS,
            payload_bytes: published::PAYLOAD_BYTES,
            every: Duration::from_secs(1),
            warm_up: Duration::from_secs(2),
            duration,
            qos: vec![QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce],
        }
    }

    /// Measures `target` at every QoS, by `plan` with what this scenario sets.
    pub fn run(
        &self,
        target: &Target,
        plan: &LoadPlan,
        screen: &mut Screen,
    ) -> Result<Vec<Measured>, LoadError> {
        let mut plan = plan.clone();
        plan.target = target.address();
        plan.publish.clients = self.clients;
        plan.subscribe.clients = self.clients;
        plan.publish.pace = Pace::Every(self.every);
        plan.publish.payload = PayloadTemplate::Fixed(self.payload_bytes);
        plan.publish.topic = Template::prefixed("latency/");
        plan.subscribe.filter = Template::prefixed("latency/");
        (plan.warm_up, plan.duration) = (self.warm_up, self.duration);
        let name = target.server().name;
        let mut measured = Vec::new();
        for &qos in &self.qos {
            (plan.publish.qos, plan.subscribe.qos) = (qos, qos);
            let outcome = target.run(&plan, &format!("{name} QoS {}", qos as u8), screen)?;
            measured.push(Measured {
                name: name.clone(),
                qos,
                outcome,
            });
        }
        Ok(measured)
    }

    /// What the outcomes say.
    pub fn report(&self, measured: &[Measured]) -> Report {
        let clients = count(u64::from(self.clients));
        let mut report = Report::new(
            "latency",
            format!("Latency: {clients} publishers to {clients} subscribers"),
            format!(
                "{clients} publishers and {clients} subscribers connect; then each publisher sends one message of {} \
                 every {} to its subscriber, for {} at each QoS.",
                bytes(self.payload_bytes as f64),
                humantime::format_duration(self.every),
                humantime::format_duration(self.duration),
            ),
        );
        let rate = f64::from(self.clients) / self.every.as_secs_f64().max(f64::MIN_POSITIVE);
        report.parameters = vec![
            (
                "Concurrent connections".to_owned(),
                format!("{clients} publishers, {clients} subscribers"),
            ),
            (
                "QoS".to_owned(),
                self.qos
                    .iter()
                    .map(|qos| (*qos as u8).to_string())
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
            ("Payload".to_owned(), bytes(self.payload_bytes as f64)),
            (
                "Message throughput".to_owned(),
                format!("{}/second", number(rate)),
            ),
        ];
        report.observations = measured.iter().map(observation).collect();
        let mut names: Vec<&str> = measured.iter().map(|one| one.name.as_str()).collect();
        names.dedup();
        for name in names {
            let of_name: Vec<&Measured> = measured.iter().filter(|one| one.name == name).collect();
            report.tables.push(metrics(name, &of_name));
        }
        report.tables.push(as_published());
        for one in measured {
            let of = format!("{}, QoS {}", one.name, one.qos as u8);
            report.charts.extend(charts::all(&of, &one.outcome.seconds));
        }
        report
    }
}

fn observation(measured: &Measured) -> String {
    let totals = &measured.outcome.totals;
    format!(
        "{} at QoS {}: {} messages sent, {} received, {} lost, {} duplicated, {} reordered.",
        measured.name,
        measured.qos as u8,
        count(totals.sent),
        count(totals.delivered),
        count(totals.lost.unwrap_or(0)),
        count(totals.duplicated),
        count(totals.reordered),
    )
}

fn metrics(name: &str, measured: &[&Measured]) -> Table {
    let mut table = Table::new(
        name,
        "End to end: from the intended send time to the subscriber, both on this machine. Response: from the intended \
         send time to PUBACK (QoS 1) or PUBCOMP (QoS 2).",
        &[""],
    );
    let heads = measured.iter().map(|one| format!("QoS {}", one.qos as u8));
    table.columns.extend(heads);
    let mut row = |name: &str, value: fn(&Outcome) -> Option<String>| {
        let cells = measured
            .iter()
            .map(|one| value(&one.outcome).unwrap_or_else(|| "–".to_owned()));
        let row = std::iter::once(name.to_owned()).chain(cells).collect();
        table.row(row);
    };
    row("End to end, mean", |outcome| {
        Some(millis(outcome.published?.deliver_us.mean))
    });
    row("End to end, p50", |outcome| {
        Some(millis(outcome.published?.deliver_us.p50))
    });
    row("End to end, p99", |outcome| {
        Some(millis(outcome.published?.deliver_us.p99))
    });
    row("End to end, p99.9", |outcome| {
        Some(millis(outcome.published?.deliver_us.p999))
    });
    row("End to end, max", |outcome| {
        Some(millis(outcome.published?.deliver_us.max))
    });
    row("Response, mean", |outcome| response(outcome, |times| times.mean));
    row("Response, p50", |outcome| response(outcome, |times| times.p50));
    row("Response, p99", |outcome| response(outcome, |times| times.p99));
    row("Broker cores", |outcome| {
        Some(number(outcome.published?.broker_cores?.0))
    });
    row("Broker memory (resident)", |outcome| {
        Some(bytes(outcome.published?.broker?.resident_bytes as f64))
    });
    table
}

fn response(outcome: &Outcome, value: fn(&crate::load::Percentiles) -> f64) -> Option<String> {
    let times = outcome.published?.acknowledge_us;
    (times.count > 0).then(|| millis(value(&times)))
}

fn as_published() -> Table {
    let mut table = Table::new(
        &format!("Published ({})", published::HOST),
        "Their latency is the time inside the broker, from a message's arrival to its departure; their response time \
         crosses a network and includes the load tool. Neither is an end-to-end time.",
        &["", "QoS 0", "QoS 1", "QoS 2"],
    );
    let inside = published::INSIDE_US.map(millis);
    table.row(std::iter::once("Latency".to_owned()).chain(inside).collect());
    let response = [published::RESPONSE_US; 3].map(millis);
    table.row(
        std::iter::once("Response time".to_owned())
            .chain(response)
            .collect(),
    );
    table
}
