//! Thrift's compact protocol (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>), read by
//! a table of the wanted fields; everything else is skipped.
//!
//! Counts are checked against the bytes there are, depth is limited to that of the table, and a known field with another
//! type than its own is an error, so that no two readers can see different things in the same bytes.

/// The type of a field.
pub(super) enum Shape {
    Bool,
    I8,
    I32,
    I64,
    Binary,
    List(&'static Self),
    /// Fields by their number.
    Struct(Fields),
    /// As a struct, with exactly one field; left out if that field is not in the table.
    Union(Fields),
}

/// The fields of a struct that are read, by number.
pub(super) type Fields = &'static [(i16, Shape)];

/// A value that was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'b> {
    Bool(bool),
    Byte(u8),
    Number(i64),
    Binary(&'b [u8]),
    List(Vec<Self>),
    Struct(Struct<'b>),
}

/// Fields in ascending order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Struct<'b>(Vec<(i16, Value<'b>)>);

/// Why bytes cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThriftError {
    /// They end too early.
    Ends,
    /// They are not a struct of this table.
    Damaged,
    /// They hold more values than allowed.
    TooMany,
}

type Result<T> = std::result::Result<T, ThriftError>;

/// The deepest nesting of structs that are skipped.
const MAX_SKIPPED: usize = 16;

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const NUMBER: u8 = 5;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Shape {
    /// The type's number in files; for a boolean either of its two.
    fn number(&self) -> u8 {
        match self {
            Self::Bool => TRUE,
            Self::I8 => BYTE,
            Self::I32 => NUMBER,
            Self::I64 => 6,
            Self::Binary => BINARY,
            Self::List(_) => LIST,
            Self::Struct(_) | Self::Union(_) => STRUCT,
        }
    }
}

impl<'b> Struct<'b> {
    pub(super) fn get(&self, id: i16) -> Option<&Value<'b>> {
        let found = self.0.iter().find(|(other, _)| *other == id);
        found.map(|(_, value)| value)
    }

    pub(super) fn number(&self, id: i16) -> Option<i64> {
        match self.get(id)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn binary(&self, id: i16) -> Option<&'b [u8]> {
        match self.get(id)? {
            Value::Binary(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The struct in a field; an empty one if the field is missing.
    pub(super) fn structure(&self, id: i16) -> &Self {
        static NONE: Struct<'static> = Struct(Vec::new());
        match self.get(id) {
            Some(Value::Struct(inner)) => inner,
            _ => &NONE,
        }
    }

    /// The structs in a list; none if the list is missing.
    pub(super) fn structs(&self, id: i16) -> impl Iterator<Item = &Self> {
        let list: &[Value<'b>] = match self.get(id) {
            Some(Value::List(list)) => list,
            _ => &[],
        };
        list.iter().filter_map(|value| match value {
            Value::Struct(inner) => Some(inner),
            _ => None,
        })
    }

    /// The structs in a list, to be changed.
    pub(super) fn structs_mut(&mut self, id: i16) -> impl Iterator<Item = &mut Self> {
        let lists = self.0.iter_mut().filter(move |(other, _)| *other == id);
        let values = lists.flat_map(|(_, value)| match value {
            Value::List(list) => list.as_mut_slice(),
            _ => &mut [],
        });
        values.filter_map(|value| match value {
            Value::Struct(inner) => Some(inner),
            _ => None,
        })
    }

    /// A struct of one field.
    pub(super) fn of(id: i16, value: Value<'b>) -> Self {
        Self(vec![(id, value)])
    }

    /// Adds a field after the last.
    pub(super) fn push(&mut self, id: i16, value: Value<'b>) {
        self.0.push((id, value));
    }

    /// Takes a field out.
    pub(super) fn take(&mut self, id: i16) {
        self.0.retain(|(other, _)| *other != id);
    }

    /// Writes the struct as it is stored in files.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut last = 0;
        for (id, value) in &self.0 {
            // A step of up to 15 is stored in the same byte as the type.
            let (kind, step) = (value.number(), id - last);
            if step < 16 {
                out.push((step as u8) << 4 | kind);
            } else {
                out.push(kind);
                write_number(i64::from(*id), out);
            }
            value.write(out);
            last = *id;
        }
        out.push(0);
    }
}

impl Value<'_> {
    /// The type's number in files; integers of more than a byte are encoded alike in all widths.
    fn number(&self) -> u8 {
        match self {
            Self::Bool(true) => TRUE,
            Self::Bool(false) => FALSE,
            Self::Byte(_) => BYTE,
            Self::Number(_) => NUMBER,
            Self::Binary(_) => BINARY,
            Self::List(_) => LIST,
            Self::Struct(_) => STRUCT,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Bool(_) => {}
            Self::Byte(byte) => out.push(*byte),
            Self::Number(number) => write_number(*number, out),
            Self::Binary(bytes) => {
                write_size(bytes.len() as u64, out);
                out.extend_from_slice(bytes);
            }
            Self::List(list) => {
                out.push(0xf0 | list.first().map_or(STRUCT, Self::number));
                write_size(list.len() as u64, out);
                for value in list {
                    value.write(out);
                }
            }
            Self::Struct(inner) => inner.write(out),
        }
    }
}

fn write_number(number: i64, out: &mut Vec<u8>) {
    write_size((number << 1 ^ number >> 63).cast_unsigned(), out);
}

fn write_size(mut size: u64, out: &mut Vec<u8>) {
    while size > 0x7f {
        out.push(size as u8 | 0x80);
        size >>= 7;
    }
    out.push(size as u8);
}

/// Reads structs from bytes.
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    /// How many values may still be read.
    values: usize,
}

