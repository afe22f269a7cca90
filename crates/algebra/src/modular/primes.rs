//! Primes p for evaluation modulo p, chosen so that the constants of school mathematics have an image.
//!
//! Each is p = 2r + 1 with r prime too, so that the squares form a group of prime order, in which every rational power
//! is defined and the laws of powers of positive numbers hold: a square stands for a positive number. Also p ≡ −1 modulo
//! 2^5·3^2·5·7·11·13·17·19·23, so that `F_p[i]` holds the roots of unity of that order; √2, …, √23 lie in `F_p`.

/// A prime with a root of unity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prime {
    /// p, between 2^61 and 2^62.
    pub(super) value: u64,
    /// What stands for e^{2πi/[`ORDER`]} in `F_p[i]`: of the Galois conjugates the one that agrees with the square roots
    /// which are squares themselves, so that cos(π/4) = √2/2, cos(π/5) = (1 + √5)/4 and so on.
    pub(super) unity: (u64, u64),
}

/// The order of the roots of unity.
pub(super) const ORDER: u64 = 32 * 9 * 5 * 7 * 11 * 13 * 17 * 19 * 23;

const COUNT: usize = 40;

/// The primes: `primes.tsv` holds p and the two parts of the root of unity.
pub(super) static PRIMES: [Prime; COUNT] = read(include_bytes!("primes.tsv"));

/// Reads the table when the crate is compiled; a row too many is an error of compilation.
const fn read(table: &[u8]) -> [Prime; COUNT] {
    let empty = Prime {
        value: 0,
        unity: (0, 0),
    };
    let mut primes = [empty; COUNT];
    let (mut at, mut row, mut column) = (0, 0, 0);
    while at < table.len() {
        match table[at] {
            b'\t' => column += 1,
            b'\n' => (row, column) = (row + 1, 0),
            digit => {
                let number = match column {
                    0 => &mut primes[row].value,
                    1 => &mut primes[row].unity.0,
                    _ => &mut primes[row].unity.1,
                };
                *number = *number * 10 + (digit - b'0') as u64;
            }
        }
        at += 1;
    }
    assert!(row == COUNT);
    primes
}
