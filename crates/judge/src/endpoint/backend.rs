//! Answers the runtime's requests, each on a thread that waits for the server.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::abilities::new_name;
use super::client::{Failure, Passing};
use super::exchange::{Answered, Exchange, begun, read};
use super::pace::{NoTurn, Pace};
use super::{Endpoint, ServedModel};
use crate::judge::JudgeText;
use crate::runtime::{Backend, Given, IdleBackend, Reports};
use crate::wire::form::ServerForm;
use juror_base::panics;
use juror_base::threads::{self, ThreadError, lock};
use juror_engine::engine::{Completion, EngineError, FinishReason, Request, Stats};

/// Tries of a request that reached the server in vain.
const TIMES: u32 = 5;

/// The first pause before a request is made again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Bytes of a thread's stack: it waits most of the time.
const STACK: usize = 1 << 20;

pub(super) fn idle_backend(served: &Arc<ServedModel>, text: &Arc<JudgeText>) -> IdleBackend {
    let (served, text) = (Arc::clone(served), Arc::clone(text));
    let name = served.endpoint.client.base().to_owned();
    let places = served.endpoint.settings.at_once();
    let start = move |reports: Reports| {
        let shared = Arc::new(Shared {
            exchange: Exchange::new(&served, &text),
            pace: Pace::new(&served.endpoint.settings),
            served,
            reports,
            work: Mutex::default(),
            changed: Condvar::new(),
            has_ended: AtomicBool::new(false),
        });
        // At least one is needed.
        Shared::hire(&shared)?;
        Ok(Box::new(Remote(shared)) as Box<dyn Backend>)
    };
    let start = Box::new(start);
    IdleBackend {
        name,
        places,
        start,
    }
}

struct Remote(Arc<Shared>);

/// A request that the server has not answered, and why.
struct Unanswered {
    id: u64,
    why: String,
}

struct Shared {
    served: Arc<ServedModel>,
    exchange: Exchange,
    pace: Pace,
    reports: Reports,
    work: Mutex<Work>,
    changed: Condvar,
    has_ended: AtomicBool,
}

#[derive(Default)]
struct Work {
    waiting: VecDeque<(Request, Option<Arc<ServerForm>>)>,
    threads: usize,
    idle: usize,
    /// Requests whose answer is not handed on yet.
    open: usize,
    /// Those of them that are not made any more, since the tokens that may be spent are.
    left: usize,
    /// It ends once there are none.
    is_ending: bool,
    /// The tokens that may be spent are: it ends once what is under way is answered.
    spent: Option<u64>,
    stats: Stats,
}

/// How often a request was made in vain.
struct Tries {
    /// When it failed last.
    failed: Instant,
    failures: u32,
    /// Failures while others were answered.
    own: u32,
    answers_others: bool,
}

impl Backend for Remote {
    fn submit(&mut self, request: Request, form: Option<Arc<ServerForm>>) {
        let shared = &self.0;
        let mut work = lock(&shared.work);
        work.open += 1;
        work.waiting.push_back((request, form));
        let hires = work.idle < work.waiting.len()
            && work.threads < shared.served.endpoint.settings.at_once();
        drop(work);
        // If the system gives no more threads, those that run do it.
        if hires {
            let _ = Shared::hire(shared);
        }
        shared.changed.notify_one();
    }

