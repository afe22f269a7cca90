//! The metadata of a file as a `config.json` with Hugging Face's keys.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Map, Value as Json, json};

use super::header::{MetadataValue, TensorInfo};
use super::metadata::Metadata;
use crate::checkpoint::families::{
    Bias, ExpertKeys, FAMILIES, Factor, Family, FullLayerKeys, Part, Scores, SharedWidth,
    Unrotated, Windows, pairs, settings,
};
use crate::checkpoint::{CheckpointError, Result, unsuitable};

/// Divisors of rotary frequencies that a file stores as tensors, by name.
pub(super) type Factors = BTreeMap<String, Vec<f64>>;

/// The family of a file.
/// Errors: [`CheckpointError::Config`] for what is not a model, and for unknown families.
pub(super) fn family(
    metadata: &Metadata,
    tensors: &BTreeMap<String, TensorInfo>,
) -> Result<&'static Family> {
    if let Some(kind) = metadata.text("general.type")?
        && kind != "model"
    {
        let what = match kind {
            "adapter" => {
                "an adapter: merge it into its base model (llama.cpp's llama-export-lora), and give that file"
            }
            "mmproj" => {
                "the part of a vision model that reads images: take the file of a text model"
            }
            _ => "it does not hold a model that can judge",
        };
        return metadata.fail(format!("general.type is {kind:?}: {what}"));
    }
    if tensors.is_empty() {
        return metadata.fail(
            "it holds a vocabulary without weights (no tensors): take the file of the whole model",
        );
    }
    let name = metadata.text("general.architecture")?.unwrap_or("(none)");
    let pooled = metadata.optional_size(&format!("{name}.pooling_type"));
    let pooled = pooled.is_ok_and(|kind| kind.is_some());
    let of_name = |family: &&Family| family.gguf.contains(&name);
    let mut known: Vec<&Family> = FAMILIES.iter().filter(of_name).collect();
    if (pooled || known.is_empty())
        && let Some(what) = unsuitable::gguf(name, pooled, tensors)
    {
        return metadata.fail(what);
    }
    if known.len() > 1 {
        let experts = tensors.keys().any(|name| name.contains(".ffn_gate_inp."));
        known.retain(|family| family.experts.is_some() == experts);
    }
    if known.len() > 1 {
        let fused = tensors.contains_key("blk.0.attn_qkv.weight");
        known.retain(|family| family.has(Part::QueryKeyValue) == fused);
    }
    if known.len() > 1 && known.iter().any(|family| family.must_stretch) {
        let kind = metadata.text(&format!("{name}.rope.scaling.type"))?;
        let stretched = kind.is_some_and(|kind| kind != "none");
        known.retain(|family| family.must_stretch == stretched);
    }
    if known.len() > 1 {
        let windowed = window(metadata)?.is_some();
        known.retain(|family| (family.windows != Windows::Never) == windowed);
    }
    if let Some(family) = known.first() {
        return Ok(family);
    }
    let names = FAMILIES.iter().flat_map(|family| family.gguf);
    let names: BTreeSet<&str> = names.copied().collect();
    metadata.fail(format!(
        "architecture {name} is not supported; supported: {}",
        names.into_iter().collect::<Vec<_>>().join(", ")
    ))
}

/// How many keys a query sees.
fn window(metadata: &Metadata) -> Result<Option<usize>> {
    metadata.optional_size(&metadata.key("attention.sliding_window"))
}

pub(super) fn head_dim(metadata: &Metadata) -> Result<usize> {
    let (hidden, heads) = (
        metadata.size(&metadata.key("embedding_length"))?,
        metadata.size(&metadata.key("attention.head_count"))?,
    );
    let head_dim = metadata
        .optional_size(&metadata.key("attention.key_length"))?
        .unwrap_or(hidden / heads);
    if let Some(values) = metadata.optional_size(&metadata.key("attention.value_length"))?
        && values != head_dim
    {
        return metadata.fail(format!(
            "values of {values} ({}) beside keys of {head_dim} are not supported",
            metadata.key("attention.value_length")
        ));
    }
    if head_dim == 0 {
        return metadata.fail(format!("{heads} heads share a width of {hidden}"));
    }
    Ok(head_dim)
}

