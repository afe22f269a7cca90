//! What `juror judge` is told.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};

use crate::checkpoint::ModelSource;
use crate::cli::EXIT_CODES;
use crate::cli::chat::ChatArguments;
use crate::cli::columns::ColumnArguments;
use crate::cli::engine::{EngineArguments, JUDGE, ModelArguments};
use crate::dataset::{
    ColumnMap, Field, LineLimit, Needs, RubricNeed, Shard, ShardError, read_text,
};
use crate::judge::{RulesMode, default_protocol};
use crate::protocol::{self, FieldName, PromptTemplate, Protocol};
use crate::reward::RewardPolicy;
use crate::rubric::Rubric;
use crate::rules::{Config, RulesProfile};

/// Judge rollouts: one verdict and reward for each.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(in crate::cli) struct JudgeArguments {
    /// JSONL, JSON, CSV, TSV or Parquet files (also .gz or .zst), folders of them, or `-` for standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    pub(super) inputs: Vec<PathBuf>,
    /// Where the verdicts go; standard output, without a journal, if not given
    #[arg(short, long, value_name = "OUT.jsonl")]
    pub(super) output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) judge: JudgeChoice,
    #[command(flatten)]
    pub(super) model: ModelArguments,
    /// Several NVIDIA GPUs by their numbers, as `0,1`: one engine for each, all fed from one queue
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "device",
        help_heading = JUDGE
    )]
    pub(super) gpus: Vec<usize>,
    /// Several judges, from a TOML file: each judges everything, and their majority decides
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["model", "cascade"], help_heading = JUDGE)]
    pub(super) panel: Option<PathBuf>,
    /// Two judges: the second is asked where the first is unsure
    #[arg(long, value_name = "SMALL,LARGE", value_delimiter = ',', num_args = 1, conflicts_with = "model", help_heading = JUDGE)]
    pub(super) cascade: Vec<String>,
    /// With --cascade: the probabilities of True at which the first judge is unsure, as `0.1..0.9`
    #[arg(long, value_name = "LOW..HIGH", value_parser = parse_range, requires = "cascade", help_heading = JUDGE)]
    pub(super) escalate: Option<(f64, f64)>,
    /// Judge samples outside the judge's own domain too, instead of giving them the status `out_of_domain`
    #[arg(long, help_heading = JUDGE)]
    pub(super) force_domain: bool,
    /// Ask for the judge's reason too; without it a generation ends once the verdict is known
    #[arg(long, help_heading = JUDGE)]
    pub(super) reason: bool,

    /// Let the judge write its answer freely, as in published figures: without it the verdict's known text is put in, and only
    /// True or False, or a label, is chosen
    #[arg(long, conflicts_with_all = ["decide_only", "thinking_budget"], help_heading = JUDGE)]
    pub(super) free: bool,
    /// End each answer as soon as the reward is known
    #[arg(long, conflicts_with = "reason", help_heading = JUDGE)]
    pub(super) decide_only: bool,
    /// End the judge's thinking after N tokens and go on with the verdict
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = JUDGE)]
    pub(super) thinking_budget: Option<u32>,

    #[command(flatten)]
    pub(super) columns: ColumnArguments,
    /// Keys of each row that go into its verdict lines, under `input`; `all` for every key
    #[arg(
        long,
        value_name = "KEY",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    pub(super) keep: Vec<String>,
    /// Set bad lines aside in OUT.rejected.jsonl instead of stopping before anything is judged
    #[arg(long, requires = "output", help_heading = "Input")]
    pub(super) skip_bad: bool,
    /// Longest line that is read; a longer one is a bad line
    #[arg(long, value_name = "N", default_value_t = LineLimit::DEFAULT.0, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Input")]
    pub(super) max_line_bytes: u32,
    /// Judge the first N samples only
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = some_samples,
        help_heading = "Input"
    )]
    pub(super) limit: Option<usize>,
    /// Judge one of n parts of the input, by the hash of the id; i counts from 0. `auto` asks SLURM's or Kubernetes' variables.
    /// `{shard}` in OUT becomes `i-of-n`
    #[arg(long, value_name = "i/n|auto", value_parser = parse_shard, help_heading = "Input")]
    pub(super) shard: Option<Shard>,

    /// Generations for each sample
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = SAMPLING)]
    pub(super) trials: u32,
    /// Seed of every random choice
    #[arg(
        long,
        value_name = "S",
        default_value_t = 0,
        allow_negative_numbers = true,
        help_heading = SAMPLING
    )]
    pub(super) seed: u64,
    /// 0 takes the likeliest token [default: the model's recommendation, else 0; with several trials 0.7]
    #[arg(
        long,
        value_name = "T",
        allow_negative_numbers = true,
        help_heading = SAMPLING
    )]
    pub(super) temperature: Option<f64>,
    /// Choose among the K likeliest tokens; 0 for all
    #[arg(long, value_name = "K", help_heading = SAMPLING)]
    pub(super) top_k: Option<usize>,
    /// Choose among the likeliest tokens that make up this share
    #[arg(
        long,
        value_name = "P",
        allow_negative_numbers = true,
        help_heading = SAMPLING
    )]
    pub(super) top_p: Option<f64>,
    /// Choose among tokens at least this likely, compared with the likeliest
    #[arg(
        long,
        value_name = "P",
        allow_negative_numbers = true,
        help_heading = SAMPLING
    )]
    pub(super) min_p: Option<f64>,
    /// Longest completion, thinking included [default: the model's recommendation, else the protocol's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 20), help_heading = SAMPLING)]
    pub(super) max_new_tokens: Option<u64>,

    /// What the rule-based verifier does: give the outcome where the judge is unreadable, go first and spare the model
    /// what is plainly wrong, judge alone without a model, or nothing
    #[arg(long, value_enum, default_value_t, help_heading = "Verdict")]
    pub(super) rules: RulesArgument,
    /// Under --rules first: judge this share of what the rules find wrong all the same, as `5%` or `0.05`, and say how often
    /// the judge finds it right. With --cascade: ask the second judge about this share of what the first is sure of
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = "Verdict")]
    pub(super) audit: Option<f64>,
    /// How the rules find and compare final answers: strict (what is mathematically true), compat (as Math-Verify
    /// 0.9.0), gsm8k (plain numbers only), or GSM8K's official, strict-match, flexible-extract or multi
    #[arg(
        long,
        value_name = "PROFILE",
        default_value_t,
        help_heading = "Verdict"
    )]
    pub(super) rules_profile: RulesProfile,
    /// Settings of the rules under strict and compat, by Math-Verify's names, for one `{"float_rounding": 2}`
    #[arg(long, value_name = "JSON", value_parser = crate::cli::verify::parse_config, help_heading = "Verdict")]
    pub(super) rules_config: Option<Config>,
    /// What a verdict is worth: process-outcome (1 only if both hold), outcome (the final answer alone), perfect-bonus (0.9, and 1
    /// only for perfect work), soft (the product of the judge's probabilities), score (of a protocol that gives one), or weights,
    /// as `process=0.3,outcome=0.7` [default: process-outcome, outcome or score, by what the protocol judges]
    #[arg(long, value_name = "POLICY", help_heading = "Verdict")]
    pub(super) reward: Option<RewardPolicy>,
    /// No reward above 0 where the process is not known to be right, whatever --reward says
    #[arg(long, help_heading = "Verdict")]
    pub(super) require_process: bool,
    /// How often the judge is right that gives a probability, from `juror calibrate`: for --reward soft and --min-confidence
    #[arg(long, value_name = "FILE", help_heading = "Verdict")]
    pub(super) calibration: Option<PathBuf>,
    /// Give a verdict the status `unsure`, without a reward, where the judge gives its process or its outcome a calibrated
    /// probability below P (0.5 to 1)
    #[arg(long, value_name = "P", value_parser = parse_probability, help_heading = "Verdict")]
    pub(super) min_confidence: Option<f64>,
    /// Add the prompt's and the completion's text and token ids to each line
    #[arg(long, help_heading = "Verdict")]
    pub(super) raw: bool,

    /// Say what would be judged, show the first prompt, and stop
    #[arg(long, help_heading = "Run")]
    pub(super) dry_run: bool,
    /// Keep the judge's answers in a folder, and take those that other runs have left there; any number of processes may share it
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub(super) cache: Option<PathBuf>,
    /// What --cache may hold, as `500MB` or `20GB`; beyond it the answers go that were not used for longest [default: 10GB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "cache", help_heading = "Run")]
    pub(super) cache_size: Option<u64>,
    /// Throw away what an earlier run with other settings left in the journal
    #[arg(long, help_heading = "Run")]
    pub(super) restart: bool,
    /// Replace OUT though it is not the output of an earlier run
    #[arg(long, requires = "output", help_heading = "Run")]
    pub(super) force: bool,
    /// Write the summary as JSON too
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(super) summary_json: Option<PathBuf>,
    /// Write what the trials of each sample say together, one JSON line a sample: majorities, votes, mean reward
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(super) consensus: Option<PathBuf>,
    /// Write the samples on which the trials disagree (0 < C < 1), as rows that can be judged again
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(super) hard: Option<PathBuf>,
    /// Give each verdict an `advantage`: its reward less the mean of its question's, by their standard deviation
    #[arg(
        long,
        requires = "output",
        conflicts_with = "shard",
        help_heading = "Verdict"
    )]
    pub(super) advantages: bool,
    /// Print errors only
    #[arg(short, long, help_heading = "Run")]
    pub(super) quiet: bool,

    #[command(flatten)]
    pub(super) engine: EngineArguments,
}

