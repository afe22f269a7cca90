//! How a file shows that an earlier run of the same kind wrote it, which its name alone never does.

use std::path::PathBuf;

/// How a file tells that a run of the same kind wrote it.
///
/// | the file | tells by |
/// |---|---|
/// | verdicts and answers, which a run goes on with | the journal beside it |
/// | reports in JSON, and lines of one shape | values that every row has, or the one object that the file is |
/// | pages and pictures | how it begins |
/// | rows of several runs' verdicts, rows to train on | nothing: people change and join such files |
#[derive(Debug, Clone)]
pub enum Mark {
    /// A journal beside this output: of the run itself, or of one of its judges.
    Journal(PathBuf),
    /// JSON pointers to values of every row, with `, ` between them; after `=` comes what the text there begins with.
    Values(&'static str),
    Beginning(String),
    /// The caller checks the whole file itself, continues it and replaces nothing.
    Checked,
    Nothing,
}

impl Mark {
    /// `juror judge --summary-json`, also of `batch import` and `merge`.
    pub const SUMMARY: Self = Self::Values("/schema, /juror, /by_status, /lucky_guesses, /resumed");
    pub const CONSENSUS: Self =
        Self::Values("/id, /trials, /ok, /process_votes, /outcome_votes, /overall_votes");
    pub const HARD: Self =
        Self::Values("/id, /question, /reference_answer, /response, /c, /trials");
    /// Lines set aside (`--skip-bad`).
    pub const REJECTED: Self = Self::Values("/file, /line, /reason, /text");
    pub const BATCH: Self = Self::Values("/custom_id=juror-, /method, /url, /body");
    pub const VERIFY: Self = Self::Values("/index, /equal, /profile");
    pub const EVAL: Self = Self::Values("/version, /judges/0/without_label, /resamples");
    pub const EVAL_ROWS: Self =
        Self::Values("/id, /trial, /line, /status, /label/overall, /verdict/overall, /misses");
    pub const CALIBRATION: Self = Self::Values("/fitted_by=juror calibrate");
    pub const CORRELATE: Self =
        Self::Values("/version, /fits/0/slope, /fits/0/r_squared, /fits/0/x");
    pub const GSM8K: Self = Self::Values(
        "/version, /files, /unknown_questions, /responses_per_question, /test_sets, /methods",
    );
    pub const GSM8K_ROWS: Self =
        Self::Values("/id, /question, /response, /references, /methods/strict-match/extracted");
    pub const BUILD: Self = Self::Values("/version, /coverage/without_verdict, /written/rows");
    pub const ATTACK: Self = Self::Values(
        "/schema_version, /juror, /constrained, /questions, /protocols/0/not_applicable",
    );
    pub const ATTACK_ROWS: Self = Self::Values("/made_by=juror attack, /attack");
    pub const BENCH: Self =
        Self::Values("/schema_version, /juror, /load_seconds, /num_prompts, /workload_text");
}
