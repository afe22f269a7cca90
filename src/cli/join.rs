//! `--join`: rows that lie in two files, such as the answers of a batch and its requests.

use std::collections::HashMap;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;
use serde_json::{Map, Value};
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

impl JoinArguments {
    /// Puts a file with all in the place of `rows`, if there are such files; it is there as long as its folder is kept.
    pub(super) fn join(&self, rows: &mut Vec<PathBuf>) -> Result<Option<TempDir>, Failure> {
        if self.join.is_empty() {
            return Ok(None);
        }
        let mut known: HashMap<String, Map<String, Value>> = HashMap::new();
        each(&self.join, &self.on, |_, name, mut row| {
            let body = row.get("body").or(row.get("params"));
            let asked =
                ["messages", "prompt", "input"].map(|key| body.and_then(|body| body.get(key)));
            let asked = asked.into_iter().flatten().next().cloned();
            row.retain(|key, _| !OF_THE_REQUEST.contains(&key.as_str()));
            row.extend(asked.map(|asked| ("question".to_owned(), asked)));
            known.entry(name).or_default().extend(row);
            Ok(())
        })?;
        let folder = tempfile::tempdir().or_fail()?;
        let first = rows.first().and_then(|path| path.file_name());
        // Messages name it as the user does; it is no longer compressed.
        let name_of_file = first.unwrap_or_default().to_string_lossy().into_owned();
        let path = folder.path().join(format!("{name_of_file}.jsonl"));
        write(&path, rows, &known, &self.on)?;
        *rows = vec![path];
        Ok(Some(folder))
    }
}

fn write(
    path: &Path,
    rows: &[PathBuf],
    known: &HashMap<String, Map<String, Value>>,
    on: &str,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::fs::File::create(path).or_fail()?);
    let mut failed = 0;
    each(rows, on, |place, name, row| {
        let Some(own) = known.get(&name) else {
            bail_usage!(
                "{place}: no row of --join has the `{on}` {name:?}: give all files that the batch was made from"
            );
        };
        if row.get("error").is_some_and(|error| !error.is_null()) {
            failed += 1;
            return Ok(());
        }
        let mut whole = own.clone();
        whole.extend(row);
        writeln!(out, "{}", Value::Object(whole)).or_fail()
    })?;
    if failed > 0 {
        say(&format!(
            "{} left out, with an error instead of an answer",
            counted_are(failed, "row")
        ));
    }
    out.flush().or_fail()
}

/// Hands each row of files to `take`, with where it is and what it has under the key `on`.
fn each(
    files: &[PathBuf],
    on: &str,
    mut take: impl FnMut(&str, String, Map<String, Value>) -> Result<(), Failure>,
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
fn name(place: &str, row: &Map<String, Value>, on: &str) -> Result<String, Failure> {
    match row.get(on) {
        Some(Value::String(name)) => Ok(name.clone()),
        Some(name @ Value::Number(_)) => Ok(name.to_string()),
        _ => Err(anyhow!(
            "{place}: the row has no text or number under `{on}`, by which it is joined: name the key with --on"
        ))
        .or_usage(),
    }
}
