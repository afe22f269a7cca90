//! The header of a GGUF file (<https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>): metadata and where the tensors lie.
//!
//! ```text
//! "GGUF" · version · tensors · entries · (key · type · value)… · (name · dimensions · type · offset)… · padding · data
//! ```
//!
//! Nothing that the file says about itself is believed: every count is held against the bytes there are before memory is
//! taken for it, every tensor lies inside the file, and none on top of another.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use crate::checkpoint::tensors::MAX_TENSORS;

/// The largest header that is read. Vocabularies of 260 thousand tokens, with merges, take 12 MB.
pub const MAX_HEADER: u64 = 1 << 27;
/// Bytes of a key, by the format.
const MAX_KEY: u64 = 65_535;
/// Bytes of a tensor's name, by the format.
const MAX_NAME: u64 = 64;
/// Keys of the metadata: files have some fifty.
const MAX_ENTRIES: u64 = 1 << 16;
/// Characters of a text that a message shows.
const SHOWN: usize = 80;
/// Lists in lists in lists: no known key has more than one level.
const MAX_DEPTH: usize = 3;
/// The boundary that tensors begin at where the file names none.
const ALIGNMENT: u64 = 32;

/// What is wrong with a header, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HeaderError(pub String);

/// What one says of itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Unsigned integers of all widths.
    Unsigned(u64),
    /// Signed integers of all widths.
    Signed(i64),
    /// Floating-point numbers. One of 32 bits is the number that its shortest decimal names: what a JSON file of the
    /// original has.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// UTF-8.
    Text(String),
    /// Values of one type.
    List(List),
}

/// Values of one type.
#[derive(Debug, Clone, PartialEq)]
pub enum List {
    /// See [`Value::Unsigned`].
    Unsigned(Vec<u64>),
    /// See [`Value::Signed`].
    Signed(Vec<i64>),
    /// See [`Value::Float`].
    Float(Vec<f64>),
    /// See [`Value::Bool`].
    Bool(Vec<bool>),
    /// See [`Value::Text`].
    Text(Vec<String>),
    /// Lists of lists.
    Lists(Vec<List>),
}

/// As messages show it, cut to a line.
impl fmt::Display for Value {
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

/// How a tensor's numbers are stored: GGML's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(non_camel_case_types, reason = "GGML's names")]
pub enum StorageType {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of an f32.
    BF16,
    /// 32 nibbles and a scale.
    Q4_0,
    /// 32 nibbles, a scale and a minimum.
    Q4_1,
    /// 32 numbers of 5 bits and a scale.
    Q5_0,
    /// 32 numbers of 5 bits, a scale and a minimum.
    Q5_1,
    /// 32 bytes and a scale.
    Q8_0,
    /// 256 nibbles with scales and minima of eight parts.
    Q4_K,
    /// 256 numbers of 5 bits with scales and minima of eight parts.
    Q5_K,
    /// 256 numbers of 6 bits with scales of sixteen parts.
    Q6_K,
    /// 32 numbers of E2M1 and an exponent.
    MXFP4,
}

/// Number in files, type, numbers of a block, bytes of a block.
const TYPES: [(u32, StorageType, u64, u64); 12] = [
    (0, StorageType::F32, 1, 4),
    (1, StorageType::F16, 1, 2),
    (2, StorageType::Q4_0, 32, 18),
    (3, StorageType::Q4_1, 32, 20),
    (6, StorageType::Q5_0, 32, 22),
    (7, StorageType::Q5_1, 32, 24),
    (8, StorageType::Q8_0, 32, 34),
    (12, StorageType::Q4_K, 256, 144),
    (13, StorageType::Q5_K, 256, 176),
    (14, StorageType::Q6_K, 256, 210),
    (30, StorageType::BF16, 1, 2),
    (39, StorageType::MXFP4, 32, 17),
];

/// What other numbers stand for, for messages.
const OTHER_TYPES: [(u32, &str); 19] = [
    (9, "Q8_1"),
    (10, "Q2_K"),
    (11, "Q3_K"),
    (15, "Q8_K"),
    (16, "IQ2_XXS"),
    (17, "IQ2_XS"),
    (18, "IQ3_XXS"),
    (19, "IQ1_S"),
    (20, "IQ4_NL"),
    (21, "IQ3_S"),
    (22, "IQ2_S"),
    (23, "IQ4_XS"),
    (24, "I8"),
    (25, "I16"),
    (26, "I32"),
    (27, "I64"),
    (28, "F64"),
    (29, "IQ1_M"),
    (34, "TQ1_0"),
];

impl StorageType {
    fn of(number: u32) -> Result<Self, String> {
        if let Some((_, kind, ..)) = TYPES.iter().find(|(known, ..)| *known == number) {
            return Ok(*kind);
        }
        let name = OTHER_TYPES.iter().find(|(known, _)| *known == number);
        let names: Vec<String> = TYPES
            .iter()
            .map(|(_, kind, ..)| format!("{kind:?}"))
            .collect();
        Err(format!(
            "is stored as {}, which is not supported; supported: {}",
            name.map_or_else(|| format!("type {number}"), |(_, name)| (*name).to_owned()),
            names.join(", ")
        ))
    }

