//! The decoder against Hugging Face transformers, on tiny random checkpoints of every family made
//! by `scripts/golden_models.py`.

use std::path::PathBuf;
use std::sync::Arc;

use crate::paged::{Blocks, Sequence, logits_in_chunks, step};
use candle_core::{DType, Device};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::engine::{Drafts, Engine, EngineConfig, RandomKey, Request, Sampling};
use juror_engine::model::attention::{Attention, AttentionKind, CacheLayout, with_states};
use juror_engine::model::precision::WeightType;
use juror_engine::model::recurrence::RecurrentStates;
use juror_engine::model::{Decoder, Precision, PrecisionChoice};
use juror_judge::judge::build::load_model;

/// Logits lie between −5 and 5; f32 sums taken in another order differ by less than this.
const TOLERANCE: f32 = 1e-4;
const BLOCK: usize = 4;
/// Every checkpoint there is.
pub(crate) const NAMES: &[&str] = &[
    "chatglm",
    "ernie4_5",
    "exaone4",
    "gemma2",
    "gemma3",
    "gemma3-vision",
    "gemma4",
    "gemma4-e2b",
    "gemma4-e4b-towers",
    "gemma4-moe",
    "gemma4-towers",
    "gemma4-unified",
    "gemma4-unified-towers",
    "glm",
    "glm4",
    "glm4_moe",
    "glm4v",
    "gpt-oss",
    "gpt-oss-mxfp4",
    "granite",
    "granite-hybrid",
    "hunyuan",
    "llama",
    "llama-linear",
    "minimax_m2",
    "ministral3",
    "mistral",
    "mistral3",
    "mixtral",
    "olmo2",
    "olmo3",
    "phi3",
    "phi3-longrope",
    "qwen2",
    "qwen2-window",
    "qwen2.5-vl",
    "qwen3-moe",
    "qwen3-tied",
    "qwen3-untied",
    "qwen3-vl",
    "qwen3-vl-moe",
    "qwen3-yarn",
    "qwen3_5",
    "qwen3_5-moe",
    "qwen3_5-towers",
    "qwen3_next",
    "seed_oss",
    "smollm3",
];
/// Implementations of attention; none is the reference.
const KINDS: [Option<AttentionKind>; 3] =
    [None, Some(AttentionKind::Tiled), Some(AttentionKind::Plain)];

pub(crate) struct Checkpoint {
    folder: PathBuf,
    decoder: Decoder,
    /// Token ids, and the logits of every position.
    golden: Vec<(Vec<u32>, Vec<Vec<f32>>)>,
}

impl Checkpoint {
    fn load(name: &str) -> Self {
        Self::of(&format!("tests/data/checkpoints/{name}"))
    }

