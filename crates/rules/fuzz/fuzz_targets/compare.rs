//! Comparing any two answers in the strict profile: no panic, reflexive, symmetric.
#![no_main]

use juror_rules::{Config, Profile, Verifier, describe};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|pair: (&str, &str)| {
    let (a, b) = pair;
    let verifier = Verifier::new(Profile::Strict, Config::default());
    verifier.verify(a, b);
    if describe(a).is_err() || describe(b).is_err() {
        return;
    }
    // In a box an answer is taken whole on either side.
    let (a, b) = (format!(r"\boxed{{{a}}}"), format!(r"\boxed{{{b}}}"));
    let equal = |a: &str, b: &str| {
        let verification = verifier.verify(a, b);
        let whole = [&verification.gold, &verification.pred].map(|answers| answers.len() == 1);
        (whole == [true, true])
            .then_some(verification.equal)
            .flatten()
    };
    assert_ne!(equal(&a, &a), Some(false), "not reflexive: {a:?}");
    let (there, back) = (equal(&a, &b), equal(&b, &a));
    assert!(
        there == back || there.is_none() || back.is_none(),
        "not symmetric: {a:?} {b:?} {there:?} {back:?}"
    );
});
