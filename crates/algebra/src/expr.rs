//! Expressions.

/// An exact rational number of any size.
pub use dashu_ratio::RBig as Rational;

use crate::work;

/// A constant with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Constant {
    /// π.
    Pi,
    /// Euler's number.
    E,
    /// √−1.
    ImaginaryUnit,
    /// +∞.
    Infinity,
    /// −∞ as one number, as `SymPy` holds it; elsewhere it is (−1)·∞.
    NegativeInfinity,
    /// 1/0, likewise.
    ComplexInfinity,
    /// 0/0, likewise.
    Undefined,
    /// The Euler–Mascheroni constant.
    EulerGamma,
    /// π/180: the degree sign inside an expression.
    Degree,
}

/// A function with a meaning. Arguments in the order given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Function {
    /// (x, n): the real n-th root where there is one (∛−8 = −2), else the principal one.
    Root,
    /// (x): |x|.
    Absolute,
    /// (x, base). `\ln x` is (x, e); `\log x` is (x, 10).
    Logarithm,
    /// (x): the sine of an angle in radians, as of the next five.
    Sin,
    /// (x).
    Cos,
    /// (x): sin x / cos x.
    Tan,
    /// (x): cos x / sin x.
    Cot,
    /// (x): 1 / cos x.
    Sec,
    /// (x): 1 / sin x.
    Csc,
    /// (x): the principal value, as of the next five.
    Arcsin,
    /// (x).
    Arccos,
    /// (x).
    Arctan,
    /// (x).
    Arccot,
    /// (x): arccos 1/x.
    Arcsec,
    /// (x): arcsin 1/x.
    Arccsc,
    /// (x): the hyperbolic sine.
    Sinh,
    /// (x).
    Cosh,
    /// (x): sinh x / cosh x.
    Tanh,
    /// (x): cosh x / sinh x.
    Coth,
    /// (x): the inverse of [`Self::Sinh`].
    Arsinh,
    /// (x): the inverse of [`Self::Cosh`] that is not negative.
    Arcosh,
    /// (x): the inverse of [`Self::Tanh`].
    Artanh,
    /// (n): n!.
    Factorial,
    /// (n): n!!.
    DoubleFactorial,
    /// (x): Γ(x).
    Gamma,
    /// (n, k): n over k.
    Binomial,
    /// (n, k): n! / (n − k)!.
    Permutations,
    /// (x): the next integer below or at x.
    Floor,
    /// (x): the next integer above or at x.
    Ceiling,
    /// (x): −1, 0 or 1.
    Sign,
    /// Two or more integers.
    Gcd,
    /// Two or more integers.
    Lcm,
    /// Two or more.
    Max,
    /// Two or more.
    Min,
    /// (a, n): a mod n, in [0, n).
    Modulo,
    /// (z).
    RealPart,
    /// (z).
    ImaginaryPart,
    /// (z): in (−π, π].
    Argument,
    /// (x): a number written with a point, which `SymPy` tells from an exact one. Only with principal branches.
    Decimal,
    /// (x): x, kept apart from what stands around it. Only with principal branches.
    Held,
    /// Rows: a matrix. Only with principal branches.
    Matrix,
    /// Entries: a row of a matrix.
    Row,
}

/// What binds a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BinderKind {
    /// Σ from `lower` to `upper`.
    Sum,
    /// Π from `lower` to `upper`.
    Product,
    /// ∫ from `lower` to `upper`, or an antiderivative without both.
    Integral,
    /// d/dx of the body; `lower` is the order (1 where `None`).
    Derivative,
    /// The limit of the body as the variable goes to `lower`.
    Limit,
}

/// An expression in which a variable is bound.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Binder {
    /// What binds it.
    pub kind: BinderKind,
    /// The bound variable.
    pub variable: Box<str>,
    /// See [`BinderKind`].
    pub lower: Option<Expr>,
    /// See [`BinderKind`].
    pub upper: Option<Expr>,
    /// What is summed, integrated, ….
    pub body: Expr,
}

/// See [`Expr::LongNumber`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LongNumber {
    /// Below zero?
    pub negative: bool,
    /// ASCII digits, neither beginning nor ending with `0`.
    pub digits: Box<str>,
    /// The power of ten of the last digit.
    pub exponent: i64,
}

