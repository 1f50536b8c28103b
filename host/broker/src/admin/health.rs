//! Is the process alive, is the node ready, what does it count.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::problem::Problem;
use super::server::Node;
use crate::telemetry::{CONTENT_TYPE, expose};

/// `GET /healthz`: the process answers.
pub async fn healthz() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// `GET /readyz`: every rule has its module and every sink stores; otherwise 503 with what is missing.
pub async fn readyz(State(node): State<Arc<Node>>) -> Response {
    let missing = node.not_ready();
    let status = match missing.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    };
    let word = if missing.is_empty() { "ready" } else { "not ready" };
    (status, Json(json!({ "status": word, "missing": missing }))).into_response()
}

/// `GET /metrics`.
pub async fn metrics(State(node): State<Arc<Node>>) -> Result<Response, Problem> {
    let snapshot = node.snapshot().await;
    let text = expose(snapshot).map_err(|error| {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("cannot write metrics: {error}"),
        )
    })?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}
