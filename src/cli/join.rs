//! `--join`: rows that lie in two files, such as the answers of a batch and its requests.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;
use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::TempDir;

use super::{Failure, OrFail, USAGE, counted_are, say};
use crate::cli::rows::INPUT;
use juror_data::{Field, Preset, each_row, is_marked_none, stands_for};

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
    /// Puts files with all in the place of `rows`, if there is something to join; they are there as long as their folder is kept. With `skip_bad` rows that cannot
    /// be joined are left out; which of two contradicting rows of --join is right, nobody knows.
    pub(super) fn join(
        &self,
        rows: &mut Vec<PathBuf>,
        skip_bad: bool,
    ) -> Result<Option<TempDir>, Failure> {
        if self.join.is_empty() {
            return Ok(None);
        }
        let mut known = Known::new();
        let (on, mut skipped) = (&self.on, skip_bad.then(Vec::new));
        each(&self.join, on, &mut None, |_, place, name, mut row| {
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
        let paths = self.write(folder.path(), rows, &known, &mut skipped)?;
        if let Some([first, others @ ..]) = skipped.as_deref() {
            let left = counted_are(others.len() + 1, "row");
            let told = format!("{left} left out, the first: {first}");
            if paths.is_empty() {
                bail_usage!("{told}");
            }
            say(&told);
        }
        if !paths.is_empty() {
            *rows = paths;
        }
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

    /// Writes the rows of each file into one of `folder`, on the lines where they were.
    fn write(
        &self,
        folder: &Path,
        rows: &[PathBuf],
        known: &Known,
        skipped: &mut Option<Vec<String>>,
    ) -> Result<Vec<PathBuf>, Failure> {
        let mut out: Option<(String, File, usize)> = None;
        let (mut paths, mut failed, on) = (Vec::new(), 0, &self.on);
        each(rows, on, skipped, |(file, line), place, name, row| {
            let Some(own) = known.get(&name) else {
                bail_usage!(
                    "{place}: no row of --join has the `{on}` {name:?}: give all files that the batch was made from"
                );
            };
            if out.as_ref().is_none_or(|(of, ..)| of != file) {
                let path = folder.join(format!("{}.jsonl", paths.len()));
                out = Some((file.to_owned(), File::create(&path).or_fail()?, 0));
                stands_for(path.clone(), file.to_owned());
                paths.push(path);
            }
            if has_failed(&row) {
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
            // Between the parts of a value there may be line breaks, in a text none.
            let whole = serde_json::to_string(&whole).or_fail()?.replace('\n', " ");
            if let Some((_, out, lines)) = &mut out {
                let blank = "\n".repeat(line.saturating_sub(*lines + 1));
                *lines += blank.len() + 1;
                out.write_all(format!("{blank}{whole}\n").as_bytes())
                    .or_fail()?;
            }
            Ok(())
        })?;
        if failed > 0 {
            let left = counted_are(failed, "row");
            say(&format!(
                "{left} left out, with an error instead of an answer"
            ));
        }
        Ok(paths)
    }
}

/// Whether a row has an error instead of an answer, as OpenAI's batches tell it: beside the response, or in it.
fn has_failed(row: &Raw) -> bool {
    let value = |key: &str| serde_json::from_str::<Value>(row.get(key)?.get()).ok();
    let response = value("response").unwrap_or_default();
    value("error").is_some_and(|error| !error.is_null())
        || !response["body"]["error"].is_null()
        || response["status_code"]
            .as_u64()
            .is_some_and(|code| code >= 300)
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

/// Hands each row of files to `take`, with where it is (file and line, and as text) and what it has under the key `on`. Where the rows are at fault that are
/// skipped, says why in `skipped`.
fn each(
    files: &[PathBuf],
    on: &str,
    skipped: &mut Option<Vec<String>>,
    mut take: impl FnMut((&str, usize), &str, String, Raw) -> Result<(), Failure>,
) -> Result<(), Failure> {
    each_row(files, |file, reader, row| {
        let line = reader.place();
        let place = format!("{file}:{line}");
        let row = row.map_err(anyhow::Error::msg);
        let row = row.and_then(|row| Ok(serde_json::from_slice(&row)?));
        let row = row.with_context(|| place.clone()).or_usage();
        let taken = row.and_then(|row| {
            let name = name(&place, &row, on)?;
            take((file, line), &place, name, row)
        });
        match (taken, skipped.as_mut()) {
            (Err(failure), Some(skipped)) if failure.code == USAGE => {
                skipped.push(format!("{:#}", failure.error));
                Ok(())
            }
            (taken, _) => taken,
        }
    })
}

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
