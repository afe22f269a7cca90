//! What verdicts are worth, and what people see of them.
//!
//! | room | what it is for |
//! |---|---|
//! | [`eval`] | verdicts against labels, and judges against each other (`juror eval`) |
//! | [`report`] | verdicts as pages that people read; untrusted text as HTML |
//! | [`browse`] | verdict files by place, while they grow: filters, search, counts |
//! | `view` | verdicts as pages for the browser (`juror view`, feature `serve`) |
//! | [`label`] | labels by people: the queue, the file, agreement (`juror label`) |
//! | [`build`] | training data made with a judge: hard sets, preference pairs, best of n, accepted responses (`juror build`) |
//! | [`gsm8k`] | GSM8K's evaluation protocol: extraction methods, pass@k, a local model as the solver (`juror gsm8k`) |

#[macro_use(named)]
extern crate juror_data;

#[cfg_attr(
    not(feature = "serve"),
    allow(
        dead_code,
        unused_imports,
        reason = "the queue of labels needs its index; filters, search and counts are for pages"
    )
)]
pub mod browse;
pub mod build;
pub mod eval;
pub mod gsm8k;
pub mod label;
pub mod report;
#[cfg(feature = "serve")]
pub mod view;
