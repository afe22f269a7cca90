//! A verifier with its settings, as a Python object.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use juror_rules::{
    Config, OutcomeRules, Profile, Reading, Role, RuleVerdict, RulesProfile, Status,
    UnknownRulesProfile, Verification, Verifier,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::batch;

/// `(equal, status, method, gold, pred, reason)`.
type Answer = (
    Option<bool>,
    &'static str,
    String,
    Vec<String>,
    Vec<String>,
    String,
);

/// A text of Python, which unlike one of Rust may hold lone surrogates: each becomes U+FFFD.
type Text<'t> = Cow<'t, str>;

/// Rules under one profile and one set of settings.
#[pyclass(frozen, module = "juror_rs._rules")]
pub(crate) struct Rules(Method);

/// How answers are found and compared.
enum Method {
    /// The profiles `strict` and `compat`.
    Answers(Box<Verifier>),
    /// GSM8K's.
    Numbers(OutcomeRules),
}

#[pymethods]
impl Rules {
    /// Rules of the profile of this name, under settings in JSON; with others for finding the gold answer.
    #[new]
    #[pyo3(signature = (profile, config, gold_config=None))]
    fn new(profile: &str, config: &str, gold_config: Option<&str>) -> PyResult<Self> {
        let profile: RulesProfile = profile
            .parse()
            .map_err(|error: UnknownRulesProfile| PyValueError::new_err(error.to_string()))?;
        let config = settings(config)?;
        let verifier = |profile, config| -> PyResult<Method> {
            let verifier = Verifier::new(profile, config);
            let verifier = match gold_config {
                Some(gold) => verifier.with_gold_config(settings(gold)?),
                None => verifier,
            };
            Ok(Method::Answers(Box::new(verifier)))
        };
        let method = match profile {
            RulesProfile::Strict => verifier(Profile::Strict, config)?,
            RulesProfile::Compat => verifier(Profile::Compat, config)?,
            RulesProfile::Gsm8k | RulesProfile::Gsm8kMethod(_) if config != Config::default() => {
                return Err(PyValueError::new_err(format!(
                    "the profile `{profile}` has no settings; leave `config` away"
                )));
            }
            RulesProfile::Gsm8k | RulesProfile::Gsm8kMethod(_) => {
                Method::Numbers(OutcomeRules::new(profile, config))
            }
        };
        Ok(Self(method))
    }

    /// Is the answer of `pred` that of `gold`?
    fn verify(
        &self,
        py: Python<'_>,
        gold: &Bound<'_, PyString>,
        pred: &Bound<'_, PyString>,
    ) -> PyResult<Answer> {
        let (gold, pred) = (gold.to_string_lossy(), pred.to_string_lossy());
        py.detach(|| self.guarded(&gold, &pred))
            .map_err(|why| error_of_ours(&why, "this pair"))
    }

    /// The same for many pairs, on all cores: the answers in the order of the pairs.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "PyO3 hands over what it has extracted"
    )]
    fn verify_batch(
        &self,
        py: Python<'_>,
        golds: Vec<Bound<'_, PyString>>,
        preds: Vec<Bound<'_, PyString>>,
    ) -> PyResult<Vec<Answer>> {
        if golds.len() != preds.len() {
            return Err(PyValueError::new_err(format!(
                "{} gold answers and {} predictions: there must be as many",
                golds.len(),
                preds.len()
            )));
        }
        let pairs: Vec<(Text, Text)> = (golds.iter().zip(&preds))
            .map(|(gold, pred)| (gold.to_string_lossy(), pred.to_string_lossy()))
            .collect();
        let answers = py.detach(|| batch::map(&pairs, |(gold, pred)| self.guarded(gold, pred)));
        (answers.into_iter().enumerate())
            .map(|(index, answer)| {
                answer.map_err(|why| error_of_ours(&why, &format!("pair {index}")))
            })
            .collect()
    }

    /// Which labelled parts of `gold` are right in `pred`; none under other profiles than `strict`.
    fn parts(
        &self,
        py: Python<'_>,
        gold: &Bound<'_, PyString>,
        pred: &Bound<'_, PyString>,
    ) -> PyResult<Vec<Option<bool>>> {
        let Method::Answers(verifier) = &self.0 else {
            return Ok(Vec::new());
        };
        let (gold, pred) = (gold.to_string_lossy(), pred.to_string_lossy());
        py.detach(|| without_panic(|| verifier.parts(&gold, &pred)))
            .map_err(|why| error_of_ours(&why, "this pair"))
    }

    /// What is read in a text as its answer: `(is a value, text)` of each reading.
    fn read(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<Vec<(bool, String)>> {
        let Method::Answers(verifier) = &self.0 else {
            return Err(PyValueError::new_err(
                "only the profiles strict and compat read answers",
            ));
        };
        let text = text.to_string_lossy();
        let readings = py
            .detach(|| without_panic(|| verifier.read(&text, Role::Prediction)))
            .map_err(|why| error_of_ours(&why, "this text"))?;
        Ok(readings
            .into_iter()
            .map(|reading| {
                let is_value = matches!(reading, Reading::Value(_));
                (is_value, reading.into_text())
            })
            .collect())
    }
}

impl Rules {
    fn guarded(&self, gold: &str, pred: &str) -> Result<Answer, String> {
        without_panic(|| match &self.0 {
            Method::Answers(verifier) => answer(verifier.verify(gold, pred)),
            Method::Numbers(rules) => answer_of_numbers(rules.verify(gold, pred)),
        })
    }
}

fn answer(verification: Verification) -> Answer {
    let status = match verification.status {
        Status::Decided => "decided",
        Status::Numeric => "numeric",
        Status::UnparsedGold => "unparsed_gold",
        Status::UnparsedPred => "unparsed_pred",
        Status::NoAnswer => "no_answer",
        Status::Ambiguous => "ambiguous",
        Status::TooComplex => "too_complex",
    };
    (
        verification.equal,
        status,
        verification.method.to_owned(),
        verification.gold,
        verification.pred,
        verification.reason,
    )
}

/// GSM8K's rules compare numbers: what is none is unparsed.
fn answer_of_numbers(verdict: RuleVerdict) -> Answer {
    let status = match (verdict.outcome, &verdict.reference, &verdict.extracted) {
        (Some(false), _, None) => "no_answer",
        (Some(_), _, _) => "decided",
        (None, Some(reference), _) if reference.contains(|c: char| c.is_ascii_digit()) => {
            "unparsed_pred"
        }
        (None, _, _) => "unparsed_gold",
    };
    (
        verdict.outcome,
        status,
        verdict.method.to_owned(),
        verdict.reference.into_iter().collect(),
        verdict.extracted.into_iter().collect(),
        verdict.reason,
    )
}

fn settings(json: &str) -> PyResult<Config> {
    serde_json::from_str(json).map_err(|error| {
        // Without serde_json's place in a text that the caller has not written.
        let error = error.to_string();
        let what = error
            .rsplit_once(" at line ")
            .map_or(&*error, |(what, _)| what);
        PyValueError::new_err(format!("`config`: {what}"))
    })
}

/// No panic is known. One must not pass Python's `except Exception` and end a training run.
fn without_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        text.unwrap_or("a panic").to_owned()
    })
}

fn error_of_ours(why: &str, what: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "an error of the verifier itself ({why}); please report {what}"
    ))
}
