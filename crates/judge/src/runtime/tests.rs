//! The runtime with backends that answer when they are told to.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::backend::{Backend, Reports};
use super::{
    Answered, Ask, Build, CommandError, GuideNotes, IdleBackend, Phase, Reply, Runtime,
    RuntimeOptions, Stop, Submission, Supply, Unanswered,
};
use crate::wire::form::ServerForm;
use juror_engine::engine::{
    Completion, EngineError, FinishReason, RandomKey, Request, Sampling, Stats, Timing,
};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a backend that was started has, and by what it tells.
struct Begun {
    reports: Reports,
    requests: Receiver<Request>,
    /// Whether it is to end at once.
    ends: Receiver<bool>,
    has_ended: Cell<bool>,
}

impl Begun {
    /// The next request that it is given.
    fn request(&self) -> Request {
        self.requests.recv_timeout(PATIENCE).unwrap()
    }

    fn answer(&self, requests: impl IntoIterator<Item = Request>) {
        let now = Instant::now();
        let completions = requests.into_iter().map(|request| Completion {
            id: request.id,
            tokens: request.prompt.clone(),
            prompt: request.prompt,
            expected: Vec::new(),
            logprobs: Vec::new(),
            finish: FinishReason::Stop,
            cached_tokens: 0,
            counted: None,
            timing: Timing {
                queued: now,
                admitted: Some(now),
                first_token: None,
                finished: now,
            },
        });
        let stats = Stats {
            generated_tokens: 1,
            ..Stats::default()
        };
        let given = completions.map(|one| (one, None));
        self.reports.answered(stats, given.collect());
    }

    /// Reports how many requests are in its batch, and how many eighths of its memory they fill.
    fn works_on(&self, running: usize, eighths: usize) {
        let stats = Stats {
            running,
            used_blocks: eighths,
            blocks: 8,
            ..Stats::default()
        };
        self.reports.answered(stats, Vec::new());
    }

    /// Takes what it is given until that is so many, and has all of them in its batch.
    fn fill(&self, count: usize, eighths: usize) -> Vec<Request> {
        let mut all = Vec::new();
        while all.len() < count {
            all.push(self.request());
            self.works_on(all.len(), eighths);
        }
        all
    }

    fn gets_nothing(&self) -> bool {
        let next = self.requests.recv_timeout(Duration::from_millis(100));
        next.is_err()
    }

    /// Ends as it is told to, once it is.
    fn end(&self) -> bool {
        let at_once = self.ends.recv_timeout(PATIENCE).unwrap();
        self.ended(Ok(()));
        at_once
    }

    fn ended(&self, result: Result<(), EngineError>) {
        if !self.has_ended.replace(true) {
            self.reports.ended(result);
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.ended(Ok(()));
    }
}

struct Scripted {
    requests: Sender<Request>,
    ends: Sender<bool>,
}

impl Backend for Scripted {
    fn submit(&mut self, request: Request, _: Option<Arc<ServerForm>>) {
        self.requests.send(request).unwrap();
    }

    fn end(&mut self, at_once: bool) {
        // A test may have no need to know.
        let _ = self.ends.send(at_once);
    }
}

/// Backends that are begun when they are started.
fn idle(count: usize, begun: &Sender<Begun>) -> Vec<IdleBackend> {
    let one = |at: usize| {
        let begun = begun.clone();
        let start = move |reports| {
            let ((requests, received), (ends, ended)) = (channel(), channel());
            let begins = Begun {
                reports,
                requests: received,
                ends: ended,
                has_ended: Cell::new(false),
            };
            begun.send(begins).unwrap();
            Ok(Box::new(Scripted { requests, ends }) as Box<dyn Backend>)
        };
        IdleBackend {
            name: format!("device {at}"),
            places: PLACES,
            start: Box::new(start),
        }
    };
    (0..count).map(one).collect()
}

/// Requests that a backend works on at once.
const PLACES: usize = 64;

fn options(ahead: usize) -> RuntimeOptions {
    RuntimeOptions {
        ahead,
        kept_answers: 2,
        observer: None,
        at_end: None,
    }
}

/// A runtime with given backends.
fn given(count: usize, ahead: usize) -> (Runtime, Vec<Begun>) {
    let (sender, begun) = channel();
    let supply = Supply::Given(idle(count, &sender));
    let runtime = Runtime::start(supply, options(ahead)).unwrap();
    (runtime, begun.try_iter().collect())
}

/// A runtime that builds a backend whenever it needs one, unless there is a reason not to; and what was built.
fn building(
    fails: impl Fn() -> Option<&'static str> + Send + Sync + 'static,
) -> (Runtime, Receiver<Begun>) {
    let (sender, begun) = channel();
    let sender = Mutex::new(sender);
    let build: Build = Arc::new(move || match fails() {
        Some(why) => Err(why.to_owned()),
        None => Ok((idle(1, &sender.lock().unwrap()), "one".to_owned())),
    });
    let runtime = Runtime::start(Supply::Built(build), options(4)).unwrap();
    (runtime, begun)
}

/// What came of a submission: the reply, or nothing where it was dropped.
type Heard = Receiver<Result<Answered, Unanswered>>;

struct Tell {
    sender: Sender<Result<Answered, Unanswered>>,
    /// Whether it is wanted as long as this is.
    wanted: std::sync::Weak<()>,
}

impl Reply for Tell {
    fn take(self: Box<Self>, answer: Result<Answered, Unanswered>) {
        let _ = self.sender.send(answer);
    }

