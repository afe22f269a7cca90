//! From the tree to terms.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::names;
use super::numbers;
use super::reading::{Reading, read};
use super::term::{Binder, Term, Value};
use super::token::{Kind, Token};
use super::tree::{Node, NodeId, Span, Suffix};
use crate::rules::expr::{BinderKind, Constant, Function};

/// Binomials and the like are worked out up to this size, as SymPy does at once.
const MAX_WORKED_OUT: i64 = 2_000;

/// What a factor may be.
enum Factor {
    Term(Term),
    /// `\frac{d}{dx}`: waits for what it is applied to.
    Derivative(Term),
}

impl Reading<'_, '_> {
    /// The term of a node that is no operator waiting for its operand.
    pub(super) fn term(&self, id: NodeId) -> Option<Term> {
        match self.factor(id)? {
            Factor::Term(term) => Some(term),
            Factor::Derivative(_) => None,
        }
    }

    fn factor(&self, id: NodeId) -> Option<Factor> {
        let term = match self.node(id)? {
            Node::Additive(..) => self.sum(id)?,
            Node::Product(left, sign, right) => {
                let left = self.term(left)?;
                let right = self.term(right)?;
                match sign {
                    Kind::Times => left.times(right),
                    Kind::Modulo => Term::Call(Function::Modulo, vec![left, right]),
                    _ => left.over(right),
                }
            }
            Node::Negated(inner) => match self.term(inner)? {
                number if number.is_number_atom() => number.opposite(),
                other => Term::integer(-1).times(other),
            },
            Node::Factors(..) => self.factors(id)?,
            Node::Suffixed(inner, suffix) => self.suffixed(inner, suffix)?,
            Node::Power(base, exponent) => Term::power(self.term(base)?, self.term(exponent)?),
            Node::Absolute(inner) => Term::Call(Function::Absolute, vec![self.term(inner)?]),
            Node::Floor(inner) => Term::Call(Function::Floor, vec![self.term(inner)?]),
            Node::Ceiling(inner) => Term::Call(Function::Ceiling, vec![self.term(inner)?]),
            Node::Fraction(upper, lower, upper_span, lower_span) => {
                return self.fraction(upper, lower, upper_span, lower_span);
            }
            Node::Binomial(upper, lower) => binomial(self.term(upper)?, self.term(lower)?)?,
            Node::Matrix(rows) => self.matrix(rows)?,
            Node::Determinant(rows) => super::matrices::determinant(&self.matrix(rows)?)?,
            Node::Name {
                token,
                subscript,
                superscript,
            } => self.name(token, subscript, superscript)?,
            Node::Literal(token) => self.literal(self.tokens.get(token as usize)?)?,
            Node::Function {
                token,
                subscript,
                superscript,
                argument,
            } => {
                let name = self.tokens.get(token as usize)?.text;
                let base = match subscript {
                    Some(base) => Some(self.term(base)?),
                    None => None,
                };
                let power = match superscript {
                    Some(power) => Some(self.term(power)?),
                    None => None,
                };
                function(name, self.term(argument)?, base, power)?
            }
            Node::Call {
                name,
                superscript,
                arguments,
                defined,
            } => {
                let term = self.call(name, arguments, defined)?;
                match superscript {
                    Some(power) => Term::power(term, self.term(power)?),
                    None => term,
                }
            }
            Node::Integral {
                lower,
                upper,
                body,
                differential,
            } => self.integral(lower, upper, body, differential)?,
            Node::Root { degree, radicand } => {
                let radicand = self.term(radicand)?;
                let exponent = match degree {
                    None => Term::ratio(&RBig::from(1), &RBig::from(2)),
                    Some(degree) => match self.term(degree)? {
                        Term::Number(degree) => Term::ratio(&RBig::from(1), &degree),
                        other => Term::power(other, Term::integer(-1)),
                    },
                };
                Term::power(radicand, exponent)
            }
            Node::Series {
                kind,
                variable,
                lower,
                upper,
                body,
            } => {
                let variable = self.term(variable)?;
                if !matches!(variable, Term::Symbol { .. }) {
                    return None;
                }
                Term::Binder(Box::new(Binder {
                    kind: if kind == Kind::Sum {
                        BinderKind::Sum
                    } else {
                        BinderKind::Product
                    },
                    variable,
                    lower: Some(self.term(lower)?),
                    upper: Some(self.term(upper)?),
                    body: self.term(body)?,
                    from_below: false,
                }))
            }
            Node::Limit {
                variable,
                target,
                from_below,
                body,
            } => {
                let token = self.tokens.get(variable as usize)?;
                Term::Binder(Box::new(Binder {
                    kind: BinderKind::Limit,
                    variable: if token.kind == Kind::Letter {
                        names::plain(token.text, self.real)
                    } else {
                        names::symbol(token.text, self.real, true)
                    },
                    lower: Some(self.term(target)?),
                    upper: None,
                    body: self.term(body)?,
                    from_below,
                }))
            }
            Node::Exponential(power) => {
                let power = match power {
                    Some(power) => self.term(power)?,
                    None => Term::integer(1),
                };
                exponential(power)
            }
            // The length of a vector is no number here: only matrices have one, and they are rare in answers.
            _ => return None,
        };
        Some(Factor::Term(term))
    }

