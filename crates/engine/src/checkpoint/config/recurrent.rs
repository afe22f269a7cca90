//! Recurrent layers (Gated `DeltaNet`): their sizes, and which layers they are.

use serde_json::Value;

use super::keys::{Keys, short};
use crate::checkpoint::Result;
use crate::checkpoint::families::{Family, Part};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recurrent {
    pub shape: RecurrentShape,
    /// For each layer of the model, whether it is recurrent.
    pub layers: Vec<bool>,
}

/// The sizes of a model's recurrent layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecurrentShape {
    /// Layers, each with states of its own.
    pub layers: usize,
    /// Query and key heads, `linear_num_key_heads`.
    pub key_heads: usize,
    /// Value heads, `linear_num_value_heads`; a multiple of them.
    pub value_heads: usize,
    /// Width of a query or key head, `linear_key_head_dim`.
    pub key_dim: usize,
    /// Width of a value head, `linear_value_head_dim`.
    pub value_dim: usize,
    /// Inputs that a channel's convolution sees, `linear_conv_kernel_dim`: the token's own and those right before it.
    pub taps: usize,
    /// Whether they are stored as in GGUF files: value head `j` reads key head `j % key_heads`, not `j / (value_heads / key_heads)`,
    /// and rates of decay are `-exp(A_log)`.
    pub converted: bool,
}

impl RecurrentShape {
    /// Channels of the convolution: queries, keys and values.
    pub fn channels(&self) -> usize {
        2 * self.key_heads * self.key_dim + self.values()
    }

    pub fn values(&self) -> usize {
        self.value_heads * self.value_dim
    }

    /// The numbers of a layer's projections in a model of this width.
    pub(crate) fn weights(&self, hidden: usize) -> usize {
        hidden * (self.channels() + 2 * self.values() + 2 * self.value_heads)
    }

    pub(crate) fn key_head(&self, value_head: usize) -> usize {
        if self.converted {
            value_head % self.key_heads
        } else {
            value_head / (self.value_heads / self.key_heads)
        }
    }
}

/// The most inputs that a convolution may see.
const MOST_TAPS: usize = 16;

/// Reads the recurrent layers of a family that has them; `converted` says that the sizes are those of a GGUF file.
pub(super) fn parse(
    keys: &Keys,
    family: &Family,
    layers: usize,
    converted: bool,
) -> Result<Option<Recurrent>> {
    if !family.has(Part::DeltaQueryKeyValue) {
        return Ok(None);
    }
    let layers = kinds(keys, layers)?;
    let shape = RecurrentShape {
        layers: layers.iter().filter(|recurrent| **recurrent).count(),
        key_heads: keys.size("linear_num_key_heads")?,
        value_heads: keys.size("linear_num_value_heads")?,
        key_dim: keys.size("linear_key_head_dim")?,
        value_dim: keys.size("linear_value_head_dim")?,
        taps: keys.size("linear_conv_kernel_dim")?,
        converted,
    };
    if !shape.value_heads.is_multiple_of(shape.key_heads) {
        return keys.fail(format!(
            "linear_num_value_heads ({}) is not a multiple of linear_num_key_heads ({})",
            shape.value_heads, shape.key_heads
        ));
    }
    for (key, size, most) in [
        ("linear_num_value_heads", shape.value_heads, 1024),
        ("linear_key_head_dim", shape.key_dim, 1024),
        ("linear_value_head_dim", shape.value_dim, 1024),
        ("linear_conv_kernel_dim", shape.taps, MOST_TAPS),
    ] {
        if size > most {
            return keys.fail(format!("{key} is {size}: no more than {most} is supported"));
        }
    }
    if layers.iter().all(|recurrent| *recurrent) {
        return keys.fail("a model without any full_attention layer is not supported");
    }
    Ok((shape.layers > 0).then_some(Recurrent { shape, layers }))
}

fn kinds(keys: &Keys, layers: usize) -> Result<Vec<bool>> {
    let interval = keys.optional_size("full_attention_interval")?;
    let Some(kinds) = keys.get("layer_types") else {
        let Some(interval) = interval else {
            return keys.fail("no layer_types, and no full_attention_interval");
        };
        return Ok((1..=layers)
            .map(|layer| !layer.is_multiple_of(interval))
            .collect());
    };
    let kinds = kinds.as_array().map_or(&[][..], Vec::as_slice);
    let count = kinds.len();
    if count != layers {
        return keys.fail(format!(
            "layer_types has {count} layers, num_hidden_layers is {layers}"
        ));
    }
    let recurrent = |kind: &Value| match kind.as_str() {
        Some("linear_attention") => Ok(true),
        Some("full_attention") => Ok(false),
        _ => keys.fail(format!(
            "layer_types holds {}, only \"linear_attention\" and \"full_attention\" are supported",
            short(kind)
        )),
    };
    kinds.iter().map(recurrent).collect()
}
