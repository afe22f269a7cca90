//! A JSON object that holds a list of rows among other things, as a log of Inspect or a report of promptfoo does.

/// The keys at the top level of the first object of which `head` is the beginning; and those of objects in a list there, as `list.*.key`.
pub(super) fn top_keys(head: &[u8]) -> Vec<String> {
    let mut scanner = Scanner::default();
    let mut keys = Vec::new();
    let mut top = String::new();
    for &byte in head {
        match scanner.step(byte) {
            Some(1) => {
                top = scanner.key();
                keys.push(top.clone());
            }
            Some(3) => keys.push(format!("{top}.*.{}", scanner.key())),
            _ => {}
        }
        if scanner.depth == 0 && byte == b'}' {
            break;
        }
    }
    keys
}

/// Whether an object whose beginning this is holds objects that are numbered by their keys, from 0.
pub(super) fn is_numbered(head: &[u8]) -> bool {
    let parts: [&[u8]; 4] = [b"{", b"\"0\"", b":", b"{"];
    let rest = parts.iter().try_fold(head, |head, part| {
        head.trim_ascii_start().strip_prefix(*part)
    });
    rest.is_some()
}

/// Follows the structure of JSON byte by byte: how deep it is, and which keys it has.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    pub(super) depth: usize,
    pub(super) in_string: bool,
    escaped: bool,
    /// The bytes of the last string, as far as a key may be long.
    string: Vec<u8>,
}

/// Longer keys than this are nobody's.
const LONGEST: usize = 256;

impl Scanner {
    /// Takes a byte; the depth of the object whose key has just been read, if this is the colon after a key.
    pub(super) fn step(&mut self, byte: u8) -> Option<usize> {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            if self.in_string && self.string.len() < LONGEST {
                self.string.push(byte);
            }
            return None;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.string.clear();
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' => return Some(self.depth),
            _ => {}
        }
        None
    }

    /// The key before the last colon, as it is written.
    pub(super) fn key(&self) -> String {
        String::from_utf8_lossy(&self.string).into_owned()
    }
}
