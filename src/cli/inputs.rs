//! Errors of input files, for every command that reads rows.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::{Failure, OrFail};
use crate::checkpoint::hub::HubId;
use crate::dataset::DatasetError;

/// An input's error with its exit code: a full disk is not the user's mistake.
pub(super) fn failure(error: DatasetError) -> Failure {
    let usage = error.is_usage();
    Failure::new(error, usage)
}

/// Refuses the id or address of a data set on the hub where a file is wanted, with how to get its files.
pub(super) fn refuse_data_sets(inputs: &[PathBuf]) -> Result<(), Failure> {
    for input in inputs {
        if let Some(id) = data_set(input) {
            return Err(anyhow!(
                "could not read {}: no such file or folder, and data sets on the Hugging Face hub are not fetched. Download it \
                 (`hf download --repo-type dataset {id} --local-dir data`) and give a file of it; beside question and reference \
                 answer every row needs the response that is to be judged",
                input.display()
            ))
            .or_usage();
        }
    }
    Ok(())
}

/// The id of a data set, where a path that leads nowhere looks like one: `org/name` without an ending, `hf://datasets/…`, or
/// an address of the hub.
fn data_set(input: &Path) -> Option<String> {
    let text = input.to_str()?;
    let of_address = ["hf://datasets/", "https://huggingface.co/datasets/"]
        .iter()
        .find_map(|beginning| text.strip_prefix(beginning));
    let id = of_address.unwrap_or(text.strip_prefix("datasets/").unwrap_or(text));
    let id: String = if of_address.is_some() {
        let mut parts = id.splitn(3, '/');
        [parts.next()?, parts.next()?].join("/")
    } else {
        id.to_owned()
    };
    let first = input.components().next()?;
    let mistyped = input.exists() || Path::new(&first).is_dir() || input.extension().is_some();
    if of_address.is_none() && mistyped {
        return None;
    }
    HubId::parse(&id).ok()?.map(|id| id.repository().to_owned())
}
