//! Checkpoints: from a name to validated weights and settings.
//!
//! ```text
//! name ─source─▶ ModelSource ─▶ ModelConfig, Weights
//! ```
//!
//! | file | what it is for |
//! |---|---|
//! | [`source`] | what a name stands for and where its files are: embedded in the binary, a folder, a GGUF file, or the hub |
//! | `known_judges` | models that are known to judge, with their aliases (`models/known-judges.toml`) |
//! | `hub` | the Hugging Face hub and its cache |
//! | [`gguf`] | GGUF files: header, sizes, vocabulary, names of tensors |
//! | [`config`] | `config.json`, with everything unsupported refused by name |
//! | [`weights`] | tensors of Safetensors and GGUF files, read one by one |
//! | `tensors` | what a family calls its tensors, which there must be, and how large |
//! | `unsuitable` | what is given as a model and cannot judge: adapters, pointers of Git LFS, models that write no text |

pub mod config;
mod error;
pub mod gguf;
pub(crate) mod hub;
pub(crate) mod known_judges;
pub mod source;
pub(crate) mod tensors;
mod unsuitable;
pub mod weights;

pub use config::ModelConfig;
pub use error::CheckpointError;
pub use source::{EmbeddedModel, ModelSource};
pub use weights::Weights;