    fn is_wanted(&self) -> bool {
        self.wanted.strong_count() > 0
    }
}

/// Asks `prompt` for a client, joined with who asks the same if `joins`; until the second part is dropped it is wanted.
fn ask(runtime: &Runtime, client: &str, prompt: u32, joins: bool) -> (Heard, Arc<()>) {
    ask_for(runtime, client, prompt, joins, 1)
}

/// The same of so many tokens.
fn ask_for(
    runtime: &Runtime,
    client: &str,
    prompt: u32,
    joins: bool,
    max_new_tokens: usize,
) -> (Heard, Arc<()>) {
    let (sender, heard) = channel();
    let wanted = Arc::new(());
    let mut key = [0; 32];
    key[..4].copy_from_slice(&prompt.to_le_bytes());
    runtime.submit(Submission {
        client: client.into(),
        question: u64::from(prompt),
        ask: Ask {
            form: None,
            request: Request {
                id: 0,
                prompt: vec![prompt],
                max_new_tokens,
                sampling: Sampling::GREEDY,
                random_key: RandomKey {
                    seed: 0,
                    sample: 0,
                    trial: 0,
                },
                eos: Arc::from([]),
                guide: None,
                choices: None,
                logprobs: None,
                background: false,
            },
            notes: GuideNotes::default(),
        },
        key: joins.then_some(key),
        reply: Box::new(Tell {
            sender,
            wanted: Arc::downgrade(&wanted),
        }),
    });
    (heard, wanted)
}

/// The prompt that was answered, and whether for somebody else.
fn answer(heard: &Heard) -> (u32, bool) {
    let Ok(answered) = heard.recv_timeout(PATIENCE).unwrap() else {
        panic!("it was not answered")
    };
    assert_eq!(
        answered.answer.completion.prompt,
        answered.answer.completion.tokens
    );
    (answered.answer.completion.prompt[0], answered.is_reused)
}

/// Sleeps or wakes, and hears what came of it.
fn command(runtime: &Runtime, sleeps: bool) -> Receiver<Result<(), CommandError>> {
    let (sender, heard) = channel();
    let done = Box::new(move |result| sender.send(result).unwrap());
    if sleeps {
        runtime.sleep(done);
    } else {
        runtime.wake_up(done);
    }
    heard
}

fn wait_until(runtime: &Runtime, is_it: impl Fn(&Phase) -> bool) {
    let mut phase = runtime.phase();
    while !is_it(&phase) {
        let next = runtime.wait_for_change(&phase, PATIENCE);
        assert_ne!(next, phase, "it stays so");
        phase = next;
    }
}

#[test]
fn what_is_asked_twice_is_answered_once() {
    let (runtime, backends) = given(1, 4);
    let (first, _w1) = ask(&runtime, "a", 7, true);
    let request = backends[0].request();
    let (second, _w2) = ask(&runtime, "b", 7, true);
    let (apart, _w3) = ask(&runtime, "b", 7, false);
    let other = backends[0].request();
    backends[0].answer([request, other]);
    assert_eq!(
        [answer(&first), answer(&second), answer(&apart)],
        [(7, false), (7, true), (7, false)]
    );
    // It is known now, until two others are.
    assert_eq!(answer(&ask(&runtime, "c", 7, true).0), (7, true));
    for prompt in [8, 9] {
        let (heard, _wanted) = ask(&runtime, "c", prompt, true);
        backends[0].answer([backends[0].request()]);
        assert_eq!(answer(&heard), (prompt, false));
    }
    let (again, _w4) = ask(&runtime, "c", 7, true);
    backends[0].answer([backends[0].request()]);
    assert_eq!(answer(&again), (7, false));
}

#[test]
fn what_a_guide_could_not_do_is_known_to_nobody() {
    let (runtime, backends) = given(1, 4);
    let (sender, heard) = channel();
    let notes = GuideNotes::default();
    notes.failure.set("no such form".to_owned()).unwrap();
    let wanted = Arc::new(());
    let (_, _w) = ask(&runtime, "a", 1, false);
    let template = backends[0].request();
    runtime.submit(Submission {
        client: "a".into(),
        question: 0,
        ask: Ask {
            form: None,
            request: Request {
                guide: None,
                ..template
            },
            notes,
        },
        key: Some([9; 32]),
        reply: Box::new(Tell {
            sender,
            wanted: Arc::downgrade(&wanted),
        }),
    });
    backends[0].answer([backends[0].request()]);
    let reply = heard.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(reply, Err(Unanswered::Guide(why)) if why == "no such form"));
}

