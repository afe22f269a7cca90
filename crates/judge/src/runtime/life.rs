//! The phases of a runtime: its backends are built, answer, are given up to sleep, fail and are built again, and end.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::backend::IdleBackend;
use super::owner::{Message, Owner};
use super::{BackendFailure, Build, Stop};
use juror_base::panics;
use juror_engine::engine::EngineError;

/// Failures of backends in a row, without a token between them, after which the runtime gives up.
const MOST_FAILURES: u32 = 3;

/// The pause before another try, where failed backends could not be built again.
const PAUSE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Phase {
    #[default]
    Loading,
    /// It answers; the engines' sizes in words.
    Ready(String),
    /// Its engines answer what they have, and are then given up.
    Draining,
    /// Its engines are given up until it is woken; the text says why they could not be built again, if that is so.
    Asleep(Option<String>),
    /// It has ended, because it was told to.
    Stopped,
    /// It has ended; the text says why.
    Failed(String),
}

/// Called once a command is carried out, or cannot be.
pub(crate) type Done = Box<dyn FnOnce(Result<(), CommandError>) + Send>;

/// Why a command is not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandError {
    /// The engines could not be built: it sleeps on.
    NotBuilt(String),
    /// The runtime has ended, for this reason where it was not told to.
    Ended(Option<String>),
}

/// Backends that were built, with their sizes in words, or why not.
pub(super) type Built = Result<(Vec<IdleBackend>, String), String>;

struct Command {
    sleeps: bool,
    done: Vec<Done>,
}

#[derive(Default)]
pub(super) struct Life {
    state: BackendState,
    /// Builds the backends; `None` if they were given from outside.
    pub(super) build: Option<Build>,
    /// What is to be carried out, one after another.
    commands: VecDeque<Command>,
    pub(super) stop: Option<Stop>,
    /// Failures since a token was generated.
    failures: u32,
    /// Tokens that had been generated when the backends were started.
    tokens: u64,
    pub(super) failure: Option<BackendFailure>,
}

#[derive(Default)]
enum BackendState {
    #[default]
    Unbuilt,
    /// Another thread builds them. If that fails after a wake, the runtime sleeps on.
    Building {
        was_woken: bool,
    },
    /// Backends are to be built at this time.
    Pausing(Instant),
    Ready,
    /// The backends end; if one has failed, why.
    Ending(Option<String>),
    Asleep,
    Over(Phase),
}

impl Life {
    pub(super) fn of_given() -> Self {
        Self {
            state: BackendState::Ready,
            ..Self::default()
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self.state, BackendState::Ready)
    }

    /// How long to wait for a message at most.
    pub(super) fn next_look(&self) -> Option<Duration> {
        match self.state {
            BackendState::Pausing(until) => Some(until.saturating_duration_since(Instant::now())),
            _ => None,
        }
    }

    /// Adds a command; the same one twice in a row is one.
    pub(super) fn command(&mut self, sleeps: bool, done: Done) {
        match self.commands.back_mut() {
            Some(last) if last.sleeps == sleeps => last.done.push(done),
            _ => self.commands.push_back(Command {
                sleeps,
                done: vec![done],
            }),
        }
    }

    /// Whether the next command is to sleep.
    fn commanded(&self) -> Option<bool> {
        self.commands.front().map(|command| command.sleeps)
    }

    fn carried_out(&mut self, result: &Result<(), CommandError>) {
        let command = self.commands.pop_front();
        for done in command.into_iter().flat_map(|command| command.done) {
            done(result.clone());
        }
    }

    /// No command will be carried out any more.
    pub(super) fn refuse_all(&mut self, end: &Phase) {
        let why = match end {
            Phase::Failed(why) => Some(why.clone()),
            _ => None,
        };
        while !self.commands.is_empty() {
            self.carried_out(&Err(CommandError::Ended(why.clone())));
        }
    }
}

impl Owner {
    /// Goes from phase to phase as far as it can. Returns the end, if it came.
    pub(super) fn live(&mut self) -> Option<Phase> {
        loop {
            let stop = self.life.stop;
            match &self.life.state {
                BackendState::Over(end) => return Some(end.clone()),
                BackendState::Unbuilt | BackendState::Pausing(_) | BackendState::Asleep
                    if stop.is_some() =>
                {
                    self.life.state = BackendState::Over(Phase::Stopped);
                }
                BackendState::Unbuilt => self.build(false),
                BackendState::Pausing(_) if self.life.commanded() == Some(true) => {
                    self.fall_asleep(None);
                }
                BackendState::Pausing(until) if Instant::now() >= *until => self.build(false),
                BackendState::Ready if stop.is_some() || self.life.commanded() == Some(true) => {
                    self.enter(Phase::Draining);
                    self.end_backends(stop == Some(Stop::Now));
                    self.life.state = BackendState::Ending(None);
                }
                BackendState::Asleep if self.life.commanded() == Some(false) => self.build(true),
                BackendState::Ready | BackendState::Asleep if self.life.commanded().is_some() => {
                    self.life.carried_out(&Ok(()));
                }
                BackendState::Ending(_) if self.backends.iter().all(|one| one.has_ended) => {
                    self.all_ended();
                }
                BackendState::Building { .. }
                | BackendState::Pausing(_)
                | BackendState::Ready
                | BackendState::Asleep
                | BackendState::Ending(_) => return None,
            }
        }
    }

