//! The judges of a server, which give a verdict together: one, a cascade, a panel, or the rules alone.
//!
//! Each judge is a [`JudgeService`] of its own. A sample goes to the first judge of a cascade, or to all of a panel; what takes their
//! verdicts asks further or waits for the others, and hands one verdict on.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use super::RunOptions;
use super::service::{JudgeService, ServiceSetup, TakeVerdict};
use super::shared_memory::SharedMemory;
use super::together::Together;
use super::together::cascade::CascadeReport;
use crate::runtime::{CommandError, Done, Observer, Phase, Stop};
use juror_base::threads::{ThreadError, lock};
use juror_data::Sample;
use juror_data::verdict::Verdict;
use juror_engine::engine::Stats;

#[allow(clippy::large_enum_variant, reason = "there is one in a process")]
pub enum Answerer {
    Model(ServiceSetup),
    /// The judges of a cascade or a panel, in its order and as many as it has.
    Several(Vec<NamedSetup>, Together),
    /// The rules alone, under these options.
    Rules(RunOptions),
}

impl Answerer {
    /// How many judges there are, and for how many their rule is, where these differ or there are none.
    pub(crate) fn mismatch(&self) -> Option<(usize, usize)> {
        let Self::Several(judges, together) = self else {
            return None;
        };
        let counts = (judges.len(), together.members());
        (counts.0 == 0 || counts.0 != counts.1).then_some(counts)
    }
}

pub struct NamedSetup {
    pub name: String,
    pub setup: ServiceSetup,
}

pub(crate) struct Judges {
    services: Arc<[Named]>,
    /// How they give one verdict, where there are several.
    together: Option<Arc<Mutex<Together>>>,
    memory: Arc<SharedMemory>,
    commands: Arc<Mutex<Commands>>,
}

/// A judge, with its name where there are several.
struct Named {
    name: Option<String>,
    service: Arc<JudgeService>,
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
                    together: None,
                    memory: Arc::default(),
                    commands: Arc::default(),
                });
            }
            Answerer::Model(setup) => (vec![(None, setup)], None),
            Answerer::Several(judges, together) => {
                let named = judges.into_iter().map(|one| (Some(one.name), one.setup));
                (named.collect(), Some(Arc::new(Mutex::new(together))))
            }
        };
        let (names, setups): (Vec<_>, Vec<_>) = named
            .into_iter()
            .map(|(name, setup)| (name, Arc::new(setup)))
            .unzip();
        let memory = Arc::new(SharedMemory::new(setups));
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
        let Some(together) = &self.together else {
            return self.first().judge(client, samples, take);
        };
        let in_turn = lock(together).asks_in_turn();
        let waiting = samples.iter().map(|(place, sample)| {
            let waiting = Waiting {
                sample: in_turn.then(|| sample.clone()),
                given: vec![None; self.services.len()],
            };
            (*place, waiting)
        });
        let call = Arc::new(Call {
            services: Arc::clone(&self.services),
            together: Arc::clone(together),
            client: client.to_owned(),
            waiting: Mutex::new(waiting.collect()),
            take: Arc::clone(take),
        });
        let at_once = if in_turn { 1 } else { self.services.len() };
        for (member, samples) in std::iter::repeat_n(samples, at_once).enumerate() {
            call.ask(member, samples);
        }
    }

    /// What the cascade has done, if they are one.
    pub(crate) fn cascade_report(&self) -> Option<CascadeReport> {
        match &*lock(self.together.as_ref()?) {
            Together::Cascade(cascade) => Some(cascade.report.clone()),
            Together::Panel(_) => None,
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
        let together = self.together.as_ref();
        if together.is_some_and(|together| !lock(together).asks_in_turn()) {
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

/// Samples that several judges are asked about in one call.
struct Call {
    services: Arc<[Named]>,
    together: Arc<Mutex<Together>>,
    client: String,
    /// By their places.
    waiting: Mutex<HashMap<usize, Waiting>>,
    take: Arc<dyn TakeVerdict>,
}

/// A sample that not all have given their verdict on.
struct Waiting {
    /// What the next judge may be asked about.
    sample: Option<Sample>,
    /// By the judges' places.
    given: Vec<Option<Verdict>>,
}

impl Call {
    fn ask(self: &Arc<Self>, member: usize, samples: Vec<(usize, Sample)>) {
        let call = Arc::clone(self);
        let take: Arc<dyn TakeVerdict> = Arc::new(TakeMember { call, member });
        let service = &self.services[member].service;
        service.judge(&self.client, samples, &take);
    }
}

struct TakeMember {
    call: Arc<Call>,
    member: usize,
}

impl TakeVerdict for TakeMember {
    fn take(&self, verdict: Verdict) {
        let call = &self.call;
        let place = verdict.index;
        let mut waiting = lock(&call.waiting);
        let Some(Waiting { sample, given }) = waiting.get_mut(&place) else {
            return;
        };
        given[self.member] = Some(verdict);
        let mut together = lock(&call.together);
        let why = given[0].as_ref().and_then(|first| together.asks(first));
        if let Some(sample) = sample.take_if(|_| why.is_some()) {
            drop((together, waiting));
            return call.ask(1, vec![(place, sample)]);
        }
        if sample.is_none() && given.iter().any(Option::is_none) {
            return;
        }
        let given = std::mem::take(given);
        waiting.remove(&place);
        drop(waiting);
        let verdict = together.decide(why, given.into_iter().flatten().collect());
        drop(together);
        if let Some(verdict) = verdict {
            call.take.take(verdict);
        }
    }

    fn is_wanted(&self) -> bool {
        self.call.take.is_wanted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::together::panel::{Member, Panel, PanelRule};
    use crate::protocol::Yields;
    use crate::reward::calibration::Calibration;

    #[test]
    fn a_rule_has_as_many_judges_as_it_is_for() {
        let panel = |members| Panel::new(PanelRule::Majority, members, None, false);
        let nobody = |together| Answerer::Several(Vec::new(), Together::Panel(together));
        let member = Member {
            name: "one".to_owned(),
            weight: 1.0,
            yields: Yields::default(),
            calibration: Calibration::default(),
        };
        assert_eq!(nobody(panel(vec![member])).mismatch(), Some((0, 1)));
        assert_eq!(nobody(panel(Vec::new())).mismatch(), Some((0, 0)));
        assert_eq!(Answerer::Rules(RunOptions::default()).mismatch(), None);
    }

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
