//! Tensor parallel: a model on one NVIDIA GPU, or in parts on several ([`Shard`]).
//!
//! Every GPU has a thread that makes all its calls. Each gets the same step, plans it alike, and after its sums has the same numbers as
//! the others, so all choose the same tokens, each for its own next step; that they do is checked when they are collected.
//!
//! A GPU whose step fails would leave the others waiting for its sums. So whatever may lack memory is done on all before the first
//! sum of a step is queued: what fails there is tried again. A later failure is the end of the whole group, whose sums are stopped
//! ([`Group::stop`]) before anything waits for them.
//!
//! With one GPU all is called from where it is asked for, and there are no sums.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, OnceLock};

use candle_core::{CudaDevice, Device, Tensor};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::buffers::StepLimits;
use super::decoder::{CudaDecoder, CudaModel};
use super::error::driver;
use super::nccl::{Group, Member, ROUNDS};
use super::sampling::{SampleRequest, Sampled};
use crate::checkpoint::{ModelConfig, Weights};
use crate::model::attention::WindowedCache;
use crate::model::device::{CurrentOnDrop, DeviceChoice, make_current};
use crate::model::precision::Precision;
use crate::model::profile::Profile;
use crate::model::shard::Shard;
use crate::model::{ModelError, Result, StepBatch};
use juror_base::threads::lock;

/// What a GPU has, with its context made current before it is freed.
struct Held<T> {
    _current: CurrentOnDrop,
    value: T,
}

impl<T> Held<T> {
    fn new(device: &Device, value: T) -> Self {
        Self {
            _current: CurrentOnDrop::new(device),
            value,
        }
    }
}

struct Gpus {
    devices: Vec<Device>,
    /// Of several GPUs their threads, and what adds up.
    several: Option<(ThreadPool, Arc<Group>)>,
}

/// Whether a failure is the end of the group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failing {
    /// Not where memory is lacking, or a step is refused: no sum was queued.
    BeforeSums,
    AmongSums,
}

impl Gpus {
    fn new(devices: &[Device]) -> Result<Self> {
        let several = match devices {
            [] | [_] => None,
            several => {
                let cuda = several
                    .iter()
                    .map(|device| Ok(device.as_cuda_device()?.clone()));
                let cuda: Vec<CudaDevice> = cuda.collect::<Result<_>>()?;
                let name = |device: &CudaDevice| device.cuda_stream().context().name();
                let names: Result<Vec<String>, _> = cuda.iter().map(name).collect();
                let names = names.map_err(driver("its name"))?;
                // Others multiply in another order, and what they keep for themselves would not be the same bits.
                if let Some(other) = names.iter().find(|other| **other != names[0]) {
                    return Err(ModelError::Unsupported(format!(
                        "--tensor-parallel takes GPUs of one kind, and there are {} and {other} among these",
                        names[0]
                    )));
                }
                let there = several.to_vec();
                let pool = ThreadPoolBuilder::new()
                    .num_threads(devices.len())
                    .thread_name(|rank| format!("gpu {rank}"))
                    .start_handler(move |rank| make_current(&there[rank]))
                    .build()
                    .map_err(|error| {
                        ModelError::Device(format!("a thread for each GPU: {error}"))
                    })?;
                Some((pool, Group::new(&cuda)?))
            }
        };
        Ok(Self {
            devices: devices.to_vec(),
            several,
        })
    }

    fn shard(&self, rank: usize) -> (Shard, Option<Member>) {
        let member = |(_, group): &(_, Arc<Group>)| Member {
            group: Arc::clone(group),
            rank,
        };
        let shard = Shard::new(rank, self.devices.len());
        (shard, self.several.as_ref().map(member))
    }

    /// Calls `work` for what each GPU has, on its thread, all at once, and waits for all.
    fn each<T: Send, R: Send>(
        &self,
        all: &mut [T],
        failing: Failing,
        work: impl Fn(usize, &mut T) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let Some((pool, group)) = &self.several else {
            let each = all.iter_mut().enumerate();
            return each.map(|(rank, own)| work(rank, own)).collect();
        };
        let all: Vec<Mutex<&mut T>> = all.iter_mut().map(Mutex::new).collect();
        // What the others say after this one tells nothing of why.
        let first = OnceLock::new();
        let results = pool.broadcast(|thread| {
            let rank = thread.index();
            // Each thread has its own, and one call ends before the next begins.
            let mut own = lock(&all[rank]);
            let result = catch_unwind(AssertUnwindSafe(|| work(rank, &mut own)));
            let is_end = match &result {
                Ok(Ok(_)) => false,
                Ok(Err(ModelError::Device(_) | ModelError::Tensor(_))) | Err(_) => true,
                Ok(Err(_)) => failing == Failing::AmongSums,
            };
            if is_end {
                let _ = first.set(rank);
                let why = match &result {
                    Ok(Err(error)) => error.to_string(),
                    _ => "a panic".into(),
                };
                // Now, not when all are done: the others may already wait.
                group.stop(&format!("{}: {why}", name(&self.devices[rank])));
            }
            result.unwrap_or_else(|panic| resume_unwind(panic))
        });
        let mut done = Vec::with_capacity(results.len());
        let mut failure: Option<(usize, ModelError)> = None;
        for (rank, result) in results.into_iter().enumerate() {
            match result {
                Ok(result) => done.push(result),
                Err(error) if failure.is_none() || first.get() == Some(&rank) => {
                    failure = Some((rank, error));
                }
                Err(_) => {}
            }
        }
        match failure {
            None => Ok(done),
            Some((rank, error)) => Err(named(&self.devices[rank], error, failing)),
        }
    }
}

