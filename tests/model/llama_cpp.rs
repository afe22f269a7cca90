//! What llama.cpp says of the same files, made by `scripts/golden_gguf.py`.

use std::path::{Path, PathBuf};

use candle_core::{DType, Device};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::model::attention::{AttentionKind, CacheLayout, with_states};
use juror_engine::model::precision::Quantization;
use juror_engine::model::recurrence::RecurrentStates;
use juror_engine::model::{Decoder, Precision, PrecisionChoice};
use serde_json::Value;

use crate::paged::{Blocks, logits_in_chunks};

const BLOCK: usize = 4;

/// How far log-probabilities may be apart: without flash attention, which rounds to sixteen bits, llama.cpp differs from transformers by up
/// to 0.00001 on these files. In eight bits it rounds activations another way.
const TOLERANCE: f64 = 1e-4;
const OF_EIGHT_BITS: f64 = 0.15;
/// Its GELU is a table in sixteen bits: transformers with such a GELU differs by up to 0.0004, with its own by up to 0.0018, and by 0.0194 of
/// experts, since a router magnifies it.
const OF_GEMMA: f64 = 0.003;
const OF_GEMMA_EXPERTS: f64 = 0.025;
const OF_GEMMA_IN_EIGHT_BITS: f64 = 0.25;

/// Files in f32, and the families that they are.
pub(crate) const FILES: [(&str, &str); 17] = [
    ("ernie4_5", "Ernie4_5"),
    ("exaone4", "Exaone4"),
    ("gemma4", "Gemma4"),
    ("gemma4-e2b", "Gemma4"),
    ("gemma4-moe", "Gemma4"),
    ("glm4moe", "Glm4Moe"),
    ("granite", "Granite"),
    ("hunyuan-dense", "HunYuanDense"),
    ("minimax-m2", "MiniMaxM2"),
    ("mistral3", "Ministral3"),
    ("mixtral", "Mixtral"),
    ("olmo2", "Olmo2"),
    ("olmo3", "Olmo3"),
    ("qwen35", "Qwen3_5"),
    ("qwen35moe", "Qwen3_5Moe"),
    ("seed_oss", "SeedOss"),
    ("smollm3", "SmolLM3"),
];

pub(crate) fn data(path: &str) -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    tests.join(path)
}

fn numbers(values: &Value) -> Vec<f64> {
    let values = values.as_array().unwrap().iter();
    values.map(|value| value.as_f64().unwrap()).collect()
}

/// A model in f32, as stored or quantised; keys and values in f32.
pub(crate) fn load(path: &Path, quantize: Option<Quantization>) -> Decoder {
    let source = juror_judge::catalog::resolve(path.to_str().unwrap()).unwrap();
    let config = ModelConfig::load(&source).unwrap();
    let weights = Weights::open(&source).unwrap();
    let choice = PrecisionChoice {
        quantize,
        ..PrecisionChoice::default()
    };
    let precision = Precision {
        kv: DType::F32,
        ..choice.resolve(&Device::Cpu, &weights).unwrap()
    };
    Decoder::load(&config, &weights, &Device::Cpu, precision).unwrap()
}

pub(crate) fn logits(decoder: &Decoder, tokens: &[u32], chunk: usize) -> Vec<Vec<f32>> {
    let config = decoder.config();
    let (layout, kind) = (CacheLayout::from(config), Some(AttentionKind::Tiled));
    let mut cache = crate::attention::build_all(kind, &layout, 64, BLOCK, DType::F32);
    let mut sequences = [Blocks::new(64, BLOCK).sequence(tokens)];
    if let Some(recurrent) = &config.recurrent {
        cache = with_states(cache, RecurrentStates::new(recurrent.shape, 1));
        sequences[0].state = Some(0);
    }
    logits_in_chunks(decoder, &mut *cache, &mut sequences, chunk, BLOCK).remove(0)
}

