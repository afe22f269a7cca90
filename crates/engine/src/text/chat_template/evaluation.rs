//! Evaluates expressions.

use super::interpreter::{Given, Interpreter};
use super::syntax::{Arguments, Expression, Literal, Suffix};
use super::value::Value;
use super::work::{ENTRY, Fault, STEP, Text};

impl<'t> Interpreter<'t> {
    /// The arguments' values.
    pub(super) fn given(&mut self, arguments: &'t Arguments) -> Result<Given, Fault> {
        let mut given = Given::default();
        for argument in &arguments.plain {
            given.plain.push(self.value(argument)?);
        }
        if let Some(more) = &arguments.more_plain {
            let more = self.value(more)?.entries(&mut self.work)?;
            given.plain.extend(more);
        }
        for (name, argument) in &arguments.named {
            self.work.spend(name.len())?;
            given.named.push((name.clone(), self.value(argument)?));
        }
        if let Some(more) = &arguments.more_named {
            match self.value(more)? {
                Value::Dict(dict) => {
                    self.work.spend_each(dict.pairs.len(), ENTRY)?;
                    for (name, value) in &dict.pairs {
                        let name = name.as_str().ok_or("the names of arguments are texts")?;
                        self.work.spend(name.len())?;
                        given.named.push((name.to_owned(), value.clone()));
                    }
                }
                other => return Err(format!("'{}' object is not a mapping", other.kind())),
            }
        }
        Ok(given)
    }

    pub(super) fn value(&mut self, expression: &'t Expression) -> Result<Value, Fault> {
        self.work.enter()?;
        let value = self.evaluate(expression)?;
        self.work.leave();
        Ok(value)
    }

    pub(super) fn evaluate(&mut self, expression: &'t Expression) -> Result<Value, Fault> {
        Ok(match expression {
            Expression::Literal(literal) => match literal {
                Literal::None => Value::None,
                Literal::Bool(value) => Value::Bool(*value),
                Literal::Integer(number) => Value::Int(*number),
                Literal::Float(number) => Value::Float(*number),
                Literal::Text(text) => Value::Str(std::sync::Arc::clone(text)),
            },
            Expression::Name(name) => {
                if let Some(value) = self.variable(name)? {
                    value
                } else {
                    self.work.spend(name.len())?;
                    Value::undefined(&format!("'{name}' is undefined"))
                }
            }
            Expression::List(entries) => {
                let entries = self.values(entries)?;
                Value::list(entries, &mut self.work)?
            }
            Expression::Tuple(entries) => {
                let entries = self.values(entries)?;
                Value::tuple(entries, &mut self.work)?
            }
            Expression::Dictionary(pairs) => {
                let mut values = Vec::with_capacity(pairs.len());
                for (key, value) in pairs {
                    values.push((self.value(key)?, self.value(value)?));
                }
                Value::dictionary(values, &mut self.work)?
            }
            Expression::Conditional(parts) => {
                let (conditions, value, otherwise) = &**parts;
                for (at, condition) in conditions.iter().enumerate().rev() {
                    if !self.value(condition)?.is_true() {
                        return match otherwise {
                            Some(otherwise) if at + 1 == conditions.len() => self.value(otherwise),
                            _ => Ok(Value::undefined(
                                "the condition is false, and there is no 'else'",
                            )),
                        };
                    }
                }
                self.value(value)?
            }
            Expression::Or(terms) => self.first(terms, true)?,
            Expression::And(terms) => self.first(terms, false)?,
            Expression::Not(value) => Value::Bool(!self.value(value)?.is_true()),
            Expression::Compare(first, rest) => {
                let mut left = self.value(first)?;
                for (how, right) in rest {
                    let right = self.value(right)?;
                    if !super::operators::compare(*how, &left, &right, &mut self.work)? {
                        return Ok(Value::Bool(false));
                    }
                    left = right;
                }
                Value::Bool(true)
            }
            Expression::Arithmetic(first, rest) => {
                let mut left = self.value(first)?;
                for (operator, right) in rest {
                    let right = self.value(right)?;
                    left = super::operators::apply(*operator, &left, &right, &mut self.work)?;
                }
                left
            }
            Expression::Concatenate(terms) => {
                let values = self.values(terms)?;
                let mut text = Text::new(&mut self.work);
                for value in values {
                    value.write(&mut text)?;
                }
                Value::from(text.finish())
            }
            Expression::Negative(value) => super::operators::negative(&self.value(value)?)?,
            Expression::Positive(value) => super::operators::positive(&self.value(value)?)?,
            Expression::Suffixed(base, suffixes) => self.suffixed(base, suffixes, None)?,
        })
    }

    /// A value with its suffixes; the last one is called with the body of a `call` block, if there is one.
    pub(super) fn suffixed(
        &mut self,
        base: &'t Expression,
        suffixes: &'t [Suffix],
        caller: Option<usize>,
    ) -> Result<Value, Fault> {
        let mut value = self.value(base)?;
        let mut at = 0;
        while at < suffixes.len() {
            self.work.spend(STEP)?;
            let caller = caller.filter(|_| at + 1 == suffixes.len());
            let used;
            (value, used) = self.suffix(value, &suffixes[at..], caller)?;
            at += used;
        }
        Ok(value)
    }

    pub(super) fn values(&mut self, expressions: &'t [Expression]) -> Result<Vec<Value>, Fault> {
        self.work.spend_each(expressions.len(), STEP)?;
        expressions.iter().map(|one| self.value(one)).collect()
    }

    /// The first of some terms whose truth is `wanted`, or else the last: `or` and `and`.
    pub(super) fn first(&mut self, terms: &'t [Expression], wanted: bool) -> Result<Value, Fault> {
        let mut value = Value::None;
        for term in terms {
            value = self.value(term)?;
            if value.is_true() == wanted {
                break;
            }
        }
        Ok(value)
    }
}