/// A failure of one of several GPUs. Among sums none is to be tried again.
fn named(device: &Device, error: ModelError, failing: Failing) -> ModelError {
    let name = name(device);
    match (error, failing) {
        (ModelError::OutOfMemory(why), Failing::BeforeSums) => {
            ModelError::OutOfMemory(format!("{name}: {why}"))
        }
        (ModelError::Batch(why), Failing::BeforeSums) => ModelError::Batch(why),
        (ModelError::Checkpoint(error), _) => ModelError::Checkpoint(error),
        (ModelError::Unsupported(why), _) => ModelError::Unsupported(why),
        (ModelError::Device(why), _) => ModelError::Device(format!("{name}: {why}")),
        (error, _) => ModelError::Device(format!("{name}: {error}")),
    }
}

fn name(device: &Device) -> String {
    match device.location() {
        candle_core::DeviceLocation::Cuda { gpu_id } => DeviceChoice::Cuda(gpu_id).to_string(),
        other => format!("{other:?}"),
    }
}

/// A model's weights on its GPUs, before steps and cache get their memory, so that they can be sized by what the weights left.
pub struct ParallelModel {
    parts: Vec<Option<Held<CudaModel>>>,
    // After the parts: they use the group.
    gpus: Gpus,
}

impl ParallelModel {
    /// Reads the weights, each GPU its part, quantising them if asked to.
    /// Errors: [`CheckpointError::Mismatch`](crate::checkpoint::CheckpointError::Mismatch) naming tensors and shapes;
    /// [`ModelError::Unsupported`] for what [`obstacle`](super::obstacle) names, for sizes that do not divide, and for FP8 on a GPU
    /// without it; [`ModelError::Device`] where several GPUs cannot be connected; [`ModelError::OutOfMemory`].
    pub fn load(
        config: &ModelConfig,
        weights: &Weights,
        devices: &[Device],
        precision: Precision,
    ) -> Result<Self> {
        // Before the GPUs are connected, which takes seconds.
        Shard::new(0, devices.len()).config(config)?;
        let gpus = Gpus::new(devices)?;
        let mut nothing = vec![(); devices.len()];
        let mut tried = gpus.each(&mut nothing, Failing::BeforeSums, |rank, ()| {
            let (_, Some(member)) = gpus.shard(rank) else {
                return Ok(None);
            };
            let device = &devices[rank];
            let tried = member.tried(device.as_cuda_device()?, config.hidden, precision.compute)?;
            Ok(Some((member, Held::new(device, tried))))
        })?;
        for round in 0..ROUNDS {
            gpus.each(&mut tried, Failing::AmongSums, |_, tried| match tried {
                Some((member, tried)) => member.check(&tried.value, round),
                None => Ok(()),
            })?;
        }
        drop(tried);
        let parts = gpus.each(&mut nothing, Failing::BeforeSums, |rank, ()| {
            let (device, part) = (&devices[rank], gpus.shard(rank));
            let load = || CudaModel::load(config, weights, device, precision, part);
            if devices.len() == 1 {
                return Ok(Some(Held::new(device, load()?)));
            }
            // Not on the pool's thread: what the host converts in parallel would have as many threads as there are GPUs.
            let model = std::thread::scope(|scope| {
                let load = || {
                    make_current(device);
                    load()
                };
                let loading = std::thread::Builder::new().spawn_scoped(scope, load);
                let failed = |error| ModelError::Device(format!("a thread to load: {error}"));
                let loaded = loading.map_err(failed)?.join();
                loaded.unwrap_or_else(|panic| resume_unwind(panic))
            })?;
            Ok(Some(Held::new(device, model)))
        })?;
        Ok(Self { parts, gpus })
    }

