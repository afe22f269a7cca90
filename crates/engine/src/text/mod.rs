//! Text: tokenizer, chat template, and reasoning.

pub mod chat_template;
pub mod end_tokens;
mod error;
pub mod reasoning;
pub mod tokenizer;

pub use error::TextError;
