//! The header of a GGUF file (<https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>): metadata and where the tensors lie.
//!
//! ```text
//! "GGUF" · version · tensors · entries · (key · type · value)… · (name · dimensions · type · offset)… · padding · data
//! ```
//!
//! The file is not trusted: every count is compared with the bytes there are before memory is
//! taken for it, every tensor lies inside the file, and none on top of another.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

mod reader;
mod storage_type;
use crate::checkpoint::tensors::MAX_TENSORS;
use reader::{Reader, fail};
pub use storage_type::StorageType;

/// The largest header that is read, in bytes. Vocabularies of 260 thousand tokens, with merges, take 12 MB.
pub(crate) const MAX_HEADER: u64 = 1 << 27;
/// Bytes of a key, by the format.
const MAX_KEY: u64 = 65_535;
/// Bytes of a tensor's name, by the format.
const MAX_NAME: u64 = 64;
/// The most keys of the metadata; files have some fifty.
const MAX_ENTRIES: u64 = 1 << 16;
/// The most characters of a text in a message.
const SHOWN: usize = 80;
/// The most values in lists, all together; vocabularies of 260 thousand tokens, with merges, scores and types, have 1.3 million.
const MAX_VALUES: u64 = 1 << 22;
/// The deepest nesting of lists; no known key has more than one level.
const MAX_DEPTH: usize = 3;
/// The alignment of tensors where the file names none, in bytes.
const ALIGNMENT: u64 = 32;

/// The message for a header that is wrong.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HeaderError(pub(crate) String);

#[derive(Debug, Clone, PartialEq)]
pub enum MetadataValue {
    Unsigned(u64),
    Signed(i64),
    /// Floating-point numbers. One of 32 bits becomes the number that its shortest decimal names, as in the original's JSON file.
    Float(f64),
    Bool(bool),
    Text(String),
    List(List),
}

#[derive(Debug, Clone, PartialEq)]
pub enum List {
    Unsigned(Vec<u64>),
    Signed(Vec<i64>),
    Float(Vec<f64>),
    Bool(Vec<bool>),
    Text(Vec<String>),
    Lists(Vec<List>),
}

/// The value as messages show it, cut to a line.
impl fmt::Display for MetadataValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(number) => number.fmt(f),
            Self::Signed(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Bool(flag) => flag.fmt(f),
            Self::Text(text) => {
                let more = if text.chars().nth(SHOWN).is_some() {
                    "…"
                } else {
                    ""
                };
                let shown: String = text.chars().take(SHOWN).collect();
                write!(f, "{shown:?}{more}")
            }
            Self::List(list) => {
                let (count, what) = match list {
                    List::Unsigned(values) => (values.len(), "numbers"),
                    List::Signed(values) => (values.len(), "numbers"),
                    List::Float(values) => (values.len(), "numbers"),
                    List::Bool(values) => (values.len(), "truth values"),
                    List::Text(values) => (values.len(), "texts"),
                    List::Lists(values) => (values.len(), "lists"),
                };
                write!(f, "a list of {count} {what}")
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct TensorInfo {
    pub kind: StorageType,
    /// Outermost dimension first; the last one is a multiple of the type's block.
    pub shape: Vec<usize>,
    /// Its place, in bytes from the beginning of the file.
    pub offset: u64,
    pub bytes: usize,
}

/// What a file holds before its data.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Header {
    pub metadata: BTreeMap<String, MetadataValue>,
    pub tensors: BTreeMap<String, TensorInfo>,
}

impl Header {
    /// Reads the header of a file of `length` bytes from its beginning.
    /// Errors: [`HeaderError`] for what is not a GGUF file, for one that is cut off, and for anything that the format does not
    /// allow.
    pub fn read(input: impl Read, length: u64) -> Result<Self, HeaderError> {
        let mut reader = Reader {
            input,
            length,
            position: 0,
            values: MAX_VALUES,
        };
        reader.magic()?;
        let tensors = reader.u64()?;
        let entries = reader.u64()?;
        let limits = [
            ("tensors", tensors, MAX_TENSORS as u64),
            ("metadata entries", entries, MAX_ENTRIES),
        ];
        for (what, count, most) in limits {
            if count > most {
                return fail(format!(
                    "it claims {count} {what}: no more than {most} are supported"
                ));
            }
        }
        // The fewest bytes of a tensor: a name's length, dimensions, a type, an offset; and of an entry: a key's length, a type, a byte.
        reader.room("tensors", tensors, 8 + 4 + 8 + 4 + 8)?;
        reader.room("metadata entries", entries, 8 + 4 + 1)?;
        let mut header = Self::default();
        for _ in 0..entries {
            let key = reader.text("a metadata key", MAX_KEY)?;
            let kind = reader.u32()?;
            let value = reader.value(&key, kind)?;
            if header.metadata.insert(key.clone(), value).is_some() {
                return fail(format!("metadata key {key} is there twice"));
            }
        }
        for _ in 0..tensors {
            let name = reader.text("a tensor's name", MAX_NAME)?;
            let info = reader.tensor(&name)?;
            if header.tensors.insert(name.clone(), info).is_some() {
                return fail(format!("tensor {name} is there twice"));
            }
        }
        header.place(reader.position, length)?;
        Ok(header)
    }

    /// Makes offsets relative to the beginning of the file, and checks that tensors lie inside it and do not overlap.
    fn place(&mut self, end: u64, length: u64) -> Result<(), HeaderError> {
        let alignment = match self.metadata.get("general.alignment") {
            None => ALIGNMENT,
            Some(MetadataValue::Unsigned(alignment))
                if alignment.is_power_of_two() && *alignment <= 1 << 20 =>
            {
                *alignment
            }
            Some(other) => {
                return fail(format!(
                    "general.alignment is {other}, not a power of two up to {}",
                    1 << 20
                ));
            }
        };
        // Both are below the header's limits: no sum overflows.
        let data = end.next_multiple_of(alignment);
        let mut places = Vec::with_capacity(self.tensors.len());
        for (name, tensor) in &mut self.tensors {
            if !tensor.offset.is_multiple_of(alignment) {
                return fail(format!(
                    "tensor {name} begins at {}, which is no multiple of the alignment {alignment}",
                    tensor.offset
                ));
            }
            let from = data.saturating_add(tensor.offset);
            let to = from.saturating_add(tensor.bytes as u64);
            if to > length {
                return fail(format!(
                    "tensor {name} ends at byte {to}, but the file has {length}: it is cut off; download it again"
                ));
            }
            tensor.offset = from;
            places.push((from, to, name.as_str()));
        }
        places.sort_unstable();
        for pair in places.windows(2) {
            if let [(_, to, first), (from, _, second)] = pair
                && from < to
            {
                return fail(format!("tensors {first} and {second} overlap"));
            }
        }
        // Every byte must belong to something: the format has each tensor begin where the one before it ends, rounded up to the alignment.
        let begins = places.iter().map(|(from, ..)| *from).chain([length]);
        let ends = std::iter::once(end).chain(places.iter().map(|(_, to, _)| *to));
        for (from, to) in begins.zip(ends) {
            if from > to.next_multiple_of(alignment) {
                return fail(format!(
                    "its bytes from {to} to {from} belong to no tensor: it is damaged, or holds something else; download it again"
                ));
            }
        }
        Ok(())
    }
}
