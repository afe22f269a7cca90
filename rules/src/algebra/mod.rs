//! Is a − b zero, for expressions?
//!
//! | file | what it does |
//! |---|---|
//! | `budget` | counts steps |
//! | `walk` | looks through expressions |
//! | `fold`, `factorial`, `integers` | exact rational values |
//! | `modular` | evaluation modulo primes: proves equality |
//! | `numeric`, `sample`, `arbiter` | enclosures at points: prove difference |
//! | `separation`, `sign` | the smallest algebraic numbers; signs of constants |
//! | `binder` | Σ, Π, ∫, d/dx, lim |
//! | `decide` | asks these, cheapest first |
//! | `fraction` | quotients of expressions |
//! | `polynomial` | polynomials in one variable |
//! | `principal` | values as `SymPy` works them out |

mod arbiter;
mod ball;
mod binder;
mod budget;
mod decide;
mod factorial;
mod fold;
mod fraction;
mod integers;
mod modular;
mod polynomial;
mod principal;
mod sample;
mod separation;
mod sign;
mod term;
#[cfg(test)]
mod tests;
mod traits;
mod walk;
pub(crate) mod work;

pub(crate) use ball::PointValue;
pub(crate) use budget::Budget;
use decide::rational_value;
pub(crate) use decide::{Identity, approximate, identical, order, rational};
pub(crate) use fraction::fraction;
pub(crate) use polynomial::{common_divisor, polynomial, real_roots};
pub(crate) use principal::{Near, principal, same_value, with_decimals};
pub(crate) use term::{Binder, BinderKind, Constant, Expr, Function, Rational};
pub(crate) use walk::{any, mapped, size, variables};
