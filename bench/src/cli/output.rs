//! Where reports go: the terminal, a page, a directory of recorded runs, and RESULTS.md.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::Serialize;

use crate::load::Totals;
use crate::report::{Report, Screen, html, markdown};

/// Where the report goes.
#[derive(Debug, clap::Args)]
pub struct OutputArgs {
    /// Write lines of JSON to standard output: one a second, one a run, and a closing one
    #[arg(long)]
    pub json: bool,
    /// Write the report with its charts to this file, as one self-contained page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Record the report in this directory, from which `results` writes RESULTS.md
    #[arg(long, value_name = "DIRECTORY")]
    pub record: Option<PathBuf>,
}

/// The closing line.
#[derive(Serialize)]
struct Closing<'a, T> {
    report: &'a Report,
    figures: T,
}

impl OutputArgs {
    /// Shows and writes `report`; `figures` go into the closing line for programs.
    pub fn deliver(&self, screen: &Screen, report: &Report, figures: impl Serialize) -> anyhow::Result<()> {
        screen.close(&Closing { report, figures });
        screen.print(&markdown::single(report));
        if let Some(path) = &self.html {
            write(path, &html::page(report))?;
        }
        if let Some(directory) = &self.record {
            let path = directory.join(format!("{}.json", report.scenario));
            write(&path, &serde_json::to_string_pretty(report)?)?;
        }
        Ok(())
    }
}

/// An error unless everything adds up.
pub fn check(what: &str, totals: &Totals) -> anyhow::Result<()> {
    if !totals.add_up() {
        bail!("{what}: the messages do not add up: {totals:?}");
    }
    Ok(())
}

/// Writes RESULTS.md from the reports in a directory.
pub fn write_results(from: &Path, to: &Path) -> anyhow::Result<()> {
    let entries = fs::read_dir(from)
        .with_context(|| format!("recorded runs cannot be listed in {}", from.display()))?;
    let mut reports: Vec<Report> = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            let report = serde_json::from_str(&text)
                .with_context(|| format!("{} is not a report recorded by this version", path.display()))?;
            reports.push(report);
        }
    }
    if reports.is_empty() {
        bail!(
            "there are no recorded runs in {}: run a scenario with --record {0}",
            from.display()
        );
    }
    write(to, &markdown::results(&reports))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
    }
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}
