//! Routes for whoever runs the server.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde_json::{Value, json};

use super::App;
use super::error::ApiError;
use crate::judge::service::Phase;

/// How often it is looked whether the judge does what it was told.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The process lives.
pub(super) async fn health(State(app): State<Arc<App>>) -> Result<Json<Value>, ApiError> {
    match app.service.phase() {
        Phase::Failed(why) => Err(ApiError::not_answered(why)),
        Phase::Stopped => Err(ApiError::ending()),
        phase => Ok(Json(json!({"status": name(&phase)}))),
    }
}

/// Requests are answered at once.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Result<Json<Value>, ApiError> {
    match app.service.phase() {
        phase @ Phase::Ready(_) => Ok(Json(json!({"status": name(&phase)}))),
        phase => Err(unavailable(format!(
            "the judge is {}; requests wait meanwhile",
            name(&phase)
        ))),
    }
}

/// Counters and histograms for Prometheus.
pub(super) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let (waiting, running) = app.service.load();
    let text = app.metrics.text(waiting, running, &app.service.stats());
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text)
}

/// Has weights and cache leave the device, once what the engines have is answered.
pub(super) async fn sleep(State(app): State<Arc<App>>) -> Result<Json<Value>, ApiError> {
    app.service.sleep();
    reached(&app, |phase| match phase {
        Phase::Asleep(_) => Some(Ok(())),
        _ if !app.service.is_to_sleep() => Some(Err(ApiError::new(
            StatusCode::CONFLICT,
            "another client has woken the judge meanwhile",
        ))),
        _ => None,
    })
    .await
}

/// Has them come back.
pub(super) async fn wake_up(State(app): State<Arc<App>>) -> Result<Json<Value>, ApiError> {
    // What is falling asleep is woken once it is there.
    let _ = reached(&app, |phase| (*phase != Phase::Draining).then_some(Ok(()))).await?;
    app.service.wake_up();
    reached(&app, |phase| match phase {
        Phase::Ready(_) => Some(Ok(())),
        Phase::Asleep(Some(why)) => Some(Err(unavailable(format!(
            "the judge could not be loaded, and sleeps on: {why}"
        )))),
        _ if app.service.is_to_sleep() => Some(Err(ApiError::new(
            StatusCode::CONFLICT,
            "another client has put the judge to sleep meanwhile",
        ))),
        _ => None,
    })
    .await
}

/// Whether the judge sleeps.
pub(super) async fn is_sleeping(State(app): State<Arc<App>>) -> Json<Value> {
    let is_sleeping = matches!(app.service.phase(), Phase::Asleep(_));
    Json(json!({"is_sleeping": is_sleeping}))
}

/// Waits until a phase ends the wait.
async fn reached(
    app: &App,
    ends: impl Fn(&Phase) -> Option<Result<(), ApiError>>,
) -> Result<Json<Value>, ApiError> {
    loop {
        let phase = app.service.phase();
        match &phase {
            Phase::Failed(why) => return Err(ApiError::not_answered(why.clone())),
            Phase::Stopped => return Err(ApiError::ending()),
            _ => {}
        }
        if let Some(end) = ends(&phase) {
            return end.map(|()| Json(json!({"status": name(&phase)})));
        }
        tokio::time::sleep(LOOK_EVERY).await;
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
