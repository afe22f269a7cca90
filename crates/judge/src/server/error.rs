//! Every error as JSON, in the shape of OpenAI's API: `{"error": {"message", "type", "param", "code"}}`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// Why a request is not answered.
#[derive(Debug, Clone)]
pub(super) struct ApiError {
    status: StatusCode,
    message: String,
    code: Option<&'static str>,
    param: Option<String>,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            code: None,
            param: None,
        }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// A parameter of the request is at fault: the one that the message begins with, between backticks.
    pub(super) fn bad_parameter(message: impl Into<String>) -> Self {
        let error = Self::bad_request(message);
        let mut parts = error.message.split('`');
        let before = parts.next().unwrap_or_default();
        let begins = ["", "the parameter ", "the parameters "].contains(&before);
        let param = parts.next().filter(|_| begins).map(str::to_owned);
        Self { param, ..error }
    }

    pub(super) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    /// The server ends before it can be answered.
    pub(super) fn ending() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the server is shutting down: send the request again once it is back; with --cache what was judged is kept",
        )
    }

    pub(super) fn not_answered(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// With a name that programs know it by.
    pub(super) fn with_code(self, code: &'static str) -> Self {
        Self {
            code: Some(code),
            ..self
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let kind = match self.status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            status if status.is_client_error() => "invalid_request_error",
            StatusCode::SERVICE_UNAVAILABLE => "unavailable_error",
            _ => "server_error",
        };
        json!({"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}})
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.to_json())).into_response();
        let (name, value) = match self.status {
            StatusCode::UNAUTHORIZED => (header::WWW_AUTHENTICATE, "Bearer"),
            StatusCode::SERVICE_UNAVAILABLE => (header::RETRY_AFTER, "1"),
            _ => return response,
        };
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
        response
    }
}
