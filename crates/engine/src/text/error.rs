//! Errors of tokenizer and chat template.

use crate::checkpoint::CheckpointError;

/// An error of tokenizer or chat template.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The tokenizer is damaged, or refuses a text.
    #[error("{0}")]
    Tokenizer(String),
    /// The chat template is missing, damaged, or refuses the conversation.
    #[error("chat template: {0}")]
    ChatTemplate(String),
}
