//! Loads a model for the decoder: whether our kernels run it, its weights, then memory for steps and a cache.

use candle_core::{CudaDevice, DType, Device, Tensor};

use super::{Angles, CudaDecoder};
use crate::checkpoint::{ModelConfig, Weights};
use crate::model::cuda::array::Array;
use crate::model::cuda::buffers::{Buffers, StepLimits};
use crate::model::cuda::caches::{self, CacheForm, Caches};
use crate::model::cuda::delta::{self, States};
use crate::model::cuda::experts::{self, ExpertKernels};
use crate::model::cuda::kernel::Kernels;
use crate::model::cuda::layers::{Loader, Parts, ROTARY};
use crate::model::cuda::linear::{Products, check_fp8};
use crate::model::cuda::nccl::Member;
use crate::model::cuda::operations::Operations;
use crate::model::cuda::sampling::Sampler;
use crate::model::cuda::upload::{Packer, Upload};
use crate::model::memory::widening_room;
use crate::model::precision::{Precision, WeightType};
use crate::model::profile::Profile;
use crate::model::rope::RotaryTable;
use crate::model::shard::Shard;
use crate::model::{ModelError, Obstacle, Result};

/// What keeps the fast path from running a model; `None` if nothing does. Otherwise the plain operations run it.
pub fn obstacle(config: &ModelConfig, precision: Precision) -> Option<Obstacle> {
    if let Some(obstacle) = caches::obstacle(config, precision) {
        return Some(obstacle);
    }
    let experts = config.experts.as_ref();
    let what = config.beyond_kernels().map(String::from);
    let what = what.or_else(|| experts.and_then(experts::obstacle));
    if let Some(what) = what.or_else(|| delta::obstacle(&config.recurrent.as_ref()?.shape)) {
        return Some(Obstacle { what, option: None });
    }
    let fp8 = precision.weights == WeightType::F8E4M3;
    let multiple = if fp8 { 16 } else { 8 };
    let inner = experts.map_or(config.intermediate, |experts| experts.intermediate);
    let shared = experts.and_then(|experts| experts.shared);
    let shared = ("size of the shared expert", shared.unwrap_or(multiple));
    let dense = experts.is_none_or(|experts| experts.first > 0 || experts.beside_dense);
    let dense = if dense { config.intermediate } else { inner };
    let sizes = [
        ("hidden size", config.hidden),
        ("intermediate size", dense),
        ("size of an expert", inner),
        shared,
    ];
    sizes
        .into_iter()
        .find(|(_, size)| !size.is_multiple_of(multiple) || *size > 32_768)
        .map(|(name, size)| Obstacle {
            what: format!("a {name} of {size}"),
            // Without it, a multiple of eight is enough.
            option: (fp8 && size % 16 == 8).then_some("--quantize fp8"),
        })
}

/// A model's weights on an NVIDIA GPU, or one of several GPUs' parts of them, before steps and cache get their memory, so that they can be sized by what the
/// weights left.
pub(in super::super) struct CudaModel {
    config: ModelConfig,
    member: Option<Member>,
    device: Device,
    cuda: CudaDevice,
    precision: Precision,
    kernels: Kernels,
    parts: Parts,
    ropes: Vec<RotaryTable>,
    operations: Operations,
    products: Products,
}

