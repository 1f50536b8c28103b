//! A component that cannot serve is refused with a problem that names it, and what served before goes on serving.

use tidegate_codec::{QoS, Version};

use crate::common::client::Client;
use crate::common::http::{Answer, get, post, request};
use crate::common::modules::telemetry;
use crate::common::streams::{TELEMETRY, reading};
use crate::common::{Broker, WORKERS};
use crate::support::Guest;

fn manifest(name: &str, version: &str) -> String {
    format!("name = \"{name}\"\nversion = \"{version}\"\n")
}

/// Loads well, and its `init` says "no unit".
fn refusing_guest() -> Guest {
    let mut guest = Guest::obeying();
    guest.manifest = manifest("telemetry", "2.0.0");
    guest.init = Some("i32.const 4000".to_owned());
    let words = [1u32, 4096, 7];
    guest
        .data
        .push((4000, words.iter().flat_map(|word| word.to_le_bytes()).collect()));
    guest.data.push((4096, b"no unit".to_vec()));
    guest
}

fn is_problem(answer: &Answer, status: u16, words: &[&str]) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert!(
        answer
            .head
            .to_lowercase()
            .contains("content-type: application/problem+json"),
        "{}",
        answer.head
    );
    let problem = answer.json();
    assert_eq!(problem["status"], status);
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        words.iter().all(|word| detail.contains(word)),
        "{words:?} are not all in {detail}"
    );
}

#[test]
fn bad_uploads_and_activations_name_what_is_wrong() {
    for workers in WORKERS {
        let broker = Broker::start(workers, TELEMETRY);
        broker.deploy("telemetry", "1.0.0", &telemetry("1.0.0"));
        let put = |path: &str, wasm: &[u8]| {
            request(broker.admin, "PUT", &format!("/api/v1/modules/{path}"), &[], wasm)
        };
        let activate = |name: &str, version: &str| {
            post(
                broker.admin,
                &format!("/api/v1/modules/{name}/activate"),
                &format!("{{\"version\":\"{version}\"}}"),
            )
        };
        let mut lacking = Guest::obeying();
        lacking.manifest = manifest("telemetry", "3.0.0");
        let lacking = lacking.text().replace(
            "(export \"tidegate:broker/handler@0.1.0\"",
            "(export \"tidegate:other/handler@0.1.0\"",
        );
        let lacking = wat::parse_str(lacking).unwrap();

        is_problem(
            &put("telemetry/versions/9.9.9", b"not wasm at all"),
            422,
            &["not a WebAssembly component"],
        );
        is_problem(
            &put("telemetry/versions/3.0.0", &lacking),
            422,
            &["telemetry@3.0.0", "tidegate:broker/handler@0.1.0"],
        );
        let wrong = put("other/versions/1.0.0", &telemetry("1.0.0"));
        is_problem(&wrong, 400, &["telemetry@1.0.0", "other@1.0.0"]);
        is_problem(
            &put("telemetry/versions/1.0.0", &telemetry("1.1.0")),
            409,
            &["telemetry@1.0.0", "sha256:"],
        );
        is_problem(&activate("telemetry", "1.1.0"), 404, &["telemetry@1.1.0"]);
        is_problem(&activate("nothing", "1.0.0"), 404, &["nothing@1.0.0"]);
        assert_eq!(
            put("telemetry/versions/2.0.0", &refusing_guest().wasm()).status,
            201
        );
        is_problem(
            &activate("telemetry", "2.0.0"),
            422,
            &["telemetry", "2.0.0", "no unit"],
        );

        let listed = get(broker.admin, "/api/v1/modules").json();
        assert_eq!(listed["modules"][0]["active"], "1.0.0", "{listed}");
        assert_eq!(listed["modules"].as_array().unwrap().len(), 1, "{listed}");
        for publisher in ["p0", "p1", "p2", "p3"] {
            let mut client = Client::connect(broker.mqtt, Version::V5, publisher);
            client.publish_acked(
                "stations/a/telemetry",
                QoS::AtLeastOnce,
                reading(publisher, 0, 20.0),
            );
        }
        assert_eq!(
            broker.query("rows.db", "SELECT DISTINCT module_version, count(*) FROM rows"),
            [["1.0.0", "4"]]
        );
    }
}