    /// A sum of many terms without recursion along it.
    fn sum(&self, id: NodeId) -> Option<Term> {
        let mut parts = Vec::new();
        let mut first = id;
        while let Some(Node::Additive(left, sign, right)) = self.node(first) {
            parts.push((sign, right));
            first = left;
        }
        let mut total = self.term(first)?;
        for (sign, part) in parts.into_iter().rev() {
            let part = self.term(part)?;
            let part = if sign == Kind::Minus {
                if matches!(part, Term::Number(_) | Term::Float(_)) || part.is_number_atom() {
                    part.opposite()
                } else {
                    Term::integer(-1).times(part)
                }
            } else {
                part
            };
            total = total.plus(part);
        }
        // A matrix and a number have no sum.
        if let Term::Add(terms) = &total
            && terms.iter().any(Term::is_matrix)
            && !terms.iter().all(Term::is_matrix)
        {
            return None;
        }
        Some(total)
    }

    /// Factors side by side, from the last to the first: an integer in front of a positive fraction is a mixed number.
    fn factors(&self, id: NodeId) -> Option<Term> {
        let mut parts = Vec::new();
        let mut next = id;
        while let Some(Node::Factors(left, right)) = self.node(next) {
            parts.push(right);
            next = left;
        }
        parts.push(next);
        let mut parts = parts.into_iter();
        let mut total = self.term(parts.next()?)?;
        for part in parts {
            total = match self.factor(part)? {
                Factor::Derivative(variable) => Term::Binder(Box::new(Binder {
                    kind: BinderKind::Derivative,
                    variable,
                    lower: None,
                    upper: None,
                    body: total,
                    from_below: false,
                })),
                Factor::Term(left) => match (left.as_integer(), total.as_rational()) {
                    (Some(whole), Some(fraction)) if *fraction > RBig::ZERO => {
                        let whole = RBig::from(whole.clone());
                        Term::Number(if whole < RBig::ZERO {
                            whole - fraction
                        } else {
                            whole + fraction
                        })
                    }
                    _ => left.times(total),
                },
            };
        }
        Some(total)
    }

    fn suffixed(&self, inner: NodeId, suffix: Suffix) -> Option<Term> {
        let term = self.term(inner)?;
        Some(match suffix {
            Suffix::Factorial => Term::Call(Function::Factorial, vec![term]),
            Suffix::Degree => term,
            Suffix::Transpose => super::matrices::transposed(term),
            Suffix::Evaluated { upper, lower } => {
                let upper = match upper {
                    Some(bound) => Some(self.substituted(&term, bound)?),
                    None => None,
                };
                let lower = match lower {
                    Some(bound) => Some(self.substituted(&term, bound)?),
                    None => None,
                };
                match (upper, lower) {
                    (Some(upper), Some(lower)) => upper.plus(lower.times(Term::integer(-1))),
                    (Some(term), None) | (None, Some(term)) => term,
                    (None, None) => return None,
                }
            }
        })
    }

