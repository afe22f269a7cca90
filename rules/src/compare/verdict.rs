//! Verdicts, and how the verdicts on parts make one on the whole.

use super::{Comparison, Status};

/// Equal, by `method`.
pub(super) fn yes(method: &'static str) -> Comparison {
    Comparison {
        equal: Some(true),
        status: Status::Decided,
        method,
        reason: String::new(),
    }
}

/// Equal to hundreds of digits.
pub(super) fn numerically() -> Comparison {
    Comparison {
        status: Status::Numeric,
        ..yes("numeric")
    }
}

/// Different, by `method`.
pub(super) fn no(method: &'static str, reason: String) -> Comparison {
    Comparison {
        equal: Some(false),
        status: Status::Decided,
        method,
        reason,
    }
}

/// Cannot be told.
pub(super) fn open(reason: String) -> Comparison {
    Comparison {
        equal: None,
        status: Status::Decided,
        method: "none",
        reason,
    }
}

/// Cannot be told within the budget.
pub(super) fn too_complex() -> Comparison {
    Comparison {
        status: Status::TooComplex,
        ..open(String::new())
    }
}

/// A verdict that counts only if it is "different"; "equal" is not believed.
pub(super) fn at_most_open(verdict: Comparison, reason: &str) -> Comparison {
    if verdict.equal == Some(true) {
        open(reason.to_owned())
    } else {
        verdict
    }
}

/// Two things are equal if all their parts are. Parts are asked for until one differs.
pub(super) fn all(method: &'static str, parts: impl IntoIterator<Item = Comparison>) -> Comparison {
    let mut whole = yes(method);
    for part in parts {
        match part.equal {
            Some(false) => return part,
            None if whole.equal.is_some() || part.status == Status::TooComplex => whole = part,
            Some(true) if whole.equal.is_some() && part.status == Status::Numeric => {
                whole.status = Status::Numeric;
            }
            _ => {}
        }
    }
    whole
}

/// What to say where nothing more precise was said.
pub(super) fn sentence(verdict: &Comparison) -> String {
    let text = match (verdict.equal, verdict.status, verdict.method) {
        (None, Status::TooComplex, _) => "comparing them would take too many steps",
        (None, ..) => "nothing decides whether they are equal",
        (Some(true), Status::Numeric, _) => "equal to hundreds of digits, though not proved",
        (Some(true), _, "structure") => "written alike",
        (Some(true), _, "rational") => "the same number",
        (Some(true), _, "identity") => "equal as expressions",
        (Some(true), _, "rounding") => "one is the other, correctly rounded",
        (Some(true), _, "units" | "currency" | "percent") => "the same amount",
        (Some(true), _, "proportional") => "the same up to a constant factor",
        (Some(true), _, "solutions" | "interval") => "the same set of real numbers",
        (Some(true), _, "choice") => "the same choice",
        (Some(true), _, "truth") => "the same truth value",
        (Some(true), _, "text") => "the same words",
        (Some(true), _, "time") => "the same time",
        (Some(true), _, "ratio") => "the same ratio",
        (Some(true), ..) => "equal part by part",
        (Some(false), _, "kind") => "answers of different kinds",
        (Some(false), ..) => "they differ",
    };
    text.to_owned()
}
