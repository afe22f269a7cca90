//! The thread that owns all that is asked of the model.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

use super::backend::{Backend, DeviceStats, Given, IdleBackend, Reports};
use super::life::{Built, Done, Life};
use super::queue::Turn;
use super::{
    AnswerKey, Answered, Ask, BackendFailure, Board, ClientName, GuideNotes, ModelAnswer, Phase,
    PlaceQueue, Reply, RuntimeOptions, Stop, Submission, Supply, Unanswered, doubts,
};
use crate::wire::form::ServerForm;
use juror_base::panics;
use juror_base::threads::{ThreadError, lock};
use juror_engine::engine::{Completion, EngineError, Request, Stats};

/// Requests of one question go to one backend, up to this many in a row.
const GROUP: usize = 16;

/// Completions of at most so many tokens are short: their place is soon another's. Every verdict counts as short, even one with thinking
/// of thousands of tokens, which holds its place as long as that takes.
const SHORT: usize = 128;

/// Messages that are taken before the backends are given what they have room for.
const MESSAGES_AT_ONCE: usize = 256;

pub(super) enum Message {
    Submit(Box<Submission>),
    /// A backend has answered requests: its place, what it has done, what it wrote.
    Answered(usize, Stats, Vec<Given>),
    /// A request has no answer, for this reason.
    Unanswered(usize, u64, String),
    Ended(usize, Result<(), EngineError>),
    Built(Built),
    Sleep(Done),
    Wake(Done),
    Forget,
    Stop(Stop),
}

/// A request that is not answered.
struct Pending {
    /// None once a backend has it.
    request: Option<Request>,
    form: Option<Arc<ServerForm>>,
    question: u64,
    notes: GuideNotes,
    key: Option<AnswerKey>,
    /// It may keep its place for long.
    is_long: bool,
    /// Who waits for it, in the order of asking.
    replies: Vec<Box<dyn Reply>>,
    submitted: Instant,
    /// The place of the backend that has it, and to whom it is counted.
    backend: Option<(usize, ClientName)>,
}

impl Pending {
    fn is_wanted(&self) -> bool {
        self.replies.iter().any(|reply| reply.is_wanted())
    }
}

enum Known {
    /// It is asked for under this id.
    Pending(u64),
    /// The answer; its completion has no prompt.
    Answer(Arc<ModelAnswer>),
}

pub(super) struct Running {
    pub(super) backend: Box<dyn Backend>,
    outstanding: usize,
    /// Of these, the long ones.
    long: usize,
    /// Of all, those in its batch.
    in_batch: usize,
    /// The most that are in its batch.
    places: usize,
    /// The share of its memory for sequences that they fill, in eighths.
    filled: usize,
    pub(super) has_ended: bool,
}

/// All that is asked, known and answered.
pub(super) struct Owner {
    options: RuntimeOptions,
    mailbox: Sender<Message>,
    messages: Receiver<Message>,
    board: Arc<Board>,
    pub(super) life: Life,
    pub(super) backends: Vec<Running>,
    /// The ids of requests that wait for a backend. One that several clients ask for has a place in the queue of each.
    queue: PlaceQueue<u64>,
    /// How many requests of whom the backends have.
    counted: HashMap<ClientName, usize>,
    pending: HashMap<u64, Pending>,
    next_id: u64,
    known: HashMap<AnswerKey, Known>,
    /// The answers among `known`, the oldest first.
    answers: VecDeque<AnswerKey>,
    /// The backend that got the last request, the request's question, and how many of that question went there in a row.
    last: Option<(usize, u64, usize)>,
}

impl Owner {
    pub(super) fn new(
        supply: Supply,
        options: RuntimeOptions,
        mailbox: Sender<Message>,
        messages: Receiver<Message>,
        board: &Arc<Board>,
    ) -> Result<Self, ThreadError> {
        let mut owner = Self {
            options,
            mailbox,
            messages,
            board: Arc::clone(board),
            life: Life::default(),
            backends: Vec::new(),
            queue: PlaceQueue::default(),
            counted: HashMap::new(),
            pending: HashMap::new(),
            next_id: 0,
            known: HashMap::new(),
            answers: VecDeque::new(),
            last: None,
        };
        match supply {
            Supply::Given(backends) => {
                owner.life = Life::of_given();
                owner.start(backends)?;
                owner.enter(Phase::Ready(String::new()));
            }
            Supply::Built(build) => owner.life.build = Some(build),
        }
        Ok(owner)
    }

