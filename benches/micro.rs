//! What a verdict costs beside the model: prompt, parser, rules, block pool.

#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench that cannot run should stop"
)]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use juror::checkpoint::ModelSource;
use juror::dataset::{LoadOptions, Sample, load};
use juror::engine::{BlockHash, BlockPool};
use juror::judge::JudgeText;
use juror::protocol::{self, PromptTemplate};
use juror::rules::{Config, OutcomeRules, RulesProfile};

fn samples() -> Vec<Sample> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tiny/domain.jsonl");
    load(&[data.into()], &LoadOptions::default())
        .expect("the bench's data are in the repository")
        .samples
}

fn prompt(criterion: &mut Criterion) {
    let source = ModelSource::resolve("tiny").expect("the embedded model");
    let protocol = protocol::known()[0].clone();
    let template = PromptTemplate::parse(protocol.template_text().unwrap_or_default())
        .expect("the built-in prompt");
    let text =
        JudgeText::load(&source, &protocol, &template).expect("the embedded model's text side");
    let samples = samples();
    let mut group = criterion.benchmark_group("prompt");
    group.throughput(Throughput::Elements(samples.len() as u64));
    group.bench_function("tokens of 300 samples", |bencher| {
        bencher.iter(|| {
            for sample in &samples {
                black_box(text.prompts.tokens(sample).expect("a tokenisable sample"));
            }
        });
    });
    group.finish();
}

fn parse(criterion: &mut Criterion) {
    let protocol = protocol::known()[0].clone();
    let thinking = "12+5=17 17 yes ; 17-4=13 14 no\n".repeat(4);
    let short = format!(
        "<think>{thinking}</think>\n<process> False </process>\n<outcome> True </outcome>\n<perfect> False </perfect>"
    );
    let long = format!(
        "<think>{}</think>{short}",
        "Let me look at the next step again. ".repeat(400)
    );
    let mut group = criterion.benchmark_group("parse");
    for (name, completion) in [("short thinking", &short), ("14 kB of thinking", &long)] {
        group.throughput(Throughput::Bytes(completion.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| protocol.parse(black_box(completion), false));
        });
    }
    group.finish();
}

fn rules(criterion: &mut Criterion) {
    let samples = samples();
    let rules = OutcomeRules::new(RulesProfile::Gsm8k, Config::default());
    let mut group = criterion.benchmark_group("rules");
    group.throughput(Throughput::Elements(samples.len() as u64));
    group.bench_function("numeric comparison of 300 samples", |bencher| {
        bencher.iter(|| {
            for sample in &samples {
                black_box(rules.verify(&sample.reference_answer, &sample.student_answer));
            }
        });
    });
    group.finish();
}

fn block_pool(criterion: &mut Criterion) {
    let tokens: Vec<u32> = (0..1600).collect();
    let hashes = BlockHash::chain_all(None, &tokens, 16);
    let mut group = criterion.benchmark_group("block pool");
    group.throughput(Throughput::Elements(hashes.len() as u64));
    group.bench_function("name 100 blocks", |bencher| {
        bencher.iter(|| BlockHash::chain_all(None, black_box(&tokens), 16));
    });
    group.bench_function("allocate, publish, find, release 100 blocks", |bencher| {
        bencher.iter_batched_ref(
            || BlockPool::new(200, 16, true),
            |pool| {
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
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, prompt, parse, rules, block_pool);
criterion_main!(benches);
