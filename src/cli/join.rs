//! `--join`: rows that lie in two files, such as the answers of a batch and its requests.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;
use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::TempDir;

use super::{Failure, OrFail, counted_are, say};
use crate::cli::rows::INPUT;
use juror_data::{Field, Preset, each_row, is_marked_none};

/// Where what is not in the rows is.
#[derive(Debug, Clone, Args)]
pub(super) struct JoinArguments {
    /// Files with the questions and references of the rows, such as the requests of a batch whose output the rows are
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = INPUT)]
    pub(super) join: Vec<PathBuf>,
    /// With --join: the key whose value says which rows belong together
    #[arg(long, value_name = "KEY", default_value = "custom_id", requires = "join", help_heading = INPUT)]
    on: String,
}

/// A row, its values as they were written: some mark cells of a table.
type Raw = BTreeMap<String, Box<RawValue>>;
/// What is known under a name, and what a request asked there.
type Known = HashMap<String, (Raw, Option<Box<RawValue>>)>;

impl JoinArguments {
    /// Puts a file with all in the place of `rows`, if there are such files; it is there as long as its folder is kept.
    pub(super) fn join(&self, rows: &mut Vec<PathBuf>) -> Result<Option<TempDir>, Failure> {
        if self.join.is_empty() {
            return Ok(None);
        }
        let mut known = Known::new();
        each(&self.join, &self.on, |place, name, mut row| {
            let body = row.get("body").or(row.get("params"));
            let body = body.and_then(|body| serde_json::from_str::<Raw>(body.get()).ok());
            let asked = ["messages", "prompt", "input"].map(|key| body.as_ref()?.get(key).cloned());
            let asked = asked.into_iter().flatten().next();
            // They say nothing of the sample.
            row.retain(|key, _| !["method", "url", "body", "params"].contains(&key.as_str()));
            let (whole, known) = known.entry(name).or_default();
            if let (Some(one), Some(other)) = (&asked, &known)
                && text(one) != text(other)
            {
                return self.refused(place, "question");
            }
            *known = asked.or(known.take());
            self.add(place, whole, row)
        })?;
        let folder = tempfile::tempdir().or_fail()?;
        let first = rows.first().and_then(|path| path.file_name());
        // Named after the first file; it is no longer compressed.
        let name = format!("{}.jsonl", first.unwrap_or_default().display());
        let path = folder.path().join(name);
        self.write(&path, rows, &known)?;
        *rows = vec![path];
        Ok(Some(folder))
    }

    /// Adds a row to what is known under its name.
    fn add(&self, place: &str, whole: &mut Raw, row: Raw) -> Result<(), Failure> {
        for (key, value) in row {
            let new = text(&value);
            if let Some(old) = whole.get(&key).and_then(|old| text(old)) {
                let is_usual = |field: &Field| Preset::is_usual(*field, &key);
                let is_of_sample = [Field::Question, Field::Reference].iter().any(is_usual);
                match new {
                    None => continue,
                    Some(new) if new != old && is_of_sample && key != self.on => {
                        return self.refused(place, &key);
                    }
                    _ => {}
                }
            }
            whole.insert(key, value);
        }
        Ok(())
    }

    /// Two rows that say another question or reference may not belong together.
    fn refused(&self, place: &str, key: &str) -> Result<(), Failure> {
        bail_usage!(
            "{place}: another row has another `{key}` for this `{}`: leave one of them out",
            self.on
        )
    }

    fn write(&self, path: &Path, rows: &[PathBuf], known: &Known) -> Result<(), Failure> {
        let mut out = BufWriter::new(std::fs::File::create(path).or_fail()?);
        let (mut failed, on) = (0, &self.on);
        each(rows, on, |place, name, row| {
            let Some(own) = known.get(&name) else {
                bail_usage!(
                    "{place}: no row of --join has the `{on}` {name:?}: give all files that the batch was made from"
                );
            };
            if row.get("error").is_some_and(|error| error.get() != "null") {
                failed += 1;
                return Ok(());
            }
            let (mut whole, asked) = own.clone();
            self.add(place, &mut whole, row)?;
            match (asked, whole.get("question").and_then(|it| text(it))) {
                (Some(asked), None) => {
                    whole.insert("question".to_owned(), asked);
                }
                (Some(asked), Some(question)) if !asks(&asked, &question) => {
                    return self.refused(place, "question");
                }
                _ => {}
            }
            let whole = serde_json::to_string(&whole).or_fail()?;
            writeln!(out, "{whole}").or_fail()
        })?;
        if failed > 0 {
            let failed = counted_are(failed, "row");
            let text = format!("{failed} left out, with an error instead of an answer");
            say(&text);
        }
        out.flush().or_fail()
    }
}

/// A value as it is compared; none of what says nothing: null, blanks, and a table's `nan` and `None`, which are marked.
fn text(value: &RawValue) -> Option<String> {
    match serde_json::from_str(value.get()).ok()? {
        _ if is_marked_none(value.get()) => None,
        Value::Null => None,
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        other => Some(other.to_string()),
    }
}

/// Whether a question is a part of what was asked.
fn asks(asked: &RawValue, question: &str) -> bool {
    let written = Value::from(question).to_string();
    let is_in =
        |asked: String| asked.contains(question) || asked.contains(written.trim_matches('"'));
    text(asked).is_some_and(is_in)
}

/// Hands each row of files to `take`, with where it is and what it has under the key `on`.
fn each(
    files: &[PathBuf],
    on: &str,
    mut take: impl FnMut(&str, String, Raw) -> Result<(), Failure>,
) -> Result<(), Failure> {
    each_row(files, |file, place, row| {
        let place = format!("{file}:{place}");
        let row = row.map_err(anyhow::Error::msg);
        let row = row.and_then(|row| Ok(serde_json::from_slice(row)?));
        let row = row.with_context(|| place.clone()).or_usage()?;
        let name = name(&place, &row, on)?;
        take(&place, name, row)
    })
}

/// What a row has under the key `on`.
fn name(place: &str, row: &Raw, on: &str) -> Result<String, Failure> {
    let value = row.get(on);
    match value.and_then(|value| serde_json::from_str(value.get()).ok()) {
        Some(Value::String(name)) => Ok(name),
        Some(name @ Value::Number(_)) => Ok(name.to_string()),
        _ => Err(anyhow!(
            "{place}: the row has no text or number under `{on}`, by which it is joined: name the key with --on"
        ))
        .or_usage(),
    }
}
