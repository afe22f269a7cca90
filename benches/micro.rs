//! The cost of a verdict apart from the model: prompt, parser, rules, block pool, masks of grammars.
//!
//! ```sh
//! cargo bench --bench micro            # everything
//! cargo bench --bench micro -- grammar # or another room
//! ```
//!
//! Prints the median of the rounds that fit into two seconds, ten at least, and what that is for each thing in a round.

#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench that cannot run should stop"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use juror_data::{LoadOptions, Sample, load};
use juror_engine::engine::{BlockHash, BlockPool, Then};
use juror_engine::grammar::{GrammarCompiler, GrammarRun, GrammarSource};
use juror_engine::text::tokenizer::Tokenizer;
use juror_judge::judge::JudgeText;
use juror_judge::protocol::{self, PromptTemplate};
use juror_rules::{Config, OutcomeRules, RulesProfile};
use serde_json::{Map, Value, json};

/// How long a row is repeated, after a fifth of it that does not count.
const TIME: Duration = Duration::from_secs(2);

/// What a round of `work` takes on what `prepare` makes for it. `count` things are done in a round.
fn measure<I, O>(
    name: &str,
    count: usize,
    mut prepare: impl FnMut() -> I,
    mut work: impl FnMut(&mut I) -> O,
) {
    let mut round = || {
        let mut input = prepare();
        let start = Instant::now();
        let made = black_box(work(&mut input));
        let took = start.elapsed();
        drop(made);
        took
    };
    let start = Instant::now();
    while start.elapsed() < TIME / 5 {
        round();
    }
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < TIME || times.len() < 10 {
        times.push(round());
    }
    times.sort();
    let median = times[times.len() / 2];
    let each = median / count as u32;
    println!("{name:55} {median:>12.2?} {each:>12.2?} each");
}

fn samples() -> Vec<Sample> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tiny/domain.jsonl");
    load(&[data.into()], &LoadOptions::default())
        .expect("the bench's data are in the repository")
        .samples
}

fn prompt() {
    let source = juror_judge::catalog::resolve("tiny").expect("the embedded model");
    let protocol = protocol::find("prime").expect("a built-in protocol");
    let template = PromptTemplate::parse(protocol.template.as_deref().unwrap_or_default())
        .expect("the built-in prompt");
    let text =
        JudgeText::load(&source, &protocol, &template).expect("the embedded model's text side");
    let samples = samples();
    let tokens = |(): &mut ()| {
        for sample in &samples {
            black_box(text.prompts.tokens(sample).expect("a tokenisable sample"));
        }
    };
    measure("prompt: tokens of samples", samples.len(), || (), tokens);
}

fn parse() {
    let protocol = protocol::find("prime").expect("a built-in protocol");
    let thinking = "12+5=17 17 yes ; 17-4=13 14 no\n".repeat(4);
    let short = format!(
        "<think>{thinking}</think>\n<process> False </process>\n<outcome> True </outcome>\n<perfect> False </perfect>"
    );
    let long = format!(
        "<think>{}</think>{short}",
        "Let me look at the next step again. ".repeat(400)
    );
    for (name, completion) in [
        ("parse: short thinking", &short),
        ("parse: 14 kB of thinking", &long),
    ] {
        let parse = |(): &mut ()| protocol.parse(black_box(completion), false);
        measure(name, 1, || (), parse);
    }
}

fn rules() {
    let samples = samples();
    let rules = OutcomeRules::new(RulesProfile::Gsm8k, Config::default());
    let verify = |(): &mut ()| {
        for sample in &samples {
            black_box(rules.verify(&sample.reference_answer, &sample.student_answer));
        }
    };
    measure("rules: numeric comparison", samples.len(), || (), verify);
}

fn block_pool() {
    let tokens: Vec<u32> = (0..1600).collect();
    let hashes = BlockHash::chain_all(None, &tokens, 16);
    let name = |(): &mut ()| BlockHash::chain_all(None, black_box(&tokens), 16);
    measure("block pool: name blocks", hashes.len(), || (), name);
    let live = |pool: &mut BlockPool| {
        let blocks: Vec<_> = hashes.iter().filter_map(|_| pool.allocate()).collect();
        for (&block, &hash) in blocks.iter().zip(&hashes) {
            pool.publish(block, hash);
        }
        for &hash in &hashes {
            black_box(pool.find(hash));
        }
        for block in blocks {
            pool.release(block);
        }
    };
    let pool = || BlockPool::new(200, 16, true);
    let name = "block pool: allocate, publish, find, release blocks";
    measure(name, hashes.len(), pool, live);
}

