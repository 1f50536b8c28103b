//! Errors as RFC 9457 problem documents. The one place that maps errors to HTTP status codes.

use axum::extract::rejection::{BytesRejection, JsonRejection};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::modules::ModuleError;

/// An error on its way to an HTTP client.
#[derive(Debug)]
pub struct Problem {
    /// HTTP status.
    pub status: StatusCode,
    /// What is wrong and what to do.
    pub detail: String,
}

impl Problem {
    /// A problem with `status`.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("error"),
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        let content_type = [(header::CONTENT_TYPE, "application/problem+json")];
        (self.status, content_type, body.to_string()).into_response()
    }
}

/// What the framework finds wrong with a body, in its own words.
impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

/// The same for bodies that are bytes.
impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl From<ModuleError> for Problem {
    fn from(error: ModuleError) -> Self {
        let status = match &error {
            ModuleError::BadName { .. } | ModuleError::NameMismatch { .. } => StatusCode::BAD_REQUEST,
            ModuleError::Rule(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ModuleError::OtherBytes { .. } | ModuleError::NothingToRollBackTo { .. } => StatusCode::CONFLICT,
            ModuleError::Unknown { .. } => StatusCode::NOT_FOUND,
            ModuleError::Full { .. } => StatusCode::INSUFFICIENT_STORAGE,
            ModuleError::Storage { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            ModuleError::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, error.to_string())
    }
}
