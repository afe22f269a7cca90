//! The judges of a server, which give a verdict together: one, a cascade, a panel, or the rules alone.
//!
//! Each judge is a [`JudgeService`] of its own. A sample goes to the first judge of a cascade, or to all of a panel; what takes their
//! verdicts asks further or waits for the others, and hands one verdict on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::RunOptions;
use super::cascade::{Asked, Cascade, CascadeReport};
use super::panel::Panel;
use super::service::{JudgeService, ServiceSetup, TakeVerdict};
use super::shared_memory::SharedMemory;
use crate::openai::conversation::ChatModel;
use crate::runtime::{CommandError, Done, Observer, Phase};
use juror_base::threads::ThreadError;
use juror_data::Sample;
use juror_data::verdict::Verdict;
use juror_engine::engine::Stats;

/// Who gives a server's verdicts.
#[allow(clippy::large_enum_variant, reason = "there is one in a process")]
pub enum Answerer {
    /// A judge. A model that is here answers OpenAI's routes too.
    Model(ServiceSetup, Option<Arc<ChatModel>>),
    /// Two judges, with their names: the second is asked where the first is unsure.
    Cascade {
        /// The judges, the one that is asked always first.
        judges: Box<[ServiceSetup; 2]>,
        /// Their names in the verdicts.
        names: [String; 2],
        /// When the second is asked.
        cascade: Cascade,
    },
    /// Judges that vote, in the order of the panel's members.
    Panel(Vec<ServiceSetup>, Panel),
    /// The rules alone, under these options.
    Rules(RunOptions),
}

/// The judges of a server.
pub(crate) struct Judges {
    services: Vec<Arc<JudgeService>>,
    together: Together,
    memory: Arc<SharedMemory>,
}

/// How several judges give one verdict.
enum Together {
    /// There is one.
    One,
    Cascade(Arc<CascadeState>),
    Panel(Arc<Mutex<Panel>>),
}

struct CascadeState {
    names: [String; 2],
    rule: Cascade,
    report: Mutex<CascadeReport>,
}

impl Judges {
    /// Starts them; their engines are built meanwhile, one judge's after the other's. Each has an observer of its own.
    ///
    /// # Errors
    /// [`ThreadError`] where the system refuses to start a thread.
    pub(crate) fn start(
        answerer: Answerer,
        observer: impl Fn() -> Observer,
    ) -> Result<Self, ThreadError> {
        let (setups, together) = match answerer {
            Answerer::Rules(options) => {
                return Ok(Self {
                    services: vec![Arc::new(JudgeService::of_rules(options)?)],
                    together: Together::One,
                    memory: Arc::default(),
                });
            }
            Answerer::Model(setup, _) => (vec![setup], Together::One),
            Answerer::Cascade {
                judges,
                names,
                cascade,
            } => {
                let state = CascadeState {
                    names,
                    rule: cascade,
                    report: Mutex::default(),
                };
                (Vec::from(*judges), Together::Cascade(Arc::new(state)))
            }
            Answerer::Panel(setups, panel) => {
                (setups, Together::Panel(Arc::new(Mutex::new(panel))))
            }
        };
        let count = setups.len();
        let setups = setups.into_iter().map(Arc::new).collect();
        let memory = Arc::new(SharedMemory::of(setups));
        let service = |at| JudgeService::start_beside(&memory, at, Some(observer())).map(Arc::new);
        Ok(Self {
            services: (0..count).map(service).collect::<Result<_, _>>()?,
            together,
            memory,
        })
    }

    /// The first of them, who generates for OpenAI's routes.
    pub(crate) fn first(&self) -> &JudgeService {
        // There is always one.
        &self.services[0]
    }

    /// How often a sample that waits is kept.
    pub(crate) fn copies(&self) -> usize {
        self.services.len()
    }

    /// Has samples judged for a client, each with its place in the call; their verdicts go to `take`.
    pub(crate) fn judge(
        &self,
        client: &str,
        samples: Vec<(usize, Sample)>,
        take: &Arc<dyn TakeVerdict>,
    ) {
        match &self.together {
            Together::One => self.first().judge(client, samples, take),
            Together::Cascade(state) => {
                let first: Arc<dyn TakeVerdict> = Arc::new(OfFirst {
                    state: Arc::clone(state),
                    second: Arc::clone(&self.services[1]),
                    client: client.to_owned(),
                    samples: Mutex::new(samples.iter().cloned().collect()),
                    take: Arc::clone(take),
                });
                self.first().judge(client, samples, &first);
            }
            Together::Panel(panel) => {
                let votes = Arc::new(Votes {
                    panel: Arc::clone(panel),
                    members: self.services.len(),
                    given: Mutex::default(),
                    take: Arc::clone(take),
                });
                for (member, service) in self.services.iter().enumerate() {
                    let votes = Arc::clone(&votes);
                    let own: Arc<dyn TakeVerdict> = Arc::new(OfMember { votes, member });
                    service.judge(client, samples.clone(), &own);
                }
            }
        }
    }

    /// What the cascade has done, if they are one.
    pub(crate) fn cascade_report(&self) -> Option<CascadeReport> {
        match &self.together {
            Together::Cascade(state) => Some(lock(&state.report).clone()),
            _ => None,
        }
    }

    /// Forgets what waits and nobody waits for.
    pub(crate) fn forget_unwanted(&self) {
        for service in &self.services {
            service.forget_unwanted();
        }
    }

    /// What they do, all together: the least that one of them does.
    pub(crate) fn phase(&self) -> Phase {
        let phases = self.services.iter().map(|service| service.phase());
        phases.reduce(both).unwrap_or_default()
    }

