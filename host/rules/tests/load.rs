//! Components that must not become modules, and instances that must not serve: each with a text that says why.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)] // a failure is the test's

mod support;

use std::sync::Arc;
use std::time::Duration;

use support::{Guest, batch, engine, load_error, logged_settings, settings};
use tidegate_rules::{Digest, Engine, EngineSettings, Instance, InstanceSettings, Outcome, RuleError};

#[track_caller]
fn assert_names(error: &RuleError, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

#[test]
fn what_is_loaded_says_what_it_is() {
    let wasm = Guest::obeying().wasm();
    let module = engine().load(&wasm).unwrap();
    assert_eq!(&**module.label(), "guest@1.0.0");
    assert_eq!(module.manifest().sinks, ["rows", "events"]);
    assert_eq!(module.digest(), Digest::of(&wasm));
    assert_eq!(module.digest().to_string().len(), 64);
}

#[test]
fn bytes_that_are_no_component() {
    let error = engine().load(b"#!/bin/sh").unwrap_err();
    assert!(matches!(error, RuleError::NotAComponent(_)), "{error}");
    let core = wat::parse_str("(module)").unwrap();
    assert_names(
        &engine().load(&core).unwrap_err(),
        &["core module", "wasm32-wasip2"],
    );
    let mut cut = Guest::obeying().wasm();
    cut.truncate(cut.len() / 2);
    let error = engine().load(&cut).unwrap_err();
    assert!(matches!(error, RuleError::NotAComponent(_)), "{error}");
}

#[test]
fn a_component_without_a_manifest() {
    let text = Guest::obeying().text().replace("tidegate:manifest", "other");
    let error = engine().load(&wat::parse_str(text).unwrap()).unwrap_err();
    assert_names(&error, &["no manifest", "tidegate:manifest"]);
}

#[test]
fn a_component_with_two_manifests() {
    let section = "(@custom \"tidegate:manifest\" \"\") (core module $libc_module";
    let text = Guest::obeying()
        .text()
        .replace("(core module $libc_module", section);
    let error = engine().load(&wat::parse_str(text).unwrap()).unwrap_err();
    assert_names(&error, &["more than one section"]);
}

#[test]
fn a_manifest_in_a_core_module_is_found() {
    let guest = Guest::obeying();
    let text = guest.text();
    let section = text.lines().find(|line| line.contains("@custom")).unwrap();
    let moved = text
        .replace(section, "")
        .replace("(core module $guest", &format!("(core module $guest {section}"));
    let module = engine().load(&wat::parse_str(moved).unwrap()).unwrap();
    assert_eq!(&**module.label(), "guest@1.0.0");
}

#[test]
fn a_manifest_that_asks_for_too_much() {
    let mut guest = Guest::obeying();
    guest.manifest = guest.manifest.replace("4MiB", "1GiB");
    assert_names(
        &load_error(&guest),
        &["guest@1.0.0", "limits.memory", "broker allows 67108864"],
    );
    let mut guest = Guest::obeying();
    guest.manifest = guest.manifest.replace("20ms", "1h");
    assert_names(&load_error(&guest), &["limits.deadline"]);
    guest.manifest = guest.manifest.replace("1h", "60s");
    assert_names(
        &load_error(&guest),
        &["guest@1.0.0", "limits.deadline", "1000 ms"],
    );
}

#[test]
fn a_component_that_lacks_the_export() {
    let text = Guest::obeying()
        .text()
        .replace("tidegate:broker/handler@0.1.0", "tidegate:broker/other@0.1.0");
    let error = engine().load(&wat::parse_str(text).unwrap()).unwrap_err();
    assert_names(
        &error,
        &[
            "guest@1.0.0",
            "lacks export tidegate:broker/handler@0.1.0",
            "it exports tidegate:broker/other@0.1.0",
        ],
    );
}

#[test]
fn an_export_of_another_type() {
    let text = Guest::obeying().text().replace("\"codes\"", "\"verdicts\"");
    let error = engine().load(&wat::parse_str(text).unwrap()).unwrap_err();
    assert_names(
        &error,
        &[
            "guest@1.0.0",
            "tidegate:broker/handler@0.1.0",
            "type of `handle` differs",
        ],
    );
    let text = Guest::obeying().text().replace(
        "(export \"handle\" (func $handle) (func",
        "(export \"run\" (func $handle) (func",
    );
    let error = engine().load(&wat::parse_str(text).unwrap()).unwrap_err();
    assert_names(&error, &["no function `handle`"]);
}

#[test]
fn an_import_that_is_not_provided() {
    for (import, parts) in [
        (
            "(import \"wasi:http/outgoing-handler@0.2.0\" (instance))",
            "wasi:http/outgoing-handler@0.2.0",
        ),
        (
            "(import \"acme:db/query@1.0.0\" (instance (export \"run\" (func))))",
            "acme:db/query@1.0.0",
        ),
        ("(import \"run\" (func))", "imports run"),
        (
            "(import \"tidegate:broker/config@0.1.0\" (instance (export \"set\" (func))))",
            "tidegate:broker/config@0.1.0#set",
        ),
    ] {
        let mut guest = Guest::obeying();
        guest.imports.push_str(import);
        let error = load_error(&guest);
        assert!(matches!(error, RuleError::UnknownImport { .. }), "{error}");
        assert_names(&error, &["guest@1.0.0", parts]);
    }
}

#[test]
fn an_import_of_another_type() {
    let mut guest = Guest::obeying();
    guest.imports.push_str(
        "(import \"tidegate:broker/config@0.1.0\" (instance (export \"get\" (func (param \"key\" u32)))))",
    );
    assert_names(&load_error(&guest), &["guest@1.0.0", "config", "get"]);
}

#[test]
fn a_component_over_the_size_limit() {
    let settings = EngineSettings {
        component_bytes_max: 100,
        instances_max: 1,
        ..EngineSettings::default()
    };
    let error = Engine::new(settings)
        .unwrap()
        .load(&Guest::obeying().wasm())
        .unwrap_err();
    assert_names(&error, &["limit is 100"]);
}

#[test]
fn a_config_key_that_the_module_does_not_know() {
    let config = [("unitt".to_owned(), "kelvin".to_owned())].into();
    let error = Instance::new(
        &Guest::obeying().load(),
        InstanceSettings { config, ..settings() },
    )
    .unwrap_err();
    assert_names(&error, &["rule clean", "guest@1.0.0", "`unitt`", "it has: unit"]);
}

#[test]
fn an_instance_larger_than_its_limit() {
    let mut guest = Guest::obeying();
    guest.manifest = guest.manifest.replace("4MiB", "64KiB");
    let error = Instance::new(&guest.load(), settings()).unwrap_err();
    assert_names(
        &error,
        &["rule clean", "guest@1.0.0", "memory limit of 65536 bytes"],
    );
}

#[test]
fn more_instances_than_there_is_room_for() {
    let engine = Engine::new(EngineSettings {
        instances_max: 1,
        ..EngineSettings::default()
    })
    .unwrap();
    let module = engine.load(&Guest::obeying().wasm()).unwrap();
    let first = Instance::new(&module, settings()).unwrap();
    let error = Instance::new(&module, settings()).unwrap_err();
    assert_names(&error, &["rule clean", "guest@1.0.0", "1"]);
    drop(first);
    Instance::new(&module, settings()).unwrap();
}

/// `init` that returns a word laid out at 1024.
fn with_init(body: &str) -> Guest {
    let mut guest = Guest::obeying();
    guest.init = Some(body.to_owned());
    // err("no unit")
    let words = [1u32, 4096, 7];
    guest
        .data
        .push((4000, words.iter().flat_map(|word| word.to_le_bytes()).collect()));
    guest.data.push((4096, b"no unit".to_vec()));
    guest
}

#[test]
fn an_init_that_succeeds() {
    let mut instance = with_init("i32.const 1024").instance();
    instance.handle(&batch(&[b"1"]), &mut Outcome::new()).unwrap();
}

#[test]
fn an_init_that_refuses() {
    let error = Instance::new(&with_init("i32.const 4000").load(), settings()).unwrap_err();
    assert!(matches!(error, RuleError::InitRefused { .. }), "{error}");
    assert_names(&error, &["rule clean", "guest@1.0.0", "no unit"]);
}

#[test]
fn an_init_that_traps() {
    let error = Instance::new(&with_init("(call $explode) unreachable").load(), settings()).unwrap_err();
    assert!(matches!(error, RuleError::InitFailed { .. }), "{error}");
    assert_names(&error, &["rule clean", "guest@1.0.0", "unreachable", "explode"]);
}

#[test]
fn an_init_that_never_ends() {
    let error = Instance::new(
        &with_init("(loop $ever (br $ever)) unreachable").load(),
        settings(),
    )
    .unwrap_err();
    assert_names(&error, &["rule clean", "guest@1.0.0", "deadline of 1000 ms"]);
}

#[test]
fn compiled_code_is_kept_and_damaged_code_is_not_run() {
    let dir = std::env::temp_dir().join(format!("tidegate-rules-cache-{}", std::process::id()));
    let settings = EngineSettings {
        cache_dir: Some(dir.clone()),
        instances_max: 2,
        deadline_max: Duration::from_secs(1),
        ..EngineSettings::default()
    };
    let wasm = Guest::obeying().wasm();
    let load = || {
        let module = Engine::new(settings.clone()).unwrap().load(&wasm).unwrap();
        let mut outcome = Outcome::new();
        let mut instance = Instance::new(&module, support::settings()).unwrap();
        instance.handle(&batch(&[b"1"]), &mut outcome).unwrap();
        assert_eq!(outcome.codes().len(), 1);
        Arc::clone(&module)
    };
    let digest = load().digest().to_string();
    let files = || {
        let entries = std::fs::read_dir(&dir)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        entries.collect::<Vec<_>>()
    };
    let [file] = files().try_into().unwrap();
    assert!(file.file_name().unwrap().to_str().unwrap().starts_with(&digest));
    let written = std::fs::metadata(&file).unwrap().modified().unwrap();
    load();
    assert_eq!(
        std::fs::metadata(&file).unwrap().modified().unwrap(),
        written,
        "used, not made again"
    );

    let whole = std::fs::read(&file).unwrap();
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    for bad in [&damaged[..], &whole[..100], b""] {
        std::fs::write(&file, bad).unwrap();
        load();
        assert_eq!(std::fs::read(&file).unwrap().len(), whole.len(), "made again");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn init_can_log() {
    let mut guest = with_init(
        "(call $log (i32.const 2) (i32.const 4096) (i32.const 7))
         (call $log (i32.const 0) (i32.const 4096) (i32.const 7))
         i32.const 1024",
    );
    guest.imports = support::LOG_IMPORT.to_owned();
    guest.core_imports = support::LOG_CORE_IMPORT.to_owned();
    let (settings, lines) = logged_settings();
    Instance::new(&guest.load(), settings).unwrap();
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 1, "trace is below the level");
    assert_eq!((lines[0].message.as_str(), &*lines[0].rule), ("no unit", "clean"));
}
