//! Rows of a request as samples, and their verdicts.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::App;
use super::access::Client;
use super::error::ApiError;
use crate::dataset::{Sample, sample_of_row};
use crate::judge::service::TakeVerdict;
use crate::verdict::{Status, Verdict};

/// Verdicts as they come.
pub(super) struct Verdicts(mpsc::UnboundedReceiver<Verdict>);

impl Verdicts {
    /// The next verdict, its place in the call as its index; `None` where the server ends before it is there.
    pub(super) async fn next(&mut self) -> Option<Verdict> {
        self.0.recv().await
    }
}

/// Gives verdicts to a request, as long as its client waits.
struct Sender {
    verdicts: mpsc::UnboundedSender<Verdict>,
    app: Arc<App>,
    /// Of the request's body: samples that wait take room, also when their client has gone.
    _room: OwnedSemaphorePermit,
}

impl TakeVerdict for Sender {
    fn take(&self, verdict: Verdict) {
        self.app.metrics.judged(&verdict);
        // Its client may have gone.
        let _ = self.verdicts.send(verdict);
    }

    fn is_wanted(&self) -> bool {
        !self.verdicts.is_closed()
    }
}

impl App {
    /// A row as a sample.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn sample(&self, row: &Value) -> Result<Sample, String> {
        for (key, value) in row.as_object().into_iter().flatten() {
            let bytes = longest_text(value);
            if bytes > self.limits.text {
                return Err(format!(
                    "`{key}` has {bytes} bytes, and a text may have {}: start the server with a larger --max-text",
                    self.limits.text
                ));
            }
        }
        sample_of_row(&row.to_string(), &self.columns)
    }

    /// Checks how many samples a request has.
    pub(super) fn check_count(&self, samples: usize) -> Result<(), ApiError> {
        let most = self.limits.samples;
        if samples > most {
            return Err(ApiError::too_large(format!(
                "{samples} samples, and a request may have {most}: send them in several, or start the server with a larger \
                 --max-samples"
            )));
        }
        Ok(())
    }

    /// Has samples judged. A sample that cannot be read has a verdict at once that says so.
    pub(super) fn judge(
        self: &Arc<Self>,
        client: Client,
        samples: Vec<Result<Sample, String>>,
        room: OwnedSemaphorePermit,
    ) -> Verdicts {
        let (verdicts, receiver) = mpsc::unbounded_channel();
        let sender = Arc::new(Sender {
            verdicts,
            app: Arc::clone(self),
            _room: room,
        });
        let mut good = Vec::with_capacity(samples.len());
        for (place, sample) in samples.into_iter().enumerate() {
            match sample {
                Ok(sample) => good.push((place, sample)),
                Err(why) => {
                    let sample = Sample {
                        index: place,
                        ..Sample::default()
                    };
                    sender.take(self.service.failed(&sample, why));
                }
            }
        }
        let app = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            let take: Arc<dyn TakeVerdict> = sender;
            app.service.judge(&client.0, good, &take);
        });
        Verdicts(receiver)
    }

    /// The verdicts of all samples, in their order.
    pub(super) async fn judge_all(
        self: &Arc<Self>,
        client: Client,
        samples: Vec<Result<Sample, String>>,
        room: OwnedSemaphorePermit,
    ) -> Result<Vec<Verdict>, ApiError> {
        let count = samples.len();
        let mut coming = self.judge(client, samples, room);
        let mut verdicts = Vec::with_capacity(count);
        while verdicts.len() < count {
            verdicts.push(coming.next().await.ok_or_else(ApiError::ending)?);
        }
        verdicts.sort_by_key(|verdict| verdict.index);
        Ok(verdicts)
    }

    /// The reward of a verdict for a trainer: where there is none, the failure reward, if one is set.
    pub(super) fn reward(&self, verdict: &Verdict) -> Option<f64> {
        verdict.reward.or(self.failure_reward)
    }
}

/// The bytes of the longest text in a value.
fn longest_text(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(longest_text).max().unwrap_or(0),
        Value::Object(values) => values.values().map(longest_text).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Whether the judge has given a reward.
pub(super) fn is_judged(verdict: &Verdict) -> bool {
    verdict.status == Status::Ok && verdict.reward.is_some()
}