/// The blocks that guess several tokens ahead: they come after the layers, and are not loaded.
/// Errors: [`CheckpointError::Config`] where there are more of them than blocks.
pub(super) fn blocks_ahead(metadata: &Metadata) -> Result<Range<usize>> {
    let key = metadata.key("nextn_predict_layers");
    let (blocks, ahead) = (
        metadata.size(&metadata.key("block_count"))?,
        metadata.optional_size(&key)?.unwrap_or(0),
    );
    match blocks.checked_sub(ahead) {
        Some(layers) if layers > 0 => Ok(layers..blocks),
        _ => metadata.fail(format!("{key} is {ahead}, of {blocks} blocks")),
    }
}

/// The metadata as `config.json`.
/// Errors: [`CheckpointError::Config`] for keys that are missing, wrong, or unknown.
pub(super) fn config(
    family: &Family,
    metadata: &Metadata,
    tensors: &BTreeMap<String, TensorInfo>,
    factors: &Factors,
    eos: &[usize],
) -> Result<Json> {
    let size = |name: &str| metadata.size(&metadata.key(name));
    let optional = |name: &str| metadata.optional_size(&metadata.key(name));
    let number = |name: &str| metadata.number(&metadata.key(name));
    let Some(embedding) = tensors.get("token_embd.weight") else {
        return metadata.fail("no tensor token_embd.weight");
    };
    let vocab = embedding.shape[0];
    if let Some(said) = optional("vocab_size")?
        && said != vocab
    {
        return metadata.fail(format!(
            "{} is {said}, but token_embd.weight has {vocab} rows",
            metadata.key("vocab_size")
        ));
    }
    let head_dim = head_dim(metadata)?;
    let heads = size("attention.head_count")?;
    let window = window(metadata)?;
    let has = |name: &str| tensors.contains_key(name);
    let tied = !has("output.weight");
    let by_kind = match family.full_layers {
        Some(keys) => Some(by_kind(metadata, &keys, tensors, factors, head_dim)?),
        None => None,
    };
    let kv_heads = match &by_kind {
        Some(_) => None,
        None => optional("attention.head_count_kv")?,
    };
    let kv_heads = kv_heads.unwrap_or(heads);
    let theta = number("rope.freq_base")?.unwrap_or(10_000.0);
    let Some(eps) = number("attention.layer_norm_rms_epsilon")? else {
        return metadata.lacks(&metadata.key("attention.layer_norm_rms_epsilon"));
    };
    let hidden = size("embedding_length")?;
    let layers = blocks_ahead(metadata)?.start;
    // Where only some sizes of a family have experts, their files have the key.
    let there = |keys: &&ExpertKeys| {
        Ok::<_, CheckpointError>(keys.beside_dense.is_none() || optional("expert_count")?.is_some())
    };
    let experts = match family.experts.as_ref() {
        Some(keys) if there(&keys)? => Some(keys),
        _ => None,
    };
    let width = match experts {
        None => None,
        // Older files have one key for both.
        Some(experts) if experts.width == "intermediate_size" => {
            match optional("expert_feed_forward_length")? {
                None => Some(size("feed_forward_length")?),
                width => width,
            }
        }
        Some(_) => Some(size("expert_feed_forward_length")?),
    };
    let (intermediate, positions) = match (experts, width) {
        // The width of an expert, as there are only experts.
        (Some(experts), Some(width)) if experts.width == "intermediate_size" => {
            optional("feed_forward_length")?;
            (width, size("context_length")?)
        }
        // Where an expert works on every token there is no other feed-forward layer.
        (Some(experts), Some(width)) if matches!(experts.shared, Some(SharedWidth::Width(_))) => {
            let given = optional("feed_forward_length")?;
            (given.unwrap_or(width), size("context_length")?)
        }
        _ if family.shares_keys => {
            let widths = by_layer(metadata, &metadata.key("feed_forward_length"), layers)?;
            (widths[0], size("context_length")?)
        }
        _ => (size("feed_forward_length")?, size("context_length")?),
    };
    let dimensions = optional("rope.dimension_count")?.unwrap_or(head_dim);
    let mut scaling = match &by_kind {
        Some(_) => None,
        None => scaling(family, metadata, factors, (head_dim, theta))?,
    };
    if let Some(scaling) = &mut scaling {
        for (key, value) in settings(family.gguf_rope) {
            scaling[key] = value;
        }
    }
    if family.scales_by_position
        && let Some(scaling) = &mut scaling
    {
        let beta = number("attention.temperature_scale")?.unwrap_or(0.0);
        scaling["llama_4_scaling_beta"] = beta.into();
    }
    if metadata.flag(&metadata.key("attention.causal"))? == Some(false) {
        return metadata.fail(format!(
            "{} is false: it reads texts in both directions, and writes none",
            metadata.key("attention.causal")
        ));
    }
    let scales = [MetadataValue::Float(1.0), MetadataValue::Float(0.0)];
    if experts.is_none_or(|experts| experts.scale.is_none()) {
        metadata.must_be(&metadata.key("expert_weights_scale"), &scales)?;
    }
    // Experts in groups, of which some are chosen first.
    for key in ["expert_group_count", "expert_group_used_count"] {
        metadata.must_be(&metadata.key(key), &[MetadataValue::Unsigned(1)])?;
    }
    metadata.must_be(
        &metadata.key("expert_gating_func"),
        &[MetadataValue::Unsigned(family.gguf_gating)],
    )?;
    // Notes about how the file was made.
    metadata.text(&metadata.key("tensor_data_layout"))?;
    metadata.flag(&metadata.key("rope.scaling.finetuned"))?;
    for key in family.gguf_true {
        if metadata.flag(&metadata.key(key))? == Some(false) {
            return metadata.fail(format!("{} (false) is not supported", metadata.key(key)));
        }
    }

    let mut config = json!({
        "architectures": [family.class()], "vocab_size": vocab, "hidden_size": hidden, "intermediate_size": intermediate,
        "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": kv_heads, "head_dim": head_dim,
        "max_position_embeddings": positions, "rms_norm_eps": eps, "rope_theta": theta,
        "tie_word_embeddings": tied, "eos_token_id": eos,
        "partial_rotary_factor": dimensions as f64 / head_dim as f64,
    });
    let mut set = |key: &str, value: Json| config[key] = value;
    if let Some(scaling) = scaling {
        set("rope_scaling", scaling);
    }
    for (key, value) in settings(family.gguf_lacks) {
        set(key, value);
    }
    for (key, stored) in pairs(family.gguf_numbers) {
        if let Some(value) = number(stored)? {
            set(key, value.into());
        }
    }
    if let Factor::Of(key) = family.score_scale
        && !pairs(family.gguf_numbers).any(|(name, stored)| {
            name == key && number(stored).is_ok_and(|number| number.is_some())
        })
    {
        return metadata.lacks(&metadata.key("attention.scale"));
    }
    if let Some(key) = family.head_norms_key {
        set(key, has("blk.0.attn_q_norm.weight").into());
    }
    if let Factor::InverseRootOf(key) = family.score_scale {
        let wide = family.gguf_wide_scores == Some(layers);
        set(key, if wide { hidden / heads } else { head_dim }.into());
    }
    let pattern = metadata.key("attention.sliding_window_pattern");
    if let Some(own) = by_kind {
        // These say it by kind.
        set("partial_rotary_factor", Json::Null);
        set("rope_theta", Json::Null);
        for (key, value) in own {
            set(&key, value);
        }
        if family.shares_keys {
            for (key, value) in sharing(metadata, layers)? {
                set(key, value);
            }
            set("vocab_size_per_layer_input", vocab.into());
        }
    } else if let Some(windowed) = metadata.flags(&pattern) {
        let kinds = windowed.iter().copied().map(kind_of_layer).collect();
        set("layer_types", kinds);
    } else if let Some(pattern) = metadata.optional_size(&pattern)? {
        set("sliding_window_pattern", pattern.into());
    }
    // A file has the biases that it holds.
    for (bias, parts) in [
        (family.output_bias, &["attn_output"][..]),
        (family.qkv_bias, &["attn_q", "attn_qkv"]),
        (family.feed_forward_bias, &["ffn_down"]),
    ] {
        if let Bias::Key(key) = bias {
            let given = parts.iter().any(|part| has(&format!("blk.0.{part}.bias")));
            set(key, given.into());
        }
    }
    match (family.windows, window) {
        // Files that leave the key out are older than it: the family's window, if that is one and the same in all sizes.
        // A family that does not rotate beside windows has sizes without them.
        (Windows::AllButEvery(_), None) if family.unrotated == Unrotated::Never => {
            if !settings(family.gguf_lacks).any(|(key, _)| key == "sliding_window") {
                return metadata.lacks(&metadata.key("attention.sliding_window"));
            }
        }
        (Windows::All | Windows::AllButEvery(_), window) => set("sliding_window", json!(window)),
        (_, Some(_)) => {
            return metadata.fail(format!(
                "{} is not supported with this architecture",
                metadata.key("attention.sliding_window")
            ));
        }
        (_, None) => {}
    }
    if family.has(Part::DeltaQueryKeyValue) {
        let (values, heads) = (size("ssm.inner_size")?, size("ssm.time_step_rank")?);
        if !values.is_multiple_of(heads) {
            return metadata.fail(format!(
                "{} is {values}, which {heads} heads ({}) do not share",
                metadata.key("ssm.inner_size"),
                metadata.key("ssm.time_step_rank")
            ));
        }
        for (key, value) in [
            ("full_attention_interval", size("full_attention_interval")?),
            ("linear_num_key_heads", size("ssm.group_count")?),
            ("linear_num_value_heads", heads),
            ("linear_key_head_dim", size("ssm.state_size")?),
            ("linear_value_head_dim", values / heads),
            ("linear_conv_kernel_dim", size("ssm.conv_kernel")?),
        ] {
            set(key, value.into());
        }
        set("converted", true.into());
        // How angles are shared out among time, height and width, which are one number in a text.
        metadata.integers(&metadata.key("rope.dimension_sections"))?;
    }
    if let Some(experts) = experts {
        if let Some(key) = experts.beside_dense {
            set(key, true.into());
        }
        match experts.shared {
            Some(SharedWidth::Width(key)) => {
                set(key, size("expert_shared_feed_forward_length")?.into());
            }
            Some(SharedWidth::Experts(key)) => {
                set(key, optional("expert_shared_count")?.unwrap_or(0).into());
            }
            None => {}
        }
        if let (Some(key), Some(scale)) = (experts.scale, number("expert_weights_scale")?) {
            // Zero is no scale at all.
            set(key, if scale == 0.0 { 1.0 } else { scale }.into());
        }
        if let Some(key) = experts.dense {
            let dense = optional("leading_dense_block_count")?.unwrap_or(0);
            set(key, dense.into());
        }
        for key in experts.count.iter().take(1) {
            set(key, size("expert_count")?.into());
        }
        set("num_experts_per_tok", size("expert_used_count")?.into());
        set(experts.width, json!(width));
        if let Some(key) = experts.normalise {
            let normalise = metadata.flag(&metadata.key("expert_weights_norm"))?;
            let left_out = experts.scores == Scores::Softmax;
            set(key, normalise.unwrap_or(left_out).into());
        }
        if family.has(Part::ExpertsGateUp) {
            set("experts_apart", true.into());
        }
    }
    metadata.all_asked_for(&metadata.key(""))?;
    Ok(config)
}

