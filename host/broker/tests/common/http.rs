//! HTTP as little as the admin API needs: one request, one connection, one answer.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use super::DEADLINE;

/// Status and body of an answer.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// Sends a request with `headers` (lines without ends) and returns the answer.
pub fn request(address: SocketAddr, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Answer {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    if !headers.iter().any(|header| header.starts_with("Host:")) {
        head += &format!("Host: {address}\r\n");
    }
    for header in headers {
        head += header;
        head += "\r\n";
    }
    head += "\r\n";
    socket.write_all(head.as_bytes()).unwrap();
    // A server that refuses a body early closes while it is being sent; its answer is there all the same.
    let _ = socket.write_all(body);
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    let text = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer: {text}"));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .unwrap();
    Answer {
        status,
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

pub fn get(address: SocketAddr, path: &str) -> Answer {
    request(address, "GET", path, &[], b"")
}

pub fn post(address: SocketAddr, path: &str, json: &str) -> Answer {
    request(
        address,
        "POST",
        path,
        &["Content-Type: application/json"],
        json.as_bytes(),
    )
}

/// Uploads a component and activates it.
pub fn deploy(address: SocketAddr, name: &str, version: &str, wasm: &[u8]) {
    let path = format!("/api/v1/modules/{name}/versions/{version}");
    let answer = request(address, "PUT", &path, &[], wasm);
    assert!(
        answer.status == 201 || answer.status == 200,
        "{} {}",
        answer.status,
        answer.body
    );
    let answer = post(
        address,
        &format!("/api/v1/modules/{name}/activate"),
        &format!("{{\"version\":\"{version}\"}}"),
    );
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// Value of the metric line that starts with `series`.
pub fn metric(address: SocketAddr, series: &str) -> u64 {
    let text = get(address, "/metrics").body;
    let line = text.lines().find(|line| {
        line.strip_prefix(series)
            .is_some_and(|rest| rest.starts_with(' '))
    });
    let line = line.unwrap_or_else(|| panic!("no {series} in\n{text}"));
    line.rsplit(' ')
        .next()
        .and_then(|value| value.parse().ok())
        .unwrap()
}
