//! Experts of a layer in one tensor: each gets a name of its own, as if it were stored apart.

use super::computed::Computed;
use super::{RowOrder, StoredTensor, Weights};
use crate::checkpoint::families::Part;
use crate::checkpoint::{ModelConfig, Result};

impl Weights {
    /// Gives each expert of tensors that stack all of a layer's a name of its own. Some files have every matrix transposed,
    /// `[experts, inputs, outputs]`.
    pub(super) fn split_experts(&mut self, config: &ModelConfig) -> Result<()> {
        let stacked = config.family.experts.is_some_and(|keys| keys.stacked);
        let Some(experts) = config.experts.filter(|_| stacked) else {
            return Ok(());
        };
        let (hidden, width) = (config.hidden, experts.intermediate);
        for layer in 0..config.layers {
            let at = |part| config.family.in_layer(layer, part).unwrap_or_default();
            let of_expert = [Part::ExpertGate, Part::ExpertUp, Part::ExpertDown].map(at);
            let Some((before, _)) = of_expert[0].split_once("{}") else {
                continue;
            };
            let [gate, up, down] = &of_expert;
            let names = ["gate_up_proj", "down_proj"].map(|name| format!("{before}{name}"));
            let transposed = self.is_transposed(&names, [experts.count, hidden, width]);
            for (name, parts, [outputs, inputs]) in [
                (&names[0], &[gate, up][..], [width, hidden]),
                (&names[1], &[down], [hidden, width]),
            ] {
                let Some(all) = self.tensors.remove(name) else {
                    continue;
                };
                let mut whole = [experts.count, parts.len() * outputs, inputs];
                if transposed {
                    whole.swap(1, 2);
                }
                if all.shape != whole {
                    return Err(self.mismatch(format!(
                        "{name} has the shape {:?}, not {whole:?}",
                        all.shape
                    )));
                }
                let one = |bytes: usize, index: usize, shape: &[usize]| StoredTensor {
                    shard: all.shard,
                    dtype: all.dtype,
                    shape: shape.to_vec(),
                    offset: all.offset + (index * bytes) as u64,
                    bytes,
                    blocks: None,
                    rows: RowOrder::Stored,
                    computed: None,
                };
                for index in 0..experts.count * parts.len() {
                    let (expert, part) = (index / parts.len(), index % parts.len());
                    let shape = [outputs, inputs];
                    let own = if transposed {
                        let bytes = all.bytes / experts.count;
                        let columns = Computed::Columns {
                            stored: one(bytes, expert, &whole[1..]),
                            first: part * outputs,
                        };
                        StoredTensor::computed(shape.to_vec(), bytes / parts.len(), columns)
                    } else {
                        one(all.bytes / (experts.count * parts.len()), index, &shape)
                    };
                    let name = parts[part].replace("{}", &expert.to_string());
                    let name = format!("{name}.weight");
                    if self.tensors.insert(name.clone(), own).is_some() {
                        return Err(self.mismatch(format!("{name} is there twice")));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a layer's experts have inputs before outputs: the shape of one of the two tensors shows it, since the other may be square.
    fn is_transposed(&self, names: &[String; 2], [count, hidden, width]: [usize; 3]) -> bool {
        let is = |name: &String, shape: [usize; 3]| {
            let [_, rows, columns] = shape;
            rows != columns
                && self
                    .tensors
                    .get(name)
                    .is_some_and(|tensor| tensor.shape == shape)
        };
        is(&names[0], [count, hidden, 2 * width]) || is(&names[1], [count, width, hidden])
    }
}
