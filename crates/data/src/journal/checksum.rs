//! A journal's lines and their checksums.
//!
//! The last key of every line is `check`: the first 16 hexadecimal digits of the BLAKE3 hash of the line without it. The lines of verdicts are hashed with
//! the hash of the manifest's line as the key, so that a line of another run is not mistaken for one of this run. The key comes last and has a fixed length:
//! without it the line is the verdict's line of the output, byte by byte.

/// The bytes before the digits.
const KEY: &[u8] = b",\"check\":\"";
const DIGITS: usize = 16;
/// The bytes after them, without the line's end.
const END: &[u8] = b"\"}";

/// Bytes that a checksum adds to a line.
const ADDED: usize = KEY.len() + DIGITS + END.len() - 1;

/// Makes and compares the checksums of one journal.
#[derive(Debug, Clone)]
pub struct Checksum {
    key: [u8; 32],
}

impl Checksum {
    /// The checksum for manifests, which has no key.
    pub(super) fn of_manifests() -> Self {
        Self {
            key: *blake3::hash(b"juror journal, manifest").as_bytes(),
        }
    }

    /// The checksum for the lines under this manifest, given as its line with its checksum but without the line's end.
    pub fn under(manifest: &[u8]) -> Self {
        Self {
            key: *blake3::hash(manifest).as_bytes(),
        }
    }

    fn digits(&self, object: &[u8]) -> [u8; DIGITS] {
        let hash = blake3::keyed_hash(&self.key, object).to_hex();
        let mut digits = [0; DIGITS];
        digits.copy_from_slice(&hash.as_bytes()[..DIGITS]);
        digits
    }

    /// Adds the checksum to a JSON object that has at least one key.
    pub fn add(&self, object: &mut Vec<u8>) {
        let digits = self.digits(object);
        // The object's closing brace.
        object.pop();
        object.extend_from_slice(KEY);
        object.extend_from_slice(&digits);
        object.extend_from_slice(END);
    }

    /// Removes the checksum from a line without its end; where it has none that fits, the line is unchanged and part of a sentence says why.
    pub fn take_off(&self, line: &mut Vec<u8>) -> Result<(), &'static str> {
        let at = line.len().saturating_sub(ADDED + 1);
        let digits = line[at..].strip_prefix(KEY);
        let digits = digits.and_then(|rest| rest.strip_suffix(END));
        let digits = digits.ok_or("it has no checksum at its end")?.to_owned();
        let end = line.split_off(at);
        line.push(b'}');
        if self.digits(line) == digits[..] {
            return Ok(());
        }
        line.pop();
        line.extend_from_slice(&end);
        Err("its checksum is not that of its content")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_taken_off_and_nothing_else() {
        let checksum = Checksum::under(b"{}");
        let object = b"{\"id\":\"r0\"}".to_vec();
        let mut line = object.clone();
        checksum.add(&mut line);
        assert_eq!(line.len(), object.len() + ADDED);
        let sealed = line.clone();
        assert!(Checksum::under(b"{ }").take_off(&mut line).is_err());
        assert_eq!(line, sealed);
        checksum.take_off(&mut line).unwrap();
        assert_eq!(line, object);
        for length in 0..sealed.len() {
            let mut cut = sealed[..length].to_vec();
            assert!(checksum.take_off(&mut cut).is_err());
            assert_eq!(cut, sealed[..length]);
        }
    }
}
