//! Families: what each generates, compared with the CPU.

use super::*;

/// Of Phi-3's sequences one outgrows its original context of 80.
#[test]
fn every_family_generates_what_the_cpu_would() {
    let _alone = alone();
    for (name, random) in families(&small()) {
        compare(name, &random, DType::BF16);
    }
    assert_eq!(imitation::bytes(0), 0, "device memory is left behind");
}

/// Wide heads, recurrent layers, and what single families have of their own; in f16, which leaves rounding an eighth of what bf16
/// does, so that a small fault shows.
#[test]
fn families_of_one_gpu_generate_what_the_cpu_would() {
    let _alone = alone();
    let newer = families_with_parts_of_their_own(&small()).into_iter();
    let newer = newer.map(|(name, _, random)| (name, random));
    for (name, random) in newer.chain(families_of_one_gpu(&small())) {
        compare(name, &random, DType::F16);
    }
    assert_eq!(imitation::bytes(0), 0, "device memory is left behind");
}

/// Norms that multiply with `1 + w`, where all `w` are half of bf16's step at 1: rounded to bf16 that would be 1, and everything after it
/// 0.4 % too small. Errors of single numbers cancel out in the slope of all logits over the CPU's.
#[test]
fn norms_keep_what_they_add_to_one() {
    let _alone = alone();
    for (name, random) in families_of_one_gpu(&small()) {
        if name.contains("MoE") {
            continue;
        }
        let random = random.changed(|name, tensor| {
            if name.ends_with("norm.weight") && !name.contains("linear_attn") {
                (tensor.ones_like().unwrap() * 2f64.powi(-8)).unwrap()
            } else {
                tensor
            }
        });
        let mut batch = prompt_step(40);
        batch.tokens = (0..40).map(|at| (at * 31 + at * at * 17) % 131).collect();
        batch.rows[0].state = state(&random, 0, StateStart::Zero, None);
        let mut model = load(&random, &device(0), Precision::all(DType::BF16)).unwrap();
        let cpu = random.on_cpu();
        let (mut together, mut square) = (0.0, 0.0);
        // There is room for the logits of four rows.
        for first in (0..40).step_by(4) {
            batch.logits = (first..first + 4).collect();
            let ours = model.logits(&batch).unwrap();
            let expected = cpu.forward(&batch, random.cache(40, 1).as_mut()).unwrap();
            let product = |a: &Tensor, b: &Tensor| {
                let sum = (a * b).unwrap().sum_all().unwrap();
                sum.to_scalar::<f32>().unwrap()
            };
            together += product(&ours, &expected);
            square += product(&expected, &expected);
        }
        let slope = together / square;
        println!("{name}: logits are {slope:.5} of the CPU's");
        assert!((slope - 1.0).abs() < 1e-3, "{name}: {slope}");
    }
    assert_eq!(imitation::bytes(0), 0, "device memory is left behind");
}

/// Routers of which all experts' rows are the same but for 2⁻¹¹: rounded, in weights or logits, all experts are alike and the first are
/// taken.
#[test]
fn routers_tell_experts_apart_as_the_cpu_does() {
    let _alone = alone();
    let newer = families_with_parts_of_their_own(&small()).into_iter();
    let newer = newer.map(|(name, _, random)| (name, random));
    let all = newer.chain(families_of_one_gpu(&small()));
    let mut compared = 0;
    for (name, random) in all.chain(families(&small())) {
        if !name.contains("MoE") {
            continue;
        }
        let alike = random.changed(|name, tensor| {
            let parts = [".gate.weight", ".router.weight", ".router.proj.weight"];
            if parts.iter().any(|part| name.ends_with(part)) {
                let numbers = tensor.to_dtype(DType::F32).unwrap();
                let factors: Vec<f32> = (0..numbers.dim(0).unwrap())
                    .map(|expert| 1.0 + expert as f32 * 2f32.powi(-11))
                    .collect();
                let factors = Tensor::new(factors, &Device::Cpu).unwrap();
                let factors = factors.unsqueeze(1).unwrap();
                factors
                    .broadcast_mul(&numbers.narrow(0, 0, 1).unwrap())
                    .unwrap()
            } else if name.contains("correction") || name.ends_with(".router.bias") {
                tensor.zeros_like().unwrap()
            } else {
                tensor
            }
        });
        compared += 1;
        // With rounded routers log-probabilities differ by 0.014 to 3.6 in f16.
        for (dtype, most) in [(DType::F16, 0.012), (DType::BF16, 0.1)] {
            // What these layers pass on differs so much in bf16 that a logit near zero, and with it the order, changes its sign.
            if dtype == DType::BF16 && alike.config.recurrent.is_some() {
                continue;
            }
            let model = load(&alike, &device(0), Precision::all(dtype)).unwrap();
            let generated = generate(model, &alike).unwrap();
            let [logit, odds, logprob] = distance(&alike, &generated);
            println!(
                "{name}, {dtype:?}: logits {logit:.3}, odds {odds:.3}, log-probabilities {logprob:.3}"
            );
            assert!(
                logit < most && odds < 0.01 && logprob < most,
                "{name}, {dtype:?}: logits {logit}, odds {odds}, log-probabilities {logprob}"
            );
        }
    }
    assert!(compared >= 7, "{compared}");
    assert_eq!(imitation::bytes(0), 0, "device memory is left behind");
}
