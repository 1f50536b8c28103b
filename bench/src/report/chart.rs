//! Line charts as SVG, readable without a script; a script of the page adds values under the pointer.

use std::fmt::Write as _;

use super::format::number;
use super::{Chart, Series};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 32.0;
/// Lines that are told apart by colour; the page's style gives the colours.
const COLOURS: usize = 6;

/// Writes `chart` as an SVG element.
pub fn svg(chart: &Chart) -> String {
    let scale = Scale::of(chart);
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\" data-left=\"{LEFT}\" \
         data-right=\"{}\" data-xmin=\"{}\" data-xmax=\"{}\">\n",
        escape(&chart.title),
        WIDTH - RIGHT,
        scale.x.0,
        scale.x.1,
    );
    axes(&mut out, &scale, &chart.unit);
    for (turn, series) in chart.series.iter().enumerate() {
        line(&mut out, &scale, series, turn % COLOURS);
    }
    out.push_str("<line class=\"cursor\" y1=\"12\" y2=\"228\" x1=\"-9\" x2=\"-9\"/>\n</svg>\n");
    legend(&mut out, &chart.series);
    out
}

/// Text that means nothing to a browser.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

struct Scale {
    x: (f64, f64),
    /// Values at the bottom and at the top of the vertical axis.
    y: (f64, f64),
    is_log: bool,
}

impl Scale {
    fn of(chart: &Chart) -> Self {
        let points = || {
            chart
                .series
                .iter()
                .flat_map(|series| series.points.iter().copied())
        };
        let first = points().map(|(x, _)| x).fold(f64::INFINITY, f64::min);
        let last = points().map(|(x, _)| x).fold(0.0, f64::max);
        let highest = points().map(|(_, y)| y).fold(0.0, f64::max);
        let lowest = points()
            .map(|(_, y)| y)
            .filter(|y| *y > 0.0)
            .fold(highest, f64::min);
        let is_log = chart.is_log && lowest > 0.0;
        let step = round_step(highest / 4.0);
        Self {
            // At least a second wide, so that one point has an axis too.
            x: (first.min(last), last.max(first.min(last) + 1.0)),
            y: match is_log {
                true => (
                    decade(lowest.log10().floor()),
                    decade((highest.log10() + 1e-9).floor() + 1.0),
                ),
                false => (0.0, (highest / step).ceil().max(1.0) * step),
            },
            is_log,
        }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = (x - self.x.0) / (self.x.1 - self.x.0);
        let up = match self.is_log {
            true => (y.max(self.y.0) / self.y.0).log10() / (self.y.1 / self.y.0).log10(),
            false => (y - self.y.0) / (self.y.1 - self.y.0),
        };
        (
            LEFT + across * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM),
        )
    }

    /// Where the vertical axis has its lines: never more than a dozen.
    fn marks(&self) -> Vec<f64> {
        match self.is_log {
            true => {
                let decades = (self.y.1 / self.y.0).log10().round() as i32;
                (0..=decades.min(11))
                    .map(|power| self.y.0 * 10_f64.powi(power))
                    .collect()
            }
            false => {
                let step = round_step((self.y.1 / 4.0) * 0.999);
                let steps = (self.y.1 / step).round() as i32;
                (0..=steps.min(11)).map(|turn| f64::from(turn) * step).collect()
            }
        }
    }
}

fn decade(power: f64) -> f64 {
    10_f64.powf(power)
}

/// The least of 1, 2 and 5 times a power of ten that is at least `wanted`.
fn round_step(wanted: f64) -> f64 {
    if !(wanted.is_finite() && wanted > 0.0) {
        return 1.0;
    }
    let power = decade(wanted.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    steps
        .into_iter()
        .find(|step| *step >= wanted * 0.999)
        .unwrap_or(power)
}

// Writing to a String cannot fail: the results of write! are of no interest here.

fn axes(out: &mut String, scale: &Scale, unit: &str) {
    for value in scale.marks() {
        let (_, y) = scale.at((scale.x.0, value));
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"axis\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 4.0,
            number(value),
        );
    }
    let step = round_step((scale.x.1 - scale.x.0) / 8.0);
    let mut second = (scale.x.0 / step).ceil() * step;
    while second <= scale.x.1 + step * 0.001 {
        let (x, _) = scale.at((second, 0.0));
        let _ = writeln!(
            out,
            "<text class=\"axis\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{} s</text>",
            HEIGHT - BOTTOM + 18.0,
            number(second),
        );
        second += step;
    }
    let _ = writeln!(
        out,
        "<text class=\"axis\" x=\"{}\" y=\"{:.1}\">{}</text>",
        LEFT + 6.0,
        TOP + 14.0,
        escape(unit)
    );
}

fn line(out: &mut String, scale: &Scale, series: &Series, colour: usize) {
    let mut path = String::new();
    for point in &series.points {
        let (x, y) = scale.at(*point);
        let _ = write!(path, "{x:.1},{y:.1} ");
    }
    let values: Vec<String> = series
        .points
        .iter()
        .map(|(x, y)| format!("{x:.2}:{}", number(*y)))
        .collect();
    let _ = writeln!(
        out,
        "<polyline class=\"line c{colour}\" points=\"{}\" data-name=\"{}\" data-values=\"{}\"/>",
        path.trim_end(),
        escape(&series.name),
        // Commas keep thousands apart in the values.
        values.join(";"),
    );
}

fn legend(out: &mut String, series: &[Series]) {
    out.push_str("<ul class=\"legend\">");
    for (turn, series) in series.iter().enumerate() {
        let _ = write!(
            out,
            "<li><i class=\"c{}\"></i>{}</li>",
            turn % COLOURS,
            escape(&series.name)
        );
    }
    out.push_str("</ul>\n<p class=\"values\" aria-live=\"polite\"></p>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(
            [0.3, 1.0, 1.1, 26.0, 700.0].map(round_step),
            [0.5, 1.0, 2.0, 50.0, 1000.0]
        );
        assert_eq!([0.0, f64::NAN, f64::INFINITY].map(round_step), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn every_point_lies_within_the_axes() {
        for is_log in [false, true] {
            points_lie_within_the_axes(is_log);
        }
    }

    fn points_lie_within_the_axes(is_log: bool) {
        let chart = Chart {
            title: "a < b".to_owned(),
            unit: "µs".to_owned(),
            is_log,
            series: vec![Series {
                name: "p50".to_owned(),
                points: vec![(1.0, 0.0), (2.0, 930.0), (3.0, 12.5)],
            }],
        };
        let text = svg(&chart);
        assert!(text.contains("a &lt; b") && text.contains("2.00:930"));
        let points = text.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        for point in points.split(' ') {
            let (x, y) = point.split_once(',').unwrap();
            assert!((LEFT..=WIDTH - RIGHT).contains(&x.parse().unwrap()), "{point}");
            assert!((TOP..=HEIGHT - BOTTOM).contains(&y.parse().unwrap()), "{point}");
        }
    }

    #[test]
    fn one_point_late_in_a_run_has_few_ticks() {
        let chart = Chart {
            title: String::new(),
            unit: String::new(),
            is_log: true,
            series: vec![Series {
                name: String::new(),
                points: vec![(1800.0, 1.0)],
            }],
        };
        assert!(svg(&chart).len() < 5_000);
    }

    #[test]
    fn an_empty_chart_is_a_chart() {
        let chart = Chart {
            title: String::new(),
            unit: String::new(),
            is_log: true,
            series: vec![],
        };
        assert!(svg(&chart).ends_with("</p>\n"));
    }
}
