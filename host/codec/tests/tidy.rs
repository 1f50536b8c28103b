//! What holds for every file and crate of the workspace: size, an opening that says what the file owns, who may
//! depend on whom, and who may name which heavy library.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)] // a failure is the test's

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const LINES_MAX: usize = 500;

/// May a crate depend on another of ours? Only on those listed for it.
const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("tidegate-codec", &[]),
    ("tidegate-log", &[]),
    ("tidegate-session", &["tidegate-codec"]),
    ("tidegate-router", &["tidegate-codec"]),
    ("tidegate-sinks", &["tidegate-codec", "tidegate-log"]),
    (
        "tidegate-sink-sqlite",
        &["tidegate-codec", "tidegate-log", "tidegate-sinks"],
    ),
    (
        "tidegate-rules",
        &["tidegate-codec", "tidegate-log", "tidegate-sinks"],
    ),
    (
        "tidegate-bench",
        &["tidegate-codec", "tidegate-rules", "tidegate-log"],
    ),
];

/// Libraries that one crate alone may name.
const OWNERS: &[(&str, &[&str])] = &[
    ("wasmtime", &["tidegate-rules"]),
    ("rusqlite", &["tidegate-sink-sqlite"]),
    ("fjall", &["tidegate-log"]),
    ("mio", &["tidegate-broker", "tidegate-bench"]),
    ("tokio", &["tidegate-broker"]),
    ("axum", &["tidegate-broker"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Source files that git tracks or would track, so that build output does not count.
fn sources() -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"])
        .current_dir(root())
        .output()
        .expect("git is needed to list the sources");
    assert!(listed.status.success(), "git ls-files failed");
    let files: Vec<PathBuf> = String::from_utf8(listed.stdout)
        .unwrap()
        .lines()
        .map(|line| root().join(line))
        .filter(|path| path.exists())
        .collect();
    assert!(files.len() > 50, "only {} source files found", files.len());
    files
}

#[test]
fn files_are_small_and_say_what_they_own() {
    let mut bad = Vec::new();
    for path in sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        if lines > LINES_MAX {
            bad.push(format!(
                "{}: {lines} lines, the limit is {LINES_MAX}",
                path.display()
            ));
        }
        if !text.starts_with("//!") {
            bad.push(format!(
                "{}: does not open with //! and what it owns",
                path.display()
            ));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn nothing_is_left_unfinished() {
    // Put together here, so that this file does not find itself.
    let words = ["todo!(", "unimplemented!(", "#[ignore"]
        .map(str::to_owned)
        .into_iter();
    let words: Vec<String> = words
        .chain([["FIX", "ME"].concat(), ["TO", "DO:"].concat()])
        .collect();
    let this = Path::new(file!()).file_name().unwrap().to_owned();
    let mut bad = Vec::new();
    for path in sources()
        .into_iter()
        .filter(|path| path.file_name() != Some(&this))
    {
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                bad.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Direct dependencies of every crate of the workspace, those for tests left out.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let normal = |dependency: &&serde_json::Value| dependency["kind"].is_null();
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            let list = package["dependencies"].as_array().unwrap();
            (
                text(&package["name"]),
                list.iter().filter(normal).map(|one| text(&one["name"])).collect(),
            )
        })
        .collect()
}

#[test]
fn crates_look_up_the_list_only() {
    let all = dependencies();
    for (name, allowed) in DEPENDENCIES {
        let found = &all[*name];
        for one in found.iter().filter(|one| one.starts_with("tidegate-")) {
            assert!(allowed.contains(&one.as_str()), "{name} must not depend on {one}");
        }
    }
}

#[test]
fn heavy_libraries_have_one_owner() {
    for (name, found) in dependencies() {
        for (library, owners) in OWNERS {
            let names_it = found.iter().any(|one| one == library);
            assert!(
                !names_it || owners.contains(&name.as_str()),
                "{name} must not name {library}"
            );
        }
    }
}
