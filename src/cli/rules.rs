//! What the rules do, as the user says it.

use clap::Args;
use clap::builder::TypedValueParser;

use super::rows::one_of;
use juror_judge::judge::RulesMode;
use juror_rules::{Config, OutcomeRules, RulesProfile};

pub(in crate::cli) const VERDICT: &str = "Verdict";

/// The rule-based verifier beside the judge.
#[derive(Debug, Clone, Args)]
pub(super) struct RulesArguments {
    /// What the rule-based verifier does: give the outcome where the judge is unreadable, go first and spare the model
    /// what is plainly wrong, judge alone without a model, or nothing
    #[arg(long, default_value = "fallback", value_parser = modes(), help_heading = VERDICT)]
    pub(super) rules: RulesMode,
    /// Under --rules first: also judge this share of the samples that the rules reject, as `5%` or `0.05`, and report how often
    /// the judge accepts them. With --cascade: ask the second judge about this share of what the first is sure of
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = VERDICT)]
    pub(super) audit: Option<f64>,
    /// How the rules find and compare final answers: strict (what is mathematically true), compat (as Math-Verify
    /// 0.9.0), gsm8k (plain numbers only), or GSM8K's official, strict-match, flexible-extract or multi
    #[arg(long, value_name = "PROFILE", default_value_t, help_heading = VERDICT)]
    pub(super) rules_profile: RulesProfile,
    /// Settings of the rules under strict and compat, by Math-Verify's names, for one `{"float_rounding": 2}`
    #[arg(long, value_name = "JSON", value_parser = crate::cli::verify::parse_config, help_heading = VERDICT)]
    pub(super) rules_config: Option<Config>,
    /// The answer of a response is what its last \boxed{} holds, or several together as a list; without one it has no answer
    #[arg(long, help_heading = VERDICT)]
    pub(super) boxed_only: bool,
}

impl RulesArguments {
    /// How the rules find and compare final answers.
    pub(super) fn outcome_rules(&self) -> OutcomeRules {
        let mut config = self.rules_config.clone().unwrap_or_default();
        config.boxed_only |= self.boxed_only;
        OutcomeRules::new(self.rules_profile, config)
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

fn modes() -> impl TypedValueParser<Value = RulesMode> {
    use RulesMode::{Fallback, First, Off, Only};
    one_of([Fallback, First, Only, Off].map(|mode| (mode.name(), "", mode)))
}
