//! Parses expressions, as Jinja does.

use super::lexer::Token;
use super::parser::{MAX_NESTING, Parser};
use super::syntax::{Arguments, Comparison, Expression, Filter, Literal, Operator, Suffix};
use super::work::Fault;

impl Parser {
    /// One expression, or a tuple of several with commas between them.
    pub(super) fn tuple(&mut self, conditional: bool) -> Result<Expression, Fault> {
        let read = |parser: &mut Self| {
            if conditional {
                parser.expression()
            } else {
                parser.deeper(Self::or)
            }
        };
        let first = read(self)?;
        if !self.is_operator(",") {
            return Ok(first);
        }
        let mut entries = vec![first];
        while self.skip_operator(",") {
            let ends = match self.token() {
                Token::VariableEnd | Token::BlockEnd | Token::End => true,
                Token::Operator(operator) => *operator == ")",
                Token::Name(name) => !conditional && matches!(name.as_str(), "if" | "recursive"),
                _ => false,
            };
            if ends {
                break;
            }
            entries.push(read(self)?);
        }
        Ok(Expression::Tuple(entries))
    }

    pub(super) fn expression(&mut self) -> Result<Expression, Fault> {
        self.deeper(|parser| {
            let value = parser.or()?;
            // Nested conditions in a row are kept in a list: as a tree they would be as deep as the row is long, in each bracket anew.
            let mut conditions = Vec::new();
            let mut otherwise = None;
            while parser.skip_name("if") {
                if conditions.len() == MAX_NESTING {
                    return Err("too many conditions in a row".into());
                }
                conditions.push(parser.or()?);
                if parser.skip_name("else") {
                    // Further conditions belong to the expression after this `else`.
                    otherwise = Some(parser.expression()?);
                    break;
                }
            }
            Ok(if conditions.is_empty() {
                value
            } else {
                Expression::Conditional(Box::new((conditions, value, otherwise)))
            })
        })
    }

    /// Terms with one word or sign between them.
    fn row(
        &mut self,
        skip: impl Fn(&mut Self) -> bool,
        term: fn(&mut Self) -> Result<Expression, Fault>,
        made: fn(Vec<Expression>) -> Expression,
    ) -> Result<Expression, Fault> {
        let first = term(self)?;
        if !skip(self) {
            return Ok(first);
        }
        let mut terms = vec![first, term(self)?];
        while skip(self) {
            terms.push(term(self)?);
        }
        Ok(made(terms))
    }

    fn or(&mut self) -> Result<Expression, Fault> {
        self.row(|own| own.skip_name("or"), Self::and, Expression::Or)
    }

    fn and(&mut self) -> Result<Expression, Fault> {
        self.row(|own| own.skip_name("and"), Self::not, Expression::And)
    }

