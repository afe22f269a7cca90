//! `--join`: rows that lie in two files, such as the answers of a batch and its requests.

use std::collections::HashMap;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use serde_json::{Map, Value};
use tempfile::TempDir;

use super::super::{Failure, OrFail, counted_are, say};
use juror_data::each_row;

/// Keys of a batch's request that say nothing of the sample.
const OF_THE_REQUEST: [&str; 3] = ["method", "url", "body"];

/// A row, and where it is.
type Row = (String, Map<String, Value>);

/// The rows of `rows`, each with what `files` say under the same value of the key `on`, in a file of this folder.
pub(super) fn joined(
    rows: &[PathBuf],
    files: &[PathBuf],
    on: &str,
) -> Result<(TempDir, PathBuf), Failure> {
    let mut known: HashMap<String, Map<String, Value>> = HashMap::new();
    for (place, mut row) in read(files)? {
        let name = name(&place, &row, on)?;
        let body = row.get("body");
        let asked = ["messages", "prompt", "input"].map(|key| body.and_then(|body| body.get(key)));
        let asked = asked.into_iter().flatten().next().cloned();
        row.retain(|key, _| !OF_THE_REQUEST.contains(&key.as_str()));
        row.extend(asked.map(|asked| ("question".to_owned(), asked)));
        known.entry(name).or_default().extend(row);
    }
    let folder = tempfile::tempdir().or_fail()?;
    let first = rows.first().and_then(|path| path.file_name());
    // Messages name it as the user does; it is no longer compressed.
    let name_of_file = first.unwrap_or_default().to_string_lossy().into_owned();
    let path = folder.path().join(format!("{name_of_file}.jsonl"));
    write(&path, rows, &known, on)?;
    Ok((folder, path))
}

fn write(
    path: &Path,
    rows: &[PathBuf],
    known: &HashMap<String, Map<String, Value>>,
    on: &str,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::fs::File::create(path).or_fail()?);
    let mut failed = 0;
    for (place, row) in read(rows)? {
        let name = name(&place, &row, on)?;
        let Some(own) = known.get(&name) else {
            bail_usage!(
                "{place}: no row of --join has the `{on}` {name:?}: give all files that the batch was made from"
            );
        };
        if row.get("error").is_some_and(|error| !error.is_null()) {
            failed += 1;
            continue;
        }
        let mut whole = own.clone();
        whole.extend(row);
        writeln!(out, "{}", Value::Object(whole)).or_fail()?;
    }
    if failed > 0 {
        say(&format!(
            "{} left out, with an error instead of an answer",
            counted_are(failed, "row")
        ));
    }
    out.flush().or_fail()
}

fn read(files: &[PathBuf]) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    each_row(files, |file, place, row| {
        let place = format!("{file}:{place}");
        let row = row.map_err(anyhow::Error::msg);
        let row = row.and_then(|row| Ok(serde_json::from_slice(row)?));
        let row = row.with_context(|| place.clone()).or_usage()?;
        rows.push((place, row));
        Ok::<(), Failure>(())
    })?;
    Ok(rows)
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
