//! Checks a checkpoint for missing, misshapen and unknown tensors.

use std::collections::BTreeSet;

use candle_core::DType;

use super::{StoredTensor, Weights};
use crate::checkpoint::tensors::{check_sizes, expected_tensors, unused};
use crate::checkpoint::{CheckpointError, ModelConfig, Result};

impl Weights {
    /// Checks that the checkpoint holds exactly the `expected` tensors; it may also hold those that `ignored` accepts.
    /// Errors: [`CheckpointError::Mismatch`] naming every missing, misshapen and unknown tensor (the first few of each), with
    /// shapes.
    fn check(
        &self,
        expected: &[(String, Vec<usize>)],
        ignored: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let mut missing = Vec::new();
        let mut misshapen = Vec::new();
        for (name, shape) in expected {
            match self.tensors.get(name) {
                None => missing.push(format!("{name} {shape:?}")),
                Some(location) if wrong_type(name, location) => {
                    misshapen.push(format!("{name} is stored as {:?}", location.dtype));
                }
                Some(location) if location.shape != *shape => {
                    misshapen.push(format!(
                        "{name} is {:?}, config.json says {shape:?}",
                        location.shape
                    ));
                }
                Some(_) => {}
            }
        }
        let names: BTreeSet<&str> = expected.iter().map(|(name, _)| name.as_str()).collect();
        let unknown: Vec<String> = self
            .shapes()
            .filter(|(name, _)| !names.contains(name) && !ignored(name))
            .map(|(name, shape)| format!("{name} {shape:?}"))
            .collect();
        let parts: Vec<String> = [
            ("missing", missing),
            ("of another shape or type", misshapen),
            ("not expected", unknown),
        ]
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(what, list)| {
            let more = if list.len() > 4 {
                format!(" and {} more", list.len() - 4)
            } else {
                String::new()
            };
            format!("{what}: {}{more}", list[..list.len().min(4)].join(", "))
        })
        .collect();
        if parts.is_empty() {
            Ok(())
        } else {
            Err(CheckpointError::Mismatch {
                model: self.model.clone(),
                message: parts.join("; "),
            })
        }
    }

    /// Checks that the checkpoint holds what a model of this configuration needs, and nothing else.
    /// Errors: [`CheckpointError::Mismatch`]; [`CheckpointError::Unsupported`] for sizes that the storage format does not allow.
    pub fn check_model(&self, config: &ModelConfig) -> Result<()> {
        check_sizes(config)?;
        self.check(&expected_tensors(config), |name| unused(config, name))
    }
}

/// Whether a tensor's type does not fit its name: bytes must be MXFP4's blocks or scales, and FP8 and packed numbers are none without their scales.
fn wrong_type(name: &str, location: &StoredTensor) -> bool {
    let bytes = name.ends_with("_blocks") || name.ends_with("_scales");
    match location.dtype {
        DType::U8 => !bytes,
        DType::F8E4M3 | DType::I32 | DType::I64 => true,
        _ => bytes && location.blocks.is_none(),
    }
}
