//! Reads `config.json` by the row of its family.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::keys::{Keys, is_nothing, same, short};
use super::{
    Activation, Biases, Experts, FullLayers, LayerInputs, ModelConfig, Rope, RopeScaling,
    SecondRope, SharingLayers, quantization, recurrent, rope,
};
use crate::checkpoint::families::{
    Bias, FAMILIES, Factor, Family, Gate, Part, SharedWidth, Unrotated, Windows, Wrapper, pairs,
    settings, wrappers,
};
use crate::checkpoint::{Result, unsuitable};

/// Reads a configuration. Each key must be followed, or be known to have no effect; any other is refused.
pub(super) fn parse(value: &Value, path: &str) -> Result<ModelConfig> {
    let given = Keys::new(value, path);
    let (family, wrapper) = family(&given, value)?;
    let value = in_plain_keys(&given, value, family, wrapper.as_ref())?;
    let keys = Keys::new(&value, path);
    let config = ModelConfig {
        text_part: wrapper.is_some(),
        ..model(&keys, family)?
    };
    for (key, value) in settings(family.fixed) {
        keys.must_be(key, value)?;
    }
    for key in "is_encoder_decoder add_cross_attention tie_encoder_decoder".split(' ') {
        keys.must_be(key, false)?;
    }
    for key in family.without_effect.split_whitespace() {
        keys.get(key);
    }
    // A key that matters to encoders only.
    keys.get("is_decoder");
    keys.all_asked_for()?;
    Ok(config)
}

/// The family of a configuration, and what it is wrapped in if it is the text part of a model that reads images too.
fn family(keys: &Keys, value: &Value) -> Result<(&'static Family, Option<Wrapper>)> {
    let classes = keys.get("architectures");
    let class = classes.and_then(|list| list.get(0)?.as_str());
    let kind = keys.get("model_type").and_then(Value::as_str);
    let named = |classes: &[&str], model_types: &[&str]| match class {
        Some(class) => classes.contains(&class),
        None => kind.is_some_and(|kind| model_types.contains(&kind)),
    };
    let mut families = FAMILIES.iter();
    let known = families.find(|family| named(family.classes, family.model_types));
    let wrapper = wrappers().find(|wrapper| named(&[wrapper.class], &[wrapper.model_type]));
    let own = wrapper
        .as_ref()
        .map(|wrapper| std::slice::from_ref(&wrapper.model_type));
    let own = known.map(|family| family.model_types).or(own);
    // transformers builds what model_type says, with other numbers.
    if let (Some(own), Some(class), Some(kind)) = (own, class, kind)
        && !own.contains(&kind)
    {
        return keys.fail(format!(
            "architectures says {class}, and model_type {kind}, not {}: they are of different families",
            own.join(" or ")
        ));
    }
    let kinds = value.get("layer_types").and_then(Value::as_array);
    let keeps_state = |kind: &Value| *kind == "mamba" || *kind == "linear_attention";
    let is_dense = kinds.is_some_and(|kinds| !kinds.iter().any(keeps_state))
        && value.get("num_local_experts") == Some(&0.into())
        && value.get("position_embedding_type") == Some(&"rope".into());
    if let Some(family) = known.filter(|family| is_dense || !family.is_hybrids) {
        return Ok((family, None));
    }
    if let Some(wrapper) = wrapper {
        let family = text_family(keys, &wrapper, value.get("text_config"))?;
        return Ok((family, Some(wrapper)));
    }
    let name = class.or(kind);
    if let Some(what) = name.and_then(|name| unsuitable::class(name, value)) {
        return keys.fail(what);
    }
    let classes = FAMILIES.iter().flat_map(|family| family.classes);
    let mut supported: Vec<&str> = classes.copied().collect();
    supported.extend(wrappers().map(|wrapper| wrapper.class));
    keys.fail(format!(
        "architecture {} is not supported; supported: {}",
        name.unwrap_or("(neither `architectures` nor `model_type` is given)"),
        supported.join(", ")
    ))
}

