//! Attention by the CUDA kernels, behind the common trait: what is compared with the other implementations. The CUDA decoder
//! uses the same cache without this detour through tensors.

use candle_core::{CudaDevice, DType, Device, Tensor};

use juror_engine::model::attention::{Attention, AttentionOutput, AttentionShape};
use juror_engine::model::cuda::array::Array;
use juror_engine::model::cuda::kernel::Kernels;
use juror_engine::model::cuda::operations::{HeadsForm, HeadsLayer, Operations, Tokens};
use juror_engine::model::cuda::paged::{AttendedLayer, CacheSettings, PagedCache};
use juror_engine::model::cuda::plan::AttentionPlan;
use juror_engine::model::cuda::upload::{Packer, Upload};
use juror_engine::model::{ModelError, StepBatch};

/// Our kernels: heads of 32, 64, 128, 256 and 512, bf16 and f16, or e4m3 under bf16 queries.
pub(super) struct CudaAttention {
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

/// A prepared step.
struct Step {
    batch: StepBatch,
    /// Windows that were asked for so far; `sent` is for all of them.
    windows: Vec<Option<usize>>,
    sent: Option<Sent>,
}

/// A step's numbers on the device.
struct Sent {
    plan: AttentionPlan,
    words: std::ops::Range<usize>,
    angles: std::ops::Range<usize>,
    slots: std::ops::Range<usize>,
}

impl CudaAttention {
    /// `shared_prefix`: rows that share leading blocks attend to them together.
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
            scale: (shape.head_dim as f32).sqrt().recip(),
            blocks,
            block_size,
            dtype,
            kv,
            shared_prefix,
            // Whatever comes.
            tokens: usize::MAX,
        };
        let there = Device::Cuda(device.clone());
        let half = shape.head_dim / 2;
        Ok(Self {
            cache: PagedCache::new(device, &mut kernels, &settings, &[])?,
            operations: Operations::load(&mut kernels, dtype)?,
            cos: Array::from_tensor(&Tensor::ones(half, DType::F32, &there)?)?,
            sin: Array::from_tensor(&Tensor::zeros(half, DType::F32, &there)?)?,
            upload: Upload::new(device, 1 << 16)?,
            device: there,
            shape,
            dtype,
            step: None,
        })
    }

    /// Plans the prepared step for one window more, if that was not done.
    fn send(&mut self, window: Option<usize>) -> Result<(), ModelError> {
        let step = self
            .step
            .as_mut()
            .ok_or_else(|| ModelError::Batch("no step was prepared".into()))?;
        if step.windows.contains(&window) && step.sent.is_some() {
            return Ok(());
        }
        step.windows.push(window);
        let plan = AttentionPlan::new(&step.batch, self.cache.plan_settings(), &step.windows)?;
        let mut packer = Packer::default();
        let sent = Sent {
            words: packer.push(&plan.words),
            angles: packer.push(&vec![0; plan.tokens]),
            slots: packer.push(&step.batch.slots),
            plan,
        };
        self.upload.send(&packer)?;
        step.sent = Some(sent);
        Ok(())
    }
}

impl Attention for CudaAttention {
    fn block_size(&self) -> usize {
        self.cache.block_size()
    }

    fn blocks(&self) -> usize {
        self.cache.blocks()
    }

    fn prepare(&mut self, batch: &StepBatch) -> Result<(), ModelError> {
        self.step = None;
        batch.validate(self.cache.block_size(), self.cache.blocks())?;
        self.step = Some(Step {
            batch: batch.clone(),
            windows: Vec::new(),
            sent: None,
        });
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
        self.send(window)?;
        let Some(sent) = self.step.as_ref().and_then(|step| step.sent.as_ref()) else {
            return Err(ModelError::Batch("no step was prepared".into()));
        };
        let n = sent.plan.tokens;
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
        let qkv = Array::from_tensor(&qkv.contiguous()?)?;
        let queries = Array::from_tensor(&Tensor::zeros(
            (n, heads, head_dim),
            self.dtype,
            &self.device,
        )?)?;
        let (keys, values, kv_scales) = self.cache.layer(layer)?;
        let angles = self.upload.section(sent.angles.clone())?;
        self.operations.split_heads(
            queries.all(),
            qkv.all(),
            &Tokens {
                count: n,
                ids: angles,
                angles,
                slots: self.upload.section(sent.slots.clone())?,
            },
            &HeadsLayer {
                heads,
                kv_heads,
                head_dim,
                norms: None,
                form: HeadsForm::default(),
                query_scales: None,
                eps: 1.0,
                cos: self.cos.all(),
                sin: self.sin.all(),
                keys,
                values,
                kv_scales,
            },
        )?;
        self.cache.attend(
            &AttendedLayer {
                index: layer,
                window,
                sinks: None,
                q: queries.all(),
                out: Array::from_tensor(&output)?.all(),
                lse: Array::from_tensor(&lse)?.all(),
            },
            &sent.plan,
            self.upload.section(sent.words.clone())?,
        )?;
        Ok(AttentionOutput { output, lse })
    }
}