    /// Numbers of a block, and its bytes.
    pub fn block(self) -> (usize, usize) {
        TYPES
            .iter()
            .find(|(_, kind, ..)| *kind == self)
            .map_or((1, 1), |(.., numbers, bytes)| {
                (*numbers as usize, *bytes as usize)
            })
    }
}

/// Where a tensor lies.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorInfo {
    /// How its numbers are stored.
    pub kind: StorageType,
    /// Outermost dimension first; the last one is a multiple of the type's block.
    pub shape: Vec<usize>,
    /// From the beginning of the file.
    pub offset: u64,
    /// Its length.
    pub bytes: usize,
}

/// All that a file says before its data.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Header {
    /// By key.
    pub metadata: BTreeMap<String, Value>,
    /// By name.
    pub tensors: BTreeMap<String, TensorInfo>,
}

impl Header {
    /// Reads the header of a file of `length` bytes from its beginning.
    ///
    /// # Errors
    /// [`HeaderError`] for what is no GGUF file, one that is cut off, and anything that the format does not allow.
    pub fn read(input: impl Read, length: u64) -> Result<Self, HeaderError> {
        let mut reader = Reader {
            input,
            length,
            position: 0,
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
        // A name's length, dimensions, a type, an offset; a key's length, a type, a byte.
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

    /// Counts offsets from the beginning of the file, and checks that tensors lie inside it and apart.
    fn place(&mut self, end: u64, length: u64) -> Result<(), HeaderError> {
        let alignment = match self.metadata.get("general.alignment") {
            None => ALIGNMENT,
            Some(Value::Unsigned(alignment))
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
        Ok(())
    }
}

fn fail<T>(message: impl Into<String>) -> Result<T, HeaderError> {
    Err(HeaderError(message.into()))
}

/// Reads little-endian values, never past the end of the file or of [`MAX_HEADER`].
struct Reader<R> {
    input: R,
    length: u64,
    position: u64,
}

impl<R: Read> Reader<R> {
    /// Bytes that may still belong to the header.
    fn left(&self) -> u64 {
        self.length.min(MAX_HEADER).saturating_sub(self.position)
    }

    /// Checks that `count` things of at least `least` bytes each may follow.
    fn room(&self, what: &str, count: u64, least: u64) -> Result<(), HeaderError> {
        if count.saturating_mul(least) <= self.left() {
            return Ok(());
        }
        fail(format!(
            "it claims {count} {what} at byte {}, more than its {} bytes can hold: damaged, or cut off",
            self.position,
            self.length.min(MAX_HEADER)
        ))
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), HeaderError> {
        let wanted = bytes.len() as u64;
        if wanted > self.left() {
            return fail(if self.length > MAX_HEADER {
                format!("its header is longer than {MAX_HEADER} bytes")
            } else {
                format!(
                    "it ends within its header, after {} bytes: cut off; download it again",
                    self.length
                )
            });
        }
        self.input.read_exact(bytes).map_err(|error| {
            HeaderError(format!("reading at byte {} failed: {error}", self.position))
        })?;
        self.position += wanted;
        Ok(())
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], HeaderError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, HeaderError> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, HeaderError> {
        self.bytes().map(u64::from_le_bytes)
    }

    fn text(&mut self, what: &str, limit: u64) -> Result<String, HeaderError> {
        let at = self.position;
        let length = self.u64()?;
        if length > limit.min(self.left()) {
            return fail(format!("{what} at byte {at} claims {length} bytes"));
        }
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes)?;
        String::from_utf8(bytes)
            .map_err(|_| HeaderError(format!("{what} at byte {at} is not UTF-8")))
    }

    fn magic(&mut self) -> Result<(), HeaderError> {
        let magic: [u8; 4] = match self.length {
            0..8 => *b"none",
            _ => self.bytes()?,
        };
        let version = match &magic {
            b"GGUF" => self.u32()?,
            b"FUGG" => 3 << 24,
            b"ggml" | b"ggjt" | b"lmgg" | b"tjgg" => {
                return fail(
                    "this is a file of GGML, older than GGUF: convert the model again with llama.cpp",
                );
            }
            _ => return fail("not a GGUF file"),
        };
        match version {
            2 | 3 => Ok(()),
            1 => fail("GGUF version 1 is not supported: convert the model again with llama.cpp"),
            _ if matches!(version.swap_bytes(), 1..=3) => {
                fail("it is big-endian: take the little-endian file, which all usual machines have")
            }
            _ => fail(format!(
                "GGUF version {version} is not supported, only 2 and 3"
            )),
        }
    }

    /// The value of `key`, of a type by its number in files.
    fn value(&mut self, key: &str, kind: u32) -> Result<Value, HeaderError> {
        Ok(match kind {
            0 => Value::Unsigned(self.bytes::<1>()?[0].into()),
            1 => Value::Signed(i8::from_le_bytes(self.bytes()?).into()),
            2 => Value::Unsigned(u16::from_le_bytes(self.bytes()?).into()),
            3 => Value::Signed(i16::from_le_bytes(self.bytes()?).into()),
            4 => Value::Unsigned(self.u32()?.into()),
            5 => Value::Signed(i32::from_le_bytes(self.bytes()?).into()),
            6 => Value::Float(widen(f32::from_le_bytes(self.bytes()?))),
            7 => Value::Bool(self.flag(key)?),
            8 => Value::Text(self.text(key, u64::MAX)?),
            9 => Value::List(self.list(key, 1)?),
            10 => Value::Unsigned(self.u64()?),
            11 => Value::Signed(i64::from_le_bytes(self.bytes()?)),
            12 => Value::Float(f64::from_le_bytes(self.bytes()?)),
            _ => return fail(format!("{key} is of type {kind}, which there is not")),
        })
    }

    fn flag(&mut self, key: &str) -> Result<bool, HeaderError> {
        match self.bytes::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => fail(format!(
                "{key} is a truth value of {other}, neither 0 nor 1"
            )),
        }
    }

    fn list(&mut self, key: &str, depth: usize) -> Result<List, HeaderError> {
        let kind = self.u32()?;
        let count = self.u64()?;
        let least = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 | 10..=12 => 8,
            9 => 12,
            _ => {
                return fail(format!(
                    "{key} is a list of type {kind}, which there is not"
                ));
            }
        };
        self.room(&format!("values of {key}"), count, least)?;
        let range = 0..count;
        Ok(match kind {
            0 => List::Unsigned(self.all(range, |r| Ok(r.bytes::<1>()?[0].into()))?),
            1 => List::Signed(self.all(range, |r| Ok(i8::from_le_bytes(r.bytes()?).into()))?),
            2 => List::Unsigned(self.all(range, |r| Ok(u16::from_le_bytes(r.bytes()?).into()))?),
            3 => List::Signed(self.all(range, |r| Ok(i16::from_le_bytes(r.bytes()?).into()))?),
            4 => List::Unsigned(self.all(range, |r| Ok(r.u32()?.into()))?),
            5 => List::Signed(self.all(range, |r| Ok(i32::from_le_bytes(r.bytes()?).into()))?),
            6 => List::Float(self.all(range, |r| Ok(widen(f32::from_le_bytes(r.bytes()?))))?),
            7 => List::Bool(self.all(range, |r| r.flag(key))?),
            8 => List::Text(self.all(range, |r| r.text(key, u64::MAX))?),
            10 => List::Unsigned(self.all(range, Self::u64)?),
            11 => List::Signed(self.all(range, |r| Ok(i64::from_le_bytes(r.bytes()?)))?),
            12 => List::Float(self.all(range, |r| Ok(f64::from_le_bytes(r.bytes()?)))?),
            _ if depth == MAX_DEPTH => {
                return fail(format!(
                    "{key} has lists in lists, more than {MAX_DEPTH} deep"
                ));
            }
            _ => List::Lists(self.all(range, |r| r.list(key, depth + 1))?),
        })
    }

