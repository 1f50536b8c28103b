//! A load of the user's own: any number of publishers and subscribers, any pace, any payload.

use super::{Target, charts};
use crate::load::{LoadPlan, Outcome, Pace, Percentiles};
use crate::report::format::{bytes, count, micros, number};
use crate::report::{Report, Table};

/// What the outcome of `plan` on `target` says.
pub fn report(plan: &LoadPlan, target: &Target, outcome: &Outcome) -> Report {
    let server = target.server();
    let (publish, subscribe) = (&plan.publish, &plan.subscribe);
    let pace = match publish.pace {
        Pace::Saturated => format!("{} in flight each", publish.window),
        Pace::Every(interval) => format!("one message every {} each", humantime::format_duration(interval)),
    };
    let mut report = Report::new(
        "load",
        format!("Load on {}", server.name),
        format!(
            "{} publishers, {pace}, and {} subscribers.",
            count(u64::from(publish.clients)),
            count(u64::from(subscribe.clients)),
        ),
    );
    report.parameters = vec![
        ("Publishers".to_owned(), count(u64::from(publish.clients))),
        ("Subscribers".to_owned(), count(u64::from(subscribe.clients))),
        (
            "QoS".to_owned(),
            format!(
                "{} published, {} subscribed",
                publish.qos as u8, subscribe.qos as u8
            ),
        ),
        (
            "Payload".to_owned(),
            bytes(publish.payload.render(0, plan.seed).bytes.len() as f64),
        ),
        ("Pace".to_owned(), pace),
    ];
    report.tables = vec![rates(outcome), times(outcome), reconciliation(outcome)];
    report.charts = charts::all(&server.name, &outcome.seconds);
    report.add_server(server);
    report
}

fn rates(outcome: &Outcome) -> Table {
    let mut table = Table::new(
        "Rates and costs",
        "Processor time is user and system time. The generator's is shown so that it can be seen not to be the limit.",
        &[
            "messages/s",
            "delivered/s",
            "broker CPU a message",
            "broker cores",
            "generator CPU a message",
        ],
    );
    if let Some(published) = outcome.published {
        let unwatched = || "not watched".to_owned();
        table.row(vec![
            number(published.rate),
            number(published.counters.delivered as f64 / published.seconds.max(f64::MIN_POSITIVE)),
            published.broker_cpu_us.map_or_else(unwatched, micros),
            published
                .broker_cores
                .map_or_else(unwatched, |(mean, _)| number(mean)),
            micros(published.generator_cpu_us),
        ]);
    }
    table
}

fn times(outcome: &Outcome) -> Table {
    let mut table = Table::new(
        "Times",
        "",
        &["", "count", "mean", "p50", "p90", "p99", "p99.9", "max"],
    );
    let mut row = |name: &str, times: Percentiles| {
        if times.count > 0 {
            let values = [times.mean, times.p50, times.p90, times.p99, times.p999, times.max].map(micros);
            table.row(
                [name.to_owned(), count(times.count)]
                    .into_iter()
                    .chain(values)
                    .collect(),
            );
        }
    };
    row("Connect", outcome.connected.latency_us);
    if let Some(published) = outcome.published {
        row("Publish to acknowledgement", published.acknowledge_us);
        row("End to end", published.deliver_us);
    }
    table
}

/// Whether the messages add up.
pub fn reconciliation(outcome: &Outcome) -> Table {
    let totals = &outcome.totals;
    let mut table = Table::new("Reconciliation of the whole run", "", &["", "messages"]);
    let rows = [
        ("Sent", Some(totals.sent)),
        ("Acknowledged", Some(totals.acknowledged)),
        ("Refused", Some(totals.refused)),
        ("Unacknowledged", Some(totals.unacknowledged)),
        ("Deliveries expected", Some(totals.expected)),
        ("Deliveries", Some(totals.delivered)),
        ("Lost", totals.lost),
        ("Duplicated", Some(totals.duplicated)),
        ("Reordered", Some(totals.reordered)),
        ("Foreign", Some(totals.foreign)),
        ("Stray acknowledgements", Some(totals.stray_acknowledgements)),
        ("Clients lost", Some(totals.disconnected)),
    ];
    for (name, value) in rows {
        table.row(vec![
            name.to_owned(),
            value.map_or_else(|| "not traced".to_owned(), count),
        ]);
    }
    table
}
