//! A run from samples to files: journal, resumption, output.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde_json::{Value, json};

use super::answers::Answers;
use super::build::{EngineOptions, ModelDevices, WorkloadLengths, open_devices};
use super::cache::{AnswerCache, CacheError, identity};
use super::jobs::batches;
use super::keeper::{Judged, Keeper, Stream};
use super::run::request_of;
use super::text::source::JudgeModel;
use super::together::consensus::{Consensus, ConsensusBuilder, ConsensusSummary};
use super::together::groups::Groups;
use super::{
    Job, Judge, JudgeError, JudgeText, LoadError, RulesMode, RunEnd, RunOptions, Summary, jobs,
    run_rules,
};
use crate::reward::RewardPolicy;
use crate::reward::calibration::Calibration;
use juror_data::journal::{
    Finished, Identity, InputIdentity, Journal, JournalError, LinePlace, Manifest,
    SamplingSettings, journal_path,
};
use juror_data::output::{
    JsonLineSink, OutputError, OutputFile, OutputFormat, check_place, has_place_beside,
    remove_left_over,
};
use juror_data::verdict::Verdict;
use juror_data::{BadLines, DatasetError, Loaded, Rows, Sample, Samples, Shard};
use juror_engine::checkpoint::{CheckpointError, ModelSource, Weights};
use juror_engine::engine::Sampling;
use juror_engine::model::memory::host;
use juror_engine::model::{DeviceChoice, ModelError, PrecisionChoice};

/// Samples that are read at a time to be written as rows.
const ROWS_AT_ONCE: usize = 256;

pub struct Session {
    /// Where the samples are, and the lines set aside.
    pub loaded: Loaded<Rows>,
    /// The data sets of the hub that the samples are of, each as `org/name@commit:config:split`.
    pub data_origins: Vec<String>,
    /// How many samples the input had for the run that this one goes on with, all shards together.
    pub earlier_samples: Option<usize>,
    pub shard: Option<Shard>,
    pub options: RunOptions,
    pub source: VerdictSource,
    /// The protocol and the hash of its prompt text.
    pub protocol: Identity,
    pub model_name: String,
    /// What a million tokens of prompts and of answers cost, if that is known.
    pub price: Option<(f64, f64)>,
    pub outputs: RunOutputs,
}

/// Where the verdicts of a run are from.
pub enum VerdictSource {
    Model(Box<ModelRun>),
    /// The answers of another engine to every trial.
    Answers(Box<Answers>),
    Rules,
}

pub struct ModelRun {
    pub model: JudgeModel,
    pub text: Arc<JudgeText>,
    /// Where it runs: one engine for each.
    pub devices: Vec<DeviceChoice>,
    pub engine: EngineOptions,
    /// Where answers are kept for other runs, and how many bytes of them.
    pub cache: Option<(PathBuf, u64)>,
}

#[derive(Debug, Default)]
pub struct RunOutputs {
    /// The verdicts; none for standard output, which has no journal.
    pub verdicts: Option<OutputFile>,
    /// Lines set aside, beside the output; without it there are none.
    pub rejected: Option<OutputFile>,
    pub summary: Option<OutputFile>,
    /// The consensus of each sample's trials, a line each.
    pub consensus: Option<OutputFile>,
    /// The samples on whose whole the trials disagree, a line each.
    pub hard: Option<OutputFile>,
    /// Give each verdict its advantage among those of its question.
    pub advantages: bool,
    /// Throw away an earlier run's journal.
    pub restart: bool,
    /// Leave as they are the trials of an earlier run that are open.
    pub keep_open: bool,
}

impl RunOutputs {
    /// The file that the verdicts go to.
    pub fn path(&self) -> Option<&Path> {
        self.verdicts.as_ref().map(OutputFile::path)
    }
}

/// A sample on whose whole the trials disagree.
struct Hard {
    position: usize,
    /// The share of the trials that hold it for right.
    c: Option<f64>,
    trials: usize,
}

/// Why a run or a batch ended.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Input(#[from] DatasetError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Load(Box<LoadError>),
    #[error(transparent)]
    Judge(#[from] JudgeError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// What the user asks for cannot be done.
    #[error("{0}")]
    Usage(String),
    #[error("could not read the verdicts again: {0}")]
    Consensus(#[source] std::io::Error),
    #[error(
        "{} of {} lines of answers cannot be used, so no verdict was written:\n  {}\nMend them, or pass --skip-bad to leave them \
         out; a request that is then without an answer is `failed`",
        .0.total, .0.lines_read, .0.listed().join("\n  ")
    )]
    BadOutputs(BadLines),
}

