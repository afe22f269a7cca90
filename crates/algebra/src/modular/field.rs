//! Arithmetic in `F_p` and `F_p[i]`.

use dashu_base::{Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};

use super::primes::Prime;
use crate::expr::Rational;

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
    pub(super) fn new(prime: &Prime) -> Self {
        let modulus = prime.value;
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

    pub(super) fn subtract(self, a: Element, b: Element) -> Element {
        self.add(a, self.negate(b))
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

    /// r = (p − 1)/2: the order of the group of squares, a prime.
    pub(super) fn half(self) -> u64 {
        self.modulus >> 1
    }

    /// Is it a square? The squares stand for the positive numbers.
    pub(super) fn is_square(self, a: Element) -> bool {
        a.is_zero() || self.power(a, self.half()) == self.one()
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

/// An element a + bi of `F_p[i]`, a field because p ≡ 3 modulo 4. `F_p` stands for the real numbers in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Gaussian {
    pub(super) real: Element,
    pub(super) imaginary: Element,
}

impl From<Element> for Gaussian {
    fn from(real: Element) -> Self {
        Self {
            real,
            imaginary: Element::ZERO,
        }
    }
}

impl Gaussian {
    pub(super) fn is_zero(self) -> bool {
        self.real.is_zero() && self.imaginary.is_zero()
    }

    /// The element itself where it is in `F_p`.
    pub(super) fn real(self) -> Option<Element> {
        self.imaginary.is_zero().then_some(self.real)
    }

    /// A number that differs from element to element, for hashing.
    pub(super) fn key(self) -> u64 {
        self.real
            .key()
            .wrapping_add(self.imaginary.key().wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

impl Field {
    pub(super) fn g_add(self, a: Gaussian, b: Gaussian) -> Gaussian {
        Gaussian {
            real: self.add(a.real, b.real),
            imaginary: self.add(a.imaginary, b.imaginary),
        }
    }

    pub(super) fn g_negate(self, a: Gaussian) -> Gaussian {
        Gaussian {
            real: self.negate(a.real),
            imaginary: self.negate(a.imaginary),
        }
    }

    pub(super) fn g_multiply(self, a: Gaussian, b: Gaussian) -> Gaussian {
        if a.imaginary.is_zero() && b.imaginary.is_zero() {
            return self.multiply(a.real, b.real).into();
        }
        Gaussian {
            real: self.subtract(
                self.multiply(a.real, b.real),
                self.multiply(a.imaginary, b.imaginary),
            ),
            imaginary: self.add(
                self.multiply(a.real, b.imaginary),
                self.multiply(a.imaginary, b.real),
            ),
        }
    }

    pub(super) fn conjugate(self, a: Gaussian) -> Gaussian {
        Gaussian {
            real: a.real,
            imaginary: self.negate(a.imaginary),
        }
    }

    /// |a|².
    pub(super) fn norm(self, a: Gaussian) -> Element {
        self.add(
            self.multiply(a.real, a.real),
            self.multiply(a.imaginary, a.imaginary),
        )
    }

    pub(super) fn g_invert(self, a: Gaussian) -> Option<Gaussian> {
        let inverse = self.invert(self.norm(a))?;
        Some(self.g_multiply(self.conjugate(a), inverse.into()))
    }

    /// a/b, of b that is not 0.
    pub(super) fn g_divide(self, a: Gaussian, b: Gaussian) -> Option<Gaussian> {
        Some(self.g_multiply(a, self.g_invert(b)?))
    }

    pub(super) fn g_power(self, base: Gaussian, mut exponent: u128) -> Gaussian {
        let mut square = base;
        let mut result = Gaussian::from(self.one());
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.g_multiply(result, square);
            }
            square = self.g_multiply(square, square);
            exponent >>= 1;
        }
        result
    }
}
