//! Attacks on a judge: responses that deserve no reward, and how often the judge gives them one.
//!
//! After "One Token to Fool LLM-as-a-Judge" (arXiv 2507.08794): judges find responses right that hold nothing at all.

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