impl From<LoadError> for RunError {
    fn from(error: LoadError) -> Self {
        Self::Load(Box::new(error))
    }
}

impl RunError {
    /// True where the user's input or usage is at fault, not the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Input(error) => error.is_usage(),
            Self::Checkpoint(error) => error.is_usage(),
            Self::Load(error) => error.is_usage(),
            Self::Model(error) => error.is_usage(),
            Self::Journal(JournalError::Different { .. } | JournalError::NotAJournal { .. })
            | Self::Usage(_)
            | Self::Cache(CacheError::NotACache { .. })
            | Self::BadOutputs(_)
            | Self::Output(OutputError::Folder { .. } | OutputError::NoFolder { .. }) => true,
            _ => false,
        }
    }
}

impl Session {
    /// The manifest that a journal must begin with for this session to resume it.
    pub(crate) fn manifest(&self) -> Result<Manifest, CheckpointError> {
        let options = &self.options;
        // All are named, so that the compiler asks of a new option whether verdicts depend on it.
        let RunOptions {
            sampling,
            max_new_tokens,
            trials,
            seed,
            wants_reason,
            raw,
            rules,
            audit,
            outcome_rules,
            min_confidence,
            own,
            // In `constraint` and `reward`.
            constrained: _,
            decide_only: _,
            thinking_budget: _,
            reward: _,
            require_process: _,
            // It changes no verdict.
            cache: _,
        } = options;
        let hash = match &self.source {
            VerdictSource::Model(model) => Some(model.model.hash()?),
            // What reads them is known by its name alone.
            VerdictSource::Answers(answers) => {
                let read_by = format!("{}\n{}", self.model_name, answers.hash);
                Some(blake3::hash(read_by.as_bytes()).to_hex().to_string())
            }
            VerdictSource::Rules => None,
        };
        let asked = self.model();
        let model = hash.map(|hash| Identity {
            name: self.model_name.clone(),
            hash,
        });
        let rules = match rules {
            RulesMode::Off => rules.name().to_owned(),
            mode => {
                let audit = match audit {
                    share if *share > 0.0 => format!(", audit {share}"),
                    _ => String::new(),
                };
                format!("{} ({}{audit})", mode.name(), outcome_rules.describe())
            }
        };
        Ok(Manifest {
            format: Manifest::FORMAT,
            juror: env!("CARGO_PKG_VERSION").into(),
            model,
            adapter: asked
                .and_then(|asked| asked.model.files())
                .map_or(Ok(None), ModelSource::adapter_hash)?,
            model_origin: asked.and_then(|asked| asked.model.origin()),
            protocol: self.protocol.clone(),
            chat: asked.and_then(|model| model.text.chat.clone()),
            sampling: sampling_settings(*sampling, *max_new_tokens),
            seed: *seed,
            trials: *trials,
            rules,
            reward: self.reward(),
            min_confidence: *min_confidence,
            precision: asked
                .map_or(PrecisionChoice::default(), |model| model.engine.precision)
                .describe(),
            constrained: asked.and_then(|model| options.constraint(&model.text)),
            reason: *wants_reason,
            own_answer: own.as_ref().map(|own| own.hash().to_owned()),
            raw: *raw,
            input: InputIdentity {
                fingerprint: self.loaded.fingerprint.clone(),
                samples: self.loaded.accepted,
                keep: self.loaded.keep.clone(),
            },
            data_origin: (!self.data_origins.is_empty()).then(|| self.data_origins.join(" ")),
            shard: self.shard.map(|shard| shard.to_string()),
        })
    }

    /// The reward and what it depends on beside the verdict's fields, in words.
    fn reward(&self) -> String {
        let options = &self.options;
        let mut words = options.reward.to_string();
        if options.require_process {
            words += ", process required";
        }
        let calibration = self.text().map(|text| &text.judge.calibration);
        let matters = options.reward == RewardPolicy::Soft || options.min_confidence.is_some();
        if let Some(calibration) =
            calibration.filter(|own| matters && **own != Calibration::default())
        {
            let text = serde_json::to_string(calibration).unwrap_or_default();
            let hash = blake3::hash(text.as_bytes()).to_hex();
            words += ", calibrated ";
            words += &hash[..16];
        }
        words
    }

