//! A report before it is written down in any form.

use serde::{Deserialize, Serialize};

use crate::clock;
use crate::measure::Machine;

/// Everything that a reader needs to believe a figure, and to take it again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    /// Short name: that of its files.
    pub scenario: String,
    /// Headline.
    pub title: String,
    /// What was tested, in a sentence or two.
    pub introduction: String,
    /// When.
    pub date: String,
    /// Source revision, if the run was made in a working copy.
    pub commit: String,
    /// The command that takes the figures again.
    pub command: String,
    /// Where.
    pub machine: Machine,
    /// The scenario's parameters.
    pub parameters: Vec<(String, String)>,
    /// The servers, with the settings they had.
    pub servers: Vec<Server>,
    /// What stands out, in sentences.
    pub observations: Vec<String>,
    /// Figures.
    pub tables: Vec<Table>,
    /// Courses over time.
    pub charts: Vec<Chart>,
}

/// A server under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Name in tables.
    pub name: String,
    /// Its own word about its version.
    pub version: String,
    /// Cores it could use.
    pub cores: String,
    /// Settings, line by line.
    pub settings: Vec<String>,
}

/// Figures in rows and columns; the first column names the row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Headline.
    pub title: String,
    /// What the figures are and how they came about.
    pub note: String,
    /// Column heads.
    pub columns: Vec<String>,
    /// Rows, as long as the heads.
    pub rows: Vec<Vec<String>>,
}

/// Courses over the seconds of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Headline.
    pub title: String,
    /// Unit of the vertical axis.
    pub unit: String,
    /// Whether that axis counts powers of ten: for percentiles, whose tails would flatten everything else.
    pub is_log: bool,
    /// The lines.
    pub series: Vec<Series>,
}

/// One line of a chart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Seconds, and values in the chart's unit.
    pub points: Vec<(f64, f64)>,
}

impl Report {
    /// An empty report of `scenario` on this machine, now, by this command.
    pub fn new(scenario: &str, title: String, introduction: String) -> Self {
        Self {
            scenario: scenario.to_owned(),
            title,
            introduction,
            date: clock::date(),
            commit: commit(),
            command: command(),
            machine: Machine::this(),
            parameters: Vec::new(),
            servers: Vec::new(),
            observations: Vec::new(),
            tables: Vec::new(),
            charts: Vec::new(),
        }
    }

    /// Adds a server once.
    pub fn add_server(&mut self, server: Server) {
        if !self.servers.iter().any(|known| known.name == server.name) {
            self.servers.push(server);
        }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(title: &str, note: &str, columns: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            note: note.to_owned(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; what is missing at its end is left empty.
    pub fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }
}

fn commit() -> String {
    let git = |args: &[&str]| {
        let output = std::process::Command::new("git")
            .args(args)
            .stderr(std::process::Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(text)
    };
    let Some(commit) = git(&["rev-parse", "--short", "HEAD"]) else {
        return format!("release {}", env!("CARGO_PKG_VERSION"));
    };
    match git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|changes| changes.is_empty()) {
        true => commit,
        false => format!("{commit} and changes"),
    }
}

fn command() -> String {
    let mut args = std::env::args();
    let program = args.next().unwrap_or_default();
    let name = std::path::Path::new(&program)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    std::iter::once(name).chain(args).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_long_as_the_heads() {
        let mut table = Table::new("t", "", &["a", "b", "c"]);
        table.row(vec!["1".to_owned()]);
        assert_eq!(table.rows, [["1", "", ""]]);
    }

    #[test]
    fn a_server_is_listed_once_and_a_report_survives_being_stored() {
        let mut report = Report::new("s", "T".to_owned(), "I".to_owned());
        let server = Server {
            name: "x".to_owned(),
            version: "1".to_owned(),
            cores: "0".to_owned(),
            settings: vec![],
        };
        report.add_server(server.clone());
        report.add_server(server);
        let stored = serde_json::to_string(&report).unwrap();
        let back: Report = serde_json::from_str(&stored).unwrap();
        assert_eq!((back.servers.len(), back.machine), (1, report.machine));
    }
}
