//! The decoder's fast path against the decoder on the CPU in f32: logits of every family, in bf16, f16 and FP8, and what the
//! engine generates with steps that are launched before the last one's tokens are known.

use candle_core::DType;
use juror_engine::engine::{Drafts, EngineConfig, TokenLogprobs};
use juror_engine::model::cuda::linear::check_fp8;
use juror_engine::model::precision::{Quantization, WeightType};
use juror_engine::model::{Precision, PrecisionChoice};
use juror_judge::judge::build::{DeviceModel, load_model};
use serde_json::{Value, json};

use super::engines::{generate_with, logits_after, prompts, requests, run, same_but_for_ties};
use super::paged::{Blocks, Sequence, step};
use super::random_model::{
    BLOCK, Random, Stretch, families, families_of_one_gpu, families_with_parts_of_their_own,
    few_bits,
};
use super::{BF16, Difference, Tolerance, floats, gpu};

/// What FP8 may cost: logits of ±5 may differ by this, and all of them on average by an eighth of it.
const FP8: f32 = 1.5;

fn on_gpu(
    random: &Random,
    precision: Precision,
    shared_prefix: bool,
    plain: bool,
) -> Box<dyn DeviceModel> {
    load_model(&random.config, &random.weights, &[gpu()], precision, plain)
        .unwrap()
        .with_cache(
            &EngineConfig {
                blocks: 600,
                least_blocks: 600,
                block_size: BLOCK,
                max_sequences: 1024,
                token_budget: 1024,
                max_prefill_chunk: 1024,
                context_length: random.config.max_positions,
                prefix_cache: true,
                pinned_prefix: Vec::new(),
                drafts: Drafts::Off,
            },
            shared_prefix,
        )
        .unwrap()
}

/// Logits of prompts that are computed in chunks beside each other, some sharing a prefix: on the CPU in f32, and by `model`.
fn compare(name: &str, random: &Random, model: &mut dyn DeviceModel, allowed: f32) {
    // A token whose experts are others, where two were equally likely, may have any logits; there are few.
    let most = if name.contains("MoE") { 3.0 } else { allowed };
    let cpu = random.on_cpu();
    let mut cache = random.cache(600, 6);
    let recurrent = random.config.recurrent.is_some();
    let mut blocks = Blocks::new(600, BLOCK);
    let prompt = |length: usize, salt: usize| -> Vec<u32> {
        (0..length)
            .map(|at| ((at * 37 + salt * 101 + at * at) % random.config.vocab) as u32)
            .collect()
    };
    let short = random.config.rope.short_context();
    let mut sequences: Vec<_> = [(500, 1), (70, 2), (18, 3), (1, 4)]
        .into_iter()
        .map(|(length, salt)| Sequence {
            long: short.is_some_and(|short| length > short),
            ..blocks.sequence(&prompt(length, salt))
        })
        .collect();
    for own in [30, 9] {
        let mut sequence = sequences[0].clone();
        sequence.tokens.truncate(128);
        sequence.tokens.extend(prompt(own, own));
        if recurrent {
            // A prefix is of no use without its state, of which none is saved here.
            sequence.blocks.clear();
        } else {
            sequence.blocks.truncate(128 / BLOCK);
            sequence.cached = 128;
        }
        blocks.grow(&mut sequence);
        sequences.push(sequence);
    }
    for (slot, sequence) in sequences.iter_mut().enumerate() {
        sequence.state = recurrent.then_some(slot as u32);
    }
    let mut difference = Difference::default();
    let mut spread = 0f32;
    let steps: [&[(usize, usize)]; 4] = [
        // So many rows that weights kept in few bits are widened; then few.
        &[(0, 450), (1, 60), (3, 1)],
        &[(0, 1), (1, 9), (2, 17), (4, 29), (5, 8)],
        &[(0, 1), (1, 1), (2, 1), (4, 1), (5, 1)],
        &[(0, 48)],
    ];
    for taken in steps {
        let mut parts: Vec<_> = sequences
            .iter_mut()
            .enumerate()
            .filter_map(|(index, sequence)| {
                let (_, count) = taken.iter().find(|(part, _)| *part == index)?;
                Some((sequence, *count))
            })
            .collect();
        let mut batch = step(&mut parts, BLOCK);
        // Some rows.
        batch.logits.retain(|row| row % 3 != 1);
        let expected = floats(&cpu.forward(&batch, cache.as_mut()).unwrap());
        let ours = floats(&model.logits(&batch).unwrap());
        difference.add(&ours, &expected);
        spread = expected.iter().fold(spread, |most, x| most.max(x.abs()));
    }
    let (worst, mean) = (difference.worst, difference.mean());
    println!(
        "measured | logits up to {spread:.1}, {name} | worst {worst:.1e}, mean {mean:.1e} | {most:.0e}, mean {:.0e}",
        allowed / 8.0
    );
    assert!(
        worst < most && mean < f64::from(allowed / 8.0),
        "{name}: worst {worst:e}, mean {mean:e}"
    );
    assert!(
        spread > 1.0,
        "{name}: logits up to {spread} compare nothing"
    );
}

