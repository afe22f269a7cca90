//! Worked examples for few-shot prompts.
//!
//! The built-in ones (`exemplars.jsonl`) are made up for this project and not from GSM8K. The standard ones, rows of GSM8K's
//! training set, are read from a file.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::{EvalError, Result};
use juror_data::{ColumnMap, Keep, LoadOptions, Needs, load};

/// The examples of this project, one JSON object a line.
const BUILT_IN: &str = include_str!("exemplars.jsonl");

/// The texts before a solution's answer, in GSM8K's form and in that of a chain of thought.
const MARK: &str = "####";
const PHRASE: &str = "The answer is ";

/// Keys under which files have a solution: GSM8K's, and that of lm-evaluation-harness' chains of thought.
const SOLUTION: [&str; 2] = ["answer", "target"];

/// A question with a worked solution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemplar {
    pub(crate) question: String,
    written: String,
    /// The solution's steps, without the answer.
    steps: String,
    answer: String,
}

#[derive(Deserialize)]
struct Row {
    question: String,
    answer: String,
}

impl Exemplar {
    /// A question with a solution that ends in `#### n`, or in `The answer is n.`
    pub(crate) fn new(question: &str, solution: &str) -> Result<Self, String> {
        let written = solution.trim();
        let (steps, answer) = match written.rsplit_once(MARK) {
            Some(parts) => parts,
            None => written.rsplit_once(PHRASE).ok_or_else(|| {
                format!("the solution ends neither in `{MARK} n` nor in `{PHRASE}n.`")
            })?,
        };
        let answer = answer.trim().trim_end_matches('.');
        if !answer.contains(|character: char| character.is_ascii_digit()) {
            return Err(format!("the solution's answer {answer:?} is no number"));
        }
        Ok(Self {
            question: question.trim().to_owned(),
            written: written.to_owned(),
            steps: steps.trim_end().to_owned(),
            answer: answer.to_owned(),
        })
    }

    /// The solution in GSM8K's form: one step per line, then `#### n`. A solution written like that is unchanged.
    pub(crate) fn marked(&self) -> String {
        if self.written.contains(MARK) {
            self.written.clone()
        } else {
            format!("{}\n{MARK} {}", self.steps, self.answer)
        }
    }

    /// The solution as a chain of thought: one paragraph, ending in `The answer is n.` A solution written like that is unchanged.
    pub(crate) fn chain_of_thought(&self) -> String {
        if !self.written.contains(MARK) {
            return self.written.clone();
        }
        let steps: Vec<&str> = self.steps.lines().map(str::trim).collect();
        let steps = steps.join(" ");
        format!("{} {PHRASE}{}.", steps.trim(), self.answer)
    }

    /// The examples of this project.
    pub fn built_in() -> Result<Vec<Self>> {
        let rows = BUILT_IN.lines().map(|line| {
            let row: Row = serde_json::from_str(line).map_err(|error| error.to_string())?;
            Self::new(&row.question, &row.answer)
        });
        rows.collect::<Result<_, String>>()
            .map_err(|why| EvalError::Unusable(format!("the built-in exemplars: {why}")))
    }

    /// The first `count` rows of a file with a `question` and an `answer` (or `target`) that is a worked solution.
    /// Errors: when the file cannot be read, has too few rows, or one of them has no worked solution.
    pub fn read(path: &Path, count: usize) -> Result<Vec<Self>> {
        let wrong = |why: String| EvalError::Unusable(format!("{}: {why}", path.display()));
        let options = LoadOptions {
            columns: ColumnMap::default().with_needs(Needs {
                question: true,
                ..Needs::nothing()
            }),
            keep: Keep::parse(SOLUTION).where_there(),
            limit: Some(count),
            ..LoadOptions::default()
        };
        let rows = load(&[PathBuf::from(path)], &options)?.samples;
        if rows.len() < count {
            let why = format!(
                "{count} exemplars are wanted, and it has {} rows: give a file with more",
                rows.len()
            );
            return Err(wrong(why));
        }
        let read = rows.iter().map(|row| {
            let solution = SOLUTION.iter().find_map(|key| row.kept.get(*key));
            let solution = solution.and_then(Value::as_str);
            let exemplar = solution
                .ok_or_else(|| "it has no text under `answer` or `target`".to_owned())
                .and_then(|solution| Self::new(&row.question, solution));
            exemplar.map_err(|why| wrong(format!("row {}: {why}", row.index + 1)))
        });
        read.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_ones_are_ten_worked_solutions() {
        let exemplars = Exemplar::built_in().unwrap();
        assert_eq!(exemplars.len(), 10);
        for exemplar in &exemplars {
            assert!(exemplar.question.ends_with('?'), "{exemplar:?}");
            assert!(
                exemplar
                    .marked()
                    .ends_with(&format!("\n#### {}", exemplar.answer))
            );
            let chain = exemplar.chain_of_thought();
            assert!(chain.ends_with(&format!(". The answer is {}.", exemplar.answer)));
            assert!(!chain.contains('\n') && !chain.contains('#'), "{chain}");
            // The last step states the answer.
            let last = exemplar.steps.lines().last().unwrap();
            assert!(last.contains(&exemplar.answer), "{last}");
        }
    }

    #[test]
    fn either_form_becomes_the_other_and_its_own_stays() {
        let solution = "2 + 3 = <<2+3=5>>5.\nTwice that is 10.\n#### 10";
        let exemplar = Exemplar::new("q", solution).unwrap();
        assert_eq!(exemplar.marked(), solution);
        assert_eq!(
            exemplar.chain_of_thought(),
            "2 + 3 = <<2+3=5>>5. Twice that is 10. The answer is 10."
        );
        let chain = "2 + 3 = 5. The answer is 5.";
        let exemplar = Exemplar::new("q", chain).unwrap();
        assert_eq!(exemplar.chain_of_thought(), chain);
        assert_eq!(exemplar.marked(), "2 + 3 = 5.\n#### 5");
        for solution in ["", "5", "2 + 3 = 5. #### five", "The answer is ."] {
            assert!(Exemplar::new("q", solution).is_err(), "{solution}");
        }
    }
}
