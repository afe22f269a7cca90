//! The decoder against Hugging Face transformers and candle-transformers, on tiny random checkpoints of every family made
//! by `scripts/golden_models.py`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod paged;

use std::collections::HashMap;
use std::path::PathBuf;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::qwen3;
use juror::model::attention::{self, Attention, AttentionKind, AttentionShape};
use juror::model::precision::WeightType;
use juror::model::{Decoder, ModelConfig, ModelSource, Precision, PrecisionChoice, Weights};
use paged::{Blocks, Sequence, step};

/// Logits lie between −5 and 5; f32 sums taken in another order differ by less than this.
const TOLERANCE: f32 = 1e-4;
const BLOCK: usize = 4;
/// Every checkpoint there is.
const NAMES: [&str; 16] = [
    "chatglm",
    "glm",
    "glm4",
    "gpt-oss",
    "gpt-oss-mxfp4",
    "llama",
    "llama-linear",
    "mistral",
    "phi3",
    "phi3-longrope",
    "qwen2",
    "qwen2-window",
    "qwen3-moe",
    "qwen3-tied",
    "qwen3-untied",
    "qwen3-yarn",
];
const KINDS: [AttentionKind; 3] = [
    AttentionKind::Reference,
    AttentionKind::Tiled,
    AttentionKind::Plain,
];

struct Checkpoint {
    folder: PathBuf,
    decoder: Decoder,
    /// Token ids, and the logits of every position.
    golden: Vec<(Vec<u32>, Vec<Vec<f32>>)>,
}

impl Checkpoint {
    fn load(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data/checkpoints")
            .join(name);
        let source = ModelSource::resolve(folder.to_str().unwrap()).unwrap();
        let config = ModelConfig::load(&source).unwrap();
        let weights = Weights::open(&source).unwrap();
        let decoder = Decoder::load(&config, &weights, &Device::Cpu, Precision::F32).unwrap();
        let tensors =
            candle_core::safetensors::load(folder.join("golden.safetensors"), &Device::Cpu)
                .unwrap();
        let golden = (0..tensors.len() / 2)
            .map(|i| {
                let tokens = tensors[&format!("tokens.{i}")]
                    .to_dtype(DType::U32)
                    .unwrap()
                    .to_vec1()
                    .unwrap();
                (tokens, tensors[&format!("logits.{i}")].to_vec2().unwrap())
            })
            .collect();
        Self {
            folder,
            decoder,
            golden,
        }
    }

    fn attention(&self, kind: AttentionKind) -> Box<dyn Attention> {
        let shape = AttentionShape::from(self.decoder.config());
        attention::build(kind, &shape, 64, BLOCK, &Device::Cpu, DType::F32).unwrap()
    }

    fn sequences(&self, blocks: &mut Blocks) -> Vec<Sequence> {
        let short = self.decoder.config().rope.short_context();
        self.golden
            .iter()
            .map(|(tokens, _)| Sequence {
                long: short.is_some_and(|short| tokens.len() > short),
                ..blocks.sequence(tokens)
            })
            .collect()
    }

    /// Runs all sequences, each taking up to `chunk` tokens a step, all in the same steps, and compares every logit.
    fn compare(&self, kind: AttentionKind, chunk: usize) {
        let mut attention = self.attention(kind);
        let mut sequences = self.sequences(&mut Blocks::new(64, BLOCK));
        loop {
            let mut expected = Vec::new();
            let mut parts = Vec::new();
            for (sequence, (_, logits)) in sequences.iter_mut().zip(&self.golden) {
                let count = chunk.min(sequence.tokens.len() - sequence.cached);
                if count > 0 {
                    expected.extend(&logits[sequence.cached..sequence.cached + count]);
                    parts.push((sequence, count));
                }
            }
            if parts.is_empty() {
                return;
            }
            let batch = step(&mut parts, BLOCK);
            let logits = self
                .decoder
                .forward(&batch, &mut *attention)
                .unwrap()
                .to_vec2::<f32>()
                .unwrap();
            assert_eq!(logits.len(), expected.len());
            for (token, (ours, golden)) in logits.iter().zip(expected).enumerate() {
                close(
                    ours,
                    golden,
                    &format!(
                        "{}, {kind:?}, chunks of {chunk}, token {token}",
                        self.folder.display()
                    ),
                );
            }
        }
    }
}