impl CudaModel {
    /// Reads the part of the weights that `shard` says, quantising it if asked to. `member` sums over the parts.
    /// Errors: [`CheckpointError::Mismatch`](crate::checkpoint::CheckpointError::Mismatch) naming tensors and shapes;
    /// [`ModelError::Unsupported`] for what [`obstacle`] names, and for FP8 on a GPU without it;
    /// [`ModelError::OutOfMemory`].
    pub(in super::super) fn load(
        whole: &ModelConfig,
        weights: &Weights,
        device: &Device,
        precision: Precision,
        (shard, member): (Shard, Option<Member>),
    ) -> Result<Self> {
        let whole = &*weights.settle(whole)?;
        let config = &shard.config(whole)?;
        if let Some(obstacle) = obstacle(config, precision) {
            return Err(ModelError::Unsupported(format!(
                "no CUDA kernels for {}",
                obstacle.what
            )));
        }
        let cuda = device.as_cuda_device()?.clone();
        let mut kernels = Kernels::new(&cuda);
        let operations = Operations::load(&mut kernels, precision.compute)?;
        if precision.weights == WeightType::F8E4M3 {
            check_fp8(&cuda)?;
        }
        let mut products = Products::new(&cuda)?;
        let room = if matches!(precision.weights, WeightType::Stored { .. }) {
            products = products.with_stored(&mut kernels, precision.compute)?;
            let room = widening_room(config);
            Some(Tensor::zeros(room, precision.compute, device)?)
        } else {
            None
        };
        weights.check_model(whole)?;
        let parts = Loader {
            config,
            shard,
            weights,
            device: device.clone(),
            cuda: &cuda,
            operations: &operations,
            layers: precision.weights,
            room: room.as_ref(),
            fp8_cache: precision.kv == DType::F8E4M3,
        }
        .load()?;
        Ok(Self {
            ropes: RotaryTable::all(config, device, ROTARY)?,
            products,
            member,
            config: config.clone(),
            device: device.clone(),
            precision,
            kernels,
            parts,
            operations,
            cuda,
        })
    }

    /// Allocates memory for steps, and a cache that has no blocks yet ([`CudaDecoder::resize_cache`]) and whose blocks hold
    /// `block_size` tokens, a power of two from 16. With `shared_prefix`, rows that share leading blocks attend to them
    /// together.
    pub(in super::super) fn with_cache(
        mut self,
        limits: StepLimits,
        block_size: usize,
        shared_prefix: bool,
    ) -> Result<CudaDecoder> {
        let (cuda, config, kernels) = (&self.cuda, &self.config, &mut self.kernels);
        let dtype = self.precision.compute;
        let experts = match (config.experts, self.parts.routed()) {
            (Some(experts), Some(routed)) => {
                let (sizes, limits) = ((config, experts), (&limits, routed));
                Some(ExpertKernels::load(cuda, kernels, sizes, limits, dtype)?)
            }
            _ => None,
        };
        let states = match &config.recurrent {
            Some(recurrent) => {
                let (shape, sizes) = (recurrent.shape, (limits.states, limits.tokens));
                Some(States::new(cuda, kernels, shape, dtype, sizes)?)
            }
            None => None,
        };
        self.parts
            .prepare(cuda, &mut self.products, &limits, dtype)?;
        let stride = self.parts.head.stride;
        let (precision, tokens) = (self.precision, limits.tokens);
        let form = CacheForm {
            precision,
            block_size,
            shared_prefix,
            tokens,
        };
        // The numbers of a step: a few words for each token, its share of the block tables, and the items of the plan.
        let words = 32 * limits.tokens.max(1024);
        let fp8 = precision.weights == WeightType::F8E4M3;
        let angles = |table: RotaryTable| {
            let (cos, sin) = table.tables();
            let (cos, sin) = (Array::from_tensor(cos)?, Array::from_tensor(sin)?);
            Ok::<_, ModelError>(Angles { table, cos, sin })
        };
        let ropes = self.ropes.into_iter().map(angles);
        Ok(CudaDecoder {
            buffers: Buffers::new(cuda, config, &limits, dtype, fp8, stride)?,
            sampler: Sampler::new(cuda, kernels, limits.rows)?,
            states,
            caches: Caches::new(cuda, kernels, config, &form, &self.parts.kv_scales)?,
            upload: Upload::new(cuda, words)?,
            choices: Upload::new(cuda, words)?,
            wanted: 0,
            ropes: ropes.collect::<Result<_, _>>()?,
            packer: Packer::default(),
            profile: Profile::off(),
            config: self.config,
            member: self.member,
            device: self.device,
            limits,
            parts: self.parts,
            operations: self.operations,
            experts,
            products: self.products,
        })
    }
}
