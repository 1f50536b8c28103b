//! `tidegate check` and `tidegate serve` tell every problem of a file at once, each with its line.

use std::path::Path;

use crate::common::process::{complaint, tidegate};
use crate::common::streams::{RAW, TELEMETRY};

const BAD: &str = r#"workers = 0
colour = "blue"
[mqtt]
tick_max = "5 parsecs"
[admin]
bind = "0.0.0.0:8080"
[sinks.rows]
type = "sqlite"
path = "rows.db"
statement = "INSERT INTO t VALUES (:id)"
gate = "later"
[sinks.lake]
type = "oracle"
[[rules]]
name = "a"
topics = ["a/#/b"]
module = "missing.wasm"
sinks = ["nowhere"]
"#;

/// Runs both commands on a file with `text`; they must refuse it with the same words.
fn refused(dir: &Path, text: &str) -> String {
    let file = dir.join("bad.toml");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let data = dir.join("data");
    let checked = tidegate(&["check", file]);
    let served = tidegate(&["serve", "--config", file, "--data-dir", data.to_str().unwrap()]);
    assert!(!checked.status.success() && !served.status.success());
    assert_eq!(complaint(&checked), complaint(&served));
    assert!(
        !data.exists(),
        "a broker that does not start leaves nothing behind"
    );
    complaint(&checked)
}

#[test]
fn every_problem_has_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let text = refused(dir.path(), BAD);
    let expected = [
        (1, "workers must be 1 to 64"),
        (2, "unknown key \"colour\""),
        (4, "5 parsecs"),
        (6, "not loopback"),
        (11, "\"later\" is not a gate"),
        (13, "\"oracle\" is not a sink"),
        (16, "a/#/b"),
        (17, "missing.wasm"),
        (18, "no valid [sinks.nowhere]"),
    ];
    for (line, word) in expected {
        let found = text
            .lines()
            .any(|told| told.contains(&format!("bad.toml:{line}:")) && told.contains(word));
        assert!(found, "line {line}: {word} is not in\n{text}");
    }
    assert_eq!(text.lines().count(), expected.len(), "{text}");
}

#[test]
fn other_mistakes_name_their_object() {
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        ("[mqtt\n", "bad.toml:1:"),
        ("[mqtt]\nport = 1883\n", "bad.toml:2: unknown field `port`"),
        (
            "[mqtt.tcp]\nbind = \"localhost\"\n",
            "bad.toml:2: mqtt.tcp.bind: \"localhost\" is not ADDRESS:PORT",
        ),
        (
            "[admin]\nkey = \"short\"\n",
            "bad.toml:2: admin: the key must have at least 16 characters",
        ),
        ("[admin]\nkey_file = \"none.txt\"\n", "none.txt"),
        ("[mqtt]\nreceive_maximum = 70000\n", "bad.toml:2:"),
    ];
    for (config, word) in cases {
        let text = refused(dir.path(), config);
        assert!(text.contains(word), "{word} is not in {text}");
    }
    let missing = dir.path().join("missing.toml");
    for command in [vec!["check"], vec!["serve", "--config"]] {
        let arguments = [command, vec![missing.to_str().unwrap()]].concat();
        let output = tidegate(&arguments);
        assert!(!output.status.success());
        assert!(
            complaint(&output).contains("missing.toml"),
            "{}",
            complaint(&output)
        );
    }
    assert!(!tidegate(&["serve", "--workers", "0"]).status.success());
    assert!(!tidegate(&["serve", "--mqtt", "nowhere"]).status.success());
}

#[test]
fn statements_and_module_files_are_looked_into() {
    let dir = tempfile::tempdir().unwrap();
    let checked = |text: &str| {
        let file = dir.path().join("file.toml");
        std::fs::write(&file, text).unwrap();
        tidegate(&["check", file.to_str().unwrap()])
    };
    let good = checked(&format!("{TELEMETRY}{}", RAW.replace("[[rules]]", "\n[[rules]]")));
    assert!(good.status.success(), "{}", complaint(&good));
    let told = String::from_utf8(good.stdout).unwrap();
    assert!(told.contains("good (2 sinks, 2 rules"), "{told}");

    let bad = checked(&TELEMETRY.replace("(:id, ", "(?, "));
    assert!(
        !bad.status.success() && complaint(&bad).contains("sink rows: statement"),
        "{}",
        complaint(&bad)
    );
    std::fs::write(dir.path().join("bad.wasm"), "no wasm").unwrap();
    let bad = checked(&TELEMETRY.replace("\"telemetry\"\ntopics", "\"bad.wasm\"\ntopics"));
    let text = complaint(&bad);
    assert!(
        !bad.status.success() && text.contains("bad.wasm") && text.contains("not a WebAssembly component"),
        "{text}"
    );
}