fn close(ours: &[f32], golden: &[f32], what: &str) {
    assert_eq!(ours.len(), golden.len());
    for (id, (a, b)) in ours.iter().zip(golden).enumerate() {
        assert!(
            (a - b).abs() < TOLERANCE,
            "{what}: logit {id} is {a}, expected {b}"
        );
    }
}

#[test]
fn every_checkpoint_is_compared() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/checkpoints");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, NAMES);
}

#[test]
fn logits_equal_those_of_transformers() {
    for name in NAMES {
        let checkpoint = Checkpoint::load(name);
        for kind in KINDS {
            for chunk in [usize::MAX, 7, 1] {
                checkpoint.compare(kind, chunk);
            }
        }
    }
}

#[test]
fn logits_equal_those_of_candle_transformers() {
    for name in ["qwen3-tied", "qwen3-untied"] {
        let checkpoint = Checkpoint::load(name);
        let ours = checkpoint.decoder.config();
        let config = qwen3::Config {
            vocab_size: ours.vocab,
            hidden_size: ours.hidden,
            intermediate_size: ours.intermediate,
            num_hidden_layers: ours.layers,
            num_attention_heads: ours.heads,
            head_dim: ours.head_dim,
            attention_bias: ours.biases.qkv,
            num_key_value_heads: ours.kv_heads,
            max_position_embeddings: ours.max_positions,
            sliding_window: None,
            max_window_layers: ours.layers,
            tie_word_embeddings: ours.tie_embeddings,
            rope_theta: ours.rope.theta,
            rms_norm_eps: ours.rms_norm_eps,
            use_sliding_window: false,
            hidden_act: candle_nn::Activation::Silu,
        };
        let mut tensors: HashMap<String, Tensor> = HashMap::new();
        for entry in std::fs::read_dir(&checkpoint.folder).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap();
            if file.starts_with("model") && file.ends_with(".safetensors") {
                tensors.extend(candle_core::safetensors::load(&path, &Device::Cpu).unwrap());
            }
        }
        let vars = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        let mut theirs = qwen3::ModelForCausalLM::new(&config, vars).unwrap();
        let mut blocks = Blocks::new(64, BLOCK);
        for (tokens, _) in &checkpoint.golden {
            theirs.clear_kv_cache();
            let mut attention = checkpoint.attention(AttentionKind::Tiled);
            let mut sequence = blocks.sequence(tokens);
            let batch = step(&mut [(&mut sequence, tokens.len())], BLOCK);
            let logits = checkpoint
                .decoder
                .forward(&batch, &mut *attention)
                .unwrap()
                .to_vec2::<f32>()
                .unwrap();
            for (position, (token, ours)) in tokens.iter().zip(&logits).enumerate() {
                let input = Tensor::new(&[[*token]], &Device::Cpu).unwrap();
                let expected = theirs
                    .forward(&input, position)
                    .unwrap()
                    .flatten_all()
                    .unwrap()
                    .to_vec1()
                    .unwrap();
                close(ours, &expected, &format!("{name}, position {position}"));
            }
        }
    }
}

#[test]
fn only_the_wanted_rows_in_the_wanted_order() {
    let checkpoint = Checkpoint::load("qwen3-tied");
    let mut sequences = checkpoint.sequences(&mut Blocks::new(64, BLOCK));
    let (_, golden) = &checkpoint.golden[2];
    let last = golden.len() - 1;
    for wanted in [vec![last, 0, 3], (0..=last).rev().collect(), vec![]] {
        let mut attention = checkpoint.attention(AttentionKind::Tiled);
        sequences[2].cached = 0;
        let mut batch = step(&mut [(&mut sequences[2], last + 1)], BLOCK);
        batch.logits = wanted.iter().map(|&index| index as u32).collect();
        let logits = checkpoint.decoder.forward(&batch, &mut *attention).unwrap();
        assert_eq!(
            logits.dims(),
            [wanted.len(), checkpoint.decoder.config().vocab]
        );
        if !wanted.is_empty() {
            for (ours, index) in logits.to_vec2::<f32>().unwrap().iter().zip(wanted) {
                close(ours, &golden[index], &format!("token {index}"));
            }
        }
    }
}