#[test]
fn what_nobody_waits_for_comes_last_or_never() {
    let (runtime, backends) = given(1, 1);
    let (_busy, _w0) = ask(&runtime, "a", 0, true);
    let busy = backends[0].request();
    let (left, gone) = ask(&runtime, "a", 1, true);
    let (never, gone_too) = ask(&runtime, "a", 2, false);
    let (third, _w3) = ask(&runtime, "b", 3, true);
    drop((gone, gone_too));
    backends[0].answer([busy]);
    let next = backends[0].request();
    assert_eq!(next.prompt, [3]);
    backends[0].answer([next]);
    assert_eq!(answer(&third), (3, false));
    // It will be asked for again.
    let last = backends[0].request();
    assert_eq!(last.prompt, [1]);
    backends[0].answer([last]);
    assert_eq!(answer(&left), (1, false));
    assert!(never.recv_timeout(PATIENCE).is_err());
    // Where memory is short it is forgotten, and who asks again asks anew.
    let (_busy, _w4) = ask(&runtime, "a", 4, true);
    let busy = backends[0].request();
    let (forgotten, gone) = ask(&runtime, "a", 5, true);
    drop(gone);
    runtime.forget_unwanted();
    assert!(forgotten.recv_timeout(PATIENCE).is_err());
    let (asked, _w5) = ask(&runtime, "b", 5, true);
    backends[0].answer([busy]);
    backends[0].answer([backends[0].request()]);
    assert_eq!(answer(&asked), (5, false));
}

#[test]
fn a_backend_has_few_waiting_and_the_idle_one_gets_the_next() {
    let (runtime, backends) = given(2, 2);
    let asked: Vec<_> = (0..6).map(|n| ask(&runtime, "a", n, true)).collect();
    let first: Vec<Request> = (0..2).map(|_| backends[0].request()).collect();
    let second: Vec<Request> = (0..2).map(|_| backends[1].request()).collect();
    let is_idle = |one: &Begun| {
        one.requests
            .recv_timeout(Duration::from_millis(50))
            .is_err()
    };
    assert!(is_idle(&backends[0]) && is_idle(&backends[1]));
    assert_eq!(runtime.load(), (2, 4));
    backends[1].answer(second);
    let third: Vec<Request> = (0..2).map(|_| backends[1].request()).collect();
    assert!(is_idle(&backends[0]));
    backends[0].answer(first);
    backends[1].answer(third);
    for (number, (heard, _)) in (0..).zip(&asked) {
        assert_eq!(answer(heard), (number, false));
    }
    let done: Vec<usize> = runtime.devices().iter().map(|one| one.verdicts).collect();
    assert_eq!(done, [2, 4]);
    // What was answered is counted a moment later.
    let since = Instant::now();
    while runtime.load() != (0, 0) {
        assert!(since.elapsed() < PATIENCE);
        std::thread::yield_now();
    }
}

