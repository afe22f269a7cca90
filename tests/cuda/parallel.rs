//! A model in parts on several devices (tensor parallel), on the imitated driver and its NCCL: the same tokens as on one, and one clear
//! failure, without a device that waits for ever, when something goes wrong on one of them.

use candle_core::{DType, Device, Tensor};
use juror_engine::engine::{Engine, EngineConfig, Request};
use juror_engine::model::precision::WeightType;
use juror_engine::model::{DeviceChoice, ModelError, Precision};
use juror_judge::judge::build::{DeviceModel, load_model};
use serde_json::{Value, json};

use crate::random_model::{Random, families, families_with_parts_of_their_own, few_bits};
use crate::{
    Generated, alone, config, device, distance, generate, imitation, prompt_step, requests, small,
};

fn devices(count: usize) -> Vec<Device> {
    (0..count).map(device).collect()
}

fn load(
    random: &Random,
    devices: &[Device],
    precision: Precision,
    sizes: &EngineConfig,
) -> Result<Box<dyn DeviceModel>, ModelError> {
    let (config, weights) = (&random.config, &random.weights);
    load_model(config, weights, devices, precision, false)?.with_cache(sizes, true)
}

/// Sizes of which four devices can have a part.
fn divisible(layers: usize) -> Value {
    json!({
        "hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": layers, "num_attention_heads": 4,
        "num_key_value_heads": 4, "head_dim": 32, "vocab_size": 131,
    })
}

/// The largest distance of two devices' logits from one's.
fn apart(random: &Random, precision: Precision, count: usize) -> f32 {
    let logits = |count: usize| -> Tensor {
        let sizes = config(random.config.max_positions);
        let mut model = load(random, &devices(count), precision, &sizes).unwrap();
        model.logits(&prompt_step(40)).unwrap()
    };
    let apart = (logits(count) - logits(1)).unwrap().abs().unwrap();
    let apart = apart.flatten_all().unwrap().max(0).unwrap();
    apart.to_scalar::<f32>().unwrap()
}

fn nothing_is_left() {
    for at in 0..2 {
        assert_eq!(
            imitation::bytes(at),
            0,
            "memory of device {at} is left behind"
        );
    }
}

/// How far logits may be from one device's: sums in another order are rounded to the activations' type once more.
const FROM_ONE: f32 = 0.1;

fn compare(name: &str, random: &Random, precision: Precision, count: usize, allowed: [f32; 2]) {
    let sizes = config(random.config.max_positions);
    let apart = apart(random, precision, count);
    let model = load(random, &devices(count), precision, &sizes).unwrap();
    let generated = generate(model, random).unwrap();
    let [logit, odds, _] = distance(random, &generated);
    println!(
        "{name}, {count} devices: logits {apart:.3} from one device's, {logit:.3} from the CPU's, odds {odds:.3}"
    );
    let [most, far] = allowed;
    assert!(
        apart < FROM_ONE && logit < most && odds < far,
        "{name}, {count} devices: logits {apart} and {logit}, odds {odds}"
    );
}

/// As `every_family_generates_what_the_cpu_would`, whose tolerances these are.
#[test]
fn every_family_in_two_parts() {
    let _alone = alone();
    for (name, random) in families(&small()) {
        let allowed = if name.contains("MoE") {
            [1.0, 0.1]
        } else {
            [0.15, 0.01]
        };
        compare(name, &random, Precision::all(DType::BF16), 2, allowed);
    }
    // In f16, where a small fault shows.
    for (name, several, random) in families_with_parts_of_their_own(&small()) {
        let allowed = if name.contains("MoE") {
            [1.0, 0.1]
        } else {
            [0.03, 0.002]
        };
        if several {
            compare(name, &random, Precision::all(DType::F16), 2, allowed);
        } else {
            let (devices, sizes) = (devices(2), config(random.config.max_positions));
            let refused = load(&random, &devices, Precision::all(DType::F16), &sizes);
            let refused = refused.err().unwrap().to_string();
            assert!(refused.contains("--tensor-parallel 2"), "{name}: {refused}");
        }
    }
    nothing_is_left();
}

