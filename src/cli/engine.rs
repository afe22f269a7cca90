//! Arguments for where a model runs and how large its engine is, shared by every command that runs one.

use std::path::PathBuf;

use anyhow::bail;
use candle_core::DType;
use clap::Args;

use juror_engine::engine::Drafts;
use juror_engine::model::precision::{DtypeOrAuto, Quantization};
use juror_engine::model::{DeviceChoice, PrecisionChoice};
use juror_judge::judge::EngineOptions;
use juror_judge::judge::build::check_devices;

/// Where a model runs, and what it is stored in.
#[derive(Debug, Clone, Args)]
pub(super) struct ModelArguments {
    /// Where the model runs: auto, cpu, cuda, cuda:N or metal
    #[arg(long, value_name = "DEVICE", default_value = "auto", help_heading = JUDGE)]
    pub(super) device: DeviceChoice,
    /// What weights, and with them keys and values, are stored in: f32, f16, bf16, or auto: on the CPU weights as in the
    /// checkpoint, keys and values in f32, in f16 with quantised weights; bf16 on a GPU
    #[arg(long, value_name = "TYPE", default_value = "auto", value_parser = PrecisionChoice::parse_dtype, help_heading = JUDGE)]
    dtype: DtypeOrAuto,
    /// Store weights smaller: `q8_0` or `q4k` on the CPU, fp8 on an NVIDIA GPU; `stored` keeps those of a checkpoint in FP8, GPTQ or AWQ there
    #[arg(long, value_name = "TYPE", help_heading = JUDGE)]
    quantize: Option<Quantization>,
    /// What keys and values are stored in: f32, f16, bf16, or fp8 on an NVIDIA GPU
    #[arg(long, value_name = "TYPE", value_parser = PrecisionChoice::parse_kv, help_heading = JUDGE)]
    kv_dtype: Option<DType>,
}

impl ModelArguments {
    /// What weights, keys and values are to be stored in.
    fn precision(&self) -> PrecisionChoice {
        PrecisionChoice {
            dtype: self.dtype,
            quantize: self.quantize,
            kv: self.kv_dtype,
        }
    }
}

/// An adapter of the model.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct AdapterArgument {
    /// An adapter of the model, as peft saves it (`adapter_config.json`, `adapter_model.safetensors`), merged when the weights are read
    #[arg(long, value_name = "DIR", requires = "model", help_heading = JUDGE)]
    pub(super) adapter: Option<PathBuf>,
}

/// Several devices.
#[derive(Debug, Clone, Args)]
pub(super) struct GpusArgument {
    /// Several NVIDIA GPUs by their numbers, as `0,1`: one engine for each (or for each N, with --tensor-parallel N), all fed from one queue
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "device", help_heading = JUDGE)]
    gpus: Vec<usize>,
}

impl GpusArgument {
    /// The devices asked for, one engine each, or one for several together.
    pub(super) fn devices(
        &self,
        model: &ModelArguments,
        engine: &EngineArguments,
    ) -> anyhow::Result<Vec<DeviceChoice>> {
        let mut gpus = self.gpus.iter().enumerate();
        if let Some((_, gpu)) = gpus.find(|&(at, gpu)| self.gpus[..at].contains(gpu)) {
            bail!(
                "--gpus names GPU {gpu} twice: each runs one engine, which uses all of it; name it once"
            );
        }
        let gpus = self.gpus.iter().map(|&gpu| DeviceChoice::Cuda(gpu));
        let mut devices: Vec<_> = gpus.collect();
        if devices.is_empty() {
            devices.push(model.device);
        }
        let together = engine.tensor_parallel.unwrap_or(1);
        if self.gpus.len() == 1 && together > 1 {
            bail!(
                "--tensor-parallel {together} takes GPUs {together} at a time, and --gpus names one: name a multiple of {together}, or \
                 the first of {together} with --device"
            );
        }
        check_devices(&devices, together)?;
        Ok(devices)
    }
}

/// The engine's sizes and switches.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct EngineArguments {
    /// Most samples at once [default: all, as memory allows, at most 64 on the CPU, 256 on a GPU]
    #[arg(long, visible_aliases = ["batch-size", "max-num-seqs"], value_name = "N", value_parser = positive, help_heading = ENGINE)]
    max_sequences: Option<usize>,
    /// Most tokens a step [default: as cache or memory allow, at most 512 on the CPU, 8192 on a GPU]
    #[arg(long, visible_alias = "max-num-batched-tokens", value_name = "N", value_parser = positive, help_heading = ENGINE)]
    token_budget: Option<usize>,
    /// Most tokens of one prompt a step [default: the token budget]
    #[arg(long, value_name = "N", value_parser = positive, help_heading = ENGINE)]
    prefill_chunk: Option<usize>,
    /// Most blocks of 16 tokens in the KV cache, and no fewer than the template and the longest sample take [default: as many
    /// as the work may need and memory allows; on the CPU they take memory only once they are used]
    #[arg(long, value_name = "N", value_parser = positive, help_heading = ENGINE)]
    kv_blocks: Option<usize>,
    /// Compute every prompt from its beginning
    #[arg(long, help_heading = ENGINE)]
    no_prefix_cache: bool,
    /// Compute the template anew at each start: keep the built-in judge's keys and values of it in no file of the user's cache folder (CPU)
    #[arg(long, help_heading = ENGINE)]
    no_kept_prefix: bool,
    /// Draft tokens from the prompt, up to N a sequence and step, within its block of 16 (speculative decoding by prompt lookup): auto (up
    /// to 3, where they pay; none on a GPU, nor in `juror bench`), off, or N
    #[arg(long, value_name = "N", default_value = "auto", help_heading = ENGINE)]
    drafts: Drafts,
    /// Have N NVIDIA GPUs hold one model together, each a part of every layer, for models larger than one GPU: those of --gpus in their
    /// order, or N from --device on. Needs NVIDIA's NCCL
    #[arg(long, value_name = "N", value_parser = positive, help_heading = ENGINE)]
    pub(super) tensor_parallel: Option<usize>,
    /// Compute with candle's operations alone on an NVIDIA GPU: the baseline
    #[arg(long, hide = true)]
    plain_operations: bool,
    /// Have every sequence attend to a shared prefix by itself on an NVIDIA GPU
    #[arg(long, hide = true)]
    no_shared_prefix: bool,
}

impl EngineArguments {
    /// The engine's options, with the types of `model`.
    pub(super) fn options(&self, model: &ModelArguments) -> EngineOptions {
        EngineOptions {
            precision: model.precision(),
            max_sequences: self.max_sequences,
            token_budget: self.token_budget,
            prefill_chunk: self.prefill_chunk,
            blocks: self.kv_blocks,
            no_prefix_cache: self.no_prefix_cache,
            keep_prefix: !self.no_kept_prefix,
            drafts: self.drafts,
            plain_operations: self.plain_operations,
            no_shared_prefix: self.no_shared_prefix,
            tensor_parallel: self.tensor_parallel,
            ..EngineOptions::default()
        }
    }
}

/// The largest count that is accepted: far more than a machine holds.
const MOST: usize = 1 << 24;

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("must be at least 1".into()),
        Ok(number) if number > MOST => Err(format!("must be at most {MOST}")),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

/// Heading of what chooses the judge.
pub(super) const JUDGE: &str = "Judge";
pub(super) const ENGINE: &str = "Engine (changes speed and memory, never a result)";
