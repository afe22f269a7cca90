//! Plain arithmetic as Python reads it.

use dashu_ratio::RBig;

use super::expr::Term;
use super::numbers;
use juror_algebra::Expr;

/// How deep brackets and signs may nest.
const MAX_DEPTH: u32 = 60;

/// How many quotients may follow each other: each is nested in the next, and Python gives up on deep nesting too.
const MAX_QUOTIENTS: u32 = 150;

struct Reader<'t> {
    rest: &'t str,
    depth: u32,
}

/// Reads digits, points, brackets and operators; `None` where Python finds a mistake.
pub(super) fn parse(text: &str) -> Option<Expr> {
    let mut reader = Reader {
        rest: text,
        depth: 0,
    };
    let term = reader.sum()?;
    reader.skip_spaces();
    reader.rest.is_empty().then_some(term)
}

impl Reader<'_> {
    fn skip_spaces(&mut self) {
        self.rest = self
            .rest
            .trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
    }

    /// Takes an operator; `**` is never taken for `*`, nor `//` for `/`.
    fn takes(&mut self, operator: &str) -> bool {
        self.skip_spaces();
        let Some(rest) = self.rest.strip_prefix(operator) else {
            return false;
        };
        if matches!(operator, "*" | "/") && rest.starts_with(operator) {
            return false;
        }
        self.rest = rest;
        true
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn sum(&mut self) -> Option<Expr> {
        let mut total = self.product()?;
        loop {
            if self.takes("+") {
                total = total.plus(self.product()?);
            } else if self.takes("-") {
                let part = self.product()?;
                total = total.plus(part.opposite());
            } else {
                return Some(total);
            }
        }
    }

    fn product(&mut self) -> Option<Expr> {
        let mut total = self.signed()?;
        let mut quotients = 0;
        loop {
            if self.takes("//") {
                let (dividend, divisor) = (exact_integer(&total)?, self.signed()?);
                let divisor = exact_integer(&divisor)?;
                if divisor.is_zero() {
                    return None;
                }
                total = Expr::Number(RBig::from((dividend / divisor).floor()));
            } else if self.takes("**") || self.rest.starts_with("**") {
                return None;
            } else if self.takes("*") {
                total = total.times(self.signed()?);
            } else if self.takes("/") {
                quotients += 1;
                if quotients > MAX_QUOTIENTS {
                    return None;
                }
                let divisor = self.signed()?;
                total = total.divided_by(divisor);
            } else {
                return Some(total);
            }
        }
    }

    fn signed(&mut self) -> Option<Expr> {
        if self.takes("-") {
            return Some(self.deeper(Self::signed)?.opposite());
        }
        if self.takes("+") {
            return self.deeper(Self::signed);
        }
        let base = self.atom()?;
        if self.takes("**") || self.takes("^") {
            let exponent = self.deeper(Self::signed)?;
            return Some(Expr::power(base, exponent));
        }
        Some(base)
    }

    fn atom(&mut self) -> Option<Expr> {
        if self.takes("(") {
            let inner = self.deeper(Self::sum)?;
            if !self.takes(")") {
                return None;
            }
            // Something in brackets that follows would be a call.
            self.skip_spaces();
            return (!self.rest.starts_with('(')).then_some(inner);
        }
        self.skip_spaces();
        let length = self
            .rest
            .bytes()
            .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
            .count();
        let (digits, rest) = self.rest.split_at(length);
        // Python has no integers with a leading zero.
        let led_by_zero = digits.len() > 1
            && digits.starts_with('0')
            && !digits.contains('.')
            && digits.bytes().any(|byte| byte != b'0');
        if led_by_zero || rest.trim_start().starts_with('(') {
            return None;
        }
        self.rest = rest;
        match digits.strip_suffix('.') {
            Some(whole) if !whole.is_empty() => numbers::parse(&format!("{whole}.0")),
            _ => numbers::parse(digits),
        }
    }
}

fn exact_integer(term: &Expr) -> Option<RBig> {
    let (value, _) = super::principal::exact(term)?;
    value.is_int().then_some(value)
}
