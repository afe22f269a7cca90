//! Parsing any text as an answer: no panic, no stack overflow.
#![no_main]
#![allow(dead_code, unused_imports, missing_docs)]

#[path = "../../src/rules/mod.rs"]
mod rules;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(answer) = rules::expr::parse(text) {
        let rendered = rules::expr::render(&answer);
        assert!(rendered.len() < 100_000);
    }
});
