//! The HTTP server: routes and what requests can reach.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware;
use axum::routing::{get, post, put};
use tidegate_sinks::{SinkHandle, SinkSnapshot};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::access::guard;
use super::problem::Problem;
use super::{api, health};
use crate::modules::Modules;
use crate::telemetry::{NodeSnapshot, RuleSnapshot};
use crate::worker::{Letter, Mailbox};

/// Largest component that can be uploaded.
const UPLOAD_BYTES_MAX: usize = 64 << 20;

/// How long a worker may take to tell its counters.
const SNAPSHOT_WAIT: Duration = Duration::from_secs(5);

/// What the admin side knows of the node.
pub struct Node {
    /// Bearer key, if one is configured.
    pub key: Option<String>,
    /// Rules and their modules.
    pub modules: Arc<Modules>,
    /// In config order, the dead letters last.
    pub sinks: Vec<SinkHandle>,
    /// By worker.
    pub mailboxes: Vec<Mailbox>,
}

/// Serves requests until `stop` completes.
pub async fn serve(
    node: Arc<Node>,
    listener: TcpListener,
    stop: oneshot::Receiver<()>,
) -> std::io::Result<()> {
    let guarded = Router::new()
        .route("/metrics", get(health::metrics))
        .route("/api/v1/modules", get(api::list_modules))
        .route("/api/v1/modules/{name}/versions/{version}", put(api::put_version))
        .route("/api/v1/modules/{name}/activate", post(api::activate))
        .route("/api/v1/modules/{name}/rollback", post(api::rollback))
        .route("/api/v1/sinks", get(api::list_sinks))
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(UPLOAD_BYTES_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(&node), guard));
    let app = Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .merge(guarded)
        .fallback(unknown)
        .with_state(node);
    axum::serve(listener, app)
        .with_graceful_shutdown(async {
            // A sender that is gone means the same as a message: stop.
            let _ = stop.await;
        })
        .await
}

async fn wrong_method(method: Method, uri: Uri) -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("{method} is not for {}", uri.path()),
    )
}

async fn unknown(uri: Uri) -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        format!("there is nothing at {}", uri.path()),
    )
}

impl Node {
    /// What keeps the node from doing all that its configuration says.
    pub fn not_ready(&self) -> Vec<String> {
        let mut missing = self.modules.waiting_rules();
        for sink in &self.sinks {
            let state = sink.state();
            if !state.is_healthy() {
                // The error itself may name hosts and tables: it is for who may use the API.
                missing.push(format!("sink {}: {}", sink.name(), api::state_of(&state).0));
            }
        }
        missing
    }

    /// Every sink with its accounting.
    pub fn sink_snapshots(&self) -> Vec<(String, SinkSnapshot)> {
        self.sinks
            .iter()
            .map(|sink| (sink.name().to_owned(), sink.snapshot()))
            .collect()
    }

    /// All counters. A worker that does not answer in time is left out.
    pub async fn snapshot(&self) -> NodeSnapshot {
        let replies: Vec<_> = self
            .mailboxes
            .iter()
            .map(|mailbox| {
                let (reply, answer) = oneshot::channel();
                mailbox.post(Letter::Snapshot(reply));
                answer
            })
            .collect();
        let mut workers = Vec::with_capacity(replies.len());
        for reply in replies {
            if let Ok(Ok(snapshot)) = tokio::time::timeout(SNAPSHOT_WAIT, reply).await {
                workers.push(snapshot);
            }
        }
        let mut rules: Vec<RuleSnapshot> = self.modules.serving();
        for worker in &workers {
            for (rule, counts) in rules.iter_mut().zip(&worker.rules) {
                rule.counts.add(counts);
            }
        }
        NodeSnapshot {
            workers,
            rules,
            sinks: self.sink_snapshots(),
        }
    }
}
