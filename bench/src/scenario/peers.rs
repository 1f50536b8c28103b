//! The same loads on several brokers: costs, rates and times beside each other, as multiples of the floor.

use serde::Serialize;

use super::charts;
use crate::load::{Outcome, Second};
use crate::peers::{Comparison, Event, Figure, Load, Metric, Run};
use crate::report::format::{bytes, count, micros, number};
use crate::report::{Chart, Report, Screen, Server, Table};

const FLOOR: &str = "floor";

/// A metric with its name and the way it is written.
#[derive(Clone, Copy)]
struct Column {
    name: &'static str,
    title: &'static str,
    note: &'static str,
    metric: Metric,
    write: fn(f64) -> String,
    has_ratio: bool,
}

const COLUMNS: [Column; 10] = [
    Column {
        name: "broker_cpu_us",
        title: "Processor time of the broker per message",
        note: "User and system time. The floor server routes nothing, so its figure under loads with subscribers is \
               that of receiving alone.",
        metric: |outcome| outcome.published?.broker_cpu_us,
        write: micros,
        has_ratio: true,
    },
    Column {
        name: "rate",
        title: "Messages a second",
        note: "Acknowledged messages; at QoS 0, sent. Bounded by the slower of broker and generator.",
        metric: |outcome| Some(outcome.published?.rate),
        write: number,
        has_ratio: true,
    },
    Column {
        name: "acknowledge_p50_us",
        title: "Publish to acknowledgement, p50",
        note: "From the intended send time. Under saturated loads this is the window divided by the rate.",
        metric: |outcome| {
            outcome
                .published
                .map(|one| one.acknowledge_us)
                .filter(|us| us.count > 0)
                .map(|us| us.p50)
        },
        write: micros,
        has_ratio: true,
    },
    Column {
        name: "acknowledge_p99_us",
        title: "Publish to acknowledgement, p99",
        note: "",
        metric: |outcome| {
            outcome
                .published
                .map(|one| one.acknowledge_us)
                .filter(|us| us.count > 0)
                .map(|us| us.p99)
        },
        write: micros,
        has_ratio: true,
    },
    Column {
        name: "deliver_p50_us",
        title: "End to end, p50",
        note: "From the intended send time to the subscriber.",
        metric: |outcome| {
            outcome
                .published
                .map(|one| one.deliver_us)
                .filter(|us| us.count > 0)
                .map(|us| us.p50)
        },
        write: micros,
        has_ratio: false,
    },
    Column {
        name: "deliver_p99_us",
        title: "End to end, p99",
        note: "",
        metric: |outcome| {
            outcome
                .published
                .map(|one| one.deliver_us)
                .filter(|us| us.count > 0)
                .map(|us| us.p99)
        },
        write: micros,
        has_ratio: false,
    },
    Column {
        name: "connect_cpu_us",
        title: "Processor time of the broker per connection",
        note: "From the first connect to the last CONNACK or SUBACK.",
        metric: |outcome| outcome.connected.broker_cpu_us,
        write: micros,
        has_ratio: true,
    },
    Column {
        name: "connect_p99_us",
        title: "Connect to CONNACK, p99",
        note: "",
        metric: |outcome| Some(outcome.connected.latency_us.p99),
        write: micros,
        has_ratio: true,
    },
    Column {
        name: "private_bytes",
        title: "Private memory per connection",
        note: "What the process grew by, without what the kernel holds for the sockets (4 to 5 KB each).",
        metric: |outcome| outcome.connected.private_bytes,
        write: bytes,
        has_ratio: false,
    },
    Column {
        name: "generator_cpu_us",
        title: "Processor time of the load generator per message",
        note: "Shown so that the instrument can be seen not to be the limit.",
        metric: |outcome| Some(outcome.published?.generator_cpu_us),
        write: micros,
        has_ratio: false,
    },
];

/// A figure of the closing line.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    peer: String,
    load: String,
    metric: &'static str,
    #[serde(flatten)]
    figure: Figure,
    ratio_to_floor: Option<Figure>,
}

/// Runs `comparison`, shows it on `screen`, and gives the runs with the servers that carried them.
pub fn run(comparison: &Comparison, screen: &mut Screen) -> (Vec<Run>, Vec<Server>) {
    let mut servers: Vec<Server> = Vec::new();
    let cores = comparison.stage.cores.to_string();
    let runs = comparison.run(&mut |event| match event {
        Event::Started {
            peer,
            load,
            round,
            recipe,
        } => {
            screen.begin(&format!("{peer} {} #{round}", load.name()));
            if !servers.iter().any(|server| server.name == peer) {
                servers.push(Server {
                    name: peer.to_owned(),
                    version: recipe.version.clone(),
                    cores: cores.clone(),
                    settings: recipe.shown.clone(),
                });
            }
        }
        Event::Second(second) => screen.second(second),
        Event::Ended(run) => screen.end(&run.outcome),
        Event::Failed { peer, load, error } => screen.say(&format!("{peer}, {}: {error}", load.name())),
    });
    (runs, servers)
}