fn parse_shard(text: &str) -> Result<Shard, ShardError> {
    if text == "auto" {
        Shard::from_environment(|name| std::env::var(name).ok())
    } else {
        Shard::parse(text)
    }
}

fn parse_probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(probability) if (0.5..=1.0).contains(&probability) => Ok(probability),
        _ => Err("must be a number from 0.5 to 1".into()),
    }
}

/// `5%` or `0.05`.
fn parse_share(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(share) if share > 0.0 && share <= scale => Ok(share / scale),
        _ => Err("must be a share above 0 and up to 1, as `0.05` or `5%`".into()),
    }
}

/// `0.1..0.9`.
fn parse_range(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once("..");
    let ends = ends.and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    match ends {
        Some((low, high)) if 0.0 <= low && low < high && high <= 1.0 => Ok((low, high)),
        _ => Err("must be two probabilities, as `0.1..0.9`".into()),
    }
}

/// `500MB`, `20GB` or bytes.
pub(in crate::cli) fn parse_size(text: &str) -> Result<u64, String> {
    let units = [
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("B", 1.0),
    ];
    let upper = text.trim().to_uppercase();
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| Some((upper.strip_suffix(name)?, *unit)))
        .unwrap_or((&upper, 1.0));
    match number.trim().parse::<f64>() {
        Ok(number) if number >= 0.0 && number * unit < 1e18 => Ok((number * unit) as u64),
        _ => Err("must be a size, as `500MB` or `20GB`".into()),
    }
}

