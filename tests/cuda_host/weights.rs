//! Weights in FP8 and four bits.

use super::*;

/// FP8 is coarse, so this says only that scales are applied, once and to the right rows, in both ways; of weights that are
/// quantised here, and of those that a checkpoint stores so.
#[test]
fn fp8_weights_with_scales_in_the_product_and_after_it() {
    let _alone = alone();
    let [_, (_, by_outputs), _] = few_bits();
    let stored = |family: &str, mut sizes: Value| {
        sizes["quantization_config"] = by_outputs["quantization_config"].clone();
        Random::new(family, &sizes)
    };
    let mut mixture = small();
    for (key, count) in [
        ("num_experts", 4),
        ("num_experts_per_tok", 2),
        ("moe_intermediate_size", 64),
    ] {
        mixture[key] = json!(count);
    }
    let fp8 = Precision {
        weights: WeightType::F8E4M3,
        ..Precision::all(DType::BF16)
    };
    for (name, random) in [
        ("quantised", qwen3()),
        ("as stored", stored("Qwen3ForCausalLM", small())),
        ("experts as stored", stored("Qwen3MoeForCausalLM", mixture)),
    ] {
        for scales in [1, 0] {
            imitation::set(&format!("scales={scales}"));
            let generated = generate(load(&random, &device(0), fp8).unwrap(), &random).unwrap();
            imitation::set("scales=1");
            let [logit, odds, _] = distance(&random, &generated);
            println!("{name}, scales by row: {scales}: logits {logit:.3}, odds {odds:.3}");
            assert!(
                logit < 0.6 && odds < 0.1,
                "{name}, scales by row: {scales}: logits {logit}, odds {odds}"
            );
        }
    }
}

/// What single families have of their own, under weights and products in FP8, and where it cannot be: keys and values in FP8.
#[test]
fn families_with_parts_of_their_own_in_fp8() {
    let _alone = alone();
    for (name, _, random) in families_with_parts_of_their_own(&small()) {
        let fp8 = Precision {
            weights: WeightType::F8E4M3,
            ..Precision::all(DType::BF16)
        };
        let generated = generate(load(&random, &device(0), fp8).unwrap(), &random).unwrap();
        let [logit, odds, _] = distance(&random, &generated);
        println!("{name}, weights in FP8: logits {logit:.3}, odds {odds:.3}");
        let (most, far) = if name.contains("MoE") {
            (1.5, 0.2)
        } else {
            (0.6, 0.1)
        };
        assert!(
            logit < most && odds < far,
            "{name}: logits {logit}, odds {odds}"
        );
        let cache = Precision {
            kv: DType::F8E4M3,
            ..Precision::all(DType::BF16)
        };
        let unbounded = ["EXAONE", "OLMo", "MiniMax", "Gemma 4"];
        let unbounded = unbounded.iter().any(|family| name.contains(family));
        match load_model(&random.config, &random.weights, &[device(0)], cache, false) {
            Ok(_) => assert!(!unbounded, "{name}"),
            Err(error) => {
                // Heads of 32 are too narrow for it in any case.
                let why = if unbounded {
                    "keys and values of"
                } else {
                    "heads of 32 in a cache in FP8"
                };
                assert!(error.to_string().contains(why), "{name}: {error}");
            }
        }
    }
}

/// Weights that stay in FP8 or four bits are the same numbers as on the CPU, in less memory.
#[test]
fn weights_as_the_checkpoint_stores_them() {
    let _alone = alone();
    let mut cases = Vec::new();
    for family in ["Qwen3ForCausalLM", "Glm4ForCausalLM", "Qwen3MoeForCausalLM"] {
        cases.extend(few_bits().map(|(stored, quantization)| (family, stored, quantization)));
    }
    for (family, stored, quantization) in cases {
        let name = format!("{family}, {stored}");
        let mut sizes = small();
        sizes["quantization_config"] = quantization["quantization_config"].clone();
        sizes["num_hidden_layers"] = json!(4);
        if family.contains("Moe") {
            sizes["num_experts"] = json!(4);
            sizes["num_experts_per_tok"] = json!(2);
            sizes["moe_intermediate_size"] = json!(64);
        }
        let random = Random::new(family, &sizes);
        let loaded = |quantize| {
            let choice = PrecisionChoice {
                quantize,
                ..PrecisionChoice::default()
            };
            let precision = choice.resolve(&device(0), &random.weights).unwrap();
            let before = imitation::bytes(0);
            let (config, weights) = (&random.config, &random.weights);
            let model = load_model(config, weights, &[device(0)], precision, false).unwrap();
            (model, imitation::bytes(0) - before, precision)
        };
        let (_, wide, _) = loaded(None);
        let (model, narrow, precision) = loaded(Some(Quantization::Stored));
        assert!(narrow < wide, "{name}: {narrow} bytes instead of {wide}");
        let sizes = EngineConfig {
            token_budget: 640,
            ..config(random.config.max_positions)
        };
        // So many rows that weights are widened; tiles of 64 rows on eight multiprocessors; then few.
        let mut model = model.with_cache(&sizes, true).unwrap();
        let worst = [456, 180].map(|rows| {
            let batch = prompt_step(rows);
            let ours = model.logits(&batch).unwrap();
            let shape = AttentionShape::from(&random.config);
            let mut cache = reference::reference(shape, 40, BLOCK, DType::F32);
            let theirs = random.on_cpu().forward(&batch, cache.as_mut()).unwrap();
            let apart = (ours - theirs).unwrap().abs().unwrap();
            let worst = apart.flatten_all().unwrap().max(0).unwrap();
            worst.to_scalar::<f32>().unwrap()
        });
        let worst = worst[0].max(worst[1]);
        let generated = generate(load(&random, &device(0), precision).unwrap(), &random).unwrap();
        let [logit, odds, _] = distance(&random, &generated);
        println!(
            "{name}: {narrow} bytes instead of {wide}; logits {worst:.3} and {logit:.3}, odds {odds:.3}"
        );
        assert!(
            worst < 0.15 && logit < 0.15 && odds < 0.05,
            "{name}: logits {worst} and {logit}, odds {odds}"
        );
    }
    for weights in ["int4", "scaled_e4m3"] {
        let kernel = format!("moe_gemm_{weights}_tile64_bf16");
        assert!(imitation::count(&kernel) > 0, "{kernel}");
    }
}
