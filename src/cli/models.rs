//! `juror models`

use std::io::Write;

use candle_core::DType;
use clap::Subcommand;

use super::{Failure, OrFail};
use crate::judge::JudgeText;
use crate::model::attention::{AttentionShape, kv_bytes_per_token};
use crate::model::{ModelConfig, ModelSource};
use crate::protocol::{self, PromptTemplate};

#[derive(Debug, Subcommand)]
pub(super) enum ModelsAction {
    /// Name the models that need no download
    List,
    /// Say what a model is: family, sizes, memory
    Show {
        /// `tiny`, or a folder
        #[arg(default_value = "tiny")]
        model: String,
    },
}

pub(super) fn run(action: ModelsAction) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match action {
        ModelsAction::List => {
            for model in ModelSource::embedded() {
                let source = ModelSource::resolve(model.name).or_fail()?;
                let config = ModelConfig::load(&source).or_fail()?;
                writeln!(
                    out,
                    "{:<8}  built in, {:.1} M parameters, {:.1} MB: word problems of 2 to 4 steps over +, − and ×",
                    model.name,
                    config.parameters() as f64 / 1e6,
                    model.weights.len() as f64 / 1e6
                )
                .or_fail()?;
            }
            writeln!(out, "FOLDER    any Qwen3 checkpoint: config.json, tokenizer.json, tokenizer_config.json, *.safetensors")
                .or_fail()?;
        }
        ModelsAction::Show { model } => {
            let source = ModelSource::resolve(&model).or_usage()?;
            let config = ModelConfig::load(&source).or_usage()?;
            let parameters = config.parameters();
            let kv = kv_bytes_per_token(&AttentionShape::from(&config), DType::F32);
            let protocol = protocol::known()[0];
            let template = PromptTemplate::parse(protocol.template_text()).or_fail()?;
            let mut rows = vec![
                ("family", format!("{:?}", config.architecture)),
                ("parameters", format!("{:.2} M", parameters as f64 / 1e6)),
                (
                    "memory",
                    format!(
                        "{} as f32, {} as bf16",
                        megabytes(parameters * 4),
                        megabytes(parameters * 2)
                    ),
                ),
                (
                    "layers",
                    format!("{} of width {}", config.layers, config.hidden),
                ),
                (
                    "attention",
                    format!(
                        "{} heads over {} of keys, {} wide",
                        config.heads, config.kv_heads, config.head_dim
                    ),
                ),
                ("vocabulary", config.vocab.to_string()),
                ("context", format!("{} tokens", config.max_positions)),
                (
                    "KV cache",
                    format!("{:.1} KiB a token as f32", kv as f64 / 1024.0),
                ),
            ];
            match JudgeText::load(&source, protocol, &template) {
                Ok(text) => {
                    let tokenizer = text.prompts.tokenizer();
                    let ends: Vec<String> =
                        text.eos.iter().map(|&id| tokenizer.decode(&[id])).collect();
                    rows.push(("ends with", ends.join(" ")));
                    rows.push((
                        "prime prompt",
                        format!(
                            "{} tokens shared by all samples",
                            text.prompts.shared_prefix().len()
                        ),
                    ));
                }
                Err(error) => rows.push(("not a judge", error.to_string())),
            }
            rows.push(("hash", source.hash().or_fail()?));
            for (name, value) in rows {
                writeln!(out, "{name:>13}  {value}").or_fail()?;
            }
        }
    }
    Ok(())
}

fn megabytes(bytes: usize) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
