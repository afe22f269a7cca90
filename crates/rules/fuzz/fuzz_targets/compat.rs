//! Any pair in the compatible profile: no panic, no hang.
#![no_main]

use libfuzzer_sys::fuzz_target;

use juror_rules::{Config, Profile, Verifier};

fuzz_target!(|pair: (&str, &str)| {
    let (gold, pred) = pair;
    Verifier::new(Profile::Compat, Config::default()).verify(gold, pred);
});
