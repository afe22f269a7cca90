//! `POST /v1/judge`: samples in, verdicts out.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::access::Client;
use super::body::{Fields, elements};
use super::error::ApiError;
use super::stream::channel_body;
use super::{App, JudgeIdentity};
use juror_data::Sample;
use juror_data::verdict::Verdict;

/// The media type of verdicts as they come, a line each.
const LINES: &str = "application/x-ndjson";

const SHAPE: &str = r#"{"samples": [{"question", "reference", "response"}, …]}"#;

#[derive(Serialize)]
struct JudgeResponse<'a> {
    verdicts: &'a [Verdict],
    judge: &'a JudgeIdentity,
}

/// Judges the samples of a request: all verdicts together, or a line each as they come where `Accept` asks for that.
pub(super) async fn judge(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let mut body = app.receive(&client, body, app.most_of_rows()).await?;
    let own = Arc::clone(&app);
    let samples = body.parse(move |json| own.samples(json)).await?;
    let room = body.into_room();
    let is_lines = |value: &HeaderValue| value.to_str().is_ok_and(|kind| kind.contains(LINES));
    if !headers.get_all(header::ACCEPT).iter().any(is_lines) {
        let verdicts = app.judge_all(client, samples, room).await?;
        let answer = JudgeResponse {
            verdicts: &verdicts,
            judge: &app.identity,
        };
        return Ok(Json(answer).into_response());
    }
    let count = samples.len();
    let mut coming = app.judge(client, samples, room).await;
    let (sender, lines) = channel_body();
    tokio::spawn(async move {
        let line = |mut text: String| {
            text.push('\n');
            Ok::<_, Infallible>(Bytes::from(text))
        };
        for _ in 0..count {
            let next = tokio::select! {
                verdict = coming.next() => verdict,
                () = sender.closed() => return,
            };
            let Some(verdict) = next else {
                let error = ApiError::ending().to_json();
                let _ = sender.send(line(error.to_string())).await;
                return;
            };
            // A verdict always can be written.
            let verdict = serde_json::to_string(&verdict).unwrap_or_default();
            if sender.send(line(verdict)).await.is_err() {
                return;
            }
        }
        let last = json!({"judge": app.identity, "verdicts": count});
        let _ = sender.send(line(last.to_string())).await;
    });
    Ok(([(header::CONTENT_TYPE, LINES)], lines).into_response())
}

impl App {
    fn samples(&self, json: &[u8]) -> Result<Vec<Result<Sample, String>>, ApiError> {
        let mut request = Fields::parse(json, SHAPE)?;
        let Some(rows) = request.take("samples").and_then(elements) else {
            let why = format!("`samples` is missing, or no list: send {SHAPE}");
            return Err(ApiError::bad_request(why));
        };
        let skip_bad = match request.take("skip_bad").map(RawValue::get) {
            None | Some("false") => false,
            Some("true") => true,
            Some(other) => {
                return Err(ApiError::bad_request(format!(
                    "`skip_bad` is {other}, and must be true or false"
                )));
            }
        };
        if let Some(key) = request.rest().next() {
            return Err(ApiError::bad_request(format!(
                "`{key}` is no parameter of /v1/judge: it takes `samples` and `skip_bad`; how the judge answers is set where the \
                 server is started"
            )));
        }
        self.check_count(rows.len())?;
        let read = rows.iter().enumerate().map(|(place, row)| {
            match self.sample(row.get()) {
                Err(why) if !skip_bad => Err(ApiError::bad_request(format!(
                    "samples[{place}]: {why}. Nothing was judged; `\"skip_bad\": true` gives such samples a failed verdict instead"
                ))),
                sample => Ok(sample),
            }
        });
        read.collect()
    }
}
