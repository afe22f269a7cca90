//! Comparing any two answers in the strict profile: no panic, reflexive, symmetric.
#![no_main]
#![allow(dead_code, unused_imports, missing_docs)]

#[path = "../../src/rules/mod.rs"]
mod rules;

use libfuzzer_sys::fuzz_target;

use rules::{Config, Profile, Verifier};

fuzz_target!(|pair: (&str, &str)| {
    let (a, b) = pair;
    let verifier = Verifier::new(Profile::Strict, Config::default());
    verifier.verify(a, b);
    let (Ok(x), Ok(y)) = (rules::expr::parse(a), rules::expr::parse(b)) else {
        return;
    };
    let options = rules::compare::Options::from(&Config::default());
    let equal = |x, y| rules::compare::compare(x, y, &options).equal;
    assert_ne!(equal(&x, &x), Some(false), "not reflexive: {x:?}");
    let (there, back) = (equal(&x, &y), equal(&y, &x));
    assert!(
        there == back || there.is_none() || back.is_none(),
        "not symmetric: {x:?} {y:?} {there:?} {back:?}"
    );
});
