//! Inputs: data sets of the hub among them, and the errors of input files, for every command that reads rows.

use std::path::{Path, PathBuf};

use super::download::Download;
use super::{Failure, say};
use juror_data::{DatasetError, is_rows_file};
use juror_hub::{DataSetName, Hub, HubError};

/// An input's error with its exit code: a full disk is not the user's mistake.
pub(super) fn failure(error: DatasetError) -> Failure {
    let usage = error.is_usage();
    Failure::new(error, usage)
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
    pub(super) fn of(inputs: &[PathBuf]) -> Result<Self, Failure> {
        let mut fetched = Self::default();
        for input in inputs {
            let Some(name) = data_set(input).map_err(hub_failure)? else {
                fetched.paths.push(input.clone());
                continue;
            };
            let download = Download::new(&name.to_string());
            let hub = Hub::from_environment().map_err(hub_failure)?;
            let found = hub.data_set(&name, &|event| download.watch(event));
            download.finish();
            let found = found.map_err(hub_failure)?;
            let converted = if found.converted {
                ", as the hub converted it to Parquet"
            } else {
                ""
            };
            say(&format!("data set: {}{converted}", found.origin));
            fetched.paths.extend(found.files);
            fetched.origins.push(found.origin);
        }
        Ok(fetched)
    }
}

fn hub_failure(error: HubError) -> Failure {
    let usage = error.is_usage();
    Failure::new(error, usage)
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
