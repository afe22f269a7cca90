//! A run from samples to files: journal, resumption, output.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::sizing::describe;
use super::{
    EngineSizes, JudgeError, JudgeText, RulesMode, RunEnd, RunOptions, Sink, Summary, build_engine,
    run, run_rules,
};
use crate::dataset::journal::{
    Identity, InputIdentity, Journal, JournalError, Manifest, SamplingSettings, journal_path,
};
use crate::dataset::output::{OutputError, check_place, finish, write_verdicts};
use crate::dataset::{Loaded, Sample, Shard, rejected_path, write_rejected};
use crate::engine::{EngineError, Stats};
use crate::model::{DeviceChoice, ModelError, ModelSource, Weights};
use crate::protocol::neutralise;
use crate::verdict::Verdict;

/// Make what was journalled survive a power cut this often.
const SYNC_EVERY: Duration = Duration::from_secs(10);

/// Everything a run needs, resolved.
pub struct Session {
    /// The samples, and the lines set aside.
    pub loaded: Loaded,
    /// The shard they were taken from.
    pub shard: Option<Shard>,
    /// Write the lines set aside beside the output.
    pub skip_bad: bool,
    /// What decides the verdicts.
    pub options: RunOptions,
    /// The model and its text side; none with rules alone.
    pub judge: Option<(ModelSource, JudgeText)>,
    /// The protocol and the hash of its prompt text.
    pub protocol: Identity,
    /// The model's name, as the user gave it.
    pub model_name: String,
    /// Where the model runs.
    pub device: DeviceChoice,
    /// The engine's sizes.
    pub sizes: EngineSizes,
    /// The output file; none for standard output, which has no journal.
    pub out: Option<PathBuf>,
    /// Throw away an earlier run's journal.
    pub restart: bool,
}

/// Why a session failed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The journal refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The model could not be loaded.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The engine could not be built.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The run stopped.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// The output could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Standard output could not be written.
    #[error("could not write to standard output: {0}")]
    Stdout(#[source] std::io::Error),
}

impl SessionError {
    /// True where the user's input or usage is at fault, not the run.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Journal(JournalError::Different { .. } | JournalError::NotAJournal { .. })
                | Self::Output(OutputError::Folder { .. } | OutputError::NoFolder { .. })
        )
    }
}

impl Session {
    /// What a journal must have been begun with for this session to go on with it.
    ///
    /// # Errors
    /// When the model's files cannot be read.
    pub fn manifest(&self) -> Result<Manifest, ModelError> {
        let options = &self.options;
        let model = match &self.judge {
            Some((source, _)) => Some(Identity {
                name: self.model_name.clone(),
                hash: source.hash()?,
            }),
            None => None,
        };
        let sampling = options.sampling;
        let rules = match options.rules {
            RulesMode::Off => options.rules.as_str().to_owned(),
            mode => format!("{} ({})", mode.as_str(), options.outcome_rules.describe()),
        };
        Ok(Manifest {
            format: Manifest::FORMAT,
            juror: env!("CARGO_PKG_VERSION").into(),
            model,
            protocol: self.protocol.clone(),
            sampling: SamplingSettings {
                temperature: sampling.temperature as f32,
                top_k: (sampling.top_k > 0).then_some(sampling.top_k as u32),
                top_p: (sampling.top_p < 1.0).then_some(sampling.top_p as f32),
                min_p: (sampling.min_p > 0.0).then_some(sampling.min_p as f32),
                max_new_tokens: options.max_new_tokens,
            },
            seed: options.seed,
            trials: options.trials,
            rules,
            reward: options.reward.as_str().into(),
            precision: self.sizes.precision.describe(),
            reason: options.wants_reason,
            raw: options.raw,
            input: InputIdentity {
                fingerprint: self.loaded.fingerprint.clone(),
                samples: self.loaded.accepted,
            },
            shard: self.shard.map(|shard| shard.to_string()),
        })
    }

    /// Bytes of a sample's texts, as they go into the prompt: of the longest, and on average.
    fn text_sizes(&self) -> (usize, usize) {
        let bytes = |sample: &Sample| -> usize {
            [
                &sample.question,
                &sample.student_answer,
                &sample.reference_answer,
            ]
            .map(|text| neutralise(text).len())
            .into_iter()
            .sum()
        };
        let (mut longest, mut sum) = (0, 0);
        for size in self.loaded.samples.iter().map(bytes) {
            longest = longest.max(size);
            sum += size;
        }
        (longest, sum / self.loaded.samples.len().max(1))
    }

