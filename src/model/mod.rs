//! The model: from a checkpoint's files to the logits of a step of packed tokens.
//!
//! ```text
//! ModelSource ─▶ ModelConfig, Weights ─▶ Decoder ─┐
//!                                                  ├─ forward(StepBatch) ─▶ logits [wanted, vocab]
//!             AttentionShape, blocks ─▶ Attention ─┘
//! ```
//!
//! | file | what it is for |
//! |---|---|
//! | [`source`] | where a model's files come from: embedded in the binary, a folder, a GGUF file, or the hub |
//! | [`gguf`] | GGUF files: header, sizes, vocabulary, names of tensors |
//! | [`hub`] | the Hugging Face hub and its cache |
//! | [`known`] | judges that are known to judge, with their aliases |
//! | [`config`] | `config.json`, with everything unsupported refused by name |
//! | [`weights`] | Safetensors, single or sharded, read tensor by tensor |
//! | [`device`] | `--device`: CPU, CUDA, Metal |
//! | [`precision`] | `--dtype`, `--quantize`, `--kv-dtype`: what weights, activations, keys and values are stored in |
//! | [`batch`] | one step's packed tokens and block tables |
//! | `checkpoint`, `tensors` | what a family calls its tensors, and how they are brought to the one form that is computed with |
//! | [`decoder`] | the transformer, parameterised by its config |
//! | [`linear`], [`feed_forward`], [`rope`], [`ops`] | its parts |
//! | [`profile`] | where a step's time goes |
//! | [`attention`] | the paged KV cache and attention over it, behind one trait |
//! | [`cpu`] | the vectorised loops under all of these on the CPU |
//! | [`cuda`] | kernels and the decoder's path through them on NVIDIA GPUs |
//!
//! On the CPU the logits of a token are **bitwise** the same whatever else is in the step, however its prompt was
//! chunked and whether its prefix was shared (`tests/attention.rs`, `tests/golden_logits.rs`). Every sum is taken in an
//! order that depends on the model and on absolute positions alone, never on how many rows are computed together.

pub mod attention;
pub mod batch;
pub mod chat_template;
mod checkpoint;
pub mod config;
pub mod cpu;
pub mod cuda;
pub mod decoder;
pub mod device;
mod error;
pub mod feed_forward;
pub mod gguf;
pub mod hub;
pub mod known;
pub mod linear;
pub mod ops;
pub mod precision;
pub mod profile;
pub mod rope;
pub mod source;
mod tensors;
pub mod tokenizer;
pub mod weights;

pub use batch::{BatchRow, StepBatch};
pub use config::ModelConfig;
pub use decoder::Decoder;
pub use device::DeviceChoice;
pub use error::ModelError;
pub use precision::{Precision, PrecisionChoice};
pub use source::{EmbeddedModel, ModelSource};
pub use weights::Weights;
