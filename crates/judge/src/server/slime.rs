//! `POST /reward`: what slime's remote reward model is asked (`--rm-type remote_rm`, <https://github.com/THUDM/slime>), with
//! `--reward-key reward`.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::App;
use super::access::Client;
use super::body::Fields;
use super::error::ApiError;
use super::rollout;
use super::rows::{Row, is_judged};
use juror_data::Sample;

pub(super) async fn reward(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    let mut body = app.receive(&client, body, app.most_of_rows()).await?;
    let own = Arc::clone(&app);
    let sample = body.parse(move |json| own.rollout(json)).await?;
    let verdicts = app
        .judge_all(client, vec![sample], body.into_room())
        .await?;
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

const SHAPE: &str = r#"{"prompt", "response", "label"}"#;

impl App {
    fn rollout(&self, json: &[u8]) -> Result<Result<Sample, String>, ApiError> {
        let mut fields = Fields::parse(json, SHAPE)?;
        let (prompt, label) = (fields.take("prompt"), fields.take("label"));
        let text = |value: &RawValue| serde_json::from_str::<String>(value.get()).ok();
        let Some(response) = fields.take("response").and_then(text) else {
            let why = format!("`response` is missing, or no text: send {SHAPE}");
            return Err(ApiError::bad_request(why));
        };
        let why = || ApiError::bad_request(format!("`prompt` is missing: send {SHAPE}"));
        prompt.ok_or_else(why)?;
        let response = rollout::without_end(&response);
        let text = prompt.and_then(text);
        // Messages are read as everywhere.
        let question = text.map_or(json!(prompt), |text| rollout::question(&text).into());
        let row = Row {
            question,
            reference: label,
            response,
        };
        self.sample_for_trainer(&row, 0, ["prompt", "label"])
    }

    /// A row of a trainer as a sample, which calls question and reference by these names. One that cannot be read is an error, unless failures have a reward.
    pub(super) fn sample_for_trainer(
        &self,
        row: &Row<'_, impl Serialize>,
        place: usize,
        names: [&str; 2],
    ) -> Result<Result<Sample, String>, ApiError> {
        // A row always can be written.
        let row = serde_json::to_string(row).unwrap_or_default();
        let named = |why: String, (own, name): (&str, &str)| {
            why.replacen(&format!("`{own}`"), &format!("`{name}`"), 1)
        };
        let names = ["question", "reference"].into_iter().zip(names);
        match self.sample(&row).map_err(|why| names.fold(why, named)) {
            Err(why) if self.failure_reward.is_none() => {
                Err(ApiError::bad_request(format!("sample {place}: {why}")))
            }
            sample => Ok(sample),
        }
    }
}