#[test]
fn logits_of_every_family() {
    for (name, random) in families(&json!({})) {
        for dtype in [DType::BF16, DType::F16] {
            // The mean too is larger where some tokens' experts are others.
            let factor = if name.contains("MoE") { 4.0 } else { 1.0 };
            let allowed = factor * if dtype == DType::BF16 { 0.4 } else { 0.08 };
            for shared_prefix in [true, false] {
                let mut model = on_gpu(&random, Precision::all(dtype), shared_prefix, false);
                assert!(
                    model.properties().async_scheduling,
                    "{name} is computed by plain operations"
                );
                let name = format!("{name}, {dtype:?}, prefixes shared: {shared_prefix}");
                compare(&name, &random, &mut *model, allowed);
            }
        }
    }
}

/// Heads of 256 and 512, bounds of logits, recurrent layers, and what single families have of their own, with and without experts.
#[test]
fn wide_heads_and_recurrent_layers() {
    let newer = families_with_parts_of_their_own(&json!({})).into_iter();
    let newer = newer.map(|(name, _, random)| (name, random));
    for (name, random) in newer.chain(families_of_one_gpu(&json!({}))) {
        for dtype in [DType::BF16, DType::F16] {
            let factor = if name.contains("MoE") { 4.0 } else { 1.0 };
            let allowed = factor * if dtype == DType::BF16 { 0.4 } else { 0.08 };
            let mut model = on_gpu(&random, Precision::all(dtype), true, false);
            assert!(model.properties().async_scheduling, "{name}");
            compare(&format!("{name}, {dtype:?}"), &random, &mut *model, allowed);
        }
    }
}

/// Keys and values far beyond e4m3's 448, whose scales come from the weights; and biases that no scale helps, which are refused.
#[test]
fn keys_and_values_beyond_e4m3() {
    let precision = Precision {
        kv: DType::F8E4M3,
        ..Precision::all(DType::BF16)
    };
    let stretched = |keys_and_values, key_biases| {
        let stretch = Stretch {
            keys_and_values,
            key_biases,
        };
        Random::stretched(
            "LlamaForCausalLM",
            &json!({"attention_bias": true}),
            stretch,
        )
    };
    for factor in [1.0, 256.0] {
        let random = stretched(factor, 1.0);
        let mut model = on_gpu(&random, precision, true, false);
        let name = format!("Llama, keys and values times {factor} in e4m3");
        compare(&name, &random, &mut *model, FP8);
    }
    let random = stretched(1.0, 400.0);
    let error = load_model(&random.config, &random.weights, &[gpu()], precision, false)
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains(
            "no keys and values in FP8 for this model: in layer 0 key head 0 has a bias of"
        ) && error.contains("leave out --kv-dtype fp8"),
        "{error}"
    );
}

#[test]
fn logits_in_fp8() {
    for (name, random) in families(&json!({})) {
        let cache = Precision {
            kv: DType::F8E4M3,
            ..Precision::all(DType::BF16)
        };
        let mut model = on_gpu(&random, cache, true, false);
        compare(&format!("{name}, cache in e4m3"), &random, &mut *model, FP8);
        let weights = Precision {
            weights: WeightType::F8E4M3,
            ..Precision::all(DType::BF16)
        };
        if let Err(error) = check_fp8(gpu().as_cuda_device().unwrap()) {
            println!("measured | weights in e4m3, {name} | {error} | not on this GPU");
            continue;
        }
        let mut model = on_gpu(&random, weights, true, false);
        let name = format!("{name}, weights in e4m3");
        compare(&name, &random, &mut *model, FP8);
    }
}

/// As the checkpoint stores them: the same numbers as on the CPU, so the tolerance is that of plain weights.
#[test]
fn logits_of_weights_as_stored() {
    for (kind, quantization) in few_bits() {
        let family = |name: &str, mut changes: Value| {
            changes["quantization_config"] = quantization["quantization_config"].clone();
            Random::new(name, &changes)
        };
        let mixture = json!({
            "num_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 128, "norm_topk_prob": true,
        });
        for (name, random) in [
            ("Qwen3", family("Qwen3ForCausalLM", json!({}))),
            (
                "Llama",
                family(
                    "LlamaForCausalLM",
                    json!({"attention_bias": true, "mlp_bias": true}),
                ),
            ),
            (
                "GLM-4 0414",
                family(
                    "Glm4ForCausalLM",
                    json!({"attention_bias": true, "partial_rotary_factor": 0.5}),
                ),
            ),
            ("Qwen3-MoE", family("Qwen3MoeForCausalLM", mixture)),
        ] {
            for (dtype, allowed) in [(DType::BF16, 0.4), (DType::F16, 0.08)] {
                let choice = PrecisionChoice {
                    dtype: Some(dtype),
                    quantize: Some(Quantization::Stored),
                    kv: None,
                };
                let precision = choice.resolve(&gpu(), &random.weights).unwrap();
                let mut model = on_gpu(&random, precision, true, false);
                let factor = if name.contains("MoE") { 4.0 } else { 1.0 };
                let name = format!("{name}, {kind} as stored, {dtype:?}");
                compare(&name, &random, &mut *model, factor * allowed);
            }
        }
    }
}