/// The family of the text part of a model that reads images too.
fn text_family(keys: &Keys, wrapper: &Wrapper, text: Option<&Value>) -> Result<&'static Family> {
    let kind = text.and_then(|text| text.get("model_type")?.as_str());
    let kind = kind.unwrap_or(wrapper.text);
    let class = text.and_then(|text| text.get("architectures")?.get(0)?.as_str());
    // transformers builds the text part that a class has where its type is called after the class's, and else what the type says.
    let any = !wrapper.text.starts_with(wrapper.model_type);
    let fits = |family: &&Family| {
        let of_family = |kind: &str| family.model_types.contains(&kind);
        // Files name the whole model's class here too.
        let known = |class: &str| {
            let mut wrappers = wrappers().filter(|other| other.class == class);
            let mut families = FAMILIES.iter().filter(|other| other != family);
            wrappers.all(|other| of_family(other.text))
                && families.all(|other| !other.classes.contains(&class))
        };
        of_family(kind) && (any || of_family(wrapper.text)) && class.is_none_or(known)
    };
    let Some(family) = FAMILIES.iter().find(fits) else {
        let class = class.map(|class| format!(" and {class} (architectures)"));
        return keys.fail(format!(
            "{}'s text part is of the family {kind} (text_config.model_type){}, which is not supported",
            wrapper.class,
            class.unwrap_or_default()
        ));
    };
    Ok(family)
}

/// The configuration of the text part under transformers' names, with what the family takes where keys are left out.
fn in_plain_keys(
    keys: &Keys,
    given: &Value,
    family: &Family,
    wrapper: Option<&Wrapper>,
) -> Result<Value> {
    let mut plain = given.as_object().cloned().unwrap_or_default();
    if let Some(wrapper) = wrapper {
        plain = text_part(keys, plain)?;
        let tied = plain.entry("tie_word_embeddings");
        tied.or_insert(wrapper.ties.into());
    }
    for (theirs, plain_name) in pairs(family.renamed) {
        let Some(value) = plain.remove(theirs) else {
            continue;
        };
        let other = plain.get(plain_name).filter(|other| !other.is_null());
        if other.is_some() && value.is_null() {
            continue;
        }
        if other.is_some_and(|other| !same(other, &value)) {
            return keys.fail(format!("{theirs} and {plain_name} differ"));
        }
        plain.insert(plain_name.into(), value);
    }
    for (key, value) in settings(family.defaults) {
        // Null is as good as none, but for a window, where it says that there is none, sizes of heads, which follow from others then,
        // and layers' inputs, where transformers refuses it.
        let null_says = ["sliding_window", "num_key_value_heads", "head_dim"].contains(&key)
            || key.ends_with("size_per_layer_input");
        if plain.get(key).is_some_and(Value::is_null) && !null_says {
            plain.remove(key);
        }
        plain.entry(key).or_insert(value);
    }
    if let Some(key) = family.rotary_width
        && let Some(width) = plain.remove(key).filter(|width| !width.is_null())
    {
        let share = "partial_rotary_factor";
        let head_dim = plain.get("head_dim").and_then(Value::as_f64);
        let (Some(width), Some(head_dim)) = (width.as_f64(), head_dim) else {
            return keys.fail(format!("{key} is {}, not a size", short(&width)));
        };
        let part = Value::from(width / head_dim);
        let ropes = ["rope_parameters", "rope_scaling"].map(|name| plain.get(name)?.get(share));
        let others = ropes.into_iter().flatten().chain(plain.get(share));
        if others.into_iter().any(|other| !same(other, &part)) {
            return keys.fail(format!("{key} and {share} differ"));
        }
        plain.insert(share.into(), part);
    }
    Ok(Value::Object(plain))
}

/// Keys that stand in `text_config`, outside, or in both.
const SHARED: &str = "quantization_config tie_word_embeddings eos_token_id bos_token_id";

/// Keys of such models that are of images, sound and their tokens, which a text has none of.
const OF_TOWERS: &str = include_str!("keys_of_towers.txt");

