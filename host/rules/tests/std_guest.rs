//! A guest with Rust's whole standard library: what works of WASI, what is empty, and what traps.
//!
//! The component is built from `fixtures/std_guest.rs` by the compiler alone; it needs the target wasm32-wasip2.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)] // a failure is the test's

mod support;

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use support::{batch, engine, logged_settings, settings};
use tidegate_rules::{Action, Cause, Failure, Instance, InstanceSettings, Level, Outcome, RuleModule};

fn module() -> &'static Arc<RuleModule> {
    static MODULE: OnceLock<Arc<RuleModule>> = OnceLock::new();
    MODULE.get_or_init(|| engine().load(&build()).unwrap())
}

/// Compiles the fixture against the interface as it stands in `wit/`.
fn build() -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let interfaces = ["handler", "config", "log", "sinks"].map(|name| {
        std::fs::read_to_string(here.join(format!("../../wit/tidegate-broker/{name}.wit"))).unwrap()
    });
    let wit = out.join("std_guest.wit");
    let world = format!(
        "package test:guest; world guest {{
           import tidegate:broker/config@0.1.0;
           import tidegate:broker/log@0.1.0;
           import tidegate:broker/sinks@0.1.0;
           export tidegate:broker/handler@0.1.0;
         }}
         package tidegate:broker@0.1.0 {{ {} }}",
        interfaces.concat()
    );
    std::fs::write(&wit, world).unwrap();
    let component = out.join("std_guest.wasm");
    let result = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .current_dir(here)
        .args([
            "--edition",
            "2024",
            "--target",
            "wasm32-wasip2",
            "--crate-type",
            "cdylib",
            "-O",
        ])
        .args([
            "-C",
            "strip=debuginfo",
            "-C",
            &format!("link-arg=--component-type={}", wit.display()),
        ])
        .arg("-o")
        .arg(&component)
        .arg("tests/fixtures/std_guest.rs")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&result.stderr);
    assert!(
        result.status.success(),
        "is the target there? `rustup target add wasm32-wasip2`\n{errors}"
    );
    std::fs::read(component).unwrap()
}

/// What the guest answers to `order`.
fn obey(order: &str, settings: InstanceSettings) -> Result<String, Failure> {
    let mut outcome = Outcome::new();
    let mut instance = Instance::new(module(), settings).unwrap();
    instance.handle(&batch(&[order.as_bytes()]), &mut outcome)?;
    match &outcome.effects()[0].action {
        Action::DeadLetter { reason } => Ok(reason.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_hash_map_gets_its_seed() {
    assert_eq!(obey("hash", settings()).unwrap(), "100 entries");
}

#[test]
fn time_is_that_of_the_newest_message_and_stands_still() {
    assert_eq!(obey("time", settings()).unwrap(), "2000 ms, 0 ns later");
}

#[test]
fn standard_output_and_error_become_log_lines() {
    let (settings, lines) = logged_settings();
    assert_eq!(obey("print", settings).unwrap(), "printed");
    let lines = lines.lock().unwrap();
    let lines: Vec<_> = lines
        .iter()
        .map(|line| (line.level, line.message.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            (Level::Info, "to standard output"),
            (Level::Warn, "to standard error, without an end")
        ]
    );
}

#[test]
fn arguments_and_environment_are_empty() {
    assert_eq!(
        obey("environment", settings()).unwrap(),
        "0 arguments, 0 variables"
    );
}

#[test]
fn a_panic_says_why_and_where() {
    let (settings, lines) = logged_settings();
    let failure = obey("panic", settings).unwrap_err();
    assert!(matches!(failure.cause, Cause::Trap(_)), "{failure}");
    let text = failure.to_string();
    for part in [
        "std-guest@0.1.0",
        "panicked at",
        "std_guest.rs",
        "no reading",
        "handle",
    ] {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
    assert!(
        lines
            .lock()
            .unwrap()
            .iter()
            .any(|line| line.message.contains("no reading"))
    );
}

#[test]
fn exit_is_a_trap() {
    let failure = obey("exit", settings()).unwrap_err();
    assert!(matches!(failure.cause, Cause::Trap(_)), "{failure}");
    assert!(failure.to_string().contains("called exit"), "{failure}");
}

#[test]
fn there_are_no_files_and_no_network() {
    assert!(
        obey("file", settings()).unwrap().starts_with("Err("),
        "no directory is open"
    );
    match obey("socket", settings()) {
        Ok(answer) => assert!(answer.starts_with("Err("), "{answer}"),
        Err(failure) => assert!(failure.to_string().contains("wasi:sockets"), "{failure}"),
    }
}

#[test]
fn sleeping_is_a_trap_that_holds_up_nobody() {
    let failure = obey("sleep", settings()).unwrap_err();
    assert!(failure.to_string().contains("wasi:"), "{failure}");
}

#[test]
fn a_sink_opens_only_if_it_is_asked_for_and_granted() {
    assert_eq!(obey("open events", settings()).unwrap(), "id 2");
    assert!(
        obey("open rows", settings())
            .unwrap()
            .contains("sink rows is not granted")
    );
    assert!(
        obey("open other", settings())
            .unwrap()
            .contains("sink other is not in the manifest")
    );
}

#[test]
fn config_is_the_operators_over_the_manifests() {
    let config = [("unit".to_owned(), "kelvin".to_owned())].into();
    let settings = InstanceSettings { config, ..settings() };
    assert_eq!(obey("get unit", settings.clone()).unwrap(), "kelvin");
    assert_eq!(obey("get limit", settings.clone()).unwrap(), "30");
    assert_eq!(obey("get other", settings.clone()).unwrap(), "none");
    assert_eq!(obey("get-all", settings).unwrap(), "limit=30 unit=kelvin");
}

#[test]
fn log_lines_carry_rule_and_level_and_know_what_is_kept() {
    let (settings, lines) = logged_settings();
    assert_eq!(
        obey("log zu heiß", settings).unwrap(),
        "[false, true, true, true, true]"
    );
    let lines = lines.lock().unwrap();
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(
        (&*line.rule, line.level, line.message.as_str()),
        ("clean", Level::Warn, "zu heiß")
    );
}
