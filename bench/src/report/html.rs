//! A report as one page without any other file: it can be mailed, kept, and opened from disk.

use std::fmt::Write as _;

use super::chart::{escape, svg};
use super::format::bytes;
use super::{Report, Server, Table};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Writes the page.
pub fn page(report: &Report) -> String {
    let title = escape(&report.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n<h1>{title}</h1>\n\
         <p class=\"when\">{}, commit {}</p>\n<p>{}</p>\n",
        escape(&report.date),
        escape(&report.commit),
        escape(&report.introduction),
    );
    scenario(&mut out, report);
    testbed(&mut out, report);
    settings(&mut out, &report.servers);
    results(&mut out, report);
    let _ = write!(
        out,
        "<h2>Take it again</h2>\n<pre>{}</pre>\n<script>\n{SCRIPT}</script>\n</html>\n",
        escape(&report.command)
    );
    out
}

// Writing to a String cannot fail: the results of write! are of no interest below.

fn scenario(out: &mut String, report: &Report) {
    out.push_str("<h2>Test scenario</h2>\n<ul>\n");
    for (name, value) in &report.parameters {
        let _ = writeln!(out, "<li>{}: {}</li>", escape(name), escape(value));
    }
    out.push_str("</ul>\n");
}

fn testbed(out: &mut String, report: &Report) {
    let machine = &report.machine;
    let mut table = Table::new(
        "Machine and servers",
        "The load generator runs on the same machine, over the loopback interface.",
        &["Service", "Version", "OS", "CPU", "Memory", "Cores it may use"],
    );
    for server in &report.servers {
        table.row(vec![
            server.name.clone(),
            server.version.clone(),
            format!("{}, Linux {}", machine.system, machine.kernel),
            format!("{} x {}", machine.cores, machine.processor),
            bytes(machine.memory_bytes as f64),
            server.cores.clone(),
        ]);
    }
    out.push_str("<h2>Testbed</h2>\n");
    table_of(out, &table);
}

fn settings(out: &mut String, servers: &[Server]) {
    out.push_str("<h2>Server settings</h2>\n");
    for server in servers.iter().filter(|server| !server.settings.is_empty()) {
        let _ = writeln!(
            out,
            "<h3>{}</h3>\n<pre>{}</pre>",
            escape(&server.name),
            escape(&server.settings.join("\n"))
        );
    }
}

fn results(out: &mut String, report: &Report) {
    out.push_str("<h2>Benchmark results</h2>\n");
    if !report.observations.is_empty() {
        out.push_str("<h3>Observations</h3>\n<ul>\n");
        for observation in &report.observations {
            let _ = writeln!(out, "<li>{}</li>", escape(observation));
        }
        out.push_str("</ul>\n");
    }
    for table in &report.tables {
        table_of(out, table);
    }
    if !report.charts.is_empty() {
        out.push_str("<h2>Result charts</h2>\n");
    }
    for chart in &report.charts {
        let _ = writeln!(
            out,
            "<section>\n<h3>{}</h3>\n{}</section>",
            escape(&chart.title),
            svg(chart)
        );
    }
}

fn table_of(out: &mut String, table: &Table) {
    let _ = write!(
        out,
        "<h3>{}</h3>\n<div class=\"scroll\"><table>\n<tr>",
        escape(&table.title)
    );
    for column in &table.columns {
        let _ = write!(out, "<th>{}</th>", escape(column));
    }
    out.push_str("</tr>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<td>{}</td>", escape(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
    if !table.note.is_empty() {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(&table.note));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Chart, Series};

    #[test]
    fn the_page_holds_everything_and_refers_to_nothing() {
        let mut report = Report::new("latency", "Latency <1 ms>".to_owned(), "Intro & more".to_owned());
        report.parameters.push(("QoS".to_owned(), "0, 1, 2".to_owned()));
        report.add_server(Server {
            name: "floor".to_owned(),
            version: "floor 0".to_owned(),
            cores: "0".to_owned(),
            settings: vec!["--threads 1".to_owned()],
        });
        let mut table = Table::new("Metrics", "median", &["", "QoS 0"]);
        table.row(vec!["p50".to_owned(), "0.048 ms".to_owned()]);
        report.tables.push(table);
        report.charts.push(Chart {
            title: "Rate".to_owned(),
            unit: "messages/s".to_owned(),
            is_log: false,
            series: vec![Series {
                name: "sent".to_owned(),
                points: vec![(0.0, 1.0), (1.0, 2.0)],
            }],
        });
        let page = page(&report);
        for part in [
            "Latency &lt;1 ms&gt;",
            "Intro &amp; more",
            "0.048 ms",
            "--threads 1",
            "<polyline",
            "QoS: 0, 1, 2",
        ] {
            assert!(page.contains(part), "{part}");
        }
        for outside in ["http://", "https://", "src=", "<link", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
        for tag in ["table", "ul", "svg", "section", "pre", "style", "script"] {
            assert_eq!(
                page.matches(&format!("<{tag}")).count(),
                page.matches(&format!("</{tag}>")).count(),
                "{tag}"
            );
        }
    }
}
