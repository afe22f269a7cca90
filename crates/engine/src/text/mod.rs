//! Text: tokenizer, chat template, and reasoning.
//!
//! | file | what it is for |
//! |---|---|
//! | [`tokenizer`] | text to token ids and back; text under judgement without special tokens |
//! | [`chat_template`] | the model's own way of writing a conversation (Jinja) |
//! | [`end_tokens`] | tokens that end a generation |
//! | [`reasoning`] | a model's thinking separated from its answer: tags, and gpt-oss' harmony format |

pub mod chat_template;
pub mod end_tokens;
mod error;
pub mod reasoning;
pub mod tokenizer;

pub use error::TextError;