    fn not(&mut self) -> Result<Expression, Fault> {
        if self.skip_name("not") {
            let value = self.deeper(Self::not)?;
            return Ok(Expression::Not(Box::new(value)));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Expression, Fault> {
        let first = self.sum()?;
        let mut rest = Vec::new();
        loop {
            let how = match self.token() {
                Token::Operator("==") => Comparison::Equal,
                Token::Operator("!=") => Comparison::NotEqual,
                Token::Operator("<") => Comparison::Less,
                Token::Operator("<=") => Comparison::LessOrEqual,
                Token::Operator(">") => Comparison::Greater,
                Token::Operator(">=") => Comparison::GreaterOrEqual,
                Token::Name(name) if name == "in" => Comparison::In,
                Token::Name(name) if name == "not" => {
                    let next = self.tokens.get(self.at + 1);
                    if !matches!(next, Some((Token::Name(name), _)) if name == "in") {
                        break;
                    }
                    self.next();
                    Comparison::NotIn
                }
                _ => break,
            };
            self.next();
            rest.push((how, self.sum()?));
        }
        Ok(if rest.is_empty() {
            first
        } else {
            Expression::Compare(Box::new(first), rest)
        })
    }

    /// Terms with operators of one rank between them.
    fn chain(
        &mut self,
        operators: &[(&'static str, Operator)],
        term: impl Fn(&mut Self) -> Result<Expression, Fault>,
    ) -> Result<Expression, Fault> {
        let first = term(self)?;
        let mut rest = Vec::new();
        while let Some((_, operator)) = operators
            .iter()
            .find(|(written, _)| self.is_operator(written))
        {
            self.next();
            rest.push((*operator, term(self)?));
        }
        Ok(if rest.is_empty() {
            first
        } else {
            Expression::Arithmetic(Box::new(first), rest)
        })
    }

    fn sum(&mut self) -> Result<Expression, Fault> {
        let operators = [("+", Operator::Add), ("-", Operator::Subtract)];
        self.chain(&operators, Self::concatenation)
    }

    fn concatenation(&mut self) -> Result<Expression, Fault> {
        let skip = |own: &mut Self| own.skip_operator("~");
        self.row(skip, Self::product, Expression::Concatenate)
    }

    fn product(&mut self) -> Result<Expression, Fault> {
        let operators = [
            ("*", Operator::Multiply),
            ("/", Operator::Divide),
            ("//", Operator::FloorDivide),
            ("%", Operator::Remainder),
        ];
        self.chain(&operators, Self::power)
    }

    fn power(&mut self) -> Result<Expression, Fault> {
        self.chain(&[("**", Operator::Power)], |parser| parser.unary(true))
    }

    fn unary(&mut self, filtered: bool) -> Result<Expression, Fault> {
        let base = if self.skip_operator("-") {
            Expression::Negative(Box::new(self.deeper(|parser| parser.unary(false))?))
        } else if self.skip_operator("+") {
            Expression::Positive(Box::new(self.deeper(|parser| parser.unary(false))?))
        } else {
            self.primary()?
        };
        let mut suffixes = Vec::new();
        self.postfix(&mut suffixes)?;
        if filtered {
            loop {
                if self.skip_operator("|") {
                    suffixes.push(Suffix::Filter(self.filter()?));
                } else if self.skip_name("is") {
                    suffixes.push(self.test()?);
                } else if self.is_operator("(") {
                    suffixes.push(Suffix::Call(self.arguments()?));
                } else {
                    break;
                }
            }
        }
        Ok(suffixed(base, suffixes))
    }

    fn primary(&mut self) -> Result<Expression, Fault> {
        let literal = match self.token() {
            Token::Name(name) => {
                let literal = match name.as_str() {
                    "true" | "True" => Some(Literal::Bool(true)),
                    "false" | "False" => Some(Literal::Bool(false)),
                    "none" | "None" => Some(Literal::None),
                    _ => None,
                };
                let Some(literal) = literal else {
                    let name = self.expect_name()?;
                    self.mentions[0] |= name == "varargs";
                    self.mentions[1] |= name == "kwargs";
                    if !self.names.contains(&name) {
                        self.names.insert(name.clone());
                    }
                    return Ok(Expression::Name(name));
                };
                literal
            }
            Token::Integer(number) => Literal::Integer(*number),
            Token::Float(number) => Literal::Float(*number),
            Token::Text(_) => {
                let mut text = String::new();
                while let Token::Text(piece) = self.token() {
                    text.push_str(piece);
                    self.next();
                }
                return Ok(Expression::Literal(Literal::Text(text.into())));
            }
            Token::Operator("(") => {
                self.next();
                if self.skip_operator(")") {
                    return Ok(Expression::Tuple(Vec::new()));
                }
                let value = self.tuple(true)?;
                self.expect(")")?;
                return Ok(value);
            }
            Token::Operator("[") => {
                self.next();
                let mut entries = Vec::new();
                self.listed("]", |parser| {
                    entries.push(parser.expression()?);
                    Ok(())
                })?;
                return Ok(Expression::List(entries));
            }
            Token::Operator("{") => {
                self.next();
                let mut pairs = Vec::new();
                self.listed("}", |parser| {
                    let key = parser.expression()?;
                    parser.expect(":")?;
                    pairs.push((key, parser.expression()?));
                    Ok(())
                })?;
                return Ok(Expression::Dictionary(pairs));
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.next();
        Ok(Expression::Literal(literal))
    }

    /// Attributes, places and calls.
    fn postfix(&mut self, suffixes: &mut Vec<Suffix>) -> Result<(), Fault> {
        loop {
            if self.skip_operator(".") {
                suffixes.push(match self.next() {
                    Token::Name(name) => Suffix::Attribute(name),
                    Token::Integer(number) => {
                        Suffix::Item(Expression::Literal(Literal::Integer(number)))
                    }
                    _ => return Err("expected a name or a number after '.'".into()),
                });
            } else if self.skip_operator("[") {
                let suffix = self.place()?;
                if self.is_operator(",") {
                    let Suffix::Item(first) = suffix else {
                        return Err(self.unexpected("']'"));
                    };
                    let mut entries = vec![first];
                    while self.skip_operator(",") {
                        entries.push(self.expression()?);
                    }
                    suffixes.push(Suffix::Item(Expression::Tuple(entries)));
                } else {
                    suffixes.push(suffix);
                }
                self.expect("]")?;
            } else if self.is_operator("(") {
                suffixes.push(Suffix::Call(self.arguments()?));
            } else {
                return Ok(());
            }
        }
    }

    /// What stands between `[` and `]`: an index, or a slice.
    fn place(&mut self) -> Result<Suffix, Fault> {
        let mut parts: [Option<Expression>; 3] = [None, None, None];
        let mut part = 0;
        loop {
            if self.skip_operator(":") {
                part += 1;
                if part > 2 {
                    return Err("a slice has three parts at most".into());
                }
            } else if matches!(self.token(), Token::Operator("]" | ",")) {
                break;
            } else if parts[part].is_some() {
                return Err(self.unexpected("']'"));
            } else {
                parts[part] = Some(self.expression()?);
            }
        }
        match (part, parts) {
            (0, [Some(item), ..]) => Ok(Suffix::Item(item)),
            (0, _) => Err(self.unexpected("a value")),
            (_, parts) => Ok(Suffix::Slice(Box::new(parts))),
        }
    }

    fn arguments(&mut self) -> Result<Arguments, Fault> {
        self.expect("(")?;
        let mut arguments = Arguments::default();
        self.listed(")", |parser| {
            if parser.skip_operator("**") {
                arguments.more_named = Some(Box::new(parser.expression()?));
            } else if parser.skip_operator("*") {
                arguments.more_plain = Some(Box::new(parser.expression()?));
            } else if matches!(parser.token(), Token::Name(_))
                && matches!(
                    parser.tokens.get(parser.at + 1),
                    Some((Token::Operator("="), _))
                )
            {
                let name = parser.expect_name()?;
                parser.expect("=")?;
                arguments.named.push((name, parser.expression()?));
            } else if !arguments.named.is_empty() {
                return Err("an argument without a name follows one with a name".into());
            } else {
                arguments.plain.push(parser.expression()?);
            }
            Ok(())
        })?;
        Ok(arguments)
    }

    /// A name, which may hold dots.
    fn dotted(&mut self) -> Result<String, Fault> {
        let mut name = self.expect_name()?;
        while self.skip_operator(".") {
            name.push('.');
            name.push_str(&self.expect_name()?);
        }
        Ok(name)
    }

    pub(super) fn filter(&mut self) -> Result<Filter, Fault> {
        let name = self.dotted()?;
        let arguments = if self.is_operator("(") {
            self.arguments()?
        } else {
            Arguments::default()
        };
        Ok(Filter { name, arguments })
    }

    /// Filters, each after a `|`.
    pub(super) fn filters(&mut self) -> Result<Vec<Filter>, Fault> {
        let mut filters = Vec::new();
        while self.skip_operator("|") {
            filters.push(self.filter()?);
        }
        Ok(filters)
    }

    fn test(&mut self) -> Result<Suffix, Fault> {
        let negated = self.skip_name("not");
        let name = self.dotted()?;
        let takes_argument = match self.token() {
            Token::Name(name) => !matches!(name.as_str(), "else" | "or" | "and" | "is"),
            Token::Text(_) | Token::Integer(_) | Token::Float(_) => true,
            Token::Operator(operator) => matches!(*operator, "[" | "{"),
            _ => false,
        };
        let arguments = if self.is_operator("(") {
            self.arguments()?
        } else if takes_argument && !self.ends_test() {
            let argument = self.deeper(|parser| {
                let base = parser.primary()?;
                let mut suffixes = Vec::new();
                parser.postfix(&mut suffixes)?;
                Ok(suffixed(base, suffixes))
            })?;
            Arguments {
                plain: vec![argument],
                ..Arguments::default()
            }
        } else {
            Arguments::default()
        };
        Ok(Suffix::Test {
            negated,
            name,
            arguments,
        })
    }

    /// Whether the next word ends a test without arguments, as in `x is defined if y`, `x is defined in z` or `x is defined
    /// not …`: it belongs to the expression around the test.
    fn ends_test(&self) -> bool {
        matches!(self.token(), Token::Name(name) if matches!(name.as_str(), "if" | "in" | "not" | "recursive"))
    }
}

fn suffixed(base: Expression, suffixes: Vec<Suffix>) -> Expression {
    if suffixes.is_empty() {
        base
    } else {
        Expression::Suffixed(Box::new(base), suffixes)
    }
}
