//! Finding an answer in any text: no panic, no hang, and no answer much longer than the text.
#![no_main]

use libfuzzer_sys::fuzz_target;

use juror_rules::{Config, Profile, Role, Verifier};

fuzz_target!(|text: &str| {
    let verifier = Verifier::new(Profile::Strict, Config::default());
    for role in [Role::Gold, Role::Prediction] {
        for found in verifier.read(text, role) {
            assert!(found.into_text().len() <= 4 * text.len() + 64);
        }
    }
});