    fn end(&mut self, at_once: bool) {
        let mut work = lock(&self.0.work);
        work.is_ending = true;
        let is_over = at_once || work.open == 0;
        drop(work);
        if is_over {
            self.0.end(Ok(()));
        }
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn hire(shared: &Arc<Self>) -> Result<(), ThreadError> {
        let own = Arc::clone(shared);
        lock(&shared.work).threads += 1;
        let spawned = std::thread::Builder::new()
            .name("endpoint".into())
            .stack_size(STACK)
            .spawn(move || {
                if let Err(why) = panics::guarded(|| own.work()) {
                    own.end(Err(EngineError::Panicked(why)));
                }
            });
        match spawned {
            Ok(_) => Ok(()),
            Err(error) => {
                lock(&shared.work).threads -= 1;
                Err(threads::refused("asking the endpoint")(error))
            }
        }
    }

    /// Ends it, and drops what waits.
    fn end(&self, result: Result<(), EngineError>) {
        self.pace.end();
        let first = !self.has_ended.swap(true, Ordering::SeqCst);
        lock(&self.work).waiting.clear();
        self.changed.notify_all();
        if first {
            self.reports.ended(result);
        }
    }

    fn work(&self) {
        loop {
            let mut work = lock(&self.work);
            work.idle += 1;
            let waited = self.changed.wait_while(work, |work| {
                work.waiting.is_empty() && !self.has_ended.load(Ordering::SeqCst)
            });
            work = waited.unwrap_or_else(PoisonError::into_inner);
            work.idle -= 1;
            let Some((request, form)) = work.waiting.pop_front() else {
                return;
            };
            drop(work);
            match self.answer(request, form.as_deref()) {
                Ok(answer) => self.report(answer),
                Err(NoTurn::Ended) => return,
                Err(NoTurn::Spent(most)) => {
                    let mut work = lock(&self.work);
                    work.spent = Some(most);
                    work.left += 1;
                    drop(work);
                    self.end_if_spent();
                    return;
                }
            }
        }
    }

    /// Ends where the tokens that may be spent are, and nothing is under way any more.
    fn end_if_spent(&self) {
        let work = lock(&self.work);
        let is_over = work.open <= work.waiting.len() + work.left;
        let spent = work.spent.filter(|_| is_over);
        drop(work);
        if let Some(most) = spent {
            self.end(Err(EngineError::Elsewhere(format!(
                "the {most} tokens of --max-total-tokens are spent (a run that goes on counts from 0 again)"
            ))));
        }
    }

    fn report(&self, answer: Result<Given, Unanswered>) {
        let mut work = lock(&self.work);
        let stats = &mut work.stats;
        if let Ok((completion, _)) = &answer
            && let Some((prompt, written)) = completion.counted
        {
            stats.prompt_tokens += prompt as u64;
            stats.computed_tokens += prompt.saturating_sub(completion.cached_tokens) as u64;
            stats.generated_tokens += written as u64;
            stats.cached_tokens += completion.cached_tokens as u64;
        }
        let active = self.pace.active();
        stats.running = active;
        stats.most_running = stats.most_running.max(active + 1);
        let stats = *stats;
        drop(work);
        match answer {
            Ok(given) => self.reports.answered(stats, vec![given]),
            Err(Unanswered { id, why }) => self.reports.unanswered(id, why),
        }
        let mut work = lock(&self.work);
        work.open -= 1;
        let is_over = work.is_ending && work.open == 0;
        drop(work);
        if is_over {
            self.end(Ok(()));
        }
        self.end_if_spent();
    }

    /// The answer to a request, however often it must be made, or why the server does not give one.
    fn answer(
        &self,
        request: Request,
        form: Option<&ServerForm>,
    ) -> Result<Result<Given, Unanswered>, NoTurn> {
        // Whether it was asked again without the form.
        let mut without_form = false;
        let (mut body, mut name) = self.exchange.body(&request, form);
        let most = request.max_new_tokens;
        let mut timing = begun();
        let mut pauses = 0;
        let mut tries = Tries {
            failed: Instant::now(),
            failures: 0,
            own: 0,
            answers_others: false,
        };
        loop {
            let made = self.pace.enter()?;
            let client = &self.endpoint().client;
            let asked = client.ask(self.exchange.route(), &body, most, &name);
            let answered = asked.and_then(|answer| {
                read(client, &answer).map_err(|unread| {
                    self.pace
                        .spent(self.exchange.spent(&request, unread.counted, ""));
                    unread.failure
                })
            });
            let failure = match answered {
                Ok(answered) => {
                    let text = answered.text();
                    let (prompt, written) = self.exchange.spent(&request, answered.counted(), text);
                    self.pace.answered(prompt, written);
                    timing.finished = Instant::now();
                    if let Some(why) = self.is_of_another(&answered) {
                        self.end(Err(EngineError::Elsewhere(why)));
                        return Err(NoTurn::Ended);
                    }
                    let (served, again) = (&self.served, usize::from(without_form));
                    served.without_form.fetch_add(again, Ordering::Relaxed);
                    served.answered.get_or_init(|| (body, most));
                    return Ok(Ok(self.exchange.completion(request, &answered, timing)));
                }
                Err(failure) => failure,
            };
            let why = failure.why().to_owned();
            let (kind, after) = match &failure {
                Failure::Passing { kind, after, .. } => (Some(*kind), *after),
                Failure::Refused { .. } | Failure::Lasting(_) => (None, None),
            };
            // A fault in one answer is no reason for others to wait.
            let waits = after.filter(|_| kind != Some(Passing::Broken));
            self.pace.failed(made, kind == Some(Passing::Busy), waits);
            match failure {
                Failure::Lasting(_) => return Err(self.fail(&why)),
                // Forms of rubrics and of numbered steps are each row's own: one that it cannot keep to is left out, as `--free` does.
                Failure::Refused {
                    status: 400 | 422, ..
                } if form.is_some() && !without_form => {
                    without_form = true;
                    (body, name) = self.exchange.body(&request, None);
                    continue;
                }
                // Some refuse a key with 403, some a request's content.
                Failure::Refused { status, .. }
                    if matches!(status, 404 | 405)
                        || status == 403 && !self.pace.has_answered(None) =>
                {
                    return Err(self.fail(&why));
                }
                Failure::Refused { .. } => return Ok(Ok((self.refused(request, &why), None))),
                Failure::Passing { kind, .. } => {
                    if let Some(why) = self.gives_up(&mut tries, kind, after, &why)? {
                        return Ok(Err(self.unanswered(&request, &why)));
                    }
                }
            }
            let pause = FIRST_PAUSE * 2_u32.saturating_pow(pauses);
            pauses += 1;
            // Requests that failed together are not retried together.
            let draw = blake3::hash(format!("{name}{pauses}").as_bytes()).as_bytes()[0];
            let jitter = 0.75 + 0.5 * f64::from(draw) / 255.0;
            if !self.pace.pause(pause.min(LONGEST_PAUSE).mul_f64(jitter)) {
                return Err(NoTurn::Ended);
            }
        }
    }

    /// Why a request that failed once more is not made again, if it is not. Where the server answers none, the run ends.
    fn gives_up(
        &self,
        tries: &mut Tries,
        kind: Passing,
        after: Option<Duration>,
        why: &str,
    ) -> Result<Option<String>, NoTurn> {
        let patience = self.endpoint().settings.patience;
        if let Some(after) = after.filter(|after| *after > patience) {
            let after = after.as_secs();
            let why = format!("{why}; it asks to wait {after} s, longer than --endpoint-timeout");
            return Err(self.fail(&why));
        }
        let is_busy = kind == Passing::Busy;
        // Where others are answered between its failures, it is this request that the server cannot answer; or where one
        // that was answered before is again, and it fails once more.
        let is_own = !is_busy && self.pace.has_answered(Some(tries.failed));
        tries.failed = Instant::now();
        tries.own += u32::from(is_own);
        tries.failures += u32::from(!is_busy);
        if tries.own >= TIMES || (tries.answers_others && !is_busy) {
            return Ok(Some(match tries.failures {
                failures @ 0..TIMES => format!("asked {failures} times: {why}"),
                _ => format!("asked {TIMES} times and more: {why}"),
            }));
        }
        let silence = self.pace.silence();
        let is_silent = silence > patience;
        if !is_busy {
            tries.answers_others =
                (tries.failures >= TIMES || is_silent) && self.answers_others(is_silent);
        }
        if is_silent && !tries.answers_others {
            let silence = silence.as_secs();
            return Err(self.fail(&format!("every request has failed for {silence} s: {why}")));
        }
        Ok(None)
    }

    fn endpoint(&self) -> &Endpoint {
        &self.served.endpoint
    }

    /// Whether the server answers now what it has answered before. If that is nothing: whether it answers a small request, which
    /// is asked only where all others have failed for long.
    fn answers_others(&self, is_silent: bool) -> bool {
        let Some((body, most)) = self.served.answered.get() else {
            let abilities = &self.served.abilities;
            return is_silent && self.endpoint().answers(abilities, self.exchange.route());
        };
        let (route, name) = (self.exchange.route(), new_name(body));
        let asked = self.endpoint().client.ask(route, body, *most, &name);
        let counted = asked.map(|answer| match read(&self.endpoint().client, &answer) {
            Ok(answered) => (true, answered.counted()),
            Err(unread) => (false, unread.counted),
        });
        let (is_answered, counted) = counted.unwrap_or_default();
        self.pace.spent(counted);
        is_answered
    }

    /// Nothing will be answered any more.
    fn fail(&self, why: &str) -> NoTurn {
        let address = self.endpoint().client.base();
        self.end(Err(EngineError::Elsewhere(format!("{address}: {why}"))));
        NoTurn::Ended
    }

    /// Why the run ends, if another model answers than when it began.
    fn is_of_another(&self, answered: &Answered) -> Option<String> {
        let then = self.endpoint().answers_as.get()?.as_ref()?;
        let now = answered.model.as_ref()?;
        (then != now).then(|| {
            let address = self.endpoint().client.base();
            format!("{address} answers as the model {now}, and did as {then} when the run began: another model is another run; where a name stands for several, give the name of one as --model")
        })
    }

    /// For a fault that may be the server's.
    fn unanswered(&self, request: &Request, why: &str) -> Unanswered {
        let (id, address) = (request.id, self.endpoint().client.base());
        let why = format!("{address}: {why}");
        Unanswered { id, why }
    }

    fn refused(&self, request: Request, why: &str) -> Completion {
        let why = format!("{}: {why}", self.endpoint().client.base());
        let answered = Answered::default();
        Completion {
            finish: FinishReason::Rejected(why),
            ..self.exchange.completion(request, &answered, begun()).0
        }
    }
}