/// A number for each layer, of a file that has one for all of them or for each its own.
fn by_layer(metadata: &Metadata, key: &str, layers: usize) -> Result<Vec<usize>> {
    if metadata.size(key).is_err() {
        let each = metadata.integers(key)?.unwrap_or_default().into_iter();
        let each = each.map(usize::try_from).collect::<Result<Vec<_>, _>>();
        if let Some(each) = each.ok().filter(|each| each.len() == layers) {
            return Ok(each);
        }
    }
    Ok(vec![metadata.size(key)?; layers])
}

/// What a file says of layers that attend to another layer's keys and values, and of what each layer gets of a token.
fn sharing(metadata: &Metadata, layers: usize) -> Result<[(&'static str, Json); 3]> {
    let optional = |name: &str| metadata.optional_size(&metadata.key(name));
    let key = metadata.key("attention.shared_kv_layers");
    let count = metadata.optional_size(&key)?.unwrap_or(0);
    let windowed = metadata.flags(&metadata.key("attention.sliding_window_pattern"));
    let windowed = windowed.unwrap_or_default();
    let parts = layers.checked_sub(count).map(|own| windowed.split_at(own));
    if !parts.is_some_and(|(own, others)| others.iter().all(|kind| own.contains(kind))) {
        return metadata.fail(format!(
            "{key} is {count}, of {layers} layers: each needs one of its kind before them, whose keys and values it attends to"
        ));
    }
    let key = metadata.key("feed_forward_length");
    let widths = by_layer(metadata, &key, layers)?;
    let (first, wide) = (widths[0], widths[layers - 1] > widths[0]);
    let own = layers - count;
    let fits = |(layer, width): (usize, usize)| width == first << usize::from(wide && layer >= own);
    if !widths.into_iter().enumerate().all(fits) {
        return metadata.fail(format!(
            "{key} is not one number for the {own} layers with keys and values, and twice as many for the others"
        ));
    }
    let inputs = optional("embedding_length_per_layer_input")?.unwrap_or(0);
    Ok([
        ("num_kv_shared_layers", count.into()),
        ("use_double_wide_mlp", wide.into()),
        ("hidden_size_per_layer_input", inputs.into()),
    ])
}

fn kind_of_layer(windowed: bool) -> &'static str {
    if windowed {
        "sliding_attention"
    } else {
        "full_attention"
    }
}

