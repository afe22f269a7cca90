//! Rows of a request as samples, and their verdicts.

use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::App;
use super::access::Client;
use super::budget::Reservation;
use super::error::ApiError;
use super::weight::Weight;
use crate::judge::service::TakeVerdict;
use juror_base::threads::lock;
use juror_data::verdict::{Status, Verdict};
use juror_data::{Sample, sample_of_row};

/// What a sample takes in memory while it waits beside its texts: the prompt's tokens, and who waits for it.
pub(super) const WAITING: usize = 8 << 10;

/// What the values of a row may take in memory beside their texts, on the average.
const ROW: usize = 16 << 10;

/// What those of a request's rows may take at least, however few a request may have.
const ROWS: usize = 64 << 20;

/// A row as a trainer sends it.
#[derive(Serialize)]
pub(super) struct Row<'b, Q> {
    pub(super) question: Q,
    pub(super) reference: Option<&'b RawValue>,
    pub(super) response: &'b str,
}

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
    /// Samples that wait take room, also when their client has gone.
    room: Mutex<Reservation>,
    each: usize,
}

impl TakeVerdict for Sender {
    fn take(&self, verdict: Verdict) {
        self.app.metrics.judged(&verdict);
        let mut room = lock(&self.room);
        let rest = room.bytes().saturating_sub(self.each);
        room.shrink_to(rest);
        drop(room);
        // Its client may have gone.
        let _ = self.verdicts.send(verdict);
    }

    fn is_wanted(&self) -> bool {
        !self.verdicts.is_closed()
    }
}

impl App {
    /// Refuses a JSON object with a text that is too long.
    pub(super) fn check_texts(&self, json: &[u8]) -> Result<(), String> {
        if json.len() > self.limits.text {
            let weight: Weight =
                serde_json::from_slice(json).map_err(|error| format!("not valid JSON: {error}"))?;
            let (key, bytes) = (&weight.longest_key, weight.longest_text);
            if bytes > self.limits.text {
                return Err(format!(
                    "`{key}` has {bytes} bytes, and a text may have {}: start the server with a larger --max-text",
                    self.limits.text
                ));
            }
        }
        Ok(())
    }

    pub(super) fn sample(&self, row: &str) -> Result<Sample, String> {
        self.check_texts(row.as_bytes())?;
        sample_of_row(row, &self.columns)
    }

    /// What the values of a request's rows may take in memory beside their texts.
    pub(super) fn most_of_rows(&self) -> usize {
        self.limits.samples.saturating_mul(ROW).max(ROWS)
    }

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

    /// Has samples judged, once there is room for them. A sample that cannot be read has a verdict at once that says so.
    pub(super) async fn judge(
        self: &Arc<Self>,
        client: Client,
        samples: Vec<Result<Sample, String>>,
        mut room: Reservation,
    ) -> Verdicts {
        let copies = self.judges.copies();
        let bytes = (room.bytes() + samples.len() * WAITING).saturating_mul(copies);
        room.grow_to(bytes).await;
        let (verdicts, receiver) = mpsc::unbounded_channel();
        let sender = Arc::new(Sender {
            verdicts,
            app: Arc::clone(self),
            each: bytes / samples.len().max(1),
            room: Mutex::new(room),
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
                    sender.take(self.judges.first().failed(&sample, why));
                }
            }
        }
        let take: Arc<dyn TakeVerdict> = sender;
        self.judges.judge(&client.0, good, &take);
        Verdicts(receiver)
    }

    /// The verdicts of all samples, in their order.
    pub(super) async fn judge_all(
        self: &Arc<Self>,
        client: Client,
        samples: Vec<Result<Sample, String>>,
        room: Reservation,
    ) -> Result<Vec<Verdict>, ApiError> {
        let count = samples.len();
        let mut coming = self.judge(client, samples, room).await;
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

pub(super) fn is_judged(verdict: &Verdict) -> bool {
    verdict.status == Status::Ok && verdict.reward.is_some()
}
