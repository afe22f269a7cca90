//! `juror gsm8k --solve`: a local model answers the questions.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use serde_json::Value;

use super::super::batch::run as run_batch;
use super::super::chat::ThinkingArguments;
use super::super::engine::{AdapterArgument, EngineArguments, GpusArgument, JUDGE, ModelArguments};
use super::super::output::EndArguments;
use super::super::rows::{one_of, whole};
use super::super::sampling::{SAMPLING, refuse_chance};
use super::super::{DONE, Failure, INCOMPLETE, OrFail, say};
use juror_data::LineLimit;
use juror_data::journal::Identity;
use juror_data::output::OutputFile;
use juror_engine::engine::Sampling;
use juror_eval::gsm8k::exemplars::Exemplar;
use juror_eval::gsm8k::solver::{Configuration, Solver};
use juror_eval::gsm8k::test_set::TestSet;
use juror_judge::batch::run::Requests;

const SOLVER: &str = "Solver (--solve)";

/// Temperature of several samples.
const TEMPERATURE: f64 = 0.7;

const MOST_SAMPLES: i64 = 128;

/// How a local model is asked.
#[derive(Debug, Args)]
pub(super) struct SolveArguments {
    /// Have a local model answer the questions of --data, then score its responses
    #[arg(long, requires_all = ["model", "output", "data"], help_heading = SOLVER)]
    pub(super) solve: bool,
    /// The solver, as for `juror judge`
    #[arg(short, long, value_name = "MODEL", requires = "solve", value_parser = crate::cli::model_name::parse, help_heading = JUDGE)]
    model: Option<String>,
    #[command(flatten)]
    adapter: AdapterArgument,
    /// How it is asked
    #[arg(long, value_name = "NAME", default_value = "5-shot", value_parser = configuration(), help_heading = SOLVER)]
    config: Configuration,
    /// Worked examples in place of the built-in ones: rows of `question` and `answer`, as GSM8K's training set [default: ten made-up
    /// problems of juror's own]
    #[arg(long, value_name = "FILE", help_heading = SOLVER)]
    pub(super) exemplars: Option<PathBuf>,
    /// Where the responses go, as rows that `juror gsm8k` and `juror judge` read
    #[arg(short, long, value_name = "FILE", requires = "solve", help_heading = SOLVER)]
    pub(super) output: Option<PathBuf>,
    /// Ask the first N questions only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = SOLVER)]
    limit: Option<u64>,
    /// Another text that ends a response, besides `Question:`, `</s>`, `<|im_end|>`, and in chains of thought `Q:`. May be given several times
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = SOLVER)]
    stop: Vec<String>,
    /// Throw away what an earlier run with other settings left in the journal
    #[arg(long, help_heading = SOLVER)]
    restart: bool,
    #[command(flatten)]
    end: EndArguments,

    #[command(flatten)]
    place: ModelArguments,
    #[command(flatten)]
    gpus: GpusArgument,
    #[command(flatten)]
    thinking: ThinkingArguments,
    /// Responses to each question
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST_SAMPLES), help_heading = SAMPLING)]
    samples: u32,
    /// 0 takes the likeliest token [default: 0; with several samples 0.7]
    #[arg(
        long,
        value_name = "T",
        allow_negative_numbers = true,
        help_heading = SAMPLING
    )]
    temperature: Option<f64>,
    /// Choose among the likeliest tokens that make up this share
    #[arg(long, value_name = "P", default_value_t = 1.0, allow_negative_numbers = true, help_heading = SAMPLING)]
    top_p: f64,
    /// Seed of every random choice
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = whole(0, u64::MAX), help_heading = SAMPLING)]
    seed: u64,
    /// Longest response
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=1 << 20), help_heading = SAMPLING)]
    max_new_tokens: u64,
    #[command(flatten)]
    engine: EngineArguments,
}

fn configuration() -> impl TypedValueParser<Value = Configuration> {
    one_of(Configuration::ALL.map(|one| (one.name(), "", one)))
}

