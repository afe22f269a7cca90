//! A benchmark from the model's files to figures: load, measure the device, run.

use std::time::Instant;

use candle_core::Device;

use super::measure::{MeasureSettings, measure};
use super::shared::SharedModel;
use super::workload::Job;
use super::{Ceiling, Context, Report};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::engine::{EngineConfig, EngineError, Sampling};
use juror_engine::model::cpu::instructions::InstructionSet;
use juror_engine::model::{ModelError, Precision};
use juror_judge::judge::build::{
    BLOCK_SIZE, EngineOptions, WorkloadLengths, check_drafts, engine_config, load_model,
    packed_numbers,
};

/// What is measured: a model and the generations asked of it.
pub(crate) struct Subject {
    pub name: String,
    pub config: ModelConfig,
    /// The sizes of the part of it that one device computes.
    pub part: ModelConfig,
    pub weights: Weights,
    /// Where it runs; of several devices the first.
    pub device: Device,
    pub devices: Vec<Device>,
    /// The types it is stored in: the options' choice, resolved for this device and these weights.
    pub precision: Precision,
    /// The tokens that all prompts begin with.
    pub template: Vec<u32>,
    pub jobs: Vec<Job>,
}

/// A loaded model and its ceilings, ready to be measured.
pub(crate) struct Bench {
    pub subject: Subject,
    model: SharedModel,
    ceiling: Ceiling,
    blocks: usize,
    /// The most tokens in a step that there is memory for, chosen before the cache took the rest.
    token_budget: usize,
    /// The number of a device's weights in MXFP4, whatever the others are stored in.
    packed: usize,
    pub load_seconds: f64,
}

impl Bench {
    /// Measures the device, loads the model and builds its cache.
    pub(crate) fn load(mut subject: Subject, options: &EngineOptions) -> Result<Self, EngineError> {
        let ceiling = Ceiling::measure(&subject.device, subject.precision)?;
        let started = Instant::now();
        let (sizes, weights) = (&subject.config, &subject.weights);
        let (device, precision) = (&subject.device, subject.precision);
        let plain = options.plain_operations;
        check_drafts(&subject.part, device, precision, options)?;
        let model = load_model(sizes, weights, &subject.devices, precision, plain)?;
        let load_seconds = started.elapsed().as_secs_f64();
        let packed = packed_numbers(&subject.part, weights, device, precision, plain);
        let packed = packed / subject.devices.len();
        subject.jobs.shrink_to_fit();
        let config = config_for(&subject, options);
        let model = model.with_cache(&config, !options.no_shared_prefix)?;
        let blocks = model.properties().blocks.unwrap_or(config.blocks);
        Ok(Self {
            model: SharedModel::new(model),
            ceiling,
            blocks,
            token_budget: config.token_budget,
            packed,
            subject,
            load_seconds,
        })
    }

    /// The sizes of the engine for one run.
    pub(crate) fn engine_config(&self, options: &EngineOptions) -> EngineConfig {
        let options = EngineOptions {
            blocks: Some(self.blocks),
            token_budget: options.token_budget.or(Some(self.token_budget)),
            ..*options
        };
        config_for(&self.subject, &options)
    }

    /// Runs it once. With `breakdown` it also records where the time goes; on a GPU recording slows a run down, so it is
    /// done in a second, shorter run. `progress` is called after each step with the tokens generated so far.
    pub(crate) fn run(
        &self,
        config: &EngineConfig,
        sampling: Sampling,
        seed: u64,
        breakdown: bool,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Report, EngineError> {
        let mut settings = MeasureSettings {
            sampling,
            seed,
            profile: breakdown && self.subject.device.is_cpu(),
        };
        let jobs = &self.subject.jobs;
        let run = measure(&self.model, config, jobs, &settings, progress)?;
        let context = Context {
            model: &self.subject.config,
            precision: &self.subject.precision,
            packed: self.packed,
            engine: config,
            ceiling: self.ceiling,
        };
        let mut report = Report::new(&run, &context);
        if settings.profile || !breakdown {
            return Ok(report);
        }
        settings.profile = true;
        let some = &jobs[..jobs.len().min(config.max_sequences)];
        let profiled = measure(&self.model, config, some, &settings, &mut |_| {})?;
        report.breakdown = Report::new(&profiled, &context).breakdown;
        Ok(report)
    }
}

/// The engine sizes that a judge of the same texts would choose, for lengths known beforehand.
fn config_for(subject: &Subject, options: &EngineOptions) -> EngineConfig {
    let template = subject.template.len();
    let shared = if options.no_prefix_cache { 0 } else { template };
    let jobs = subject.jobs.iter();
    let own = jobs.map(|job| (job.prompt.len() + job.output).saturating_sub(shared));
    let lengths = WorkloadLengths {
        shared,
        // The mean, with room for a block that extends past the text and for what the scheduler keeps free.
        typical: own.clone().sum::<usize>() * 51 / (50 * subject.jobs.len().max(1)) + BLOCK_SIZE,
        longest: own.clone().max().unwrap_or(0),
        least: own.max().unwrap_or(0),
        // Every generation runs to its end, so it is part of the lengths.
        max_new: 0,
        context: subject.config.max_positions,
        sequences: subject.jobs.len(),
    };
    let (config, device) = (&subject.part, &subject.device);
    let template = subject.template.clone();
    engine_config(
        config,
        subject.precision,
        device,
        &lengths,
        options,
        template,
    )
}

/// The commit of the sources that this program was built from.
pub(crate) const COMMIT: Option<&str> = option_env!("JUROR_COMMIT");

pub(crate) fn features() -> Vec<&'static str> {
    let all = [
        ("cuda", cfg!(feature = "cuda")),
        ("metal", cfg!(feature = "metal")),
        ("mkl", cfg!(feature = "mkl")),
        ("accelerate", cfg!(feature = "accelerate")),
    ];
    let there = all.into_iter().filter(|(_, there)| *there);
    there.map(|(name, _)| name).collect()
}

/// The processor's name and the number of threads.
pub(crate) fn machine() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = information
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .and_then(|rest| rest.split_once(':'))
        .map_or(std::env::consts::ARCH, |(_, name)| name.trim());
    let (instructions, threads) = (InstructionSet::chosen(), rayon::current_num_threads());
    format!("{name}, {instructions}, {threads} threads")
}

impl Subject {
    /// Checks that the jobs can be run at all, without loading anything.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        let jobs = self.jobs.iter();
        let longest = jobs.map(|job| job.prompt.len() + job.output).max();
        let context = self.config.max_positions;
        Err(ModelError::Unsupported(match longest {
            None => "nothing to measure: no samples".into(),
            Some(longest) if longest > context => {
                let name = &self.name;
                format!("the longest generation takes {longest} tokens, {name}'s context {context}")
            }
            Some(_) => return Ok(()),
        }))
    }
}
