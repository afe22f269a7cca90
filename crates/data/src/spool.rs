//! Temporary files.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use super::output::{folder_of, has_place_beside};

/// Bytes that are written to a temporary file as soon as there are some.
#[derive(Debug, Default)]
pub(super) struct Spool {
    file: Option<BufWriter<File>>,
    length: u64,
}

impl Spool {
    /// Adds bytes, to a file beside `output` if there is one, and returns their offset.
    pub(super) fn add(&mut self, bytes: &[u8], output: Option<&Path>) -> io::Result<u64> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::with_capacity(1 << 16, temporary(output)?)),
        };
        file.write_all(bytes)?;
        let offset = self.length;
        self.length += bytes.len() as u64;
        Ok(offset)
    }

    /// The file, if anything was added.
    pub(super) fn finish(self) -> io::Result<Option<File>> {
        let file = self.file.map(BufWriter::into_inner).transpose();
        file.map_err(io::IntoInnerError::into_error)
    }
}

/// An unnamed temporary file, beside `output` if possible: the system's folder for these may be a memory disk.
pub(super) fn temporary(output: Option<&Path>) -> io::Result<File> {
    let output = output.filter(|output| has_place_beside(output));
    let beside = output.and_then(|output| tempfile::tempfile_in(folder_of(output)).ok());
    beside.map_or_else(tempfile::tempfile, Ok)
}