    /// The term where the equation of a bound holds.
    fn substituted(&self, term: &Term, bound: NodeId) -> Option<Term> {
        match self.node(bound)? {
            Node::Relation(left, _, right) => {
                let left = self.term(left)?;
                let right = self.term(right)?;
                Some(super::walk::replaced(term, &left, &right))
            }
            _ => {
                self.term(bound)?;
                Some(term.clone())
            }
        }
    }

    fn matrix(&self, rows: NodeId) -> Option<Term> {
        let mut matrix = Vec::new();
        for (_, row) in self.list(rows) {
            let mut entries = Vec::new();
            for (_, entry) in self.list(row) {
                entries.push(self.term(entry)?);
            }
            matrix.push(entries);
        }
        let width = matrix.first()?.len();
        if matrix.iter().any(|row| row.len() != width) {
            return None;
        }
        Some(Term::Matrix(matrix))
    }

    fn name(
        &self,
        token: u32,
        subscript: Option<Span>,
        superscript: Option<NodeId>,
    ) -> Option<Term> {
        let token = self.tokens.get(token as usize)?;
        let subscript = match subscript {
            Some((from, to)) => Some(self.tokens.get(from as usize..to as usize)?),
            None => None,
        };
        let Some(name) = names::spelled(token, subscript) else {
            return Some(Term::Constant(Constant::ImaginaryUnit));
        };
        let symbol = names::symbol(&name, self.real, false);
        Some(match superscript {
            Some(power) => Term::power(symbol, self.term(power)?),
            None => symbol,
        })
    }

    fn literal(&self, token: &Token<'_>) -> Option<Term> {
        match token.kind {
            Kind::Symbol => token.text.contains("infty").then_some(Term::Infinity),
            Kind::Number | Kind::Scientific => numbers::parse(&token.text.replace('−', "-")),
            Kind::PercentNumber => {
                let digits = token.text.trim_end_matches(['%', '\\']).trim_end();
                numbers::parse(digits).map(Term::percent)
            }
            Kind::CapitalE => Some(names::plain("e", self.real)),
            Kind::Gamma => Some(Term::Constant(Constant::EulerGamma)),
            Kind::Differential => {
                let variable = differential(token.text);
                Some(names::plain(&format!("d{variable}"), self.real))
            }
            _ => None,
        }
    }

    /// A quotient, or the beginning of a derivative.
    fn fraction(
        &self,
        upper: NodeId,
        lower: NodeId,
        upper_span: Span,
        lower_span: Span,
    ) -> Option<Factor> {
        let span = |(from, to): Span| self.tokens.get(from as usize..to as usize);
        let below = span(lower_span)?;
        let above = span(upper_span)?;
        let variable = match below {
            [single] if single.kind == Kind::Differential => Some(differential(single.text)),
            [partial, variable]
                if partial.text == "\\partial"
                    && matches!(variable.kind, Kind::Letter | Kind::Symbol) =>
            {
                Some(variable.text.trim_start_matches('\\'))
            }
            _ => None,
        };
        if let Some(variable) = variable {
            let variable = names::plain(variable, self.real);
            let marks = |token: &Token<'_>| token.text == "d" || token.text == "\\partial";
            match above {
                [single] if marks(single) => return Some(Factor::Derivative(variable)),
                [first, ..] if first.text.starts_with('d') || marks(first) => {
                    let text = names::joined(above);
                    let rest = text
                        .strip_prefix("\\partial")
                        .or_else(|| text.strip_prefix('d'))?;
                    let Value::Term(body) = read(rest, self.real, self.nesting + 1)? else {
                        return None;
                    };
                    return Some(Factor::Term(Term::Binder(Box::new(Binder {
                        kind: BinderKind::Derivative,
                        variable,
                        lower: None,
                        upper: None,
                        body,
                        from_below: false,
                    }))));
                }
                _ => {}
            }
        }
        let upper = self.term(upper)?;
        let lower = self.term(lower)?;
        Some(Factor::Term(upper.over(lower)))
    }

