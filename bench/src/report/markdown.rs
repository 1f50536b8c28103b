//! RESULTS.md: every recorded report as a section, in the order of their names.

use std::fmt::Write as _;

use super::format::bytes;
use super::{Report, Table};

/// Writes the whole file.
pub fn results(reports: &[Report]) -> String {
    let mut out =
        "# Results\n\nWritten by `tidegate bench results` from the recorded runs; each section names the \
                   command that takes its figures again.\n"
            .to_owned();
    let mut reports: Vec<_> = reports.iter().collect();
    reports.sort_by(|one, other| one.scenario.cmp(&other.scenario));
    for report in reports {
        section(&mut out, report);
    }
    out
}

/// Writes one report alone.
pub fn single(report: &Report) -> String {
    let mut out = String::new();
    section(&mut out, report);
    out
}

// Writing to a String cannot fail: the results of write! are of no interest below.

fn section(out: &mut String, report: &Report) {
    let machine = &report.machine;
    let _ = write!(
        out,
        "\n## {}\n\n{}\n\n* Date: {}\n* Commit: {}\n* Machine: {} x {}, {}, {}, Linux {}\n* Command: `{}`\n",
        report.title,
        report.introduction,
        report.date,
        report.commit,
        machine.cores,
        machine.processor,
        bytes(machine.memory_bytes as f64),
        machine.system,
        machine.kernel,
        report.command,
    );
    for (name, value) in &report.parameters {
        let _ = writeln!(out, "* {name}: {value}");
    }
    for server in &report.servers {
        let settings = server.settings.join("; ");
        let _ = writeln!(
            out,
            "* {} ({}), cores {}: `{settings}`",
            server.name, server.version, server.cores
        );
    }
    if !report.observations.is_empty() {
        out.push('\n');
        for observation in &report.observations {
            let _ = writeln!(out, "* {observation}");
        }
    }
    report.tables.iter().for_each(|table| table_of(out, table));
}

fn table_of(out: &mut String, table: &Table) {
    let _ = write!(out, "\n### {}\n\n", table.title);
    row(out, &table.columns);
    let rules: Vec<String> = (0..table.columns.len())
        .map(|column| if column == 0 { "---" } else { "---:" }.to_owned())
        .collect();
    row(out, &rules);
    table.rows.iter().for_each(|cells| row(out, cells));
    if !table.note.is_empty() {
        let _ = writeln!(out, "\n{}", table.note);
    }
}

fn row(out: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_come_in_order_with_their_tables() {
        let mut second = Report::new("peers", "Peers".to_owned(), "All | peers".to_owned());
        let mut table = Table::new("CPU", "a note", &["load", "floor"]);
        table.row(vec!["qos1|x".to_owned(), "0.47".to_owned()]);
        second.tables.push(table);
        let first = Report::new("latency", "Latency".to_owned(), String::new());
        let text = results(&[second, first]);
        assert!(text.find("## Latency").unwrap() < text.find("## Peers").unwrap());
        assert!(
            text.contains("| load | floor |\n| --- | ---: |\n| qos1\\|x | 0.47 |\n\na note\n"),
            "{text}"
        );
    }
}