/// What the configuration of a model with towers for images and sound says of its text part.
fn text_part(keys: &Keys, mut outer: Map<String, Value>) -> Result<Map<String, Value>> {
    let mut text = match outer.remove("text_config") {
        Some(Value::Object(mut text)) => {
            for key in SHARED.split(' ') {
                let Some(value) = outer.remove(key) else {
                    continue;
                };
                let inside = text.get(key).filter(|inside| !inside.is_null());
                if key == "tie_word_embeddings" && !(value.is_boolean() || value.is_null()) {
                    return keys.fail(format!("{key} is {}, not true or false", short(&value)));
                }
                if key == "quantization_config"
                    && !value.is_null()
                    && inside.is_some_and(|inside| *inside != value)
                {
                    return keys.fail(format!("{key} and text_config.{key} differ"));
                }
                // Older files say only inside that the table is the head too, and newer ones only outside.
                let either = key == "tie_word_embeddings" && value == true;
                if either || !text.contains_key(key) {
                    text.insert(key.into(), value);
                }
            }
            // What the text part has too is not read outside; any other key there must be known as one that says nothing of it.
            outer.retain(|key, _| !text.contains_key(key));
            Keys::new(&Value::Object(outer), keys.path()).all_known(OF_TOWERS)?;
            text
        }
        None | Some(Value::Null) => outer,
        Some(other) => {
            return keys.fail(format!("text_config is {}, not an object", short(&other)));
        }
    };
    text.retain(|key, _| !OF_TOWERS.lines().any(|known| known == key));
    for key in ["rope_scaling", "rope_parameters"] {
        let Some(rope) = text.get_mut(key).and_then(Value::as_object_mut) else {
            continue;
        };
        // How angles are shared out among time, height and width, which are one number in a text.
        rope.remove("mrope_section");
        rope.remove("mrope_interleaved");
        for kind in ["type", "rope_type"] {
            if rope.get(kind).is_some_and(|kind| *kind == "mrope") {
                rope.insert(kind.into(), "default".into());
            }
        }
    }
    Ok(text)
}

