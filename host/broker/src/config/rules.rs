//! `[[rules]]`, validated against the sinks that exist.

use std::path::Path;

use tidegate_codec::TopicFilter;
use toml::Spanned;

use super::problem::Collector;
use super::raw::RawRule;
use super::{ModuleSource, RuleSettings, Settings};

/// Validates one rule; `None` when something in it is wrong (and noted).
pub fn read_rule(
    rule: Spanned<RawRule>,
    path: &Path,
    settings: &Settings,
    problems: &mut Collector<'_>,
) -> Option<RuleSettings> {
    let span = rule.span();
    let raw = rule.into_inner();
    let name = raw.name.get_ref().clone();
    if settings.rules.iter().any(|other| other.name == name) {
        problems.at(
            raw.name.span(),
            format!("rules: the name \"{name}\" is taken by an earlier rule"),
        );
        return None;
    }
    if raw.topics.get_ref().is_empty() {
        problems.at(
            raw.topics.span(),
            format!("rule \"{name}\": topics must name at least one filter; \"#\" is every topic"),
        );
    }
    if raw.module.is_none() && raw.emit.is_empty() {
        problems.at(
            span,
            format!("rule \"{name}\" does nothing: give it module = \"NAME\" or emit = [\"SINK\"]"),
        );
    }
    let topics = filters(&name, "topics", raw.topics.get_ref(), problems);
    let publish = filters(&name, "publish", &raw.publish, problems);
    let sinks = sink_positions(&name, "sinks", &raw.sinks, settings, problems);
    let emit = sink_positions(&name, "emit", &raw.emit, settings, problems);
    let module = raw.module.map(|module| module_source(module, path, problems));
    Some(RuleSettings {
        module: module.flatten(),
        topics,
        sinks,
        publish,
        emit,
        config: raw.config,
        name,
    })
}

fn filters(
    rule: &str,
    key: &str,
    list: &[Spanned<String>],
    problems: &mut Collector<'_>,
) -> Vec<TopicFilter> {
    let mut filters = Vec::with_capacity(list.len());
    for text in list {
        match TopicFilter::new(text.get_ref()) {
            Ok(filter) if filter.shared().is_none() => filters.push(filter),
            Ok(_) => problems.at(
                text.span(),
                format!("rule \"{rule}\", {key}: a rule cannot join a $share group"),
            ),
            Err(error) => problems.at(
                text.span(),
                format!("rule \"{rule}\", {key}: \"{}\": {error}", text.get_ref()),
            ),
        }
    }
    filters
}

fn sink_positions(
    rule: &str,
    key: &str,
    list: &[Spanned<String>],
    settings: &Settings,
    problems: &mut Collector<'_>,
) -> Vec<usize> {
    let mut positions = Vec::with_capacity(list.len());
    for name in list {
        match settings
            .sinks
            .iter()
            .position(|sink| sink.name == *name.get_ref())
        {
            Some(position) => positions.push(position),
            None => {
                let text = format!(
                    "rule \"{rule}\", {key}: there is no valid [sinks.{}]",
                    name.get_ref()
                );
                problems.at(name.span(), text);
            }
        }
    }
    positions
}

/// `FILE.wasm`, `NAME` or `NAME@VERSION`.
fn module_source(module: Spanned<String>, path: &Path, problems: &mut Collector<'_>) -> Option<ModuleSource> {
    let span = module.span();
    let text = module.into_inner();
    if text.ends_with(".wasm") {
        let file = path.parent().unwrap_or(Path::new("")).join(&text);
        if !file.is_file() {
            problems.at(span, format!("module file {} does not exist", file.display()));
            return None;
        }
        return Some(ModuleSource::File(file));
    }
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text.as_str(), None),
    };
    if !is_plain_name(name) || version.is_some_and(|version| !is_plain_name(version)) {
        let wanted = "a file ending in .wasm, NAME or NAME@VERSION (letters, digits, '-', '_', '.')";
        problems.at(span, format!("module = \"{text}\": expected {wanted}"));
        return None;
    }
    Some(ModuleSource::Registry {
        name: name.to_owned(),
        version: version.map(str::to_owned),
    })
}

/// Whether `text` may name a module or a version: it becomes part of a path and of URLs.
pub fn is_plain_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.len() <= 64 && !text.starts_with('.') && text.chars().all(plain)
}
