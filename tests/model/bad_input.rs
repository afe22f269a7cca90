//! Checkpoints of every family with something wrong: one error that names the key or the tensor, and nothing loaded.

use std::path::{Path, PathBuf};

use candle_core::Tensor;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::golden_logits::NAMES;
use crate::llama_cpp::{FILES, data};
use crate::recurrent::{changed, refusal};

/// A checkpoint whose configuration, or that of its text part, is changed; `None` where that changes nothing.
fn reconfigured(name: &str, change: impl FnOnce(&mut Value)) -> Option<TempDir> {
    let from = data(&format!("checkpoints/{name}"));
    let text = std::fs::read_to_string(from.join("config.json")).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    let before = config.clone();
    let part = config.get("text_config").is_some();
    change(if part {
        &mut config["text_config"]
    } else {
        &mut config
    });
    if config == before {
        return None;
    }
    let folder = TempDir::new().unwrap();
    for file in from.read_dir().unwrap() {
        let file = file.unwrap().file_name();
        if file != "golden.safetensors" {
            std::fs::copy(from.join(&file), folder.path().join(&file)).unwrap();
        }
    }
    let path = folder.path().join("config.json");
    std::fs::write(path, config.to_string()).unwrap();
    Some(folder)
}

/// The names under which families have these keys.
fn set(config: &mut Value, names: &[&str], value: &Value) {
    for name in names {
        if let Some(slot) = config.get_mut(*name) {
            slot.clone_from(value);
        }
    }
}

const LAYERS: &[&str] = &["num_hidden_layers", "num_layers"];
const KEY_HEADS: &[&str] = &["num_key_value_heads", "multi_query_group_num"];
const HEADS: &[&str] = &["num_attention_heads"];

#[test]
fn a_wrong_configuration_is_named_for_every_family() {
    let mut refused = 0;
    for name in NAMES {
        // (keys, value, what the error names: any of these)
        let cases: [(&[&str], Value, &[&str]); 13] = [
            (LAYERS, json!(0), LAYERS),
            (LAYERS, json!("2"), LAYERS),
            (
                LAYERS,
                json!(1 << 20),
                &["number of layers", "layer_types", "no_rope_layers"],
            ),
            (HEADS, json!(0), HEADS),
            (HEADS, json!(-4), HEADS),
            // Not a multiple of the key heads, or of another shape than the tensors.
            (
                HEADS,
                json!(7),
                &["heads", "head_dim", "q_proj", "query_key_value", "qkv_proj"],
            ),
            (
                KEY_HEADS,
                json!(3),
                &["key heads", "k_proj", "query_key_value", "qkv_proj"],
            ),
            (KEY_HEADS, json!(0), KEY_HEADS),
            (
                &["hidden_size"],
                json!(31),
                &["31", "hidden_size", "head_dim"],
            ),
            (
                &["vocab_size", "padded_vocab_size"],
                json!(1),
                &["config.json says [1,", "vocab"],
            ),
            (
                &["rms_norm_eps", "layernorm_epsilon"],
                json!(-1.0),
                &["rms_norm_eps"],
            ),
            (
                &["layer_types"],
                json!(["martian_attention"]),
                &["layer_types"],
            ),
            (&["rope_parameters"], json!("yarn"), &["rope_parameters"]),
        ];
        for (keys, value, told) in cases {
            let Some(folder) = reconfigured(name, |config| set(config, keys, &value)) else {
                continue;
            };
            let error = refusal(folder.path());
            let named = told.iter().any(|told| error.contains(told));
            assert!(named, "{name}, {keys:?} {value}: {error}");
            refused += 1;
        }
        for key in ["new_kind_of_attention", "sparse_layers"] {
            let folder = reconfigured(name, |config| config[key] = json!(3)).unwrap();
            let error = refusal(folder.path());
            assert!(
                error.contains(&format!("{key} (3) is not supported")),
                "{name}: {error}"
            );
        }
        let folder = reconfigured(name, |config| {
            if let Some(kinds) = config.get_mut("layer_types") {
                kinds[0] = "martian_attention".into();
            }
        });
        if let Some(folder) = folder {
            let error = refusal(folder.path());
            assert!(error.contains("martian_attention"), "{name}: {error}");
        }
    }
    assert!(refused > 400, "{refused}");
}

