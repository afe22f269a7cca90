//! The ways of comparing that a run can name.

use std::fmt;
use std::str::FromStr;

use super::numeric::{RuleVerdict, gsm8k, verify};
use gsm8k::Gsm8kMethod;

/// How the rules find and compare the final answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RuleMethod {
    /// The strict numeric comparison of the answer judge: [`verify`].
    #[default]
    Numeric,
    /// One of GSM8K's extraction methods, with its own normalisation and equality.
    Gsm8k(Gsm8kMethod),
}

impl RuleMethod {
    /// Every method, the default first.
    pub const ALL: [Self; 5] = [
        Self::Numeric,
        Self::Gsm8k(Gsm8kMethod::Official),
        Self::Gsm8k(Gsm8kMethod::StrictMatch),
        Self::Gsm8k(Gsm8kMethod::FlexibleExtract),
        Self::Gsm8k(Gsm8kMethod::Multi),
    ];

    /// The name on the command line and in a run's manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Numeric => "numeric",
            Self::Gsm8k(method) => method.as_str(),
        }
    }

    /// Compares a response's final answer with the reference. A GSM8K method always answers, unless the reference
    /// holds no digit.
    pub fn verify(self, reference: &str, response: &str) -> RuleVerdict {
        let Self::Gsm8k(method) = self else {
            return verify(reference, response);
        };
        let expected = gsm8k::normalise(method, &gsm8k::ground_truth(reference));
        let extracted = gsm8k::extract(method, response);
        let (outcome, reason) = if !expected.contains(|character: char| character.is_ascii_digit())
        {
            (None, "the reference holds no number".to_owned())
        } else if gsm8k::is_correct(method, reference, response) {
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
}

impl fmt::Display for RuleMethod {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// A name that is no rule method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no rule method `{0}`; there is {names}", names = RuleMethod::ALL.map(RuleMethod::as_str).join(", "))]
pub struct UnknownRuleMethod(String);

impl FromStr for RuleMethod {
    type Err = UnknownRuleMethod;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|method| method.as_str() == name)
            .ok_or_else(|| UnknownRuleMethod(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_methods() {
        for method in RuleMethod::ALL {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
        assert_eq!(format!("{:>8}", RuleMethod::Numeric), " numeric");
        assert_eq!(
            "strict"
                .parse::<RuleMethod>()
                .map_err(|error| error.to_string()),
            Err(
                "no rule method `strict`; there is numeric, official, strict-match, flexible-extract, multi"
                    .to_owned()
            )
        );
    }
}