#[test]
fn files_follow_llama_cpp() {
    let of_eight_bits = [
        ("gemma4-q8_0", "Gemma4"),
        ("gemma4-e2b-q8_0", "Gemma4"),
        ("gemma4-moe-q8_0", "Gemma4"),
        ("qwen35-q8_0", "Qwen3_5"),
        ("qwen35moe-q8_0", "Qwen3_5Moe"),
    ];
    for (name, family) in FILES.into_iter().chain(of_eight_bits) {
        let tolerance = match (name.starts_with("gemma"), name.ends_with("q8_0")) {
            (false, false) => TOLERANCE,
            (true, false) if name == "gemma4-moe" => OF_GEMMA_EXPERTS,
            (false, true) => OF_EIGHT_BITS,
            (true, false) => OF_GEMMA,
            (true, true) => OF_GEMMA_IN_EIGHT_BITS,
        };
        let path = data(&format!("gguf/{name}.gguf"));
        let decoder = load(&path, None);
        assert_eq!(decoder.config().family.name(), family);
        let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let golden: Value = serde_json::from_str(&text).unwrap();
        for case in golden.as_array().unwrap() {
            let ids = |key: &str| numbers(&case[key]).into_iter().map(|id| id as u32);
            let (prompt, chosen): (Vec<u32>, Vec<u32>) =
                (ids("prompt").collect(), ids("ids").collect());
            let tokens = [prompt.clone(), chosen.clone()].concat();
            for chunk in [usize::MAX, 7, 1] {
                let rows = logits(&decoder, &tokens, chunk);
                let (expected, margins) = (numbers(&case["logprobs"]), numbers(&case["margins"]));
                for (at, token) in chosen.iter().enumerate() {
                    let row = &rows[prompt.len() + at - 1];
                    let sum: f64 = row.iter().map(|x| f64::from(*x).exp()).sum();
                    let ours = f64::from(row[*token as usize]) - sum.ln();
                    let place = format!("{name}, {} tokens, chunks of {chunk}, {at}", prompt.len());
                    assert!(
                        (ours - expected[at]).abs() < tolerance,
                        "{place}: {ours} and {}",
                        expected[at]
                    );
                    let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]));
                    assert!(
                        best == Some(*token as usize) || margins[at] < 2.0 * tolerance,
                        "{place}"
                    );
                }
            }
        }
    }
}

#[test]
fn weights_of_these_families_may_be_quantised() {
    let tokens: Vec<u32> = (0..30).map(|at| at * 11 % 53).collect();
    for (name, _) in FILES {
        let path = data(&format!("gguf/{name}.gguf"));
        let exact = logits(&load(&path, None), &tokens, 30);
        let rounded = logits(&load(&path, Some(Quantization::Q8_0)), &tokens, 30);
        let pairs = exact.iter().flatten().zip(rounded.iter().flatten());
        let differences: f32 = pairs.map(|(a, b)| (a - b).abs()).sum();
        // A token may go to another expert.
        let mean = differences / exact.concat().len() as f32;
        let most = if name == "gemma4-moe" { 0.3 } else { 0.15 };
        assert!((1e-4..most).contains(&mean), "{name}: {mean}");
    }
}

/// A file without a key that its architecture needs, or with one that the family cannot follow.
#[test]
fn what_a_file_lacks_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (name, key) in [
        ("granite", "granite.attention.scale"),
        ("glm4moe", "glm4moe.expert_feed_forward_length"),
        ("glm4moe", "glm4moe.expert_count"),
        ("minimax-m2", "minimax-m2.expert_used_count"),
        ("mixtral", "llama.expert_count"),
        ("olmo3", "olmo2.feed_forward_length"),
    ] {
        let mut bytes = std::fs::read(data(&format!("gguf/{name}.gguf"))).unwrap();
        let mut places = bytes.windows(key.len());
        let at = places.position(|window| window == key.as_bytes()).unwrap();
        bytes[at] = b'Q';
        let path = folder.path().join("damaged.gguf");
        std::fs::write(&path, bytes).unwrap();
        let error = juror_judge::catalog::resolve(path.to_str().unwrap()).err();
        let error = error.map_or_else(String::new, |error| error.to_string());
        assert!(
            error.contains(&format!("no {key} in its metadata")),
            "{name}: {error}"
        );
    }
}