/// Whoever asks for long completions, and however many do, another's verdict finds a place at once.
#[test]
fn long_work_leaves_a_place_for_short_work() {
    const LONG: usize = 2000;
    let (runtime, backends) = given(1, 16);
    let backend = &backends[0];
    // One client alone has every place but one, with no more in wait; so have many clients.
    let mut asked: Vec<_> = (0..100)
        .map(|n| ask_for(&runtime, &format!("10.0.0.1:{n}"), n, false, LONG))
        .collect();
    let first = backend.fill(40, 0);
    asked.extend((100..300).map(|n| ask_for(&runtime, &n.to_string(), n, false, LONG)));
    let second: Vec<Request> = (0..23)
        .map(|n| {
            let next = backend.request();
            backend.works_on(41 + n, 0);
            next
        })
        .collect();
    assert!(backend.gets_nothing());
    // Those of one address count as one, and it has its share: the others have been given the places since.
    assert!(first.iter().all(|request| request.prompt[0] < 100));
    let others = second.iter().filter(|request| request.prompt[0] >= 100);
    // A dozen were given to the backend in advance.
    assert!(others.count() >= 11);
    // A verdict finds the last place, also one of a client that has long work there; the next waits for the first free one.
    for (client, number) in [("10.0.0.1:9", 1000), ("b", 1002)] {
        let (heard, _wanted) = ask(&runtime, client, number, true);
        let verdict = backend.request();
        assert_eq!(verdict.prompt, [number]);
        backend.works_on(64, 0);
        let (waits, _waits) = ask(&runtime, client, number + 1, true);
        let next = backend.request();
        assert_eq!(next.prompt, [number + 1]);
        assert!(backend.gets_nothing());
        backend.answer([verdict, next]);
        backend.works_on(63, 0);
        assert_eq!([answer(&heard).0, answer(&waits).0], [number, number + 1]);
    }
    // Where the memory is short, long work waits for it, and not before others.
    backend.answer(first);
    backend.works_on(23, 7);
    assert!(backend.gets_nothing());
    let (_heard, _wanted) = ask(&runtime, "b", 1004, true);
    assert_eq!(backend.request().prompt, [1004]);
    backend.works_on(24, 4);
    assert!(backend.request().prompt[0] < 300);
    assert!(backend.gets_nothing());
    drop(asked);
}

#[test]
fn a_given_backend_that_fails_ends_it() {
    let (runtime, backends) = given(2, 4);
    let (one, _w1) = ask(&runtime, "a", 1, true);
    let (other, _w2) = ask(&runtime, "a", 2, true);
    let first = backends[0].request();
    backends[1].ended(Err(EngineError::Config("it burns".into())));
    // The other ends at once; what it has done by then counts.
    backends[0].answer([first]);
    assert!(backends[0].end());
    assert_eq!(answer(&one), (1, false));
    let reply = other.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(reply, Err(Unanswered::Backend(why)) if why == "it burns"));
    let failure = runtime.join().unwrap();
    assert_eq!(failure.name, "device 1");
    let (late, _w3) = ask(&runtime, "a", 3, true);
    assert!(late.recv_timeout(PATIENCE).is_err());
}

#[test]
fn it_stops_when_what_the_backends_have_is_answered() {
    let ended = Arc::new(Mutex::new(false));
    let (sender, begun) = channel();
    let says = Arc::clone(&ended);
    let options = RuntimeOptions {
        at_end: Some(Box::new(move || *says.lock().unwrap() = true)),
        ..options(1)
    };
    let runtime = Runtime::start(Supply::Given(idle(1, &sender)), options).unwrap();
    let backend = begun.recv().unwrap();
    let (has, _w1) = ask(&runtime, "a", 1, true);
    let request = backend.request();
    let (waits, _w2) = ask(&runtime, "a", 2, true);
    runtime.stop(Stop::Drained);
    assert!(!backend.ends.recv_timeout(PATIENCE).unwrap());
    backend.answer([request]);
    backend.ended(Ok(()));
    assert!(runtime.join().is_none());
    assert_eq!(answer(&has), (1, false));
    assert!(waits.recv_timeout(PATIENCE).is_err());
    assert!(*ended.lock().unwrap());
    assert_eq!(runtime.phase(), Phase::Stopped);
}

#[test]
fn it_sleeps_wakes_and_answers_what_waited() {
    let (runtime, begun) = building(|| None);
    let first = begun.recv_timeout(PATIENCE).unwrap();
    let (known, _w1) = ask(&runtime, "a", 1, true);
    let request = first.request();
    // Twice the same is one command, and each is carried out after that before it.
    let slept = [command(&runtime, true), command(&runtime, true)];
    let woken = command(&runtime, false);
    wait_until(&runtime, |phase| *phase == Phase::Draining);
    let (waits, _w2) = ask(&runtime, "a", 2, true);
    first.answer([request]);
    assert!(!first.end());
    for heard in slept.iter().chain([&woken]) {
        assert_eq!(heard.recv_timeout(PATIENCE).unwrap(), Ok(()));
    }
    assert_eq!(runtime.phase(), Phase::Ready("one".into()));
    assert_eq!(answer(&known), (1, false));
    let second = begun.recv_timeout(PATIENCE).unwrap();
    second.answer([second.request()]);
    assert_eq!(answer(&waits), (2, false));
    assert_eq!(runtime.stats().generated_tokens, 2);
    // What is known needs no backend.
    let slept = command(&runtime, true);
    second.end();
    assert_eq!(slept.recv_timeout(PATIENCE).unwrap(), Ok(()));
    assert_eq!(runtime.phase(), Phase::Asleep(None));
    assert_eq!(answer(&ask(&runtime, "b", 2, true).0), (2, true));
    let again = command(&runtime, true);
    assert_eq!(again.recv_timeout(PATIENCE).unwrap(), Ok(()));
    runtime.stop(Stop::Drained);
    runtime.join();
    let late = command(&runtime, false);
    assert!(late.recv_timeout(PATIENCE).is_err());
}