fn model(keys: &Keys, family: &'static Family) -> Result<ModelConfig> {
    let (hidden, heads) = (keys.size("hidden_size")?, keys.size("num_attention_heads")?);
    let head_dim = match keys.optional_size("head_dim")? {
        Some(head_dim) => head_dim,
        None if family.divides_width && hidden.is_multiple_of(heads) => hidden / heads,
        None => return keys.fail("no head_dim"),
    };
    let kv_heads = match keys.optional_size("num_key_value_heads")? {
        Some(kv_heads) => kv_heads,
        // transformers reads null so too.
        None if family.own_keys || !keys.lacks("num_key_value_heads") => heads,
        None => return keys.fail("no num_key_value_heads"),
    };
    let stretches = |key| keys.get(key).is_some_and(|value| !is_nothing(value));
    if family.must_stretch && !stretches("rope_scaling") && !stretches("rope_parameters") {
        return keys.fail("no rope_scaling");
    }
    let layers = keys.size("num_hidden_layers")?;
    let full = full_layers(keys, family, kv_heads, head_dim)?;
    let full_head_dim = full.as_ref().map_or(head_dim, |full| full.head_dim);
    let (mut rope, window_rope) = ropes(keys, family, [full_head_dim, head_dim])?;
    if family.theta_ratio && keys.get("rope_ratio").is_some() {
        rope.theta *= keys.positive("rope_ratio", keys.get("rope_ratio"))?;
    }
    // Checkpoints stretched with YaRN often leave this at the original value.
    let stretched = rope.stretched_context().unwrap_or(0);
    let max_positions = keys.size("max_position_embeddings")?.max(stretched);
    let hidden_act = match family.gate {
        Gate::Silu | Gate::Clamped => "silu",
        Gate::Gelu => "gelu_pytorch_tanh",
    };
    for key in ["hidden_act", "hidden_activation"] {
        keys.must_be(key, hidden_act)?;
    }
    let number = |key: &str| keys.positive(key, keys.get(key));
    let factor = |factor: Factor, plain: f64| match factor {
        Factor::Plain => Ok(plain),
        Factor::Of(key) => number(key),
        Factor::InverseOf(key) => number(key).map(|number| 1.0 / number),
        Factor::RootOfWidth => Ok((hidden as f64).sqrt()),
        Factor::InverseRootOf(key) => number(key).map(|number| 1.0 / number.sqrt()),
        Factor::One => Ok(1.0),
    };
    let softcap = |key: Option<&str>| match key {
        Some(key) if keys.get(key).is_some() => match number(key)? {
            // Others are no numbers in f32, or leave none of the score.
            bound @ 1e-3..=1e6 => Ok(Some(bound)),
            bound => keys.fail(format!(
                "{key} is {bound}, and must be from 0.001 to 1,000,000"
            )),
        },
        _ => Ok(None),
    };
    let converted = keys.flag(CONVERTED, false)?;
    let recurrent = recurrent::parse(keys, family, layers, converted)?;
    // Recurrent layers have kinds of their own, and no windows beside them.
    let (windows, windowed) = if recurrent.is_some() {
        (vec![None; layers], vec![false; layers])
    } else {
        windows(keys, family, layers, max_positions)?
    };
    let full_layers = full.map(|full| FullLayers {
        layers: windowed.iter().map(|windowed| !windowed).collect(),
        ..full
    });
    if let Some(full) = &full_layers {
        check_overrides(keys, full, [kv_heads, head_dim])?;
    }
    let intermediate = keys.size("intermediate_size")?;
    let sharing = sharing(keys, family, intermediate, &windowed)?;
    let vocab = keys.size("vocab_size")?;
    let second_rope = match unrotated(keys, family, layers, &windowed)? {
        Some(_) if window_rope.is_some() => {
            return keys
                .fail("rope_parameters are of two kinds of layers, and some layers have none");
        }
        Some(layers) => Some(SecondRope {
            rope: Rope::still(),
            layers,
        }),
        None => window_rope.map(|rope| SecondRope {
            rope,
            layers: windowed,
        }),
    };
    let head_norms = family.head_norms_key;
    let head_norms = head_norms.map_or(Ok(true), |key| keys.flag(key, false))?;
    let ahead = family.layers_ahead;
    let ahead = ahead.map_or(Ok(None), |key| whole(keys, key))?;
    Ok(ModelConfig {
        family,
        text_part: false,
        vocab,
        hidden,
        intermediate,
        layers,
        heads,
        kv_heads,
        head_dim,
        keys_are_values: false,
        full_layers,
        sharing,
        layer_inputs: layer_inputs(keys, family, vocab)?,
        max_positions,
        rms_norm_eps: number("rms_norm_eps")?,
        windows,
        second_rope,
        position_scale: rope::position_scale(keys, family)?,
        head_norms: head_norms && family.has(Part::QueryNorm),
        embedding_scale: factor(family.embedding_scale, 1.0)?,
        result_scale: factor(family.result_scale, 1.0)?,
        logit_scale: factor(family.logit_scale, 1.0)?,
        score_scale: factor(family.score_scale, 1.0 / (head_dim as f64).sqrt())?,
        score_softcap: softcap(family.score_softcap)?,
        logit_softcap: softcap(family.logit_softcap)?,
        recurrent,
        experts: experts(keys, family, layers)?,
        layers_ahead: ahead.unwrap_or(0),
        quantization: quantization::parse(keys, family)?,
        activation: match family.gate {
            Gate::Silu => Activation::Silu,
            Gate::Gelu => Activation::Gelu,
            Gate::Clamped => Activation::Clamped {
                alpha: number("swiglu_alpha")?,
                limit: number("swiglu_limit")?,
            },
        },
        tie_embeddings: keys.flag("tie_word_embeddings", false)?,
        biases: Biases {
            qkv: bias(keys, family.qkv_bias)?,
            output: bias(keys, family.output_bias)?,
            feed_forward: bias(keys, family.feed_forward_bias)?,
        },
        eos_token_ids: keys.token_ids("eos_token_id")?,
        rope,
    })
}

fn bias(keys: &Keys, bias: Bias) -> Result<bool> {
    match bias {
        Bias::Never => Ok(false),
        Bias::Always => Ok(true),
        Bias::Key(key) => keys.flag(key, false),
    }
}

/// The layers that attend to another layer's keys and values, if there are any.
fn sharing(
    keys: &Keys,
    family: &Family,
    intermediate: usize,
    windowed: &[bool],
) -> Result<Option<SharingLayers>> {
    let key = "num_kv_shared_layers";
    if !family.shares_keys {
        return Ok(None);
    }
    let wide = "use_double_wide_mlp";
    if let Some(key) = [key, wide]
        .iter()
        .find(|key| !keys.lacks(key) && keys.get(key).is_none())
    {
        return keys.fail(format!("{key} is null"));
    }
    let wide = keys.flag(wide, false)?;
    let count = whole(keys, key)?.unwrap_or(0);
    let layers = windowed.len();
    let parts = layers.checked_sub(count).map(|own| windowed.split_at(own));
    if !parts.is_some_and(|(own, others)| others.iter().all(|kind| own.contains(kind))) {
        return keys.fail(format!(
            "{key} is {count}, of {layers} layers (num_hidden_layers): before the last {count} there must be one of each of their kinds \
             (layer_types), whose keys and values they attend to"
        ));
    }
    Ok((count > 0).then_some(SharingLayers {
        count,
        intermediate: if wide { 2 * intermediate } else { intermediate },
    }))
}

