//! Precision: what weights, activations, keys and values are stored in (`--dtype`, `--quantize`, `--kv-dtype`).
//!
//! On the CPU every sum is taken in f32 (quantised products sum exact integers first), whatever the weights are stored
//! in; storing them smaller saves memory and the time to read it. On a GPU weights, activations and, unless said
//! otherwise, keys and values share one type, and sums are f32 inside the kernels.

use std::fmt;
use std::str::FromStr;

use candle_core::{DType, Device, DeviceLocation};

use super::cpu::matmul::PackedMatrix;
use super::{ModelError, Result};
use crate::checkpoint::gguf::StorageType;
use crate::checkpoint::weights::StoredTensor;
use crate::checkpoint::{ModelConfig, Weights};

/// How the weights of linear layers are stored in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightType {
    /// 4 bytes a weight.
    F32,
    F16,
    /// The upper half of an f32.
    BF16,
    /// Blocks of 32 signed bytes with one scale (GGML's `Q8_0`, 8.5 bits a weight).
    Q8_0,
    /// Super-blocks of 256 nibbles with scales and minima of eight parts (GGML's `Q4_K`, 4.5 bits a weight).
    Q4K,
    /// E4M3 with one scale for each output; NVIDIA GPUs from compute capability 8.9 on.
    F8E4M3,
    /// Each weight as the checkpoint stores it: on the CPU in the blocks of a GGUF file, on NVIDIA GPUs in FP8 or four bits.
    Stored {
        /// Hundredths of a bit that a weight of the file takes up in memory, on average.
        centibits: u16,
    },
}

impl From<DType> for WeightType {
    fn from(dtype: DType) -> Self {
        Self::exact(dtype)
    }
}

impl From<&Weights> for WeightType {
    /// The type of most of a checkpoint's weights, if they are plain numbers of 16 or 32 bits; for matrices stored in
    /// blocks, [`Self::Stored`] with the average bits of a weight in memory.
    fn from(weights: &Weights) -> Self {
        let matrices = || {
            weights
                .stored_tensors()
                .filter(|tensor| tensor.shape.len() > 1)
        };
        let mxfp4 = |tensor: &StoredTensor| tensor.dtype == DType::U8;
        if !matrices().any(|tensor| tensor.blocks.is_some() || mxfp4(tensor)) {
            let bytes = |dtype: DType| -> usize {
                let of_type = weights
                    .stored_tensors()
                    .filter(|tensor| tensor.stored_dtype() == dtype);
                of_type.map(|tensor| tensor.bytes).sum()
            };
            let most = [DType::F32, DType::F16, DType::BF16]
                .into_iter()
                .max_by_key(|&dtype| bytes(dtype))
                .unwrap_or(DType::F32);
            return Self::exact(most);
        }
        let (mut bits, mut numbers) = (0.0, 0.0);
        for tensor in matrices() {
            let count = numbers_of(tensor);
            let one = match tensor.blocks {
                Some(kind) => PackedMatrix::bits(kind),
                None if mxfp4(tensor) => PackedMatrix::bits(StorageType::MXFP4),
                None => Self::exact(tensor.dtype).bits(),
            };
            bits += count * one;
            numbers += count;
        }
        Self::stored(bits / numbers)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct StoredAs {
    /// Most of them.
    weights: WeightType,
    /// If NVIDIA GPUs can keep some in fewer bits: what they then take there, on average.
    kept: Option<WeightType>,
}

impl From<WeightType> for StoredAs {
    fn from(weights: WeightType) -> Self {
        Self {
            weights,
            kept: None,
        }
    }
}

impl From<DType> for StoredAs {
    fn from(dtype: DType) -> Self {
        WeightType::exact(dtype).into()
    }
}

impl From<&Weights> for StoredAs {
    fn from(weights: &Weights) -> Self {
        Self {
            weights: weights.into(),
            kept: weights.bits_if_kept().map(WeightType::stored),
        }
    }
}

impl StoredAs {
    /// What the weights of a checkpoint that is not here yet are probably stored in.
    pub fn expected(config: &ModelConfig) -> Self {
        Self {
            // Whose random weights have its tensors.
            kept: Self::from(&Weights::random(config, 0)).kept,
            ..DType::BF16.into()
        }
    }
}

/// The number of weights in a matrix. Tensors of bytes are MXFP4 in Safetensors: blocks of two numbers per byte, and their
/// scales, which are not weights.
fn numbers_of(tensor: &StoredTensor) -> f64 {
    let shape = tensor.shape.iter().product::<usize>() as f64;
    match (tensor.blocks, tensor.dtype, tensor.shape.len()) {
        (None, DType::U8, 4) => 2.0 * shape,
        (None, DType::U8, _) => 0.0,
        _ => shape,
    }
}

impl WeightType {
    /// [`Self::Stored`] with so many bits on average.
    fn stored(bits: f64) -> Self {
        Self::Stored {
            centibits: (100.0 * bits).round() as u16,
        }
    }

    /// Bits per weight of a checkpoint's matrices in its files, on average.
    pub fn bits_stored(weights: &Weights) -> f64 {
        let (mut bits, mut numbers) = (0.0, 0.0);
        for tensor in weights
            .stored_tensors()
            .filter(|tensor| tensor.shape.len() > 1)
        {
            bits += 8.0 * tensor.bytes as f64;
            numbers += numbers_of(tensor);
        }
        bits / numbers
    }

    /// The type that stores values of a dtype unchanged.
    pub fn exact(dtype: DType) -> Self {
        match dtype {
            DType::F16 => Self::F16,
            DType::BF16 => Self::BF16,
            _ => Self::F32,
        }
    }

    /// The type of the output head, and of the embedding table if that is the same tensor: logits suffer most from rounding,
    /// so four bits become eight.
    #[must_use]
    pub fn for_head(self) -> Self {
        match self {
            Self::Q4K => Self::Q8_0,
            // A scale for each of the vocabulary's rows is not worth it.
            Self::F8E4M3 => Self::BF16,
            other => other,
        }
    }

    /// Bits per weight, scales included.
    pub fn bits(self) -> f64 {
        match self {
            Self::F32 => 32.0,
            Self::F16 | Self::BF16 => 16.0,
            Self::Q8_0 => 8.5,
            // Scales and minima of the eight parts are kept as whole bytes.
            Self::Q4K => 4.625,
            Self::F8E4M3 => 8.0,
            Self::Stored { centibits } => f64::from(centibits) / 100.0,
        }
    }

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::Q8_0 => "q8_0",
            Self::Q4K => "q4k",
            Self::F8E4M3 => "fp8",
            Self::Stored { .. } => "stored",
        }
    }
}