#[test]
fn four_parts() {
    let _alone = alone();
    for (name, random) in families(&divisible(1)) {
        if ["Llama", "gpt-oss, a MoE in MXFP4"].contains(&name) {
            let allowed = if name.contains("MoE") {
                [1.0, 0.1]
            } else {
                [0.15, 0.01]
            };
            compare(name, &random, Precision::all(DType::F16), 4, allowed);
        }
    }
    assert_eq!(imitation::bytes(3), 0);
}

/// Weights that are quantised to FP8, and those that stay in what the checkpoint stores.
#[test]
fn weights_in_few_bits() {
    let _alone = alone();
    let fp8 = Precision {
        weights: WeightType::F8E4M3,
        ..Precision::all(DType::BF16)
    };
    let quantised = Random::new("Qwen3ForCausalLM", &small());
    compare("quantised", &quantised, fp8, 2, [0.6, 0.1]);
    for family in ["Glm4ForCausalLM", "Qwen3MoeForCausalLM"] {
        for (stored, quantization) in few_bits() {
            let mut sizes = divisible(1);
            sizes["quantization_config"] = quantization["quantization_config"].clone();
            for (key, count) in [
                ("num_experts", 4),
                ("num_experts_per_tok", 2),
                ("moe_intermediate_size", 128),
            ] {
                if family.contains("Moe") {
                    sizes[key] = json!(count);
                }
            }
            let random = Random::new(family, &sizes);
            let bits = random.weights_as_stored();
            compare(
                &format!("{family}, {stored}"),
                &random,
                bits,
                2,
                [0.15, 0.05],
            );
        }
    }
    nothing_is_left();
}

/// A cache so small that sequences are preempted, and the lag of one step.
#[test]
fn preempted_sequences_are_the_same() {
    let _alone = alone();
    let random = Random::new("Qwen3ForCausalLM", &small());
    let tokens = |count: usize, blocks: usize| {
        let sizes = EngineConfig {
            blocks,
            least_blocks: blocks,
            ..config(random.config.max_positions)
        };
        let model = load(&random, &devices(count), Precision::all(DType::F16), &sizes).unwrap();
        assert!(model.properties().async_scheduling);
        assert_eq!(model.properties().blocks, Some(blocks));
        let mut engine = Engine::new(model, &sizes).unwrap();
        for request in requests(random.config.vocab) {
            // So many that blocks run out.
            engine.add(Request {
                max_new_tokens: 32,
                ..request
            });
        }
        let mut completions = Vec::new();
        while engine.has_work() {
            completions.extend(engine.step().unwrap());
        }
        completions.sort_by_key(|completion| completion.id);
        let tokens = completions.into_iter().map(|completion| completion.tokens);
        (tokens.collect::<Vec<_>>(), engine.stats().preemptions)
    };
    let (expected, none) = tokens(1, 40);
    let (few, some) = tokens(2, 8);
    assert_eq!((none, few), (0, expected));
    assert!(some > 0, "nothing was preempted");
}

