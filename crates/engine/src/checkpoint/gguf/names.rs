//! The names of GGUF's tensors in Hugging Face's checkpoints, and how llama.cpp's converter has rearranged them.

use super::header::{StorageType, TensorInfo};
use crate::checkpoint::families::{Family, Part};
use crate::checkpoint::weights::RowOrder;

/// A tensor under the name that the decoder uses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedTensor {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) kind: StorageType,
    /// Its place, in bytes from the beginning of the file.
    pub(crate) offset: u64,
    pub(crate) bytes: usize,
    pub(crate) rows: RowOrder,
}

/// Tensors that describe the rotary embedding and are not weights.
pub(super) const FACTORS: [&str; 3] = [
    "rope_freqs.weight",
    "rope_factors_long.weight",
    "rope_factors_short.weight",
];

/// A tensor of the file as one of the checkpoint, or as several if it stacks a layer's `experts`. A tensor with an unknown
/// name keeps it, and is refused when the weights are checked.
pub(super) fn rename(
    family: &Family,
    head_dim: usize,
    experts: Option<usize>,
    name: &str,
    info: &TensorInfo,
) -> Vec<NamedTensor> {
    let whole = |name: String, shape: &[usize], rows: RowOrder| {
        vec![NamedTensor {
            name,
            shape: shape.to_vec(),
            kind: info.kind,
            offset: info.offset,
            bytes: info.bytes,
            rows,
        }]
    };
    let Some((part, renamed)) = family.named_in_gguf(name) else {
        return whole(name.into(), &info.shape, RowOrder::Stored);
    };
    if !is_expert(part) {
        let pairs = family.gguf_pairs && matches!(part, Part::Query | Part::Key);
        let rows = if pairs {
            RowOrder::Pairs { head_dim }
        } else {
            RowOrder::Stored
        };
        // Two lack a dimension of one.
        return match (part, info.shape.as_slice()) {
            (Part::DeltaConvolution, &[channels, taps]) => {
                whole(renamed, &[channels, 1, taps], rows)
            }
            (Part::SharedWeight, &[hidden]) => whole(renamed, &[1, hidden], rows),
            (_, shape) => whole(renamed, shape, rows),
        };
    }
    let parts: &[&str] = match part {
        Part::ExpertGateUp => &["gate_proj", "up_proj"],
        _ => &["gate_up_proj"],
    };
    // With another number of experts than the metadata says it stays whole, and is refused for that.
    match info.shape.as_slice() {
        [count, rows, shape @ ..]
            if Some(*count) == experts && rows.is_multiple_of(parts.len()) =>
        {
            let (all, rows) = (count * parts.len(), rows / parts.len());
            let bytes = info.bytes / all;
            let expert = |index: usize| NamedTensor {
                name: renamed
                    .replace("{}", &(index / parts.len()).to_string())
                    .replace("gate_up_proj", parts[index % parts.len()]),
                shape: [&[rows], shape].concat(),
                kind: info.kind,
                offset: info.offset + (index * bytes) as u64,
                bytes,
                rows: RowOrder::Stored,
            };
            (0..all).map(expert).collect()
        }
        _ => whole(name.into(), &info.shape, RowOrder::Stored),
    }
}

pub(super) fn is_stacked(family: &Family, name: &str, info: &TensorInfo) -> bool {
    let part = family.named_in_gguf(name);
    info.shape.len() > 1 && part.is_some_and(|(part, _)| is_expert(part))
}

fn is_expert(part: Part) -> bool {
    matches!(
        part,
        Part::ExpertGate | Part::ExpertUp | Part::ExpertGateUp | Part::ExpertDown
    )
}
