//! The extraction methods, each with what it finds in a response and whether that is right.

use schemars::JsonSchema;
use serde::Serialize;

use juror_rules::{Gsm8kMethod, OutcomeRules};

named! {
    /// A way of finding the final answer of a response and of comparing it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Method {
        /// The data set's own.
        Official = "official",
        /// `strict-match` of lm-evaluation-harness.
        StrictMatch = "strict-match",
        /// `flexible-extract` of lm-evaluation-harness.
        FlexibleExtract = "flexible-extract",
        /// Five patterns in order of trust.
        Multi = "multi",
        /// The rule-based verifier of this project, under its profile `strict`.
        Rules = "rules",
    }
}

impl Method {
    pub(crate) fn place(self) -> usize {
        self as usize
    }

    /// The method of the rules' crate; `None` for the verifier.
    fn named(self) -> Option<Gsm8kMethod> {
        match self {
            Self::Official => Some(Gsm8kMethod::Official),
            Self::StrictMatch => Some(Gsm8kMethod::StrictMatch),
            Self::FlexibleExtract => Some(Gsm8kMethod::FlexibleExtract),
            Self::Multi => Some(Gsm8kMethod::Multi),
            Self::Rules => None,
        }
    }

    /// Reads a response and compares it with the reference answers of each set of labels, any one of which is right. A set without the question has `None`.
    pub(crate) fn read<const S: usize>(
        self,
        response: &str,
        sets: [Option<&[String]>; S],
    ) -> Reading<S> {
        let Some(method) = self.named() else {
            return read_by_rules(response, sets);
        };
        let extracted = method.extract(response);
        let is_right = |references: &[String]| {
            let found = extracted.as_deref()?;
            let mut references = references.iter();
            Some(references.any(|reference| method.equal(found, &method.expected(reference))))
        };
        Reading {
            right: sets.map(|references| references.map(|all| is_right(all).unwrap_or(false))),
            extracted,
        }
    }

    /// Whether two extracted answers are the same.
    pub(crate) fn same(self, a: &str, b: &str) -> bool {
        a == b
            || match self.named() {
                Some(method) => method.equal(a, b),
                None => OutcomeRules::default().verify(a, b).outcome == Some(true),
            }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading<const S: usize> {
    /// The answer in the form that the method compares; `None` is the `[invalid]` of other reports.
    pub extracted: Option<String>,
    /// Whether it is right by each set of labels: `None` if the set does not have the question. Undecided counts as not right.
    pub right: [Option<bool>; S],
}

fn read_by_rules<const S: usize>(response: &str, sets: [Option<&[String]>; S]) -> Reading<S> {
    let rules = OutcomeRules::default();
    let mut extracted = None;
    let mut known: Option<(&[String], bool)> = None;
    let right = sets.map(|references| {
        let references = references?;
        // Most answers are the same in all sets.
        if let Some((_, right)) = known.filter(|(others, _)| *others == references) {
            return Some(right);
        }
        let right = references.iter().any(|reference| {
            let verdict = rules.verify(reference, response);
            extracted = extracted.take().or(verdict.extracted);
            verdict.outcome == Some(true)
        });
        known = Some((references, right));
        Some(right)
    });
    Reading { extracted, right }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_in_the_list_of_all() {
        for (place, method) in Method::ALL.into_iter().enumerate() {
            assert_eq!(method.place(), place);
            assert_eq!(serde_json::json!(method), method.name());
        }
    }

    #[test]
    fn each_method_finds_its_own_answer() {
        let response = "5 of them cost $1,200.50. #### 12\nSo \\boxed{13} and #### 14 in 2 years.";
        let found = |method: Method| method.read::<0>(response, []).extracted;
        assert_eq!(found(Method::Official).as_deref(), Some("12"));
        assert_eq!(found(Method::StrictMatch).as_deref(), Some("12"));
        assert_eq!(found(Method::FlexibleExtract).as_deref(), Some("2"));
        assert_eq!(found(Method::Multi).as_deref(), Some("14"));
    }

    #[test]
    fn a_response_is_right_by_one_set_and_wrong_by_another() {
        let (old, new) = (["72".to_owned()], ["70".to_owned(), "71".to_owned()]);
        for method in Method::ALL {
            let reading = method.read("So it is\n#### 71", [Some(&old[..]), Some(&new[..]), None]);
            assert_eq!(reading.right, [Some(false), Some(true), None], "{method}");
            assert_eq!(reading.extracted.as_deref(), Some("71"), "{method}");
        }
        // Each method has its own equality.
        let right = |method: Method| method.read("#### 71.0", [Some(&new[..])]).right[0];
        assert_eq!(right(Method::Official), Some(false));
        assert_eq!(right(Method::StrictMatch), Some(false));
        assert_eq!(right(Method::Multi), Some(true));
        assert_eq!(right(Method::Rules), Some(true));
    }

    #[test]
    fn the_same_answer_is_a_matter_of_the_method() {
        assert!(!Method::Official.same("72", "72.0"));
        assert!(Method::Multi.same("71.9999999", "72"));
        assert!(Method::Rules.same("1/2", "0.5"));
        assert!(!Method::Rules.same("1/2", "0.4"));
    }
}
