//! Random numbers that depend on nothing but their key: Philox4x32-10.
//!
//! Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A counter-based generator has no state, so
//! a token drawn at a position is the same whatever was drawn before it, beside it, or in an earlier run.

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The 128 random bits of a counter under a key.
pub(crate) fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        let first = u64::from(MULTIPLIERS[0]) * u64::from(counter[0]);
        let second = u64::from(MULTIPLIERS[1]) * u64::from(counter[2]);
        counter = [
            (second >> 32) as u32 ^ counter[1] ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ counter[3] ^ key[1],
            first as u32,
        ];
    }
    counter
}

/// A number in `[0, 1)` with 53 random bits, for the draw at `position` of `trial` of the sample named `sample`.
pub fn uniform(seed: u64, sample: u64, trial: u32, position: u32) -> f64 {
    let words = philox(
        [sample as u32, (sample >> 32) as u32, trial, position],
        [seed as u32, (seed >> 32) as u32],
    );
    let bits = (u64::from(words[0]) << 32 | u64::from(words[1])) >> 11;
    bits as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of the authors' Random123 distribution.
    #[test]
    fn known_answers() {
        assert_eq!(
            philox([0; 4], [0; 2]),
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]
        );
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn every_part_of_the_key_matters_and_draws_are_even() {
        let base = uniform(1, 2, 3, 4);
        for other in [
            uniform(9, 2, 3, 4),
            uniform(1, 9, 3, 4),
            uniform(1, 2, 9, 4),
            uniform(1, 2, 3, 9),
        ] {
            assert!((base - other).abs() > 1e-9);
        }
        let mean = (0..10_000)
            .map(|position| uniform(7, 7, 0, position))
            .sum::<f64>()
            / 10_000.0;
        // Standard error of the mean of 10,000 uniform draws: 0.0029.
        assert!((mean - 0.5).abs() < 0.015, "mean {mean}");
    }
}
