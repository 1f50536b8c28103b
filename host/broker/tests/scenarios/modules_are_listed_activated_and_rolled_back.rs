//! The registry keeps every version, knows which serves and which served before, and remembers both over a restart.

use serde_json::json;

use crate::common::http::{get, post, request};
use crate::common::modules::telemetry;
use crate::common::streams::TELEMETRY;
use crate::common::{Broker, WORKERS};

fn serving(broker: &Broker) -> (serde_json::Value, serde_json::Value) {
    let listed = get(broker.admin, "/api/v1/modules").json();
    let module = &listed["modules"][0];
    (module["active"].clone(), module["previous"].clone())
}

#[test]
fn through_uploads_and_a_restart() {
    for workers in WORKERS {
        let broker = Broker::start(workers, TELEMETRY);
        for (version, status) in [("1.0.0", 201), ("1.0.0", 200), ("1.1.0", 201)] {
            let path = format!("/api/v1/modules/telemetry/versions/{version}");
            let answer = request(broker.admin, "PUT", &path, &[], &telemetry(version));
            assert_eq!(answer.status, status, "{}", answer.body);
            let described = answer.json();
            assert_eq!(
                (&described["name"], &described["version"]),
                (&json!("telemetry"), &json!(version))
            );
            assert!(
                described["digest"].as_str().unwrap().starts_with("sha256:"),
                "{described}"
            );
        }
        assert_eq!(
            serving(&broker),
            (json!(null), json!(null)),
            "an upload activates nothing"
        );
        let call =
            |path: &str, body: &str| post(broker.admin, &format!("/api/v1/modules/telemetry/{path}"), body);
        assert_eq!(call("rollback", "{}").status, 409);
        for version in ["1.0.0", "1.1.0", "1.1.0"] {
            let answer = call("activate", &format!("{{\"version\":\"{version}\"}}"));
            assert_eq!(
                (answer.status, &answer.json()["rules"]),
                (200, &json!(["telemetry"]))
            );
        }
        assert_eq!(
            serving(&broker),
            (json!("1.1.0"), json!("1.0.0")),
            "activating twice forgets nothing"
        );
        assert_eq!(call("rollback", "{}").json()["version"], "1.0.0");
        assert_eq!(serving(&broker), (json!("1.0.0"), json!("1.1.0")));
        let serves = "tidegate_rule_module{rule=\"telemetry\",module=\"telemetry@1.0.0\"}";
        assert_eq!(broker.metric(serves), 1);

        let broker = Broker::start_in(broker.stop(), workers, TELEMETRY);
        assert_eq!(serving(&broker), (json!("1.0.0"), json!("1.1.0")));
        assert_eq!(broker.metric(serves), 1);
        assert_eq!(get(broker.admin, "/readyz").status, 200);
    }
}