/// What each layer gets of a token beside the residual stream, if it gets anything.
fn layer_inputs(keys: &Keys, family: &Family, vocab: usize) -> Result<Option<LayerInputs>> {
    let key = "vocab_size_per_layer_input";
    if !family.has(Part::InputTable) {
        return Ok(None);
    }
    let Some(width) = whole(keys, "hidden_size_per_layer_input")? else {
        return keys.fail("no hidden_size_per_layer_input");
    };
    let rows = keys.size(key)?;
    if width == 0 {
        return Ok(None);
    }
    if rows < vocab {
        return keys.fail(format!("{key} is {rows}, less than vocab_size ({vocab})"));
    }
    Ok(Some(LayerInputs { width, rows }))
}

/// The sizes that layers without windows have of their own.
fn full_layers(
    keys: &Keys,
    family: &Family,
    kv_heads: usize,
    head_dim: usize,
) -> Result<Option<FullLayers>> {
    let Some(named) = &family.full_layers else {
        return Ok(None);
    };
    let keys_are_values = keys.flag(named.keys_are_values, false)?;
    let own_heads = keys.optional_size(named.kv_heads)?;
    let (key, default) = named.head_dim;
    let mut full = FullLayers {
        layers: Vec::new(),
        // As in transformers, which has them only where values are keys.
        kv_heads: own_heads.filter(|_| keys_are_values).unwrap_or(kv_heads),
        head_dim: keys.optional_size(key)?.unwrap_or(default),
        keys_are_values,
    };
    // transformers 5 writes sizes by layer in place of these keys, with what is otherwise in a layer: in none where it is empty or null.
    if keys.lacks("per_layer_config") {
        return Ok(Some(full));
    }
    let by_layer = overrides(keys)?.values().next();
    let read = |name: &str, base: usize| match by_layer.and_then(|by_layer| by_layer.get(name)) {
        None => Ok(base),
        Some(size) => match size.as_u64() {
            Some(size) if size > 0 => Ok(size as usize),
            _ => keys.fail(format!("per_layer_config: {name} is {}", short(size))),
        },
    };
    let heads = "num_key_value_heads";
    for (key, own, name, base) in [
        (key, &mut full.head_dim, "head_dim", head_dim),
        (named.kv_heads, &mut full.kv_heads, heads, kv_heads),
    ] {
        let size = read(name, base)?;
        if keys.get(key).is_some() && size != *own {
            return keys.fail(format!("{key} and per_layer_config differ"));
        }
        *own = size;
    }
    Ok(Some(full))
}

/// `per_layer_config`, sizes that single layers have of their own.
fn overrides<'a>(keys: &Keys<'a>) -> Result<&'a Map<String, Value>> {
    static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    match keys.get("per_layer_config") {
        None => Ok(&NONE),
        Some(Value::Object(by_layer)) => Ok(by_layer),
        Some(other) => keys.fail(format!(
            "per_layer_config is {}, not an object",
            short(other)
        )),
    }
}

