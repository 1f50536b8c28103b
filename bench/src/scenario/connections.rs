//! Many connections, idle but for their keep-alive: what connecting costs, and what a connection holds.

use std::time::Duration;

use super::{Target, charts, published::connections as published};
use crate::load::{LoadError, LoadPlan, Outcome, Phase};
use crate::report::format::{bytes, count, micros, millis, number, percent};
use crate::report::{Report, Screen, Table};

/// Parameters of the scenario.
#[derive(Debug, Clone)]
pub struct Connections {
    /// Clients.
    pub clients: u32,
    /// New connections a second.
    pub per_second: u32,
    /// Keep-alive in seconds.
    pub keep_alive: u16,
    /// How long all of them stay.
    pub hold: Duration,
}

impl Connections {
    /// As published.
    pub fn published() -> Self {
        Self {
            clients: published::CLIENTS,
            per_second: published::PER_SECOND,
            keep_alive: published::KEEP_ALIVE,
            hold: Duration::from_secs(published::HOLD_SECONDS),
        }
    }

    /// Connects to `target` by `plan`, whose clients and times this scenario sets.
    pub fn run(
        &self,
        target: &Target,
        mut plan: LoadPlan,
        screen: &mut Screen,
    ) -> Result<Outcome, LoadError> {
        plan.target = target.address();
        plan.publish.clients = self.clients;
        plan.connect.per_second = self.per_second;
        plan.connect.keep_alive = self.keep_alive;
        plan.settle = self.hold;
        plan.duration = Duration::ZERO;
        target.run(&plan, "connections", screen)
    }

    /// What the outcome says.
    pub fn report(&self, target: &Target, outcome: &Outcome) -> Report {
        let server = target.server();
        let connected = &outcome.connected;
        let mut report = Report::new(
            "connections",
            format!(
                "Connections: {} clients on {}",
                count(u64::from(self.clients)),
                server.name
            ),
            format!(
                "{} MQTT clients connect at {} a second and stay connected for {}.",
                count(u64::from(self.clients)),
                count(u64::from(self.per_second)),
                humantime::format_duration(self.hold),
            ),
        );
        report.parameters = vec![
            (
                "Concurrent connections".to_owned(),
                count(u64::from(self.clients)),
            ),
            (
                "Connection rate".to_owned(),
                format!("{}/s", count(u64::from(self.per_second))),
            ),
            ("Authentication".to_owned(), "no".to_owned()),
            ("Keep alive".to_owned(), format!("{} s", self.keep_alive)),
            ("Clean session".to_owned(), "true".to_owned()),
        ];
        report.observations = vec![
            format!(
                "{} of {} clients connected within {} s; {} failed, {} were lost later.",
                count(connected.ready),
                count(u64::from(self.clients)),
                number(connected.seconds),
                count(connected.failed),
                count(outcome.totals.disconnected),
            ),
            "Connect times count from the instant at which the rate called for the connection.".to_owned(),
        ];
        report.tables = vec![metrics(outcome, report.machine.cores), details(outcome)];
        report.charts = charts::all(&server.name, &outcome.seconds);
        report.add_server(server);
        report
    }
}

/// The published table, with ours beside it.
fn metrics(outcome: &Outcome, machine_cores: usize) -> Table {
    let mut table = Table::new(
        "Metrics",
        "Published memory is that of the whole host. Ours is the broker's process; the kernel adds 4 to 5 KB a socket.",
        &["", "this run", &format!("published ({})", published::HOST)],
    );
    let cores: Vec<f64> = outcome
        .seconds
        .iter()
        .filter_map(|second| second.broker_cores)
        .collect();
    let held = outcome
        .seconds
        .iter()
        .filter(|second| second.phase == Phase::Connect && second.counters.ready == 0);
    let memory: Vec<f64> = held
        .filter_map(|second| Some(second.broker?.resident_bytes as f64))
        .collect();
    let share = |cores: f64, of: f64| format!("{} ({} cores)", percent(cores / of), number(cores));
    let ours = |cores: f64| share(cores, machine_cores as f64);
    let theirs = |part: f64| share(part * published::CORES, published::CORES);
    let per_client = published::MEMORY_MEAN / f64::from(published::CLIENTS);
    let unwatched = || "not watched".to_owned();
    let mut row = |name: &str, this: Option<String>, published: String| {
        table.row(vec![name.to_owned(), this.unwrap_or_else(unwatched), published]);
    };
    let response = Some(millis(outcome.connected.latency_us.mean));
    row(
        "Average of connect response time",
        response,
        millis(published::CONNECT_US),
    );
    row(
        "Average of CPU usage",
        mean(&cores).map(ours),
        theirs(published::CPU_MEAN),
    );
    row(
        "Max of CPU usage",
        highest(&cores).map(ours),
        theirs(published::CPU_MAX),
    );
    let after = "Average of memory usage after all clients are connected";
    row(after, mean(&memory).map(bytes), bytes(published::MEMORY_MEAN));
    row(
        "Max of memory usage",
        highest(&memory).map(bytes),
        bytes(published::MEMORY_MAX),
    );
    row(
        "Memory a connection",
        outcome.connected.private_bytes.map(bytes),
        bytes(per_client),
    );
    table
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn highest(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::max)
}

fn details(outcome: &Outcome) -> Table {
    let mut table = Table::new(
        "Connecting",
        "",
        &[
            "connect response time",
            "p50",
            "p90",
            "p99",
            "p99.9",
            "max",
            "broker CPU a connection",
        ],
    );
    let times = &outcome.connected.latency_us;
    table.row(vec![
        format!("{} connections", count(times.count)),
        micros(times.p50),
        micros(times.p90),
        micros(times.p99),
        micros(times.p999),
        micros(times.max),
        outcome
            .connected
            .broker_cpu_us
            .map_or_else(|| "not watched".to_owned(), micros),
    ]);
    table
}