impl<'b> Reader<'b> {
    /// A reader of at most `values` values.
    pub(super) fn new(bytes: &'b [u8], values: usize) -> Self {
        Self {
            bytes,
            at: 0,
            values,
        }
    }

    /// The number of bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn structure(&mut self, wanted: Fields) -> Result<Struct<'b>> {
        let mut found: Vec<(i16, Value<'b>)> = Vec::new();
        let mut last = 0;
        while let Some((id, kind)) = self.field(last)? {
            match wanted.iter().find(|(other, _)| *other == id) {
                None => self.skip(kind, MAX_SKIPPED)?,
                Some((_, shape)) => {
                    let right = kind == shape.number() || (kind, shape.number()) == (FALSE, TRUE);
                    if !right {
                        return Err(ThriftError::Damaged);
                    }
                    let value = match shape {
                        Shape::Bool => Value::Bool(kind == TRUE),
                        other => self.value(other)?,
                    };
                    self.values = self.values.checked_sub(1).ok_or(ThriftError::TooMany)?;
                    if !(matches!(shape, Shape::Union(_))
                        && value == Value::Struct(Struct::default()))
                    {
                        found.push((id, value));
                    }
                }
            }
            last = id;
        }
        Ok(Struct(found))
    }

    /// The number and type of the next field; `None` at the end of the struct. Fields are in ascending order.
    fn field(&mut self, last: i16) -> Result<Option<(i16, u8)>> {
        let head = self.byte()?;
        let (step, kind) = (i16::from(head >> 4), head & 15);
        if kind == 0 {
            return Ok(None);
        }
        let id = match step {
            0 => i16::try_from(self.whole()?).map_err(|_| ThriftError::Damaged)?,
            _ => last.checked_add(step).ok_or(ThriftError::Damaged)?,
        };
        if id <= last {
            return Err(ThriftError::Damaged);
        }
        Ok(Some((id, kind)))
    }

    fn value(&mut self, shape: &Shape) -> Result<Value<'b>> {
        Ok(match shape {
            Shape::I8 => Value::Byte(self.byte()?),
            Shape::I32 | Shape::I64 => Value::Number(self.whole()?),
            Shape::Binary => Value::Binary(self.binary()?),
            Shape::Struct(wanted) | Shape::Union(wanted) => Value::Struct(self.structure(wanted)?),
            Shape::List(of) => {
                let (kind, count) = self.list()?;
                if count > 0 && kind != of.number() {
                    return Err(ThriftError::Damaged);
                }
                self.values = self.values.checked_sub(count).ok_or(ThriftError::TooMany)?;
                let values = (0..count).map(|_| self.value(of));
                Value::List(values.collect::<Result<_>>()?)
            }
            Shape::Bool => return Err(ThriftError::Damaged),
        })
    }

    /// A list's type and length. An element takes at least a byte.
    fn list(&mut self) -> Result<(u8, usize)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.size()?,
            count => u64::from(count),
        };
        if count > (self.bytes.len() - self.at) as u64 {
            return Err(ThriftError::Ends);
        }
        Ok((head & 15, count as usize))
    }

    /// Skips a value that is not wanted.
    fn skip(&mut self, kind: u8, depth: usize) -> Result<()> {
        let depth = depth.checked_sub(1).ok_or(ThriftError::Damaged)?;
        match kind {
            TRUE | FALSE => {}
            BYTE => _ = self.byte()?,
            4..=6 => _ = self.size()?,
            7 => _ = self.take(8)?,
            BINARY => _ = self.binary()?,
            LIST => {
                let (of, count) = self.list()?;
                // No file of this format has booleans in lists, sets or maps.
                if count > 0 && of <= FALSE {
                    return Err(ThriftError::Damaged);
                }
                for _ in 0..count {
                    self.skip(of, depth)?;
                }
            }
            STRUCT => {
                let mut last = 0;
                while let Some((id, kind)) = self.field(last)? {
                    self.skip(kind, depth)?;
                    last = id;
                }
            }
            _ => return Err(ThriftError::Damaged),
        }
        Ok(())
    }

    fn binary(&mut self) -> Result<&'b [u8]> {
        let length = self.size()?;
        self.take(usize::try_from(length).map_err(|_| ThriftError::Ends)?)
    }

    /// Takes the next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'b [u8]> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..count).ok_or(ThriftError::Ends)?;
        self.at += count;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn whole(&mut self) -> Result<i64> {
        let size = self.size()?;
        Ok((size >> 1).cast_signed() ^ -(size & 1).cast_signed())
    }

    /// A number in groups of seven bits, lowest first.
    pub(super) fn size(&mut self) -> Result<u64> {
        let mut size = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(ThriftError::Damaged);
            }
            size |= bits << shift;
            if byte < 0x80 {
                return Ok(size);
            }
        }
        Err(ThriftError::Damaged)
    }
}
