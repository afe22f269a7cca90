//! Attention by the CUDA kernels, behind the common trait: what tests compare with the other implementations. The decoder's
//! fast path ([`crate::model::cuda`]) uses the same cache without this detour through tensors.

use candle_core::{CudaDevice, DType, Device, Tensor};

use super::{Attention, AttentionOutput, AttentionShape, ModelError};
use crate::model::StepBatch;
use crate::model::cuda::array::Array;
use crate::model::cuda::kernel::Kernels;
use crate::model::cuda::operations::{HeadsLayer, Operations, Tokens};
use crate::model::cuda::paged::{CacheSettings, PagedCache, StepPlan};
use crate::model::cuda::plan::AttentionPlan;
use crate::model::cuda::upload::{Packer, Upload};

/// See [`AttentionKind::Cuda`](super::AttentionKind::Cuda).
pub(super) struct Cuda {
    shape: AttentionShape,
    device: Device,
    dtype: DType,
    operations: Operations,
    cache: PagedCache,
    /// One position, without rotation: queries and keys come rotated, and pass the kernel that stores them unchanged.
    cos: Array,
    sin: Array,
    upload: Upload,
    step: Option<Step>,
}

/// A prepared step: its numbers are on the device.
struct Step {
    tokens: usize,
    plan: StepPlan,
    words: std::ops::Range<usize>,
    positions: std::ops::Range<usize>,
    slots: std::ops::Range<usize>,
}

impl Cuda {
    pub(super) fn new(
        shape: AttentionShape,
        blocks: usize,
        block_size: usize,
        device: &CudaDevice,
        kv: DType,
        shared_prefix: bool,
    ) -> Result<Self, ModelError> {
        let dtype = if kv == DType::F8E4M3 { DType::BF16 } else { kv };
        let mut kernels = Kernels::new(device);
        let settings = CacheSettings {
            shape,
            blocks,
            block_size,
            dtype,
            kv,
            shared_prefix,
        };
        let there = Device::Cuda(device.clone());
        let half = shape.head_dim / 2;
        Ok(Self {
            cache: PagedCache::new(device, &mut kernels, &settings)?,
            operations: Operations::load(&mut kernels, dtype)?,
            cos: Array::of(&Tensor::ones(half, DType::F32, &there)?)?,
            sin: Array::of(&Tensor::zeros(half, DType::F32, &there)?)?,
            upload: Upload::new(device, 1 << 16)?,
            device: there,
            shape,
            dtype,
            step: None,
        })
    }
}

impl Attention for Cuda {
    fn block_size(&self) -> usize {
        self.cache.block_size()
    }

    fn blocks(&self) -> usize {
        self.cache.blocks()
    }

    fn prepare(&mut self, batch: &StepBatch) -> Result<(), ModelError> {
        self.step = None;
        batch.validate(self.cache.block_size(), self.cache.blocks())?;
        let plan = AttentionPlan::new(batch, self.cache.plan_settings())?;
        let mut packer = Packer::default();
        let step = Step {
            tokens: batch.tokens.len(),
            plan: StepPlan::new(&plan, batch.tokens.len()),
            words: packer.push(&plan.words),
            positions: packer.push(&vec![0; batch.tokens.len()]),
            slots: packer.push(&batch.slots),
        };
        self.upload.send(&packer)?;
        self.step = Some(step);
        Ok(())
    }

    fn forward(
        &mut self,
        layer: usize,
        window: Option<usize>,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
    ) -> Result<AttentionOutput, ModelError> {
        if window.is_some() {
            return Err(ModelError::Unsupported(
                "the CUDA kernels have no attention windows".into(),
            ));
        }
        let step = self
            .step
            .as_ref()
            .ok_or_else(|| ModelError::Batch("no step was prepared".into()))?;
        let n = step.tokens;
        self.shape.check_step(n, layer, q, k, v)?;
        let AttentionShape {
            heads,
            kv_heads,
            head_dim,
            ..
        } = self.shape;
        let output = Tensor::zeros((n, heads, head_dim), self.dtype, &self.device)?;
        let lse = Tensor::zeros((n, heads), DType::F32, &self.device)?;
        if n == 0 {
            return Ok(AttentionOutput { output, lse });
        }
        let flat = |x: &Tensor, heads: usize| {
            x.to_dtype(self.dtype)?
                .reshape((n, heads * head_dim))?
                .contiguous()
        };
        let qkv = Tensor::cat(
            &[flat(q, heads)?, flat(k, kv_heads)?, flat(v, kv_heads)?],
            1,
        )?;
        let qkv = Array::of(&qkv.contiguous()?)?;
        let queries = Array::of(&Tensor::zeros(
            (n, heads, head_dim),
            self.dtype,
            &self.device,
        )?)?;
        let (keys, values, kv_scales) = self.cache.layer(layer)?;
        let positions = self.upload.section(step.positions.clone())?;
        self.operations.split_heads(
            queries.all(),
            qkv.all(),
            &Tokens {
                count: n,
                ids: positions,
                positions,
                slots: self.upload.section(step.slots.clone())?,
            },
            &HeadsLayer {
                heads,
                kv_heads,
                head_dim,
                norms: None,
                eps: 1.0,
                cos: self.cos.all(),
                sin: self.sin.all(),
                keys,
                values,
                kv_scales,
            },
        )?;
        self.cache.attend(
            layer,
            queries.all(),
            &step.plan,
            self.upload.section(step.words.clone())?,
            Array::of(&output)?.all(),
            Array::of(&lse)?.all(),
        )?;
        Ok(AttentionOutput { output, lse })
    }
}
