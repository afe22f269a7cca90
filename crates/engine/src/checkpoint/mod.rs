//! Checkpoints: from a model's files to validated weights and settings.
//!
//! ```text
//! files ─source─▶ ModelSource ─▶ ModelConfig, Weights
//! ```
//!
//! | file | what it is for |
//! |---|---|
//! | [`source`] | where a model's files are: in the binary, a folder, or a GGUF file |
//! | [`gguf`] | GGUF files: header, sizes, vocabulary, names of tensors |
//! | [`config`] | `config.json`, with everything unsupported refused by name |
//! | `families` | the table of families: what each calls its keys and tensors, and how it differs |
//! | [`weights`] | tensors of Safetensors and GGUF files, read one by one |
//! | `tensors` | what a family calls its tensors, which there must be, and how large |
//! | [`adapter`] | `LoRA` adapters, which are merged into a model's weights when these are read |
//! | `tokenizer_config` | what belongs to `tokenizer_config.json` and lies beside it |
//! | `unsuitable` | what is given as a model and cannot judge: adapters, pointers of Git LFS, models that write no text |

pub mod adapter;
pub mod config;
mod error;
pub(crate) mod families;
pub mod gguf;
pub(crate) mod source;
pub(crate) mod tensors;
mod tokenizer_config;
mod unsuitable;
pub mod weights;

pub use adapter::Adapter;
pub use config::ModelConfig;
pub use error::CheckpointError;
pub use source::{EmbeddedModel, ModelSource};
pub use weights::Weights;
