//! Checkpoints: from a model's files to validated weights and settings.
//!
//! ```text
//! files ─source─▶ ModelSource ─▶ ModelConfig, Weights
//! ```

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
pub(crate) use error::Result;
pub use source::{EmbeddedModel, ModelSource, PackedFile};
pub use weights::Weights;