/// What a file says of layers with windows, and of those without, as keys of `config.json`. Sizes without `swa` are those of the
/// latter, heads of `head_dim` numbers.
fn by_kind(
    metadata: &Metadata,
    keys: &FullLayerKeys,
    tensors: &BTreeMap<String, TensorInfo>,
    factors: &Factors,
    head_dim: usize,
) -> Result<Map<String, Json>> {
    let optional = |name: &str| metadata.optional_size(&metadata.key(name));
    let layers = blocks_ahead(metadata)?.start;
    let key = metadata.key("attention.sliding_window_pattern");
    let Some(windowed) = metadata.flags(&key) else {
        return metadata.fail(format!(
            "{key} is not a list of true and false for all layers"
        ));
    };
    let of = windowed.len();
    if of != layers {
        return metadata.fail(format!("{key} is of {of} layers, of {layers}"));
    }
    let in_windows = optional("attention.key_length_swa")?.unwrap_or(head_dim);
    for (name, expected) in [
        ("attention.value_length_swa", in_windows),
        ("rope.dimension_count", head_dim),
        ("rope.dimension_count_swa", in_windows),
    ] {
        if let Some(size) = optional(name)?
            && size != expected
        {
            return metadata.fail(format!("{} is {size}, not {expected}", metadata.key(name)));
        }
    }
    let key = metadata.key("attention.head_count_kv");
    let each = by_layer(metadata, &key, layers)?;
    let heads_of = |kind: bool| {
        let own = each.iter().zip(windowed).filter(|(_, own)| **own == kind);
        let mut own = own.map(|(heads, _)| *heads);
        let first = own.next();
        match first.filter(|first| own.all(|other| other == *first)) {
            Some(heads) => Ok(heads),
            _ => metadata.fail(format!("{key} is not one number for all layers of a kind")),
        }
    };
    let number = |name: &str, default: f64| -> Result<f64> {
        Ok(metadata.number(&metadata.key(name))?.unwrap_or(default))
    };
    let (theta, in_windows_theta) = (
        number("rope.freq_base", 1e6)?,
        number("rope.freq_base_swa", 1e4)?,
    );
    // Pairs that stand still are divided by a number beyond any angle.
    let turned = match factors.get("rope_freqs.weight") {
        None => head_dim / 8,
        Some(divisors) => {
            let turned = divisors
                .iter()
                .take_while(|x| (**x - 1.0).abs() < 1e-6)
                .count();
            if divisors.len() != head_dim / 2 || divisors[turned..].iter().any(|x| *x < 1e20) {
                return metadata.fail("rope_freqs.weight does more than let pairs stand still");
            }
            turned
        }
    };
    let full = windowed.iter().position(|own| !own).unwrap_or(layers);
    let keys_are_values = !tensors.contains_key(&format!("blk.{full}.attn_v.weight"));
    let own = json!({
        "layer_types": windowed.iter().copied().map(kind_of_layer).collect::<Vec<_>>(), "head_dim": in_windows, (keys.head_dim.0): head_dim,
        "num_key_value_heads": heads_of(true)?, (keys.kv_heads): heads_of(false)?, (keys.keys_are_values): keys_are_values,
        "rope_parameters": {
            "full_attention": {"rope_type": "proportional", "rope_theta": theta,
                "partial_rotary_factor": 2.0 * turned as f64 / head_dim as f64},
            "sliding_attention": {"rope_type": "default", "rope_theta": in_windows_theta},
        },
    });
    Ok(own.as_object().cloned().unwrap_or_default())
}

