//! Models with real weights against llama.cpp: what `scripts/real_models.py` fetched, and the tokens that it wrote beside them.

use std::path::Path;

use candle_core::{DType, Device};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::model::attention::{AttentionKind, AttentionShape};
use juror_engine::model::{Decoder, PrecisionChoice};
use juror_engine::text::tokenizer::Tokenizer;
use serde_json::Value;

use crate::paged::{Blocks, step};

const BLOCK: usize = 16;
/// llama.cpp rounds activations to eight bits and keys and values to f16. What that is worth shows beside exact arithmetic, which differs
/// from it by up to 0.21.
const LOG_PROBABILITY: f32 = 0.25;
/// Where the two likeliest tokens are closer than this, either may be chosen.
const NEAR_TIE: f64 = 0.25;

#[test]
fn real_models_follow_llama_cpp() {
    let folder = std::env::var("JUROR_REAL_MODELS").unwrap_or_default();
    if folder.is_empty() {
        eprintln!(
            "SKIPPED: no real models; scripts/real_models.py fetches them and runs this test"
        );
        return;
    }
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json") {
            for dtype in [Some(DType::F32), None] {
                follows(&path.with_extension("gguf"), &path, dtype);
            }
            compared += 1;
        }
    }
    assert!(compared > 0, "no file of tokens to compare with");
}

/// Forces the model along llama.cpp's tokens, in exact arithmetic or with products of eight bits, as the weights are stored.
fn follows(model: &Path, tokens: &Path, dtype: Option<DType>) {
    let source = juror_judge::catalog::resolve(model.to_str().unwrap()).unwrap();
    let config = ModelConfig::load(&source).unwrap();
    let weights = Weights::open(&source).unwrap();
    let choice = PrecisionChoice {
        dtype,
        ..PrecisionChoice::default()
    };
    let precision = choice.resolve(&Device::Cpu, &weights).unwrap();
    let decoder = Decoder::load(&config, &weights, &Device::Cpu, precision).unwrap();
    let tokenizer = Tokenizer::from_json(&source.read_text("tokenizer.json").unwrap()).unwrap();
    let rows: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(tokens).unwrap()).unwrap();
    let ids =
        |row: &Value, key: &str| -> Vec<u32> { serde_json::from_value(row[key].clone()).unwrap() };
    for (index, row) in rows.iter().enumerate() {
        let (prompt, chosen) = (ids(row, "prompt_tokens"), ids(row, "tokens"));
        let ours = tokenizer
            .encode_trusted(row["prompt"].as_str().unwrap())
            .unwrap();
        // The token before a text is put there with the template, once.
        let before = prompt.len() - ours.len();
        assert!(
            before <= 1 && prompt[before..] == ours,
            "prompt {index}: {ours:?}, not {prompt:?}"
        );
        let all: Vec<u32> = prompt
            .iter()
            .chain(&chosen[..chosen.len() - 1])
            .copied()
            .collect();
        let blocks = all.len().div_ceil(BLOCK) + 1;
        let shape = AttentionShape::from(&config);
        let mut cache =
            crate::attention::build(AttentionKind::Tiled, &shape, blocks, BLOCK, DType::F32);
        let mut sequence = Blocks::new(blocks as u32, BLOCK).sequence(&all);
        let mut batch = step(&mut [(&mut sequence, all.len())], BLOCK);
        batch.logits = (prompt.len() as u32 - 1..all.len() as u32).collect();
        let logits = decoder
            .forward(&batch, &mut *cache)
            .unwrap()
            .to_vec2::<f32>()
            .unwrap();
        let (mut worst, mut others) = (0f32, 0);
        for (place, (logits, token)) in logits.iter().zip(&chosen).enumerate() {
            let high = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f64 = logits.iter().map(|x| f64::from(x - high).exp()).sum();
            let ours = logits[*token as usize] - high - sum.ln() as f32;
            let theirs = row["logprobs"][place].as_f64().unwrap() as f32;
            worst = worst.max((ours - theirs).abs());
            let best = (0..logits.len())
                .max_by(|a, b| logits[*a].total_cmp(&logits[*b]))
                .unwrap();
            let margin = row["margins"][place].as_f64().unwrap();
            others += usize::from(best != *token as usize);
            assert!(
                margin < NEAR_TIE || best == *token as usize,
                "prompt {index}, token {place}: {best}, not {token}, which is {margin} likelier"
            );
        }
        let name = model.file_stem().unwrap().to_string_lossy();
        let how = dtype.map_or("as stored", |_| "exact");
        eprintln!(
            "| {name} | {} | {how} | {worst:.3} | {others} of {} |",
            prompt.len(),
            chosen.len()
        );
        assert!(worst < LOG_PROBABILITY, "prompt {index}: {worst}");
    }
}