/// Heading of what chooses tokens.
pub(in crate::cli) const SAMPLING: &str = "Sampling";

fn some_samples(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err(
            "nothing would be judged: give 1 or more; --dry-run counts the samples and judges none"
                .into(),
        ),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

fn after_help() -> String {
    format!(
        "\
Each row holds a question, a reference answer and a response. While the run goes on, every finished
verdict is in OUT.journal; stop it anywhere, run the same command again, and it goes on. At the end
OUT holds all verdicts in the order of the input.

{EXIT_CODES}"
    )
}

/// Which judge: a model under a protocol.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct JudgeChoice {
    /// `tiny` (built in, no download), a folder with config.json, tokenizer.json and *.safetensors, a GGUF file, an id on the Hugging
    /// Face hub (`org/name`, `org/name/FILE.gguf`, with `@revision` or without), or an alias that `juror models list --known` shows
    #[arg(
        short,
        long,
        value_name = "MODEL",
        default_value = "tiny",
        help_heading = JUDGE
    )]
    pub(in crate::cli) model: String,
    /// What the judge is asked, and how its answer is read: a name that `juror prompts list` shows, or your own file
    /// [default: that of a known judge, else prime]
    #[arg(long, value_name = "NAME|FILE.toml", help_heading = JUDGE)]
    pub(in crate::cli) protocol: Option<String>,
    /// Your own prompt text, with `{{question}}`, `{{student_answer}}`, `{{reference_answer}}` and, if you like,
    /// `{{few_shots}}`
    #[arg(long, value_name = "FILE", help_heading = JUDGE)]
    pub(in crate::cli) prompt: Option<PathBuf>,
    /// Text for the prompt's `{{few_shots}}`
    #[arg(long, value_name = "FILE", help_heading = JUDGE)]
    pub(in crate::cli) few_shots: Option<PathBuf>,
    /// Criteria for every response, a TOML file; `--protocol rubric` without it takes each row's own
    #[arg(long, value_name = "FILE.toml", help_heading = JUDGE)]
    pub(in crate::cli) rubric: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) chat: ChatArguments,
}

