//! The values of a GGUF header, read one by one.

use std::io::Read;

use super::{
    HeaderError, List, MAX_DEPTH, MAX_HEADER, MAX_VALUES, MetadataValue, StorageType, TensorInfo,
};

pub(super) fn fail<T>(message: impl Into<String>) -> Result<T, HeaderError> {
    Err(HeaderError(message.into()))
}

/// Reads little-endian values, never past the end of the file nor past [`MAX_HEADER`].
pub(super) struct Reader<R> {
    pub(super) input: R,
    pub(super) length: u64,
    pub(super) position: u64,
    /// How many values of lists may still be read.
    pub(super) values: u64,
}

impl<R: Read> Reader<R> {
    /// How many bytes may still belong to the header.
    fn left(&self) -> u64 {
        self.length.min(MAX_HEADER).saturating_sub(self.position)
    }

    /// Checks that there is room for `count` things of at least `least` bytes each.
    pub(super) fn room(&self, what: &str, count: u64, least: u64) -> Result<(), HeaderError> {
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

    pub(super) fn u32(&mut self) -> Result<u32, HeaderError> {
        self.bytes().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, HeaderError> {
        self.bytes().map(u64::from_le_bytes)
    }

    pub(super) fn text(&mut self, what: &str, limit: u64) -> Result<String, HeaderError> {
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

    pub(super) fn magic(&mut self) -> Result<(), HeaderError> {
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

    /// Reads the value of `key`; `kind` is the number of its type in files.
    pub(super) fn value(&mut self, key: &str, kind: u32) -> Result<MetadataValue, HeaderError> {
        Ok(match kind {
            0 => MetadataValue::Unsigned(self.bytes::<1>()?[0].into()),
            1 => MetadataValue::Signed(i8::from_le_bytes(self.bytes()?).into()),
            2 => MetadataValue::Unsigned(u16::from_le_bytes(self.bytes()?).into()),
            3 => MetadataValue::Signed(i16::from_le_bytes(self.bytes()?).into()),
            4 => MetadataValue::Unsigned(self.u32()?.into()),
            5 => MetadataValue::Signed(i32::from_le_bytes(self.bytes()?).into()),
            6 => MetadataValue::Float(widen(f32::from_le_bytes(self.bytes()?))),
            7 => MetadataValue::Bool(self.flag(key)?),
            8 => MetadataValue::Text(self.text(key, u64::MAX)?),
            9 => MetadataValue::List(self.list(key, 1)?),
            10 => MetadataValue::Unsigned(self.u64()?),
            11 => MetadataValue::Signed(i64::from_le_bytes(self.bytes()?)),
            12 => MetadataValue::Float(f64::from_le_bytes(self.bytes()?)),
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
        let Some(left) = self.values.checked_sub(count) else {
            return fail(format!(
                "{key} has {count} values, with which its lists have more than {MAX_VALUES}: no vocabulary has so many"
            ));
        };
        self.values = left;
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

    /// Reads so many values; the count was checked against the bytes that are left.
    fn all<T>(
        &mut self,
        range: std::ops::Range<u64>,
        one: impl Fn(&mut Self) -> Result<T, HeaderError>,
    ) -> Result<Vec<T>, HeaderError> {
        range.map(|_| one(self)).collect()
    }

    pub(super) fn tensor(&mut self, name: &str) -> Result<TensorInfo, HeaderError> {
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
        let kind = StorageType::from_number(self.u32()?)
            .map_err(|message| HeaderError(format!("tensor {name} {message}")))?;
        let offset = self.u64()?;
        let (numbers, bytes) = kind.block();
        // The innermost dimension comes first.
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