/// A vocabulary of `count` tokens: characters, JSON punctuation, and generated words.
fn made_up_vocabulary(count: usize) -> Tokenizer {
    let mut vocabulary = Map::new();
    let mut add = |piece: String| {
        let id = vocabulary.len();
        vocabulary.entry(piece).or_insert_with(|| id.into());
        vocabulary.len()
    };
    for character in ('!'..='~').chain(['Ġ', 'Ċ']) {
        add(character.to_string());
    }
    for mark in [
        "{\"", "\":", "\",", "\"}", "Ġ\"", ",Ġ\"", ":Ġ\"", "\\n", "\\\"",
    ] {
        add(mark.to_owned());
    }
    let mut state = 1_u64;
    loop {
        let mut number = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut word = ["", "Ġ", "Ġ"][number(3) as usize].to_owned();
        for _ in 0..2 + number(7) {
            word.push(char::from(b'a' + number(26) as u8));
        }
        if add(word) == count - 1 {
            break;
        }
    }
    let end = json!({"id": count - 1, "content": "<|end|>", "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": false, "special": true});
    let byte_level = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false});
    let document = json!({"version": "1.0", "added_tokens": [end], "pre_tokenizer": byte_level, "decoder": byte_level,
        "model": {"type": "BPE", "vocab": Value::Object(vocabulary), "merges": []}});
    Tokenizer::from_json(&document.to_string()).expect("a tokenizer")
}

/// The tokens that may come next in 64 answers of a JSON schema at once.
fn grammar() {
    let tokenizer = Arc::new(made_up_vocabulary(151_936));
    let schema = json!({"type": "object", "properties": {"verdict": {"enum": ["correct", "incorrect"]},
        "model_answer": {"type": ["string", "null"]}, "explanation": {"type": "string"}}, "required": ["verdict"],
        "additionalProperties": false});
    let source = GrammarSource::JsonSchema(schema.to_string());
    let compiler = || GrammarCompiler::new(&tokenizer, &[151_935]).expect("a vocabulary of bytes");
    let name = "grammar: a vocabulary of 151,936 tokens";
    measure(name, 1, || (), |()| compiler());
    let compiler = compiler();
    let compile = || compiler.compile(&source).expect("a schema");
    measure("grammar: a schema", 1, || (), |()| compile());
    let grammar = compile();
    for (name, text) in [
        ("grammar: 64 choices of a word", "{\"verdict\": \""),
        (
            "grammar: 64 tokens of a text",
            "{\"verdict\": \"correct\", \"model_answer\": null, \"explanation\": \"The",
        ),
    ] {
        let tokens = tokenizer.encode_untrusted(text).expect("a text");
        let runs = || -> Vec<GrammarRun> {
            let runs = (0..64).map(|_| {
                let mut run = grammar.begin();
                for &token in &tokens {
                    run.push(token);
                }
                run
            });
            runs.collect()
        };
        let masks = |runs: &mut Vec<GrammarRun>| {
            let next: Vec<_> = runs.iter_mut().map(|run| run.next(Vec::new())).collect();
            for next in &next {
                if let Then::OneOf { tokens, .. } = &next.then {
                    black_box(tokens.tokens());
                }
            }
            next
        };
        measure(name, 64, runs, masks);
    }
}

fn main() {
    // Running all targets as tests runs benches too, but without this word.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let asked: Vec<String> = (std::env::args().skip(1))
        .filter(|word| !word.starts_with('-'))
        .collect();
    let rooms: [(&str, fn()); 5] = [
        ("grammar", grammar),
        ("prompt", prompt),
        ("parse", parse),
        ("rules", rules),
        ("block_pool", block_pool),
    ];
    let known = |word: &String| rooms.iter().any(|(name, _)| name == word);
    if let Some(word) = asked.iter().find(|word| !known(word)) {
        eprintln!(
            "{word}: rows are of {}",
            rooms.map(|(name, _)| name).join(", ")
        );
    }
    for (name, room) in rooms {
        if asked.is_empty() || asked.iter().any(|word| word == name) {
            room();
        }
    }
}
