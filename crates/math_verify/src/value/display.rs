//! Values for people, of bounded length.

use dashu_base::BitTest;
use dashu_ratio::RBig;

use super::expr::spelling;
use super::{NamedSet, Operator, Relation, SetOperator, Value};
use juror_algebra::{Constant, Expr, Function};

/// Longer texts end in an ellipsis.
const MAX_CHARACTERS: usize = 400;
/// Deeper parts are left out.
const MAX_DEPTH: usize = 40;

pub(super) fn text(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out, 0);
    shortened(out)
}

pub(super) fn term(term: &Expr) -> String {
    let mut out = String::new();
    write_term(term, &mut out, 0);
    shortened(out)
}

fn shortened(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(MAX_CHARACTERS) {
        text.truncate(at);
        text.push('…');
    }
    text
}

fn is_full(out: &str, depth: usize) -> bool {
    out.len() > MAX_CHARACTERS * 4 || depth > MAX_DEPTH
}

fn list<T>(items: &[T], out: &mut String, separator: &str, write: impl Fn(&T, &mut String)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        if out.len() > MAX_CHARACTERS * 4 {
            out.push('…');
            return;
        }
        write(item, out);
    }
}

fn write_relation(relation: &Relation, out: &mut String, depth: usize) {
    write_value(&relation.left, out, depth);
    out.push_str(match relation.operator {
        Operator::Equal => " = ",
        Operator::NotEqual => " != ",
        Operator::Less => " < ",
        Operator::LessOrEqual => " <= ",
        Operator::Greater => " > ",
        Operator::GreaterOrEqual => " >= ",
    });
    write_value(&relation.right, out, depth);
}

fn write_value(value: &Value, out: &mut String, depth: usize) {
    if is_full(out, depth) {
        out.push('…');
        return;
    }
    let depth = depth + 1;
    match value {
        Value::Term(term) => write_term(term, out, depth),
        Value::Relation(relation) => write_relation(relation, out, depth),
        Value::Not(relation) => {
            out.push_str("not ");
            write_relation(relation, out, depth);
        }
        Value::And(relations) => list(relations, out, " and ", |relation, out| {
            write_relation(relation, out, depth);
        }),
        Value::Tuple(items) | Value::FiniteSet(items) => {
            let ordered = matches!(value, Value::Tuple(_));
            out.push(if ordered { '(' } else { '{' });
            list(items, out, ", ", |item, out| write_value(item, out, depth));
            out.push(if ordered { ')' } else { '}' });
        }
        Value::Interval(interval) => {
            out.push(if interval.lower_open { '(' } else { '[' });
            write_term(&interval.lower, out, depth);
            out.push_str(", ");
            write_term(&interval.upper, out, depth);
            out.push(if interval.upper_open { ')' } else { ']' });
        }
        Value::NamedSet(set) => out.push_str(match set {
            NamedSet::Empty => "EmptySet",
            NamedSet::Naturals => "Naturals",
            NamedSet::Integers => "Integers",
            NamedSet::Rationals => "Rationals",
            NamedSet::Reals => "Reals",
            NamedSet::Complexes => "Complexes",
        }),
        Value::Compound(operator, sides) => {
            write_value(&sides.0, out, depth);
            out.push_str(match operator {
                SetOperator::Union => " ∪ ",
                SetOperator::Intersection => " ∩ ",
                SetOperator::Difference => " \\ ",
            });
            write_value(&sides.1, out, depth);
        }
        Value::Foreign => out.push('?'),
    }
}

fn write_term(term: &Expr, out: &mut String, depth: usize) {
    if is_full(out, depth) {
        out.push('…');
        return;
    }
    let depth = depth + 1;
    let all = |items: &[Expr], out: &mut String, separator: &str| {
        list(items, out, separator, |item, out| {
            write_term(item, out, depth);
        });
    };
    let call = |name: &str, items: &[Expr], out: &mut String| {
        out.push_str(name);
        out.push('(');
        all(items, out, ", ");
        out.push(')');
    };
    let is_long = |it: &RBig| it.numerator().bit_len() + it.denominator().bit_len() > 4_000;
    match term {
        Expr::Number(value) if !is_long(value) => out.push_str(&value.to_string()),
        Expr::Number(_) | Expr::LongNumber(_) => out.push_str("a long number"),
        Expr::Constant(constant) => out.push_str(match constant {
            Constant::Pi => "pi",
            Constant::E => "E",
            Constant::ImaginaryUnit => "I",
            Constant::Infinity => "oo",
            Constant::NegativeInfinity => "-oo",
            Constant::ComplexInfinity => "zoo",
            Constant::Undefined => "nan",
            Constant::EulerGamma => "EulerGamma",
            Constant::Degree => "pi/180",
        }),
        Expr::Symbol(name) => out.push_str(spelling(name)),
        Expr::Add(items) => all(items, out, " + "),
        Expr::Multiply(items) => list(items, out, "*", |item, out| {
            let sum = matches!(item, Expr::Add(_));
            out.push_str(if sum { "(" } else { "" });
            write_term(item, out, depth);
            out.push_str(if sum { ")" } else { "" });
        }),
        Expr::Power(power) => {
            out.push('(');
            write_term(&power.0, out, depth);
            out.push_str(")**(");
            write_term(&power.1, out, depth);
            out.push(')');
        }
        Expr::Call(Function::Decimal, items) => {
            if let [Expr::Number(value)] = items.as_slice() {
                out.push_str(&value.to_f64().value().to_string());
            }
        }
        Expr::Call(Function::Row, items) => all(items, out, ", "),
        Expr::Call(Function::Matrix, rows) => {
            out.push('[');
            all(rows, out, "; ");
            out.push(']');
        }
        Expr::Call(Function::Held, items) => call("", items, out),
        Expr::Call(function, items) => call(&format!("{function:?}").to_lowercase(), items, out),
        Expr::Apply(name, items) => call(name, items, out),
        Expr::Binder(binder) => {
            out.push_str(&format!("{:?}", binder.kind).to_lowercase());
            out.push('(');
            write_term(&binder.body, out, depth);
            out.push_str(", ");
            out.push_str(spelling(&binder.variable));
            for bound in [&binder.lower, &binder.upper].into_iter().flatten() {
                out.push_str(", ");
                write_term(bound, out, depth);
            }
            out.push(')');
        }
    }
}
