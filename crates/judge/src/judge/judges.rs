//! The judges of a server, which give a verdict together: one, a cascade, a panel, or the rules alone.
//!
//! Each judge is a [`JudgeService`] of its own. A sample goes to the first judge of a cascade, or to all of a panel; what takes their
//! verdicts asks further or waits for the others, and hands one verdict on.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use super::RunOptions;
use super::cascade::{Asked, Cascade, CascadeReport};
use super::panel::Panel;
use super::service::{JudgeService, ServiceSetup, TakeVerdict};
use super::shared_memory::SharedMemory;
use crate::openai::conversation::ChatModel;
use crate::runtime::{CommandError, Done, Observer, Phase, Stop};
use juror_base::threads::{ThreadError, lock};
use juror_data::Sample;
use juror_data::verdict::Verdict;
use juror_engine::engine::Stats;

/// Who gives a server's verdicts.
#[allow(clippy::large_enum_variant, reason = "there is one in a process")]
pub enum Answerer {
    /// A judge. A model that is here answers OpenAI's routes too.
    Model(ServiceSetup, Option<Arc<ChatModel>>),
    /// Two judges: the second is asked where the first is unsure.
    Cascade(Box<[NamedSetup; 2]>, Cascade),
    /// Judges that vote, in the order of the panel's members.
    Panel(Vec<NamedSetup>, Panel),
    /// The rules alone, under these options.
    Rules(RunOptions),
}

/// One of several judges.
pub struct NamedSetup {
    /// Its name in verdicts and messages.
    pub name: String,
    /// What it is made of.
    pub setup: ServiceSetup,
}

/// The judges of a server.
pub(crate) struct Judges {
    services: Arc<[Named]>,
    together: Together,
    memory: Arc<SharedMemory>,
    commands: Arc<Mutex<Commands>>,
}

/// A judge, with its name where there are several.
struct Named {
    name: Option<String>,
    service: Arc<JudgeService>,
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
    pub(crate) fn start(
        answerer: Answerer,
        observer: impl Fn() -> Observer,
    ) -> Result<Self, ThreadError> {
        let (named, together): (Vec<(Option<String>, ServiceSetup)>, _) = match answerer {
            Answerer::Rules(options) => {
                let service = Arc::new(JudgeService::of_rules(options)?);
                let alone = Named {
                    name: None,
                    service,
                };
                return Ok(Self {
                    services: [alone].into(),
                    together: Together::One,
                    memory: Arc::default(),
                    commands: Arc::default(),
                });
            }
            Answerer::Model(setup, _) => (vec![(None, setup)], Together::One),
            Answerer::Cascade(judges, rule) => {
                let state = CascadeState {
                    names: judges.each_ref().map(|judge| judge.name.clone()),
                    rule,
                    report: Mutex::default(),
                };
                let named = judges.map(|one| (Some(one.name), one.setup));
                (named.into(), Together::Cascade(Arc::new(state)))
            }
            Answerer::Panel(judges, panel) => {
                let named = judges.into_iter().map(|one| (Some(one.name), one.setup));
                let panel = Arc::new(Mutex::new(panel));
                (named.collect(), Together::Panel(panel))
            }
        };
        let (names, setups): (Vec<_>, Vec<_>) = named
            .into_iter()
            .map(|(name, setup)| (name, Arc::new(setup)))
            .unzip();
        let memory = Arc::new(SharedMemory::of(setups));
        let service = |(at, name)| {
            let service = JudgeService::start_beside(&memory, at, Some(observer()))?;
            Ok(Named {
                name,
                service: Arc::new(service),
            })
        };
        Ok(Self {
            services: names
                .into_iter()
                .enumerate()
                .map(service)
                .collect::<Result<_, ThreadError>>()?,
            together,
            memory,
            commands: Arc::default(),
        })
    }

