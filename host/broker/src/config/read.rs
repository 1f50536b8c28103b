//! From TOML text to [`Settings`]: section by section, so that one bad section does not hide the next one's problems.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::Settings;
use super::problem::{Collector, Problems};
use super::raw::{RawAdmin, RawMqtt, RawRule, RawSink};
use super::rules::read_rule;
use super::sections::{read_admin, read_mqtt};
use super::sinks::read_sink;

const SECTIONS: &str = "data_dir, workers, mqtt, admin, sinks and rules";

/// Workers a node may have: the width of the router's worker sets.
pub const WORKERS_MAX: usize = 64;

/// Reads and validates the file at `path`. `cores` is the default number of workers.
pub fn read_file(path: &Path, cores: usize) -> anyhow::Result<Settings> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the configuration file {}", path.display()))?;
    Ok(read_text(path, &text, cores)?)
}

/// Validates `text`; `path` names it in problems, and relative module files start beside it.
pub fn read_text(path: &Path, text: &str, cores: usize) -> Result<Settings, Problems> {
    let mut problems = Collector::new(path, text);
    let mut settings = Settings::new(cores);
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        errors.iter().for_each(|error| problems.toml(error));
        problems.finish()?;
        return Ok(settings);
    }
    let mut rules: Vec<Spanned<RawRule>> = Vec::new();
    for (key, value) in table.into_inner() {
        match key.get_ref().as_ref() {
            "data_dir" => {
                if let Some(dir) = parse::<String>(value, &mut problems) {
                    settings.data_dir = PathBuf::from(dir);
                }
            }
            "workers" => read_workers(value, &mut settings, &mut problems),
            "mqtt" => {
                if let Some(raw) = parse::<RawMqtt>(value, &mut problems) {
                    read_mqtt(raw, &mut settings.mqtt, &mut problems);
                }
            }
            "admin" => {
                if let Some(raw) = parse::<RawAdmin>(value, &mut problems) {
                    read_admin(raw, path, &mut settings.admin, &mut problems);
                }
            }
            "sinks" => read_sinks(value, &mut settings, &mut problems),
            "rules" => rules = read_list(value, &mut problems),
            other => problems.at(
                key.span(),
                format!("unknown key \"{other}\": the sections are {SECTIONS}"),
            ),
        }
    }
    for rule in rules {
        if let Some(rule) = read_rule(rule, path, &settings, &mut problems) {
            settings.rules.push(rule);
        }
    }
    problems.finish()?;
    Ok(settings)
}

fn parse<T: DeserializeOwned>(value: Spanned<DeValue<'_>>, problems: &mut Collector<'_>) -> Option<T> {
    match T::deserialize(ValueDeserializer::from(value)) {
        Ok(parsed) => Some(parsed),
        Err(error) => {
            problems.toml(&error);
            None
        }
    }
}

fn read_workers(value: Spanned<DeValue<'_>>, settings: &mut Settings, problems: &mut Collector<'_>) {
    let span = value.span();
    match parse::<usize>(value, problems) {
        Some(count @ 1..=WORKERS_MAX) => settings.workers = count,
        Some(_) => problems.at(span, format!("workers must be 1 to {WORKERS_MAX}")),
        None => {}
    }
}

/// `[sinks.NAME]` tables, each read by itself.
fn read_sinks(value: Spanned<DeValue<'_>>, settings: &mut Settings, problems: &mut Collector<'_>) {
    let span = value.span();
    let DeValue::Table(table) = value.into_inner() else {
        problems.at(span, "sinks are tables: [sinks.NAME]");
        return;
    };
    for (name, value) in table {
        let span = value.span();
        let Some(raw) = parse::<RawSink>(value, problems) else {
            continue;
        };
        if let Some(sink) = read_sink(name.get_ref(), Spanned::new(span, raw), problems) {
            settings.sinks.push(sink);
        }
    }
}

/// `[[rules]]` entries, each read by itself.
fn read_list<T: DeserializeOwned>(
    value: Spanned<DeValue<'_>>,
    problems: &mut Collector<'_>,
) -> Vec<Spanned<T>> {
    let span = value.span();
    let DeValue::Array(array) = value.into_inner() else {
        problems.at(span, "rules are a list of tables: [[rules]]");
        return Vec::new();
    };
    let mut list = Vec::new();
    for item in array {
        let span = item.span();
        if let Some(parsed) = parse::<T>(item, problems) {
            list.push(Spanned::new(span, parsed));
        }
    }
    list
}
