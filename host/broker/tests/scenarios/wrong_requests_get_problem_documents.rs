//! Whatever is wrong with a request, the answer is a problem document (RFC 9457) that says what to do.

use crate::common::Broker;
use crate::common::http::{Answer, request};

#[test]
fn whoever_finds_the_fault() {
    let broker = Broker::start(1, "");
    let json = "Content-Type: application/json";
    let send = |method: &str, path: &str, headers: &[&str], body: &[u8]| {
        request(broker.admin, method, &format!("/api/v1/{path}"), headers, body)
    };
    is_problem(&send("GET", "nothing", &[], b""), 404, "/api/v1/nothing");
    is_problem(&send("DELETE", "modules", &[], b""), 405, "DELETE");
    is_problem(
        &send("POST", "modules/a/activate", &[json], b"{\"version\":"),
        400,
        "EOF",
    );
    is_problem(
        &send("POST", "modules/a/activate", &[json], b"{}"),
        422,
        "version",
    );
    is_problem(
        &send(
            "POST",
            "modules/a/activate",
            &[json],
            b"{\"version\":\"1\",\"x\":1}",
        ),
        422,
        "unknown field",
    );
    is_problem(
        &send("POST", "modules/a/activate", &["Content-Type: text/plain"], b"{}"),
        415,
        "application/json",
    );
    is_problem(
        &send("POST", "modules/a/rollback", &[json], b"{}"),
        404,
        "no module a",
    );
    is_problem(
        &send("PUT", "modules/a%2Fb/versions/1", &[], b""),
        400,
        "cannot name",
    );
    is_problem(
        &send("PUT", "modules/..%2Fx/versions/1", &[], b""),
        400,
        "cannot name",
    );
}

#[test]
fn an_upload_that_is_too_large() {
    let broker = Broker::start(1, "");
    let body = vec![0; (64 << 20) + 1];
    let answer = request(
        broker.admin,
        "PUT",
        "/api/v1/modules/big/versions/1.0.0",
        &[],
        &body,
    );
    is_problem(&answer, 413, "limit");
    let listed = crate::common::http::get(broker.admin, "/api/v1/modules");
    assert_eq!(listed.json()["modules"], serde_json::json!([]));
}

fn is_problem(answer: &Answer, status: u16, word: &str) {
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
    assert!(
        problem["detail"].as_str().unwrap().contains(word),
        "{word} is not in {problem}"
    );
}
