//! Temporary files.

use std::fs::File;
use std::io;
use std::path::Path;

use super::output::{folder_of, has_place_beside};

/// An unnamed temporary file, beside `output` if possible: the system's folder for these may be a memory disk.
pub(super) fn temporary(output: Option<&Path>) -> io::Result<File> {
    let output = output.filter(|output| has_place_beside(output));
    let beside = output.and_then(|output| tempfile::tempfile_in(folder_of(output)).ok());
    beside.map_or_else(tempfile::tempfile, Ok)
}
