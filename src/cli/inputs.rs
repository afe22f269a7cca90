//! Inputs: data sets of the hub among them, and the errors of input files, for every command that reads rows.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::download::Download;
use super::{Failure, say};
use juror_data::{is_rows_file, read_text};
use juror_hub::{DataSetName, Hub, HubError};

pub(super) fn has_stdin(inputs: &[PathBuf]) -> bool {
    inputs.iter().any(|input| input.as_os_str() == "-")
}

/// Verdicts and the rows that they are on, in the order and by the names that all commands have for them.
#[derive(Debug, Args)]
pub(super) struct VerdictsAndRows {
    /// Verdicts of `juror judge`: JSON lines, CSV or Parquet
    #[arg(value_name = "VERDICTS")]
    files: Vec<PathBuf>,
    /// The rows that were judged, found by the samples' ids: files, folders of them, or data sets on the Hugging Face hub
    /// (`org/name:config:split`)
    #[arg(long, value_name = "DATA", num_args = 1..)]
    rows: Vec<PathBuf>,
    /// The order of earlier versions, in which the files are the rows
    #[arg(long, value_name = "VERDICTS", num_args = 1.., hide = true, conflicts_with = "rows")]
    verdicts: Vec<PathBuf>,
}

impl VerdictsAndRows {
    /// The files of verdicts, and the rows. `only_rows`: files without `--rows` and `--verdicts` are rows.
    pub(super) fn sides(&self, only_rows: bool) -> (&[PathBuf], &[PathBuf]) {
        if self.verdicts.is_empty() && !(only_rows && self.rows.is_empty()) {
            (&self.files, &self.rows)
        } else {
            (&self.verdicts, &self.files)
        }
    }
}

/// The text of a file that the user names.
pub(super) fn read(path: &Path) -> anyhow::Result<String> {
    read_text(path).with_context(|| format!("could not read {}", path.display()))
}

/// A path as it stands on a command line.
pub(super) fn quoted(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', "'\\''")).into()
    }
}

/// Paths as they stand on a command line.
pub(super) fn shown(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths
        .iter()
        .map(|path| quoted(&path.to_string_lossy()).into_owned())
        .collect();
    paths.join(" ")
}

/// Inputs whose data sets of the hub have been fetched.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// Files and folders as they were given; in place of a data set the files of its split.
    pub(super) paths: Vec<PathBuf>,
    /// The data sets, each as `org/name@commit:config:split`.
    pub(super) origins: Vec<String>,
}

impl Inputs {
    /// Fetches the data sets among inputs, and says which commit each is.
    pub(super) fn fetch(inputs: &[PathBuf]) -> Result<Self, Failure> {
        let mut fetched = Self::default();
        for input in inputs {
            let Some(name) = data_set(input)? else {
                fetched.paths.push(input.clone());
                continue;
            };
            let download = Download::new(&name.to_string());
            let hub = Hub::from_environment()?;
            let found = hub.data_set(&name, &|event| download.watch(event));
            download.finish();
            let found = found?;
            let of_hub = ", as the hub converted it to Parquet";
            let converted = if found.converted { of_hub } else { "" };
            say(&format!("data set: {}{converted}", found.origin));
            fetched.paths.extend(found.files);
            fetched.origins.push(found.origin);
        }
        Ok(fetched)
    }
}

/// The data set that an input names: something that is no file or folder here and has the form of a name on the hub. A name without
/// `:` or an address is one only if it does not look like a path with a mistake in it.
fn data_set(input: &Path) -> Result<Option<DataSetName>, HubError> {
    let Some(text) = input
        .to_str()
        .filter(|text| *text != "-" && !input.exists())
    else {
        return Ok(None);
    };
    let in_folder = input
        .components()
        .next()
        .is_some_and(|first| Path::new(&first).is_dir());
    let is_told = DataSetName::is_explicit(text) || text.contains(':');
    if !is_told && (in_folder || is_rows_file(text)) {
        return Ok(None);
    }
    DataSetName::parse(text)
}
