//! Answers as short plain text.

use super::notation::{decimal, fraction, name, sign};
use crate::algebra::{BinderKind, Constant, Expr, Function, Rational};
use crate::answer::{Answer, Quantity};

/// How many bytes a rendered answer has at most, the mark of omission aside.
const LONGEST: usize = 400;

/// An answer as compact plain text, cut with … where it is very long.
pub(crate) fn render(answer: &Answer) -> String {
    let mut out = Out::default();
    out.answer(answer);
    out.finish()
}

/// An expression as compact plain text, cut with … where it is very long.
pub(crate) fn render_expr(expr: &Expr) -> String {
    let mut out = Out::default();
    out.expr(expr, Tightness::Sum);
    out.finish()
}

/// How tightly the surroundings bind: what is looser needs brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tightness {
    Sum,
    Product,
    Power,
    Atom,
}

/// Text with a limit.
#[derive(Debug, Default)]
struct Out {
    text: String,
    full: bool,
}

impl Out {
    fn finish(mut self) -> String {
        if self.full {
            self.text.push('…');
        }
        self.text
    }

    fn push(&mut self, text: &str) {
        if self.full {
            return;
        }
        let end = text.floor_char_boundary(LONGEST - self.text.len());
        self.text.push_str(&text[..end]);
        self.full = end < text.len();
    }

    fn list<T>(&mut self, parts: &[T], between: &str, mut write: impl FnMut(&mut Self, &T)) {
        for (index, part) in parts.iter().enumerate() {
            if self.full {
                return;
            }
            if index > 0 {
                self.push(between);
            }
            write(self, part);
        }
    }

    fn answer(&mut self, answer: &Answer) {
        if self.full {
            return;
        }
        match answer {
            Answer::Quantity(quantity) => self.quantity(quantity),
            Answer::Relation(relation) => {
                for (index, side) in relation.sides.iter().enumerate() {
                    if index > 0
                        && let Some(operator) = relation.operators.get(index - 1)
                    {
                        self.push(" ");
                        self.push(sign(*operator));
                        self.push(" ");
                    }
                    self.grouped(side);
                }
                if let Some(modulus) = &relation.modulus {
                    self.enclosed(" (mod ", modulus, ")");
                }
            }
            Answer::Set(parts) if parts.is_empty() => self.push("∅"),
            Answer::Set(parts) => {
                self.push("{");
                self.list(parts, ", ", Self::grouped);
                self.push("}");
            }
            Answer::List(parts) => {
                let nested = parts.iter().any(|part| matches!(part, Answer::List(_)));
                self.list(parts, if nested { "; " } else { ", " }, Self::answer);
            }
            Answer::Tuple(parts) => {
                self.push("(");
                self.list(parts, ", ", Self::grouped);
                self.push(")");
            }
            Answer::Interval(interval) => {
                let open = if interval.lower.closed { "[" } else { "(" };
                let close = if interval.upper.closed { "]" } else { ")" };
                self.enclosed(open, &interval.lower.value, ", ");
                self.enclosed("", &interval.upper.value, close);
            }
            Answer::Union(parts) => self.list(parts, " ∪ ", Self::grouped),
            Answer::Intersection(parts) => self.list(parts, " ∩ ", Self::grouped),
            Answer::Difference(pair) => {
                self.grouped(&pair.0);
                self.push(" \\ ");
                self.grouped(&pair.1);
            }
            Answer::Matrix(matrix) => {
                self.push("[");
                self.list(&matrix.rows, ", ", |out, row| {
                    out.push("[");
                    out.list(row, ", ", |out, cell| out.expr(cell, Tightness::Sum));
                    out.push("]");
                });
                self.push("]");
            }
            Answer::Choice(letters) => {
                self.list(letters, ", ", |out, letter| {
                    out.push("(");
                    out.push(letter.encode_utf8(&mut [0; 4]));
                    out.push(")");
                });
            }
            Answer::Ratio(parts) => {
                self.list(parts, ":", |out, part| out.expr(part, Tightness::Product));
            }
            Answer::Time { seconds, afternoon } => self.time(*seconds, *afternoon),
            Answer::Truth(truth) => self.push(if *truth { "yes" } else { "no" }),
            Answer::Text(text) => self.push(text),
        }
    }

    fn grouped(&mut self, answer: &Answer) {
        let loose = matches!(answer, Answer::List(_) | Answer::Relation(_));
        self.brackets(loose, |out| out.answer(answer));
    }

