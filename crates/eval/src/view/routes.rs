//! The routes: which address shows which page.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Query as Pairs, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use serde_json::json;

use super::query::Query;
use super::{App, pages};
use crate::report::page::STYLE;
use juror_judge::server::{asset, channel_body};

/// The styles of these pages, added to the stylesheet of all pages.
pub(crate) const VIEW_STYLE: &str = include_str!("view.css");

const SCRIPT: &str = include_str!("view.js");

pub(super) fn router(app: &Arc<App>) -> Router {
    Router::new()
        .route("/", get(list))
        .route("/verdict", get(verdict))
        .route("/summary", get(summary))
        .route("/style.css", asset("text/css", STYLE))
        .route("/view.css", asset("text/css", VIEW_STYLE))
        .route("/view.js", asset("text/javascript", SCRIPT))
        .fallback(nothing)
        .with_state(Arc::clone(app))
}

async fn nothing(State(app): State<Arc<App>>) -> Response {
    let page = pages::error(&app, "there is no such page");
    (StatusCode::NOT_FOUND, Html(page)).into_response()
}

async fn list(State(app): State<Arc<App>>, Pairs(pairs): Pairs<Vec<(String, String)>>) -> Response {
    match Query::parse(&pairs) {
        Ok(query) => page(app, move |app, write| pages::list(app, &query, write)).await,
        Err(why) => (StatusCode::BAD_REQUEST, Html(pages::error(&app, &why))).into_response(),
    }
}

#[derive(Deserialize)]
struct Line {
    line: u32,
}

async fn verdict(State(app): State<Arc<App>>, Pairs(Line { line }): Pairs<Line>) -> Response {
    if app.browser.index().at_line(line).is_none() {
        let page = pages::error(&app, &format!("there is no verdict in line {line}"));
        return (StatusCode::NOT_FOUND, Html(page)).into_response();
    }
    page(app, move |app, write| pages::verdict(app, line, write)).await
}

/// The counts, for the script that keeps them up to date.
async fn summary(State(app): State<Arc<App>>) -> Response {
    let Ok(place) = Arc::clone(&app.pages).acquire_owned().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let made = tokio::task::spawn_blocking(move || {
        let html = pages::summary(&app)
            .unwrap_or_else(|error| crate::report::text::plain(&format!("{error:#}")));
        let index = app.browser.index();
        drop(place);
        json!({"verdicts": index.count(), "read": index.read(), "generation": index.generation, "html": html})
    });
    match made.await {
        Ok(counts) => axum::Json(counts).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// A page that is sent while it is being made.
async fn page(app: Arc<App>, make: impl FnOnce(&App, pages::Write) + Send + 'static) -> Response {
    let Ok(place) = Arc::clone(&app.pages).acquire_owned().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (sender, body) = channel_body();
    tokio::task::spawn_blocking(move || {
        make(&app, &mut |html| {
            if html.is_empty() {
                return !sender.is_closed();
            }
            sender.blocking_send(Ok(Bytes::from(html))).is_ok()
        });
        drop(place);
    });
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], body).into_response()
}