    /// Builds the backends on another thread, so that what is known is answered meanwhile.
    fn build(&mut self, was_woken: bool) {
        let Some(build) = self.life.build.clone() else {
            self.life.state = BackendState::Over(Phase::Stopped);
            return;
        };
        self.enter(Phase::Loading);
        self.life.state = BackendState::Building { was_woken };
        let mailbox = self.mailbox();
        let spawned = std::thread::Builder::new()
            .name("build".into())
            .spawn(move || {
                let built = panics::guarded(|| build()).unwrap_or_else(|why| {
                    Err(format!(
                        "an error of juror itself ({why}); please report it"
                    ))
                });
                let _ = mailbox.send(Message::Built(built));
            });
        if let Err(error) = spawned {
            let error = juror_base::threads::refused("building the engine")(error);
            self.built(Err(error.to_string()));
        }
    }

    pub(super) fn built(&mut self, built: Built) {
        let was_woken = matches!(self.life.state, BackendState::Building { was_woken: true });
        let started = built.and_then(|(backends, sizes)| {
            self.start(backends).map_err(|error| error.to_string())?;
            Ok(sizes)
        });
        match started {
            Ok(sizes) => {
                self.life.tokens = self.generated_tokens();
                self.life.state = BackendState::Ready;
                self.enter(Phase::Ready(sizes));
            }
            // Another program may still use the device.
            Err(why) if was_woken => {
                self.fall_asleep(Some(why.clone()));
                self.life.carried_out(&Err(CommandError::NotBuilt(why)));
            }
            Err(why) => {
                let is_first = self.life.failures == 0;
                self.life.failures += 1;
                self.life.state = if is_first || self.life.failures >= MOST_FAILURES {
                    BackendState::Over(Phase::Failed(why))
                } else {
                    BackendState::Pausing(Instant::now() + PAUSE)
                };
            }
        }
    }

    pub(super) fn ended(&mut self, at: usize, result: Result<(), EngineError>) {
        self.backends[at].has_ended = true;
        let is_failure = result.is_err();
        if let Err(error) = result
            && !matches!(self.life.state, BackendState::Ending(Some(_)))
        {
            let why = error.to_string();
            if self.life.build.is_none() {
                let name = self.name(at);
                self.life.failure = Some(BackendFailure { name, error });
            }
            self.end_backends(true);
            self.life.state = BackendState::Ending(Some(why));
        }
        if !is_failure && self.life.is_ready() {
            // It was not told to.
            self.ended(at, Err(EngineError::Stopped));
        }
    }

    fn end_backends(&mut self, at_once: bool) {
        for one in &mut self.backends {
            one.backend.end(at_once);
        }
    }

    /// All backends have ended: to sleep, to stop, or because one has failed.
    fn all_ended(&mut self) {
        let failed = match &self.life.state {
            BackendState::Ending(why) => why.clone(),
            _ => None,
        };
        if self.generated_tokens() > self.life.tokens {
            self.life.failures = 0;
        }
        self.retire_backends();
        if let Some(why) = failed {
            self.life.failures += 1;
            if self.life.build.is_none() {
                self.fail_submitted(&why);
                self.life.state = BackendState::Over(Phase::Failed(why));
                return;
            }
            self.fail_submitted(&why);
            if self.life.failures >= MOST_FAILURES {
                let why = format!("the engine failed again and again: {why}");
                self.life.state = BackendState::Over(Phase::Failed(why));
                return;
            }
        }
        if self.life.stop.is_some() {
            self.life.state = BackendState::Over(Phase::Stopped);
        } else if self.life.commanded() == Some(true) {
            self.fall_asleep(None);
        } else {
            self.life.state = BackendState::Unbuilt;
        }
    }

    fn fall_asleep(&mut self, why: Option<String>) {
        self.life.state = BackendState::Asleep;
        self.enter(Phase::Asleep(why));
    }
}
