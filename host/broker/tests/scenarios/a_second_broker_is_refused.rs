//! A broker that would get in another one's way does not start, and says which address or directory is taken.

use std::net::TcpListener;

use crate::common::process::{Process, complaint, tidegate};

#[test]
fn on_the_same_addresses_or_data() {
    let dir = tempfile::tempdir().unwrap();
    let first = Process::serve(dir.path(), 2, "");
    let (mqtt, admin) = (first.mqtt.to_string(), first.admin.to_string());
    let taken_data = dir.path().join("data");
    let other_data = dir.path().join("other");
    let any = "127.0.0.1:0";
    let cases = [
        (
            mqtt.as_str(),
            any,
            &other_data,
            ["cannot listen for MQTT", mqtt.as_str()],
        ),
        (
            any,
            admin.as_str(),
            &other_data,
            ["cannot listen for the admin API", admin.as_str()],
        ),
        (
            any,
            any,
            &taken_data,
            [
                "another broker runs on the data directory",
                taken_data.to_str().unwrap(),
            ],
        ),
    ];
    for (mqtt, admin, data, words) in cases {
        let data = data.to_str().unwrap();
        let output = tidegate(&["serve", "--mqtt", mqtt, "--admin", admin, "--data-dir", data]);
        assert!(!output.status.success());
        let text = complaint(&output);
        assert!(
            words.iter().all(|word| text.contains(word)),
            "{words:?} are not all in {text}"
        );
    }
    let unused = TcpListener::bind(any).unwrap().local_addr().unwrap().to_string();
    let output = tidegate(&[
        "serve",
        "--mqtt",
        any,
        "--admin",
        "0.0.0.0:0",
        "--data-dir",
        &unused,
    ]);
    assert!(!output.status.success());
    assert!(
        complaint(&output).contains("needs key or key_file"),
        "{}",
        complaint(&output)
    );
}