fn scaling(
    family: &Family,
    metadata: &Metadata,
    factors: &Factors,
    (head_dim, theta): (usize, f64),
) -> Result<Option<Json>> {
    let key = |name: &str| metadata.key(&format!("rope.scaling.{name}"));
    let kind = metadata.text(&key("type"))?.unwrap_or("none");
    let factor = metadata.number(&key("factor"))?;
    let original = metadata.optional_size(&key("original_context_length"))?;
    let attention = metadata.number(&key("attn_factor"))?;
    let (fast, slow) = (
        metadata.number(&key("yarn_beta_fast"))?,
        metadata.number(&key("yarn_beta_slow"))?,
    );
    if let Some(stored) = factors.get("rope_freqs.weight") {
        return Ok(Some(llama3(stored, head_dim, theta)));
    }
    let given = |entries: &[(&str, Option<Json>)]| {
        let entries = entries
            .iter()
            .filter_map(|(key, value)| Some(((*key).to_owned(), value.clone()?)));
        Json::Object(entries.collect::<Map<_, _>>())
    };
    if let (Some(short), Some(long)) = (
        factors.get("rope_factors_short.weight"),
        factors.get("rope_factors_long.weight"),
    ) {
        let Some(original) = original else {
            return metadata.fail(format!(
                "no {} in its metadata, but factors of LongRoPE",
                key("original_context_length")
            ));
        };
        return Ok(Some(given(&[
            ("rope_type", Some("longrope".into())),
            ("short_factor", Some(json!(short))),
            ("long_factor", Some(json!(long))),
            ("original_max_position_embeddings", Some(original.into())),
            ("attention_factor", attention.map(Json::from)),
        ])));
    }
    let multiplier = metadata.number(&key("yarn_log_multiplier"))?;
    let multiplier = multiplier.filter(|multiplier| *multiplier != 0.0);
    let turned = metadata.number(&key("yarn_attn_factor"))?;
    // Older files of OLMo 3 have the factor that YaRN has by itself; llama.cpp multiplies with it a second time.
    let own = factor.filter(|_| kind == "yarn" && family.gguf_yarn_factor);
    let own = own.map_or(1.0, |factor| 1.0 + 0.1 * factor.ln());
    let says_more = |factor: f64| [1.0, own].iter().all(|known| (factor - known).abs() > 1e-5);
    if attention.is_some_and(says_more) {
        return metadata.fail(format!("{} is not supported", key("attn_factor")));
    }
    match kind {
        "none" => Ok(None),
        "linear" if factor.is_none_or(|factor| (factor - 1.0).abs() < 1e-9) => Ok(None),
        "linear" => Ok(Some(
            json!({ "rope_type": "linear", "factor": factor.unwrap_or(1.0) }),
        )),
        "yarn" => Ok(Some(given(&[
            ("rope_type", Some("yarn".into())),
            ("factor", factor.map(Json::from)),
            ("original_max_position_embeddings", original.map(Json::from)),
            ("beta_fast", fast.map(Json::from)),
            ("beta_slow", slow.map(Json::from)),
            ("attention_factor", turned.map(Json::from)),
            ("mscale", multiplier.map(|_| 1.0.into())),
            ("mscale_all_dim", multiplier.map(Json::from)),
        ]))),
        other => metadata.fail(format!(
            "{} {other:?} is not supported without its factors",
            key("type")
        )),
    }
}