    /// A call; the arguments are what stands between commas, whatever brackets are around.
    fn call(&self, name: Span, arguments: Span, defined: bool) -> Option<Term> {
        let text = names::joined(
            self.tokens
                .get(arguments.0 as usize..arguments.1 as usize)?,
        );
        let name = names::joined(self.tokens.get(name.0 as usize..name.1 as usize)?);
        let mut pieces: Vec<&str> = text.split(',').collect();
        if !defined && pieces.last().is_some_and(|last| last.is_empty()) {
            pieces.pop();
        }
        let mut arguments = Vec::with_capacity(pieces.len());
        for piece in pieces {
            arguments.push(read(piece, self.real, self.nesting + 1)?);
        }
        if !defined {
            return Some(Term::Apply(name.into(), arguments));
        }
        let mut terms = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let Value::Term(term) = argument else {
                return None;
            };
            terms.push(term);
        }
        match name.trim_start_matches('\\') {
            "max" => Some(Term::Call(Function::Max, terms)),
            "min" => Some(Term::Call(Function::Min, terms)),
            "gcd" => Some(Term::Unevaluated(Box::new(common(&terms, true)?))),
            "lcm" => Some(Term::Unevaluated(Box::new(common(&terms, false)?))),
            _ => None,
        }
    }

    fn integral(
        &self,
        lower: Option<NodeId>,
        upper: Option<NodeId>,
        body: Option<NodeId>,
        differential_token: Option<u32>,
    ) -> Option<Term> {
        let mut body = match body {
            Some(body) => self.term(body)?,
            None => Term::integer(1),
        };
        let variable = if let Some(token) = differential_token {
            names::plain(
                differential(self.tokens.get(token as usize)?.text),
                self.real,
            )
        } else {
            let mut symbols = Vec::new();
            super::walk::symbols(&body, &mut symbols);
            let marked = symbols.iter().find_map(|symbol| match symbol {
                Term::Symbol { name, .. } if name.len() > 1 => name
                    .strip_prefix('d')
                    .map(|rest| (symbol.clone(), rest.to_owned())),
                _ => None,
            });
            match marked {
                Some((symbol, rest)) => {
                    body = super::walk::replaced(&body, &symbol, &Term::integer(1));
                    names::plain(rest.trim_start_matches('\\'), self.real)
                }
                None => names::plain("x", self.real),
            }
        };
        let lower = match lower {
            Some(bound) => Some(self.term(bound)?),
            None => None,
        };
        let upper = match upper {
            Some(bound) => Some(self.term(bound)?),
            None => None,
        };
        Some(Term::Binder(Box::new(Binder {
            kind: BinderKind::Integral,
            variable,
            lower,
            upper,
            body,
            from_below: false,
        })))
    }
}

/// The variable of a differential: what stands behind the d.
fn differential(text: &str) -> &str {
    let rest = text.strip_prefix('d').unwrap_or(text).trim_start();
    rest.strip_prefix('\\').unwrap_or(rest)
}

/// e to a power; the simplest ones are worked out at once.
fn exponential(power: Term) -> Term {
    match &power {
        Term::Number(value) if value.is_zero() => Term::integer(1),
        Term::Number(value) if *value == RBig::from(1) => Term::Constant(Constant::E),
        Term::Infinity => Term::Infinity,
        Term::NegativeInfinity => Term::integer(0),
        _ => Term::power(Term::Constant(Constant::E), power),
    }
}

/// n over k, worked out where both are integers.
fn binomial(upper: Term, lower: Term) -> Option<Term> {
    if let Some(k) = lower.as_integer() {
        if k.is_zero() {
            return Some(Term::integer(1));
        }
        if *k == IBig::from(1) {
            return Some(upper);
        }
        if let Some(n) = upper.as_rational() {
            if *k < IBig::ZERO {
                return Some(Term::integer(0));
            }
            let integral = n.is_int();
            let top = n.numerator().clone();
            let mut k = k.clone();
            if integral && top >= IBig::ZERO {
                if k > top {
                    return Some(Term::integer(0));
                }
                let other = &top - &k;
                if other < k {
                    k = other;
                }
            }
            if k <= IBig::from(MAX_WORKED_OUT) {
                let count = i64::try_from(&k).ok()?;
                let mut value = RBig::from(1);
                for step in 0..count {
                    value *= (n - RBig::from(step)) / RBig::from(step + 1);
                }
                return Some(Term::Number(value));
            }
        }
    }
    Some(Term::Call(Function::Binomial, vec![upper, lower]))
}

