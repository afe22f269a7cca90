//! Several judges of one command: which they are, and what each is told.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, CommandFactory as _, FromArgMatches as _};
use serde::Deserialize;

use super::endpoint::EndpointArguments;
use super::engine::JUDGE;
use super::inputs::read;
use super::judge::{JudgeChoice, VerdictArguments};
use super::sampling::SamplingArguments;
use super::{Arguments, Command, Failure, OrFail};
use juror_engine::checkpoint::ModelConfig;
use juror_hub::Want;
use juror_judge::judge::cascade::{Cascade, CascadeReport};
use juror_judge::judge::panel::{Member, Panel, PanelRule};
use juror_judge::judge::{JudgeText, RulesMode};
use juror_judge::protocol::{Protocol, Yields};
use juror_judge::reward::RewardPolicy;

/// The probabilities of True at which a cascade's first judge is unsure, where the user does not say.
const UNSURE: (f64, f64) = (0.1, 0.9);

/// Several judges instead of one.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct SeveralArguments {
    /// Several judges, from a TOML file: each judges everything, and they vote
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["model", "adapter", "cascade"], help_heading = JUDGE)]
    pub(super) panel: Option<PathBuf>,
    /// Two judges: the second is asked where the first is unsure
    #[arg(long, value_name = "SMALL,LARGE", value_delimiter = ',', num_args = 1, value_parser = crate::cli::model_name::parse, conflicts_with_all = ["model", "adapter"], help_heading = JUDGE)]
    cascade: Vec<String>,
    /// With --cascade: the probabilities of True at which the first judge is unsure, as `0.1..0.9`
    #[arg(long, value_name = "LOW..HIGH", value_parser = parse_range, requires = "cascade", help_heading = JUDGE)]
    escalate: Option<(f64, f64)>,
}

#[derive(Debug, Clone)]
pub(super) struct CascadeChoice {
    /// The smaller and the larger.
    pub(super) models: [String; 2],
    pub(super) names: [String; 2],
    /// The probabilities of True at which the first is unsure, both included.
    pub(super) unsure: (f64, f64),
}

impl SeveralArguments {
    /// Whether one judge is asked and then another.
    pub(super) fn is_cascade(&self) -> bool {
        !self.cascade.is_empty()
    }

    pub(super) fn cascade(
        &self,
        verdict: &VerdictArguments,
    ) -> anyhow::Result<Option<CascadeChoice>> {
        let [small, large] = self.cascade.as_slice() else {
            if self.is_cascade() {
                bail!("--cascade takes two judges, as `small,large`");
            }
            return Ok(None);
        };
        if small.trim_end_matches('/') == large.trim_end_matches('/') {
            bail!("--cascade names {small} twice: name a smaller and a larger judge");
        }
        let mut names = [small, large].map(|model| short_name(model));
        if names[0] == names[1] {
            names = [1, 2].map(|place| format!("{}-{place}", names[0]));
        }
        if verdict.calibration.is_some() {
            bail!(
                "--calibration is of one judge, and --cascade asks two: give it without --cascade"
            );
        }
        if verdict.rules.rules == RulesMode::First && verdict.rules.audit.is_some() {
            bail!(
                "under --cascade, --audit draws from what the first judge is sure of, not from what the rules reject: give it \
                 without --rules first"
            );
        }
        Ok(Some(CascadeChoice {
            models: [small.clone(), large.clone()],
            names,
            unsure: self.escalate.unwrap_or(UNSURE),
        }))
    }
}

impl CascadeChoice {
    /// When the second judge is asked: `text` is of the first, whose verdicts are worth `policy`.
    pub(super) fn cascade(
        &self,
        text: &JudgeText,
        policy: RewardPolicy,
        verdict: &VerdictArguments,
        seed: u64,
    ) -> Cascade {
        Cascade {
            names: self.names.clone(),
            unsure: self.unsure,
            yields: text.protocol.yields(),
            policy,
            audit: verdict.rules.audit.unwrap_or(0.0),
            seed,
            report: CascadeReport::default(),
        }
    }

    /// Refuses a protocol whose verdicts nobody is unsure of.
    pub(super) fn check(protocol: &Protocol) -> anyhow::Result<()> {
        if protocol.form.has_odds() && !protocol.yields().score {
            return Ok(());
        }
        let name = &protocol.name;
        bail!(
            "--cascade has no meaning under protocol {name}: no probabilities are recorded of what it says"
        )
    }

