//! From a completion to a verdict.
//!
//! | file | what it is for |
//! |---|---|
//! | `reading` | what a completion says, and how sure the judge was |
//! | `completion` | it becomes a verdict: protocol, rules, reward |

pub(crate) mod completion;
pub(crate) mod reading;