    /// The first of them, who generates for OpenAI's routes.
    pub(crate) fn first(&self) -> &JudgeService {
        // There is always one.
        &self.services[0].service
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
                let first: Arc<dyn TakeVerdict> = Arc::new(CascadeFirst {
                    state: Arc::clone(state),
                    second: Arc::clone(&self.services[1].service),
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
                for (member, named) in self.services.iter().enumerate() {
                    let votes = Arc::clone(&votes);
                    let own: Arc<dyn TakeVerdict> = Arc::new(PanelMember { votes, member });
                    named.service.judge(client, samples.clone(), &own);
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

    /// Forgets samples that nobody waits for.
    pub(crate) fn forget_unwanted(&self) {
        for named in &*self.services {
            named.service.forget_unwanted();
        }
    }

    /// The phase of all: the least that one of them does.
    pub(crate) fn phase(&self) -> Phase {
        let phases = self.services.iter().map(Named::phase);
        phases.reduce(both).unwrap_or_default()
    }

    /// Requests that wait for an engine, and those that engines have.
    pub(crate) fn load(&self) -> (usize, usize) {
        let loads = self.services.iter().map(|one| one.service.runtime().load());
        loads.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }

    /// What all engines did.
    pub(crate) fn stats(&self) -> Stats {
        let mut all = Stats::default();
        for named in &*self.services {
            all += &named.service.runtime().stats();
        }
        all
    }

    /// Gives up all engines, then calls `done`. Commands are carried out one after another, each by all.
    pub(crate) fn sleep(&self, done: Done) {
        Commands::add(&self.commands, &self.services, true, done);
    }

    /// Builds all engines again; if one cannot be built, all sleep on.
    pub(crate) fn wake_up(&self, done: Done) {
        Commands::add(&self.commands, &self.services, false, done);
    }

    /// Ends them, and waits for it.
    pub(crate) fn end(&self) {
        self.memory.close();
        if let Together::Panel(_) = self.together {
            // All members stop together. The second judge of a cascade ends later: it may still be asked about the first one's verdicts.
            for named in &*self.services {
                named.service.runtime().stop(Stop::Drained);
            }
        }
        for named in &*self.services {
            named.service.end();
        }
    }
}

impl Named {
    /// What it does, with its name where that is said.
    fn phase(&self) -> Phase {
        match self.service.phase() {
            Phase::Ready(sizes) => Phase::Ready(self.said(sizes)),
            Phase::Failed(why) => Phase::Failed(self.said(why)),
            Phase::Asleep(Some(why)) => Phase::Asleep(Some(self.said(why))),
            phase => phase,
        }
    }

    fn said(&self, text: String) -> String {
        match &self.name {
            Some(name) => format!("{name}: {text}"),
            None => text,
        }
    }
}

/// Sleep and wake, one after another.
#[derive(Default)]
struct Commands {
    waiting: VecDeque<(bool, Done)>,
    is_busy: bool,
}

impl Commands {
    /// Carries a command out once those before it are.
    fn add(own: &Arc<Mutex<Self>>, services: &Arc<[Named]>, sleeps: bool, done: Done) {
        let mut commands = lock(own);
        commands.waiting.push_back((sleeps, done));
        if !commands.is_busy {
            commands.is_busy = true;
            drop(commands);
            Self::next(own, services);
        }
    }

    /// Carries out what waits first.
    fn next(own: &Arc<Mutex<Self>>, services: &Arc<[Named]>) {
        let mut commands = lock(own);
        let Some((sleeps, done)) = commands.waiting.pop_front() else {
            commands.is_busy = false;
            return;
        };
        drop(commands);
        let (own, all) = (Arc::clone(own), Arc::clone(services));
        let ended: Done = Box::new(move |result| {
            let then = {
                let all = Arc::clone(&all);
                move |result| {
                    done(result);
                    Self::next(&own, &all);
                }
            };
            match result {
                // If they are said to sleep on, the device must be free.
                Err(error @ CommandError::NotBuilt(_)) if all.len() > 1 => {
                    command_all(&all, true, Box::new(move |_| then(Err(error))));
                }
                result => then(result),
            }
        });
        command_all(services, sleeps, ended);
    }
}

/// Makes all sleep or wake, then calls `done` once, with the first error if there is one.
fn command_all(services: &[Named], sleeps: bool, done: Done) {
    let state = Arc::new(Mutex::new((services.len(), Ok(()), Some(done))));
    for named in services {
        let (state, name) = (Arc::clone(&state), named.name.clone());
        let part: Done = Box::new(move |result| {
            let mut state = lock(&state);
            state.0 -= 1;
            if state.1.is_ok() {
                state.1 = result.map_err(|error| match (error, name) {
                    (CommandError::NotBuilt(why), Some(name)) => {
                        CommandError::NotBuilt(format!("{name}: {why}"))
                    }
                    (error, _) => error,
                });
            }
            if state.0 == 0
                && let Some(done) = state.2.take()
            {
                let result = std::mem::replace(&mut state.1, Ok(()));
                drop(state);
                done(result);
            }
        });
        let runtime = named.service.runtime();
        if sleeps {
            runtime.sleep(part);
        } else {
            runtime.wake_up(part);
        }
    }
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
struct CascadeFirst {
    state: Arc<CascadeState>,
    second: Arc<JudgeService>,
    client: String,
    /// What the second judge may be asked about, by place.
    samples: Mutex<HashMap<usize, Sample>>,
    take: Arc<dyn TakeVerdict>,
}

impl TakeVerdict for CascadeFirst {
    fn take(&self, verdict: Verdict) {
        let place = verdict.index;
        let sample = lock(&self.samples).remove(&place);
        let state = &self.state;
        if let Some((why, sample)) = state.rule.asks(&verdict).zip(sample) {
            let second: Arc<dyn TakeVerdict> = Arc::new(CascadeSecond {
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
struct CascadeSecond {
    state: Arc<CascadeState>,
    why: Asked,
    first: Mutex<Option<Verdict>>,
    take: Arc<dyn TakeVerdict>,
}

impl TakeVerdict for CascadeSecond {
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
    /// Each member's, by place.
    given: Mutex<HashMap<usize, Vec<Option<Verdict>>>>,
    take: Arc<dyn TakeVerdict>,
}

/// Takes one member's.
struct PanelMember {
    votes: Arc<Votes>,
    member: usize,
}

impl TakeVerdict for PanelMember {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn together_they_do_the_least_that_one_does() {
        let ready = |sizes: &str| Phase::Ready(sizes.to_owned());
        let asleep = Phase::Asleep(Some("no room".to_owned()));
        let failed = Phase::Failed("why".to_owned());
        assert_eq!(both(ready("a"), ready("b")), ready("a; b"));
        for (one, other, together) in [
            (ready("a"), Phase::Loading, Phase::Loading),
            (Phase::Loading, failed.clone(), failed.clone()),
            (asleep.clone(), ready("a"), asleep.clone()),
            (asleep, Phase::Draining, Phase::Draining),
            (failed.clone(), Phase::Stopped, failed),
        ] {
            assert_eq!(both(one.clone(), other.clone()), together);
            assert_eq!(both(other, one), together);
        }
    }
}
