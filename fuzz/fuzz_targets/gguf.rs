//! Reading any bytes as the header of a GGUF file: no panic, no more memory than the bytes account for, and tensors that lie
//! inside the file and apart.
#![no_main]

use juror_engine::checkpoint::gguf::header::Header;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let length = bytes.len() as u64;
    if let Ok(header) = Header::read(bytes, length) {
        let mut places: Vec<(u64, u64)> = header
            .tensors
            .values()
            .map(|tensor| (tensor.offset, tensor.offset + tensor.bytes as u64))
            .collect();
        places.sort_unstable();
        assert!(places.iter().all(|(from, to)| from < to && *to <= length));
        assert!(places.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }
});
