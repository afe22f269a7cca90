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
//! | `polynomial` | polynomials in one variable |

mod arbiter;
mod binder;
mod budget;
mod decide;
mod factorial;
mod fold;
mod integers;
mod modular;
mod numeric;
mod polynomial;
mod sample;
mod separation;
mod sign;
#[cfg(test)]
mod tests;
mod traits;
mod walk;

pub use budget::Budget;
use decide::rational_value;
pub use decide::{Identity, approximate, identical, order, rational};
pub use polynomial::polynomial;
pub(in crate::rules::compare) use walk::size;
pub use walk::{is_constant, substitute, variables};
