//! From the tree to terms.

use dashu_ratio::RBig;

use super::Value;
use super::application::{binomial, common, exponential, function};
use super::expr::{Term, spelling, symbol_name};
use super::principal::replaced;
use super::reading::{Interpreter, read};
use super::token::{Lexeme, Token};
use super::tree::{Node, NodeId, Span, Suffix};
use super::{matrices, names, numbers};
use juror_algebra::{self as algebra, Binder, BinderKind, Constant, Expr, Function};

/// Quotients of quotients nest no deeper.
const MAX_QUOTIENTS: usize = 60;

enum Factor {
    Term(Expr),
    /// `\frac{d}{dx}`: waits for what it is applied to.
    Derivative(Box<str>),
}

impl Interpreter<'_, '_> {
    /// The term of a node that is no operator waiting for its operand.
    pub(super) fn term(&self, id: NodeId) -> Option<Expr> {
        match self.factor(id)? {
            Factor::Term(term) => Some(term),
            Factor::Derivative(_) => None,
        }
    }

    /// The term of a node, if there is one.
    fn optional(&self, id: Option<NodeId>) -> Result<Option<Expr>, ()> {
        id.map(|id| self.term(id).ok_or(())).transpose()
    }

    fn factor(&self, id: NodeId) -> Option<Factor> {
        self.deeper(|reading| reading.factor_now(id))
    }

