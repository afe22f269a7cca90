//! `POST /reward`: what slime's remote reward model is asked (`--rm-type remote_rm`, <https://github.com/THUDM/slime>), with
//! `--reward-key reward`.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use serde_json::{Value, json};

use super::App;
use super::access::Client;
use super::error::ApiError;
use super::rollout;
use super::rows::is_judged;
use crate::dataset::Sample;

/// The reward of one response.
pub(super) async fn reward(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    let mut body = app.room.object(body).await?;
    let mut take = |key: &str| body.value.remove(key).unwrap_or_default();
    let (prompt, response, label) = (take("prompt"), take("response"), take("label"));
    let Some(response) = response.as_str() else {
        return Err(ApiError::bad_request(
            "`response` is missing, or no text: send {\"prompt\", \"response\", \"label\"}",
        ));
    };
    let question = match prompt.as_str() {
        Some(text) => json!(rollout::question(text)),
        // Messages are read as everywhere.
        None => prompt,
    };
    let row = json!({
        "question": question,
        "reference": label,
        "response": rollout::without_end(response),
    });
    let sample = app.sample_for_trainer(&row, 0)?;
    let verdicts = app.judge_all(client, vec![sample], body.room).await?;
    let Some(verdict) = verdicts.first() else {
        return Err(ApiError::ending());
    };
    let mut answer = json!({
        "reward": app.reward(verdict),
        "process": verdict.process,
        "outcome": verdict.outcome,
        "status": verdict.status,
        "judge_ok": u8::from(is_judged(verdict)),
    });
    if let Some(error) = &verdict.error {
        answer["error"] = json!(error);
    }
    Ok(Json(answer))
}

impl App {
    /// A row of a trainer as a sample. One that cannot be read is an error, unless failures have a reward.
    pub(super) fn sample_for_trainer(
        &self,
        row: &Value,
        place: usize,
    ) -> Result<Result<Sample, String>, ApiError> {
        match self.sample(row) {
            Err(why) if self.failure_reward.is_none() => {
                Err(ApiError::bad_request(format!("sample {place}: {why}")))
            }
            sample => Ok(sample),
        }
    }
}
