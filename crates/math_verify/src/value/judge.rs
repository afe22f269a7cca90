//! The order of Math-Verify's tests for two values.

use super::{Operator, Relation, Value};
use super::{equal_terms, relations, sets, spelling};
use crate::options::Options;
use crate::verdict::Status;
use juror_algebra::{self as algebra, Constant, Expr, work};

/// What the comparison of two values came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// `None` where Math-Verify would run out of time and the truth is not known either.
    pub equal: Option<bool>,
    /// [`Status::Decided`], [`Status::Numeric`] or [`Status::TooComplex`].
    pub status: Status,
    /// The argument that settled it.
    pub method: &'static str,
}

impl Judgement {
    pub(crate) fn decided(equal: bool, method: &'static str) -> Self {
        Self {
            equal: Some(equal),
            status: Status::Decided,
            method,
        }
    }

    /// By evaluation at points or to many digits, without a proof.
    pub(super) fn unproved(equal: bool, method: &'static str) -> Self {
        Self {
            equal: Some(equal),
            status: Status::Numeric,
            method,
        }
    }

    pub(crate) fn too_complex() -> Self {
        Self::open("budget")
    }

    /// Not decided, for want of what `method` names.
    pub(crate) fn open(method: &'static str) -> Self {
        Self {
            equal: None,
            status: Status::TooComplex,
            method,
        }
    }

    pub(super) fn is_true(self) -> bool {
        self.equal == Some(true)
    }

    /// All of them, as far as the first that is false.
    pub(super) fn all(method: &'static str, of: impl Iterator<Item = Self>) -> Self {
        let mut all = Self::decided(true, method);
        for one in of {
            all = all.and(one);
            if all.equal == Some(false) {
                break;
            }
        }
        all
    }

    /// Both: false where one is, open where one is open, and no surer than the less sure.
    pub(super) fn and(self, other: Self) -> Self {
        match (self.equal, other.equal) {
            (Some(false), _) => self,
            (_, Some(false)) => other,
            (None, _) => self,
            (_, None) => other,
            _ if self.status == Status::Decided => other,
            _ => self,
        }
    }
}

/// How deep collections inside collections are compared.
const MAX_NESTING: u32 = 24;

/// Is an assignment: an equation whose left side consists of symbols.
fn is_assignment(value: &Value) -> bool {
    let first = value.relations().first();
    is_equation(value) && first.is_some_and(|it| it.left.is_of_symbols())
}

fn is_equation(value: &Value) -> bool {
    let relations = value.relations();
    !relations.is_empty() && relations.iter().all(|it| it.operator == Operator::Equal)
}

/// The right side of the last relation.
fn last_right(value: &Value) -> Option<&Value> {
    value.relations().last().map(|it| &it.right)
}

/// A chain of an assignment, from its first left side to its last right side.
fn collapsed(value: &Value) -> Option<Value> {
    let Value::And(relations) = value else {
        return None;
    };
    Some(Value::Relation(Box::new(Relation {
        operator: Operator::Equal,
        left: relations.first()?.left.clone(),
        right: relations.last()?.right.clone(),
    })))
}

/// Does Math-Verify hold two values for equal?
pub(crate) fn equal(gold: &Value, pred: &Value, options: &Options) -> Judgement {
    if options.strict {
        return nested(gold, pred, options, options.allow_set_relation_comp, 0);
    }
    let pred = renamed(gold, pred);
    nested(gold, &pred, options, options.allow_set_relation_comp, 0)
}

/// The prediction with its symbols named like the gold answer's, if they are as many.
fn renamed(gold: &Value, pred: &Value) -> Value {
    let (wanted, present) = (gold.variables(), pred.variables());
    if wanted.len() != present.len() {
        return pred.clone();
    }
    // All at once, so that an exchange of two letters is one.
    pred.map(&mut |term| {
        algebra::replace(term, &mut |part| {
            let Expr::Symbol(name) = part else {
                return None;
            };
            let at = present.iter().position(|it| it == name)?;
            Some(Expr::Symbol(wanted[at].clone()))
        })
    })
}

/// The verdict on two values inside others.
pub(super) fn inside(gold: &Value, pred: &Value, options: &Options, depth: u32) -> Judgement {
    nested(gold, pred, options, false, depth + 1)
}

fn nested(
    gold: &Value,
    pred: &Value,
    options: &Options,
    allow_relation_for_set: bool,
    depth: u32,
) -> Judgement {
    if depth > MAX_NESTING {
        return Judgement::decided(false, "depth");
    }
    if work::is_spent() {
        return Judgement::too_complex();
    }
    let gold_assigns = is_assignment(gold);
    let gold_equation = is_equation(gold);
    let pred_equation = is_equation(pred);
    let gold_collapsed = gold_assigns.then(|| collapsed(gold)).flatten();
    let pred_collapsed = is_assignment(pred).then(|| collapsed(pred)).flatten();
    let mut gold = gold_collapsed.as_ref().unwrap_or(gold);
    let mut pred = pred_collapsed.as_ref().unwrap_or(pred);
    if pred_equation && !gold_equation {
        pred = last_right(pred).unwrap_or(pred);
    } else if gold_assigns && !pred_equation {
        gold = last_right(gold).unwrap_or(gold);
    }
    let is_relation = |value: &Value| matches!(value, Value::Relation(_) | Value::And(_));
    for (allowed, relation, set) in [(true, gold, pred), (allow_relation_for_set, pred, gold)] {
        if allowed
            && is_relation(relation)
            && set.is_set()
            && let Some(verdict) = super::regions::relation_is_set(relation, set)
        {
            return verdict;
        }
    }
    if matches!(
        gold,
        Value::Term(Expr::Constant(
            Constant::Undefined | Constant::ComplexInfinity
        )) | Value::Foreign
    ) || *pred == Value::Foreign
    {
        return Judgement::decided(false, "undefined");
    }
    if sets::same_structure(gold, pred) {
        return Judgement::decided(true, "structure");
    }
    if is_relation(gold) && is_relation(pred) {
        return relations::compare(gold, pred, options);
    }
    let collects = |value: &Value| value.is_set() || matches!(value, Value::Tuple(_));
    if collects(gold) || collects(pred) {
        return sets::compare(gold, pred, options, depth);
    }
    let (Value::Term(gold), Value::Term(pred)) = (gold, pred) else {
        return Judgement::decided(false, "kind");
    };
    terms(gold, pred, options)
}

/// The verdict on two terms: names by their spelling, everything else by its value.
pub(super) fn terms(gold: &Expr, pred: &Expr, options: &Options) -> Judgement {
    let is_symbol = |term: &Expr| matches!(term, Expr::Symbol(_));
    if is_symbol(gold) || is_symbol(pred) {
        return Judgement::decided(spelling::same(gold, pred), "symbol");
    }
    equal_terms::equal(gold, pred, options)
}