    fn factor_now(&self, id: NodeId) -> Option<Factor> {
        let term = match self.node(id)? {
            Node::Additive(..) => self.sum(id)?,
            Node::Product(..) => self.product(id)?,
            Node::Negated(inner) => self.term(inner)?.opposite(),
            Node::Factors(..) => self.factors(id)?,
            Node::Suffixed(inner, suffix) => self.suffixed(inner, suffix)?,
            Node::Power(base, exponent) => Expr::power(self.term(base)?, self.term(exponent)?),
            Node::Absolute(inner) => Expr::Call(Function::Absolute, vec![self.term(inner)?]),
            Node::Floor(inner) => Expr::Call(Function::Floor, vec![self.term(inner)?]),
            Node::Ceiling(inner) => Expr::Call(Function::Ceiling, vec![self.term(inner)?]),
            Node::Fraction(upper, lower, upper_span, lower_span) => {
                return self.fraction(upper, lower, upper_span, lower_span);
            }
            Node::Binomial(upper, lower) => binomial(self.term(upper)?, self.term(lower)?)?,
            Node::Matrix(rows) => self.matrix(rows)?,
            Node::Determinant(rows) => matrices::determinant(&self.matrix(rows)?)?,
            Node::Name {
                token,
                subscript,
                superscript,
            } => self.name(token, subscript, superscript)?,
            Node::Literal(token) => self.literal(self.token(token)?)?,
            Node::Function {
                token,
                subscript,
                superscript,
                argument,
            } => {
                let name = self.token(token)?.text;
                let base = self.optional(subscript).ok()?;
                let power = self.optional(superscript).ok()?;
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
                    Some(power) => Expr::power(term, self.term(power)?),
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
                    None => Expr::ratio(&RBig::from(1), &RBig::from(2)),
                    Some(degree) => match self.term(degree)? {
                        Expr::Number(degree) => Expr::ratio(&RBig::from(1), &degree),
                        other => Expr::power(other, Expr::integer(-1)),
                    },
                };
                Expr::power(radicand, exponent)
            }
            Node::Series {
                kind,
                variable,
                lower,
                upper,
                body,
            } => {
                let Expr::Symbol(variable) = self.term(variable)? else {
                    return None;
                };
                let kind = match kind {
                    Token::Sum => BinderKind::Sum,
                    _ => BinderKind::Product,
                };
                let bounds = [Some(self.term(lower)?), Some(self.term(upper)?)];
                bound(kind, variable, bounds, self.term(body)?)
            }
            Node::Limit {
                variable,
                target,
                from_below,
                body,
            } => {
                let name = self.token(variable)?.text;
                let Expr::Symbol(variable) = names::symbol(name, self.real, true) else {
                    return None;
                };
                // The second is the side from which it is approached.
                let bounds = [
                    Some(self.term(target)?),
                    from_below.then(|| Expr::integer(-1)),
                ];
                bound(BinderKind::Limit, variable, bounds, self.term(body)?)
            }
            Node::Exponential(power) => exponential(
                self.optional(power)
                    .ok()?
                    .unwrap_or_else(|| Expr::integer(1)),
            ),
            // The length of a vector is no number here: only matrices have one, and they are rare in answers.
            _ => return None,
        };
        Some(Factor::Term(term))
    }

    /// The first operand of a chain that leans to the left, and the others, each with the sign before it.
    fn chained(
        &self,
        id: NodeId,
        link: impl Fn(Node) -> Option<(NodeId, Token, NodeId)>,
    ) -> Option<(Expr, Vec<(Token, Expr)>)> {
        let mut parts = Vec::new();
        let mut first = id;
        while let Some((left, sign, right)) = self.node(first).and_then(&link) {
            parts.push((sign, right));
            first = left;
        }
        let total = self.term(first)?;
        let parts = parts.into_iter().rev();
        let parts = parts.map(|(sign, part)| Some((sign, self.term(part)?)));
        Some((total, parts.collect::<Option<_>>()?))
    }

    /// A product of many factors without recursion along it; quotients nest.
    fn product(&self, id: NodeId) -> Option<Expr> {
        let (mut total, parts) = self.chained(id, |node| match node {
            Node::Product(left, sign, right) => Some((left, sign, right)),
            _ => None,
        })?;
        let quotients = parts.iter().filter(|(sign, _)| *sign != Token::Times);
        if quotients.count() > MAX_QUOTIENTS {
            return None;
        }
        for (sign, part) in parts {
            total = match sign {
                Token::Times => total.times(part),
                Token::Modulo => Expr::Call(Function::Modulo, vec![total, part]),
                _ => total.over(part),
            };
        }
        Some(total)
    }

    /// A sum of many terms without recursion along it.
    fn sum(&self, id: NodeId) -> Option<Expr> {
        let (mut total, parts) = self.chained(id, |node| match node {
            Node::Additive(left, sign, right) => Some((left, sign, right)),
            _ => None,
        })?;
        for (sign, part) in parts {
            total = total.plus(if sign == Token::Minus {
                part.opposite()
            } else {
                part
            });
        }
        // A matrix and a number have no sum.
        if let Expr::Add(terms) = &total
            && terms.iter().any(Expr::is_matrix)
            && !terms.iter().all(Expr::is_matrix)
        {
            return None;
        }
        Some(total)
    }

    /// Factors side by side, from the last to the first: an integer in front of a positive fraction is a mixed number.
    fn factors(&self, id: NodeId) -> Option<Expr> {
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
                Factor::Derivative(variable) => {
                    bound(BinderKind::Derivative, variable, [None, None], total)
                }
                Factor::Term(left) => match (left.as_integer(), total.as_rational()) {
                    (Some(whole), Some(fraction)) if *fraction > RBig::ZERO => {
                        let whole = RBig::from(whole.clone());
                        Expr::Number(if whole < RBig::ZERO {
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

    fn suffixed(&self, inner: NodeId, suffix: Suffix) -> Option<Expr> {
        let term = self.term(inner)?;
        Some(match suffix {
            Suffix::Factorial => Expr::Call(Function::Factorial, vec![term]),
            Suffix::Degree => term,
            Suffix::Transpose => matrices::transposed(term),
        })
    }

    fn matrix(&self, rows: NodeId) -> Option<Expr> {
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
        Some(matrices::matrix(matrix))
    }

    fn name(
        &self,
        token: u32,
        subscript: Option<Span>,
        superscript: Option<NodeId>,
    ) -> Option<Expr> {
        let token = self.token(token)?;
        let subscript = match subscript {
            Some(span) => Some(self.span(span)?),
            None => None,
        };
        let Some(name) = names::spelled(token, subscript) else {
            return Some(Expr::Constant(Constant::ImaginaryUnit));
        };
        let symbol = names::symbol(&name, self.real, false);
        Some(match superscript {
            Some(power) => Expr::power(symbol, self.term(power)?),
            None => symbol,
        })
    }

    fn literal(&self, token: &Lexeme<'_>) -> Option<Expr> {
        match token.kind {
            Token::Symbol => token
                .text
                .contains("infty")
                .then_some(Expr::Constant(Constant::Infinity)),
            Token::Number | Token::Scientific => numbers::parse(&token.text.replace('−', "-")),
            Token::PercentNumber => {
                let digits = token.text.trim_end_matches(['%', '\\']).trim_end();
                numbers::parse(digits).map(Expr::percent)
            }
            Token::CapitalE => Some(names::plain("e", self.real)),
            Token::Gamma => Some(Expr::Constant(Constant::EulerGamma)),
            Token::Differential => {
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
        let (below, above) = (self.span(lower_span)?, self.span(upper_span)?);
        let variable = match below {
            [single] if single.kind == Token::Differential => Some(differential(single.text)),
            [partial, variable]
                if partial.text == "\\partial"
                    && matches!(variable.kind, Token::Letter | Token::Symbol) =>
            {
                Some(variable.text.trim_start_matches('\\'))
            }
            _ => None,
        };
        if let Some(variable) = variable {
            let variable = symbol_name(variable, self.real);
            let marks = |token: &Lexeme<'_>| token.text == "d" || token.text == "\\partial";
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
                    let derivative = bound(BinderKind::Derivative, variable, [None, None], body);
                    return Some(Factor::Term(derivative));
                }
                _ => {}
            }
        }
        let upper = self.term(upper)?;
        let lower = self.term(lower)?;
        Some(Factor::Term(upper.over(lower)))
    }

    /// A call; the arguments are what stands between commas, whatever brackets are around.
    fn call(&self, name: Span, arguments: Span, defined: bool) -> Option<Expr> {
        let text = names::joined(self.span(arguments)?);
        let name = names::joined(self.span(name)?);
        let mut pieces: Vec<&str> = text.split(',').collect();
        if !defined && pieces.last().is_some_and(|last| last.is_empty()) {
            pieces.pop();
        }
        let mut terms = Vec::with_capacity(pieces.len());
        for piece in pieces {
            terms.push(match read(piece, self.real, self.nesting + 1)? {
                Value::Term(term) => term,
                _ if defined => return None,
                // A set or a relation is another function, known by its text.
                other => Expr::Apply(other.to_string().into(), Vec::new()),
            });
        }
        if !defined {
            return Some(Expr::Apply(name.into(), terms));
        }
        match name.trim_start_matches('\\') {
            "max" => Some(Expr::Call(Function::Max, terms)),
            "min" => Some(Expr::Call(Function::Min, terms)),
            "gcd" => common(Function::Gcd, terms).map(Expr::held),
            "lcm" => common(Function::Lcm, terms).map(Expr::held),
            _ => None,
        }
    }

    fn integral(
        &self,
        lower: Option<NodeId>,
        upper: Option<NodeId>,
        body: Option<NodeId>,
        differential_token: Option<u32>,
    ) -> Option<Expr> {
        let mut body = match body {
            Some(body) => self.term(body)?,
            None => Expr::integer(1),
        };
        let name = if let Some(token) = differential_token {
            differential(self.token(token)?.text).to_owned()
        } else {
            // A symbol that is spelled like a differential is one.
            let marked = algebra::variables(&body).into_iter().find_map(|symbol| {
                let rest = spelling(&symbol).strip_prefix('d')?.to_owned();
                (!rest.is_empty()).then_some((symbol, rest))
            });
            match marked {
                Some((symbol, rest)) => {
                    body = replaced(&body, &Expr::Symbol(symbol), &Expr::integer(1));
                    rest.trim_start_matches('\\').to_owned()
                }
                None => "x".to_owned(),
            }
        };
        let lower = self.optional(lower).ok()?;
        let upper = self.optional(upper).ok()?;
        let variable = symbol_name(&name, self.real);
        Some(bound(BinderKind::Integral, variable, [lower, upper], body))
    }
}

fn bound(kind: BinderKind, variable: Box<str>, bounds: [Option<Expr>; 2], body: Expr) -> Expr {
    let [lower, upper] = bounds;
    Expr::Binder(Box::new(Binder {
        kind,
        variable,
        lower,
        upper,
        body,
    }))
}

/// The variable of a differential: what stands after the d.
fn differential(text: &str) -> &str {
    let rest = text.strip_prefix('d').unwrap_or(text).trim_start();
    rest.strip_prefix('\\').unwrap_or(rest)
}
