//! Packs the weights of the judge that is compiled in as `PackedFile` of juror-engine reads them: a quarter less, without a decoder to wait for.

use std::path::Path;

const WEIGHTS: &str = "models/tiny/model.safetensors";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={WEIGHTS}");
    let file = std::fs::read(WEIGHTS).map_err(|error| format!("{WEIGHTS}: {error}"))?;
    if file.len() % 128 != 0 || file.len() >= 1 << 24 {
        return Err(format!(
            "{WEIGHTS}: the packed form is for less than 16 MiB, in blocks of 128 bytes"
        )
        .into());
    }
    let (mut blocks, mut others) = (Vec::new(), Vec::new());
    for block in file.chunks(128) {
        blocks.extend(block.iter().step_by(2));
        // The sign, and the lower bits of the exponent's upper seven.
        let four = |number: usize| block[2 * number + 1] >> 4 & 8 | block[2 * number + 1] & 7;
        blocks.extend((0..32).map(|number| four(number) | four(32 + number) << 4));
    }
    for (place, byte) in file.iter().enumerate().skip(1).step_by(2) {
        if byte & 0x78 != 0x38 {
            others.extend(((place as u32) << 8 | u32::from(*byte)).to_le_bytes());
        }
    }
    let out = std::env::var_os("OUT_DIR").ok_or("cargo sets no OUT_DIR")?;
    std::fs::write(Path::new(&out).join("blocks"), blocks)?;
    std::fs::write(Path::new(&out).join("others"), others)?;
    Ok(())
}