/// Has the model answer the questions of `set`. Returns the exit code, and where the responses are, unless the run was interrupted.
pub(super) fn run(
    arguments: &SolveArguments,
    out: Option<OutputFile>,
    set: &TestSet,
) -> Result<(u8, Option<PathBuf>), Failure> {
    let (Some(model), Some(out)) = (&arguments.model, out) else {
        bail_usage!("--solve needs --model and -o");
    };
    let solver = arguments.solver(model)?;
    let settings = run_batch::AnswerSettings {
        out,
        model: model.clone(),
        adapter: &arguments.adapter,
        place: &arguments.place,
        gpus: &arguments.gpus,
        thinking: &arguments.thinking,
        engine: arguments.engine,
        protocol: Identity {
            name: format!("gsm8k {}", solver.configuration.name()),
            hash: solver.hash(),
        },
        max_new_tokens: arguments.max_new_tokens as usize,
        seed: arguments.seed,
        raw: false,
        max_line: LineLimit::DEFAULT,
        restart: arguments.restart,
    };
    let leaked = solver.leaked(set);
    if leaked > 0 {
        say(&format!(
            "note: {leaked} of the exemplars are questions of {}: the model is shown their answers",
            set.identity.file
        ));
    }
    let limit = arguments.limit.map_or(usize::MAX, |limit| limit as usize);
    let asked: Vec<(String, String, Vec<String>)> = set
        .samples
        .iter()
        .take(limit)
        .map(|sample| {
            let references = sample.references().map(str::to_owned).collect();
            (sample.id.clone(), sample.question.clone(), references)
        })
        .collect();
    let requests = asked.iter().enumerate();
    let requests = requests.map(|(at, (_, question, _))| solver.request(at, question));
    let mut run = settings.resolve(Requests::Made(requests.collect()))?;
    if solver.configuration == Configuration::Chat && run.model.chat.is_none() {
        bail_usage!("{model} has no chat template: ask it under another --config, as 8-shot-cot");
    }
    let made = serde_json::to_value(solver.made()).or_fail()?;
    run.shape = Some(Box::new(move |at, output: Value| {
        let Some((id, question, references)) = asked.get(at) else {
            return output;
        };
        let references: Vec<&str> = references.iter().map(String::as_str).collect();
        solver.row(id, question, &references, &made, &output)
    }));
    let code = run_batch::execute(&run, "questions", arguments.end)?;
    let ended = matches!(code, DONE | INCOMPLETE);
    Ok((code, ended.then(|| run.out.path().to_owned())))
}

impl SolveArguments {
    fn solver(&self, model: &str) -> Result<Solver, Failure> {
        let shots = self.config.shots();
        let several = self.samples > 1;
        let temperature = self
            .temperature
            .unwrap_or(if several { TEMPERATURE } else { 0.0 });
        Sampling {
            temperature,
            top_p: self.top_p,
            ..Sampling::GREEDY
        }
        .validate()
        .or_usage()?;
        if temperature == 0.0 {
            let for_chance = [("--top-p", self.top_p < 1.0)];
            refuse_chance(("--samples", self.samples), &for_chance).or_usage()?;
        }
        let (exemplars, exemplars_source) = match &self.exemplars {
            Some(path) if shots == 0 => {
                bail_usage!(
                    "--exemplars {} changes nothing under --config {}, which shows none: leave one of them out",
                    path.display(),
                    self.config.name()
                );
            }
            Some(path) => (
                Exemplar::read(path, shots)?,
                format!("the first {shots} rows of {}", path.display()),
            ),
            None => {
                let mut own = Exemplar::built_in()?;
                own.truncate(shots);
                (own, "built into juror, made up, none of GSM8K's".to_owned())
            }
        };
        Ok(Solver {
            model: model.to_owned(),
            configuration: self.config,
            exemplars,
            exemplars_source,
            samples: self.samples,
            temperature,
            top_p: self.top_p,
            max_new_tokens: self.max_new_tokens,
            seed: self.seed,
            more_stops: self.stop.clone(),
        })
    }
}
