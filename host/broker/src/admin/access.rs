//! Who may use the admin API.
//!
//! With a key: whoever presents it. Without one the API listens on loopback only, and then the danger is a web page in
//! a browser on the same machine: so the Host must be a loopback name (no DNS rebinding) and a request that a page of
//! another origin has sent is refused.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::problem::Problem;
use super::server::Node;

/// Lets a request through, or answers it.
pub async fn guard(State(node): State<Arc<Node>>, request: Request, next: Next) -> Response {
    let refused = match &node.key {
        Some(key) => check_key(key, request.headers()),
        None => check_origin(request.headers()),
    };
    match refused {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check_key(key: &str, headers: &HeaderMap) -> Result<(), Problem> {
    let presented = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let presented = presented
        .and_then(|value| value.strip_prefix("Bearer "))
        .unwrap_or("");
    match bool::from(presented.as_bytes().ct_eq(key.as_bytes())) {
        true => Ok(()),
        false => {
            let detail = "this API needs its key: send the header Authorization: Bearer KEY";
            Err(Problem::new(StatusCode::UNAUTHORIZED, detail))
        }
    }
}

fn check_origin(headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let host = text(header::HOST).unwrap_or("");
    if !is_loopback(host) {
        let detail =
            format!("without a key only loopback hosts are served, and \"{host}\" is none; set [admin] key");
        return Err(Problem::new(StatusCode::FORBIDDEN, detail));
    }
    let is_same = |origin: &str| {
        origin
            .split_once("://")
            .is_some_and(|(_, authority)| authority == host)
    };
    match text(header::ORIGIN) {
        Some(origin) if !is_same(origin) => Err(Problem::new(
            StatusCode::FORBIDDEN,
            format!("pages of {origin} may not use this API"),
        )),
        _ => Ok(()),
    }
}

fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name == "localhost"
        || host
            .parse::<SocketAddr>()
            .is_ok_and(|address| address.ip().is_loopback())
        || name
            .trim_matches(['[', ']'])
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
        || host
            .trim_matches(['[', ']'])
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn a_key_must_be_presented_whole() {
        let key = "correct-horse-battery";
        assert!(
            check_key(
                key,
                &headers(&[("authorization", "Bearer correct-horse-battery")])
            )
            .is_ok()
        );
        for bad in [
            "Bearer correct-horse",
            "Bearer ",
            "correct-horse-battery",
            "Basic correct-horse-battery",
        ] {
            let refused = check_key(key, &headers(&[("authorization", bad)])).unwrap_err();
            assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{bad}");
        }
        assert!(check_key(key, &headers(&[])).is_err());
    }

    #[test]
    fn without_a_key_pages_and_foreign_hosts_are_refused() {
        for host in [
            "127.0.0.1:8080",
            "localhost:8080",
            "[::1]:8080",
            "127.0.0.1",
            "[::1]",
        ] {
            assert!(check_origin(&headers(&[("host", host)])).is_ok(), "{host}");
        }
        for host in ["evil.example:8080", "10.0.0.1:8080", ""] {
            assert!(check_origin(&headers(&[("host", host)])).is_err(), "{host}");
        }
        let page = |origin| headers(&[("host", "127.0.0.1:8080"), ("origin", origin)]);
        assert!(check_origin(&page("http://127.0.0.1:8080")).is_ok());
        assert!(check_origin(&page("http://evil.example")).is_err());
        assert!(check_origin(&page("null")).is_err());
    }
}