    /// Requests that wait for an engine, and those that engines have.
    pub(crate) fn load(&self) -> (usize, usize) {
        let loads = self.services.iter().map(|one| one.runtime().load());
        loads.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }

    /// What all engines did.
    pub(crate) fn stats(&self) -> Stats {
        let mut all = Stats::default();
        for service in &self.services {
            all += &service.runtime().stats();
        }
        all
    }

    /// Has the engines of all given up; `done` hears when that is so.
    pub(crate) fn sleep(&self, done: Done) {
        let done = Gathered::new(self.services.len(), done);
        for service in &self.services {
            service.runtime().sleep(done.part());
        }
        self.memory.forget();
    }

    /// Has the engines of all built again.
    pub(crate) fn wake_up(&self, done: Done) {
        let done = Gathered::new(self.services.len(), done);
        for service in &self.services {
            service.runtime().wake_up(done.part());
        }
    }

    /// Ends them, and waits until that is so. What the first has said may still be a question for the second.
    pub(crate) fn end(&self) {
        for service in &self.services {
            service.end();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The phase of two judges together.
fn both(one: Phase, other: Phase) -> Phase {
    let rank = |phase: &Phase| match phase {
        Phase::Failed(_) => 0,
        Phase::Stopped => 1,
        Phase::Draining => 2,
        Phase::Loading => 3,
        Phase::Asleep(Some(_)) => 4,
        Phase::Asleep(None) => 5,
        Phase::Ready(_) => 6,
    };
    match (one, other) {
        (Phase::Ready(one), Phase::Ready(other)) => Phase::Ready(format!("{one}; {other}")),
        (one, other) if rank(&one) <= rank(&other) => one,
        (_, other) => other,
    }
}

/// Takes the verdicts of a cascade's first judge on the samples of one call.
struct OfFirst {
    state: Arc<CascadeState>,
    second: Arc<JudgeService>,
    client: String,
    /// What the second judge may be asked about, by place.
    samples: Mutex<HashMap<usize, Sample>>,
    take: Arc<dyn TakeVerdict>,
}

impl TakeVerdict for OfFirst {
    fn take(&self, verdict: Verdict) {
        let place = verdict.index;
        let sample = lock(&self.samples).remove(&place);
        let state = &self.state;
        if let Some((why, sample)) = state.rule.asks(&verdict).zip(sample) {
            let second: Arc<dyn TakeVerdict> = Arc::new(OfSecond {
                state: Arc::clone(state),
                why,
                first: Mutex::new(Some(verdict)),
                take: Arc::clone(&self.take),
            });
            self.second
                .judge(&self.client, vec![(place, sample)], &second);
        } else {
            self.take.take(state.merge(verdict, None));
        }
    }

    fn is_wanted(&self) -> bool {
        self.take.is_wanted()
    }
}

/// Takes the second judge's verdict on a sample.
struct OfSecond {
    state: Arc<CascadeState>,
    why: Asked,
    first: Mutex<Option<Verdict>>,
    take: Arc<dyn TakeVerdict>,
}

impl TakeVerdict for OfSecond {
    fn take(&self, verdict: Verdict) {
        // It comes once.
        if let Some(first) = lock(&self.first).take() {
            let merged = self.state.merge(first, Some((self.why, verdict)));
            self.take.take(merged);
        }
    }

    fn is_wanted(&self) -> bool {
        self.take.is_wanted()
    }
}

impl CascadeState {
    fn merge(&self, first: Verdict, second: Option<(Asked, Verdict)>) -> Verdict {
        let names = [self.names[0].as_str(), self.names[1].as_str()];
        lock(&self.report).add(names, first, second)
    }
}

/// The votes of a panel on the samples of one call.
struct Votes {
    panel: Arc<Mutex<Panel>>,
    members: usize,
    /// By place, each member's.
    given: Mutex<HashMap<usize, Vec<Option<Verdict>>>>,
    take: Arc<dyn TakeVerdict>,
}

/// Takes one member's.
struct OfMember {
    votes: Arc<Votes>,
    member: usize,
}

impl TakeVerdict for OfMember {
    fn take(&self, verdict: Verdict) {
        let votes = &*self.votes;
        let place = verdict.index;
        let mut given = lock(&votes.given);
        let of_sample = given
            .entry(place)
            .or_insert_with(|| vec![None; votes.members]);
        of_sample[self.member] = Some(verdict);
        if of_sample.iter().any(Option::is_none) {
            return;
        }
        let all = given.remove(&place).unwrap_or_default();
        drop(given);
        let voted = lock(&votes.panel).vote(all.into_iter().flatten().collect());
        if let Some(verdict) = voted {
            votes.take.take(verdict);
        }
    }

    fn is_wanted(&self) -> bool {
        self.votes.take.is_wanted()
    }
}

/// One answer to a command that several judges carry out: the first that is no success, else the last one.
struct Gathered(Mutex<(usize, Result<(), CommandError>, Option<Done>)>);

impl Gathered {
    fn new(judges: usize, done: Done) -> Arc<Self> {
        Arc::new(Self(Mutex::new((judges, Ok(()), Some(done)))))
    }

    /// What one of them calls.
    fn part(self: &Arc<Self>) -> Done {
        let own = Arc::clone(self);
        Box::new(move |result| {
            let mut state = lock(&own.0);
            state.0 -= 1;
            if state.1.is_ok() {
                state.1 = result;
            }
            if state.0 == 0
                && let Some(done) = state.2.take()
            {
                let result = state.1.clone();
                drop(state);
                done(result);
            }
        })
    }
}