    /// Judges what no earlier run of this session has judged, and writes the output once everything is there.
    ///
    /// # Errors
    /// Whatever stops the run. What was finished before is in the journal, and the same session goes on from there.
    pub fn execute(
        &self,
        interrupted: &AtomicBool,
        observer: &mut dyn FnMut(&Summary),
    ) -> Result<(RunEnd, Summary), SessionError> {
        let mut keeper = Keeper {
            journal: None,
            verdicts: Vec::new(),
            summary: Summary::default(),
            observer,
            started: Instant::now(),
            synced: Instant::now(),
        };
        let mut finished = std::collections::HashSet::new();
        // Whatever is wrong with device or weights shows before a journal is touched.
        let device = match &self.judge {
            Some((source, _)) => {
                Weights::open(source)?;
                Some(self.device.open()?)
            }
            None => None,
        };
        // A device has no place beside it for a journal.
        if let Some(out) = self.out.as_ref().filter(|out| !out.starts_with("/dev")) {
            check_place(out)?;
            let (journal, resumed) =
                Journal::open(&journal_path(out), &self.manifest()?, self.restart)?;
            // Only now: a run that the journal refuses leaves everything as it was.
            if self.skip_bad {
                // Also when there are none: a file of an earlier run would speak of lines that are no longer there.
                write_rejected(&rejected_path(out), &self.loaded.rejected)?;
            }
            finished = resumed.finished();
            for verdict in resumed.verdicts {
                keeper.summary.add(&verdict);
                keeper.verdicts.push(verdict);
            }
            keeper.summary.resumed = keeper.verdicts.len();
            keeper.journal = Some(journal);
        }
        let all = self.loaded.samples.len() * self.options.trials as usize;
        let end = if finished.len() >= all {
            RunEnd::Complete
        } else {
            match (&self.judge, &device) {
                (Some((source, text)), Some(device)) => {
                    let (longest_text, typical_text) = self.text_sizes();
                    let sizes = EngineSizes {
                        longest_text,
                        typical_text,
                        ..self.sizes
                    };
                    let engine =
                        build_engine(source, text, device, &sizes, self.options.max_new_tokens)?;
                    keeper.summary.sizes = Some(describe(&engine));
                    (keeper.observer)(&keeper.summary);
                    keeper.started = Instant::now();
                    run(
                        &self.loaded.samples,
                        &finished,
                        &self.options,
                        text,
                        engine,
                        interrupted,
                        &mut keeper,
                    )?
                }
                _ => run_rules(
                    &self.loaded.samples,
                    &finished,
                    &self.options,
                    interrupted,
                    &mut keeper,
                )?,
            }
        };
        keeper.summary.elapsed = keeper.started.elapsed();
        if let Some(journal) = &mut keeper.journal {
            journal.sync()?;
        }
        let Keeper {
            mut verdicts,
            summary,
            ..
        } = keeper;
        if end == RunEnd::Complete {
            if let Some(out) = &self.out {
                finish(out, &mut verdicts)?;
            } else {
                verdicts.sort_by_key(|verdict| (verdict.index, verdict.trial));
                let mut stdout = std::io::stdout().lock();
                write_verdicts(&mut stdout, &verdicts)
                    .and_then(|()| stdout.flush())
                    .map_err(SessionError::Stdout)?;
            }
        }
        Ok((end, summary))
    }
}

/// Keeps each verdict in the journal before it counts.
struct Keeper<'a> {
    journal: Option<Journal>,
    verdicts: Vec<Verdict>,
    summary: Summary,
    observer: &'a mut dyn FnMut(&Summary),
    started: Instant,
    synced: Instant,
}

impl Sink for Keeper<'_> {
    fn keep(&mut self, verdict: Verdict) -> Result<(), JudgeError> {
        if let Some(journal) = &mut self.journal {
            journal.append(&verdict)?;
            if self.synced.elapsed() > SYNC_EVERY {
                journal.sync()?;
                self.synced = Instant::now();
            }
        }
        self.summary.add(&verdict);
        self.verdicts.push(verdict);
        Ok(())
    }

    fn progress(&mut self, stats: &Stats) {
        self.summary.engine = *stats;
        self.summary.elapsed = self.started.elapsed();
        (self.observer)(&self.summary);
    }
}