    fn time(&mut self, seconds: u32, afternoon: Option<bool>) {
        let (mut hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        if afternoon.is_some() {
            hours = (hours + 11) % 12 + 1;
        }
        self.push(&format!("{hours:02}:{minutes:02}"));
        if rest > 0 {
            self.push(&format!(":{rest:02}"));
        }
        match afternoon {
            Some(true) => self.push(" p.m."),
            Some(false) => self.push(" a.m."),
            None => {}
        }
    }

    fn quantity(&mut self, quantity: &Quantity) {
        if quantity.approximate {
            self.push("≈ ");
        }
        match (&quantity.value, quantity.places) {
            (Expr::Number(value), Some(places)) if quantity.base.is_none() => {
                self.push(&decimal(value, places).unwrap_or_else(|| fraction(value)));
            }
            (value, _) => self.expr(value, Tightness::Sum),
        }
        if quantity.percent {
            self.push("%");
        }
        if let Some(unit) = &quantity.unit {
            if &*unit.name != "°" {
                self.push(" ");
            }
            self.push(&unit.name);
        }
        if let Some(currency) = &quantity.currency {
            self.push(" ");
            self.push(currency);
        }
    }

    fn enclosed(&mut self, open: &str, expr: &Expr, close: &str) {
        self.push(open);
        self.expr(expr, Tightness::Sum);
        self.push(close);
    }

    fn brackets(&mut self, needed: bool, write: impl FnOnce(&mut Self)) {
        if needed {
            self.push("(");
        }
        write(self);
        if needed {
            self.push(")");
        }
    }

    fn expr(&mut self, expr: &Expr, around: Tightness) {
        if self.full {
            return;
        }
        match expr {
            Expr::Number(value) => {
                let text = fraction(value);
                let loose = (text.starts_with('-') && around > Tightness::Sum)
                    || (text.contains('/') && around > Tightness::Product);
                self.brackets(loose, |out| out.push(&text));
            }
            Expr::LongNumber(long) => {
                self.brackets(long.negative && around > Tightness::Sum, |out| {
                    out.push(if long.negative { "-" } else { "" });
                    out.push(&long.digits);
                    if long.exponent != 0 {
                        out.push(&format!("e{}", long.exponent));
                    }
                });
            }
            Expr::Constant(constant) => self.push(match constant {
                Constant::Pi => "π",
                Constant::E => "e",
                Constant::ImaginaryUnit => "i",
                Constant::Infinity => "∞",
                Constant::NegativeInfinity => "−∞",
                Constant::ComplexInfinity | Constant::Undefined => "?",
                Constant::EulerGamma => "γ",
                Constant::Degree => "°",
            }),
            Expr::Symbol(name) => self.push(name),
            Expr::Add(terms) => self.brackets(around > Tightness::Sum, |out| {
                for (index, term) in terms.iter().enumerate() {
                    let (negative, size) = sign_of(term);
                    match (index, negative) {
                        (0, true) => out.push("-"),
                        (0, false) => {}
                        (_, true) => out.push(" - "),
                        (_, false) => out.push(" + "),
                    }
                    out.term(term, size);
                }
            }),
            Expr::Multiply(_) => {
                let (negative, size) = sign_of(expr);
                let loose = around > Tightness::Product || (negative && around > Tightness::Sum);
                self.brackets(loose, |out| {
                    if negative {
                        out.push("-");
                    }
                    out.term(expr, size);
                });
            }
            Expr::Power(pair) => {
                self.brackets(around > Tightness::Power, |out| out.power(&pair.0, &pair.1));
            }
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Apply(name, arguments) => self.named(name, arguments),
            Expr::Binder(binder) => {
                self.push(match binder.kind {
                    BinderKind::Sum => "sum",
                    BinderKind::Product => "prod",
                    BinderKind::Integral => "int",
                    BinderKind::Derivative => "d/d",
                    BinderKind::Limit => "lim",
                });
                self.enclosed("(", &binder.body, ", ");
                self.push(&binder.variable);
                for bound in [&binder.lower, &binder.upper].into_iter().flatten() {
                    self.enclosed(", ", bound, "");
                }
                self.push(")");
            }
        }
    }

    /// A term without its sign: a product, of which a leading −1 or minus is left out where `size` says so.
    fn term(&mut self, term: &Expr, size: Sign) {
        match (term, size) {
            (Expr::Number(value), Sign::Number) => self.push(&fraction(&-value)),
            (Expr::LongNumber(_), Sign::Number) => {
                self.expr(&super::parser::negate(term.clone()), Tightness::Product);
            }
            (Expr::Multiply(factors), size) => {
                let mut above = true;
                let rest = match size {
                    Sign::One => &factors[1..],
                    Sign::Number => {
                        if let Some(Expr::Number(value)) = factors.first() {
                            let value = fraction(&-value);
                            self.push(&value);
                        }
                        above = false;
                        &factors[1..]
                    }
                    Sign::Plus => factors,
                };
                for factor in rest {
                    if self.full {
                        return;
                    }
                    let divides =
                        matches!(factor, Expr::Power(pair) if pair.1 == Expr::integer(-1));
                    if divides {
                        if std::mem::take(&mut above) {
                            self.push("1");
                        }
                        self.push("/");
                        if let Expr::Power(pair) = factor {
                            let tight = match &pair.0 {
                                Expr::Multiply(_) | Expr::Power(_) => Tightness::Atom,
                                _ => Tightness::Power,
                            };
                            self.expr(&pair.0, tight);
                        }
                        continue;
                    }
                    if !std::mem::take(&mut above) && *factor != Expr::Constant(Constant::Degree) {
                        self.push("*");
                    }
                    self.expr(factor, Tightness::Power);
                }
            }
            (other, _) => self.expr(other, Tightness::Product),
        }
    }

    fn power(&mut self, base: &Expr, exponent: &Expr) {
        if *exponent == Expr::integer(-1) {
            self.push("1/");
            self.expr(base, Tightness::Atom);
            return;
        }
        self.expr(base, Tightness::Atom);
        self.push("^");
        self.expr(exponent, Tightness::Atom);
    }

    fn call(&mut self, function: Function, arguments: &[Expr]) {
        match (function, arguments) {
            (Function::Root, [radicand, degree]) if *degree == Expr::integer(2) => {
                self.enclosed("sqrt(", radicand, ")");
            }
            (Function::Root, [radicand, degree]) if *degree == Expr::integer(3) => {
                self.enclosed("cbrt(", radicand, ")");
            }
            (Function::Root, [radicand, degree]) => {
                self.enclosed("\\sqrt[", degree, "]");
                self.enclosed("{", radicand, "}");
            }
            (Function::Logarithm, [argument, base]) => match base {
                Expr::Constant(Constant::E) => self.enclosed("ln(", argument, ")"),
                _ if *base == Expr::integer(10) => self.enclosed("log(", argument, ")"),
                _ => {
                    self.enclosed("log_{", base, "}");
                    self.enclosed("(", argument, ")");
                }
            },
            (Function::Factorial | Function::DoubleFactorial, [inner]) => {
                self.expr(inner, Tightness::Atom);
                let twice = function == Function::DoubleFactorial;
                self.push(if twice { "!!" } else { "!" });
            }
            (Function::Modulo, [value, modulus]) => {
                self.enclosed("(", value, " mod ");
                self.enclosed("", modulus, ")");
            }
            _ => self.named(name(function), arguments),
        }
    }

    fn named(&mut self, name: &str, arguments: &[Expr]) {
        self.push(name);
        self.push("(");
        self.list(arguments, ", ", |out, argument| {
            out.expr(argument, Tightness::Sum);
        });
        self.push(")");
    }
}

/// How a term shows that it is negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    /// By a factor −1 in front.
    One,
    /// By a negative number in front.
    Number,
}

/// Is a term negative, and how does it show?
fn sign_of(term: &Expr) -> (bool, Sign) {
    let zero = Rational::from(0);
    match term {
        Expr::Number(value) if *value < zero => (true, Sign::Number),
        Expr::LongNumber(long) if long.negative => (true, Sign::Number),
        Expr::Multiply(factors) => match factors.first() {
            Some(Expr::Number(value)) if *value == Rational::from(-1) && factors.len() > 1 => {
                // What would be read as a number or product of its own: -0, -(1/2), -(x*y).
                let alone = factors.len() == 2;
                let shown = match factors.get(1) {
                    Some(Expr::Power(pair)) => pair.1 == Expr::integer(-1),
                    Some(Expr::Number(value)) => alone || value.is_zero(),
                    Some(Expr::Multiply(_)) => alone,
                    _ => false,
                };
                (true, if shown { Sign::Number } else { Sign::One })
            }
            Some(Expr::Number(value)) if *value < zero => (true, Sign::Number),
            _ => (false, Sign::Plus),
        },
        _ => (false, Sign::Plus),
    }
}
