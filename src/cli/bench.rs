//! `juror bench`

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::anyhow;
use candle_core::Device;
use clap::Args;
use serde_json::{Value, json};

use super::columns::ColumnArguments;
use super::download;
use super::engine::{EngineArguments, JUDGE, ModelArguments};
use super::inputs::Inputs;
use super::judge::JudgeChoice;
use super::output::{self, ForceArgument};
use super::progress::RunProgress;
use super::{DONE, Failure, OrFail, counted_are, say};
use crate::bench::session::{Bench, COMMIT, Subject, features, machine};
use crate::bench::{Job, LengthDistribution, Report, Workload, workload};
use juror_data::output::Mark;
use juror_data::{LineLimit, LoadOptions, load};
use juror_engine::checkpoint::{ModelConfig, ModelSource, Weights};
use juror_engine::engine::{Drafts, Sampling};
use juror_engine::model::cpu::instructions::InstructionSet;
use juror_engine::model::describe_device;
use juror_hub::Want;
use juror_judge::catalog::shapes;
use juror_judge::judge::EngineOptions;
use juror_judge::judge::JudgeText;
use juror_judge::judge::build::open_devices;

const WORKLOAD: &str = "Workload";

/// Measure how fast a judge is, on any model or on random weights
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct BenchArguments {
    /// Rollouts whose prompts are used instead of made-up ones, as `juror judge` reads them
    #[arg(value_name = "INPUT", conflicts_with_all = ["synthetic", "template_tokens", "input_tokens", "group_size"])]
    inputs: Vec<PathBuf>,

    /// Longest line of INPUT that is read
    #[arg(long, value_name = "N", default_value_t = LineLimit::DEFAULT.0, value_parser = clap::value_parser!(u32).range(1..), help_heading = WORKLOAD)]
    max_line_bytes: u32,

    #[command(flatten)]
    judge: JudgeChoice,
    /// Random weights of a shape: qwen3-0.6b, qwen3-4b, qwen3-8b, qwen3-30b-a3b, llama-3.1-8b, llama-3.3-70b, each with -fp8 or -awq for `--quantize stored`; or a config.json
    #[arg(long, value_name = "SHAPE", conflicts_with_all = ["model", "adapter", "protocol", "prompt", "few_shots", "rubric"], help_heading = JUDGE)]
    synthetic: Option<String>,
    #[command(flatten)]
    model: ModelArguments,
    /// Instruction set of the CPU's kernels, to compare: avx512, avx2, neon or plain [default: the best there is]
    #[arg(long, value_name = "SET", hide = true)]
    instructions: Option<InstructionSet>,

    /// Samples; of INPUT the first N [default: 64; of INPUT all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = WORKLOAD)]
    samples: Option<u64>,
    /// Tokens that all prompts begin with
    #[arg(long, value_name = "N", default_value_t = 1300, value_parser = clap::value_parser!(u32).range(..1 << 20), help_heading = WORKLOAD)]
    template_tokens: u32,
    /// A sample's own tokens: 300, a range 200-4000, or lognormal:MEDIAN,DEVIATION
    #[arg(long, value_name = "LENGTH", default_value = "300", help_heading = WORKLOAD)]
    input_tokens: LengthDistribution,
    /// Tokens to generate, whatever the model says; 0 for the first token's probabilities alone
    #[arg(long, value_name = "LENGTH", default_value = "60", help_heading = WORKLOAD)]
    output_tokens: LengthDistribution,
    /// Generations for each sample
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = WORKLOAD)]
    trials: u32,
    /// Samples of one question: they share half of the shortest one's own tokens
    #[arg(long, value_name = "G", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = WORKLOAD)]
    group_size: u32,
    /// Seed of lengths, tokens, weights and draws
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = WORKLOAD)]
    seed: u64,
    /// 0 takes the likeliest token
    #[arg(long, value_name = "T", default_value_t = 0.0, allow_negative_numbers = true, help_heading = WORKLOAD)]
    temperature: f64,

    #[command(flatten)]
    engine: EngineArguments,

    /// Runs; the one with the median verdicts/s is reported
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Report")]
    runs: u32,
    /// Leave out where the time goes: on a GPU that takes a second run
    #[arg(long, help_heading = "Report")]
    no_breakdown: bool,
    /// Write the figures as JSON; `-` for standard output, the table then goes to standard error
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    json: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgument,
}

const AFTER_HELP: &str = "\
All generations are handed in at once and run to their full length: an end-of-sequence token ends
nothing. The template is in the prefix cache before the clock starts. JSON fields have the names of
vLLM's serving benchmark where it has one.";

