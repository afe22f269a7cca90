//! Routes for whoever runs the server.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::App;
use super::error::ApiError;
use super::metrics::in_older_text;
use crate::runtime::{CommandError, Done, Phase};

pub(super) async fn health(State(app): State<Arc<App>>) -> Result<Json<Value>, ApiError> {
    match app.judges.phase() {
        Phase::Failed(why) => Err(ApiError::not_answered(why)),
        Phase::Stopped => Err(ApiError::ending()),
        phase => Ok(Json(json!({"status": name(&phase)}))),
    }
}

pub(super) async fn version() -> Json<Value> {
    Json(json!({"version": env!("CARGO_PKG_VERSION")}))
}

/// Requests are answered at once.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Result<Json<Value>, ApiError> {
    match app.judges.phase() {
        phase @ Phase::Ready(_) => Ok(Json(json!({"status": name(&phase)}))),
        phase => {
            let name = name(&phase);
            Err(unavailable(format!(
                "the judge is {name}; requests wait meanwhile"
            )))
        }
    }
}

/// Counters and histograms for Prometheus: as `OpenMetrics` where the client reads that, else in the older text.
pub(super) async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> impl IntoResponse {
    let judges = &app.judges;
    let (waiting, running) = judges.load();
    let cascade = judges.cascade_report();
    let (stats, cascade) = (judges.stats(), cascade.as_ref());
    let text = app.metrics.text(waiting, running, &stats, cascade);
    let open = "application/openmetrics-text";
    let accepts = |value: &HeaderValue| value.to_str().is_ok_and(|value| value.contains(open));
    let (kind, text) = if headers.get_all(header::ACCEPT).iter().any(accepts) {
        (format!("{open}; version=1.0.0; charset=utf-8"), text)
    } else {
        let kind = "text/plain; version=0.0.4; charset=utf-8";
        (kind.to_owned(), in_older_text(&text))
    };
    ([(header::CONTENT_TYPE, kind)], text)
}

/// Has weights and cache leave the device, once what the engines have is answered.
pub(super) async fn sleep(State(app): State<Arc<App>>) -> Result<Json<Value>, ApiError> {
    carried_out(|done| app.judges.sleep(done), "asleep").await
}

pub(super) async fn wake_up(State(app): State<Arc<App>>) -> Result<Json<Value>, ApiError> {
    carried_out(|done| app.judges.wake_up(done), "ready").await
}

pub(super) async fn is_sleeping(State(app): State<Arc<App>>) -> Json<Value> {
    let is_sleeping = matches!(app.judges.phase(), Phase::Asleep(_));
    Json(json!({"is_sleeping": is_sleeping}))
}

/// Waits until the command that `begin` gives is carried out.
async fn carried_out(begin: impl FnOnce(Done), status: &str) -> Result<Json<Value>, ApiError> {
    let (sender, hears) = oneshot::channel();
    // Its client may have gone.
    begin(Box::new(move |result| drop(sender.send(result))));
    match hears.await {
        Ok(Ok(())) => Ok(Json(json!({"status": status}))),
        Ok(Err(CommandError::NotBuilt(why))) => Err(unavailable(format!(
            "the judge could not be loaded, and sleeps on: {why}"
        ))),
        Ok(Err(CommandError::Ended(Some(why)))) => Err(ApiError::not_answered(why)),
        Ok(Err(CommandError::Ended(None))) | Err(_) => Err(ApiError::ending()),
    }
}

fn unavailable(why: String) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, why)
}

fn name(phase: &Phase) -> &'static str {
    match phase {
        Phase::Loading => "loading",
        Phase::Ready(_) => "ready",
        Phase::Draining => "falling asleep",
        Phase::Asleep(_) => "asleep",
        Phase::Stopped => "stopped",
        Phase::Failed(_) => "failed",
    }
}