#[test]
fn one_that_cannot_be_built_again_sleeps_on() {
    let is_full = Arc::new(Mutex::new(false));
    let asks = Arc::clone(&is_full);
    let (runtime, begun) = building(move || asks.lock().unwrap().then_some("no memory"));
    let first = begun.recv_timeout(PATIENCE).unwrap();
    let slept = command(&runtime, true);
    first.end();
    assert_eq!(slept.recv_timeout(PATIENCE).unwrap(), Ok(()));
    *is_full.lock().unwrap() = true;
    let woken = command(&runtime, false).recv_timeout(PATIENCE).unwrap();
    assert_eq!(woken, Err(CommandError::NotBuilt("no memory".into())));
    assert_eq!(runtime.phase(), Phase::Asleep(Some("no memory".into())));
    *is_full.lock().unwrap() = false;
    let woken = command(&runtime, false).recv_timeout(PATIENCE).unwrap();
    assert_eq!(woken, Ok(()));
    begun.recv_timeout(PATIENCE).unwrap().ended(Ok(()));
}

#[test]
fn what_cannot_be_built_at_first_fails() {
    let (runtime, _begun) = building(|| Some("no such device"));
    let (asked, _w) = ask(&runtime, "a", 1, true);
    wait_until(&runtime, |phase| {
        *phase == Phase::Failed("no such device".into())
    });
    assert!(asked.recv_timeout(PATIENCE).is_err());
}

#[test]
fn backends_that_fail_are_built_again_but_not_for_ever() {
    let (runtime, begun) = building(|| None);
    let fail = |backend: &Begun| {
        backend.ended(Err(EngineError::Config("lost".into())));
    };
    for round in 0..6 {
        let backend = begun.recv_timeout(PATIENCE).unwrap();
        let (asked, _w) = ask(&runtime, "a", round, true);
        let request = backend.request();
        // As long as something is written between, it goes on.
        if round < 3 {
            backend.answer([]);
        }
        fail(&backend);
        let reply = asked.recv_timeout(PATIENCE).unwrap();
        assert!(matches!(reply, Err(Unanswered::Backend(why)) if why == "lost"));
        drop(request);
        if round == 4 {
            break;
        }
    }
    let says = "the engine failed again and again: lost";
    wait_until(&runtime, |phase| *phase == Phase::Failed(says.into()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    /// Whatever is asked by whom, each hears once, and the same is asked of the backends once.
    #[test]
    fn everybody_hears_once(asked in prop::collection::vec((0..3u32, 0..8u32), 0..60), backends in 1..4usize, ahead in 1..5usize) {
        let (sender, begun) = channel();
        let options = RuntimeOptions { kept_answers: 100, ..options(ahead) };
        let runtime = Runtime::start(Supply::Given(idle(backends, &sender)), options).unwrap();
        let begun: Vec<Begun> = begun.try_iter().collect();
        let asking: Vec<_> = asked
            .iter()
            .map(|(client, prompt)| ask(&runtime, &client.to_string(), *prompt, true))
            .collect();
        let different: HashSet<u32> = asked.iter().map(|(_, prompt)| *prompt).collect();
        let mut seen = Vec::new();
        while seen.len() < different.len() {
            for backend in &begun {
                let requests: Vec<Request> = backend.requests.try_iter().collect();
                seen.extend(requests.iter().map(|request| request.prompt[0]));
                if !requests.is_empty() {
                    backend.answer(requests);
                }
            }
        }
        prop_assert_eq!(seen.iter().copied().collect::<HashSet<_>>(), different);
        for ((heard, _), (_, prompt)) in asking.iter().zip(&asked) {
            prop_assert_eq!(answer(heard).0, *prompt);
            prop_assert!(heard.try_recv().is_err());
        }
    }
}
