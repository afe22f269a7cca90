//! What `juror judge` is told.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use clap::builder::ArgPredicate;

use crate::cli::EXIT_CODES;
use crate::cli::chat::ChatArguments;
use crate::cli::columns::ColumnArguments;
use crate::cli::endpoint::EndpointArguments;
use crate::cli::engine::{AdapterArgument, EngineArguments, GpusArgument, JUDGE, ModelArguments};
use crate::cli::join::JoinArguments;
use crate::cli::output::OutputArguments;
use crate::cli::output::RUN;
use crate::cli::prompt_choice::PromptChoice;
use crate::cli::rows::{RowsArguments, number, whole};
use crate::cli::rules::RulesArguments;
use crate::cli::rules::VERDICT;
use crate::cli::sampling::SamplingArguments;
use crate::cli::several::SeveralArguments;
use juror_judge::judge::{JudgeModel, OwnSolutions};
use juror_judge::protocol::{self, PromptTemplate, Protocol};
use juror_judge::reward::RewardPolicy;

/// Judge rollouts: one verdict and reward for each.
#[derive(Debug, Clone, Args)]
#[command(after_help = after_help())]
pub(in crate::cli) struct JudgeArguments {
    /// JSONL, JSON, CSV, TSV or Parquet files (also .gz or .zst), folders of them, data sets on the Hugging Face hub
    /// (`org/name:config:split`), or `-` for standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    pub(super) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) join: JoinArguments,
    /// The data sets of the hub among the inputs, once they are fetched.
    #[arg(skip)]
    pub(super) data_origins: Vec<String>,
    #[command(flatten)]
    pub(super) output: OutputArguments,

    #[command(flatten)]
    pub(super) judge: JudgeChoice,
    #[command(flatten)]
    pub(super) endpoint: EndpointArguments,
    #[command(flatten)]
    pub(super) model: ModelArguments,
    #[command(flatten)]
    pub(super) gpus: GpusArgument,
    /// Rank the responses to each question: every two are compared, in both orders [default protocol: pairwise]
    #[arg(long, alias = "compare", conflicts_with_all = ["panel", "cascade"], help_heading = JUDGE)]
    pub(super) rank: bool,
    /// Have the judge solve each question by itself before it sees a response, and show it its solution with the reference
    #[arg(long, requires = "output", conflicts_with_all = ["rank", "panel", "cascade", "dry_run"], help_heading = JUDGE)]
    pub(super) own_answer: bool,
    /// The solutions, once they are made.
    #[arg(skip)]
    pub(super) own_solutions: Option<Arc<OwnSolutions>>,
    #[command(flatten)]
    pub(super) several: SeveralArguments,

    #[command(flatten)]
    pub(super) columns: ColumnArguments,
    #[command(flatten)]
    pub(super) rows: RowsArguments,
    #[command(flatten)]
    pub(super) sampling: SamplingArguments,
    #[command(flatten)]
    pub(super) verdict: VerdictArguments,

    /// Score the verdicts against labels in the rows once all are there, as `juror eval` does
    #[arg(long, requires = "output", conflicts_with_all = ["rank", "dry_run"], help_heading = RUN)]
    pub(super) eval: bool,
    /// With --eval: which key of a row holds what, as in `juror eval`
    #[arg(long, value_name = "FIELD=KEY", value_delimiter = ',', requires = "eval", help_heading = RUN)]
    pub(super) label_columns: Vec<String>,
    /// Say what would be judged, show the first prompt, and stop
    #[arg(long, help_heading = RUN)]
    pub(super) dry_run: bool,
    /// Leave the samples as they are that a server's fault or a small engine kept an earlier run from judging, instead of asking again
    #[arg(long, requires = "output", conflicts_with_all = ["restart", "dry_run"], help_heading = RUN)]
    pub(super) no_retry_failed: bool,
    /// Keep the judge's answers in a folder, and take those that other runs have left there; any number of processes may share it
    #[arg(long, value_name = "DIR", help_heading = RUN)]
    pub(super) cache: Option<PathBuf>,
    /// What --cache may hold, as `500MB` or `20GB`; when it is larger, the least recently used files are deleted [default: 2GB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "cache", help_heading = RUN)]
    pub(super) cache_size: Option<u64>,

    #[command(flatten)]
    pub(super) engine: EngineArguments,
}

impl JudgeArguments {
    /// The same of one judge among several, whose verdicts go to `out`.
    pub(super) fn of_one(&self, out: PathBuf) -> Self {
        let mut one = self.clone();
        one.output.output = Some(out);
        one.output.summary_json = None;
        // What is left open is told of all judges together.
        one.output.end.allow_open = true;
        one
    }
}

