//! A parser for tests, with function-call syntax: `sqrt(2) + x^2/3`.

use crate::algebra::{Binder, BinderKind, Constant, Expr, Function, Rational};

pub(super) struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

pub(super) fn parse(text: &str) -> Expr {
    let mut parser = Parser {
        text: text.as_bytes(),
        at: 0,
    };
    let expr = parser.sum();
    parser.skip();
    assert_eq!(parser.at, parser.text.len(), "rest of {text:?}");
    expr
}

impl Parser<'_> {
    fn skip(&mut self) {
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> u8 {
        self.skip();
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    fn sum(&mut self) -> Expr {
        let mut parts = vec![self.product()];
        loop {
            if self.eat(b'+') {
                parts.push(self.product());
            } else if self.eat(b'-') {
                parts.push(self.product().negated());
            } else {
                break;
            }
        }
        if parts.len() == 1 {
            parts.remove(0)
        } else {
            Expr::Add(parts)
        }
    }

    fn product(&mut self) -> Expr {
        let mut parts = vec![self.unary()];
        loop {
            if self.eat(b'*') {
                parts.push(self.unary());
            } else if self.eat(b'/') {
                parts.push(Expr::power(self.unary(), Expr::integer(-1)));
            } else {
                break;
            }
        }
        if parts.len() == 1 {
            parts.remove(0)
        } else {
            Expr::Multiply(parts)
        }
    }

    fn unary(&mut self) -> Expr {
        if self.eat(b'-') {
            return self.unary().negated();
        }
        let base = self.postfix();
        if self.eat(b'^') {
            return Expr::power(base, self.unary());
        }
        base
    }

    fn postfix(&mut self) -> Expr {
        let mut base = self.atom();
        while self.eat(b'!') {
            base = Expr::Call(Function::Factorial, vec![base]);
        }
        base
    }

    fn atom(&mut self) -> Expr {
        if self.eat(b'(') {
            let inner = self.sum();
            assert!(self.eat(b')'));
            return inner;
        }
        let start = self.at;
        while matches!(self.text.get(self.at), Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'.' || *byte == b'_')
        {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.text[start..self.at]).unwrap();
        assert!(!word.is_empty(), "at {}", self.at);
        if word.as_bytes()[0].is_ascii_digit() {
            let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
            let digits = format!("{whole}{fraction}");
            let scale = dashu_int::UBig::from(10u8).pow(fraction.len());
            return Expr::Number(Rational::from_parts(digits.parse().unwrap(), scale));
        }
        if self.eat(b'(') {
            let mut arguments = vec![self.sum()];
            while self.eat(b',') {
                arguments.push(self.sum());
            }
            assert!(self.eat(b')'));
            return call(word, arguments);
        }
        match word {
            "pi" => Expr::Constant(Constant::Pi),
            "e" => Expr::Constant(Constant::E),
            "i" => Expr::Constant(Constant::ImaginaryUnit),
            "inf" => Expr::Constant(Constant::Infinity),
            "deg" => Expr::Constant(Constant::Degree),
            "phi" => Expr::Constant(Constant::GoldenRatio),
            "gamma" => Expr::Constant(Constant::EulerGamma),
            _ => Expr::symbol(word),
        }
    }
}

/// `sum(k, 1, n, body)`, `int(x, 0, 1, body)`, `int(x, body)`, `diff(x, body)`, `lim(x, 0, body)`.
fn binder(word: &str, arguments: &[Expr]) -> Option<Expr> {
    let kind = match word {
        "sum" => BinderKind::Sum,
        "prod" => BinderKind::Product,
        "int" => BinderKind::Integral,
        "diff" => BinderKind::Derivative,
        "lim" => BinderKind::Limit,
        _ => return None,
    };
    let (lower, upper) = match arguments {
        [_, lower, upper, _] => (Some(lower.clone()), Some(upper.clone())),
        [_, lower, _] => (Some(lower.clone()), None),
        _ => (None, None),
    };
    let Expr::Symbol(variable) = &arguments[0] else {
        panic!("{word}");
    };
    Some(Expr::Binder(Box::new(Binder {
        kind,
        variable: variable.clone(),
        lower,
        upper,
        body: arguments.last().unwrap().clone(),
    })))
}

fn call(word: &str, mut arguments: Vec<Expr>) -> Expr {
    use Function as F;
    if let Some(binder) = binder(word, &arguments) {
        return binder;
    }
    let function = match word {
        "sqrt" => {
            arguments.push(Expr::integer(2));
            F::Root
        }
        "cbrt" => {
            arguments.push(Expr::integer(3));
            F::Root
        }
        "root" => F::Root,
        "abs" => F::Absolute,
        "ln" => {
            arguments.push(Expr::Constant(Constant::E));
            F::Logarithm
        }
        "lg" => {
            arguments.push(Expr::integer(10));
            F::Logarithm
        }
        "log" => F::Logarithm,
        "exp" => return Expr::power(Expr::Constant(Constant::E), arguments.remove(0)),
        "sin" => F::Sin,
        "cos" => F::Cos,
        "tan" => F::Tan,
        "cot" => F::Cot,
        "sec" => F::Sec,
        "csc" => F::Csc,
        "asin" => F::Arcsin,
        "acos" => F::Arccos,
        "atan" => F::Arctan,
        "acot" => F::Arccot,
        "asec" => F::Arcsec,
        "acsc" => F::Arccsc,
        "sinh" => F::Sinh,
        "cosh" => F::Cosh,
        "tanh" => F::Tanh,
        "coth" => F::Coth,
        "asinh" => F::Arsinh,
        "acosh" => F::Arcosh,
        "atanh" => F::Artanh,
        "dfact" => F::DoubleFactorial,
        "Gamma" => F::Gamma,
        "binom" => F::Binomial,
        "perm" => F::Permutations,
        "floor" => F::Floor,
        "ceil" => F::Ceiling,
        "sign" => F::Sign,
        "gcd" => F::Gcd,
        "lcm" => F::Lcm,
        "max" => F::Max,
        "min" => F::Min,
        "mod" => F::Modulo,
        "re" => F::RealPart,
        "im" => F::ImaginaryPart,
        "conj" => F::Conjugate,
        "arg" => F::Argument,
        _ => return Expr::Apply(word.into(), arguments),
    };
    Expr::Call(function, arguments)
}
