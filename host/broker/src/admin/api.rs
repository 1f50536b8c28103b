//! `/api/v1`: modules and sinks.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, JsonRejection};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_sinks::{Pause, SinkState};

use super::problem::Problem;
use super::server::Node;
use crate::modules::{Uploaded, Version};

/// Body of `POST …/activate`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Activate {
    version: String,
}

/// Body of `POST …/rollback`: an empty object. Being JSON, a page of another origin cannot send it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rollback {}

/// `PUT /api/v1/modules/{name}/versions/{version}`: 201 when new, 200 when these bytes were there already.
pub async fn put_version(
    State(node): State<Arc<Node>>,
    Path((name, version)): Path<(String, String)>,
    body: Result<Bytes, BytesRejection>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let body = body?;
    let modules = Arc::clone(&node.modules);
    // Compiling takes up to seconds: not on a thread that answers requests.
    let uploaded = blocking(move || modules.upload(&name, &version, &body)).await??;
    let (status, version) = match uploaded {
        Uploaded::New(version) => (StatusCode::CREATED, version),
        Uploaded::Known(version) => (StatusCode::OK, version),
    };
    Ok((status, Json(describe(&version))))
}

/// `POST /api/v1/modules/{name}/activate`: from its next batch on, every worker runs this version.
pub async fn activate(
    State(node): State<Arc<Node>>,
    Path(name): Path<String>,
    request: Result<Json<Activate>, JsonRejection>,
) -> Result<Json<Value>, Problem> {
    let Json(request) = request?;
    let modules = Arc::clone(&node.modules);
    let activated = blocking(move || modules.activate(&name, &request.version)).await??;
    Ok(Json(json!({
        "name": activated.name,
        "version": activated.version,
        "previous": activated.previous,
        "rules": activated.rules,
    })))
}

/// `POST /api/v1/modules/{name}/rollback`: back to the version that was active before.
pub async fn rollback(
    State(node): State<Arc<Node>>,
    Path(name): Path<String>,
    request: Result<Json<Rollback>, JsonRejection>,
) -> Result<Json<Value>, Problem> {
    let Json(Rollback {}) = request?;
    let modules = Arc::clone(&node.modules);
    let activated = blocking(move || modules.roll_back(&name)).await??;
    Ok(Json(json!({
        "name": activated.name,
        "version": activated.version,
        "previous": activated.previous,
        "rules": activated.rules,
    })))
}

/// `GET /api/v1/modules`.
pub async fn list_modules(State(node): State<Arc<Node>>) -> Json<Value> {
    let modules: Vec<Value> = node
        .modules
        .list()
        .into_iter()
        .map(|module| {
            let versions: Vec<Value> = module.versions.iter().map(describe).collect();
            json!({ "name": module.name, "active": module.active, "previous": module.previous, "versions": versions })
        })
        .collect();
    Json(json!({ "modules": modules }))
}

/// `GET /api/v1/sinks`.
pub async fn list_sinks(State(node): State<Arc<Node>>) -> Json<Value> {
    let sinks: Vec<Value> = node
        .sink_snapshots()
        .into_iter()
        .map(|(name, sink)| {
            let (state, error) = state_of(&sink.state);
            let counts = &sink.counts;
            json!({
                "name": name,
                "state": state,
                "error": error,
                "accepted": counts.accepted,
                "delivered": counts.delivered,
                "dead_lettered": counts.dead_lettered,
                "refused": counts.refused,
                "dropped": counts.dropped,
                "expired": counts.expired,
                "pending": counts.pending,
                "oldest_pending_ms": sink.oldest_pending.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX)),
                "last_error": sink.last_error.as_ref().map(|last| json!({ "at_ms": last.at_ms, "text": last.text })),
            })
        })
        .collect();
    Json(json!({ "sinks": sinks }))
}

/// A sink's state in a word, and what is wrong.
pub fn state_of(state: &SinkState) -> (&'static str, Option<&str>) {
    match state {
        SinkState::Running => ("running", None),
        SinkState::Retrying { error, .. } => ("retrying", Some(error)),
        SinkState::Paused(Pause::Requested) => ("paused", None),
        SinkState::Paused(Pause::Operator { error, .. }) => ("needs operator", Some(error)),
        SinkState::Stopped => ("stopped", None),
    }
}

fn describe(version: &Version) -> Value {
    json!({
        "name": version.name,
        "version": version.version,
        "digest": format!("sha256:{}", version.digest),
        "bytes": version.bytes,
        "description": version.description,
    })
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("the request was cut short: {error}"),
        )
    })
}