/// Bits of every token's logits, sequence after sequence, when all sequences go up to `chunk` tokens a step; `together` or
/// one sequence after the other.
fn logit_bits(checkpoint: &Checkpoint, chunk: usize, together: bool) -> Vec<Vec<Vec<u32>>> {
    let mut attention = checkpoint.attention(AttentionKind::Tiled);
    let mut sequences = checkpoint.sequences(&mut Blocks::new(64, BLOCK));
    let mut all = vec![Vec::new(); sequences.len()];
    let companies: Vec<Vec<usize>> = if together {
        vec![(0..sequences.len()).collect()]
    } else {
        (0..sequences.len()).map(|index| vec![index]).collect()
    };
    for company in companies {
        loop {
            let mut owners = Vec::new();
            let mut parts = Vec::new();
            for (index, sequence) in sequences.iter_mut().enumerate() {
                let count = chunk.min(sequence.tokens.len() - sequence.cached);
                if company.contains(&index) && count > 0 {
                    owners.extend(std::iter::repeat_n(index, count));
                    parts.push((sequence, count));
                }
            }
            if parts.is_empty() {
                break;
            }
            let batch = step(&mut parts, BLOCK);
            let logits = checkpoint
                .decoder
                .forward(&batch, &mut *attention)
                .unwrap()
                .to_vec2::<f32>()
                .unwrap();
            for (owner, row) in owners.into_iter().zip(logits) {
                all[owner].push(row.into_iter().map(f32::to_bits).collect());
            }
        }
    }
    all
}

#[test]
fn logits_are_bitwise_the_same_alone_together_and_in_any_chunks() {
    for name in NAMES {
        let checkpoint = Checkpoint::load(name);
        let whole = logit_bits(&checkpoint, usize::MAX, false);
        for (chunk, together) in [
            (usize::MAX, true),
            (7, true),
            (1, true),
            (7, false),
            (1, false),
        ] {
            assert!(
                logit_bits(&checkpoint, chunk, together) == whole,
                "{name}: chunks of {chunk}, together: {together}"
            );
        }
    }
}

/// Activations are rounded to eight bits then, and experts may be chosen in another order; weights lose nothing.
#[test]
fn experts_in_mxfp4_may_stay_as_they_are_stored() {
    let mut checkpoint = Checkpoint::load("gpt-oss-mxfp4");
    let source = ModelSource::resolve(checkpoint.folder.to_str().unwrap()).unwrap();
    let weights = Weights::open(&source).unwrap();
    let precision = PrecisionChoice::default()
        .resolve(&Device::Cpu, weights.stored())
        .unwrap();
    assert!(matches!(precision.weights, WeightType::Stored { .. }));
    let config = checkpoint.decoder.config().clone();
    checkpoint.decoder = Decoder::load(&config, &weights, &Device::Cpu, precision).unwrap();
    let whole = logit_bits(&checkpoint, usize::MAX, true);
    assert!(logit_bits(&checkpoint, 7, false) == whole);
    let pairs = whole
        .iter()
        .zip(&checkpoint.golden)
        .flat_map(|(ours, (_, golden))| {
            let ours = ours.iter().flatten().map(|bits| f32::from_bits(*bits));
            ours.zip(golden.iter().flatten())
        });
    let differences: Vec<f32> = pairs.map(|(ours, golden)| (ours - golden).abs()).collect();
    let mean = differences.iter().sum::<f32>() / differences.len() as f32;
    let worst = differences.iter().copied().fold(0.0, f32::max);
    assert!(mean < 0.02 && worst < 0.3, "mean {mean}, worst {worst}");
    assert!(worst > 1e-4, "the weights were made plain numbers");
}
