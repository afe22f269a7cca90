//! Labelled parts, "(a) 3, (b) 5", one by one.

use super::alike::written_alike;
use super::{Side, Verifier, read};
use crate::compare::{self, Comparison, Options};
use crate::config::Profile;
use crate::extract::{self, Role};
use crate::{algebra::work, parse};

impl Verifier {
    /// Which labelled parts of `gold`, "(a) 3, (b) 5", are right in `pred`, in their order: `None` for one that `pred` does not have, or
    /// that cannot be told. Empty where `gold` has no parts, and under [`Profile::Compat`], which knows none.
    ///
    /// ```
    /// use juror_rules::{Config, Profile, Verifier};
    ///
    /// let strict = Verifier::new(Profile::Strict, Config::default());
    /// let parts = strict.parts("(a) 3, (b) 5", "The answer is (a) 3, (b) 6.");
    /// assert_eq!(parts, [Some(true), Some(false)]);
    /// ```
    pub fn parts(&self, gold: &str, pred: &str) -> Vec<Option<bool>> {
        if self.profile != Profile::Strict {
            return Vec::new();
        }
        let whole = self.verify(gold, pred).equal;
        work::limited(gold.len() + pred.len(), || {
            let Ok(gold) = read(gold, Role::Gold, self.gold_config(), false) else {
                return Vec::new();
            };
            let Some(wanted) = extract::parts(&gold.text) else {
                return Vec::new();
            };
            if whole == Some(true) {
                return vec![whole; wanted.len()];
            }
            let pred = read(pred, Role::Prediction, &self.config, false);
            let pred = pred.as_ref().ok().filter(|side| !side.qualified);
            let found = pred.and_then(|side| extract::parts(&side.text));
            let found = found.filter(|_| !gold.qualified).unwrap_or_default();
            let options = Options::from(&self.config);
            let part = |(label, value): &(&str, &str)| {
                let own = found
                    .iter()
                    .find(|(own, _)| own.eq_ignore_ascii_case(label));
                part_compared(value, own?.1, &options).equal
            };
            wanted.iter().map(part).collect()
        })
    }
}

/// The value of one part against that of another.
fn part_compared(a: &str, b: &str, options: &Options) -> Comparison {
    if written_alike(a, b) {
        return Comparison::equal("text");
    }
    match (parse::parse(a), parse::parse(b)) {
        (Ok(a), Ok(b)) => compare::compare(&a, &b, options),
        _ => Comparison::open(NO_SUCH_PARTS.to_owned()),
    }
}

/// Why parts are open.
const NO_SUCH_PARTS: &str = "labelled parts against what has none, or others";

/// Labelled parts, "(a) 3, (b) 5", one by one; open where only one side has some. `None` where neither has.
pub(super) fn parts_compared(gold: &Side, pred: &Side, options: &Options) -> Option<Comparison> {
    let (a, b) = (extract::parts(&gold.text), extract::parts(&pred.text));
    if a.is_none() && b.is_none() {
        return None;
    }
    let open = || Comparison::open(NO_SUCH_PARTS.to_owned());
    let (Some(a), Some(b)) = (a, b) else {
        return Some(open());
    };
    let alike = a.len() == b.len()
        && a.iter()
            .zip(&b)
            .all(|((a, _), (b, _))| a.eq_ignore_ascii_case(b));
    if !alike {
        return Some(open());
    }
    let parts = a.iter().zip(&b);
    let parts = parts.map(|((_, a), (_, b))| part_compared(a, b, options));
    let mut whole = Comparison::all("list", parts);
    if whole.reason.is_empty() {
        whole.reason = whole.sentence();
    }
    Some(whole)
}
