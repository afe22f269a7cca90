//! The format of an output, by its name.

use std::io::{self, Write};
use std::path::Path;

use super::table::{self, Column};
use super::{OutputError, OutputFile, has_place_beside};
use crate::spool::temporary;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// One JSON object a line.
    #[default]
    JsonLines,
    /// Comma-separated values with a header.
    Csv,
    /// Parquet, compressed with Snappy.
    Parquet,
}

impl OutputFormat {
    /// The format by the extension of a file's name: `.csv`, `.parquet`, and `.jsonl`, `.ndjson` or none for JSON lines.
    /// What is not a file in a folder (`/dev/stdout`, a pipe) gets JSON lines.
    pub fn from_path(out: &Path) -> Result<Self, OutputError> {
        if !has_place_beside(out) {
            return Ok(Self::JsonLines);
        }
        let extension = out.extension().map(|extension| extension.to_string_lossy());
        let extension = extension.map(|extension| extension.to_lowercase());
        match extension.as_deref() {
            None | Some("jsonl" | "ndjson") => Ok(Self::JsonLines),
            Some("csv") => Ok(Self::Csv),
            Some("parquet") => Ok(Self::Parquet),
            Some(_) => Err(OutputError::Name {
                path: out.to_owned(),
            }),
        }
    }

    /// Lets `fill` write verdict lines, and writes them to `file` in this format, as [`OutputFile::write`] does. `keep`
    /// names the keys of the input that are kept in the lines.
    pub fn write(
        self,
        file: &OutputFile,
        keep: &[String],
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        self.write_table(file, &table::columns(keep), fill)
    }

    /// As [`Self::write`], for lines with these columns.
    pub fn write_table(
        self,
        file: &OutputFile,
        columns: &[Column],
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        file.write(|writer| match self {
            Self::JsonLines => fill(writer),
            Self::Csv => table::write_csv(writer, columns, file.quotes_formulas(), fill),
            Self::Parquet => {
                let temporary = || temporary(Some(file.path()));
                table::write_parquet(writer, &temporary, columns, fill)
            }
        })
    }
}