    /// The model that is asked, if one is.
    pub fn model(&self) -> Option<&ModelRun> {
        match &self.source {
            VerdictSource::Model(model) => Some(model),
            VerdictSource::Answers(_) | VerdictSource::Rules => None,
        }
    }

    pub fn text(&self) -> Option<&Arc<JudgeText>> {
        self.model().map(|model| &model.text)
    }

    /// The first rows of the input, as an earlier run knew them.
    fn earlier_input(&self) -> Option<InputIdentity> {
        Some(InputIdentity {
            fingerprint: self.loaded.earlier_fingerprint.clone()?,
            samples: self.earlier_samples?,
            keep: self.loaded.keep.clone(),
        })
    }

    /// The output, if a journal can lie beside it: without one nothing is kept of a run that is stopped.
    pub fn out_with_journal(&self) -> Option<&Path> {
        self.outputs.path().filter(|out| has_place_beside(out))
    }

    /// Judges the trials that no earlier run of this session has finished, then writes the output.
    /// Errors: any error that stops the run. Finished verdicts are in the journal, and the same session resumes from there.
    pub fn execute(
        &self,
        interrupted: &AtomicBool,
        observer: &mut dyn FnMut(&Summary),
    ) -> Result<(RunEnd, Summary), RunError> {
        // An error of the device or the weights is found before a journal is touched.
        let mut devices = Vec::new();
        if let Some(run) = self.model()
            && let Some(source) = run.model.files()
        {
            Weights::open(source)?;
            devices = open_devices(&run.devices, &run.engine)?;
        }
        let samples = &self.loaded.samples;
        check_memory(samples.count(), self.options.trials)?;
        let (journal, judged) = self.resume()?;
        let (known, before) = (judged.known, self.without_form());
        let mut keeper = Keeper {
            journal,
            judged,
            observer,
            started: Instant::now(),
            synced: Instant::now(),
            stream: self.outputs.verdicts.is_none().then(Stream::default),
        };
        let end = if keeper.judged.finished.is_complete() {
            RunEnd::Complete
        } else {
            self.judge_rest(devices, known, interrupted, &mut keeper)?
        };
        keeper.judged.summary.elapsed = keeper.started.elapsed();
        keeper.journal.sync()?;
        keeper.write_ready()?;
        let (mut journal, mut judged) = (keeper.journal, keeper.judged);
        judged.summary.groups = judged.groups.summary();
        judged.summary.without_form = self.without_form() - before;
        if end == RunEnd::Complete {
            if self.options.trials > 1 {
                let (consensus, hard) = self.consensus(&mut journal, &judged.finished)?;
                judged.summary.consensus = Some(consensus);
                if let Some(out) = &self.outputs.hard {
                    self.write_hard(out, &hard)?;
                }
            }
            self.write_verdicts(&mut journal, &judged)?;
        }
        Ok((end, judged.summary))
    }

    /// Requests to a server so far that were made again without their form.
    fn without_form(&self) -> usize {
        let served = self.text().and_then(|text| text.endpoint.as_ref());
        served.map_or(0, |served| served.server.without_form())
    }

    /// The journal, and what an earlier run has written into it.
    fn resume(&self) -> Result<(Journal, Judged<'_>), RunError> {
        let samples = &self.loaded.samples;
        let mut judged = Judged {
            samples,
            finished: Finished::new(samples.count(), self.options.trials),
            summary: Summary {
                refuses: self
                    .text()
                    .and_then(|text| text.judge.refuses)
                    // Measured of what is left where the judge's own bound holds.
                    .filter(|_| self.options.min_confidence.is_none() && !self.options.decide_only),
                price: self.price,
                ..Summary::default()
            },
            groups: Groups::default(),
            known: None,
        };
        let mut journal = match self.out_with_journal() {
            Some(out) => {
                check_place(out)?;
                let manifest = self.manifest()?;
                let (journal, _) = Journal::open(
                    &journal_path(out),
                    &manifest,
                    self.earlier_input().as_ref(),
                    self.outputs.restart,
                    &mut |verdict, line| judged.note(&verdict, line),
                )?;
                // Only now: a run that the journal refuses leaves everything as it was.
                remove_left_over(out);
                if let Some(file) = &self.outputs.rejected {
                    // Also when there are none: a file of an earlier run would list lines that are no longer bad.
                    file.write(|writer| self.loaded.rejected.write(writer))?;
                }
                journal
            }
            None => Journal::temporary()?,
        };
        if self.outputs.keep_open {
            let lines = judged.finished.close();
            let mut count = |verdict: Verdict| {
                judged.count(&verdict, samples.position(verdict.index));
                Ok(())
            };
            let counted = journal.copy(lines, &mut JsonLineSink::new(&mut count));
            counted.map_err(RunError::Consensus)?;
        }
        judged.summary.resumed = judged.finished.count();
        Ok((journal, judged))
    }