#[test]
fn greedy_tokens_of_launched_steps() {
    for (name, random) in families(&json!({})) {
        let judge = random.on_cpu();
        let prompts = prompts(random.config.vocab);
        let config = EngineConfig {
            blocks: 600,
            least_blocks: 64,
            block_size: BLOCK,
            max_sequences: 64,
            token_budget: 512,
            max_prefill_chunk: 512,
            context_length: random.config.max_positions,
            prefix_cache: true,
            pinned_prefix: Vec::new(),
            drafts: Drafts::Off,
        };
        let run = |config: &EngineConfig, shared_prefix, plain| {
            let model = on_gpu(&random, Precision::all(DType::BF16), shared_prefix, plain);
            generate_with(model, prompts.clone(), config).0
        };
        // Experts can change where two are equally likely.
        let tolerance = Tolerance {
            tie: if name.contains("MoE") { 1.5 } else { BF16.tie },
            ..BF16
        };
        let plain = run(&config, false, true);
        let compare = |ours: &[Vec<u32>], expected: &[Vec<u32>], what: &str| {
            let what = format!("greedy tokens, {name}, bf16: {what}");
            same_but_for_ties(&judge, ours, expected, &tolerance, &what);
        };
        let together = run(&config, true, false);
        compare(&together, &plain, "our kernels, and plain operations");
        compare(
            &run(&config, false, false),
            &together,
            "prefixes attended to one by one, and together",
        );
        let alone = EngineConfig {
            max_sequences: 1,
            ..config.clone()
        };
        compare(
            &run(&alone, true, false),
            &together,
            "one by one, and 64 at once",
        );
        let cramped = EngineConfig {
            blocks: 64,
            max_prefill_chunk: 7,
            ..config.clone()
        };
        compare(
            &run(&cramped, true, false),
            &together,
            "a small cache that preempts and chunks of 7, and a large one",
        );
    }
}

/// Those of the CPU in f32 for the same contexts, where some requests of a batch ask and some do not, with preemption.
#[test]
fn log_probabilities_of_launched_steps() {
    const TOP: usize = 5;
    for (name, random) in families(&json!({})) {
        let judge = random.on_cpu();
        let short = random.config.rope.short_context();
        let config = EngineConfig {
            blocks: 24,
            least_blocks: 24,
            block_size: BLOCK,
            max_sequences: 16,
            token_budget: 512,
            max_prefill_chunk: 7,
            context_length: random.config.max_positions,
            prefix_cache: true,
            pinned_prefix: Vec::new(),
            drafts: Drafts::Off,
        };
        let mut asked = requests(prompts(random.config.vocab));
        asked.truncate(9);
        for request in asked.iter_mut().step_by(3) {
            request.logprobs = Some(TOP);
        }
        let model = on_gpu(&random, Precision::all(DType::BF16), true, false);
        let (completions, stats) = run(model, asked, &config);
        assert!(stats.preemptions > 0, "{stats:?}");
        let mut difference = Difference::default();
        for completion in &completions {
            if completion.id % 3 > 0 {
                assert_eq!(completion.logprobs, []);
                continue;
            }
            assert_eq!(completion.logprobs.len(), completion.tokens.len());
            for (at, ours) in completion.logprobs.iter().enumerate().step_by(3) {
                let ours = ours.as_ref().unwrap();
                let context = [&completion.prompt, &completion.tokens[..at]].concat();
                let long = short.is_some_and(|short| context.len() > short);
                let logits = logits_after(&judge, &context, long);
                let of = |token| TokenLogprobs::from_logits(&logits, token, TOP);
                let expected = of(completion.tokens[at]);
                let values = |top: &[(u32, f32)]| top.iter().map(|top| top.1).collect::<Vec<_>>();
                difference.add(&[ours.logprob], &[expected.logprob]);
                difference.add(&values(&ours.top), &values(&expected.top));
                // The same token by token: those of nearly equal rank may have changed places.
                let theirs = ours.top.iter().map(|(token, _)| of(*token).logprob);
                difference.add(&values(&ours.top), &theirs.collect::<Vec<_>>());
            }
        }
        let (worst, mean) = (difference.worst, difference.mean());
        // Experts can change where two are equally likely.
        let (most, allowed) = if name.contains("MoE") {
            (3.0, 0.2)
        } else {
            (BF16.logit, 0.05)
        };
        println!(
            "measured | log-probabilities, {name}, bf16 | worst {worst:.1e}, mean {mean:.1e} | {most:.0e}, mean {allowed:.0e}"
        );
        assert!(
            worst < most && mean < allowed,
            "{name}: worst {worst:e}, mean {mean:e}"
        );
    }
}
