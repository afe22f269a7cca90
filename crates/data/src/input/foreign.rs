//! Files that hold no rows as they are read here, told by how they begin.

use super::bytes::without_mark;
use crate::DatasetError;

/// What a file begins with, what it is, and what to do.
type Kind = (&'static [u8], &'static str, &'static str);

const AS_CSV: &str = "save its table as CSV";
const AS_PARQUET: &str =
    "write it as Parquet, as with `polars.read_ipc(FILE).write_parquet(NEW)` in Python";
const AS_ROWS: &str = "write its rows as JSON lines, CSV or Parquet";
const FETCH: &str = "fetch the file itself";

/// What a stream of Arrow begins with.
pub(super) const STREAM: &[u8] = b"\xff\xff\xff\xff";

const KINDS: [Kind; 18] = [
    (b"%PDF", "a PDF", "copy its table into a CSV file"),
    (
        b"\xd0\xcf\x11\xe0",
        "an Office document (.xls, .doc)",
        AS_CSV,
    ),
    (b"ARROW1", "an Arrow file (.arrow, .feather)", AS_PARQUET),
    (b"FEA1", "a Feather file", AS_PARQUET),
    (
        STREAM,
        "a stream of Arrow, as `datasets` saves it",
        "write it as Parquet, as with `datasets.load_from_disk(FOLDER).to_parquet(NEW)` in Python",
    ),
    (b"ORC", "an ORC file", AS_ROWS),
    (b"Obj\x01", "an Avro file", AS_ROWS),
    (b"SQLite format 3\0", "an SQLite database", AS_ROWS),
    (b"\x89HDF", "an HDF5 file", AS_ROWS),
    (b"\x93NUMPY", "an array of NumPy", AS_ROWS),
    (b"\x80\x02", "a pickle of Python", AS_ROWS),
    (b"\x80\x03", "a pickle of Python", AS_ROWS),
    (b"\x80\x04", "a pickle of Python", AS_ROWS),
    (b"\x80\x05", "a pickle of Python", AS_ROWS),
    (
        b"GGUF",
        "a model (GGUF)",
        "name a file of rows, and the model with `--model`",
    ),
    (
        b"version https://git-lfs",
        "a pointer of Git LFS in place of a file",
        "fetch the file, as with `git lfs pull`",
    ),
    (b"<!doctype html", "a web page", FETCH),
    (b"<html", "a web page", FETCH),
];

/// UTF-16, with the mark that Windows writes or without it.
const UTF_16: [&[u8]; 6] = [b"\xff\xfe", b"\xfe\xff", b"{\0", b"[\0", b"\0{", b"\0["];

/// The error for a file that begins so, if it holds no rows.
pub(super) fn check(file: &str, head: &[u8]) -> Result<(), DatasetError> {
    let begins = |with: &&[u8]| {
        let text = without_mark(head);
        [head, text].iter().any(|head| {
            head.split_at_checked(with.len())
                .is_some_and(|(beginning, rest)| is_beginning(beginning, with, rest))
        })
    };
    let found = if let Some((_, found, advice)) = KINDS.iter().find(|(with, ..)| begins(with)) {
        (*found, *advice)
    } else if UTF_16.iter().any(begins) {
        (
            "UTF-16",
            "convert it, as with `iconv -f UTF-16 -t UTF-8 FILE >NEW`",
        )
    } else if is_python(head) {
        (
            "written as Python shows objects (single quotes)",
            "write JSON, as with `json.dumps(row)` in place of `str(row)`",
        )
    } else {
        return Ok(());
    };
    Err(DatasetError::Format {
        file: file.to_owned(),
        found: found.0,
        advice: found.1,
    })
}

/// Whether a file that begins so, and goes on with `rest`, is of the kind that begins `with` this.
fn is_beginning(beginning: &[u8], with: &[u8], rest: &[u8]) -> bool {
    if with.starts_with(b"<") {
        return beginning.eq_ignore_ascii_case(with);
    }
    // Letters and digits may as well be the first column of a header.
    let is_word = with.iter().all(u8::is_ascii_alphanumeric);
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    beginning == with && !(is_word && rest.iter().take(8).all(is_text))
}

/// Whether the first object's first key is in single quotes, as no JSON has it.
fn is_python(head: &[u8]) -> bool {
    let head = without_mark(head);
    let object = head.strip_prefix(b"[").unwrap_or(head).trim_ascii_start();
    let within = object.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    within.is_some_and(|within| within.starts_with(b"'"))
}

#[cfg(test)]
mod tests;
