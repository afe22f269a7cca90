//! How many requests at once, and when.
//!
//! The number grows as long as more requests at once bring more tokens a second, and is taken back where they only wait longer for
//! one another; it is halved when the server says that it has too much to do, and nothing is sent before the time that it asks to
//! wait. (Additive and multiplicative steps as of congestion control: Jacobson 1988.)

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::EndpointSettings;
use juror_base::threads::lock;

/// Requests at once in the beginning.
const FIRST: f64 = 8.0;

/// The share by which more requests at once must bring more tokens, to be worth it.
const WORTH: f64 = 1.05;

/// Measurements without a change after which a higher limit is tried again.
const TRY_AGAIN: u32 = 8;

const MINUTE: Duration = Duration::from_mins(1);

/// Why a request is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoTurn {
    Ended,
    Spent(u64),
}

pub(super) struct Pace {
    state: Mutex<PaceState>,
    changed: Condvar,
    most: f64,
    a_minute: Option<usize>,
    most_tokens: Option<u64>,
}

struct PaceState {
    limit: f64,
    active: usize,
    /// Nothing is sent before.
    resumes: Option<Instant>,
    /// When the limit was last halved.
    halved: Option<Instant>,
    /// When the requests of the last minute were made.
    made: VecDeque<Instant>,
    spent: u64,
    /// When measuring began, and what was answered since.
    since: Instant,
    answers: u32,
    tokens: u64,
    /// The last limit, and the tokens a second there.
    before: Option<(f64, f64)>,
    unchanged: u32,
    /// When a request was last answered, if one was.
    answered: Option<Instant>,
    /// When the first request failed since.
    failing: Option<Instant>,
    ended: bool,
}

impl Pace {
    pub(super) fn new(settings: &EndpointSettings) -> Self {
        let now = Instant::now();
        let most = settings.at_once() as f64;
        let a_minute = settings.requests_per_minute;
        Self {
            state: Mutex::new(PaceState {
                limit: FIRST.min(most),
                active: 0,
                resumes: None,
                halved: None,
                made: VecDeque::new(),
                spent: 0,
                since: now,
                answers: 0,
                tokens: 0,
                before: None,
                unchanged: 0,
                answered: None,
                failing: None,
                ended: false,
            }),
            changed: Condvar::new(),
            most,
            a_minute: a_minute.map(|count| count.max(1) as usize),
            most_tokens: settings.most_tokens,
        }
    }

    /// Waits for the turn of a request.
    pub(super) fn enter(&self) -> Result<Instant, NoTurn> {
        let mut state = lock(&self.state);
        loop {
            if state.ended {
                return Err(NoTurn::Ended);
            }
            if let Some(most) = self.most_tokens.filter(|most| state.spent >= *most) {
                return Err(NoTurn::Spent(most));
            }
            let now = Instant::now();
            let is_old = |made: &Instant| now.duration_since(*made) >= MINUTE;
            while state.made.front().is_some_and(is_old) {
                state.made.pop_front();
            }
            let full = self.a_minute.is_some_and(|most| state.made.len() >= most);
            let first = state.made.front().filter(|_| full);
            let next = first.map(|made| *made + MINUTE);
            let until = next.max(state.resumes.filter(|until| *until > now));
            if let Some(until) = until {
                state = self.wait(state, until.saturating_duration_since(now));
            } else if state.active >= state.limit as usize {
                state = self.wait(state, MINUTE);
            } else {
                state.active += 1;
                if self.a_minute.is_some() {
                    state.made.push_back(now);
                }
                return Ok(now);
            }
        }
    }

    fn wait<'s>(
        &self,
        state: MutexGuard<'s, PaceState>,
        time: Duration,
    ) -> MutexGuard<'s, PaceState> {
        let waited = self.changed.wait_timeout(state, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// A request was answered, with so many tokens, prompt and completion.
    pub(super) fn answered(&self, prompt: usize, written: usize) {
        let mut state = lock(&self.state);
        state.active = state.active.saturating_sub(1);
        state.answered = Some(Instant::now());
        state.failing = None;
        state.resumes = None;
        let tokens = prompt.saturating_add(written) as u64;
        state.spent = state.spent.saturating_add(tokens);
        state.answers += 1;
        // Of servers that count nothing, answers.
        state.tokens = state.tokens.saturating_add((written as u64).max(1));
        if f64::from(state.answers) >= state.limit.max(FIRST) {
            state.measure(self.most);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// A request that was made at `made` has failed; `after`: the server asks all to wait so long.
    pub(super) fn failed(&self, made: Instant, is_busy: bool, after: Option<Duration>) {
        let mut state = lock(&self.state);
        state.active = state.active.saturating_sub(1);
        let now = Instant::now();
        if is_busy && state.halved.is_none_or(|halved| halved < made) {
            // Once for all requests that were under way together.
            state.limit = (state.limit / 2.0).max(1.0);
            state.halved = Some(now);
            state.start_measuring();
            state.before = None;
        }
        state.failing.get_or_insert(now);
        if let Some(after) = after {
            let until = now.checked_add(after);
            state.resumes = state.resumes.max(until);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// How long every request has failed.
    pub(super) fn silence(&self) -> Duration {
        let failing = lock(&self.state).failing;
        failing.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Whether a request was answered since `then`; if none, ever.
    pub(super) fn has_answered(&self, then: Option<Instant>) -> bool {
        let answered = lock(&self.state).answered;
        answered.is_some_and(|answered| then.is_none_or(|then| answered > then))
    }

    /// Counts tokens spent on unreadable answers.
    pub(super) fn spent(&self, (prompt, written): (usize, usize)) {
        let tokens = prompt.saturating_add(written) as u64;
        let mut state = lock(&self.state);
        state.spent = state.spent.saturating_add(tokens);
    }

    /// Waits before a request is made again; false where all is over.
    pub(super) fn pause(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = lock(&self.state);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if state.ended || left.is_zero() {
                return !state.ended;
            }
            state = self.wait(state, left);
        }
    }

    /// No request is made any more.
    pub(super) fn end(&self) {
        lock(&self.state).ended = true;
        self.changed.notify_all();
    }

    pub(super) fn active(&self) -> usize {
        lock(&self.state).active
    }

    #[cfg(test)]
    pub(super) fn limit(&self) -> f64 {
        lock(&self.state).limit
    }
}

impl PaceState {
    fn start_measuring(&mut self) {
        self.since = Instant::now();
        self.answers = 0;
        self.tokens = 0;
    }

    /// Compares what came since the last measurement with what came then.
    fn measure(&mut self, most: f64) {
        let rate = self.tokens as f64 / self.since.elapsed().as_secs_f64().max(1e-6);
        let limit = self.limit;
        match self.before {
            Some((lower, then)) if lower < limit && rate < then * WORTH => {
                // More at once only wait longer.
                self.limit = lower;
                self.before = Some((lower, then.max(rate)));
                self.unchanged = 0;
            }
            Some((same, _)) if same >= limit && self.unchanged < TRY_AGAIN => {
                self.unchanged += 1;
                self.before = Some((limit, rate));
            }
            _ => {
                self.before = Some((limit, rate));
                self.limit = (limit * 1.5 + 1.0).min(most);
                self.unchanged = 0;
            }
        }
        self.start_measuring();
    }
}