/// Checkpoints in one file, whose tensors are plain numbers.
fn in_one_file() -> impl Iterator<Item = &'static &'static str> {
    NAMES.iter().filter(|name| {
        let file = data(&format!("checkpoints/{name}/model.safetensors"));
        file.exists() && !name.ends_with("mxfp4")
    })
}

#[test]
fn a_tensor_too_few_too_many_or_of_another_shape_is_named_for_every_family() {
    for name in in_one_file() {
        let file = data(&format!("checkpoints/{name}/model.safetensors"));
        let device = candle_core::Device::Cpu;
        let tensors = candle_core::safetensors::load(file, &device).unwrap();
        let of_text = |name: &&String| {
            let tower = [
                "vi",
                "audio",
                "mtp",
                "embed_v",
                "embed_a",
                "multi_modal",
                "rotary",
            ];
            name.contains(".layers.") && !tower.iter().any(|part| name.contains(part))
        };
        let mut names: Vec<&String> = tensors.keys().filter(of_text).collect();
        names.sort();
        // Some of each layer's kinds of tensors.
        for tensor in names.iter().step_by(5) {
            // What an error calls it, in the text part alone.
            let end = tensor.split(".layers.").last().unwrap();
            let folder = changed(name, |tensors| drop(tensors.remove(*tensor)));
            let error = refusal(folder.path());
            // Experts that are stacked are named one by one.
            let stem = match end.find("experts.") {
                Some(at) => &end[..at],
                None => end.trim_end_matches(".weight"),
            };
            assert!(error.contains(stem), "{name} without {tensor}: {error}");
            let folder = changed(name, |tensors| {
                let more = Tensor::cat(&[&tensors[*tensor], &tensors[*tensor]], 0).unwrap();
                tensors.insert((*tensor).clone(), more);
            });
            let error = refusal(folder.path());
            assert!(
                error.contains(stem),
                "{name} with a longer {tensor}: {error}"
            );
        }
        let (first, _) = names[0].split_once(".layers.").unwrap();
        for foreign in [
            "vision_tower.weight",
            "mlp.experts.99.up_proj.weight",
            "self_attn.bias",
        ] {
            let foreign = format!("{first}.layers.0.{foreign}");
            let folder = changed(name, |tensors| {
                tensors.insert(foreign.clone(), tensors[names[0]].clone());
            });
            let error = refusal(folder.path());
            let end = foreign.split(".layers.").last().unwrap();
            assert!(
                error.contains("not expected") && error.contains(end),
                "{name} with {foreign}: {error}"
            );
        }
    }
}

fn damaged(folder: &Path, name: &str, key: &str) -> Option<PathBuf> {
    let mut bytes = std::fs::read(data(&format!("gguf/{name}.gguf"))).unwrap();
    // Before a key stands its length.
    let wanted = [&(key.len() as u64).to_le_bytes()[..], key.as_bytes()].concat();
    let at = bytes
        .windows(wanted.len())
        .position(|window| window == wanted)?;
    bytes[at + 8] = b'Q';
    let path = folder.join("damaged.gguf");
    std::fs::write(&path, bytes).unwrap();
    Some(path)
}

#[test]
fn a_key_that_a_file_for_llama_cpp_lacks_is_named_for_every_architecture() {
    let folder = TempDir::new().unwrap();
    let mut tried = 0;
    for (name, _) in FILES {
        let arch = std::fs::read(data(&format!("gguf/{name}.gguf"))).unwrap();
        let at = arch
            .windows(20)
            .position(|window| window == b"general.architecture")
            .unwrap();
        // The key's value: its type in four bytes, and its length in eight.
        let length = arch[at + 24] as usize;
        let arch = String::from_utf8(arch[at + 32..][..length].to_vec()).unwrap();
        for key in [
            "embedding_length",
            "block_count",
            "context_length",
            "attention.head_count",
            "attention.layer_norm_rms_epsilon",
            "expert_used_count",
            "ssm.state_size",
            "ssm.conv_kernel",
        ] {
            let key = format!("{arch}.{key}");
            let Some(path) = damaged(folder.path(), name, &key) else {
                continue;
            };
            let error = refusal(&path);
            assert!(
                error.contains(&format!("no {key} in its metadata")),
                "{name}: {error}"
            );
            tried += 1;
        }
    }
    assert!(tried > 90, "{tried}");
}