/// Refuses sizes by layer that are not those of layers without windows, for each of these the same.
fn check_overrides(keys: &Keys, full: &FullLayers, [kv_heads, head_dim]: [usize; 2]) -> Result<()> {
    let by_layer = overrides(keys)?;
    if by_layer.is_empty() {
        return Ok(());
    }
    // transformers writes as many digits as the last layer has.
    let count = full.layers.len();
    let mut numbered: Vec<Option<&Value>> = vec![None; count];
    for (key, own) in by_layer {
        let layer = key.parse().ok();
        let Some(layer) = layer.filter(|layer: &usize| *layer < count) else {
            return keys.fail(format!("per_layer_config names layer {key} of {count}"));
        };
        if numbered[layer].replace(own).is_some() {
            return keys.fail(format!("per_layer_config names layer {layer} twice"));
        }
    }
    let wanted = [
        ("head_dim", head_dim, full.head_dim),
        ("num_key_value_heads", kv_heads, full.kv_heads),
    ];
    for (layer, is_full) in full.layers.iter().enumerate() {
        let own = numbered[layer].and_then(Value::as_object);
        for (name, base, of_full) in wanted {
            let size = own.and_then(|own| own.get(name));
            let size = size.map_or(Some(base as u64), Value::as_u64);
            let expected = if *is_full { of_full } else { base };
            if size != Some(expected as u64) {
                return keys.fail(format!(
                    "per_layer_config.{layer}: {name} must be the same in all layers of a kind ({expected} by layer_types)"
                ));
            }
        }
        let mut others = own.into_iter().flat_map(Map::keys);
        if let Some(other) = others.find(|key| wanted.iter().all(|(name, ..)| name != key)) {
            return keys.fail(format!("per_layer_config.{layer}.{other} is not supported"));
        }
    }
    Ok(())
}