    /// Works until it ends. Returns the failure of a given backend.
    pub(super) fn run(mut self) -> Option<BackendFailure> {
        let at_end = self.options.at_end.take();
        let worked = panics::guarded(|| self.work());
        let end = worked.unwrap_or_else(|why| {
            Phase::Failed(format!(
                "an error of juror itself ({why}); please report it"
            ))
        });
        self.enter(end.clone());
        self.life.refuse_all(&end);
        let failure = self.life.failure.take();
        // Dropping the replies tells who waits; then `at_end` is called.
        drop(self);
        if let Some(at_end) = at_end {
            at_end();
        }
        failure
    }

    fn work(&mut self) -> Phase {
        loop {
            if let Some(end) = self.live() {
                return end;
            }
            self.dispatch();
            self.publish();
            // It holds a sender itself: messages never end.
            let first = match self.life.next_look() {
                Some(patience) => self.messages.recv_timeout(patience).ok(),
                None => self.messages.recv().ok(),
            };
            if let Some(message) = first {
                self.take(message);
            }
            for _ in 1..MESSAGES_AT_ONCE {
                let Ok(message) = self.messages.try_recv() else {
                    break;
                };
                self.take(message);
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Submit(submission) => self.admit(*submission),
            Message::Answered(at, stats, completions) => {
                self.backends[at].in_batch = stats.running;
                let filled = 8 * stats.used_blocks / stats.blocks.max(1);
                self.backends[at].filled = filled;
                self.note(at, stats, completions.len());
                for given in completions {
                    self.answered(at, given);
                }
            }
            Message::Unanswered(at, id, why) => {
                if let Some(pending) = self.given_back(at, id) {
                    self.refuse(pending, &Unanswered::Server(why));
                }
            }
            Message::Ended(at, result) => self.ended(at, result),
            Message::Built(built) => self.built(built),
            Message::Sleep(done) => self.life.command(true, done),
            Message::Wake(done) => self.life.command(false, done),
            Message::Forget => self.forget_unwanted(),
            Message::Stop(stop) => self.life.stop = self.life.stop.max(Some(stop)),
        }
    }

    pub(super) fn start(&mut self, backends: Vec<IdleBackend>) -> Result<(), ThreadError> {
        self.last = None;
        self.backends.clear();
        self.counted.clear();
        let mut devices = Vec::new();
        for (at, idle) in backends.into_iter().enumerate() {
            let IdleBackend {
                name,
                places,
                start,
            } = idle;
            let reports = Reports {
                at,
                mailbox: self.mailbox.clone(),
            };
            self.backends.push(Running {
                backend: start(reports)?,
                outstanding: 0,
                long: 0,
                in_batch: 0,
                places,
                filled: 0,
                has_ended: false,
            });
            devices.push(DeviceStats {
                device: name,
                verdicts: 0,
                stats: Stats::default(),
            });
        }
        self.board.lock().devices = devices;
        Ok(())
    }

    /// All backends have ended: adds their counters to `earlier`, and forgets them.
    pub(super) fn retire_backends(&mut self) {
        self.backends.clear();
        let mut published = self.board.lock();
        for device in std::mem::take(&mut published.devices) {
            // Backends that have ended run nothing and hold no blocks.
            let stats = Stats {
                running: 0,
                used_blocks: 0,
                blocks: 0,
                ..device.stats
            };
            published.earlier += &stats;
        }
    }

    pub(super) fn generated_tokens(&self) -> u64 {
        let published = self.board.lock();
        let now = published.devices.iter();
        published.earlier.generated_tokens
            + now.map(|device| device.stats.generated_tokens).sum::<u64>()
    }

    pub(super) fn name(&self, at: usize) -> String {
        self.board.lock().devices[at].device.clone()
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.board.enter(phase);
    }

    pub(super) fn mailbox(&self) -> Sender<Message> {
        self.mailbox.clone()
    }

    fn admit(&mut self, submission: Submission) {
        let Some(submission) = self.join(submission) else {
            return;
        };
        let Submission {
            client,
            question,
            ask:
                Ask {
                    request,
                    form,
                    notes,
                },
            key,
            reply,
        } = submission;
        let id = self.next_id;
        let is_long = key.is_none() && request.max_new_tokens > SHORT;
        if let Some(key) = key {
            self.known.insert(key, Known::Pending(id));
        }
        self.next_id += 1;
        let pending = Pending {
            request: Some(Request {
                id,
                background: is_long,
                ..request
            }),
            form,
            question,
            notes,
            key,
            is_long,
            replies: vec![reply],
            submitted: Instant::now(),
            backend: None,
        };
        self.pending.insert(id, pending);
        self.queue.push(&client, is_long, id);
    }

    /// Answers what is known at once, and joins what is asked already; gives back what is neither.
    fn join(&mut self, submission: Submission) -> Option<Submission> {
        let key = submission.key.as_ref();
        match key.and_then(|key| self.known.get(key)) {
            Some(Known::Answer(known)) => {
                let mut answer = ModelAnswer::clone(known);
                answer.completion.prompt = submission.ask.request.prompt;
                submission.reply.take(Ok(Answered {
                    answer: Arc::new(answer),
                    is_reused: true,
                }));
            }
            Some(Known::Pending(first)) => {
                let first = *first;
                let Some(pending) = self.pending.get_mut(&first) else {
                    return Some(submission);
                };
                // So asking again and again takes no more room.
                pending.replies.retain(|reply| reply.is_wanted());
                pending.replies.push(submission.reply);
                if pending.request.is_some() {
                    // Its turn may come before that of the client who has asked first.
                    let is_long = pending.is_long;
                    self.queue.push(&submission.client, is_long, first);
                }
            }
            None => return Some(submission),
        }
        None
    }

    /// Gives the backends what they have room for.
    fn dispatch(&mut self) {
        while self.life.is_ready() && self.has_room(false) {
            let takes_long = self.has_room(true);
            let (pending, counted) = (&self.pending, &self.counted);
            let turn = |id: &u64| match pending.get(id) {
                Some(pending) if pending.request.is_none() => Turn::Gone,
                Some(pending) if pending.is_wanted() => Turn::Now,
                // Nobody will ask for this completion again.
                Some(pending) if pending.key.is_none() => Turn::Now,
                Some(_) => Turn::Last,
                None => Turn::Gone,
            };
            let has = |owner: &ClientName| counted.get(owner).copied().unwrap_or(0);
            let next = self.queue.pop(takes_long, has, turn);
            let Some((owner, id)) = next else { return };
            let Some(pending) = self.pending.get_mut(&id) else {
                continue;
            };
            if pending.key.is_none() && !pending.is_wanted() {
                self.pending.remove(&id);
                continue;
            }
            let (question, is_long) = (pending.question, pending.is_long);
            let at = self.choose(question, is_long);
            let (Some(at), Some(pending)) = (at, self.pending.get_mut(&id)) else {
                return;
            };
            if let Some(request) = pending.request.take() {
                *self.counted.entry(Arc::clone(&owner)).or_default() += 1;
                pending.backend = Some((at, owner));
                self.backends[at].outstanding += 1;
                self.backends[at].long += usize::from(is_long);
                let form = pending.form.take();
                self.backends[at].backend.submit(request, form);
                let in_row = match self.last {
                    Some((last, of, count)) if (last, of) == (at, question) => count,
                    _ => 0,
                };
                self.last = Some((at, question, in_row + 1));
            }
        }
    }

    fn has_room(&self, is_long: bool) -> bool {
        let mut all = 0..self.backends.len();
        all.any(|at| self.load(at, is_long).is_some())
    }

    /// How many requests a backend has, if it has room for another. Few wait in it, and no more than it has places for short ones, as
    /// none goes before another there. Long ones leave a place and an eighth of the memory free, and where memory is short, one waits.
    fn load(&self, at: usize, is_long: bool) -> Option<usize> {
        let Running {
            outstanding,
            long,
            in_batch,
            places,
            filled,
            ..
        } = self.backends[at];
        let ahead = self.options.ahead.min(places.saturating_sub(long)).max(1);
        let ahead = if is_long && filled >= 4 { 1 } else { ahead };
        let leaves_room = long == 0 || (long + 1 < places && filled < 7);
        let has_room = outstanding < in_batch + ahead && (!is_long || leaves_room);
        has_room.then_some(outstanding)
    }

    /// The backend to take a request of this question, if any has room: that with the fewest, so that a slow one delays no other.
    fn choose(&self, question: u64, is_long: bool) -> Option<usize> {
        match self.last {
            Some((at, of, count))
                if of == question && count < GROUP && self.load(at, is_long).is_some() =>
            {
                Some(at)
            }
            _ => (0..self.backends.len())
                .filter_map(|at| Some((self.load(at, is_long)?, at)))
                .min()
                .map(|(_, at)| at),
        }
    }

    /// A backend is done with a request.
    fn given_back(&mut self, at: usize, id: u64) -> Option<Pending> {
        let pending = self.pending.remove(&id)?;
        self.backends[at].outstanding -= 1;
        self.backends[at].long -= usize::from(pending.is_long);
        if let Some((_, owner)) = &pending.backend
            && let Some(count) = self.counted.get_mut(owner)
        {
            *count -= 1;
            if *count == 0 {
                self.counted.remove(owner);
            }
        }
        Some(pending)
    }

    /// Hands a completion to all who wait for it.
    fn answered(&mut self, at: usize, (completion, no_verdict): Given) {
        let Some(pending) = self.given_back(at, completion.id) else {
            return;
        };
        if let Some(observer) = &self.options.observer {
            let timing = &completion.timing;
            let admitted = timing.admitted.unwrap_or(timing.finished);
            observer(
                &completion,
                admitted.saturating_duration_since(pending.submitted),
            );
        }
        let Pending {
            notes,
            key,
            replies,
            ..
        } = pending;
        if let Some(why) = notes.failure.get() {
            self.forget(key);
            for reply in replies {
                reply.take(Err(Unanswered::Guide(why.clone())));
            }
            return;
        }
        let answer = ModelAnswer {
            doubts: doubts(&completion),
            completion,
            guided: lock(&notes.guided).clone(),
            no_verdict,
        };
        match key {
            Some(key) if answer.is_whole() => self.keep(key, &answer),
            key => self.forget(key),
        }
        let answer = Arc::new(answer);
        for (at, reply) in replies.into_iter().enumerate() {
            reply.take(Ok(Answered {
                answer: Arc::clone(&answer),
                is_reused: at > 0,
            }));
        }
    }

    /// Keeps an answer for those who ask the same later.
    fn keep(&mut self, key: AnswerKey, answer: &ModelAnswer) {
        let kept = ModelAnswer {
            completion: Completion {
                prompt: Vec::new(),
                // What they say of doubts was taken out.
                logprobs: Vec::new(),
                ..answer.completion.clone()
            },
            guided: answer.guided.clone(),
            doubts: answer.doubts.clone(),
            no_verdict: None,
        };
        self.known.insert(key, Known::Answer(Arc::new(kept)));
        self.answers.push_back(key);
        if self.answers.len() > self.options.kept_answers
            && let Some(oldest) = self.answers.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    fn forget(&mut self, key: Option<AnswerKey>) {
        if let Some(key) = key {
            self.known.remove(&key);
        }
    }

    pub(super) fn fail_submitted(&mut self, why: &str) {
        let is_submitted = |_: &_, pending: &mut Pending| pending.backend.is_some();
        let submitted = self.pending.extract_if(is_submitted);
        let submitted: Vec<Pending> = submitted.map(|(_, pending)| pending).collect();
        for pending in submitted {
            self.refuse(pending, &Unanswered::Backend(why.to_owned()));
        }
    }

    fn refuse(&mut self, pending: Pending, why: &Unanswered) {
        self.forget(pending.key);
        for reply in pending.replies {
            reply.take(Err(why.clone()));
        }
    }

    /// Forgets requests that nobody waits for.
    fn forget_unwanted(&mut self) {
        let unwanted = self
            .pending
            .extract_if(|_, pending| pending.request.is_some() && !pending.is_wanted());
        let keys: Vec<_> = unwanted.map(|(_, pending)| pending.key).collect();
        for key in keys {
            self.forget(key);
        }
        let pending = &self.pending;
        self.queue.retain(|id| pending.contains_key(id));
    }

    fn note(&self, at: usize, stats: Stats, answered: usize) {
        let device = &mut self.board.lock().devices[at];
        device.stats = stats;
        device.verdicts += answered;
    }

    fn publish(&self) {
        let submitted: usize = self.backends.iter().map(|one| one.outstanding).sum();
        let mut published = self.board.lock();
        published.submitted = submitted;
        published.waiting = self.pending.len().saturating_sub(submitted);
    }
}