/// Llama 3's stretching of rotary angles. A file has only its result, a divisor for each frequency. If that is the published models' stretching, which has the
/// same bounds in all of them, the rule itself is used, since the file's divisors are rounded; otherwise the divisors are.
fn llama3(stored: &[f64], head_dim: usize, theta: f64) -> Json {
    const ORIGINAL: f64 = 8192.0;
    const LOW: f64 = 1.0;
    const HIGH: f64 = 4.0;
    let factor = stored.iter().copied().fold(1.0, f64::max).round();
    let rule = |index: usize| {
        let wavelength = std::f64::consts::TAU * theta.powf(2.0 * index as f64 / head_dim as f64);
        let turns = ORIGINAL / wavelength;
        if turns < LOW {
            factor
        } else if turns > HIGH {
            1.0
        } else {
            let stays = (turns - LOW) / (HIGH - LOW);
            1.0 / ((1.0 - stays) / factor + stays)
        }
    };
    let published = stored.len() == head_dim / 2
        && stored
            .iter()
            .enumerate()
            .all(|(index, stored)| (stored / rule(index) - 1.0).abs() < 1e-4);
    if published {
        return json!({ "rope_type": "llama3", "factor": factor, "low_freq_factor": LOW, "high_freq_factor": HIGH,
            "original_max_position_embeddings": ORIGINAL as u64 });
    }
    json!({ "rope_type": "longrope", "short_factor": stored, "long_factor": stored, "attention_factor": 1.0,
        "original_max_position_embeddings": ORIGINAL as u64 })
}