/// The rotary embedding, and another one of the layers with windows; heads of the first are as wide as the first number says.
fn ropes(
    keys: &Keys,
    family: &Family,
    [full, windowed]: [usize; 2],
) -> Result<(Rope, Option<Rope>)> {
    let parse = |keys: &Keys, head_dim, theta| {
        let rope = Rope::parse(keys, head_dim, family, theta)?;
        if family.proportional.is_some() && rope.dims != head_dim {
            return keys.fail(
                "rope_parameters: partial_rotary_factor is supported with rope_type \"proportional\" alone",
            );
        }
        Ok(rope)
    };
    let by_kind = keys.get("rope_parameters").and_then(Value::as_object);
    let by_kind = by_kind.filter(|by_kind| by_kind.values().any(Value::is_object));
    let window_theta = family.window_theta;
    let window_theta = match window_theta {
        Some((key, _)) if keys.get(key).is_some() => Some(keys.positive(key, keys.get(key))?),
        Some((_, default)) => Some(default),
        None => None,
    };
    // transformers reads nothing else of such a family.
    if family.proportional.is_some() {
        let others = ["rope_theta", "rope_scaling", "rope_local_base_freq"];
        if let Some(key) = others.iter().find(|key| keys.get(key).is_some()) {
            return keys.fail(format!(
                "{key} is not supported with this architecture: its rope_parameters are by kind of layer"
            ));
        }
        if by_kind.is_none() && keys.get("rope_parameters").is_some() {
            return keys.fail("no rope_parameters.full_attention");
        }
    }
    let Some(by_kind) = by_kind else {
        let mut rope = parse(keys, full, family.theta)?;
        // What stretches angles is about layers that see everything.
        let same = family.stretches_full_layers.then_some(rope.theta);
        let window = window_theta.or(same).map(|theta| Rope {
            theta,
            dims: rope.dims * windowed / full,
            scaling: RopeScaling::None,
            ..rope.clone()
        });
        if let (Some(share), RopeScaling::None) = (family.proportional, &rope.scaling) {
            rope.scaling = RopeScaling::Proportional {
                turned: (share * full as f64) as usize / 2,
                factor: 1.0,
            };
        }
        let window = window.filter(|window| *window != rope);
        return Ok((rope, window));
    };
    // transformers 5 has one set of keys for each kind of layer.
    let of = |kind: &str, head_dim: usize, theta: Option<f64>| {
        if family.proportional.is_some() && !by_kind.contains_key(kind) {
            return keys.fail(format!("no rope_parameters.{kind}"));
        }
        let mut own = Map::new();
        for key in [
            "max_position_embeddings",
            "original_max_position_embeddings",
        ] {
            own.extend(keys.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        own.insert(
            "rope_parameters".into(),
            by_kind.get(kind).cloned().unwrap_or_default(),
        );
        parse(
            &Keys::new(&Value::Object(own), keys.path()),
            head_dim,
            theta,
        )
    };
    if let Some(other) = by_kind
        .keys()
        .find(|kind| !LAYER_KINDS.contains(&kind.as_str()))
    {
        return keys.fail(format!("rope_parameters.{other} is not supported"));
    }
    let default = match keys.get("rope_theta") {
        // transformers takes a base of its own for all kinds or for none.
        None if family.proportional.is_some() => None,
        None => family.theta,
        theta => Some(keys.positive("rope_theta", theta)?),
    };
    let window_theta = window_theta.filter(|_| family.proportional.is_none());
    let rope = of("full_attention", full, default)?;
    let window = of("sliding_attention", windowed, window_theta.or(default))?;
    let other = window != rope;
    Ok((rope, other.then_some(window)))
}

/// Keys of our own for what the tensors of GGUF files are.
pub(in crate::checkpoint) const CONVERTED: &str = "converted";
pub(in crate::checkpoint) const EXPERTS_APART: &str = "experts_apart";

/// Kinds of layers in `layer_types`.
const LAYER_KINDS: [&str; 2] = ["full_attention", "sliding_attention"];

/// The attention window of each layer, and whether it is of the kind that has windows: one as wide as the context hides nothing.
fn windows(
    keys: &Keys,
    family: &Family,
    layers: usize,
    positions: usize,
) -> Result<(Vec<Option<usize>>, Vec<bool>)> {
    // Qwen's files name a window that is not used.
    let used = family.windows != Windows::Switched || keys.flag("use_sliding_window", false)?;
    let window = match family.windows {
        Windows::Never => None,
        // A window as wide as the context hides nothing.
        _ => keys
            .optional_size("sliding_window")?
            .filter(|window| used && *window < positions),
    };
    let first = match (family.windows, keys.get("max_window_layers")) {
        (Windows::Switched, Some(value)) => match value.as_u64() {
            Some(first) => first as usize,
            None => return keys.fail(format!("max_window_layers is {}", short(value))),
        },
        _ => 0,
    };
    let every = match (family.windows, window_pattern(keys)?) {
        (Windows::AllButEvery(_), Some(every)) | (Windows::AllButEvery(every), None) => Some(every),
        (_, Some(_)) => {
            return keys.fail("sliding_window_pattern is not supported with this architecture");
        }
        (_, None) => None,
    };
    let by_kind = |mut kinds: Vec<bool>| {
        if let Some(last) = kinds.last_mut().filter(|_| family.ends_full) {
            *last = false;
        }
        let windows = kinds.iter().map(|kind| window.filter(|_| *kind)).collect();
        (windows, kinds)
    };
    let Some(kinds) = keys.get("layer_types") else {
        let windowed = |layer: usize| match every {
            Some(every) => !(layer + 1).is_multiple_of(every),
            None => layer >= first,
        };
        return Ok(by_kind((0..layers).map(windowed).collect()));
    };
    let kinds = kinds.as_array().map_or(&[][..], Vec::as_slice);
    let count = kinds.len();
    if count != layers {
        return keys.fail(format!(
            "layer_types has {count} layers, num_hidden_layers is {layers}"
        ));
    }
    let kinds = kinds
        .iter()
        .map(|kind| match kind.as_str() {
            Some("full_attention" | "attention") => Ok(false),
            Some("sliding_attention") if family.windows == Windows::Never => {
                keys.fail("layer_types holds \"sliding_attention\", which this architecture does not have")
            }
            Some("sliding_attention") if window.is_some() || keys.get("sliding_window").is_some() => Ok(true),
            Some("sliding_attention") => {
                keys.fail("layer_types holds \"sliding_attention\", but there is no sliding_window")
            }
            _ => keys.fail(format!(
                "layer_types holds {}, only \"full_attention\" and \"sliding_attention\" are supported",
                short(kind)
            )),
        })
        .collect::<Result<Vec<bool>, _>>()?;
    Ok(by_kind(kinds))
}

/// One layer in how many has no window: a number, or letters for layers with a window (L) and one without (G) that come again and again.
fn window_pattern(keys: &Keys) -> Result<Option<usize>> {
    let key = "sliding_window_pattern";
    let Some(Value::String(letters)) = keys.get(key) else {
        return keys.optional_size(key);
    };
    match letters.strip_suffix('G') {
        Some(windows) if windows.chars().all(|letter| letter == 'L') => Ok(Some(letters.len())),
        _ => keys.fail(format!("{key} {letters:?} is not supported, only L…LG")),
    }
}

/// A number that counts something and may be zero.
fn whole(keys: &Keys, key: &str) -> Result<Option<usize>> {
    match keys.get(key) {
        Some(value) if value.as_u64() == Some(0) => Ok(Some(0)),
        _ => keys.optional_size(key),
    }
}

/// The layers whose queries and keys are not rotated, if there are any.
fn unrotated(
    keys: &Keys,
    family: &Family,
    layers: usize,
    windowed: &[bool],
) -> Result<Option<Vec<bool>>> {
    let still: Vec<bool> = match family.unrotated {
        Unrotated::Never => return Ok(None),
        Unrotated::BesideWindows if keys.get("sliding_window").is_none() => return Ok(None),
        Unrotated::BesideWindows => windowed.iter().map(|windowed| !windowed).collect(),
        Unrotated::Listed => {
            let key = "no_rope_layers";
            let every = keys.optional_size("no_rope_layer_interval")?.unwrap_or(4);
            let Some(listed) = keys.get(key) else {
                let still = (1..=layers).map(|layer| layer.is_multiple_of(every));
                return Ok(Some(still.collect()));
            };
            // A 1 says that there is rotation.
            let rotates = |value: &Value| value.as_u64().filter(|value| *value < 2);
            let listed = listed.as_array().map_or(&[][..], Vec::as_slice);
            let still = listed.iter().map(|value| Some(rotates(value)? == 0));
            match still.collect::<Option<Vec<bool>>>() {
                // It may be longer, where layers were taken out.
                Some(still) if still.len() >= layers => still[..layers].to_vec(),
                _ => {
                    return keys.fail(format!(
                        "{key} is not a list of 0 or 1 for each of {layers} layers (num_hidden_layers)"
                    ));
                }
            }
        }
    };
    Ok(still.contains(&true).then_some(still))
}

fn experts(keys: &Keys, family: &Family, layers: usize) -> Result<Option<Experts>> {
    let Some(named) = &family.experts else {
        return Ok(None);
    };
    if let Some(key) = named.beside_dense
        && !keys.flag(key, false)?
    {
        return Ok(None);
    }
    let mut counts = named.count.iter().filter(|key| !keys.lacks(key));
    let count = counts.next().or(named.count.last()).copied();
    let count = count.unwrap_or_default();
    let mxfp4 = keys
        .get("quantization_config")
        .is_some_and(|quantisation| quantisation.get("quant_method") == Some(&"mxfp4".into()));
    let (count, intermediate) = (keys.size(count)?, keys.size(named.width)?);
    let shared = match named.shared {
        None => None,
        Some(SharedWidth::Width(key)) => Some(keys.size(key)?),
        // None at all if there are zero of them.
        Some(SharedWidth::Experts(key)) => match whole(keys, key)?.unwrap_or(0) {
            0 => None,
            shared => Some(shared * intermediate),
        },
    };
    let first = named.dense.map(|key| whole(keys, key)).transpose()?;
    let first = first.flatten().unwrap_or(0);
    if let Some(key) = named.dense.filter(|_| first >= layers) {
        return keys.fail(format!(
            "{key} is {first}, of {layers} layers (num_hidden_layers): none would have experts"
        ));
    }
    let scale = named.scale.filter(|key| keys.get(key).is_some());
    let experts = Experts {
        count,
        per_token: keys.size("num_experts_per_tok")?,
        intermediate,
        // Where there is no key the best experts are chosen first, and their weights then sum to 1.
        normalise: (named.normalise).map_or(Ok(true), |key| keys.flag(key, false))?,
        scores: named.scores,
        scale: scale.map_or(Ok(1.0), |key| keys.positive(key, keys.get(key)))?,
        shared,
        first,
        beside_dense: named.beside_dense.is_some(),
        mxfp4,
        // GGUF files store experts apart.
        together: family.has(Part::ExpertsGateUp) && !keys.flag(EXPERTS_APART, false)?,
    };
    if experts.per_token > experts.count {
        return keys.fail(format!(
            "num_experts_per_tok ({}) is more than the {} experts there are",
            experts.per_token, experts.count
        ));
    }
    let dense = keys.get("mlp_only_layers");
    if dense.is_some_and(|layers| layers.as_array().is_none_or(|layers| !layers.is_empty())) {
        return keys.fail("mlp_only_layers: layers without experts are not supported");
    }
    keys.must_be("decoder_sparse_step", 1)?;
    Ok(Some(experts))
}
