//! Encodings inside pages, as far as needed to tell how much memory their content takes
//! (<https://parquet.apache.org/docs/file-format/data-pages/encodings/>).

use super::thrift::Reader;

/// The most values of one row, from repetition levels in runs and packed groups. `open` is the number of values of the row
/// that was begun before, and becomes that of the last row. `None` if this is not such an encoding.
pub(super) fn longest_row(levels: &[u8], width: usize, count: u64, open: &mut u64) -> Option<u64> {
    let mut reader = Reader::new(levels, 0);
    let mut left = count;
    let mut longest = *open;
    while left > 0 {
        let header = reader.size().ok()?;
        let (length, packed) = (header >> 1, header & 1 == 1);
        if length == 0 {
            return None;
        }
        if !packed {
            let run = length.min(left);
            let value = reader.take(width.div_ceil(8)).ok()?;
            if value.iter().all(|byte| *byte == 0) {
                *open = 1;
            } else {
                *open = open.saturating_add(run);
            }
            left -= run;
            longest = longest.max(*open);
            continue;
        }
        let rest = levels.len() - reader.position();
        let bytes = usize::try_from(length)
            .ok()?
            .saturating_mul(width)
            .min(rest);
        let values = reader.take(bytes).ok()?;
        let whole = (8 * bytes / width) as u64;
        if whole == 0 {
            return None;
        }
        for value in 0..whole.min(left) as usize {
            let bits = value * width..(value + 1) * width;
            let begins = bits
                .into_iter()
                .all(|bit| values[bit / 8] >> (bit % 8) & 1 == 0);
            *open = if begins { 1 } else { open.saturating_add(1) };
            longest = longest.max(*open);
        }
        left -= whole.min(left);
    }
    Some(longest)
}

/// The end of numbers encoded as differences. `None` if they are damaged, or more than `most`.
pub(super) fn end_of_deltas(bytes: &[u8], most: u64) -> Option<usize> {
    let mut reader = Reader::new(bytes, 0);
    let mut size = || reader.size().ok();
    let (block, parts, count, _first) = (size()?, size()?, size()?, size()?);
    let parts = usize::try_from(parts).ok().filter(|parts| *parts > 0)?;
    let in_part = usize::try_from(block).ok()? / parts;
    if count > most || in_part == 0 {
        return None;
    }
    let mut left = count.saturating_sub(1);
    while left > 0 {
        reader.size().ok()?;
        let widths = reader.take(parts).ok()?;
        for width in widths {
            if left == 0 {
                break;
            }
            reader
                .take(in_part.checked_mul(usize::from(*width))? / 8)
                .ok()?;
            left = left.saturating_sub(in_part as u64);
        }
    }
    Some(reader.position())
}
