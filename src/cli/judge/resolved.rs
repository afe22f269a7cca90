//! Which judge runs, how it answers and what its verdicts are worth: from raw arguments to a model's text side and its options.

use std::path::Path;
use std::sync::Arc;

use anyhow::{anyhow, bail};

use super::{JudgeChoice, ONLY_SCORE, VerdictArguments, refuse_meaningless};
use crate::cli::endpoint::EndpointArguments;
use crate::cli::inputs::read;
use crate::cli::sampling::SamplingArguments;
use crate::cli::{Failure, OrFail};
use juror_hub::Want;
use juror_judge::catalog::known_judges::named_like;
use juror_judge::judge::model::MAX_NEW_TOKENS;
use juror_judge::judge::{GenerationDefaults, JudgeModel, JudgeText, RulesMode, RunOptions};
use juror_judge::protocol::{PromptTemplate, Protocol, ScaffoldWants};
use juror_judge::reward::RewardPolicy;
use juror_judge::reward::calibration::Calibration;
use juror_rules::RulesProfile;

/// Why an option for constrained answers has no meaning.
const FREE: &str = "its answers are not constrained";

pub(in crate::cli) struct ResolvedJudge {
    /// The model's files and its text side; none under `--rules only`.
    pub(in crate::cli) judge: Option<(JudgeModel, Arc<JudgeText>)>,
    pub(in crate::cli) protocol: Arc<Protocol>,
    pub(in crate::cli) template: PromptTemplate,
    /// What decides the verdicts; without a cache.
    pub(in crate::cli) options: RunOptions,
}

impl ResolvedJudge {
    /// Finds the model, fetching `want` of it, and reads its text side; `begun` is the output of a run that may be gone on with.
    pub(in crate::cli) fn new(
        choice: &JudgeChoice,
        endpoint: &EndpointArguments,
        verdict: &VerdictArguments,
        sampling_arguments: &SamplingArguments,
        want: Want,
        begun: Option<&Path>,
    ) -> Result<Self, Failure> {
        let rules = verdict.rules.rules;
        let named = choice.named_protocol().or_usage()?;
        if let (RulesMode::Only, Some(protocol)) = (rules, &named) {
            let only_score = protocol.yields().score.then_some(ONLY_SCORE);
            refuse_meaningless(protocol.as_ref(), &[("--rules only", only_score)]).or_usage()?;
        }
        let (judge, protocol, template) = if rules == RulesMode::Only {
            let (protocol, template) = choice.prompt_for(named, None).or_usage()?;
            (None, protocol, template)
        } else {
            let (model, text, template) = load(
                choice,
                named,
                endpoint,
                verdict,
                sampling_arguments,
                (want, begun),
            )?;
            let protocol = Arc::clone(&text.protocol);
            (Some((model, Arc::new(text))), protocol, template)
        };

        let recommended = if let Some((_, text)) = &judge {
            text.run_options(sampling_arguments.trials)
        } else {
            // As the manifests of earlier versions have it.
            RunOptions {
                sampling: GenerationDefaults::default().sampling_for(sampling_arguments.trials),
                max_new_tokens: MAX_NEW_TOKENS,
                ..RunOptions::default()
            }
        };
        let (sampling, max_new_tokens) = sampling_arguments.resolve(&recommended).or_usage()?;
        let reward = verdict.reward.unwrap_or(recommended.reward);
        if let Some(why) = reward.refused_with(rules) {
            bail_usage!(
                "--reward {reward} has no meaning with --rules {}: {why}",
                rules.name()
            );
        }
        if let Some((_, text)) = &judge {
            check_options(text, verdict, reward).or_usage()?;
        }
        if reward == RewardPolicy::Parts && verdict.rules.rules_profile != RulesProfile::Strict {
            bail_usage!(
                "--reward parts has no meaning under --rules-profile {}: only strict knows the parts of a reference",
                verdict.rules.rules_profile
            );
        }
        let options = RunOptions {
            sampling,
            max_new_tokens,
            trials: sampling_arguments.trials,
            seed: sampling_arguments.seed,
            constrained: !verdict.free,
            decide_only: verdict.decide_only,
            thinking_budget: verdict.thinking_budget.map(|tokens| tokens as usize),
            wants_reason: verdict.reason,
            raw: verdict.raw,
            rules,
            audit: verdict.rules.audit.unwrap_or(0.0),
            outcome_rules: verdict.rules.outcome_rules(),
            reward,
            require_process: verdict.require_process,
            min_confidence: verdict.min_confidence,
            own: None,
            cache: None,
        };
        Ok(Self {
            judge,
            protocol,
            template,
            options,
        })
    }
}