pub(super) fn run(arguments: &BenchArguments) -> Result<u8, Failure> {
    let sampling = Sampling {
        temperature: arguments.temperature,
        ..Sampling::GREEDY
    };
    sampling.validate().or_usage()?;
    if let Some(set) = arguments.instructions {
        set.choose().or_usage()?;
    }
    let mut outputs = output::outputs(arguments.force);
    let json = output::open_json(&mut outputs, arguments.json.as_ref(), Mark::BENCH)?;
    let mut options = arguments.engine.options(&arguments.model);
    if options.drafts == Drafts::Auto {
        // Made-up prompts, and texts past their ends, repeat themselves as no judge does.
        options.drafts = Drafts::Off;
    }
    let subject = subject(arguments, &options)?;
    subject.check().or_usage()?;
    let workload = describe(arguments, &subject);
    say(&format!(
        "{}: {:.0} M parameters, {}; {workload}",
        subject.name,
        subject.config.parameters() as f64 / 1e6,
        subject.precision
    ));
    let bench = Bench::load(subject, &options)?;
    let config = bench.engine_config(&options);
    let runs = arguments.runs as usize;
    let (seed, breakdown) = (arguments.seed, !arguments.no_breakdown);
    let outputs = bench.subject.jobs.iter().map(|job| job.output as u64).sum();
    let mut reports: Vec<Report> = Vec::new();
    for at in 1..=runs {
        let mut progress = RunProgress::new(format!("run {at} of {runs}"), outputs);
        let measured = bench.run(&config, sampling, seed, breakdown, &mut |done| {
            progress.update(done);
        });
        progress.finish();
        reports.push(measured?);
    }
    let mut order: Vec<&Report> = reports.iter().collect();
    order.sort_by(|a, b| a.verdicts_per_second.total_cmp(&b.verdicts_per_second));
    let Some(report) = order.get(runs / 2).copied() else {
        return Err(anyhow!("nothing was measured")).or_fail();
    };
    let rows = report.rows().into_iter();
    let rows = rows.map(|(what, figure)| format!("{what:22} {figure}\n"));
    let table = rows.collect::<Vec<_>>().concat();
    let document = match arguments.json {
        Some(_) => Some(document(arguments, &bench, &workload, report, &reports).or_fail()?),
        None => None,
    };
    output::print_with_json(&table, document.as_ref(), json.as_ref())?;
    Ok(DONE)
}

fn inputs(arguments: &BenchArguments) -> impl Iterator<Item = String> {
    let inputs = arguments.inputs.iter();
    inputs.map(|path| path.display().to_string())
}

/// Everything that `--json` writes, with the figures of the median run at the top.
fn document(
    arguments: &BenchArguments,
    bench: &Bench,
    workload: &str,
    report: &Report,
    reports: &[Report],
) -> serde_json::Result<Value> {
    let subject = &bench.subject;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let devices: Vec<String> = subject.devices.iter().map(describe_device).collect();
    // What INPUT decides is left out with it.
    let made_up = arguments.inputs.is_empty();
    let mut document = json!({
        // Increased when a field is removed or changes its meaning.
        "schema_version": 1,
        "juror": env!("CARGO_PKG_VERSION"),
        "commit": COMMIT,
        "features": features(),
        "command": std::env::args().collect::<Vec<_>>(),
        "date": since.map_or(0, |since| since.as_secs()),
        "machine": machine(),
        "device": devices.join(", "),
        "model_id": subject.name,
        "parameters": subject.config.parameters(),
        "precision": subject.precision.to_string(),
        "load_seconds": bench.load_seconds,
        "num_prompts": subject.jobs.len(),
        "workload_text": workload,
        "workload": {
            "inputs": inputs(arguments).collect::<Vec<_>>(),
            "generations": subject.jobs.len(),
            "template_tokens": subject.template.len(),
            "input_tokens": made_up.then(|| arguments.input_tokens.to_string()),
            "output_tokens": arguments.output_tokens.to_string(),
            "trials": arguments.trials,
            "group_size": made_up.then_some(arguments.group_size),
            "seed": arguments.seed,
            "temperature": arguments.temperature,
        },
    });
    let figures = serde_json::to_value(report)?;
    if let (Value::Object(all), Value::Object(figures)) = (&mut document, figures) {
        all.extend(figures);
        if reports.len() > 1 {
            all.insert("runs".to_owned(), serde_json::to_value(reports)?);
        }
    }
    Ok(document)
}

