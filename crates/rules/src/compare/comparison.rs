//! What a comparison came to, and how those of the parts make one of the whole.

use crate::verification::Status;

/// What a rule tells of two answers; `None` where it does not apply.
pub(super) type Told = Option<Comparison>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// `None`: cannot be told.
    pub equal: Option<bool>,
    /// [`Status::TooComplex`] or [`Status::Ambiguous`] where it cannot be told, else [`Status::Decided`] or [`Status::Numeric`].
    pub status: Status,
    /// The argument that settled it, see [the room](super).
    pub method: &'static str,
    /// One sentence for a person.
    pub reason: String,
}

impl Comparison {
    /// Equal, by `method`.
    pub(crate) fn equal(method: &'static str) -> Self {
        Self {
            equal: Some(true),
            status: Status::Decided,
            method,
            reason: String::new(),
        }
    }

    /// Equal, by `method` and as sure as `status` says.
    pub(super) fn equal_as(status: Status, method: &'static str) -> Self {
        Self {
            status,
            ..Self::equal(method)
        }
    }

    /// This comparison, as settled by another method.
    pub(super) fn by(self, method: &'static str) -> Self {
        Self { method, ..self }
    }

    /// Different, by `method`.
    pub(crate) fn different(method: &'static str, reason: impl Into<String>) -> Self {
        Self {
            equal: Some(false),
            status: Status::Decided,
            method,
            reason: reason.into(),
        }
    }

    /// Cannot be told.
    pub(crate) fn open(reason: impl Into<String>) -> Self {
        Self {
            equal: None,
            status: Status::TooComplex,
            method: "none",
            reason: reason.into(),
        }
    }

    /// Cannot be told within the budget.
    pub(super) fn too_complex() -> Self {
        Self::open("comparing them would take too many steps")
    }

    /// This comparison, with "equal" taken for open.
    pub(super) fn at_most_open(self, reason: &str) -> Self {
        if self.equal == Some(true) {
            Self::open(reason)
        } else {
            self
        }
    }

    /// Two things are equal if all their parts are. Parts are asked for until one differs.
    pub(crate) fn all(method: &'static str, parts: impl IntoIterator<Item = Self>) -> Self {
        let mut whole = Self::equal(method);
        for part in parts {
            match part.equal {
                Some(false) => return part,
                None if whole.equal.is_some() => whole = part,
                Some(true) if whole.equal.is_some() && part.status == Status::Numeric => {
                    whole.status = Status::Numeric;
                }
                _ => {}
            }
        }
        whole
    }

    /// What to say where nothing more precise was said.
    pub(crate) fn sentence(&self) -> String {
        let text = match (self.equal, self.status, self.method) {
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
}
