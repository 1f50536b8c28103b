//! The courses that every scenario shows: rates, percentiles, processor cores, memory.

use crate::load::{Percentiles, Phase, Second};
use crate::report::{Chart, Series};

/// All charts of one run; `of` names it in their headlines. Those without any value are left out.
pub fn all(of: &str, seconds: &[Second]) -> Vec<Chart> {
    let charts = [
        rates(of, seconds),
        connects(of, seconds),
        acknowledgements(of, seconds),
        deliveries(of, seconds),
    ];
    let charts = charts
        .into_iter()
        .chain([cores(of, seconds), memory(of, seconds)]);
    charts.filter(has_values).collect()
}

/// Whether a chart shows anything but zero.
pub fn has_values(chart: &Chart) -> bool {
    chart.series.iter().any(is_line)
}

/// Messages a second.
pub fn rates(of: &str, seconds: &[Second]) -> Chart {
    let rate =
        |events: fn(&Second) -> u64| move |second: &Second| Some(events(second) as f64 / second.seconds);
    chart(
        format!("{of}: rates"),
        "events/s",
        vec![
            series("connected", seconds, rate(|second| second.counters.ready)),
            series("published", seconds, rate(|second| second.counters.sent)),
            series(
                "acknowledged",
                seconds,
                rate(|second| second.counters.acknowledged),
            ),
            series("delivered", seconds, rate(|second| second.counters.delivered)),
        ],
    )
}

fn connects(of: &str, seconds: &[Second]) -> Chart {
    percentiles(format!("{of}: connect response time"), seconds, |second| {
        &second.connect_us
    })
}

fn acknowledgements(of: &str, seconds: &[Second]) -> Chart {
    percentiles(format!("{of}: publish to acknowledgement"), seconds, |second| {
        &second.acknowledge_us
    })
}

fn deliveries(of: &str, seconds: &[Second]) -> Chart {
    percentiles(format!("{of}: end to end"), seconds, |second| &second.deliver_us)
}

fn cores(of: &str, seconds: &[Second]) -> Chart {
    chart(
        format!("{of}: processor"),
        "cores",
        vec![
            series("broker", seconds, |second| second.broker_cores),
            series("load generator", seconds, |second| Some(second.generator_cores)),
        ],
    )
}

fn memory(of: &str, seconds: &[Second]) -> Chart {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    chart(
        format!("{of}: memory of the broker"),
        "MB",
        vec![
            series("resident", seconds, |second| {
                Some(megabytes(second.broker?.resident_bytes))
            }),
            series("private", seconds, |second| {
                Some(megabytes(second.broker?.private_bytes))
            }),
        ],
    )
}

fn percentiles(title: String, seconds: &[Second], of: fn(&Second) -> &Percentiles) -> Chart {
    let line = |name: &str, value: fn(&Percentiles) -> f64| {
        series(name, seconds, move |second| {
            let percentiles = of(second);
            (percentiles.count > 0).then(|| value(percentiles))
        })
    };
    let lines = vec![
        line("p50", |percentiles| percentiles.p50),
        line("p90", |percentiles| percentiles.p90),
        line("p99", |percentiles| percentiles.p99),
        line("p99.9", |percentiles| percentiles.p999),
    ];
    Chart {
        is_log: true,
        ..chart(title, "µs", lines)
    }
}

fn chart(title: String, unit: &str, series: Vec<Series>) -> Chart {
    Chart {
        title,
        unit: unit.to_owned(),
        is_log: false,
        series: series.into_iter().filter(is_line).collect(),
    }
}

/// Whether there is something to draw: a line that is zero throughout only hides the others, and one point is no line.
fn is_line(series: &Series) -> bool {
    series.points.len() > 1 && series.points.iter().any(|(_, y)| *y > 0.0)
}

/// One line of a chart, of the seconds that have a value.
pub fn series(name: &str, seconds: &[Second], value: impl Fn(&Second) -> Option<f64>) -> Series {
    // What is left over at the end of a phase is too short for a rate.
    let published = seconds.iter().filter(|second| second.phase == Phase::Publish);
    let shortest = 0.5 * published.map(|second| second.seconds).fold(0.0, f64::max);
    let whole = seconds.iter().filter(|second| second.seconds >= shortest);
    Series {
        name: name.to_owned(),
        points: whole
            .filter_map(|second| Some((second.elapsed, value(second)?)))
            .collect(),
    }
}
