//! `juror bench`: figures that add up, in the names other programs read.

use crate::common::{Folder, words};
use serde_json::{Value, json};

/// A shape small enough to run in a moment.
pub(crate) fn shape() -> String {
    json!({
        "architectures": ["Qwen3MoeForCausalLM"], "vocab_size": 300, "hidden_size": 64, "intermediate_size": 96,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
        "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "norm_topk_prob": true,
        "max_position_embeddings": 1024, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "tie_word_embeddings": true,
    })
    .to_string()
}

fn bench(folder: &Folder, arguments: &[&str]) -> Value {
    let mut all = vec!["bench", "--device", "cpu", "--json", "bench.json"];
    all.extend(arguments);
    folder.run(&all).expect(0, &[]);
    serde_json::from_str(&folder.read("bench.json")).unwrap()
}

#[test]
fn figures_of_a_made_up_workload_add_up() {
    let folder = Folder::new();
    folder.write("config.json", shape());
    let figures = bench(
        &folder,
        &words(
            "--synthetic config.json --samples 6 --trials 2 --group-size 3 --template-tokens 40 \
            --input-tokens 20-30 --output-tokens 5",
        ),
    );
    let number = |name: &str| {
        figures[name]
            .as_f64()
            .unwrap_or_else(|| panic!("{name}: {}", figures[name]))
    };
    for name in [
        "mean_ttft_ms",
        "median_ttft_ms",
        "p99_ttft_ms",
        "mean_tpot_ms",
        "p99_tpot_ms",
        "mean_itl_ms",
        "p95_itl_ms",
        "mean_e2el_ms",
        "host_ms_per_step",
        "model_flops_utilisation",
        "memory_bandwidth_utilisation",
        "prefill_tokens_per_second",
        "decode_tokens_per_second",
        "mean_batch_occupancy",
        "peak_kv_blocks",
    ] {
        assert!(number(name) > 0.0, "{name}");
    }
    assert_eq!(figures["completed"], 12);
    assert_eq!(figures["schema_version"], 1);
    let commit = figures["commit"].as_str();
    assert!(commit.is_none_or(|commit| commit.len() >= 40), "{commit:?}");
    assert!(figures["features"].is_array());
    assert_eq!(
        figures["workload"],
        json!({
            "inputs": [], "generations": 12, "template_tokens": 40, "input_tokens": "20-30", "output_tokens": "5",
            "trials": 2, "group_size": 3, "seed": 0, "temperature": 0.0,
        })
    );
    assert_eq!(
        figures["total_output_tokens"], 60,
        "every generation runs to its full length"
    );
    let prompts = number("total_input_tokens");
    assert!((12.0 * 60.0..=12.0 * 70.0).contains(&prompts), "{prompts}");
    // The template's two whole blocks for all, and more for a second trial.
    assert!(number("cached_tokens") >= 12.0 * 32.0);
    let seconds = number("duration");
    assert!((number("request_throughput") * seconds - 12.0).abs() < 1e-6);
    assert!((number("total_token_throughput") * seconds - prompts - 60.0).abs() < 1e-6);
    assert!(number("mean_ttft_ms") <= number("mean_e2el_ms"));

    let parts = figures["breakdown"].as_object().unwrap();
    let sum: f64 = parts.values().map(|part| part.as_f64().unwrap()).sum();
    assert!(
        sum > 0.5 * seconds && sum <= seconds * 1.001,
        "{sum} of {seconds}"
    );
}

#[test]
fn real_prompts_and_the_median_of_three_runs() {
    let folder = Folder::new();
    let rollouts = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rollouts.jsonl");
    let figures = bench(
        &folder,
        &[
            rollouts,
            "--samples",
            "3",
            "--output-tokens",
            "2",
            "--runs",
            "3",
            "--no-breakdown",
        ],
    );
    assert_eq!(figures["completed"], 3);
    assert!(figures["breakdown"].is_null());
    let runs = figures["runs"].as_array().unwrap();
    let mut speeds: Vec<f64> = runs
        .iter()
        .map(|run| run["verdicts_per_second"].as_f64().unwrap())
        .collect();
    speeds.sort_by(f64::total_cmp);
    assert_eq!(speeds.len(), 3);
    assert_eq!(figures["verdicts_per_second"].as_f64(), Some(speeds[1]));
    // The prompts that `juror judge` writes: a template of 622 tokens, 608 of them in whole blocks.
    assert!(figures["cached_tokens"].as_u64().unwrap() >= 3 * 608);
}

#[test]
fn short_runs_say_that_they_tell_little() {
    let folder = Folder::new();
    folder.write("config.json", shape());
    let arguments = words(
        "bench --device cpu --synthetic config.json --samples 2 --template-tokens 16 --input-tokens \
        16 --output-tokens 2",
    );
    let ran = folder.run(&arguments);
    ran.expect(0, &[]);
    let limit = "limited by             too few samples to tell: 2 generations";
    assert!(ran.stdout.contains(limit), "{}", ran.stdout);
}

#[test]
fn what_cannot_be_measured_is_refused_with_a_reason() {
    let folder = Folder::new();
    folder.write("config.json", shape());
    for (arguments, message) in [
        (&["--synthetic", "qwen9"][..], "qwen3-0.6b"),
        (&["--synthetic", "none/config.json"], "none/config.json"),
        (
            &["--synthetic", "config.json", "--template-tokens", "2000"],
            "1024",
        ),
        (
            &["--synthetic", "config.json", "--input-tokens", "9-3"],
            "lognormal",
        ),
        (&["--synthetic", "config.json", "--quantize", "fp8"], "q8_0"),
        (&["--synthetic", "config.json", "--dtype", "int8"], "bf16"),
        (
            &["--synthetic", "config.json", "--temperature", "-1"],
            "temperature",
        ),
        (&["--model", "none"], "none"),
        (&["none.jsonl"], "none.jsonl"),
    ] {
        let mut all = vec!["bench", "--device", "cpu"];
        all.extend(arguments);
        folder.run(&all).expect(2, &[message]);
    }
}

#[test]
fn made_up_experts_are_in_mxfp4_where_the_configuration_says_so() {
    let folder = Folder::new();
    let config = include_str!("../data/checkpoints/gpt-oss-mxfp4/config.json");
    folder.write("config.json", config);
    let workload = words(
        "--synthetic config.json --samples 3 --template-tokens 8 --input-tokens 8 --output-tokens 3",
    );
    let figures = bench(&folder, &workload);
    let precision = figures["precision"].as_str().unwrap();
    assert!(precision.starts_with("stored ("), "{precision}");
    assert_eq!(figures["total_output_tokens"], 9);
}

#[test]
fn an_instruction_set_is_used_or_refused() {
    let folder = Folder::new();
    folder.write("config.json", shape());
    let work = "--synthetic config.json --samples 1 --template-tokens 8 --input-tokens 4 --output-tokens 2";
    let work: Vec<&str> = work.split(' ').collect();
    let figures = bench(&folder, &[&work[..], &["--instructions", "plain"]].concat());
    let machine = figures["machine"].as_str().unwrap();
    assert!(machine.contains(", plain, "), "{machine}");
    let other = if cfg!(target_arch = "x86_64") {
        "neon"
    } else {
        "avx2"
    };
    for (set, said) in [("sse2", "avx512, avx2, neon"), (other, other)] {
        let named = ["bench", "--device", "cpu", "--instructions", set];
        folder.run(&[&named[..], &work].concat()).expect(2, &[said]);
    }
}