fn describe(arguments: &BenchArguments, subject: &Subject) -> String {
    let jobs = subject.jobs.len();
    if arguments.inputs.is_empty() {
        format!(
            "{jobs} generations, {} template + {} own tokens in, {} out",
            arguments.template_tokens, arguments.input_tokens, arguments.output_tokens
        )
    } else {
        format!(
            "{jobs} generations on the prompts of {}, {} tokens out",
            inputs(arguments).collect::<Vec<_>>().join(" "),
            arguments.output_tokens
        )
    }
}

/// The model and what is asked of it.
fn subject(arguments: &BenchArguments, options: &EngineOptions) -> Result<Subject, Failure> {
    let devices = open_devices(&[arguments.model.device], options)?;
    let devices = devices.into_iter().flat_map(|devices| devices.all);
    let devices: Vec<Device> = devices.collect();
    let device = devices.first().cloned().unwrap_or(Device::Cpu);
    let source =
        |want| download::resolve_adapted(&arguments.judge.model, &arguments.judge.adapter, want);
    let (name, config, weights) = if let Some(shape) = &arguments.synthetic {
        let config = shapes::find(shape).or_usage()?;
        let weights = Weights::random(&config, arguments.seed);
        (format!("random {shape}"), config, weights)
    } else {
        let source = source(Want::Everything)?;
        let config = ModelConfig::load(&source)?;
        let weights = Weights::open(&source)?;
        let config = weights.settle(&config)?.into_owned();
        (source.to_string(), config, weights)
    };
    let precision = options.precision.resolve(&device, &weights)?;
    let (template, jobs) = if arguments.inputs.is_empty() {
        let workload = Workload {
            samples: arguments.samples.unwrap_or(64) as usize,
            template: arguments.template_tokens as usize,
            input: arguments.input_tokens,
            output: arguments.output_tokens,
            trials: arguments.trials as usize,
            group: arguments.group_size as usize,
            seed: arguments.seed,
        };
        workload.check().map_err(anyhow::Error::msg).or_usage()?;
        let template = workload.template_tokens(config.vocab);
        (template, workload.jobs(config.vocab))
    } else {
        real_jobs(arguments, &source(Want::Description)?)?
    };
    Ok(Subject {
        name,
        part: options.part(&config)?,
        config,
        weights,
        device,
        devices,
        precision,
        template,
        jobs,
    })
}

/// The prompts that `juror judge` would write for a file of rollouts.
fn real_jobs(
    arguments: &BenchArguments,
    source: &ModelSource,
) -> Result<(Vec<u32>, Vec<Job>), Failure> {
    let named = arguments.judge.named_protocol().or_usage()?;
    let prompt = arguments
        .judge
        .prompt_for(named, Some(&source.clone().into()));
    let (protocol, template) = prompt.or_usage()?;
    let chat = arguments.judge.chat.settings(None).or_usage()?;
    let text = JudgeText::load_with(source, &protocol, &template, &chat).or_usage()?;
    arguments.judge.chat.check(&text).or_usage()?;
    let inputs = Inputs::fetch(&arguments.inputs)?;
    let columns = ColumnArguments::default();
    let columns = arguments.judge.prompt.columns(&columns, protocol.as_ref());
    let loaded = load(
        &inputs.paths,
        &LoadOptions {
            columns: columns.or_usage()?,
            limit: arguments.samples.map(|samples| samples as usize),
            max_line: LineLimit(arguments.max_line_bytes),
            ..LoadOptions::default()
        },
    )?;
    let mut jobs = Vec::new();
    let mut tokens = 0;
    let options = text.run_options(1);
    let shown = |sample| text.shown(sample, &options);
    let asked: Vec<_> = loaded.samples.iter().filter_map(shown).collect();
    let left_out = loaded.samples.len() - asked.len();
    if left_out > 0 {
        let left_out = counted_are(left_out, "sample");
        say(&format!(
            "note: {left_out} left out, as the judge is not asked about them"
        ));
    }
    for sample in asked {
        // Every generation has a token at least.
        let prompt = text.prompt(&sample, 1).or_fail()?.map_err(|tokens| {
            anyhow!(
                "the prompt of {} has {tokens} tokens, the model's context {}: leave it out",
                sample.id,
                text.context
            )
        });
        let prompt = prompt.or_usage()?;
        tokens += (prompt.len() + 1) as u64 * u64::from(arguments.trials);
        let checked = workload::check_tokens(tokens);
        checked.map_err(anyhow::Error::msg).or_usage()?;
        for _ in 0..arguments.trials {
            let (prompt, lengths) = (prompt.clone(), &arguments.output_tokens);
            let output = lengths.draw(arguments.seed, jobs.len() as u64, 0).max(1);
            jobs.push(Job { prompt, output });
        }
    }
    Ok((text.prompts.shared_prefix().to_vec(), jobs))
}