    /// As many values as a count that was held against the bytes there are.
    fn all<T>(
        &mut self,
        range: std::ops::Range<u64>,
        one: impl Fn(&mut Self) -> Result<T, HeaderError>,
    ) -> Result<Vec<T>, HeaderError> {
        range.map(|_| one(self)).collect()
    }

    fn tensor(&mut self, name: &str) -> Result<TensorInfo, HeaderError> {
        let dimensions = self.u32()?;
        if !(1..=4).contains(&dimensions) {
            return fail(format!(
                "tensor {name} has {dimensions} dimensions, not 1 to 4"
            ));
        }
        let mut shape = Vec::with_capacity(4);
        for _ in 0..dimensions {
            shape.push(self.u64()?);
        }
        let kind = StorageType::of(self.u32()?)
            .map_err(|message| HeaderError(format!("tensor {name} {message}")))?;
        let offset = self.u64()?;
        let (numbers, bytes) = kind.block();
        // Innermost first.
        if !shape[0].is_multiple_of(numbers as u64) {
            return fail(format!(
                "tensor {name} has rows of {}, but {kind:?} has blocks of {numbers}",
                shape[0]
            ));
        }
        let size = shape
            .iter()
            .try_fold(1u64, |size, dimension| size.checked_mul(*dimension))
            .and_then(|size| (size / numbers as u64).checked_mul(bytes as u64))
            .and_then(|bytes| usize::try_from(bytes).ok());
        match size {
            Some(bytes) if bytes > 0 => Ok(TensorInfo {
                kind,
                shape: shape.iter().rev().map(|size| *size as usize).collect(),
                offset,
                bytes,
            }),
            _ => fail(format!(
                "tensor {name} has the dimensions {shape:?}: it is empty, or larger than any file"
            )),
        }
    }
}

/// The number that the shortest decimal of an f32 names.
fn widen(x: f32) -> f64 {
    x.to_string().parse().unwrap_or_else(|_| f64::from(x))
}

#[cfg(test)]
mod tests;
