//! The evaluation protocol of GSM8K (`juror gsm8k`): responses scored by named extraction methods, against original and audited
//! labels, and a local model as the solver.
//!
//! ```text
//! questions ─Solver─▶ requests ─batch─▶ responses ─┐
//!                                                  ├─▶ Scored ─▶ Scores by method and labels ─▶ Report
//! original and audited labels ─────────────────────┘      └────▶ rules against a judge's verdicts
//! ```
//!
//! | file | what it is for |
//! |---|---|
//! | [`method`] | the extraction methods: what each finds in a response |
//! | [`test_set`] | questions with their answers, original or audited (GSM8K-Platinum) |
//! | [`responses`] | responses by their questions, read by every method |
//! | [`statistics`] | accuracy, pass@k, maj@k |
//! | [`report`] | everything that a report has to state |
//! | [`against`] | a judge and the methods, against each other and against labels |
//! | [`exemplars`] | worked examples for few-shot prompts (`exemplars.jsonl`) |
//! | [`solver`] | prompts of the standard configurations, as requests; answers as rows |

pub mod against;
pub mod exemplars;
pub mod method;
pub mod report;
pub mod responses;
pub mod solver;
pub mod statistics;
pub mod test_set;

use std::io;

use crate::eval::EvalError;
use juror_data::DatasetError;

/// Why responses could not be scored, or questions not asked.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Gsm8kError {
    /// An input cannot be read as rows.
    #[error(transparent)]
    Input(#[from] DatasetError),
    /// Labels or verdicts cannot be read.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A file cannot be read.
    #[error("could not read {file}: {source}")]
    Read {
        file: String,
        #[source]
        source: io::Error,
    },
    /// A test set is standard input.
    #[error("{file} is no file or folder: a test set is one, since the report tells its hash")]
    NoFile { file: String },
    /// A response's own reference is missing, and no test set was given.
    #[error(
        "response {id:?} has no reference answer: give the questions with their answers, `--data test.jsonl`, or name the key with \
         `--columns reference=KEY`"
    )]
    NoReference { id: String },
    /// The responses to each question bring different references.
    #[error(
        "the rows of each question name different reference answers, as do those of {question:?}: give the questions with their \
         answers, `--data test.jsonl`"
    )]
    Disputed { question: String },
    /// No response is to a question of the test set.
    #[error(
        "none of the {responses} responses in {files} is to a question of {set}: they meet by the question's text, so the rows need the \
         question alone, without a prompt around it; name its key with `--columns question=KEY`"
    )]
    NothingMatches {
        responses: usize,
        files: String,
        set: String,
    },
    /// Exemplars that cannot be used.
    #[error("{file}: {why}")]
    Exemplars { file: String, why: String },
    /// No verdict is on a response that is scored.
    #[error(
        "none of the {verdicts} verdicts in {file} is on a response that is scored here: they meet by id, so give the file that was \
         judged, with the same `--columns`"
    )]
    NoVerdicts { file: String, verdicts: usize },
}
