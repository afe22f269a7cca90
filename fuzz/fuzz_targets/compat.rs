//! Any pair in the compatible profile: no panic, no hang.
#![no_main]
#![allow(dead_code, unused_imports, missing_docs)]

#[path = "../../src/rules/mod.rs"]
mod rules;

use libfuzzer_sys::fuzz_target;

use rules::{Config, Profile, Verifier};

fuzz_target!(|pair: (&str, &str)| {
    let (gold, pred) = pair;
    Verifier::new(Profile::Compat, Config::default()).verify(gold, pred);
});
