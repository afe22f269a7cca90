use proptest::prelude::*;

use super::{Header, List, MAX_HEADER, MAX_VALUES, StorageType, MetadataValue};

/// Little-endian bytes of a file, written piece by piece.
#[derive(Clone, Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn with(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn u32(self, number: u32) -> Self {
        self.with(&number.to_le_bytes())
    }

    fn u64(self, number: u64) -> Self {
        self.with(&number.to_le_bytes())
    }

    fn text(self, text: &str) -> Self {
        self.u64(text.len() as u64).with(text.as_bytes())
    }

    fn tensor(self, name: &str, shape: &[u64], kind: u32, offset: u64) -> Self {
        let start = self.text(name).u32(shape.len() as u32);
        let shaped = shape.iter().fold(start, |bytes, size| bytes.u64(*size));
        shaped.u32(kind).u64(offset)
    }

    fn start(tensors: u64, entries: u64) -> Self {
        Self::default()
            .with(b"GGUF")
            .u32(3)
            .u64(tensors)
            .u64(entries)
    }

    /// Pads to the next boundary and adds `count` bytes of data.
    fn data(mut self, count: usize) -> Self {
        let data = self.0.len().next_multiple_of(32);
        self.0.resize(data + count, 0);
        self
    }

    fn read(&self) -> Result<Header, String> {
        Header::read(self.0.as_slice(), self.0.len() as u64).map_err(|error| error.to_string())
    }
}

/// A valid file with values of many types and two tensors.
fn good() -> Bytes {
    Bytes::start(2, 6)
        .text("general.architecture")
        .u32(8)
        .text("qwen3")
        .text("eps")
        .u32(6)
        .with(&1e-6f32.to_le_bytes())
        .text("flag")
        .u32(7)
        .with(&[1])
        .text("tokens")
        .u32(9)
        .u32(8)
        .u64(2)
        .text("a")
        .text("é")
        .text("types")
        .u32(9)
        .u32(5)
        .u64(2)
        .u32(1)
        .u32(u32::MAX)
        .text("nested")
        .u32(9)
        .u32(9)
        .u64(1)
        .u32(0)
        .u64(3)
        .with(&[1, 2, 3])
        .tensor("norm", &[3], 0, 0)
        .tensor("weight", &[64, 5], 8, 32)
        .data(32 + 340)
}

#[test]
fn values_and_tensors() {
    let header = good().read().unwrap();
    assert_eq!(header.metadata["eps"], MetadataValue::Float(1e-6));
    assert_eq!(header.metadata["flag"], MetadataValue::Bool(true));
    assert_eq!(
        header.metadata["tokens"],
        MetadataValue::List(List::Text(vec!["a".into(), "é".into()]))
    );
    assert_eq!(
        header.metadata["types"],
        MetadataValue::List(List::Signed(vec![1, -1]))
    );
    assert_eq!(
        header.metadata["nested"],
        MetadataValue::List(List::Lists(vec![List::Unsigned(vec![1, 2, 3])]))
    );
    let weight = &header.tensors["weight"];
    assert_eq!(
        (weight.kind, weight.shape.as_slice(), weight.bytes),
        (StorageType::Q8_0, [5, 64].as_slice(), 340)
    );
    assert_eq!(weight.offset as usize + weight.bytes, good().0.len());
}