/// What the model cannot be divided into is refused before anything is read, with what is possible.
#[test]
fn sizes_that_do_not_divide_are_refused() {
    let _alone = alone();
    let refusal = |random: &Random, count| {
        let sizes = config(random.config.max_positions);
        let loaded = load(random, &devices(count), Precision::all(DType::BF16), &sizes);
        loaded
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    let two_heads = Random::new("Qwen3ForCausalLM", &small());
    let why = refusal(&two_heads, 4);
    assert!(
        why.contains("2 heads of keys and values, which do not divide among 4 GPUs; it can be divided among 1, 2"),
        "{why}"
    );
    // Three blocks of 32 numbers.
    let mut sizes = divisible(1);
    sizes["intermediate_size"] = json!(96);
    let mut models = families(&sizes).into_iter();
    let (_, experts) = models.find(|(name, _)| name.contains("MXFP4")).unwrap();
    let why = refusal(&experts, 2);
    assert!(why.contains("MXFP4") && why.contains("among 1"), "{why}");
    // 32 numbers have one scale, and each device would have 48.
    let [.., (_, four_bits)] = few_bits();
    let mut sizes = small();
    sizes["intermediate_size"] = json!(96);
    sizes["quantization_config"] = four_bits["quantization_config"].clone();
    let random = Random::new("Qwen3ForCausalLM", &sizes);
    let loaded = load(
        &random,
        &devices(2),
        random.weights_as_stored(),
        &config(2048),
    );
    let why = loaded
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(why.contains("one scale for 32 inputs"), "{why}");
    nothing_is_left();
}

/// One layer on two devices, from opening them to the last token.
fn run(random: &Random) -> Result<Vec<Generated>, String> {
    let opened = (0..2).map(|ordinal| DeviceChoice::Cuda(ordinal).open());
    let opened: Result<Vec<Device>, _> = opened.collect();
    let devices = opened.map_err(|error| error.to_string())?;
    let sizes = config(random.config.max_positions);
    let model = load(random, &devices, Precision::all(DType::BF16), &sizes);
    generate(model.map_err(|error| error.to_string())?, random)
}

fn one_layer() -> Random {
    let mut sizes = small();
    sizes["num_hidden_layers"] = json!(1);
    Random::new("Qwen3ForCausalLM", &sizes)
}

/// Calls of sums before the first of a step: each device's of its own numbers, and of 1 to 8,192 rows.
const TRIED: u64 = 2 * 15;

/// As `out_of_memory_at_every_allocation`: on either device, and NCCL's own.
#[test]
fn out_of_memory_on_one_of_two_devices() {
    let _alone = alone();
    let random = one_layer();
    let expected = run(&random).unwrap();
    let (mut refused, mut survived) = (0, 0);
    for number in 1.. {
        imitation::set(&format!("fail={number}"));
        let came = run(&random);
        let asked = imitation::count("allocation");
        imitation::set("fail=0");
        nothing_is_left();
        if asked < number {
            break;
        }
        match came {
            Ok(tokens) => {
                for (ours, expected) in tokens.iter().zip(&expected) {
                    ours.check_same(expected, &format!("allocation {number} refused"));
                }
                survived += 1;
            }
            Err(message) => {
                let is_told = message.contains("out of memory") || message.contains("NCCL");
                assert!(is_told, "allocation {number} refused: {message}");
                refused += 1;
            }
        }
    }
    println!("{refused} runs ended with a message, {survived} went on");
    assert!(refused > 40 && survived >= 2, "{refused}, {survived}");
}

/// A sum that one device does not come to: the other one's is stopped, and the message names the device that failed.
#[test]
fn a_device_that_fails_stops_the_other() {
    let _alone = alone();
    let random = one_layer();
    run(&random).unwrap();
    imitation::set("fail_sum=0");
    run(&random).unwrap();
    let calls = imitation::count("call of a sum");
    println!("{calls} calls of sums");
    let first = TRIED + 1;
    for number in [
        1,
        2,
        4,
        TRIED,
        first,
        first + 1,
        u64::midpoint(first, calls),
        calls - 1,
        calls,
    ] {
        imitation::set(&format!("fail_sum={number}"));
        let why = run(&random).unwrap_err();
        imitation::set("fail_sum=0");
        assert!(
            why.contains("cuda:") && why.contains("NCCL, a sum over the GPUs: internal error"),
            "call {number}: {why}"
        );
        nothing_is_left();
    }
}

/// While a device waits for the others inside NCCL it cannot be stopped: that is over before there is anything that may fail on one.
#[test]
fn sums_connect_the_devices_when_they_are_tried_and_never_later() {
    let _alone = alone();
    let random = one_layer();
    let sizes = config(random.config.max_positions);
    let before = imitation::count("connection");
    let model = load(&random, &devices(2), Precision::all(DType::BF16), &sizes).unwrap();
    let tried = imitation::count("connection");
    // Three ranges of sizes on two devices.
    assert_eq!(tried - before, 6);
    generate(model, &random).unwrap();
    assert_eq!(imitation::count("connection"), tried);
    nothing_is_left();
}

/// Sums that are not the same on all devices are noticed where they change a token, wherever in a run.
#[test]
fn other_sums_on_one_device_are_noticed() {
    let _alone = alone();
    let random = one_layer();
    let mut noticed = 0;
    for number in [1, TRIED + 1, TRIED + 2, TRIED + 5, TRIED + 8] {
        imitation::set(&format!("wrong_sum={number}"));
        let came = run(&random);
        imitation::set("wrong_sum=0");
        nothing_is_left();
        match came {
            Err(why) => {
                let is_told = why.contains("products differ") || why.contains("are wrong");
                assert!(is_told, "sum {number}: {why}");
                noticed += 1;
            }
            Ok(_) => println!("sum {number} changed no token"),
        }
    }
    assert!(noticed >= 3, "{noticed}");
}