impl JudgeChoice {
    /// The protocol that is named, if one is: to be found at fault before a model is fetched.
    pub(in crate::cli) fn named_protocol(&self) -> anyhow::Result<Option<Arc<dyn Protocol>>> {
        let by_rubric = self.rubric.is_some().then_some("rubric");
        let name = self.protocol.as_deref().or(by_rubric);
        Ok(name.map(protocol::resolve).transpose()?)
    }

    /// What rows are read for under a protocol, where `columns` says which key holds what.
    pub(in crate::cli) fn columns(
        &self,
        columns: &ColumnArguments,
        protocol: &dyn Protocol,
    ) -> anyhow::Result<ColumnMap> {
        let columns = columns.map()?;
        let needs_rubric = protocol.needs_rubric();
        let rubric = match &self.rubric {
            None if needs_rubric => RubricNeed::OfRow,
            None => RubricNeed::None,
            Some(_) if !needs_rubric => bail!(
                "--rubric has no meaning under protocol {}, which does not judge by criteria: use --protocol rubric",
                protocol.name()
            ),
            Some(path) => {
                let rubric = Rubric::from_toml(&read(path)?);
                RubricNeed::Of(Arc::new(
                    rubric.with_context(|| path.display().to_string())?,
                ))
            }
        };
        let needs = Needs {
            reference: protocol.needs_reference(),
            steps: protocol.yields().first_error,
            rubric,
        };
        for (field, is_read) in [
            (Field::Steps, needs.steps),
            (Field::Rubric, needs.rubric == RubricNeed::OfRow),
        ] {
            if columns.names(field) && !is_read {
                bail!(
                    "--columns {field}=… changes nothing here: under protocol {} no {field} is read from the rows",
                    protocol.name()
                );
            }
        }
        Ok(columns.with_needs(needs))
    }

    /// The protocol that is named, else the model's own, and its prompt text.
    pub(in crate::cli) fn prompt_for(
        &self,
        named: Option<Arc<dyn Protocol>>,
        source: Option<&ModelSource>,
    ) -> anyhow::Result<(Arc<dyn Protocol>, PromptTemplate)> {
        let protocol = match (named, source) {
            (Some(protocol), _) => protocol,
            (None, Some(source)) => protocol::resolve(default_protocol(source)?)?,
            (None, None) => protocol::resolve("prime")?,
        };
        let mut template = match (&self.prompt, protocol.template_text()) {
            (Some(path), _) => {
                PromptTemplate::parse(&read(path)?).with_context(|| path.display().to_string())?
            }
            (None, Some(text)) => {
                PromptTemplate::parse(text).with_context(|| protocol.name().to_owned())?
            }
            (None, None) => bail!(
                "protocol {} comes without its prompt text: give one with --prompt FILE",
                protocol.name()
            ),
        };
        if protocol.needs_rubric() != template.has(FieldName::Rubric) {
            let name = protocol.name();
            if protocol.needs_rubric() {
                bail!("the prompt has no `{{{{ rubric }}}}`, and protocol {name} judges by one");
            }
            bail!("the prompt has `{{{{ rubric }}}}`, and protocol {name} judges by none");
        }
        if let Some(path) = &self.few_shots {
            template = template
                .with_few_shots(&read(path)?)
                .with_context(|| path.display().to_string())?;
        }
        Ok((protocol, template))
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    read_text(path).with_context(|| format!("could not read {}", path.display()))
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum RulesArgument {
    #[default]
    Fallback,
    First,
    Only,
    Off,
}

impl From<RulesArgument> for RulesMode {
    fn from(argument: RulesArgument) -> Self {
        match argument {
            RulesArgument::Fallback => Self::Fallback,
            RulesArgument::First => Self::First,
            RulesArgument::Only => Self::Only,
            RulesArgument::Off => Self::Off,
        }
    }
}
