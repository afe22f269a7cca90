//! Adds an adapter (`LoRA`) to a base model's weights: each is computed when it is read.

use std::collections::BTreeMap;

use candle_core::Tensor;

use super::computed::Computed;
use super::{StoredTensor, Weights};
use crate::checkpoint::adapter::Adapter;
use crate::checkpoint::families::name_in_text_part;
use crate::checkpoint::tensors::{Names, is_of_shared_keys};
use crate::checkpoint::{CheckpointError, ModelConfig, Result};
use juror_hub::layout::ADAPTER_WEIGHTS;

/// What peft puts before the names of the base model.
const PREFIX: &str = "base_model.model.";

/// Endings of the two matrices of a layer: of a linear layer, and of a table of embeddings, whose product is transposed.
const FACTORS: [([&str; 2], bool); 2] = [
    ([".lora_B.weight", ".lora_A.weight"], false),
    ([".lora_embedding_B", ".lora_embedding_A"], true),
];

/// The two matrices of each layer, by its name here, its name in the adapter, and whether their product is transposed.
type Layers = BTreeMap<(String, String, bool), [Option<StoredTensor>; 2]>;

impl Weights {
    /// Adds an adapter. Tensors that it holds whole, such as those of `modules_to_save`, take the place of the base model's.
    /// Errors: [`CheckpointError::Weights`] naming tensors that cannot be merged, since the base model has none of that name, or of
    /// that shape, and those of `modules_to_save` that it lacks, or if it changes nothing.
    pub(super) fn adapt(&mut self, adapter: &Adapter, config: &ModelConfig) -> Result<()> {
        let path = adapter.source().describe(ADAPTER_WEIGHTS);
        let fail = |message: String| CheckpointError::Weights {
            path: path.clone(),
            message,
        };
        let Names {
            embedding: table,
            head,
            ..
        } = Names::new(config.family);
        let tied = config.tie_embeddings && !self.head_differs(config)?;
        let mut left = Vec::new();
        let mut whole = Vec::new();
        // By name here, and by name in the adapter, which is what its patterns are about.
        let mut layers = Layers::new();
        for (key, tensor) in self.read_header(adapter.source(), ADAPTER_WEIGHTS)? {
            let name = key.strip_prefix(PREFIX).map(|name| {
                if config.text_part {
                    name_in_text_part(name)
                } else {
                    Some(name.to_owned())
                }
            });
            let Some(Some(name)) = name else {
                left.push(key);
                continue;
            };
            let factor = FACTORS.iter().find_map(|(endings, transposed)| {
                let place = endings.iter().position(|ending| name.ends_with(ending))?;
                let layer = name.strip_suffix(endings[place])?;
                let named = key.strip_prefix(PREFIX)?.strip_suffix(endings[place])?;
                Some(((layer.to_owned(), named.to_owned(), *transposed), place))
            });
            match factor {
                Some((layer, place)) => layers.entry(layer).or_default()[place] = Some(tensor),
                None => whole.push((name.replace(".base_layer.", "."), tensor)),
            }
        }
        if layers.is_empty() && whole.is_empty() && left.is_empty() {
            return Err(fail(
                "it holds no tensors, so it changes nothing of the base model".into(),
            ));
        }
        let trained_head = tied.then_some(head.as_str());
        let mut saved = self.tensors.keys().map(String::as_str).chain(trained_head);
        let is_there = |name: &&str| whole.iter().any(|(own, _)| own == name);
        if let Some(name) = saved.find(|name| adapter.saves(name) && !is_there(name)) {
            return Err(fail(format!(
                "missing: {PREFIX}{name}, of the modules that were trained whole (modules_to_save)"
            )));
        }
        if !self.changed_by(&layers, &whole)? {
            return Err(fail(
                "it changes nothing of the base model: the products in it are zero, as before training".into(),
            ));
        }
        for (name, tensor) in whole {
            let is_head = tied && name == head;
            let fits = self
                .tensors
                .get(&name)
                .is_some_and(|base| base.shape == tensor.shape);
            if !fits && !is_head {
                left.push(name);
                continue;
            }
            let before = self.tensors.insert(name.clone(), tensor);
            // A table that was trained as a copy leaves the output head as it was.
            if let Some(before) = before.filter(|_| tied && name == table && !adapter.keeps_tie) {
                self.tensors.entry(head.clone()).or_insert(before);
            }
        }
        for ((layer, named, transposed), parts) in layers {
            let name = format!("{layer}.weight");
            let ([Some(second), Some(first)], Some(base)) = (parts, self.tensors.get(&name)) else {
                left.push(layer);
                continue;
            };
            if tied && (name == table || name == head) {
                return Err(fail(format!(
                    "{layer} is adapted, but the base model's embedding table is its output head too: merged it would be \
                     another model than the one that was trained"
                )));
            }
            let (rank, [outputs, inputs]) = match (&second.shape[..], &first.shape[..]) {
                ([outputs, rank], [same, inputs]) if rank == same => (*rank, [*outputs, *inputs]),
                _ => {
                    left.push(layer);
                    continue;
                }
            };
            let shape = if transposed {
                [inputs, outputs]
            } else {
                [outputs, inputs]
            };
            if base.shape != shape {
                return Err(fail(format!(
                    "{layer} is {shape:?}, and that of the base model {:?}: it was trained on another model",
                    base.shape
                )));
            }
            let (scale, described) = adapter.scale(&named);
            if described.total_cmp(&(rank as f64)).is_ne() {
                return Err(fail(format!(
                    "{layer} has rank {rank}, and its description (r, rank_pattern) says {described}"
                )));
            }
            let bytes = base.bytes + first.bytes + second.bytes;
            // Present: it was found above.
            if let Some(base) = self.tensors.remove(&name) {
                let factors = [second, first];
                let computed = Computed::Adapted {
                    base,
                    factors,
                    transposed,
                    scale,
                };
                let tensor = StoredTensor::computed(shape.to_vec(), bytes, computed);
                self.tensors.insert(name, tensor);
            }
        }
        // What would make keys that no layer has changes nothing, whether the base model's file holds them or not.
        left.retain(|name| !is_of_shared_keys(config, name));
        if left.is_empty() {
            return Ok(());
        }
        let more = match left.len().saturating_sub(4) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        left.truncate(4);
        Err(fail(format!(
            "not merged, since the base model has no such layer, or one of another shape: {}{more}",
            left.join(", ")
        )))
    }

    /// Whether an adapter's products, or its whole tensors, make other weights.
    fn changed_by(&self, layers: &Layers, whole: &[(String, StoredTensor)]) -> Result<bool> {
        for ((layer, ..), parts) in layers {
            let mut zero = false;
            for part in parts.iter().flatten() {
                let numbers = self.numbers(layer, part)?.flatten_all()?.to_vec1::<f32>()?;
                zero |= numbers.iter().all(|number| *number == 0.0);
            }
            if !zero {
                return Ok(true);
            }
        }
        for (name, tensor) in whole {
            let base = self.tensors.get(name);
            let Some(base) = base.filter(|base| base.shape == tensor.shape) else {
                return Ok(true);
            };
            let [one, other] = [base, tensor].map(|tensor| self.numbers(name, tensor));
            let numbers = |tensor: Tensor| tensor.flatten_all()?.to_vec1::<f32>();
            if numbers(one?)? != numbers(other?)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
