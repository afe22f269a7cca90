//! `juror models show`

use std::io::{StdoutLock, Write};

use super::super::download;
use super::super::{Failure, OrFail};
use juror_base::terminal::escaped;
use juror_engine::checkpoint::config::RopeScaling;
use juror_engine::checkpoint::{ModelConfig, ModelSource, Weights};
use juror_engine::model::Precision;
use juror_engine::model::attention::CacheLayout;
use juror_engine::model::memory::weight_bytes;
use juror_engine::model::precision::WeightType;
use juror_engine::model::recurrence::state_bytes;
use juror_engine::text::chat_template::ThinkingSwitch;
use juror_hub::{Want, bytes};
use juror_judge::catalog::known_judges::{self, KnownJudge};
use juror_judge::judge::prompt::PromptBuilder;
use juror_judge::judge::{JudgeText, OWN_HEAD};
use juror_judge::protocol::{self, PromptTemplate};

/// Weights up to this size are hashed without being asked for: a matter of a second.
const HASHED: u64 = 1 << 30;

type Rows = Vec<(&'static str, String)>;

/// Prints a model's properties. The weights of a model on the hub are not fetched. A model that `juror judge` would refuse
/// is an error, after the properties that are known.
pub(super) fn show(out: &mut StdoutLock, model: &str, hash: bool) -> Result<(), Failure> {
    let judge = known_judges::find(model.split('@').next().unwrap_or(model));
    let source = match download::resolve(model, Want::Description) {
        Ok(source) => source,
        Err(failure) => {
            // The table of known judges needs no model.
            if let Some(judge) = judge {
                write(out, &known_rows(judge))?;
            }
            return Err(failure);
        }
    };
    let judge = match (judge, source.origin()) {
        // A folder of that name is not the judge, nor is one with an adapter.
        (_, None) => None,
        _ if source.adapter().is_some() => None,
        (Some(judge), Some(_)) => Some(judge),
        (None, Some(origin)) => known_judges::find(origin.split('@').next().unwrap_or_default()),
    };
    let mut rows = judge.map(known_rows).unwrap_or_default();
    if let Some(origin) = source.origin() {
        rows.push(("from the hub", origin));
    }
    if source.adapter().is_some() {
        rows.push(("adapter", source.to_string()));
    }
    let mut refusal = None;
    rows.extend(rows_of(&source, judge, hash, &mut refusal)?);
    write(out, &rows)?;
    // The error comes last: the properties are printed in any case.
    refusal.map_or(Ok(()), Err)
}

fn write(out: &mut StdoutLock, rows: &Rows) -> Result<(), Failure> {
    for (name, value) in rows {
        writeln!(out, "{name:>13}  {}", escaped(value)).or_fail()?;
    }
    Ok(())
}

fn known_rows(judge: &KnownJudge) -> Rows {
    let mut rows = vec![
        ("known as", format!("{} ({})", judge.alias, judge.id)),
        ("base", judge.base.clone()),
    ];
    let mut add = |name, text| rows.push((name, text));
    if let Some(thinking) = judge.thinking {
        add("thinking", thinking.to_string());
    }
    let sampling = judge.sampling.map(|sampling| sampling.to_string());
    let sampling = sampling.unwrap_or_else(|| "as generation_config.json says".into());
    add(
        "recommended",
        match judge.max_new_tokens {
            Some(tokens) => format!("{sampling}, up to {tokens} tokens"),
            None => sampling,
        },
    );
    if let Some(prime) = judge.prime {
        let lucky = prime.lucky_guess.map_or_else(String::new, |share| {
            format!(", lucky guesses recognised {share:.2}")
        });
        add(
            "PRIME",
            format!(
                "outcome {:.2}, overall {:.2}, F1 {:.2}{lucky} (percent, arXiv 2602.11570)",
                prime.outcome, prime.overall, prime.f1
            ),
        );
    }
    add("licence", judge.licence.clone());
    if let Some(note) = &judge.note {
        add("note", note.clone());
    }
    rows
}

fn rows_of(
    source: &ModelSource,
    judge: Option<&KnownJudge>,
    hash: bool,
    refusal: &mut Option<Failure>,
) -> Result<Rows, Failure> {
    let mut config = ModelConfig::load(source)?;
    let has_weights = source.has_weights();
    let weights = has_weights.then(|| Weights::open(source)).transpose()?;
    let mut head = None;
    if let Some(weights) = &weights {
        let settled = weights.settle(&config)?.into_owned();
        head = (settled.tie_embeddings != config.tie_embeddings).then_some(OWN_HEAD);
        config = settled;
    }
    let (all, active) = (config.parameters(), active_parameters(&config));
    let layers = format!("{} of width {}", config.layers, config.hidden);
    let mut rows = vec![
        ("family", format!("{:?}", config.family)),
        (
            "parameters",
            match parts(&config) {
                parts if active == all => parts,
                parts => format!("{parts}; {} work on a token", parameters(active)),
            },
        ),
        ("memory", memory(&config, weights.as_ref())),
        ("KV cache", kv_cache(&config)),
        (
            "layers",
            match (config.layers - config.attention_layers(), config.sharing) {
                (0, None) => layers,
                (0, Some(own)) => format!("{layers}, the last {} with keys of others", own.count),
                (own, _) => format!("{layers}, {own} of them recurrent (Gated DeltaNet)"),
            },
        ),
        (
            "attention",
            match &config.full_layers {
                None => format!(
                    "{} query heads, {} key-value heads, head dimension {}",
                    config.heads, config.kv_heads, config.head_dim
                ),
                Some(full) => format!(
                    "{} query heads; {} key-value heads, head dimension {} in layers with windows, {} and {} in the others",
                    config.heads, config.kv_heads, config.head_dim, full.kv_heads, full.head_dim
                ),
            },
        ),
        ("vocabulary", config.vocab.to_string()),
        ("context", context(&config)),
    ];
    let mut add = |name, text| rows.push((name, text));
    if let Some(head) = head {
        add("output head", head.into());
    }
    let protocol = judge
        .and_then(|judge| protocol::find(&judge.protocol))
        .filter(|protocol| protocol.template.as_deref().is_some())
        .map_or_else(|| protocol::resolve("prime"), Ok)
        .or_fail()?;
    let template =
        PromptTemplate::parse(protocol.template.as_deref().unwrap_or_default()).or_fail()?;
    match JudgeText::load(source, &protocol, &template) {
        Ok(text) => {
            add("chat template", thinking(&text.prompts));
            let tokenizer = text.prompts.tokenizer();
            let ends = text.eos.iter().map(|&id| {
                let known = text.ends.iter().find(|end| end.id == id);
                let why = known.map_or("ends a message in harmony", |end| end.why.as_str());
                format!("{} ({why})", tokenizer.decode(&[id]))
            });
            add("ends with", ends.collect::<Vec<_>>().join(", "));
            let own = judge.map_or(&protocol.name, |judge| &judge.protocol);
            add("protocol", own.to_owned());
            let (shared, name) = (text.prompts.shared_prefix().len(), &protocol.name);
            let text = format!("{shared} tokens shared by all samples under {name}");
            add("prompt", text);
        }
        Err(error) => {
            add("not a judge", error.to_string());
            *refusal = Err::<(), _>(error).or_usage().err();
        }
    }
    if let Some(weights) = weights {
        if let Err(error) = weights.check_model(&config) {
            add("cannot run", error.to_string());
            refusal.get_or_insert(error.into());
        }
        let (files, stored) = source.weight_files().or_fail()?;
        let noun = if files == 1 { "file" } else { "files" };
        let (size, how) = (bytes(stored), stored_as(&weights));
        add("weights", format!("{size} in {files} {noun}, {how}"));
        let hash = if hash || stored <= HASHED {
            source.hash().or_fail()?
        } else {
            "not computed: --hash reads all weights".into()
        };
        add("hash", hash);
    } else if source.origin().is_some() {
        add("weights", "not fetched: `juror models pull` does".into());
    } else {
        // A folder without weights cannot be completed from the hub.
        let missing = source.weight_files().map_err(Failure::from).err();
        add("weights", "none".into());
        *refusal = refusal.take().or(missing);
    }
    Ok(rows)
}

/// How weights are stored in the file, and what that takes in memory where it is more.
fn stored_as(weights: &Weights) -> String {
    match WeightType::from(weights) {
        in_memory @ WeightType::Stored { .. } => {
            let (file, memory) = (WeightType::bits_stored(weights), in_memory.bits());
            let more = if memory - file > 0.005 {
                format!(" ({memory:.2} in memory)")
            } else {
                String::new()
            };
            format!("in blocks, {file:.2} bits a weight{more}")
        }
        one => one.as_str().to_owned(),
    }
}

/// How long a prompt and its completion may be, and where that comes from if not from `max_position_embeddings`.
fn context(config: &ModelConfig) -> String {
    let tokens = format!("{} tokens", config.max_positions);
    match config.rope.scaling {
        RopeScaling::Yarn {
            factor,
            original_positions,
            ..
        } => {
            let is_cut = config.rope.stretched_context() > Some(config.max_positions);
            let most = if is_cut { ", the most here" } else { "" };
            format!("{tokens}{most} (YaRN stretches {original_positions} by {factor})")
        }
        RopeScaling::LongRope {
            original_positions, ..
        } => format!("{tokens} (LongRoPE: other angles from {original_positions} on)"),
        _ => tokens,
    }
}

/// A number of parameters for people: `8.19 B`.
pub(super) fn parameters(count: usize) -> String {
    let count = count as f64;
    if count >= 999.5e6 {
        format!("{:.2} B", count / 1e9)
    } else {
        format!("{:.2} M", count / 1e6)
    }
}

/// Parameters that work on a token: all but the experts it is not sent to.
fn active_parameters(config: &ModelConfig) -> usize {
    let mut one_token = config.clone();
    let Some(experts) = &mut one_token.experts else {
        return config.parameters();
    };
    let idle = experts.count - experts.per_token;
    experts.count = experts.per_token;
    // The router scores all of them.
    one_token.parameters() + config.layers * idle * config.hidden
}

/// All parameters, and how many of them are embeddings: a model is often called by the number without one of them.
fn parts(config: &ModelConfig) -> String {
    let (all, embedding) = (config.parameters(), config.vocab * config.hidden);
    let (heads, which) = if config.tie_embeddings {
        (1, "the embedding, which is the output head too")
    } else {
        (2, "the embedding and as many in the output head")
    };
    let inputs = config.input_table();
    let layers = parameters(all - heads * embedding - inputs);
    let (all, embedding) = (parameters(all), parameters(embedding));
    let mut told = format!("{all}: {layers} in the layers, {embedding} in {which}");
    if inputs > 0 {
        let (count, size) = (parameters(inputs), bytes(2 * inputs as u64));
        told = format!("{told}, {count} in the layers' own embeddings ({size} as bf16)");
    }
    told
}

/// The weights in each type they can be loaded as, by the options that say so.
fn memory(config: &ModelConfig, weights: Option<&Weights>) -> String {
    // Where they are not here, random ones have the same tensors.
    let random = Weights::random(config, 0);
    let stored = Some(WeightType::from(weights.unwrap_or(&random)));
    let stored = stored.filter(|stored| matches!(stored, WeightType::Stored { .. }));
    let whole = |weights| Some(weights).filter(|_| stored.is_none());
    let ways = [
        (stored, "as stored"),
        (Some(WeightType::BF16), "with --dtype bf16 or f16"),
        (Some(WeightType::F32), "with --dtype f32"),
        // What is in blocks is not put into others.
        (whole(WeightType::Q8_0), "with --quantize q8_0"),
        (whole(WeightType::Q4K), "with --quantize q4k"),
    ];
    let sizes = ways.into_iter().filter_map(|(weights, how)| {
        let precision = Precision {
            weights: weights?,
            ..Precision::F32
        };
        let size = bytes(weight_bytes(config, 1, precision, 0) as u64);
        Some(format!("{size} {how}"))
    });
    sizes.collect::<Vec<_>>().join(", ")
}

fn kv_cache(config: &ModelConfig) -> String {
    let (tokens, whole) = CacheLayout::from(config).describe(config.max_positions);
    let state = config.recurrent.as_ref().map(|recurrent| {
        let one = bytes(state_bytes(&recurrent.shape) as u64);
        format!("; {one} for each sequence's recurrent state")
    });
    format!(
        "{tokens}; {} for one whole context as bf16{}",
        bytes(whole as u64),
        state.unwrap_or_default()
    )
}

/// How the model's thinking is separated from its answer, and what `--thinking` does in a run of `judge`.
fn thinking(prompts: &PromptBuilder) -> String {
    let switch = match prompts.switch() {
        ThinkingSwitch::None => "--thinking is refused: the chat template has no thinking switch",
        ThinkingSwitch::On => "--thinking off gives another prompt, --thinking on the usual one",
        ThinkingSwitch::Off => "--thinking on gives another prompt, --thinking off the usual one",
        ThinkingSwitch::Neither => "--thinking on and --thinking off each give another prompt",
    };
    format!("there; {}; {switch}", prompts.thinking().describe())
}

#[cfg(test)]
mod tests;
