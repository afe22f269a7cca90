//! A judge that stays loaded.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use candle_core::Device;

use super::build::{EngineOptions, ModelDevices, WorkloadLengths, build_engine, describe};
use super::cache::CacheError;
use super::text::prompt::PromptError;
use super::text::source::JudgeModel;
use super::{
    DeviceEngine, Job, JudgeError, JudgeText, RulesMode, RunEnd, RunOptions, Sink, jobs, run,
    run_rules,
};
use crate::protocol::{DeclarationError, TemplateError};
use crate::wire::EndpointError;
use juror_base::panics;
use juror_base::threads::{self, ThreadError};
use juror_data::verdict::Verdict;
use juror_data::{DatasetError, Outline, Sample, Samples};
use juror_engine::checkpoint::CheckpointError;
use juror_engine::checkpoint::weights::LoadProgress;
use juror_engine::engine::{Engine, EngineError, Stats};
use juror_engine::model::ModelError;

/// How often the share of the weights that is loaded is told.
const TELL_EVERY: Duration = Duration::from_millis(20);

/// Why a judge could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Protocol(#[from] DeclarationError),
    #[error("protocol {protocol} has no prompt text of its own: give one as the prompt")]
    NoPrompt { protocol: String },
    /// The prompt text has a fault.
    #[error("prompt text: {0}")]
    Template(#[from] TemplateError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// One of several engines could not be built.
    #[error("{device}: {source}")]
    Device {
        device: String,
        source: Box<EngineError>,
    },
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error(transparent)]
    Thread(#[from] ThreadError),
}

impl LoadError {
    /// True where the caller's input is at fault: files that are missing or damaged.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Checkpoint(error) => error.is_usage(),
            Self::Engine(error) => error.is_usage(),
            Self::Device { source, .. } => source.is_usage(),
            Self::Model(error) => error.is_usage(),
            Self::Endpoint(error) => error.is_usage(),
            Self::Thread(_) => false,
            Self::Cache(error) => matches!(error, CacheError::NotACache { .. }),
            Self::Protocol(_) | Self::NoPrompt { .. } | Self::Template(_) | Self::Prompt(_) => true,
        }
    }
}

/// A judge model on one or more devices, ready to judge any number of times.
///
/// ```
/// use juror_data::Sample;
/// use juror_judge::judge::Judge;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut judge = Judge::load("tiny")?;
/// let sample = Sample::new(
///     "Ann has 12 apples. She buys 5 more and gives 4 away. How many has she left?",
///     "13",
///     "12 + 5 = 17. 17 - 4 = 13. The answer is 13.",
/// );
/// let verdicts = judge.judge(&[sample])?;
/// assert_eq!(verdicts[0].outcome, Some(true));
/// # Ok(())
/// # }
/// ```
///
/// What a verdict says depends on its sample and on the options alone, never on the other samples of the call, on earlier
/// calls, or on the number of devices. The prefix cache is kept from call to call.
#[warn(missing_docs)]
pub struct Judge {
    text: Arc<JudgeText>,
    pub(super) engines: Vec<DeviceEngine>,
    options: RunOptions,
}

#[warn(missing_docs)]
impl Judge {
    /// An engine for each of `devices`; the weights are loaded on all at once. `observe` is called with the share that is loaded.
    pub(crate) fn build(
        model: &JudgeModel,
        text: Arc<JudgeText>,
        devices: Vec<ModelDevices>,
        options: &EngineOptions,
        lengths: &WorkloadLengths,
        observe: &mut dyn FnMut(f64),
    ) -> Result<Self, LoadError> {
        let engines = match model {
            JudgeModel::Here(source) => {
                let build = |devices: &[Device], progress| {
                    build_engine(source, &text, devices, options, lengths, progress)
                };
                build_engines(devices, &build, observe)?
            }
            JudgeModel::Elsewhere(_) => Vec::new(),
        };
        let options = text.run_options(1);
        Ok(Self {
            text,
            engines,
            options,
        })
    }

    /// What decides the verdicts beside model and samples. To be changed before the next call.
    pub fn options(&mut self) -> &mut RunOptions {
        &mut self.options
    }

    /// What the user should know before the first verdict: settings of the model's files that are not applied, for one.
    pub fn notes(&self) -> &[String] {
        &self.text.notes
    }

    /// The engines' sizes in words; of several, each with its device.
    pub fn sizes(&self) -> String {
        if let Some(endpoint) = &self.text.endpoint {
            return endpoint.description.clone();
        }
        sizes(&self.engines)
    }

    /// Judges samples: a verdict for each, in their order; with several trials, those of one sample one after another.
    /// [`Verdict::index`] is the sample's place in `samples`; a blank [`Sample::id`] becomes the hash of its content.
    ///
    /// # Errors
    /// When the options cannot be, or an engine fails: of several the others judge the next call. What is wrong with one
    /// sample is in its verdict's status, and is no error.
    pub fn judge(&mut self, samples: &[Sample]) -> Result<Vec<Verdict>, JudgeError> {
        let mut verdicts = Vec::with_capacity(samples.len());
        self.judge_each(samples, |verdict| {
            verdicts.push(verdict);
            ControlFlow::Continue(())
        })?;
        verdicts.sort_by_key(|verdict| (verdict.index, verdict.trial));
        Ok(verdicts)
    }

