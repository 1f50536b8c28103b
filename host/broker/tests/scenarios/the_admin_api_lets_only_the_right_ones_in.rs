//! Without a key the admin API serves this machine's own programs only, no pages of browsers; with one, who has it.

use crate::common::Broker;
use crate::common::http::{get, post, request};

#[test]
fn without_a_key_hosts_and_origins_are_checked() {
    let broker = Broker::start(1, "");
    let status = |headers: &[&str]| request(broker.admin, "GET", "/api/v1/modules", headers, b"").status;
    assert_eq!(status(&[]), 200);
    assert_eq!(status(&["Host: localhost"]), 200);
    assert_eq!(status(&["Host: [::1]:8080"]), 200);
    assert_eq!(status(&["Host: evil.example"]), 403);
    assert_eq!(status(&["Host: 127.0.0.1.evil.example"]), 403);
    let same = format!("Origin: http://{}", broker.admin);
    assert_eq!(status(&[&same]), 200);
    assert_eq!(status(&["Origin: http://evil.example"]), 403);
    assert_eq!(status(&["Origin: null"]), 403);
    let page = request(
        broker.admin,
        "POST",
        "/api/v1/modules/a/rollback",
        &["Content-Type: text/plain"],
        b"{}",
    );
    assert_eq!(
        page.status, 415,
        "what a page may send without asking must not be taken: {}",
        page.body
    );
}

#[test]
fn with_a_key_it_must_be_presented() {
    let key = "0123456789abcdef-key";
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("key.txt"), format!("{key}\n")).unwrap();
    // The harness has begun the table [admin].
    let broker = Broker::start_in(dir, 1, "key_file = \"key.txt\"\n");
    let with = |header: &str| request(broker.admin, "GET", "/metrics", &[header], b"");
    assert_eq!(with(&format!("Authorization: Bearer {key}")).status, 200);
    for bad in [
        "Authorization: Bearer wrong",
        "Authorization: Basic 0123456789abcdef-key",
        "X-Nothing: here",
    ] {
        let refused = with(bad);
        assert_eq!(refused.status, 401, "{bad}");
        assert!(
            refused.json()["detail"]
                .as_str()
                .unwrap()
                .contains("Authorization: Bearer"),
            "{}",
            refused.body
        );
    }
    assert_eq!(post(broker.admin, "/api/v1/modules/a/rollback", "{}").status, 401);
    assert_eq!(get(broker.admin, "/api/v1/sinks").status, 401);
    // Whoever watches over the process needs no key.
    assert_eq!(
        (
            get(broker.admin, "/healthz").status,
            get(broker.admin, "/readyz").status
        ),
        (200, 200)
    );
}
