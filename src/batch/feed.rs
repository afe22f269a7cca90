//! Requests into prompts, into the engine's queue; and the requests that the engine has.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::BatchError;
use super::request::BatchRequest;
use super::run::BatchRun;
use super::spooled::{Batch, Entry, Spooled};
use crate::engine::{Completion, Request};
use crate::text::reasoning::Thinking;

/// Requests that are read and tokenised at a time.
const AT_ONCE: usize = 32;

/// A request that the engine has, and what came of it.
pub(super) struct Pending {
    pub(super) at: usize,
    pub(super) request: BatchRequest,
    pub(super) thinking: Option<Arc<Thinking>>,
    pub(super) completions: Vec<Option<Completion>>,
}

/// The requests that the engine has, by the ids of their first choices.
#[derive(Default)]
pub(super) struct InFlight(Mutex<HashMap<u64, Pending>>);

impl InFlight {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Pending>> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a completion; gives its request once all of its choices are there.
    pub(super) fn take(&self, completion: Completion) -> Option<Pending> {
        let (number, choice) = split(completion.id);
        let mut pending = self.lock();
        let own = pending.get_mut(&number)?;
        *own.completions.get_mut(choice)? = Some(completion);
        if own.completions.iter().any(Option::is_none) {
            return None;
        }
        pending.remove(&number)
    }
}

/// Choices of a request have ids in a row.
const CHOICES: u64 = 1 << 16;

fn split(id: u64) -> (u64, usize) {
    (id / CHOICES, (id % CHOICES) as usize)
}

/// What the feeding thread tells the caller's.
pub(super) enum Event {
    /// A request that cannot be answered: its place in the batch, its name, and why.
    Refused(usize, String, String),
    /// What ends the run.
    Failed(BatchError),
}

/// Requests into prompts, into the engine's queue. Ends early when the run is over.
pub(super) fn feed(
    run: &BatchRun,
    batch: &Batch,
    todo: &[usize],
    in_flight: &InFlight,
    stop: &AtomicBool,
    queue: &SyncSender<Request>,
    events: &Sender<Event>,
) -> Result<(), BatchError> {
    let mut next = 0;
    for chunk in todo.chunks(AT_ONCE) {
        let prompts = chunk
            .par_iter()
            .filter_map(|&at| match &batch.entries[at] {
                Entry::Request(spooled) => Some((at, spooled.as_ref())),
                Entry::Bad(_) => None,
            })
            .map(|(at, spooled): (usize, &Spooled)| {
                let request = batch.request(spooled)?;
                let prompt = run.prompt(&request);
                Ok((at, request, prompt))
            })
            .collect::<Result<Vec<_>, BatchError>>()?;
        for (at, request, prompt) in prompts {
            let prompt = match prompt {
                Ok(prompt) => prompt,
                Err(why) => {
                    let _ = events.send(Event::Refused(at, request.custom_id, why));
                    continue;
                }
            };
            let number = next;
            next += 1;
            let requests: Vec<Request> = (0..request.choices)
                .map(|choice| {
                    let id = number * CHOICES + u64::from(choice);
                    run.engine_request(id, &request, &prompt, choice)
                })
                .collect();
            let completions = requests.iter().map(|_| None).collect();
            in_flight.lock().insert(
                number,
                Pending {
                    at,
                    request,
                    thinking: prompt.thinking,
                    completions,
                },
            );
            for request in requests {
                if stop.load(Ordering::Relaxed) || queue.send(request).is_err() {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}