    /// As [`Self::judge`], but every verdict is given to `take` as soon as it is known, in any order. `Break` ends the call:
    /// verdicts that are known already are still given, the other samples are not judged.
    ///
    /// # Errors
    /// As [`Self::judge`].
    pub fn judge_each(
        &mut self,
        samples: &[Sample],
        take: impl FnMut(Verdict) -> ControlFlow<()>,
    ) -> Result<(), JudgeError> {
        let id = |sample: &Sample| match sample.id.trim() {
            "" => sample.own_content_id(),
            _ => sample.id.clone(),
        };
        let ids = samples.iter().map(id).collect();
        let samples = Numbered { samples, ids };
        let options = self.options.clone();
        options.validate()?;
        let jobs = jobs::by_question(&samples, options.trials, |_, _| false);
        let stop = AtomicBool::new(false);
        let mut sink = Taking { take, stop: &stop };
        if options.rules == RulesMode::Only {
            run_rules(&samples, &jobs, &options, &stop, &mut sink)?;
        } else {
            self.run(&samples, &jobs, &options, &stop, &mut sink)?;
        }
        Ok(())
    }

    /// Runs `jobs`, trials of `samples`, and hands each verdict to the sink.
    pub(crate) fn run<S: Samples + ?Sized>(
        &mut self,
        samples: &S,
        jobs: &[Job],
        options: &RunOptions,
        interrupted: &AtomicBool,
        sink: &mut dyn Sink,
    ) -> Result<RunEnd, JudgeError> {
        if self.engines.is_empty() && self.text.endpoint.is_none() {
            // An earlier call failed.
            return Err(EngineError::Stopped.into());
        }
        let (text, engines) = (&self.text, &mut self.engines);
        run(samples, jobs, options, text, engines, interrupted, sink)
    }
}

/// An engine for each of `devices`, all built at once. `observe` is called with the share of the weights that is loaded.
pub(crate) fn build_engines(
    devices: Vec<ModelDevices>,
    build: &(impl Fn(&[Device], Arc<LoadProgress>) -> Result<Engine, EngineError> + Sync),
    observe: &mut dyn FnMut(f64),
) -> Result<Vec<DeviceEngine>, LoadError> {
    let several = devices.len() > 1;
    let progress = Arc::new(LoadProgress::default());
    let (loads, ends) = channel::<()>();
    std::thread::scope(|scope| {
        let loading: Vec<_> = devices
            .into_iter()
            .map(|ModelDevices { name, all }| {
                let (progress, loads) = (Arc::clone(&progress), loads.clone());
                let thread = std::thread::Builder::new()
                    .name("load".into())
                    .spawn_scoped(scope, move || {
                        let _open = loads;
                        panics::guarded(|| build(&all, progress))
                    })
                    .map_err(threads::refused("loading the model"))?;
                Ok((name, thread))
            })
            .collect::<Result<_, LoadError>>()?;
        drop(loads); // Nothing is sent: the channel closes with the last thread.
        while ends.recv_timeout(TELL_EVERY) == Err(RecvTimeoutError::Timeout) {
            if let (read, total @ 1..) = progress.bytes() {
                // What is kept as stored may be read twice.
                observe((read as f64 / total as f64).min(1.0));
            }
        }
        loading
            .into_iter()
            .map(|(device, engine)| match engine.join() {
                Ok(Ok(Ok(engine))) => Ok(DeviceEngine { device, engine }),
                Ok(Ok(Err(error))) if several => Err(LoadError::Device {
                    device,
                    source: Box::new(error),
                }),
                Ok(Ok(Err(error))) => Err(error.into()),
                Ok(Err(why)) => Err(EngineError::Panicked(why).into()),
                // Nothing outside the guard panics.
                Err(_) => Err(EngineError::Stopped.into()),
            })
            .collect()
    })
}

/// The sizes of engines in words; of several, each with its device.
pub(crate) fn sizes(engines: &[DeviceEngine]) -> String {
    let sizes: Vec<String> = engines
        .iter()
        .map(|DeviceEngine { device, engine }| match engines {
            [_] => describe(engine),
            _ => format!("{device}: {}", describe(engine)),
        })
        .collect();
    sizes.join("; ")
}

struct Taking<'s, F> {
    take: F,
    stop: &'s AtomicBool,
}

impl<F: FnMut(Verdict) -> ControlFlow<()>> Sink for Taking<'_, F> {
    fn keep(&mut self, verdict: Verdict) -> Result<(), JudgeError> {
        if (self.take)(verdict).is_break() {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn progress(&mut self, _stats: &Stats) {}
}

/// Samples under their places in a slice.
struct Numbered<'s> {
    samples: &'s [Sample],
    ids: Vec<String>,
}

impl Samples for Numbered<'_> {
    fn count(&self) -> usize {
        self.samples.len()
    }

    fn outline(&self, position: usize) -> Outline {
        Outline {
            index: position,
            id: juror_data::id_hash(&self.ids[position]),
            ..self.samples.outline(position)
        }
    }

    fn fetch(&self, positions: &[usize]) -> Result<Vec<Sample>, DatasetError> {
        let mut samples = self.samples.fetch(positions)?;
        for (sample, &index) in samples.iter_mut().zip(positions) {
            (sample.id, sample.index) = (self.ids[index].clone(), index);
        }
        Ok(samples)
    }
}