    /// Allocates memory for steps, and a cache that has no blocks yet ([`ParallelDecoder::resize_cache`]) and whose blocks hold
    /// `block_size` tokens, a power of two from 16. With `shared_prefix`, rows that share leading blocks attend to them
    /// together.
    pub fn with_cache(
        mut self,
        limits: StepLimits,
        block_size: usize,
        shared_prefix: bool,
    ) -> Result<ParallelDecoder> {
        let gpus = &self.gpus;
        let parts = gpus.each(&mut self.parts, Failing::BeforeSums, |rank, part| {
            let Some(Held { value, .. }) = part.take() else {
                return Err(ModelError::Batch("a model without weights".into()));
            };
            let decoder = value.with_cache(limits, block_size, shared_prefix)?;
            Ok(Held::new(&gpus.devices[rank], decoder))
        })?;
        Ok(ParallelDecoder {
            parts,
            gpus: self.gpus,
        })
    }
}

/// A model with its cache on its GPUs.
pub struct ParallelDecoder {
    /// One at least.
    parts: Vec<Held<CudaDecoder>>,
    // After the parts: they use the group.
    gpus: Gpus,
}

impl ParallelDecoder {
    /// The configuration of what one GPU computes.
    pub fn config(&self) -> &ModelConfig {
        self.parts[0].value.config()
    }

    /// The profile of the first GPU's steps so far.
    pub fn profile(&mut self) -> &mut Profile {
        self.parts[0].value.profile()
    }

    /// Allocates the cache anew on every GPU with `blocks` blocks, and of layers with windows, where they have one of their own, with
    /// `windowed`; its content is lost. After an error there is no cache, and this must be called again with fewer blocks.
    pub fn resize_cache(&mut self, blocks: usize, windowed: usize) -> Result<()> {
        let resize = |_, part: &mut CudaDecoder| part.resize_cache(blocks, windowed);
        self.each(Failing::BeforeSums, resize).map(drop)
    }

    /// Blocks of the cache, the same number on every GPU.
    pub fn blocks(&self) -> usize {
        let blocks = self.parts.iter().map(|part| part.value.blocks());
        blocks.min().unwrap_or(0)
    }

    /// The cache of layers with windows, where they have one of their own, the same on every GPU.
    pub fn windowed(&self) -> Option<WindowedCache> {
        self.parts[0].value.windowed()
    }

    /// Queues a step up to its logits, for [`Self::choose`].
    ///
    /// Tokens of [`StepBatch::from_previous`] are filled in on the device, from the step before this one.
    /// Errors: [`ModelError::Batch`] for a step that does not fit model, cache or limits; the device's failure.
    pub fn launch(&mut self, batch: &StepBatch) -> Result<()> {
        let planned = self.each(Failing::BeforeSums, |_, part| part.plan(batch))?;
        self.each(Failing::AmongSums, |rank, part| part.launch(&planned[rank]))
            .map(drop)
    }

    /// Queues the choice of the tokens of the step launched last, which [`Self::collect`] returns; two more steps may be launched
    /// before that.
    /// Errors: [`ModelError::Batch`] for another number of requests than there are rows of logits; the device's failure.
    pub fn choose(&mut self, requests: &[SampleRequest]) -> Result<()> {
        let asked = self.each(Failing::BeforeSums, |_, part| part.ask(requests))?;
        let asked: Vec<_> = asked.into_iter().map(|one| Mutex::new(Some(one))).collect();
        self.each(Failing::AmongSums, |rank, part| {
            let mut asked = lock(&asked[rank]);
            asked.take().map_or(Ok(()), |asked| part.choose(asked))
        })
        .map(drop)
    }

    /// The tokens of the oldest step that was launched and not collected; waits for it.
    /// Errors: [`ModelError::Batch`] when there is none; the device's failure, and GPUs that did not choose the same tokens.
    pub fn collect(&mut self) -> Result<Vec<Sampled>> {
        let sampled = self.each(Failing::AmongSums, |_, part| part.collect())?;
        let mut sampled = sampled.into_iter();
        let first = sampled.next().unwrap_or_default();
        for (rank, other) in sampled.enumerate() {
            let mut rows = first.iter().zip(&other).enumerate();
            if let Some((row, (one, other))) =
                rows.find(|(_, (one, other))| one.token != other.token)
            {
                return Err(ModelError::Device(format!(
                    "{} chose token {:?} for row {row} and {} chose {:?}: their sums or their own products differ (are they GPUs of one kind?)",
                    name(&self.gpus.devices[0]),
                    one.token,
                    name(&self.gpus.devices[rank + 1]),
                    other.token
                )));
            }
        }
        Ok(first)
    }

    /// Computes a step and returns its logits, `[batch.logits.len(), vocab]`, f32, on the host.
    pub fn logits(&mut self, batch: &StepBatch) -> Result<Tensor> {
        self.launch(batch)?;
        let mut logits = self.each(Failing::AmongSums, |_, part| part.logits())?;
        Ok(logits.swap_remove(0))
    }

    fn each<R: Send>(
        &mut self,
        failing: Failing,
        work: impl Fn(usize, &mut CudaDecoder) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let work = |rank, part: &mut Held<CudaDecoder>| work(rank, &mut part.value);
        self.gpus.each(&mut self.parts, failing, work)
    }
}
