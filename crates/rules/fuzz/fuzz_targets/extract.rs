//! Finding an answer in any text: no panic, no hang, and no answer much longer than the text.
#![no_main]

use libfuzzer_sys::fuzz_target;

use juror_rules::Config;
use juror_rules::{Extraction, Role, extract};

fuzz_target!(|text: &str| {
    for role in [Role::Gold, Role::Prediction] {
        if let Extraction::Found(found) = extract(text, role, &Config::default()) {
            assert!(found.text.len() <= 4 * text.len() + 64);
        }
    }
});