/// The model, its text side under the protocol, and the text that it is asked with.
fn load(
    choice: &JudgeChoice,
    named: Option<Arc<Protocol>>,
    endpoint: &EndpointArguments,
    verdict: &VerdictArguments,
    sampling_arguments: &SamplingArguments,
    (want, begun): (Want, Option<&Path>),
) -> Result<(JudgeModel, JudgeText, PromptTemplate), Failure> {
    let asks_by_default = choice.prompt.protocol.is_none();
    if let Some(protocol) = &named {
        // Its prompt text may be at fault.
        let own = Some(Arc::clone(protocol));
        choice.prompt_for(own, None).or_usage()?;
    }
    let mut endpoint = endpoint.clone();
    endpoint.default_body = sampling_arguments.without_choice();
    let model = endpoint.find(&choice.model, &choice.adapter, want)?;
    let (protocol, template) = choice.prompt_for(named, Some(&model)).or_usage()?;
    let mut chat = choice.chat.settings(begun).or_usage()?;
    chat.force_domain = verdict.force_domain;
    let mut text = model.text(&protocol, &template, &chat).or_usage()?;
    choice.chat.check(&text).or_usage()?;
    sampling_arguments
        .check_context(text.token_context())
        .or_usage()?;
    if let Some(path) = &verdict.calibration {
        let calibration = Calibration::parse(&read(path).or_usage()?)
            .map_err(|why| anyhow!("{}: {why}", path.display()));
        text.judge.calibration = calibration.or_usage()?;
        let notes = text.judge.calibration.notes.iter();
        let notes = notes.map(|note| format!("{}: {note}", path.display()));
        text.notes.extend(notes);
    }
    let like = match model.origin() {
        None if asks_by_default => named_like(Path::new(&choice.model)),
        _ => None,
    };
    if let Some(judge) = like.filter(|judge| judge.protocol != protocol.name) {
        text.notes.push(format!(
            "{} is named like {}, which is asked under another protocol: if it is that judge, give --protocol {}; it is now asked \
             under {}",
            choice.model,
            judge.id,
            judge.protocol,
            protocol.name
        ));
    }
    if let (Want::Everything, Some(source)) = (want, model.files()) {
        text.settle_head(source)?;
    }
    Ok((model, text, template))
}

/// Refuses what has no meaning for the judge.
fn check_options(
    text: &JudgeText,
    verdict: &VerdictArguments,
    reward: RewardPolicy,
) -> anyhow::Result<()> {
    let rules = verdict.rules.rules;
    let (protocol, yields) = (text.protocol.as_ref(), text.protocol.yields());
    let is_soft = reward == RewardPolicy::Soft;
    let is_calibrated = verdict.calibration.is_some();
    let is_sure = verdict.min_confidence.is_some();
    let has_budget = verdict.thinking_budget.is_some();
    let is_free = !text.has_scaffold();
    let unknown = text.endpoint_without_probabilities();
    let when = |holds: bool, why: &'static str| holds.then_some(why);
    let only_score = |is_given: bool| when(is_given && yields.score, ONLY_SCORE);
    let unsteered = |is_given: bool| {
        let why = "a server's answers cannot be steered token by token";
        when(is_given && text.is_elsewhere(), why)
    };
    let process = when(!yields.process, "it does not judge the process");
    let has_reasons = gives_reasons(protocol);
    let reasons = when(!has_reasons, "its answers give no reason that is read");
    let uncalibrated = when(
        !is_soft && !is_sure,
        "without --reward soft or --min-confidence it changes nothing",
    );
    let rubric = when(
        verdict.free && protocol.form.needs_rubric(),
        "probabilities are recorded where grades are chosen",
    );
    let outcome = when(!yields.outcome, "it does not judge the outcome");
    let late = when(
        !text.has_early_reward(),
        "what it writes follows a grammar, whose end decides nothing sooner",
    );
    let has_odds = protocol.form.has_odds();
    let odds = when(!has_odds, "no probabilities are recorded of what it says");
    let alike = when(
        yields.score && !text.has_choices(),
        "its labels begin with the same tokens, so that their probabilities are not known",
    );
    for (option, is_given) in [("--reward soft", is_soft), ("--min-confidence", is_sure)] {
        if let Some(why) = unknown.filter(|_| is_given) {
            bail!("{option} needs probabilities: {why}");
        }
    }
    let of_reward = reward.refused_by(protocol, rules);
    let why_not = [
        ("--reward soft", alike.filter(|_| is_soft)),
        ("--decide-only", unsteered(verdict.decide_only)),
        ("--thinking-budget", unsteered(has_budget)),
        (
            "--require-process",
            process.filter(|_| verdict.require_process),
        ),
        ("--reason", reasons.filter(|_| verdict.reason)),
        ("--rules first", only_score(rules == RulesMode::First)),
        ("--decide-only", only_score(verdict.decide_only)),
        ("--calibration", only_score(is_calibrated)),
        ("--calibration", uncalibrated.filter(|_| is_calibrated)),
        ("--min-confidence", only_score(is_sure)),
        ("--reward soft with --free", rubric.filter(|_| is_soft)),
        (&*format!("--reward {reward}"), of_reward),
        ("--audit", outcome.filter(|_| verdict.rules.audit.is_some())),
        ("--decide-only", when(verdict.decide_only && is_free, FREE)),
        ("--decide-only", late.filter(|_| verdict.decide_only)),
        ("--thinking-budget", when(has_budget && is_free, FREE)),
        ("--min-confidence", odds.filter(|_| is_sure)),
    ];
    refuse_meaningless(protocol, &why_not)
}

fn gives_reasons(protocol: &Protocol) -> bool {
    let [without, with] = [false, true].map(|reason| {
        protocol.scaffold(&ScaffoldWants {
            reason,
            ..ScaffoldWants::default()
        })
    });
    without != with
}
