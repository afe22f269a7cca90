//! Who waits for which answer. A prompt that is asked twice is answered once: what a judge writes depends on its prompt, the
//! run's settings and the trial alone.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::JudgeText;
use super::cache::{AnswerCache, AnswerKey};
use super::completion::VerdictBuilder;
use super::guide::Guided;
use juror_data::Sample;
use juror_data::verdict::Verdict;
use juror_engine::engine::{Completion, FinishReason};

/// Answers that are kept for samples to come: those of one question are judged near each other.
const KEPT: usize = 2048;

/// The requests that the engines have, and the latest answers.
pub(super) struct InFlight {
    state: Mutex<State>,
    /// How many answers.
    kept: usize,
}

impl Default for InFlight {
    fn default() -> Self {
        Self::keeping(KEPT)
    }
}

#[derive(Default)]
struct State {
    /// By the request's id: as many as the engines hold, and no more.
    asked: HashMap<u64, Asked>,
    known: HashMap<AnswerKey, Entry>,
    /// The answers among `known`, the oldest first.
    answers: VecDeque<AnswerKey>,
    next: u64,
}

enum Entry {
    Asked(u64),
    Answered(Arc<KnownAnswer>),
}

/// What an engine was asked.
pub(super) struct Asked {
    pub(super) key: AnswerKey,
    /// The trials with this prompt; the first is the one that it was asked for.
    pub(super) trials: Vec<(Arc<Sample>, u32)>,
    /// Why the guide failed, if it did.
    pub(super) failure: Arc<OnceLock<String>>,
    /// What a constrained generation has chosen.
    pub(super) guided: Arc<Mutex<Guided>>,
}

/// An answer, and what was chosen in it.
pub(super) struct KnownAnswer {
    pub(super) completion: Completion,
    pub(super) guided: Guided,
}

/// What is known of an answer.
pub(super) enum Known {
    /// Nothing: it is to be asked under this id.
    Not(u64),
    /// It is being asked under this id, and the sample waits with the others.
    Asked(u64),
    /// The answer; its completion has no prompt.
    Answered(Arc<KnownAnswer>),
}

impl InFlight {
    /// Keeps so many answers for samples to come.
    pub(super) fn keeping(kept: usize) -> Self {
        Self {
            state: Mutex::default(),
            kept,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that one sample's answer is wanted.
    pub(super) fn ask(&self, mut asked: Asked, cache: Option<&AnswerCache>) -> Known {
        if let Some(known) = self.state().known(&mut asked) {
            return known;
        }
        // The lock is not held while files are read.
        if let Some(answer) = cache.and_then(|cache| cache.get(&asked.key)) {
            return Known::Answered(Arc::new(answer));
        }
        let mut state = self.state();
        // Another thread may have asked meanwhile.
        if let Some(known) = state.known(&mut asked) {
            return known;
        }
        let id = state.next;
        state.next += 1;
        state.known.insert(asked.key, Entry::Asked(id));
        state.asked.insert(id, asked);
        Known::Not(id)
    }

    /// Forgets the samples that wait for a request's answer and are not wanted; the answer itself still is.
    pub(super) fn retain(&self, id: u64, mut is_wanted: impl FnMut(&Sample) -> bool) {
        if let Some(asked) = self.state().asked.get_mut(&id) {
            asked.trials.retain(|(sample, _)| is_wanted(sample));
        }
    }

    /// Whether a sample that waits for a request's answer is wanted.
    pub(super) fn is_wanted(&self, id: u64, is_wanted: impl Fn(&Sample) -> bool) -> bool {
        self.state().is_wanted(id, is_wanted)
    }

    /// Forgets a request that will have no answer, if no sample that waits for it is wanted.
    pub(super) fn give_up_unwanted(
        &self,
        id: u64,
        is_wanted: impl Fn(&Sample) -> bool,
    ) -> Option<Asked> {
        let mut state = self.state();
        if state.is_wanted(id, is_wanted) {
            return None;
        }
        state.give_up(id)
    }

    /// Forgets a request that will have no answer: who has asked for it.
    pub(super) fn give_up(&self, id: u64) -> Option<Asked> {
        self.state().give_up(id)
    }

    /// Takes an answer: who has asked for it, and the answer with what was chosen in it. `None` if nobody has.
    pub(super) fn answered(
        &self,
        completion: Completion,
        cache: Option<&AnswerCache>,
    ) -> Option<(Asked, KnownAnswer)> {
        let mut state = self.state();
        let asked = state.asked.remove(&completion.id)?;
        let guided = asked
            .guided
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let answer = KnownAnswer { completion, guided };
        let is_answer = asked.failure.get().is_none()
            && answer.guided.error.is_none()
            && !matches!(answer.completion.finish, FinishReason::Rejected(_));
        if is_answer {
            let kept = KnownAnswer {
                completion: Completion {
                    prompt: Vec::new(),
                    ..answer.completion.clone()
                },
                guided: answer.guided.clone(),
            };
            state
                .known
                .insert(asked.key, Entry::Answered(Arc::new(kept)));
            state.answers.push_back(asked.key);
            if state.answers.len() > self.kept
                && let Some(oldest) = state.answers.pop_front()
            {
                state.known.remove(&oldest);
            }
        } else {
            state.known.remove(&asked.key);
        }
        drop(state);
        if let (true, Some(cache)) = (is_answer, cache) {
            cache.put(&asked.key, &answer);
        }
        Some((asked, answer))
    }
}

impl State {
    fn is_wanted(&self, id: u64, is_wanted: impl Fn(&Sample) -> bool) -> bool {
        let mut trials = self
            .asked
            .get(&id)
            .into_iter()
            .flat_map(|asked| &asked.trials);
        trials.any(|(sample, _)| is_wanted(sample))
    }

    fn give_up(&mut self, id: u64) -> Option<Asked> {
        let asked = self.asked.remove(&id)?;
        self.known.remove(&asked.key);
        Some(asked)
    }

    /// What is known of an answer; a sample that waits is taken over.
    fn known(&mut self, asked: &mut Asked) -> Option<Known> {
        let id = match self.known.get(&asked.key)? {
            Entry::Answered(answer) => return Some(Known::Answered(Arc::clone(answer))),
            Entry::Asked(id) => *id,
        };
        self.asked.get_mut(&id)?.trials.append(&mut asked.trials);
        Some(Known::Asked(id))
    }
}

impl Asked {
    /// The verdicts on all who have asked for an answer.
    pub(super) fn verdicts<'a>(
        &'a self,
        verdicts: &'a VerdictBuilder,
        text: &'a JudgeText,
        answer: &'a KnownAnswer,
    ) -> impl Iterator<Item = Verdict> + 'a {
        self.trials
            .iter()
            .enumerate()
            .map(move |(at, (sample, trial))| {
                let failure = self.failure.get();
                let mut verdict = verdicts.of_request(text, failure, sample, *trial, answer);
                if at > 0 {
                    verdict.reused = true;
                    verdict.usage.cached_tokens = verdict.usage.prompt_tokens;
                }
                verdict
            })
    }
}