    /// Writes the verdicts in the order of the input, where they go to a file.
    fn write_verdicts(&self, journal: &mut Journal, judged: &Judged) -> Result<(), RunError> {
        let Some(out) = &self.outputs.verdicts else {
            return Ok(());
        };
        let samples = judged.samples;
        OutputFormat::from_path(out.path())?.write(out, &self.loaded.keep, |writer| {
            let lines = judged.finished.lines();
            if !self.outputs.advantages {
                return journal.copy(lines, writer);
            }
            let with_advantage = |mut verdict: Verdict| {
                let position = samples.position(verdict.index);
                let question = position.map(|place| samples.outline(place).question);
                // What its reward is compared with: rows of their own have no group in the input.
                let group = question.map(|question| format!("{question:016x}"));
                verdict.group = verdict.group.or(group);
                let advantage = question.zip(verdict.reward);
                let advantage = advantage.map(|(of, reward)| judged.groups.advantage(of, reward));
                verdict.advantage = Some(advantage.into());
                serde_json::to_writer(&mut *writer, &verdict)?;
                writer.write_all(b"\n")
            };
            journal.copy(lines, &mut JsonLineSink::new(with_advantage))
        })?;
        Ok(())
    }

    /// Writes the samples at these positions, in the form in which rows are read.
    pub fn write_rows(&self, out: &OutputFile, positions: &[usize]) -> Result<(), RunError> {
        self.write_rows_of(out, positions, &mut |sample| sample.row(false))
    }

    /// Writes hard samples with their kept keys, and how the trials voted.
    fn write_hard(&self, out: &OutputFile, hard: &[Hard]) -> Result<(), RunError> {
        let positions: Vec<usize> = hard.iter().map(|hard| hard.position).collect();
        let mut hard = hard.iter();
        self.write_rows_of(out, &positions, &mut |sample| {
            let mut row = sample.row(true);
            if let Some(hard) = hard.next() {
                row["c"] = json!(hard.c);
                row["trials"] = json!(hard.trials);
            }
            row
        })
    }

    fn write_rows_of(
        &self,
        out: &OutputFile,
        positions: &[usize],
        row: &mut dyn FnMut(Sample) -> Value,
    ) -> Result<(), RunError> {
        let samples = &self.loaded.samples;
        let mut failed = None;
        let written = out.write(|writer| {
            for now in batches(positions, |at| at, samples, ROWS_AT_ONCE) {
                let fetched = samples.fetch(now).map_err(|error| {
                    let told = std::io::Error::other(error.to_string());
                    failed = Some(error);
                    told
                })?;
                for sample in fetched {
                    serde_json::to_writer(&mut *writer, &row(sample))?;
                    writer.write_all(b"\n")?;
                }
            }
            Ok(())
        });
        failed.map_or(Ok(()), |error| Err(JudgeError::Input(error)))?;
        Ok(written?)
    }

    /// What the trials of each sample say together; a line a sample where [`RunOutputs::consensus`] says. Also the samples on whose whole they disagree.
    fn consensus(
        &self,
        journal: &mut Journal,
        finished: &Finished,
    ) -> Result<(ConsensusSummary, Vec<Hard>), RunError> {
        let mut summary = ConsensusSummary::default();
        let mut hard = Vec::new();
        let mut write = |journal: &mut Journal, writer: &mut dyn Write| {
            let mut builder = ConsensusBuilder::default();
            let mut take = |sample: Option<Consensus>| {
                let Some(sample) = sample else { return Ok(()) };
                summary.add(&sample);
                if sample.overall_votes.is_split() == Some(true) {
                    let position = self.loaded.samples.position(sample.index);
                    hard.extend(position.map(|position| Hard {
                        position,
                        c: sample.c,
                        trials: sample.trials,
                    }));
                }
                serde_json::to_writer(&mut *writer, &sample)?;
                writer.write_all(b"\n")
            };
            journal.copy(
                finished.lines(),
                &mut JsonLineSink::new(|verdict: Verdict| take(builder.add(&verdict))),
            )?;
            take(builder.finish())
        };
        match &self.outputs.consensus {
            Some(out) => out.write(|writer| write(journal, writer))?,
            None => write(journal, &mut std::io::sink()).map_err(RunError::Consensus)?,
        }
        Ok((summary, hard))
    }

