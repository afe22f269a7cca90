//! The files that a command may write: none is an input, none is written twice, and none existed before, unless an earlier run of the same kind wrote it.

use std::fs;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::mark::Mark;
use super::{OutputError, check_place, folder_of, has_place_beside, write_atomically};
use crate::file_number;
use crate::input::{LineLimit, Next, Source, is_rows_file};
use crate::journal::journal_path;

/// The outputs of one command. Every file that juror writes for a user is opened here before anything is done, so that the same rules apply to all of them.
#[derive(Debug, Default)]
pub struct Outputs {
    inputs: Vec<PathBuf>,
    /// Folders of models: what is in them is read, but not as rows.
    models: Vec<PathBuf>,
    taken: Vec<PathBuf>,
    force: bool,
}

#[derive(Debug, Clone)]
pub struct OutputFile {
    path: PathBuf,
    mark: Mark,
    force: bool,
    quotes_formulas: bool,
}

impl Outputs {
    /// The outputs of a command that reads `inputs`, files or folders, and the models in the folders `models`, where new files may be written, but none
    /// of theirs is replaced. With `force` it replaces any existing file, but never an input.
    pub fn new(mut inputs: Vec<PathBuf>, models: Vec<PathBuf>, force: bool) -> Self {
        inputs.retain(|input| input.as_os_str() != "-");
        Self {
            inputs,
            models,
            force,
            ..Self::default()
        }
    }

    /// Takes a file to be written, which an earlier run of the same kind may have written, as `mark` tells.
    /// Errors: when it cannot be written, is an input, is another output too, or belongs to somebody else.
    pub fn open(&mut self, path: &Path, mark: Mark) -> Result<OutputFile, OutputError> {
        let owned = || path.to_owned();
        if path.as_os_str() == "-" {
            return Err(OutputError::Dash);
        }
        check_place(path)?;
        // Where a folder is read as input, files with a journal beside them are skipped.
        let is_passed_over =
            matches!(mark, Mark::Journal(_)) && (is_empty(path) || journal_path(path).exists());
        let is_row_file = is_rows_file(&path.to_string_lossy()) && !is_passed_over;
        let is_read = |input: &PathBuf| {
            is_same_file(input, path) || is_row_file && input.is_dir() && lies_in(path, input)
        };
        let is_of_model = |model: &PathBuf| lies_in(path, model);
        let is_models = !is_empty(path) && self.models.iter().any(is_of_model) && !mark.is_on(path);
        if is_models || self.inputs.iter().any(is_read) {
            return Err(OutputError::Input { path: owned() });
        }
        if self.taken.iter().any(|other| is_same_file(other, path)) {
            return Err(OutputError::Twice { path: owned() });
        }
        let file = OutputFile {
            path: owned(),
            mark,
            force: self.force,
            quotes_formulas: false,
        };
        file.check()?;
        self.taken.push(owned());
        if matches!(file.mark, Mark::Journal(_)) {
            self.taken.push(journal_path(path));
        }
        Ok(file)
    }
}

impl OutputFile {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same file, but in CSV each text that a spreadsheet would take for a formula begins with `'`, if `quotes`.
    #[must_use]
    pub fn quoting_formulas(mut self, quotes: bool) -> Self {
        self.quotes_formulas = quotes;
        self
    }

    pub(super) fn quotes_formulas(&self) -> bool {
        self.quotes_formulas
    }

    /// Lets `fill` write the whole file, by atomic rename if it can be replaced as a whole. A file that somebody made since it was opened is not replaced.
    /// Errors: when `fill` or any step of writing fails; a file that was to be replaced is then unchanged.
    pub fn write(
        &self,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        self.check()?;
        if let Mark::Journal(of) = &self.mark
            && *of != self.path
            && has_place_beside(&self.path)
        {
            // So it is known as this run's own from the first: a journal without a line is one that nothing was judged for yet.
            let begun = fs::File::options()
                .append(true)
                .create(true)
                .open(journal_path(of));
            begun.map_err(|source| OutputError::Write {
                path: journal_path(of),
                source,
            })?;
        }
        write_atomically(&self.path, fill)
    }

    /// Refuses to replace a file that no run of this kind wrote. An empty file may always be replaced.
    fn check(&self) -> Result<(), OutputError> {
        let path = &self.path;
        if self.force || !has_place_beside(path) || is_empty(path) || self.mark.is_on(path) {
            return Ok(());
        }
        Err(OutputError::Exists { path: path.clone() })
    }
}

impl Mark {
    fn is_on(&self, path: &Path) -> bool {
        match self {
            Self::Journal(of) => journal_path(of).exists(),
            Self::Values(wanted) => all_rows_have(path, wanted),
            Self::Beginning(text) => begins_with(path, text.as_bytes()),
            Self::Checked => true,
            Self::Nothing => false,
        }
    }
}

/// Whether every row of a file, or the one object that it is, has these values.
fn all_rows_have(path: &Path, wanted: &str) -> bool {
    let has = |row: &Value, wanted: &str| {
        let (pointer, beginning) = wanted.split_once('=').unwrap_or((wanted, ""));
        let text = row.pointer(pointer).map(|it| it.as_str().unwrap_or(""));
        text.is_some_and(|text| text.starts_with(beginning))
    };
    let source = Source::File(path.to_owned());
    let Ok(mut rows) = source.open(LineLimit::DEFAULT, None, &[]) else {
        return false;
    };
    let (mut row, mut count) = (Vec::new(), 0);
    loop {
        match rows.next(&mut row) {
            Ok(Next::End) => return count > 0,
            Ok(Next::Row) => {
                let value: Value = serde_json::from_slice(&row).unwrap_or_default();
                if !wanted.split(", ").all(|wanted| has(&value, wanted)) {
                    return false;
                }
                count += 1;
            }
            Ok(Next::Bad(_)) | Err(_) => return false,
        }
    }
}

/// Whether nothing could be lost: there is no regular file with content.
fn is_empty(path: &Path) -> bool {
    !fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0)
}

fn begins_with(path: &Path, text: &[u8]) -> bool {
    let mut beginning = Vec::new();
    let read = fs::File::open(path)
        .and_then(|file| file.take(text.len() as u64).read_to_end(&mut beginning));
    read.is_ok() && beginning == text
}

/// The canonical place of a path, whether the file exists or not.
fn place_of(path: &Path) -> Option<PathBuf> {
    let place = |path: &Path| {
        let name = path.file_name()?;
        fs::canonicalize(path)
            .or_else(|_| Ok::<_, io::Error>(fs::canonicalize(folder_of(path))?.join(name)))
            .ok()
    };
    // A link to a file that does not exist yet.
    match fs::read_link(path) {
        Ok(end) if !path.exists() => place(&folder_of(path).join(end)),
        _ => place(path),
    }
}

/// Whether both are names of one file, whether it exists or not.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let same_number = file_number(a).is_some_and(|number| file_number(b) == Some(number));
    same_number || place_of(a).is_some_and(|here| place_of(b) == Some(here))
}

fn lies_in(path: &Path, folder: &Path) -> bool {
    let both = place_of(path).zip(fs::canonicalize(folder).ok());
    both.is_some_and(|(path, folder)| path.starts_with(folder))
}
