//! The profile [`Profile::Compat`](crate::Profile::Compat): settings for [`juror_math_verify`], and what it says.

use juror_math_verify::{Options, Reading};

use crate::{Config, Verification};

/// What Math-Verify 0.9.0 says of a pair.
pub(crate) fn verify(gold: (&str, &Config), pred: (&str, &Config)) -> Verification {
    let own = (!std::ptr::eq(gold.1, pred.1)).then(|| options(gold.1));
    let options = options(pred.1);
    let gold_options = own.as_ref().unwrap_or(&options);
    let verdict = juror_math_verify::verify((gold.0, gold_options), (pred.0, &options));
    let texts = |readings: Vec<Reading>| readings.into_iter().map(Reading::into_text).collect();
    Verification {
        equal: verdict.equal,
        status: verdict.status,
        method: verdict.method,
        gold: texts(verdict.gold),
        pred: texts(verdict.pred),
        reason: verdict.reason.to_owned(),
    }
}

/// What Math-Verify 0.9.0 reads in a text.
pub(crate) fn read(text: &str, config: &Config) -> Vec<Reading> {
    juror_math_verify::read(text, &options(config))
}

fn options(config: &Config) -> Options {
    Options {
        extract: config.extract.clone(),
        boxed_match_priority: config.boxed_match_priority,
        try_extract_without_anchor: config.try_extract_without_anchor,
        float_rounding: config.float_rounding,
        numeric_precision: config.numeric_precision,
        strict: config.strict,
        allow_set_relation_comp: config.allow_set_relation_comp,
        extraction_mode: config.extraction_mode,
        fallback_mode: config.fallback_mode,
        normalization: config.normalization,
    }
}
