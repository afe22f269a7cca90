//! Logits on the GPU against those of transformers, whole prompts and in chunks.

use candle_core::{DType, Device};
use juror_engine::model::attention::{self, AttentionKind, AttentionShape};

use super::paged::{Blocks, Sequence, logits_in_chunks};
use super::{BF16, BLOCK, CHECKPOINTS, Checkpoint, Difference, F32, Tolerance, gpu};

/// Of the other families, those without experts: rounding may choose others.
const FAMILIES: [&str; 6] = ["qwen2", "llama", "mistral", "phi3-longrope", "glm", "glm4"];

/// Token ids, and the logits of every position.
fn golden_logits(checkpoint: &Checkpoint) -> Vec<(Vec<u32>, Vec<Vec<f32>>)> {
    let file = checkpoint.folder.join("golden.safetensors");
    let tensors = candle_core::safetensors::load(file, &Device::Cpu).unwrap();
    (0..tensors.len() / 2)
        .map(|i| {
            let tokens = tensors[&format!("tokens.{i}")]
                .to_dtype(DType::U32)
                .unwrap();
            let logits = tensors[&format!("logits.{i}")].to_vec2().unwrap();
            (tokens.to_vec1().unwrap(), logits)
        })
        .collect()
}

fn compare_with_goldens(precision: &Tolerance) {
    let device = gpu();
    for name in CHECKPOINTS.into_iter().chain(FAMILIES) {
        let checkpoint = Checkpoint::open(name);
        let decoder = checkpoint.decoder(&device, precision.dtype);
        let golden = golden_logits(&checkpoint);
        let short = checkpoint.config.rope.short_context();
        let shape = AttentionShape::from(&checkpoint.config);
        for (chunk, label) in [
            (usize::MAX, "whole prompts"),
            (7, "chunks of 7"),
            (1, "chunks of 1"),
        ] {
            let mut cache = attention::build(
                AttentionKind::Plain,
                &shape,
                64,
                BLOCK,
                &device,
                precision.dtype,
            )
            .unwrap();
            let mut blocks = Blocks::new(64, BLOCK);
            let mut sequences: Vec<_> = golden
                .iter()
                .map(|(tokens, _)| Sequence {
                    long: short.is_some_and(|short| tokens.len() > short),
                    ..blocks.sequence(tokens)
                })
                .collect();
            let mut difference = Difference::default();
            let ours = logits_in_chunks(&decoder, &mut *cache, &mut sequences, chunk, BLOCK);
            for (ours, (_, golden)) in ours.iter().zip(&golden) {
                assert_eq!(ours.len(), golden.len());
                for (ours, golden) in ours.iter().zip(golden) {
                    difference.add(ours, golden);
                }
            }
            let (worst, mean) = (difference.worst, difference.mean());
            println!(
                "measured | golden logits, {name}, {:?}, {label} | worst {worst:.1e}, mean {mean:.1e} | {:.0e}, mean {:.0e}",
                precision.dtype,
                precision.logit,
                precision.logit / 10.0
            );
            assert!(
                worst < precision.logit && mean < f64::from(precision.logit / 10.0),
                "{name}, {:?}, {label}: worst {worst:e}, mean {mean:e}",
                precision.dtype
            );
        }
    }
}

#[test]
fn golden_logits_f32() {
    compare_with_goldens(&F32);
}

#[test]
fn golden_logits_bf16() {
    compare_with_goldens(&BF16);
}
