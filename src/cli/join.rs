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
use juror_data::each_row;

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

/// Keys of a batch's request that say nothing of the sample.
const OF_THE_REQUEST: [&str; 4] = ["method", "url", "body", "params"];

/// A row, its values as they were written: some mark cells of a table.
type Raw = BTreeMap<String, Box<RawValue>>;
type Known = HashMap<String, Raw>;

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
            row.retain(|key, _| !OF_THE_REQUEST.contains(&key.as_str()));
            let question = asked.filter(|_| !row.contains_key("question"));
            row.extend(question.map(|asked| ("question".to_owned(), asked)));
            self.add(place, known.entry(name).or_default(), row)
        })?;
        let folder = tempfile::tempdir().or_fail()?;
        let first = rows.first().and_then(|path| path.file_name());
        // Messages name it as the user does; it is no longer compressed.
        let name_of_file = first.unwrap_or_default().to_string_lossy().into_owned();
        let path = folder.path().join(format!("{name_of_file}.jsonl"));
        self.write(&path, rows, &known)?;
        *rows = vec![path];
        Ok(Some(folder))
    }

    /// Adds a row to what is known under its name. Two that differ in a value may not belong together.
    fn add(&self, place: &str, whole: &mut Raw, row: Raw) -> Result<(), Failure> {
        let on = &self.on;
        let json = |it: &RawValue| serde_json::from_str::<Value>(it.get()).ok();
        for (key, value) in row {
            // A question is a part of what was asked.
            let is_in = |one: &RawValue, other: &RawValue| {
                key == "question" && other.get().contains(one.get().trim_matches('"'))
            };
            if let Some(old) = whole.get(&key).filter(|it| it.get() != "null") {
                if value.get() == "null" || is_in(old, &value) {
                    continue;
                }
                let is_free = key == "id" && on != "id" || is_in(&value, old);
                if !is_free && json(old) != json(&value) {
                    bail_usage!(
                        "{place}: another row has another `{key}` for this `{on}`: leave one of them out"
                    );
                }
            }
            whole.insert(key, value);
        }
        Ok(())
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
            let mut whole = own.clone();
            self.add(place, &mut whole, row)?;
            let whole = serde_json::to_string(&whole).or_fail()?;
            writeln!(out, "{whole}").or_fail()
        })?;
        if failed > 0 {
            let failed = counted_are(failed, "row");
            say(&format!(
                "{failed} left out, with an error instead of an answer"
            ));
        }
        out.flush().or_fail()
    }
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
