//! The schema of Arrow that many programs keep in a Parquet file's metadata (`ARROW:schema`, a flatbuffer in base64): that
//! a number is a duration, for which Parquet has no type, is told by it alone.
//!
//! <https://github.com/apache/arrow/blob/main/format/Schema.fbs>

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The bytes of the flatbuffer in a value of `ARROW:schema`; nothing if it is damaged.
pub(super) fn bytes(value: &[u8]) -> Vec<u8> {
    let mut bytes = BASE64_STANDARD.decode(value).unwrap_or_default();
    // A message begins with a mark and its length, in earlier versions with its length alone.
    let is_marked = bytes.starts_with(&[0xff; 4]);
    let before = if is_marked { 8 } else { 4 };
    bytes.drain(..before.min(bytes.len()));
    bytes
}

/// A table of a flatbuffer: the schema or one of its fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Table<'b> {
    pub(super) fn schema(bytes: &'b [u8]) -> Option<Self> {
        const HEADER: usize = 2;
        Self { bytes, at: 0 }.follow(0)?.table(HEADER)
    }

    /// The field of a schema at a place.
    pub(super) fn column(self, place: usize) -> Option<Self> {
        self.listed(1, place)
    }

    /// The field within another at a place.
    pub(super) fn child(self, place: usize) -> Option<Self> {
        self.listed(5, place)
    }

    /// How many nanoseconds a field counts in, if it is a duration.
    pub(super) fn unit(self) -> Option<i64> {
        const DURATION: u8 = 18;
        let kind = self.read(self.slot(2)?)?;
        let of_kind = self.table(3).filter(|_| kind == [DURATION])?;
        // Milliseconds, which is the default, are not written.
        let unit = of_kind.slot(0).map_or(Some([1, 0]), |at| of_kind.read(at));
        let [unit, _] = unit?;
        Some(10_i64.pow(9_u32.checked_sub(3 * u32::from(unit))?))
    }

    /// The table that a vector has at a place.
    fn listed(self, id: usize, place: usize) -> Option<Self> {
        let slot = self.slot(id)?;
        let vector = slot.checked_add(self.offset(slot)?)?;
        (place < self.offset(vector)?).then_some(())?;
        self.follow(vector.checked_add(4 * (place + 1))?)
    }

    fn table(self, id: usize) -> Option<Self> {
        self.follow(self.slot(id)?)
    }

    /// The table that an offset leads to.
    fn follow(self, at: usize) -> Option<Self> {
        let at = at.checked_add(self.offset(at)?)?;
        Some(Self { at, ..self })
    }

    fn offset(self, at: usize) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.read(at)?)).ok()
    }

    /// Where a field of the table is, if it has it.
    fn slot(self, id: usize) -> Option<usize> {
        let short = |at| Some(usize::from(u16::from_le_bytes(self.read(at)?)));
        let back = i64::from(i32::from_le_bytes(self.read(self.at)?));
        let fields = usize::try_from(i64::try_from(self.at).ok()?.checked_sub(back)?).ok()?;
        let place = 4 + 2 * id;
        (place + 2 <= short(fields)?).then_some(())?;
        let offset = short(fields.checked_add(place)?)?;
        (offset > 0).then(|| self.at + offset)
    }

    fn read<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }
}
