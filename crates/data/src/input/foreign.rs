//! Files that hold no rows as they are read here, told by how they begin.

use super::bytes::without_mark;
use crate::DatasetError;

/// What files begin with (`\xNN`: a byte), what they are, and what to do.
const KINDS: &str = include_str!("foreign.tsv");

/// What a stream of Arrow begins with.
pub(super) const STREAM: &[u8] = b"\xff\xff\xff\xff";

/// The error for a file that begins so, if it holds no rows.
pub(super) fn check(file: &str, head: &[u8]) -> Result<(), DatasetError> {
    let begins = |with: &&[u8]| {
        let text = without_mark(head);
        [head, text].iter().any(|head| {
            head.split_at_checked(with.len())
                .is_some_and(|(beginning, rest)| is_beginning(beginning, with, rest))
        })
    };
    let mut kinds = KINDS.lines().filter_map(|line| line.split_once('\t'));
    let kind = kinds.find(|(with, _)| begins(&&*beginning(with)));
    let found = if let Some(found) = kind.and_then(|(_, kind)| kind.split_once('\t')) {
        found
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

/// The bytes of a beginning, as the table has them.
fn beginning(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for (hex, rest) in parts.filter_map(|part| part.split_at_checked(2)) {
        bytes.extend(u8::from_str_radix(hex, 16));
        bytes.extend(rest.as_bytes());
    }
    bytes
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
