//! The program as its users call it: lines of JSON, the page, recorded runs, and errors that say what to do.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // a test fails by panicking

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tidegate_bench::floor;

fn bench(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tidegate-bench"))
        .args(args)
        .output()
        .unwrap()
}

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

fn lines(output: &Output) -> Vec<Value> {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_load_is_told_second_by_second_recorded_and_written_up() {
    let floor = floor::start("127.0.0.1:0".parse().unwrap(), 1).unwrap();
    let directory = directory("load");
    let (page, results) = (directory.join("load.html"), directory.join("RESULTS.md"));
    let (address, pid) = (floor.address, std::process::id());
    let fixed = "--publishers 3 --duration 2s --payload json:120 --protocol 5 --json";
    let (to, record) = (page.display(), directory.display());
    let args = format!("load --target {address} --pid {pid} {fixed} --html {to} --record {record}");
    let output = bench(&args.split(' ').collect::<Vec<_>>());
    let lines = lines(&output);
    let of = |kind: &str| {
        lines
            .iter()
            .filter(|line| line["type"] == kind)
            .collect::<Vec<_>>()
    };
    let publishing: Vec<_> = of("second")
        .into_iter()
        .filter(|line| line["phase"] == "publish")
        .collect();
    assert_eq!(publishing.len(), 3, "one of warm-up and two that are measured");
    assert!(
        publishing
            .iter()
            .all(|line| line["counters"]["acknowledged"].as_u64().unwrap() > 0)
    );
    assert!(
        publishing
            .iter()
            .all(|line| line["broker"]["private_bytes"].as_u64().unwrap() > 0)
    );
    assert_eq!((of("run").len(), of("result").len()), (1, 1));
    assert_eq!(lines.last().unwrap()["type"], "result");
    assert!(
        lines.last().unwrap()["figures"]["broker_cpu_us"]
            .as_f64()
            .unwrap()
            > 0.0
    );

    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<polyline") && page.contains("Publish to acknowledgement"));
    let arguments = [
        "results",
        "--from",
        directory.to_str().unwrap(),
        "--to",
        results.to_str().unwrap(),
    ];
    assert!(bench(&arguments).status.success());
    let results = std::fs::read_to_string(results).unwrap();
    for part in [
        "## Load on 127.0.0.1:",
        "* Commit: ",
        "* Command: `tidegate-bench load ",
        "| Unacknowledged | 0 |",
    ] {
        assert!(results.contains(part), "{part} in {results}");
    }
}

#[test]
fn peers_compares_with_the_floor_in_a_process_of_its_own() {
    let output = bench(&[
        "peers",
        "--peer",
        "floor",
        "--load",
        "qos1",
        "--rounds",
        "2",
        "--duration",
        "1s",
        "--json",
    ]);
    let lines = lines(&output);
    assert_eq!(lines.iter().filter(|line| line["type"] == "run").count(), 2);
    let figures = lines.last().unwrap()["figures"].as_array().unwrap().clone();
    let cpu = figures
        .iter()
        .find(|figure| figure["metric"] == "broker_cpu_us")
        .unwrap();
    assert_eq!(
        (cpu["peer"].as_str(), cpu["load"].as_str()),
        (Some("floor"), Some("qos1"))
    );
    assert!(cpu["min"].as_f64() <= cpu["median"].as_f64() && cpu["median"].as_f64() <= cpu["max"].as_f64());
    assert_eq!(cpu["ratio_to_floor"]["median"], 1.0);
}

#[test]
fn connections_shows_the_published_figures_beside_ours() {
    let output = bench(&[
        "connections",
        "--peer",
        "floor",
        "--clients",
        "50",
        "--connect-rate",
        "500",
        "--hold",
        "2s",
    ]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("* 50 of 50 clients connected"), "{text}");
    assert!(
        text.contains("| 2.93 ms |") && text.contains("| Memory a connection |"),
        "{text}"
    );
}

#[test]
fn errors_are_one_line_that_says_what_to_do() {
    let error = |args: &[&str]| {
        let output = bench(args);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let absent = error(&["latency", "--tidegate", "/nowhere/tidegate"]);
    assert!(
        absent.contains("cargo build") && absent.lines().count() == 1,
        "{absent}"
    );
    let nothing = error(&["load", "--target", "127.0.0.1:1"]);
    assert!(
        nothing.contains("127.0.0.1:1: is a broker listening there?"),
        "{nothing}"
    );
    let unrecorded = error(&["results", "--from", directory("empty").to_str().unwrap()]);
    assert!(unrecorded.contains("--record"), "{unrecorded}");
}