    /// Judges every trial that is not finished; `known` is one that was answered before.
    fn judge_rest(
        &self,
        devices: Vec<ModelDevices>,
        known: Option<(usize, u32)>,
        interrupted: &AtomicBool,
        keeper: &mut Keeper,
    ) -> Result<RunEnd, RunError> {
        let samples = &self.loaded.samples;
        let trials = self.options.trials;
        let finished = |position, trial| keeper.judged.finished.contains(position, trial);
        let ModelRun {
            model,
            text,
            engine,
            cache,
            ..
        } = match &self.source {
            VerdictSource::Model(run) => run.as_ref(),
            VerdictSource::Answers(answers) => {
                let jobs = jobs::in_input_order(samples, trials, finished);
                return Ok(answers.run(samples, &jobs, &self.options, interrupted, keeper)?);
            }
            VerdictSource::Rules => {
                let jobs = jobs::in_input_order(samples, trials, finished);
                return Ok(run_rules(
                    samples,
                    &jobs,
                    &self.options,
                    interrupted,
                    keeper,
                )?);
            }
        };
        // Verdicts are written to standard output in the order of the input, each as soon as those before it are.
        let jobs = if self.outputs.verdicts.is_some() {
            jobs::by_question(samples, trials, finished)
        } else {
            jobs::in_input_order(samples, trials, finished)
        };
        let mut options = self.options.clone();
        if let Some((folder, size)) = cache {
            let devices = devices.iter().flat_map(|one| &one.all);
            let identity = identity(model, engine, devices)?;
            options.cache = Some(Arc::new(AnswerCache::open(folder, identity, *size)?));
        }
        if let (Some(served), Some(trial)) = (&text.endpoint, known) {
            Arc::clone(&served.server)
                .has_answered(text, request_of(samples, trial, text, &options));
        }
        let lengths =
            WorkloadLengths::new(samples, &jobs, text, &options).map_err(JudgeError::from)?;
        let mut observe = |share| {
            keeper.judged.summary.loaded = share;
            (keeper.observer)(&keeper.judged.summary);
        };
        let text = Arc::clone(text);
        let mut judge = Judge::build(model, text, devices, engine, &lengths, &mut observe)?;
        keeper.judged.summary.sizes = Some(judge.sizes());
        (keeper.observer)(&keeper.judged.summary);
        keeper.started = Instant::now();
        let end = judge.run(samples, &jobs, &options, interrupted, keeper)?;
        let kept = options.cache.as_ref().map(|cache| cache.sync());
        keeper.judged.summary.cache_failure = kept.and_then(Result::err);
        Ok(end)
    }
}

/// How tokens are chosen, as a manifest says it.
pub fn sampling_settings(sampling: Sampling, max_new_tokens: usize) -> SamplingSettings {
    SamplingSettings {
        temperature: sampling.temperature as f32,
        top_k: (sampling.top_k > 0).then_some(sampling.top_k as u32),
        top_p: (sampling.top_p < 1.0).then_some(sampling.top_p as f32),
        min_p: (sampling.min_p > 0.0).then_some(sampling.min_p as f32),
        max_new_tokens,
    }
}

/// Refuses more verdicts than there is memory to track.
fn check_memory(samples: usize, trials: u32) -> Result<(), RunError> {
    // The place of its line, and its entry in the list of jobs.
    let one = size_of::<LinePlace>() + size_of::<Job>();
    let needed = samples.saturating_mul(trials as usize).saturating_mul(one);
    let free = host::free_memory();
    if needed <= free {
        return Ok(());
    }
    let gigabytes = |bytes: usize| bytes as f64 / 1e9;
    Err(RunError::Usage(format!(
        "{samples} samples of {trials} trials each: to keep account of so many verdicts takes {:.1} GB of memory, and {:.1} are \
         free; take fewer --trials, or judge the input in parts with --shard",
        gigabytes(needed),
        gigabytes(free)
    )))
}