/// What the runs say.
pub fn report(comparison: &Comparison, runs: &[Run], servers: Vec<Server>) -> Report {
    let mut report = Report::new(
        "peers",
        "Peers: the same loads on every broker".to_owned(),
        format!(
            "Every load runs on a fresh process of every broker in turn, {} times over. Figures are medians, with the \
             smallest and the largest in brackets; the multiple of the floor (a server that only reads, frames and \
             acknowledges) is taken within each round.",
            comparison.rounds
        ),
    );
    let cores = &comparison.stage.cores;
    report.parameters = vec![
        ("Broker cores".to_owned(), cores.to_string()),
        (
            "Broker workers, where they can be set".to_owned(),
            comparison.stage.workers.to_string(),
        ),
        (
            "Generator cores".to_owned(),
            crate::measure::Cores(comparison.scale.cores.clone()).to_string(),
        ),
        (
            "Warm-up".to_owned(),
            humantime::format_duration(comparison.scale.warm_up).to_string(),
        ),
        (
            "Measured".to_owned(),
            humantime::format_duration(comparison.scale.duration).to_string(),
        ),
    ];
    report.parameters.extend(
        comparison
            .loads
            .iter()
            .map(|load| (load.name().to_owned(), load.description(&comparison.scale))),
    );
    report.servers = servers;
    let peers: Vec<&str> = report.servers.iter().map(|server| server.name.as_str()).collect();
    report.tables = COLUMNS
        .iter()
        .filter_map(|column| table(column, comparison, runs, &peers))
        .collect();
    report.tables.push(reconciliation(runs));
    report.charts = comparison
        .loads
        .iter()
        .flat_map(|load| charts_of(*load, runs, &peers))
        .collect();
    report
}

/// All figures, for programs.
pub fn lines(runs: &[Run]) -> Vec<Line> {
    let mut keys: Vec<(&str, &str)> = runs
        .iter()
        .map(|run| (run.peer.as_str(), run.load.as_str()))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let line = |(peer, load): (&str, &str), column: &Column| {
        Some(Line {
            peer: peer.to_owned(),
            load: load.to_owned(),
            metric: column.name,
            figure: Figure::over(runs, peer, load, column.metric)?,
            ratio_to_floor: Figure::ratio(runs, (peer, FLOOR), load, column.metric)
                .filter(|_| column.has_ratio),
        })
    };
    keys.into_iter()
        .flat_map(|key| COLUMNS.iter().filter_map(move |column| line(key, column)))
        .collect()
}

fn table(column: &Column, comparison: &Comparison, runs: &[Run], peers: &[&str]) -> Option<Table> {
    let mut heads = vec!["load"];
    heads.extend(peers);
    let mut table = Table::new(column.title, column.note, &heads);
    for load in &comparison.loads {
        let cells: Vec<String> = peers
            .iter()
            .map(|peer| cell(column, runs, peer, load.name()))
            .collect();
        if cells.iter().any(|cell| cell != "–") {
            table.row(std::iter::once(load.name().to_owned()).chain(cells).collect());
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

fn cell(column: &Column, runs: &[Run], peer: &str, load: &str) -> String {
    let Some(figure) = Figure::over(runs, peer, load, column.metric) else {
        return "–".to_owned();
    };
    let mut text = (column.write)(figure.median);
    if figure.min < figure.max {
        text += &format!(" ({}–{})", (column.write)(figure.min), (column.write)(figure.max));
    }
    let ratio = Figure::ratio(runs, (peer, FLOOR), load, column.metric);
    if let Some(ratio) = ratio.filter(|_| column.has_ratio && peer != FLOOR) {
        text += &format!(", {}x", number(ratio.median));
    }
    text
}

fn reconciliation(runs: &[Run]) -> Table {
    let mut table = Table::new(
        "Reconciliation, summed over the rounds",
        "The floor server delivers nothing, so that everything due to subscribers counts as lost there.",
        &[
            "peer, load",
            "sent",
            "unacknowledged",
            "lost",
            "duplicated",
            "reordered",
            "connects failed",
            "clients lost",
        ],
    );
    let mut keys: Vec<(&str, &str)> = runs
        .iter()
        .map(|run| (run.peer.as_str(), run.load.as_str()))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    for (peer, load) in keys {
        let sum = |of: fn(&Outcome) -> u64| {
            let of_key = runs.iter().filter(|run| run.peer == peer && run.load == load);
            count(of_key.map(|run| of(&run.outcome)).sum())
        };
        table.row(vec![
            format!("{peer}, {load}"),
            sum(|outcome| outcome.totals.sent),
            sum(|outcome| outcome.totals.unacknowledged),
            sum(|outcome| outcome.totals.lost.unwrap_or(0)),
            sum(|outcome| outcome.totals.duplicated),
            sum(|outcome| outcome.totals.reordered),
            sum(|outcome| outcome.connected.failed),
            sum(|outcome| outcome.totals.disconnected),
        ]);
    }
    table
}

/// Courses of the last round, a line for each peer.
fn charts_of(load: Load, runs: &[Run], peers: &[&str]) -> Vec<Chart> {
    let last = |peer: &&str| {
        runs.iter()
            .rfind(|run| run.peer == *peer && run.load == load.name())
    };
    let chart = |title: &str, unit: &str, value: fn(&Second) -> Option<f64>| Chart {
        title: format!("{}: {title}", load.name()),
        unit: unit.to_owned(),
        is_log: unit == "µs",
        series: peers
            .iter()
            .filter_map(last)
            .map(|run| charts::series(&run.peer, &run.outcome.seconds, value))
            .collect(),
    };
    let charts = [
        chart("messages a second", "messages/s", |second| {
            Some(second.counters.sent as f64 / second.seconds)
        }),
        chart("publish to acknowledgement, p99", "µs", |second| {
            (second.acknowledge_us.count > 0).then_some(second.acknowledge_us.p99)
        }),
        chart("end to end, p99", "µs", |second| {
            (second.deliver_us.count > 0).then_some(second.deliver_us.p99)
        }),
        chart("processor of the broker", "cores", |second| second.broker_cores),
        chart("resident memory of the broker", "MB", |second| {
            Some(second.broker?.resident_bytes as f64 / 1e6)
        }),
    ];
    charts.into_iter().filter(charts::has_values).collect()
}
