//! Arithmetic and comparison operators, as in Python.

use std::cmp::Ordering;

use super::formats;
use super::methods::size;
use super::string_filters::escape;
use super::syntax::{Comparison, Operator};
use super::value::{Kind, Value};
use super::work::{Fault, Text, Work};

/// Compares two values.
pub(super) fn compare(
    how: Comparison,
    left: &Value,
    right: &Value,
    work: &mut Work,
) -> Result<bool, Fault> {
    Ok(match how {
        Comparison::Equal => left.equals(right, work)?,
        Comparison::NotEqual => !left.equals(right, work)?,
        Comparison::In => is_in(left, right, work)?,
        Comparison::NotIn => !is_in(left, right, work)?,
        Comparison::Less => left.compare(right, work)? == Some(Ordering::Less),
        Comparison::Greater => left.compare(right, work)? == Some(Ordering::Greater),
        Comparison::LessOrEqual => {
            matches!(
                left.compare(right, work)?,
                Some(Ordering::Less | Ordering::Equal)
            )
        }
        Comparison::GreaterOrEqual => {
            matches!(
                left.compare(right, work)?,
                Some(Ordering::Greater | Ordering::Equal)
            )
        }
    })
}

/// `left in right`
pub(super) fn is_in(left: &Value, right: &Value, work: &mut Work) -> Result<bool, Fault> {
    match right {
        Value::Undefined(_) => Ok(false),
        Value::Str(text) | Value::Safe(text) => {
            let Some(part) = left.as_str() else {
                return Err(format!(
                    "'in <string>' requires string as left operand, not {}",
                    left.defined()?.kind()
                ));
            };
            work.spend((text.len() + part.len()) / 4)?;
            Ok(text.contains(part))
        }
        Value::List(list) => {
            for entry in &list.entries {
                if entry.equals(left, work)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Value::Dict(_) => Ok(right.lookup(left, work)?.is_some()),
        other => Err(format!(
            "argument of type '{}' is not iterable",
            other.kind()
        )),
    }
}

/// Applies an operator to one number; `name` is the operator in messages.
pub(super) fn on_number(
    name: &str,
    value: &Value,
    float: fn(f64) -> f64,
    whole: fn(i128) -> Option<i128>,
) -> Result<Value, Fault> {
    match value.defined()? {
        Value::Float(number) => Ok(Value::Float(float(*number))),
        other => match other.as_int().and_then(whole) {
            Some(number) => Ok(Value::Int(number)),
            None => Err(format!("bad operand type for {name}: '{}'", other.kind())),
        },
    }
}

pub(super) fn negative(value: &Value) -> Result<Value, Fault> {
    on_number("unary -", value, |number| -number, i128::checked_neg)
}

pub(super) fn positive(value: &Value) -> Result<Value, Fault> {
    on_number("unary +", value, |number| number, Some)
}

/// Applies an arithmetic operator to two values.
pub(super) fn apply(
    operator: Operator,
    left: &Value,
    right: &Value,
    work: &mut Work,
) -> Result<Value, Fault> {
    left.defined()?;
    right.defined()?;
    match operator {
        Operator::Add => {
            if let Some(sum) = join(left, right, work)? {
                return Ok(sum);
            }
        }
        Operator::Multiply => {
            for (value, times) in [(left, right), (right, left)] {
                if let Some(times) = times.as_int()
                    && let Some(product) = repeat(value, times, work)?
                {
                    return Ok(product);
                }
            }
        }
        Operator::Remainder => {
            if let Some(format) = left.as_str() {
                let arguments = match right {
                    Value::List(list) if list.kind == Kind::Tuple => list.entries.clone(),
                    other => vec![other.clone()],
                };
                return formats::percent_format(format, &arguments, work);
            }
        }
        _ => {}
    }
    if let (Some(left), Some(right)) = (left.as_int(), right.as_int()) {
        return integers(operator, left, right);
    }
    match (left.as_float(), right.as_float()) {
        (Some(left), Some(right)) => floats(operator, left, right),
        _ => Err(format!(
            "unsupported operand types: '{}' and '{}'",
            left.kind(),
            right.kind()
        )),
    }
}

/// The sum of texts or of sequences.
fn join(left: &Value, right: &Value, work: &mut Work) -> Result<Option<Value>, Fault> {
    if let (Some(one), Some(two)) = (left.as_str(), right.as_str()) {
        // If either text is marked as safe, the other is escaped.
        let safe = matches!(left, Value::Safe(_)) || matches!(right, Value::Safe(_));
        let mut text = Text::new(work);
        for (value, own) in [(left, one), (right, two)] {
            if safe && matches!(value, Value::Str(_)) {
                escape(own, &mut text)?;
            } else {
                text.push(own)?;
            }
        }
        let text = text.finish();
        return Ok(Some(if safe {
            Value::Safe(text.into())
        } else {
            Value::from(text)
        }));
    }
    match (left, right) {
        (Value::List(one), Value::List(two))
            if one.kind == two.kind && matches!(one.kind, Kind::List | Kind::Tuple) =>
        {
            let mut entries = left.entries(work)?;
            entries.extend(right.entries(work)?);
            Value::sequence(entries, one.kind, work).map(Some)
        }
        _ => Ok(None),
    }
}

/// A text or a sequence repeated.
fn repeat(value: &Value, times: i128, work: &mut Work) -> Result<Option<Value>, Fault> {
    let times = size(times);
    match value {
        Value::Str(text) | Value::Safe(text) => {
            let mut out = Text::new(work);
            if !text.is_empty() {
                out.repeat(text, times)?;
            }
            Ok(Some(Value::from(out.finish())))
        }
        Value::List(list) if matches!(list.kind, Kind::List | Kind::Tuple) => {
            let times = if list.entries.is_empty() { 0 } else { times };
            work.spend_each(list.entries.len().saturating_mul(times), super::work::ENTRY)?;
            let count = list.entries.len() * times;
            let entries = list.entries.iter().cycle().take(count).cloned().collect();
            Value::sequence(entries, list.kind, work).map(Some)
        }
        _ => Ok(None),
    }
}

fn integers(operator: Operator, left: i128, right: i128) -> Result<Value, Fault> {
    let number = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => return floats(operator, left as f64, right as f64),
        Operator::FloorDivide | Operator::Remainder if right == 0 => {
            return Err("division by zero".into());
        }
        Operator::FloorDivide => left.checked_div(right).map(|quotient| {
            let exact = left.checked_rem(right) == Some(0);
            quotient - i128::from(!exact && (left < 0) != (right < 0))
        }),
        Operator::Remainder => left.checked_rem(right).map(|rest| {
            if rest != 0 && (rest < 0) != (right < 0) {
                rest + right
            } else {
                rest
            }
        }),
        Operator::Power => match u32::try_from(right) {
            Ok(power) => left.checked_pow(power),
            Err(_) if right < 0 => return floats(operator, left as f64, right as f64),
            Err(_) if matches!(left, 0 | 1) => Some(left),
            Err(_) => None,
        },
    };
    match number {
        Some(number) => Ok(Value::Int(number)),
        None => Err("a number becomes too large".into()),
    }
}

fn floats(operator: Operator, left: f64, right: f64) -> Result<Value, Fault> {
    if right == 0.0
        && matches!(
            operator,
            Operator::Divide | Operator::FloorDivide | Operator::Remainder
        )
    {
        return Err("division by zero".into());
    }
    Ok(Value::Float(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::FloorDivide => (left / right).floor(),
        Operator::Remainder => {
            let rest = left % right;
            if rest != 0.0 && (rest < 0.0) != (right < 0.0) {
                rest + right
            } else {
                rest
            }
        }
        Operator::Power => left.powf(right),
    }))
}
