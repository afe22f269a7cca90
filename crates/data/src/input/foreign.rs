//! Files that hold no rows as they are read here, told by how they begin.

use super::bytes::{ending, without_mark};
use crate::DatasetError;

/// What files begin with (`\xNN`: a byte; `@N:`: there is more before it), or how the names of those end that are not JSON (`*.`), what they
/// are, and what to do. The first kind counts.
const KINDS: &str = include_str!("foreign.tsv");

/// What a stream of Arrow begins with.
pub(super) const STREAM: &[u8] = b"\xff\xff\xff\xff";

/// The error for a file that begins so, if it holds no rows.
pub(super) fn check(file: &str, head: &[u8]) -> Result<(), DatasetError> {
    let text = without_mark(head);
    let row = text.strip_prefix(b"[");
    let row = row.map_or(text, <[u8]>::trim_ascii_start);
    let begins = |with: &[u8]| {
        [head, text, row].iter().any(|head| {
            head.split_at_checked(with.len())
                .is_some_and(|(beginning, rest)| is_beginning(beginning, with, rest))
        })
    };
    let is_json = row.starts_with(b"{");
    let is_of = |kind: &str| match (kind.strip_prefix("*."), kind.strip_prefix('@')) {
        (Some(name), _) => ending(file, name) && !is_json,
        (_, Some(place)) => place.split_once(':').is_some_and(|(at, with)| {
            let rest = at.parse().ok().and_then(|at: usize| head.get(at..));
            rest.is_some_and(|rest| rest.starts_with(&beginning(with)))
        }),
        _ => begins(&beginning(kind)),
    };
    let mut kinds = KINDS.lines().filter_map(|line| line.split_once('\t'));
    let kind = kinds.find(|(kind, _)| is_of(kind));
    match kind.and_then(|(_, kind)| kind.split_once('\t')) {
        None => Ok(()),
        Some((found, advice)) => Err(DatasetError::Format {
            file: file.to_owned(),
            found,
            advice,
        }),
    }
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

#[cfg(test)]
mod tests;