impl fmt::Display for WeightType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored { .. } => write!(f, "stored ({:.2} bits)", self.bits()),
            _ => f.write_str(self.as_str()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantization {
    /// See [`WeightType::Q8_0`]; CPU.
    Q8_0,
    /// See [`WeightType::Q4K`]; CPU.
    Q4K,
    /// See [`WeightType::F8E4M3`]; CUDA.
    Fp8,
    /// See [`WeightType::Stored`].
    Stored,
}

impl FromStr for Quantization {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match text {
            "q8_0" => Self::Q8_0,
            "q4k" | "q4_k" => Self::Q4K,
            "fp8" => Self::Fp8,
            "stored" => Self::Stored,
            _ => return Err(unknown("quantisation", text, "q8_0, q4k, fp8 or stored")),
        })
    }
}

fn unknown(what: &str, text: &str, known: &str) -> ModelError {
    ModelError::Unsupported(format!("no {what} `{text}`: use {known}"))
}

/// A dtype, or `None` to let device and checkpoint decide.
pub type DtypeOrAuto = Option<DType>;

/// The precision that the user asked for; where it is `None`, device and checkpoint decide.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrecisionChoice {
    /// `--dtype`: F32, F16 or BF16.
    pub dtype: DtypeOrAuto,
    /// `--quantize`.
    pub quantize: Option<Quantization>,
    /// `--kv-dtype`: F32, F16, BF16 or F8E4M3.
    pub kv: Option<DType>,
}

#[warn(missing_docs)]
impl PrecisionChoice {
    /// Parses `--dtype`.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] with the valid names.
    pub fn parse_dtype(text: &str) -> Result<DtypeOrAuto> {
        Ok(Some(match text {
            "auto" => return Ok(None),
            "f32" => DType::F32,
            "f16" => DType::F16,
            "bf16" => DType::BF16,
            _ => return Err(unknown("dtype", text, "auto, f32, f16 or bf16")),
        }))
    }

    /// Parses `--kv-dtype`.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] with the valid names.
    pub fn parse_kv(text: &str) -> Result<DType> {
        Ok(match text {
            "f32" => DType::F32,
            "f16" => DType::F16,
            "bf16" => DType::BF16,
            "fp8" => DType::F8E4M3,
            _ => return Err(unknown("KV type", text, "f32, f16, bf16 or fp8")),
        })
    }