    /// The model in a folder of this repository, with the logits beside it.
    pub(crate) fn of(folder: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
        let source = juror_judge::catalog::resolve(folder.to_str().unwrap()).unwrap();
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

    fn attention(&self, kind: impl Into<Option<AttentionKind>>) -> Box<dyn Attention> {
        let layout = CacheLayout::from(self.decoder.config());
        let kind = kind.into();
        let attention = crate::attention::build_all(kind, &layout, 64, BLOCK, DType::F32);
        match &self.decoder.config().recurrent {
            Some(recurrent) => with_states(attention, RecurrentStates::new(recurrent.shape, 8)),
            None => attention,
        }
    }

    fn sequences(&self, blocks: &mut Blocks) -> Vec<Sequence> {
        let short = self.decoder.config().rope.short_context();
        let recurrent = self.decoder.config().recurrent.is_some();
        self.golden
            .iter()
            .enumerate()
            .map(|(index, (tokens, _))| Sequence {
                long: short.is_some_and(|short| tokens.len() > short),
                state: recurrent.then_some(index as u32),
                ..blocks.sequence(tokens)
            })
            .collect()
    }

    /// Runs all sequences, each taking up to `chunk` tokens a step, all in the same steps, and compares every logit.
    pub(crate) fn compare(&self, kind: impl Into<Option<AttentionKind>>, chunk: usize) {
        let kind = kind.into();
        let mut attention = self.attention(kind);
        let mut sequences = self.sequences(&mut Blocks::new(64, BLOCK));
        let all = logits_in_chunks(&self.decoder, &mut *attention, &mut sequences, chunk, BLOCK);
        for (index, (ours, (_, golden))) in all.iter().zip(&self.golden).enumerate() {
            assert_eq!(ours.len(), golden.len());
            for (token, (ours, golden)) in ours.iter().zip(golden).enumerate() {
                let name = self.folder.display();
                let place = format!("sequence {index}, token {token}");
                close(
                    ours,
                    golden,
                    &format!("{name}, {kind:?}, chunks of {chunk}, {place}"),
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

/// Also where the last layers have no keys of their own, and only the wanted rows go through them.
#[test]
fn only_the_wanted_rows() {
    for name in ["qwen3-tied", "gemma4-e2b", "gemma4-e4b-towers"] {
        let checkpoint = Checkpoint::load(name);
        let mut sequences = checkpoint.sequences(&mut Blocks::new(64, BLOCK));
        let at = checkpoint.golden.len() - 1;
        let (_, golden) = &checkpoint.golden[at];
        let last = golden.len() - 1;
        for wanted in [vec![0, 3, last], (0..=last).collect(), vec![]] {
            let mut attention = checkpoint.attention(AttentionKind::Tiled);
            sequences[at].cached = 0;
            let mut batch = step(&mut [(&mut sequences[at], last + 1)], BLOCK);
            batch.logits = wanted.iter().map(|&index| index as u32).collect();
            let logits = checkpoint.decoder.forward(&batch, &mut *attention).unwrap();
            assert_eq!(
                logits.dims(),
                [wanted.len(), checkpoint.decoder.config().vocab]
            );
            if !wanted.is_empty() {
                for (ours, index) in logits.to_vec2::<f32>().unwrap().iter().zip(wanted) {
                    close(ours, &golden[index], &format!("{name}, token {index}"));
                }
            }
        }
        // A prompt in chunks, of which the last token alone is wanted, beside another that is wanted whole; then a token more.
        let whole = logit_bits(&checkpoint, usize::MAX, false);
        for kind in [AttentionKind::Tiled, AttentionKind::Plain] {
            let mut attention = checkpoint.attention(kind);
            let mut sequences = checkpoint.sequences(&mut Blocks::new(64, BLOCK));
            let (first, second) = sequences.split_at_mut(at);
            for start in (0..=last).step_by(7) {
                let count = 7.min(last + 1 - start);
                let mut parts = vec![(&mut second[0], count)];
                let beside = start == 0;
                if beside {
                    let length = first[0].tokens.len();
                    parts.push((&mut first[0], length));
                }
                let mut batch = step(&mut parts, BLOCK);
                batch.logits.drain(..count);
                if start + count > last {
                    batch.logits.push(count as u32 - 1);
                }
                let rows = checkpoint.decoder.forward(&batch, &mut *attention).unwrap();
                let rows: Vec<Vec<f32>> = rows.to_vec2().unwrap();
                let expected = if beside {
                    &whole[0][..]
                } else {
                    &whole[at][last..][..rows.len()]
                };
                assert_eq!(rows.len(), expected.len());
                for (row, expected) in rows.iter().zip(expected) {
                    let bits = row.iter().map(|x| x.to_bits());
                    if kind == AttentionKind::Tiled {
                        assert!(bits.eq(expected.iter().copied()), "{name}, {start}");
                    } else {
                        let expected: Vec<f32> =
                            expected.iter().map(|x| f32::from_bits(*x)).collect();
                        close(row, &expected, name);
                    }
                }
            }
        }
    }
}

/// Inputs of each layer where the last layers have keys of their own, which no published model has.
#[test]
fn inputs_of_layers_are_those_of_the_wanted_rows() {
    let e2b = Checkpoint::load("gemma4-e2b");
    let mut config = e2b.decoder.config().clone();
    config.sharing = None;
    let weights = Weights::random(&config, 3);
    let decoder = Decoder::load(&config, &weights, &Device::Cpu, Precision::F32).unwrap();
    let own = Checkpoint { decoder, ..e2b };
    let whole = logit_bits(&own, usize::MAX, false);
    let mut sequences = own.sequences(&mut Blocks::new(64, BLOCK));
    let sequence = &mut sequences[0];
    let last = sequence.tokens.len() - 1;
    let mut batch = step(&mut [(sequence, last + 1)], BLOCK);
    batch.logits = vec![0, last as u32];
    let mut attention = own.attention(AttentionKind::Tiled);
    let rows = own.decoder.forward(&batch, &mut *attention).unwrap();
    let rows: Vec<Vec<f32>> = rows.to_vec2().unwrap();
    for (row, at) in rows.iter().zip([0, last]) {
        let bits = row.iter().map(|x| x.to_bits());
        assert!(bits.eq(whole[0][at].iter().copied()), "token {at}");
    }
    assert_eq!(rows.len(), 2);
}

/// Bits of every token's logits, sequence after sequence, when all sequences go up to `chunk` tokens a step; `together` or
/// one sequence after the other.
fn logit_bits(checkpoint: &Checkpoint, chunk: usize, together: bool) -> Vec<Vec<Vec<u32>>> {
    let mut attention = checkpoint.attention(AttentionKind::Tiled);
    let mut sequences = checkpoint.sequences(&mut Blocks::new(64, BLOCK));
    let group = if together { sequences.len() } else { 1 };
    let bits = |row: Vec<f32>| row.into_iter().map(f32::to_bits).collect();
    sequences
        .chunks_mut(group)
        .flat_map(|sequences| {
            logits_in_chunks(
                &checkpoint.decoder,
                &mut *attention,
                sequences,
                chunk,
                BLOCK,
            )
        })
        .map(|rows| rows.into_iter().map(bits).collect())
        .collect()
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

/// transformers takes the second set of `LongRoPE`'s angles for all tokens as soon as there are more than fit the original
/// context, and computes the cache again then; before that, however many tokens may follow, the first.
#[test]
fn a_text_that_outgrows_the_short_context_goes_on_as_in_transformers() {
    let checkpoint = Checkpoint::load("phi3-longrope");
    let config = checkpoint.decoder.config();
    let short = config.rope.short_context().unwrap();
    let prompts: Vec<Vec<u32>> = [3, short - 9, short - 1, short, short + 1, short + 20]
        .iter()
        .map(|&length| (0..length as u32).map(|i| (i * i * 7 + 3) % 53).collect())
        .collect();
    // The logits of the last token with the set that the length asks for.
    let next = |tokens: &[u32]| -> u32 {
        let mut attention = checkpoint.attention(AttentionKind::Tiled);
        let mut sequence = Sequence {
            long: tokens.len() > short,
            ..Blocks::new(64, BLOCK).sequence(tokens)
        };
        let mut batch = step(&mut [(&mut sequence, tokens.len())], BLOCK);
        batch.logits = vec![tokens.len() as u32 - 1];
        let logits = checkpoint.decoder.forward(&batch, &mut *attention);
        let logits = logits.unwrap().to_vec2::<f32>().unwrap().remove(0);
        let ids = 0..logits.len();
        ids.max_by(|&a, &b| logits[a].total_cmp(&logits[b]))
            .unwrap() as u32
    };
    let expected: Vec<Vec<u32>> = prompts
        .iter()
        .map(|prompt| {
            let mut tokens = prompt.clone();
            while tokens.len() < prompt.len() + 14 {
                tokens.push(next(&tokens));
            }
            tokens.split_off(prompt.len())
        })
        .collect();
    for new in [14, 100] {
        let source = juror_judge::catalog::resolve(checkpoint.folder.to_str().unwrap()).unwrap();
        let weights = Weights::open(&source).unwrap();
        let model = load_model(config, &weights, &[Device::Cpu], Precision::F32, false).unwrap();
        let sizes = EngineConfig {
            blocks: 300,
            least_blocks: 1,
            block_size: BLOCK,
            max_sequences: 4,
            token_budget: 32,
            max_prefill_chunk: 16,
            context_length: 256,
            prefix_cache: true,
            pinned_prefix: Vec::new(),
            drafts: Drafts::Off,
        };
        let model = model.with_cache(&sizes, true).unwrap();
        let mut engine = Engine::new(model, &sizes).unwrap();
        for (id, prompt) in prompts.iter().enumerate() {
            engine.add(Request {
                id: id as u64,
                prompt: prompt.clone(),
                max_new_tokens: new,
                sampling: Sampling::GREEDY,
                random_key: RandomKey {
                    seed: 0,
                    sample: 0,
                    trial: 0,
                },
                eos: Arc::from([]),
                guide: None,
                choices: None,
                logprobs: None,
                background: false,
            });
        }
        let mut completions = Vec::new();
        while engine.has_work() {
            completions.extend(engine.step().unwrap());
        }
        completions.sort_by_key(|completion| completion.id);
        for (completion, expected) in completions.iter().zip(&expected) {
            let length = completion.prompt.len();
            assert_eq!(
                completion.tokens[..14],
                expected[..],
                "{new}: {length} tokens"
            );
        }
    }
}

/// Activations are rounded to eight bits then, and experts may be chosen in another order; weights lose nothing.
#[test]
fn experts_in_mxfp4_may_stay_as_they_are_stored() {
    let mut checkpoint = Checkpoint::load("gpt-oss-mxfp4");
    let source = juror_judge::catalog::resolve(checkpoint.folder.to_str().unwrap()).unwrap();
    let weights = Weights::open(&source).unwrap();
    let precision = PrecisionChoice::default()
        .resolve(&Device::Cpu, &weights)
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