/// An expression as it was written: nothing is evaluated, nothing is sorted.
///
/// Subtraction is `a + (−1)·b`, division `a · b^(−1)`. Nesting is at most [`Expr::MAX_DEPTH`], which the parser sees to;
/// whoever builds one by hand must keep to it, since everything that walks an expression recurses.
#[derive(Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// An exact number: integers, and decimals with their exact value (repeating ones too).
    Number(Rational),
    /// An integer or decimal written with more than [`Expr::LONG_DIGITS`] digits: sign, digits without leading zeros
    /// or a point, and the power of ten of the last digit. Never expanded.
    LongNumber(LongNumber),
    /// A constant with a name.
    Constant(Constant),
    /// A variable, with its subscript if it has one: `x`, `x_1`, `\alpha` as `alpha`, `AB` written as one word as `AB`.
    Symbol(Box<str>),
    /// A sum of two or more.
    Add(Vec<Expr>),
    /// A product of two or more.
    Multiply(Vec<Expr>),
    /// A power: base and exponent. `e^x` is a power of [`Constant::E`]. An odd root of a negative real base, where the
    /// exponent is a fraction in lowest terms with an odd denominator, is the real one.
    Power(Box<(Expr, Expr)>),
    /// A function with a meaning.
    Call(Function, Vec<Expr>),
    /// A function without one: `f(x)`.
    Apply(Box<str>, Vec<Expr>),
    /// Σ, Π, ∫, d/dx, lim.
    Binder(Box<Binder>),
}

/// A copy costs what it copies: see [`work`].
impl Clone for Expr {
    fn clone(&self) -> Self {
        work::charge(work::NODE);
        match self {
            Self::Number(value) => {
                work::charge(work::copy(value));
                Self::Number(value.clone())
            }
            Self::LongNumber(long) => {
                work::charge(long.digits.len() as u64 / 16);
                Self::LongNumber(long.clone())
            }
            Self::Constant(constant) => Self::Constant(*constant),
            Self::Symbol(name) => Self::Symbol(name.clone()),
            Self::Add(parts) => Self::Add(parts.clone()),
            Self::Multiply(parts) => Self::Multiply(parts.clone()),
            Self::Power(pair) => Self::Power(pair.clone()),
            Self::Call(function, parts) => Self::Call(*function, parts.clone()),
            Self::Apply(name, parts) => Self::Apply(name.clone(), parts.clone()),
            Self::Binder(binder) => Self::Binder(binder.clone()),
        }
    }
}

impl Expr {
    /// How deep expressions nest at most.
    pub const MAX_DEPTH: usize = 100;
    /// From how many digits on a number is a [`Expr::LongNumber`].
    pub const LONG_DIGITS: usize = 2_000;

    /// A number.
    pub fn integer(value: i64) -> Self {
        Self::Number(Rational::from(value))
    }

    /// A variable.
    pub fn symbol(name: &str) -> Self {
        Self::Symbol(name.into())
    }

    /// a^b.
    pub fn power(base: Self, exponent: Self) -> Self {
        Self::Power(Box::new((base, exponent)))
    }

    /// f(a).
    pub fn call(function: Function, argument: Self) -> Self {
        Self::Call(function, vec![argument])
    }

    /// A product, which of one factor is the factor.
    pub fn product(mut factors: Vec<Self>) -> Self {
        match factors.len() {
            0 => Self::integer(1),
            1 => factors.swap_remove(0),
            _ => Self::Multiply(factors),
        }
    }

    /// −a.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Number(value) => Self::Number(-value),
            other => Self::Multiply(vec![Self::integer(-1), other]),
        }
    }

    /// a / b.
    #[must_use]
    pub fn divided_by(self, divisor: Self) -> Self {
        Self::Multiply(vec![self, Self::power(divisor, Self::integer(-1))])
    }

    /// a − b.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self::Add(vec![self, other.negated()])
    }

    /// √a.
    pub fn sqrt(radicand: Self) -> Self {
        Self::Call(Function::Root, vec![radicand, Self::integer(2)])
    }
}