    /// What the user asked for, in words; `None` if nothing. It is part of a run's identity, since other rounding may give
    /// other verdicts.
    pub fn describe(&self) -> Option<String> {
        let quantize = self.quantize.map(|quantize| match quantize {
            Quantization::Q8_0 => "quantize q8_0".to_owned(),
            Quantization::Q4K => "quantize q4k".to_owned(),
            Quantization::Fp8 => "quantize fp8".to_owned(),
            Quantization::Stored => "quantize stored".to_owned(),
        });
        let dtype = self.dtype.map(|dtype| format!("dtype {}", dtype.as_str()));
        let kv = self.kv.map(|kv| format!("kv-dtype {}", kv_name(kv)));
        let parts: Vec<String> = [dtype, quantize, kv].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// The types in which a model whose weights are stored in `stored` is loaded on a device.
    ///
    /// By default the CPU stores weights as the checkpoint does, which changes no bit of the result, and keys and values in
    /// f32; a GPU uses bf16 for everything. Smaller weights bring smaller keys and values: f16 with quantised ones.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] for what the device does not compute in, and for quantising quantised weights.
    pub fn resolve(&self, device: &Device, stored: impl Into<StoredAs>) -> Result<Precision> {
        self.resolve_at(device.location(), stored.into())
    }

    fn resolve_at(
        self,
        place: DeviceLocation,
        StoredAs {
            weights: stored,
            kept,
        }: StoredAs,
    ) -> Result<Precision> {
        let is_cuda = matches!(place, DeviceLocation::Cuda { .. });
        let in_blocks = matches!(stored, WeightType::Stored { .. });
        let refuse = |message: &str| Err(ModelError::Unsupported(message.into()));
        if self.kv == Some(DType::F8E4M3) && !is_cuda {
            return refuse("--kv-dtype fp8 needs an NVIDIA GPU; elsewhere use f32, f16 or bf16");
        }
        if place == DeviceLocation::Cpu {
            let weights = match (self.quantize, self.dtype) {
                (Some(Quantization::Q8_0 | Quantization::Q4K), _) if in_blocks => {
                    return refuse(
                        "the weights of this file are quantised already: leave --quantize away to run them as they are, \
                         or quantise the original checkpoint",
                    );
                }
                (Some(Quantization::Q8_0), _) => WeightType::Q8_0,
                (Some(Quantization::Q4K), _) => WeightType::Q4K,
                (Some(Quantization::Fp8), _) => {
                    return refuse(
                        "--quantize fp8 needs an NVIDIA GPU; on the CPU use q8_0 or q4k",
                    );
                }
                (Some(Quantization::Stored), None) if in_blocks => stored,
                (Some(Quantization::Stored), _) => {
                    return refuse(
                        "--quantize stored keeps a GGUF file's blocks on the CPU, without --dtype, and FP8 or four bits on an NVIDIA \
                         GPU; on the CPU use q8_0 or q4k for this checkpoint",
                    );
                }
                (None, dtype) => dtype.map_or(stored, WeightType::exact),
            };
            let kv = self.kv.unwrap_or(match (self.quantize, self.dtype) {
                (_, Some(dtype)) => dtype,
                (Some(_), None) => DType::F16,
                (None, None) if in_blocks => DType::F16,
                (None, None) => DType::F32,
            });
            return Ok(Precision {
                compute: DType::F32,
                weights,
                kv,
            });
        }
        let compute = self.dtype.unwrap_or(DType::BF16);
        let weights = match self.quantize {
            None => WeightType::exact(compute),
            Some(Quantization::Fp8) if is_cuda => WeightType::F8E4M3,
            Some(Quantization::Stored) if is_cuda => match kept {
                Some(kept) => kept,
                None => {
                    return refuse(
                        "--quantize stored keeps weights that a checkpoint stores in FP8 or, as GPTQ, AWQ and compressed-tensors do, \
                         in four bits; this one has none: leave it out, or use fp8",
                    );
                }
            },
            Some(Quantization::Fp8 | Quantization::Stored) => {
                return refuse("--quantize fp8 and stored need an NVIDIA GPU here");
            }
            Some(Quantization::Q8_0 | Quantization::Q4K) => {
                return refuse("--quantize q8_0 and q4k are for the CPU; on an NVIDIA GPU use fp8");
            }
        };
        Ok(Precision {
            compute,
            weights,
            kv: self.kv.unwrap_or(compute),
        })
    }
}

/// A type of keys and values as the command line has it.
fn kv_name(kv: DType) -> &'static str {
    match kv {
        DType::F8E4M3 => "fp8",
        other => other.as_str(),
    }
}

/// A model's types on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Precision {
    /// Activations: f32 on the CPU.
    pub compute: DType,
    /// Weights of linear layers, and the embedding table if it is the output head too.
    pub weights: WeightType,
    pub kv: DType,
}

impl Precision {
    /// f32 throughout: the CPU's reference.
    pub const F32: Self = Self {
        compute: DType::F32,
        weights: WeightType::F32,
        kv: DType::F32,
    };

