//! Exponents, angles and logarithms: Σ qᵢ·bᵢ with rational qᵢ and basis elements bᵢ such as π and ln 2.

use super::field::{Element, Field};
use crate::expr::Rational;
use crate::work;

/// What a term is a rational multiple of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    One,
    Pi,
    /// The logarithm of this positive value.
    Logarithm(Element),
    Arcsine(Element),
    Arctangent(Element),
    /// Anything else, known by its value.
    Other(Element),
}

/// q·t or q·t·i.
#[derive(Debug, Clone)]
pub(super) struct Term {
    pub(super) factor: Rational,
    pub(super) basis: Basis,
    pub(super) imaginary: bool,
}

/// A sum of terms of different basis elements, none of them 0.
#[derive(Debug, Clone, Default)]
pub(super) struct Linear(pub(super) Vec<Term>);

impl Linear {
    /// factor·basis.
    pub(super) fn of(factor: Rational, basis: Basis) -> Self {
        let mut sum = Self::default();
        sum.push(factor, basis, false);
        sum
    }

    pub(super) fn rational(value: Rational) -> Self {
        Self::of(value, Basis::One)
    }

    pub(super) fn has_imaginary(&self) -> bool {
        self.0.iter().any(|term| term.imaginary)
    }

    /// Adds factor·value, or factor·value·i. A value and its negative belong to one basis element, that of the smaller number.
    pub(super) fn push_value(
        &mut self,
        factor: Rational,
        basis: fn(Element) -> Basis,
        value: Element,
        imaginary: bool,
        field: Field,
    ) {
        if value.is_zero() {
            return;
        }
        let opposite = field.negate(value);
        if opposite < value {
            self.push(-factor, basis(opposite), imaginary);
        } else {
            self.push(factor, basis(value), imaginary);
        }
    }

    pub(super) fn push(&mut self, factor: Rational, basis: Basis, imaginary: bool) {
        if factor.is_zero() {
            return;
        }
        let place = self
            .0
            .iter()
            .position(|term| term.basis == basis && term.imaginary == imaginary);
        if let Some(place) = place {
            work::charge(work::addition(&self.0[place].factor, &factor));
            self.0[place].factor += factor;
            if self.0[place].factor.is_zero() {
                self.0.swap_remove(place);
            }
        } else {
            self.0.push(Term {
                factor,
                basis,
                imaginary,
            });
        }
    }

    pub(super) fn add(&mut self, other: &Self, scale: &Rational) {
        for term in &other.0 {
            work::charge(work::operation(&term.factor, scale));
            self.push(&term.factor * scale, term.basis, term.imaginary);
        }
    }

    /// Times i.
    pub(super) fn turned(&self) -> Self {
        let mut result = Self::default();
        for term in &self.0 {
            let factor = if term.imaginary {
                -term.factor.clone()
            } else {
                term.factor.clone()
            };
            result.push(factor, term.basis, !term.imaginary);
        }
        result
    }

    pub(super) fn negated(&self) -> Self {
        let mut result = self.clone();
        for term in &mut result.0 {
            term.factor = -term.factor.clone();
        }
        result
    }
}
