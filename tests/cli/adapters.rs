//! `--adapter`: every command that runs a model merges it, and a run with another adapter is another run.

use std::collections::HashMap;
use std::fs;

use candle_core::{DType, Device, Tensor};
use serde_json::{Value, json};

use crate::common::{Folder, rollouts, words};

/// An adapter of the model in `model`, on the output of its first attention.
fn write_adapter(folder: &Folder, name: &str, strength: f32) {
    fs::create_dir(folder.path(name)).unwrap();
    let config = json!({"peft_type": "LORA", "base_model_name_or_path": "model", "r": 2, "lora_alpha": 4,
        "target_modules": ["o_proj"]});
    folder.write(&format!("{name}/adapter_config.json"), config.to_string());
    let layer = "base_model.model.model.layers.0.self_attn.o_proj";
    let numbers = |rows: usize, columns: usize, scale: f32| {
        let wave = (0..rows * columns).map(|i| scale * (i as f32 * 0.37).sin());
        Tensor::from_iter(wave, &Device::Cpu)
            .unwrap()
            .reshape((rows, columns))
            .unwrap()
    };
    let tensors = HashMap::from([
        (
            format!("{layer}.lora_A.weight"),
            numbers(2, 128, 0.1).to_dtype(DType::BF16).unwrap(),
        ),
        (format!("{layer}.lora_B.weight"), numbers(192, 2, strength)),
    ]);
    let file = folder.path(name).join("adapter_model.safetensors");
    candle_core::safetensors::save(&tensors, file).unwrap();
    // Without it the judge would be one without a domain.
    fs::copy(
        folder.path("model/judge.json"),
        folder.path(name).join("judge.json"),
    )
    .unwrap();
}

fn prepared() -> Folder {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(6));
    folder.write_model();
    // Lost when a sum is rounded; products that are zero would be refused.
    write_adapter(&folder, "little", 1e-30);
    write_adapter(&folder, "much", 3.0);
    folder
}

/// A verdict as far as the model decides it.
fn said(verdict: &Value) -> Value {
    json!([
        verdict["id"],
        verdict["status"],
        verdict["outcome"],
        verdict["process"],
        verdict["confidence"]
    ])
}

#[test]
fn a_run_with_another_adapter_is_another_run() {
    let folder = prepared();
    let judge = |out: &str, further: &[&str]| {
        let line = format!("judge in.jsonl -o {out} --cache cache --summary-json s.json");
        let line = words(&line);
        folder.run(&[&line[..], further].concat())
    };
    let reused = || -> Value {
        serde_json::from_str::<Value>(&folder.read("s.json")).unwrap()["reused"].clone()
    };
    let verdicts = |out: &str| -> Vec<Value> { folder.lines(out).iter().map(said).collect() };
    judge("plain.jsonl", &["--model", "model"]);
    // The same files under another name are the same model.
    judge("plain.jsonl", &["--model", "./model/"]).expect(0, &["were done before"]);
    judge("little.jsonl", &["--model", "model", "--adapter", "little"]);
    assert_eq!(reused(), 0, "answers of the model alone were taken");
    assert_eq!(verdicts("little.jsonl"), verdicts("plain.jsonl"));
    judge("much.jsonl", &["--model", "model", "--adapter", "much"]);
    assert_eq!(reused(), 0, "another adapter's answers were taken");
    assert_ne!(verdicts("much.jsonl"), verdicts("plain.jsonl"));
    // The same adapter in another place is the same.
    fs::rename(folder.path("much"), folder.path("moved")).unwrap();
    judge("much.jsonl", &["--model", "model", "--adapter", "moved"])
        .expect(3, &["verdicts in much.jsonl"]);
    for (out, adapter) in [
        ("much.jsonl", &["--adapter", "little"][..]),
        ("much.jsonl", &[]),
        ("plain.jsonl", &["--adapter", "moved"]),
    ] {
        let line = [&["--model", "model"][..], adapter].concat();
        judge(out, &line).expect(2, &["adapter: ", "model.hash: "]);
    }
    // The folder alone leads to the model that it says it was trained on.
    judge("alone.jsonl", &["--model", "moved"]);
    assert_eq!(verdicts("alone.jsonl"), verdicts("much.jsonl"));
    assert_eq!(reused(), 6, "the same model");
}

#[test]
fn every_command_takes_an_adapter() {
    let folder = prepared();
    let both = ["--model", "model", "--adapter", "much"];
    folder.write("requests.jsonl", json!({"custom_id": "a", "method": "POST", "url": "/v1/chat/completions",
        "body": {"model": "x", "max_tokens": 2, "messages": [{"role": "user", "content": "Hello"}]}}).to_string());
    for command in [
        &["bench", "--samples", "1", "--output-tokens", "1"][..],
        &["run-batch", "requests.jsonl", "-o", "answers.jsonl"],
        &["attack", "in.jsonl"],
        #[cfg(feature = "serve")]
        &["serve", "--port", "0", "--exit-with-stdin"],
    ] {
        // The two others would go on.
        if ["bench", "run-batch"].contains(&command[0]) {
            folder.run(&[command, &both].concat()).expect(0, &[]);
        }
        let absent = [command, &["--model", "model", "--adapter", "absent"]].concat();
        folder
            .run(&absent)
            .expect(2, &["absent", "no adapter_config.json"]);
    }
    let shown = folder.run(&["models", "show", "much"]);
    shown.expect(0, &[]);
    assert!(
        shown.stdout.contains("model with the adapter much"),
        "{}",
        shown.stdout
    );
    folder
        .run(&["judge", "in.jsonl", "-o", "o.jsonl", "--adapter", "much"])
        .expect(2, &["--model"]);
    let cascade = words("judge in.jsonl -o o.jsonl --cascade tiny,model --adapter much");
    folder.run(&cascade).expect(2, &["--adapter", "--cascade"]);
    let twice = words("judge in.jsonl -o o.jsonl --model little --adapter much");
    folder.run(&twice).expect(2, &["an adapter itself"]);
}

/// A tokenizer that was saved with an adapter is the one that it was trained with.
#[test]
fn a_chat_template_beside_the_adapter_is_used() {
    let folder = prepared();
    let prompt = |folder: &Folder| {
        let ran = folder.run(&["judge", "in.jsonl", "--model", "much", "--dry-run"]);
        // Before it are estimates of time.
        let (_, prompt) = ran.stdout.split_once("the first prompt").unwrap();
        prompt.to_owned()
    };
    let before = prompt(&folder);
    for file in ["tokenizer.json", "tokenizer_config.json"] {
        fs::copy(
            folder.path("model").join(file),
            folder.path("much").join(file),
        )
        .unwrap();
    }
    assert_eq!(prompt(&folder), before);
    let template = "{% for message in messages %}<<{{ message.content }}>>{% endfor %}";
    folder.write("much/chat_template.jinja", template);
    let after = prompt(&folder);
    assert!(after.contains("<<") && after != before, "{after}");
}