/// The greatest common divisor or the least common multiple of numbers.
fn common(terms: &[Term], divisor: bool) -> Option<Term> {
    use dashu_base::Gcd;
    let mut numbers = Vec::with_capacity(terms.len());
    for term in terms {
        match term.as_integer() {
            Some(number) => numbers.push(number.clone()),
            None => {
                let function = if divisor {
                    Function::Gcd
                } else {
                    Function::Lcm
                };
                return Some(Term::Call(function, terms.to_vec()));
            }
        }
    }
    let mut numbers = numbers.into_iter();
    let mut total = numbers.next()?;
    for number in numbers {
        let zero = total.is_zero() && number.is_zero();
        if zero {
            continue;
        }
        let shared = IBig::from((&total).gcd(&number));
        total = if divisor {
            shared
        } else {
            total * number / shared
        };
    }
    if total < IBig::ZERO {
        total = -total;
    }
    Some(Term::Number(RBig::from(total)))
}

/// A function by its command.
fn function(name: &str, argument: Term, base: Option<Term>, power: Option<Term>) -> Option<Term> {
    let name = name.strip_prefix('\\').unwrap_or(name);
    let inverse = power.as_ref() == Some(&Term::integer(-1));
    let mut power = power;
    let call = |function: Function, argument: Term| Term::Call(function, vec![argument]);
    let mut circular = |direct: Function, opposite: Function, argument: Term| {
        if inverse {
            power = None;
            call(opposite, argument)
        } else {
            call(direct, argument)
        }
    };
    let term = match name {
        "sin" => circular(Function::Sin, Function::Arcsin, argument),
        "cos" => circular(Function::Cos, Function::Arccos, argument),
        "tan" => circular(Function::Tan, Function::Arctan, argument),
        "cot" => circular(Function::Cot, Function::Arccot, argument),
        "sec" => circular(Function::Sec, Function::Arcsec, argument),
        "csc" => circular(Function::Csc, Function::Arccsc, argument),
        "sinh" => circular(Function::Sinh, Function::Arsinh, argument),
        "cosh" => circular(Function::Cosh, Function::Arcosh, argument),
        "tanh" => circular(Function::Tanh, Function::Artanh, argument),
        "arcsin" => call(Function::Arcsin, argument),
        "arccos" => call(Function::Arccos, argument),
        "arctan" => call(Function::Arctan, argument),
        "arccot" => call(Function::Arccot, argument),
        "arcsec" => call(Function::Arcsec, argument),
        "arccsc" => call(Function::Arccsc, argument),
        "arsinh" | "arcsinh" => call(Function::Arsinh, argument),
        "arcosh" | "arccosh" => call(Function::Arcosh, argument),
        "artanh" | "arctanh" => call(Function::Artanh, argument),
        "log" | "ln" => {
            let base = base.unwrap_or_else(|| {
                if name == "ln" {
                    Term::Constant(Constant::E)
                } else {
                    Term::integer(10)
                }
            });
            Term::Call(Function::Logarithm, vec![argument, base])
        }
        "exp" | "exponentialE" => Term::power(Term::Constant(Constant::E), argument),
        "floor" => call(Function::Floor, argument),
        "ceil" => call(Function::Ceiling, argument),
        "gamma" | "Gamma" => gamma(argument),
        "det" => super::matrices::determinant(&argument)?,
        "trace" | "tr" => super::matrices::trace(&argument)?,
        _ => return None,
    };
    Some(match power {
        Some(power) if power != Term::integer(0) => Term::power(term, power),
        _ => term,
    })
}

/// Γ, worked out for small positive integers.
fn gamma(argument: Term) -> Term {
    if let Some(number) = argument.as_integer()
        && *number >= IBig::from(1)
        && *number <= IBig::from(200)
        && let Ok(number) = i64::try_from(number)
    {
        let product = (1..number).fold(IBig::from(1), |product, factor| product * factor);
        return Term::Number(RBig::from(product));
    }
    Term::Call(Function::Gamma, vec![argument])
}
