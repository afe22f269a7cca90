//! Items in the order and the groups that their separators make.

use crate::algebra::{Expr, Rational};
use crate::answer::{Answer, Operator, Quantity, Relation};
use crate::lexicon::words::{HAS_CENTS, POUNDS};

/// What stands between two items, from what binds most to what binds least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Separator {
    /// `,`, `and`.
    Comma,
    /// `or`.
    Or,
    /// `;`, a new line, a wide space.
    Semicolon,
}

/// Items in the order and the groups that their separators make.
pub(super) fn arrange(mut items: Vec<Answer>, separators: &[Separator]) -> Answer {
    if items.len() == 1
        && let Some(item) = items.pop()
    {
        return item;
    }
    for level in [Separator::Semicolon, Separator::Or] {
        let grouped =
            separators.contains(&level) && separators.iter().any(|separator| *separator < level);
        if !grouped {
            continue;
        }
        let mut groups: Vec<Vec<Answer>> = vec![Vec::new()];
        let mut inner: Vec<Vec<Separator>> = vec![Vec::new()];
        let whole = items.clone();
        for (index, item) in items.into_iter().enumerate() {
            if let Some(group) = groups.last_mut() {
                group.push(item);
            }
            match separators.get(index) {
                Some(separator) if *separator >= level => {
                    groups.push(Vec::new());
                    inner.push(Vec::new());
                }
                Some(separator) => {
                    if let Some(own) = inner.last_mut() {
                        own.push(*separator);
                    }
                }
                None => {}
            }
        }
        // "or" groups only systems: each group assigns several things.
        let systems = groups
            .iter()
            .all(|group| group.len() >= 2 && is_system(group));
        if level == Separator::Or && !systems {
            items = whole;
            continue;
        }
        let groups = groups.into_iter().zip(inner);
        let groups = groups.map(|(group, own)| arrange(group, &own));
        return Answer::List(groups.collect());
    }
    inherit_left_side(&mut items);
    merge_compound(&mut items, separators);
    if items.len() == 1
        && let Some(item) = items.pop()
    {
        return item;
    }
    Answer::List(items)
}

/// Relations that differ in their left sides.
fn is_system(group: &[Answer]) -> bool {
    let side = |it: &'_ Answer| match it {
        Answer::Relation(relation) => relation.sides.first().cloned(),
        _ => None,
    };
    let sides: Option<Vec<_>> = group.iter().take(14).map(side).collect();
    sides.is_some_and(|it| it.len() < 14 && (1..it.len()).all(|at| !it[..at].contains(&it[at])))
}

/// `x = 1, 2`: later values are of the same x.
fn inherit_left_side(items: &mut [Answer]) {
    let Some(Answer::Relation(first)) = items.first() else {
        return;
    };
    let [operator @ (Operator::Equal | Operator::NotEqual)] = first.operators.as_slice() else {
        return;
    };
    let simple = matches!(first.sides.first(), Some(Answer::Quantity(quantity))
        if matches!(quantity.value, Expr::Symbol(_)))
        || matches!(first.sides.first(), Some(Answer::Tuple(_)));
    let values = items.iter().skip(1).all(|item| {
        matches!((item, first.sides.first()),
            (Answer::Quantity(quantity), Some(Answer::Quantity(_))) if quantity.value != Expr::symbol("…"))
            || matches!((item, first.sides.first()), (Answer::Tuple(_), Some(Answer::Tuple(_))))
    });
    if !simple || !values || items.len() > 1000 {
        return;
    }
    let Some(left) = first.sides.first().cloned() else {
        return;
    };
    let operator = *operator;
    for item in items.iter_mut().skip(1) {
        let value = std::mem::replace(item, Answer::Set(Vec::new()));
        *item = Answer::Relation(Relation {
            sides: vec![left.clone(), value],
            operators: vec![operator],
            modulus: None,
        });
    }
}

/// "2 hours, 30 minutes and 20 seconds" is one time, "20 dollars and 50 cents" one sum.
fn merge_compound(items: &mut Vec<Answer>, separators: &[Separator]) {
    let mut parts = items.iter().map(|it| match it {
        Answer::Quantity(it) => Some(it),
        _ => None,
    });
    let whole = parts.next().flatten().cloned();
    let merged = parts.try_fold((whole, None), |(sum, last), part| {
        let (sum, part) = (sum?, part?);
        let next = with_cents(&sum, part).or_else(|| {
            let last: &Quantity = last.unwrap_or(&sum);
            // The part is less than one of what stands before it.
            let units = last.unit.as_ref().zip(part.unit.as_ref());
            let less = units.is_some_and(|(unit, smaller)| {
                matches!(&part.value, Expr::Number(it) if it * &smaller.size < unit.size)
            });
            less.then(|| sum.with_part(last, part))?
        });
        next.map(|it| (Some(it), Some(part)))
    });
    if let Some((Some(sum), Some(_))) = merged
        && separators.iter().all(|it| *it == Separator::Comma)
    {
        *items = vec![Answer::Quantity(sum)];
    }
}

/// 20 dollars with 50 cents, 5 euros with 20 cents, which are dollars' where nothing else is said.
fn with_cents(whole: &Quantity, cents: &Quantity) -> Option<Quantity> {
    let (Expr::Number(a), Expr::Number(b)) = (&whole.value, &cents.value) else {
        return None;
    };
    // "3 pounds and 50 pence"
    let is_pounds = |it: Option<&str>| it.is_some_and(|it| POUNDS.contains(it));
    let unit = whole.unit.as_ref().map(|it| &*it.name);
    let pounds = is_pounds(unit) && is_pounds(cents.currency.as_deref());
    let fits = (whole.currency.is_some() || pounds)
        && (pounds
            || whole.currency == cents.currency
            || [whole, cents]
                .iter()
                .all(|it| (it.currency.as_deref()).is_some_and(|it| HAS_CENTS.contains(it))))
        && whole.places.is_none()
        && cents.places.is_none()
        && a.denominator().is_one()
        && !b.denominator().is_one()
        && *b < Rational::from(1);
    fits.then(|| Quantity {
        value: Expr::Number(a + b),
        currency: whole.currency.clone().or(cents.currency.clone()),
        unit: whole.unit.clone().filter(|_| !pounds),
        ..whole.clone()
    })
}
