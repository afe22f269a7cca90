//! Which judge runs, how it answers and what its verdicts are worth: from raw arguments to a model's text side and its options.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};

use super::{JudgeChoice, ONLY_SCORE, VerdictArguments, refuse_meaningless};
use crate::cli::endpoint::EndpointArguments;
use crate::cli::sampling::SamplingArguments;
use crate::cli::{Failure, OrFail};
use juror_data::read_text;
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

/// A judge as the user wants it.
pub(in crate::cli) struct ResolvedJudge {
    /// The model's files and its text side; none under `--rules only`.
    pub(in crate::cli) judge: Option<(JudgeModel, Arc<JudgeText>)>,
    pub(in crate::cli) protocol: Arc<dyn Protocol>,
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
        let asks_by_default = choice.prompt.protocol.is_none();
        let named = choice.named_protocol().or_usage()?;
        if let (RulesMode::Only, Some(protocol)) = (rules, &named)
            && protocol.yields().score
        {
            bail_usage!(
                "--rules only has no meaning under protocol {}: {ONLY_SCORE}",
                protocol.name()
            );
        }
        let (judge, protocol, template) = if rules == RulesMode::Only {
            let (protocol, template) = choice.prompt_for(named, None).or_usage()?;
            (None, protocol, template)
        } else {
            if let Some(protocol) = &named {
                // Its prompt text may be at fault.
                let own = Some(Arc::clone(protocol));
                choice.prompt_for(own, None).or_usage()?;
            }
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
                let read =
                    read_text(path).with_context(|| format!("could not read {}", path.display()));
                let calibration = Calibration::parse(&read.or_usage()?)
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
            if let Some(judge) = like.filter(|judge| judge.protocol != protocol.name()) {
                text.notes.push(format!(
                    "{} is named like {}, which is asked under another protocol: if it is that judge, give --protocol {}; it is now asked \
                     under {}",
                    choice.model,
                    judge.id,
                    judge.protocol,
                    protocol.name()
                ));
            }
            if let (Want::Everything, Some(source)) = (want, model.files()) {
                text.settle_head(source)?;
            }
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
        if let Some((_, text)) = &judge {
            let protocol = text.protocol.as_ref();
            let has_scaffold = text.has_scaffold();
            let has_odds = protocol.has_odds();
            let of_odds = verdict.min_confidence.filter(|_| !has_odds);
            let yields = protocol.yields();
            let of_outcome = verdict.rules.audit.filter(|_| !yields.outcome);
            let only_score = |given: bool| (given && yields.score).then_some(ONLY_SCORE);
            let is_soft = reward == RewardPolicy::Soft;
            let unknown = text.endpoint_without_probabilities();
            let unsteered = text
                .is_elsewhere()
                .then_some("a server's answers cannot be steered token by token");
            let why_not = [
                ("--reward soft", unknown.filter(|_| is_soft)),
                (
                    "--min-confidence",
                    unknown.filter(|_| verdict.min_confidence.is_some()),
                ),
                ("--decide-only", unsteered.filter(|_| verdict.decide_only)),
                (
                    "--thinking-budget",
                    unsteered.filter(|_| verdict.thinking_budget.is_some()),
                ),
                (
                    "--require-process",
                    (verdict.require_process && !yields.process)
                        .then_some("it does not judge the process"),
                ),
                (
                    "--reason",
                    (verdict.reason && !gives_reasons(protocol))
                        .then_some("its answers give no reason that is read"),
                ),
                ("--rules first", only_score(rules == RulesMode::First)),
                ("--decide-only", only_score(verdict.decide_only)),
                ("--calibration", only_score(verdict.calibration.is_some())),
                (
                    "--calibration",
                    (verdict.calibration.is_some()
                        && reward != RewardPolicy::Soft
                        && verdict.min_confidence.is_none())
                    .then_some("without --reward soft or --min-confidence it changes nothing"),
                ),
                (
                    "--min-confidence",
                    only_score(verdict.min_confidence.is_some()),
                ),
                (
                    "--reward soft with --free",
                    (is_soft && verdict.free && protocol.needs_rubric())
                        .then_some("probabilities are recorded where grades are chosen"),
                ),
                (
                    &*format!("--reward {reward}"),
                    reward.refused_by(protocol, rules != RulesMode::Off),
                ),
                (
                    "--audit",
                    of_outcome.map(|_| "it does not judge the outcome"),
                ),
                (
                    "--decide-only",
                    verdict
                        .decide_only
                        .then_some(FREE)
                        .filter(|_| !has_scaffold),
                ),
                (
                    "--decide-only",
                    (verdict.decide_only && !text.has_early_reward()).then_some(
                        "what it writes follows a grammar, whose end decides nothing sooner",
                    ),
                ),
                (
                    "--thinking-budget",
                    verdict
                        .thinking_budget
                        .map(|_| FREE)
                        .filter(|_| !has_scaffold),
                ),
                (
                    "--min-confidence",
                    of_odds.map(|_| "no probabilities are recorded of what it says"),
                ),
            ];
            refuse_meaningless(protocol, &why_not).or_usage()?;
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

/// Whether the verdicts of a protocol may have a reason.
fn gives_reasons(protocol: &dyn Protocol) -> bool {
    let [without, with] = [false, true].map(|reason| {
        protocol.scaffold(ScaffoldWants {
            reason,
            ..ScaffoldWants::default()
        })
    });
    without != with
}
