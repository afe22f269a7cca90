//! Attacks on a judge: responses that deserve no reward, and how often the judge gives them one.
//!
//! After "One Token to Fool LLM-as-a-Judge" (arXiv 2507.08794): judges find responses right that hold nothing at all.
//!
//! | file | what it is for |
//! |---|---|
//! | [`family`] | the families of attacks, and under which protocols each is one |
//! | `target` | what an attacker knows of the judge: how its prompt goes on, and its verdicts, tags and tokens |
//! | `answers` | where a text holds an answer, and wrong answers made from right ones |
//! | `generator` | a row of the data set and a seed into an attack |
//! | `texts.tsv` | the words of the attacks |
//! | [`report`] | false positives with their intervals, and the worst cases |
//! | `measure` | a judge under one protocol, asked about every attack |

mod answers;
pub(crate) mod family;
mod generator;
mod measure;
pub(crate) mod report;
mod target;
mod texts;

pub use answers::shortened;
pub use family::Family;
pub use generator::{Attack, attacks, one_row_a_question};
pub use measure::Subject;
pub use report::{FamilyReport, Found, is_positive};
pub use target::Target;

#[cfg(test)]
mod tests;
