//! How a judge's run compares final answers: a profile by name, and its settings.

use std::fmt;
use std::str::FromStr;

use crate::config::{Config, Profile};
use crate::gsm8k::methods::Gsm8kMethod;
use crate::gsm8k::{self, RuleVerdict};
use crate::verifier::{Verifier, of_any};
use crate::{EMULATES, Verification};

/// The ways of finding and comparing final answers that a run can name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum RulesProfile {
    /// What is mathematically true: [`Profile::Strict`].
    #[default]
    Strict,
    /// The verdicts of Math-Verify: [`Profile::Compat`].
    Compat,
    /// The comparison of plain numbers of the answer judge.
    Gsm8k,
    /// One of GSM8K's extraction methods, with its own normalisation and equality.
    Gsm8kMethod(Gsm8kMethod),
}

impl RulesProfile {
    /// Every profile, the default first.
    #[rustfmt::skip]
    pub const ALL: [Self; 7] = [
        Self::Strict, Self::Compat, Self::Gsm8k, Self::Gsm8kMethod(Gsm8kMethod::Official), Self::Gsm8kMethod(Gsm8kMethod::StrictMatch),
        Self::Gsm8kMethod(Gsm8kMethod::FlexibleExtract), Self::Gsm8kMethod(Gsm8kMethod::Multi),
    ];

    /// The name on the command line and in a run's manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Compat => "compat",
            Self::Gsm8k => "gsm8k",
            Self::Gsm8kMethod(method) => method.as_str(),
        }
    }
}

impl fmt::Display for RulesProfile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// A name that is no profile of the rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no rules profile `{0}`; there is {names}", names = RulesProfile::ALL.map(RulesProfile::as_str).join(", "))]
pub struct UnknownRulesProfile(String);

impl FromStr for RulesProfile {
    type Err = UnknownRulesProfile;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let named = Self::ALL.into_iter().find(|it| it.as_str() == name);
        named.ok_or_else(|| UnknownRulesProfile(name.to_owned()))
    }
}

/// The rules of a judge's run: they give an outcome of a final answer without a model.
///
/// ```
/// use juror_rules::{OutcomeRules, RulesProfile};
///
/// let rules = OutcomeRules::new(RulesProfile::Strict, Default::default());
/// assert_eq!(rules.verify(r"\frac{3}{4}", "So it is 0.75.").outcome, Some(true));
/// assert_eq!(rules.verify(r"\frac{3}{4}", "So it is 0.7.").outcome, Some(false));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutcomeRules {
    /// How answers are found and compared.
    pub profile: RulesProfile,
    config: Config,
}

impl OutcomeRules {
    /// Rules under `profile`; `config` has an effect in the profiles `strict` and `compat` only.
    pub fn new(profile: RulesProfile, config: Config) -> Self {
        Self { profile, config }
    }

    /// Compares a response's final answer with the reference. A GSM8K method always answers, unless the reference holds no digit.
    pub fn verify(&self, reference: &str, response: &str) -> RuleVerdict {
        let verifier = |profile| Verifier::new(profile, self.config.clone());
        let by = |profile| verifier(profile).verify(reference, response).into();
        match self.profile {
            RulesProfile::Strict => by(Profile::Strict),
            RulesProfile::Compat => by(Profile::Compat),
            RulesProfile::Gsm8k => gsm8k::verify(reference, response),
            RulesProfile::Gsm8kMethod(method) => by_method(method, reference, response),
        }
    }

    /// As [`Verifier::verify_any`]; `None` without a reference.
    pub fn verify_any<'r>(
        &self,
        references: impl IntoIterator<Item = &'r str>,
        letter: Option<&'r str>,
        response: &str,
    ) -> Option<RuleVerdict> {
        let letter = letter.filter(|_| self.profile == RulesProfile::Strict);
        let verify = |reference: &str| self.verify(reference, response);
        of_any(references, letter, verify, |it| it.outcome)
    }

    /// Which labelled parts of the reference are right in the response: [`Verifier::parts`]. Empty but under [`RulesProfile::Strict`].
    pub fn parts(&self, reference: &str, response: &str) -> Vec<Option<bool>> {
        let is_strict = self.profile == RulesProfile::Strict;
        let verifier = is_strict.then(|| Verifier::new(Profile::Strict, self.config.clone()));
        verifier.map_or_else(Vec::new, |it| it.parts(reference, response))
    }

    /// Profile, emulated version and settings that are not the default, for a run's manifest.
    pub fn describe(&self) -> String {
        let mut text = self.profile.to_string();
        if self.profile == RulesProfile::Compat {
            text = format!("{text}, {EMULATES}");
        }
        if self.config != Config::default() {
            // Settings are numbers, names and strings: nothing that JSON cannot hold.
            let config = serde_json::to_string(&self.config).unwrap_or_default();
            text = format!("{text}, {config}");
        }
        text
    }
}

impl From<Verification> for RuleVerdict {
    fn from(verification: Verification) -> Self {
        let first = |answers: Vec<String>| answers.into_iter().next();
        Self {
            outcome: verification.equal,
            extracted: first(verification.pred),
            reference: first(verification.gold),
            method: verification.method,
            reason: verification.reason,
        }
    }
}

fn by_method(method: Gsm8kMethod, reference: &str, response: &str) -> RuleVerdict {
    let expected = method.expected(reference);
    let extracted = method.extract(response);
    let equal = |found: &str| method.equal(found, &expected);
    let (outcome, reason) = if !expected.contains(|character: char| character.is_ascii_digit()) {
        (None, "the reference holds no number".to_owned())
    } else if extracted.as_deref().is_some_and(equal) {
        (Some(true), "equal".to_owned())
    } else {
        let found = extracted.as_deref().unwrap_or("[invalid]");
        (Some(false), format!("{found} is not {expected}"))
    };
    RuleVerdict {
        outcome,
        extracted,
        reference: Some(expected),
        method: method.as_str(),
        reason,
    }
}

#[cfg(test)]
mod tests;
