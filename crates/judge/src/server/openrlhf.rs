//! `POST /get_reward`: what `OpenRLHF`'s remote reward model is asked (<https://github.com/OpenRLHF/OpenRLHF>, 0.11).
//!
//! A request holds `query` (the policy's whole text, chat template and control tokens included), `prompts` (the text that it goes on
//! from) and `labels`, a list each. Its trainer makes tensors of what it gets: `rewards` and `scores` have a number a sample, and
//! `extra_logs` the same keys in every answer, each with one number: of several samples the mean.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::App;
use super::access::Client;
use super::body::{Fields, elements};
use super::error::ApiError;
use super::rollout;
use super::rows::{Row, is_judged};
use juror_data::Sample;
use juror_data::verdict::{Status, Verdict};

/// Rewards for the texts of a policy.
pub(super) async fn get_reward(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    let mut body = app.receive(&client, body, app.most_of_rows()).await?;
    let own = Arc::clone(&app);
    let (samples, whole) = body.parse(move |json| own.rollouts(json)).await?;
    let verdicts = app.judge_all(client, samples, body.into_room()).await?;
    let rewards: Vec<Option<f64>> = verdicts.iter().map(|verdict| app.reward(verdict)).collect();
    let mut answer = json!({
        "rewards": rewards,
        "scores": rewards,
        "extra_logs": app.logs(&verdicts),
    });
    if let Some(first) = whole.first() {
        let (count, all) = (whole.len(), verdicts.len());
        answer["note"] = json!(format!(
            "{count} of {all} texts do not go on from their prompts, query[{first}] first: all of each was judged as the response"
        ));
    }
    Ok(Json(answer))
}

const SHAPE: &str = r#"{"query": […], "prompts": […], "labels": […]}"#;

/// The list under a key; a single text or number is a list of one.
fn list<'b>(fields: &mut Fields<'b>, key: &str) -> Result<Vec<&'b RawValue>, ApiError> {
    let value = fields.take(key);
    let list = value.and_then(|value| match value.get().as_bytes().first() {
        Some(b'"' | b'-' | b'0'..=b'9') => Some(vec![value]),
        _ => elements(value),
    });
    list.ok_or_else(|| {
        ApiError::bad_request(format!("`{key}` is missing, or no list: send {SHAPE}"))
    })
}

/// Samples, or why they cannot be read, and the places of those whose text has no prompt.
type Rollouts = (Vec<Result<Sample, String>>, Vec<usize>);

impl App {
    fn rollouts(&self, json: &[u8]) -> Result<Rollouts, ApiError> {
        let mut fields = Fields::parse(json, SHAPE)?;
        let queries = list(&mut fields, "query")?;
        let prompts = list(&mut fields, "prompts")?;
        let labels = list(&mut fields, "labels")?;
        let counts @ [query, prompt, label] = [queries.len(), prompts.len(), labels.len()];
        if counts != [query; 3] {
            return Err(ApiError::bad_request(format!(
                "`query` has {query} texts, `prompts` {prompt} and `labels` {label}: they must be as many"
            )));
        }
        self.check_count(query)?;
        let mut whole = Vec::new();
        let texts = queries.iter().zip(&prompts).zip(&labels).enumerate();
        let read = texts.map(|(place, ((query, prompt), label))| {
            let text = |value: &RawValue| serde_json::from_str::<String>(value.get());
            let (Ok(query), Ok(prompt)) = (text(query), text(prompt)) else {
                return Err(ApiError::bad_request(format!(
                    "query[{place}] and prompts[{place}] must be texts"
                )));
            };
            let (response, is_after) = rollout::response(&query, &prompt);
            whole.extend((!is_after).then_some(place));
            let row = Row {
                question: rollout::question(&prompt),
                reference: Some(label),
                response,
            };
            self.sample_for_trainer(&row, place, ["prompts", "labels"])
        });
        let samples = read.collect::<Result<_, _>>()?;
        Ok((samples, whole))
    }

    /// What is logged of these verdicts, always under the same keys: the share of all that is `ok` with process and outcome true, and that has a reward.
    fn logs(&self, verdicts: &[Verdict]) -> Map<String, Value> {
        let mut logs = Map::new();
        let mut log = |key: &str, value: &dyn Fn(&Verdict) -> f64| {
            // Of none the sum would be -0.
            let sum = verdicts.iter().map(value).fold(0.0, |sum, one| sum + one);
            logs.insert(key.to_owned(), json!(sum / verdicts.len().max(1) as f64));
        };
        let share = |of: &Verdict, is: bool| f64::from(u8::from(is && of.status == Status::Ok));
        if self.yields.process {
            log("process", &|it| share(it, it.process == Some(true)));
        }
        if self.yields.outcome {
            log("outcome", &|it| share(it, it.outcome == Some(true)));
        }
        if self.yields.score {
            log("score", &|verdict| verdict.score.unwrap_or(0.0));
        }
        log("judge_ok", &|verdict| share(verdict, is_judged(verdict)));
        logs
    }
}