#[test]
fn what_is_wrong_is_named() {
    let one = |tensor: Bytes| tensor.data(4096).read().unwrap_err();
    let entry = |bytes: Bytes| bytes.data(64).read().unwrap_err();
    let version = |number: u32| Bytes::default().with(b"GGUF").u32(number).data(64);
    let start = || Bytes::start(1, 0);
    for (message, parts) in [
        (
            Bytes::default().data(0).read().unwrap_err(),
            "not a GGUF file",
        ),
        (
            Bytes::default()
                .with(b"PK\x03\x04....")
                .data(64)
                .read()
                .unwrap_err(),
            "not a GGUF file",
        ),
        (
            Bytes::default()
                .with(b"ggjt....")
                .data(64)
                .read()
                .unwrap_err(),
            "older",
        ),
        (version(1).read().unwrap_err(), "version 1"),
        (version(9).read().unwrap_err(), "version 9"),
        (version(3u32.swap_bytes()).read().unwrap_err(), "big-endian"),
        (entry(Bytes::start(1 << 60, 0)), "tensors"),
        (entry(Bytes::start(0, u64::MAX)), "metadata entries"),
        (entry(Bytes::start(0, 1).u64(1 << 40)), "claims"),
        (
            entry(Bytes::start(0, 1).u64(2).with(&[0xff, 0xfe])),
            "UTF-8",
        ),
        (entry(Bytes::start(0, 1).text("a").u32(13)), "type 13"),
        (
            entry(Bytes::start(0, 1).text("a").u32(7).with(&[2])),
            "truth value",
        ),
        (
            entry(Bytes::start(0, 1).text("a").u32(9).u32(4).u64(1 << 50)),
            "values of a",
        ),
        (
            entry(
                Bytes::start(0, 2)
                    .text("a")
                    .u32(4)
                    .u32(1)
                    .text("a")
                    .u32(4)
                    .u32(1),
            ),
            "a is there twice",
        ),
        (
            entry(
                (0..3)
                    .fold(Bytes::start(0, 1).text("deep").u32(9), |bytes, _| {
                        bytes.u32(9).u64(1)
                    })
                    .u32(0)
                    .u64(0),
            ),
            "deep",
        ),
        (one(start().tensor("w", &[], 0, 0)), "0 dimensions"),
        (one(start().tensor("w", &[1; 5], 0, 0)), "5 dimensions"),
        (one(start().tensor("w", &[0, 4], 0, 0)), "it is empty"),
        (
            one(start().tensor("w", &[1 << 40, 1 << 40], 0, 0)),
            "larger than any file",
        ),
        (one(start().tensor("w", &[33], 8, 0)), "blocks of 32"),
        (one(start().tensor("w", &[32], 23, 0)), "IQ4_XS"),
        (one(start().tensor("w", &[32], 77, 0)), "type 77"),
        (one(start().tensor("w", &[32], 0, 7)), "alignment"),
        (one(start().tensor("w", &[4096], 0, 0)), "cut off"),
        (one(start().tensor("w", &[4], 0, u64::MAX - 31)), "cut off"),
        (one(start().tensor(&"w".repeat(65), &[4], 0, 0)), "65 bytes"),
        (
            one(Bytes::start(2, 0)
                .tensor("first", &[16], 0, 0)
                .tensor("second", &[8], 0, 32)),
            "first and second overlap",
        ),
        (
            one(Bytes::start(2, 0)
                .tensor("w", &[8], 0, 0)
                .tensor("w", &[8], 0, 32)),
            "w is there twice",
        ),
        (
            start().tensor("w", &[8], 0, 0).data(32 + 100).read().unwrap_err(),
            "belong to no tensor",
        ),
        (
            one(Bytes::start(2, 0)
                .tensor("w", &[8], 0, 0)
                .tensor("v", &[8], 0, 4064)),
            "belong to no tensor",
        ),
        (
            entry(Bytes::start(0, 0).with(&[0; 64])),
            "belong to no tensor",
        ),
        (
            entry(Bytes::start(0, 1).text("general.alignment").u32(4).u32(12)),
            "power of two",
        ),
    ] {
        assert!(message.contains(parts), "{message}: not {parts}");
    }
}

/// The stated length is large enough for anything, so only the limit on headers applies.
#[test]
fn a_header_has_a_limit() {
    let claims = Bytes::start(0, 1).text("a").u32(9).u32(0).u64(1 << 40);
    let error = Header::read(claims.0.as_slice(), 1 << 50).unwrap_err();
    assert!(error.to_string().contains("values of a"), "{error}");
    // Lists of bytes take up eight times as much memory.
    let mut lists = Bytes::start(0, 3);
    for key in ["a", "b", "c"] {
        lists = lists.text(key).u32(9).u32(0).u64(MAX_VALUES / 2);
        lists.0.resize(lists.0.len() + MAX_VALUES as usize / 2, 0);
    }
    let error = lists.read().unwrap_err();
    assert!(error.contains("c has 2097152 values"), "{error}");
    let endless = Bytes::start(100_000, 0);
    let error = Header::read(endless.0.as_slice(), u64::MAX).unwrap_err();
    assert!(error.to_string().contains("byte 24"), "{error}");
    let many = Bytes::start(MAX_HEADER / 64, 0);
    let error = Header::read(many.0.as_slice(), u64::MAX).unwrap_err();
    assert!(error.to_string().contains("no more than"), "{error}");
}

#[test]
fn cut_off_anywhere_it_is_refused() {
    let whole = good().0;
    for length in 0..whole.len() {
        let cut = Bytes(whole[..length].to_vec());
        assert!(cut.read().is_err(), "{length} of {} bytes", whole.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_change_is_refused_or_describes_what_is_there(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::num::u8::ANY), 1..6),
        wide in prop::option::of((any::<prop::sample::Index>(), prop::num::u64::ANY)),
    ) {
        let mut bytes = good();
        let length = bytes.0.len();
        for (index, byte) in changes {
            bytes.0[index.index(length)] = byte;
        }
        if let Some((index, number)) = wide {
            let at = index.index(length - 8);
            bytes.0[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        if let Ok(header) = bytes.read() {
            for tensor in header.tensors.values() {
                prop_assert!(tensor.offset as usize + tensor.bytes <= length);
                let (numbers, size) = tensor.kind.block();
                let count: usize = tensor.shape.iter().product();
                prop_assert_eq!(count / numbers * size, tensor.bytes);
            }
        }
    }
}
