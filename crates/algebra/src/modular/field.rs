//! Arithmetic in `F_p`, and the primes p.

use dashu_base::{Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};

use crate::expr::Rational;

/// Primes between 2^61 and 2^62, each 5 modulo 8, so that `F_p` has a root of −1.
#[rustfmt::skip]
pub(super) const PRIMES: [u64; 24] = [
    2_317_532_897_611_633_189, 2_358_825_890_917_160_221, 2_678_115_229_287_349_829, 2_719_349_680_111_884_637,
    2_724_050_075_492_184_701, 2_758_026_300_745_008_701, 2_955_575_862_601_927_837, 3_630_504_674_321_840_957,
    3_632_172_853_283_553_437, 3_730_848_044_507_334_269, 3_754_987_530_675_318_541, 3_779_205_203_878_651_021,
    3_909_131_839_211_776_477, 3_950_536_503_677_402_557, 4_006_838_507_467_903_717, 4_041_425_630_399_390_501,
    4_137_684_954_573_260_941, 4_141_978_471_376_368_277, 4_245_587_097_315_616_709, 4_267_853_996_889_180_413,
    4_340_034_639_464_119_021, 4_432_164_702_072_675_229, 4_566_891_492_452_848_861, 4_569_739_970_954_343_677,
];

/// `F_p`, for p below 2^62, numbers in Montgomery's form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    /// p.
    pub(super) modulus: u64,
    /// −p^(−1) modulo 2^64.
    inverse: u64,
    /// 2^128 modulo p.
    square: u64,
}

/// An element of `F_p`, in the form that its [`Field`] works with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Element(u64);

impl Element {
    pub(super) const ZERO: Self = Self(0);

    /// Is it 0?
    pub(super) fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// A number that differs from element to element, for hashing.
    pub(super) fn key(self) -> u64 {
        self.0
    }
}

impl Field {
    pub(super) fn new(modulus: u64) -> Self {
        // Newton's iteration doubles the bits that are right.
        let mut inverse = modulus;
        for _ in 0..6 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(modulus.wrapping_mul(inverse)));
        }
        let word = (1u128 << 64) % u128::from(modulus);
        Self {
            modulus,
            inverse: inverse.wrapping_neg(),
            square: (word * word % u128::from(modulus)) as u64,
        }
    }

    fn reduce(self, value: u128) -> u64 {
        let factor = (value as u64).wrapping_mul(self.inverse);
        let sum = (value + u128::from(factor) * u128::from(self.modulus)) >> 64;
        let sum = sum as u64;
        if sum >= self.modulus {
            sum - self.modulus
        } else {
            sum
        }
    }

    /// The element for a number of any size.
    pub(super) fn element(self, value: u64) -> Element {
        Element(self.reduce(u128::from(value % self.modulus) * u128::from(self.square)))
    }

    pub(super) fn one(self) -> Element {
        self.element(1)
    }

    pub(super) fn add(self, a: Element, b: Element) -> Element {
        let sum = a.0 + b.0;
        Element(if sum >= self.modulus {
            sum - self.modulus
        } else {
            sum
        })
    }

    pub(super) fn negate(self, a: Element) -> Element {
        Element(if a.0 == 0 { 0 } else { self.modulus - a.0 })
    }

    pub(super) fn multiply(self, a: Element, b: Element) -> Element {
        Element(self.reduce(u128::from(a.0) * u128::from(b.0)))
    }

    pub(super) fn power(self, base: Element, mut exponent: u64) -> Element {
        let mut square = base;
        let mut result = self.one();
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.multiply(result, square);
            }
            square = self.multiply(square, square);
            exponent >>= 1;
        }
        result
    }

    /// 1/a, of a that is not 0.
    pub(super) fn invert(self, a: Element) -> Option<Element> {
        (!a.is_zero()).then(|| self.power(a, self.modulus - 2))
    }

    /// √−1: 2 is no square modulo p, which is 5 modulo 8, so 2^((p − 1)/2) is −1.
    pub(super) fn imaginary_unit(self) -> Element {
        self.power(self.element(2), self.modulus >> 2)
    }

    /// The element for a rational number; `None` where p divides its denominator.
    pub(super) fn rational(self, value: &Rational) -> Option<Element> {
        let numerator = self.integer(value.numerator());
        if value.denominator().is_one() {
            return Some(numerator);
        }
        let denominator = self.element(remainder(value.denominator(), self.modulus));
        Some(self.multiply(numerator, self.invert(denominator)?))
    }

    pub(super) fn integer(self, value: &IBig) -> Element {
        self.element(signed_remainder(value, self.modulus))
    }
}

/// value mod modulus.
pub(super) fn remainder(value: &UBig, modulus: u64) -> u64 {
    match u64::try_from(value) {
        Ok(small) => small % modulus,
        Err(_) => value % modulus,
    }
}

/// value mod modulus, not negative.
pub(super) fn signed_remainder(value: &IBig, modulus: u64) -> u64 {
    let rest = match i64::try_from(value) {
        Ok(small) => small.unsigned_abs() % modulus,
        Err(_) => remainder(&value.unsigned_abs(), modulus),
    };
    if rest != 0 && value.sign() == Sign::Negative {
        modulus - rest
    } else {
        rest
    }
}
