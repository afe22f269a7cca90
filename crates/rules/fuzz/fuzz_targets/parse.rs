//! Parsing any text as an answer: no panic, no stack overflow.
#![no_main]

use juror_rules::describe;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(rendered) = describe(text) {
        assert!(rendered.len() < 100_000);
    }
});
