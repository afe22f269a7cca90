//! Expressions, exact numbers and the question of whether two expressions are equal.
//!
//! | file | what it does |
//! |---|---|
//! | `work`, `budget` | the count of work, for a verification and for its parts |
//! | `expr`, `walk` | the expression tree; visiting, rebuilding, substitution |
//! | `rational`, `factorial` | exact numbers |
//! | `fold` | constant expressions with a rational value |
//! | `ball` | evaluation with rigorous bounds |
//! | `modular` | evaluation modulo primes: proves equality, and of rational functions difference |
//! | `features`, `sample`, `enclosure` | what is known of two expressions; enclosures at points: prove difference |
//! | `identity` | asks these of expressions without binders, cheapest first |
//! | `polynomial`, `roots`, `fraction` | polynomials in one variable, their real roots; quotients of expressions |
//! | `binder` | Σ, Π, ∫ replaced by what they come to |
//! | `decide` | the same questions of any expression |
//! | `principal` | values as `SymPy` works them out |
//!
//! Files use only those that stand above them.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod ball;
mod binder;
mod budget;
mod decide;
mod enclosure;
mod expr;
mod factorial;
mod features;
mod fold;
mod fraction;
mod identity;
mod modular;
mod polynomial;
mod principal;
mod rational;
mod roots;
mod sample;
#[cfg(test)]
mod tests;
mod walk;
pub mod work;

pub use ball::PointValue;
pub use budget::{Budget, Failure};
pub use decide::{approximate, identical, order, polynomial, rational};
pub use expr::{Binder, BinderKind, Constant, Expr, Function, LongNumber, Rational};
pub use fraction::fraction;
pub use identity::{Identity, infinity};
pub use polynomial::{common_divisor, evaluate, real_roots, square_free};
pub use principal::{Near, principal, same_value, with_decimals};
pub use roots::roots;
pub use walk::{
    any, any_part, has_letter, mapped, replace, size, substitute, variables, variables_of,
};
