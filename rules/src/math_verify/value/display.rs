//! Values for people, of bounded length.

use dashu_base::BitTest;

use super::term::{NamedSet, Operator, Relation, SetOperator, Term, Value};
use crate::algebra::Constant;

/// Longer texts end in an ellipsis.
const MAX_CHARACTERS: usize = 400;
/// Deeper parts are left out.
const MAX_DEPTH: usize = 40;

/// The text of a value.
pub(super) fn text(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out, 0);
    shortened(out)
}

/// The text of a term.
pub(super) fn term(term: &Term) -> String {
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
        Value::Tuple(items) => {
            out.push('(');
            list(items, out, ", ", |item, out| write_value(item, out, depth));
            out.push(')');
        }
        Value::FiniteSet(items) => {
            out.push('{');
            list(items, out, ", ", |item, out| write_value(item, out, depth));
            out.push('}');
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

fn write_term(term: &Term, out: &mut String, depth: usize) {
    if is_full(out, depth) {
        out.push('…');
        return;
    }
    let depth = depth + 1;
    match term {
        Term::Number(value) => {
            if value.numerator().bit_len() + value.denominator().bit_len() > 4_000 {
                out.push_str("a long number");
            } else {
                out.push_str(&value.to_string());
            }
        }
        Term::Float(value) => out.push_str(&value.to_f64().value().to_string()),
        Term::Infinity => out.push_str("oo"),
        Term::NegativeInfinity => out.push_str("-oo"),
        Term::ComplexInfinity => out.push_str("zoo"),
        Term::Undefined => out.push_str("nan"),
        Term::Constant(constant) => out.push_str(match constant {
            Constant::Pi => "pi",
            Constant::E => "E",
            Constant::ImaginaryUnit => "I",
            Constant::Infinity => "oo",
            Constant::GoldenRatio => "GoldenRatio",
            Constant::EulerGamma => "EulerGamma",
            Constant::Degree => "pi/180",
        }),
        Term::Symbol { name, .. } => out.push_str(name),
        Term::Add(items) => list(items, out, " + ", |item, out| write_term(item, out, depth)),
        Term::Multiply(items) => list(items, out, "*", |item, out| {
            let sum = matches!(item, Term::Add(_));
            if sum {
                out.push('(');
            }
            write_term(item, out, depth);
            if sum {
                out.push(')');
            }
        }),
        Term::Power(power) => {
            out.push('(');
            write_term(&power.0, out, depth);
            out.push_str(")**(");
            write_term(&power.1, out, depth);
            out.push(')');
        }
        Term::Call(function, items) => {
            out.push_str(&format!("{function:?}").to_lowercase());
            out.push('(');
            list(items, out, ", ", |item, out| write_term(item, out, depth));
            out.push(')');
        }
        Term::Apply(name, items) => {
            out.push_str(name);
            out.push('(');
            list(items, out, ", ", |item, out| write_value(item, out, depth));
            out.push(')');
        }
        Term::Unevaluated(inner) => {
            out.push('(');
            write_term(inner, out, depth);
            out.push(')');
        }
        Term::Binder(binder) => {
            out.push_str(&format!("{:?}", binder.kind).to_lowercase());
            out.push('(');
            write_term(&binder.body, out, depth);
            out.push_str(", ");
            write_term(&binder.variable, out, depth);
            for bound in [&binder.lower, &binder.upper].into_iter().flatten() {
                out.push_str(", ");
                write_term(bound, out, depth);
            }
            out.push(')');
        }
        Term::Matrix(rows) => {
            out.push('[');
            list(rows, out, "; ", |row, out| {
                list(row, out, ", ", |item, out| write_term(item, out, depth));
            });
            out.push(']');
        }
    }
}