    pub fn all(dtype: DType) -> Self {
        Self {
            compute: dtype,
            weights: WeightType::exact(dtype),
            kv: dtype,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kv = kv_name(self.kv);
        write!(f, "{} weights, {kv} keys and values", self.weights)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device, DeviceLocation};

    use super::{Precision, PrecisionChoice, Quantization, StoredAs, WeightType};

    fn resolve(choice: PrecisionChoice) -> Result<Precision, String> {
        choice
            .resolve(&Device::Cpu, DType::BF16)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_cpu_keeps_what_the_checkpoint_stores_unless_asked() {
        let default = resolve(PrecisionChoice::default()).unwrap();
        assert_eq!(default.weights, WeightType::BF16);
        assert_eq!(default.kv, DType::F32);
        let half = PrecisionChoice {
            dtype: Some(DType::F16),
            ..PrecisionChoice::default()
        };
        let half = resolve(half).unwrap();
        assert_eq!((half.weights, half.kv), (WeightType::F16, DType::F16));
        let quantised = PrecisionChoice {
            quantize: Some(Quantization::Q4K),
            ..PrecisionChoice::default()
        };
        let quantised = resolve(quantised).unwrap();
        assert_eq!(
            (quantised.weights, quantised.kv, quantised.compute),
            (WeightType::Q4K, DType::F16, DType::F32)
        );
    }

    #[test]
    fn blocks_of_a_file_stay_as_they_are_or_are_widened_but_not_quantised_again() {
        let stored = WeightType::Stored { centibits: 485 };
        let resolve = |choice: PrecisionChoice| choice.resolve(&Device::Cpu, stored);
        let default = resolve(PrecisionChoice::default()).unwrap();
        assert_eq!((default.weights, default.kv), (stored, DType::F16));
        assert!(default.to_string().contains("4.85 bits"));
        let wide = resolve(PrecisionChoice {
            dtype: Some(DType::F32),
            ..PrecisionChoice::default()
        });
        assert_eq!(wide.unwrap(), Precision::F32);
        let again = resolve(PrecisionChoice {
            quantize: Some(Quantization::Q8_0),
            ..PrecisionChoice::default()
        });
        assert!(again.unwrap_err().to_string().contains("already"));
    }

    #[test]
    fn few_bits_are_kept_where_there_are_kernels_and_such_bits() {
        let choice = PrecisionChoice {
            quantize: Some(Quantization::Stored),
            ..PrecisionChoice::default()
        };
        let cuda = DeviceLocation::Cuda { gpu_id: 0 };
        let kept = WeightType::Stored { centibits: 512 };
        let stored = |kept| StoredAs {
            weights: WeightType::BF16,
            kept,
        };
        let resolved = choice.resolve_at(cuda, stored(Some(kept))).unwrap();
        assert_eq!((resolved.weights, resolved.compute), (kept, DType::BF16));
        assert_eq!(resolved.kv, DType::BF16);
        let error = |place, stored| choice.resolve_at(place, stored).unwrap_err().to_string();
        assert!(error(cuda, stored(None)).contains("this one has none"));
        let metal = DeviceLocation::Metal { gpu_id: 0 };
        assert!(error(metal, stored(Some(kept))).contains("NVIDIA"));
        assert!(error(DeviceLocation::Cpu, stored(Some(kept))).contains("q8_0"));
        let blocks = StoredAs::from(WeightType::Stored { centibits: 485 });
        let resolved = choice.resolve_at(DeviceLocation::Cpu, blocks).unwrap();
        assert_eq!(resolved.kv, DType::F16);
    }

    #[test]
    fn what_needs_a_gpu_is_refused_on_the_cpu_with_a_way_out() {
        let weights = resolve(PrecisionChoice {
            quantize: Some(Quantization::Fp8),
            ..PrecisionChoice::default()
        });
        assert!(weights.unwrap_err().contains("q8_0"));
        let kv = PrecisionChoice {
            kv: Some(DType::F8E4M3),
            ..PrecisionChoice::default()
        };
        for place in [DeviceLocation::Cpu, DeviceLocation::Metal { gpu_id: 0 }] {
            let refused = kv.resolve_at(place, WeightType::BF16.into()).unwrap_err();
            assert!(refused.to_string().contains("f16"), "{place:?}");
        }
        let cuda = DeviceLocation::Cuda { gpu_id: 0 };
        let kept = kv.resolve_at(cuda, WeightType::BF16.into()).unwrap().kv;
        assert_eq!(kept, DType::F8E4M3);
    }

    #[test]
    fn names_are_read_and_unknown_ones_list_the_known() {
        assert_eq!("q4k".parse::<Quantization>().unwrap(), Quantization::Q4K);
        assert_eq!(PrecisionChoice::parse_kv("fp8").unwrap(), DType::F8E4M3);
        let message = "int3".parse::<Quantization>().unwrap_err().to_string();
        assert!(message.contains("int3") && message.contains("q8_0"));
    }
}
