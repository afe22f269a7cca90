//! Text: between what people write and the tokens that a model reads and writes.
//!
//! | file | what it is for |
//! |---|---|
//! | [`tokenizer`] | text to token ids and back; text under judgement without special tokens |
//! | [`chat_template`] | the model's own way of writing a conversation (Jinja) |
//! | [`reasoning`] | a model's thinking told from its answer: tags, and gpt-oss' harmony format |

pub mod chat_template;
mod error;
pub mod reasoning;
pub mod tokenizer;

pub use error::TextError;
