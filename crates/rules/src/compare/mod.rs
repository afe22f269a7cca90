//! Decides whether two answers are equal.
//!
//! | file | what it decides |
//! |---|---|
//! | `comparison`, `context` | what a comparison comes to, and what it carries along |
//! | `dispatch` | which file compares which kinds |
//! | `numbers` | two expressions, either of which may be a rounded decimal |
//! | `quantity` | units, currencies, percent signs, degrees |
//! | `words`, `letters` | text; choice letters, yes and no, letters in another order |
//! | `connectives` | whether the parts of two answers are joined alike |
//! | `clock` | times of day, ratios |
//! | `collection`, `matching`, `system` | sets, lists, tuples; values under several names |
//! | `matrix` | matrices and vectors |
//! | `naming` | what `x = 5` states: a name and a value |
//! | `linear` | sums of letters with rational factors: classes of remainders, vectors |
//! | `relation`, `congruence`, `equation`, `inequality`, `sides` | statements against statements |
//! | `real_set`, `solve`, `quotient`, `region` | statements and intervals as sets of real numbers |
//! | `parameter` | families such as `kπ, k ∈ ℤ` |
//! | `rename` | another choice of letters, where letters do not matter |
//! | `expressions` | small questions about expressions and answers |
//!
//! Files depend on each other one way; parts of an answer go back to `dispatch` through [`Context`](context::Context).
//!
//! [`Comparison::method`] names the argument that settled a pair: a name of the table in `docs/rules/README.md`.

mod clock;
mod collection;
mod comparison;
mod congruence;
mod connectives;
mod context;
mod dispatch;
mod equation;
mod expressions;
mod inequality;
mod letters;
mod linear;
mod matching;
mod matrix;
mod naming;
mod numbers;
mod parameter;
mod quantity;
mod quotient;
mod real_set;
mod region;
mod relation;
mod rename;
mod sides;
mod solve;
mod system;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use comparison::Comparison;
pub(crate) use connectives::joined_otherwise;
pub(crate) use dispatch::compare;
pub(crate) use letters::{crossed, reordered};