    /// Refuses a server as the first judge that says no probabilities, for this reason.
    pub(super) fn check_first(model: &str, why_not: Option<&str>) -> anyhow::Result<()> {
        match why_not {
            None => Ok(()),
            Some(why) => {
                bail!("--cascade has no meaning with {model} as its first judge: {why}")
            }
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PanelFile {
    #[serde(default)]
    pub(super) rule: PanelRule,
    least_votes: Option<usize>,
    pub(super) judges: Vec<PanelJudge>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PanelJudge {
    model: String,
    /// In verdicts and files; left out, the last part of the model's name.
    #[serde(default)]
    pub(super) name: String,
    protocol: Option<String>,
    #[serde(default = "one")]
    pub(super) weight: f64,
    /// Further options of the command for this judge alone.
    #[serde(default)]
    options: Vec<String>,
}

fn one() -> f64 {
    1.0
}

impl PanelFile {
    pub(super) fn read(file: &Path, verdict: &VerdictArguments) -> anyhow::Result<Self> {
        let text = read(file)?;
        let at = || file.display().to_string();
        let mut panel: Self = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(1, |before| before.matches('\n').count() + 1);
            anyhow!("{}: line {line}: {}", at(), error.message())
        })?;
        if panel.judges.len() < 2 {
            bail!("{}: a panel has two judges or more", at());
        }
        let count = panel.judges.len();
        if panel
            .least_votes
            .is_some_and(|least| !(1..=count).contains(&least))
        {
            bail!(
                "{}: `least_votes` must be from 1 to {count}, the number of judges",
                at()
            );
        }
        for place in 0..count {
            let judge = &panel.judges[place];
            let (name, model) = (&judge.name, &judge.model);
            let given = if name.is_empty() { model } else { name };
            let name = short_name(given);
            if panel.judges[..place].iter().any(|other| other.name == name) {
                bail!(
                    "{}: two judges are called `{name}`: give each a `name` of its own",
                    at()
                );
            }
            if !judge.weight.is_finite() || judge.weight <= 0.0 {
                bail!("{}: the weight of `{name}` must be above 0", at());
            }
            panel.judges[place].name = name;
        }
        if verdict.calibration.is_some() {
            bail!(
                "--calibration is of one judge: give each its own, as `options = [\"--calibration\", \"FILE\"]`"
            );
        }
        Ok(panel)
    }

    /// The judges' votes, each under the protocol of its text side; the rules alone have none.
    pub(super) fn votes(
        &self,
        texts: &[Option<Arc<JudgeText>>],
        verdict: &VerdictArguments,
    ) -> Panel {
        let members = self.judges.iter().zip(texts).map(|(judge, text)| Member {
            name: judge.name.clone(),
            weight: judge.weight,
            yields: text
                .as_ref()
                .map_or_else(Yields::default, |text| text.protocol.yields()),
            calibration: text
                .as_ref()
                .map_or_else(Default::default, |text| text.judge.calibration.clone()),
        });
        Panel::new(
            self.rule,
            members.collect(),
            verdict.reward,
            verdict.require_process,
        )
        .with_least_votes(self.least_votes)
    }

    /// The command line of each judge: this process's, with further options that take the place of those given before.
    pub(super) fn commands(
        &self,
        file: &Path,
        name: &'static str,
    ) -> impl Iterator<Item = anyhow::Result<Command>> {
        self.judges.iter().map(move |judge| {
            let mut further: Vec<OsString> = vec!["--model".into(), judge.model.clone().into()];
            if let Some(protocol) = &judge.protocol {
                further.extend(["--protocol".into(), protocol.into()]);
            }
            further.extend(judge.options.iter().map(OsString::from));
            with_options(name, further)
                .with_context(|| format!("{}: {}", file.display(), judge.name))
        })
    }
}

/// Finds out whether there is such a judge, before another one has been fetched or has judged for hours.
pub(super) fn check(
    judge: &JudgeChoice,
    endpoint: &EndpointArguments,
    sampling: &SamplingArguments,
) -> Result<Arc<Protocol>, Failure> {
    let named = judge.named_protocol().or_usage()?;
    let model = endpoint.find(&judge.model, &judge.adapter, Want::Description)?;
    let (protocol, _) = judge.prompt_for(named, Some(&model)).or_usage()?;
    if let (Some(_), Some(source)) = (sampling.max_new_tokens, model.files()) {
        let config = ModelConfig::load(source)?;
        sampling.check_context(config.max_positions).or_usage()?;
    }
    Ok(protocol)
}

/// This process's command line, which is one of `juror name`, without its panel and with further options.
fn with_options(
    name: &'static str,
    further: impl IntoIterator<Item = OsString>,
) -> anyhow::Result<Command> {
    let command = Arguments::command().mut_subcommand(name, |one| one.args_override_self(true));
    let mut line = Vec::new();
    let mut given = super::words().into_iter();
    while let Some(argument) = given.next() {
        if argument == "--panel" {
            // Its value.
            given.next();
        } else if !argument.to_string_lossy().starts_with("--panel=") {
            line.push(argument);
        }
    }
    // What follows `--` is no option.
    let end = line.iter().position(|argument| argument == "--");
    let end = end.unwrap_or(line.len());
    line.splice(end..end, further);
    let matches = command.try_get_matches_from(line).map_err(|error| {
        // One line of it: what follows is the usage.
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        anyhow!("{}", first.strip_prefix("error: ").unwrap_or(first))
    })?;
    Ok(Arguments::from_arg_matches(&matches)?.command)
}

/// A name for files: the last part of a model's, letters, digits, `.`, `-` and `_` alone.
pub(super) fn short_name(model: &str) -> String {
    let last = model.trim_end_matches('/').rsplit('/').next();
    let last = last.unwrap_or(model);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    last.chars()
        .map(|c| if plain(c) { c } else { '-' })
        .collect()
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