/// How a judge answers, and what its verdicts are worth.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct VerdictArguments {
    /// Judge samples outside the judge's own domain too, instead of giving them the status `out_of_domain`
    #[arg(long, help_heading = JUDGE)]
    pub(in crate::cli) force_domain: bool,
    /// Ask for the judge's reason too; without it a generation ends once the verdict is known
    #[arg(long, help_heading = JUDGE)]
    pub(in crate::cli) reason: bool,
    /// Let the judge write its answer freely, as in published figures: without it the verdict's known text is put in, and only
    /// True or False, or a label, is chosen
    #[arg(long, conflicts_with_all = ["decide_only", "thinking_budget"], help_heading = JUDGE)]
    pub(in crate::cli) free: bool,
    /// End each answer as soon as the reward is known
    #[arg(long, conflicts_with = "reason", help_heading = JUDGE)]
    pub(in crate::cli) decide_only: bool,
    /// End the judge's thinking after N tokens and go on with the verdict
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, u32::MAX), help_heading = JUDGE)]
    pub(in crate::cli) thinking_budget: Option<u32>,
    #[command(flatten)]
    pub(in crate::cli) rules: RulesArguments,
    /// What a verdict is worth: process-outcome (1 only if both hold), outcome (the final answer alone), perfect-bonus (0.9, and 1
    /// only for perfect work), soft (the product of the judge's probabilities), score (of a protocol that gives one), parts (the share of the reference's parts
    /// "(a) …, (b) …" that the rules find right), or weights, as `process=0.3,outcome=0.7` [default: process-outcome, outcome or score, by what the protocol judges]
    #[arg(long, value_name = "POLICY", help_heading = VERDICT)]
    pub(in crate::cli) reward: Option<RewardPolicy>,
    /// No reward above 0 where the process is not known to be right, whatever --reward says
    #[arg(long, help_heading = VERDICT)]
    pub(in crate::cli) require_process: bool,
    /// Calibration of the judge's probabilities, as `juror calibrate` writes it: for --reward soft and --min-confidence
    #[arg(long, value_name = "FILE", help_heading = VERDICT)]
    pub(in crate::cli) calibration: Option<PathBuf>,
    /// Give a verdict the status `unsure`, without a reward, where the calibrated probability of the value that the judge chose,
    /// for the process or the outcome, is below P (0.5 to 1)
    #[arg(long, value_name = "P", value_parser = number(0.5..=1.0, "must be a number from 0.5 to 1"), help_heading = VERDICT)]
    pub(in crate::cli) min_confidence: Option<f64>,
    /// Add the prompt's and the completion's text and token ids to each line
    #[arg(long, help_heading = VERDICT)]
    pub(in crate::cli) raw: bool,
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
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct JudgeChoice {
    /// `tiny` (built in, no download), a folder with config.json, tokenizer.json and *.safetensors, a GGUF file, an id on the Hugging
    /// Face hub (`org/name`, `org/name/FILE.gguf`, with `@revision` or without), an alias (`juror models list --known`), or a server's
    /// model, `http://HOST:8000/v1#MODEL`
    #[arg(short, long, value_name = "MODEL", default_value = "tiny", default_value_if("endpoint", ArgPredicate::IsPresent, Some("")), value_parser = crate::cli::model_name::parse, help_heading = JUDGE)]
    pub(in crate::cli) model: String,
    #[command(flatten)]
    pub(in crate::cli) adapter: AdapterArgument,
    #[command(flatten)]
    pub(in crate::cli) prompt: PromptChoice,
    #[command(flatten)]
    pub(in crate::cli) chat: ChatArguments,
}

impl JudgeChoice {
    /// The protocol that is named, if one is: to be found at fault before a model is fetched.
    pub(in crate::cli) fn named_protocol(&self) -> anyhow::Result<Option<Arc<Protocol>>> {
        self.prompt.named_protocol()
    }

    /// The protocol that is named, else the model's own, and its prompt text.
    pub(in crate::cli) fn prompt_for(
        &self,
        named: Option<Arc<Protocol>>,
        model: Option<&JudgeModel>,
    ) -> anyhow::Result<(Arc<Protocol>, PromptTemplate)> {
        let protocol = match (named, model) {
            (Some(protocol), _) => protocol,
            (None, Some(model)) => protocol::resolve(model.default_protocol())?,
            (None, None) => protocol::resolve("prime")?,
        };
        self.prompt.with_template(protocol)
    }
}
