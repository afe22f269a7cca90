//! The values of a template: Python's, as far as templates need them.
//!
//! Lists and dictionaries never change once they are made, and know their depth, so that walking and dropping them needs a
//! bounded stack. An object with a state of its own (namespaces, loops, macros) is a number into the interpreter.

use std::cmp::Ordering;
use std::sync::Arc;

use super::work::{ENTRY, Fault, STEP, Work, shown};

/// How deep lists and dictionaries may be nested.
const MAX_NESTING: u16 = 150;

#[derive(Debug, Clone)]
pub(super) enum Value {
    /// An undefined value; the text says why, for the error message of what needs one.
    Undefined(Arc<str>),
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(Arc<str>),
    /// Text that is marked as safe: `escape` leaves it as it is.
    Safe(Arc<str>),
    List(Arc<List>),
    Dict(Arc<Dict>),
    /// An object that can be called or has a state.
    Object(Object),
}

/// A value that is not data.
#[derive(Debug, Clone)]
pub(super) enum Object {
    /// A function that every template has.
    Function(&'static str),
    /// A method of a value, not yet called.
    Method(Arc<(Value, String)>),
    Macro(usize),
    /// The body of a `call` block.
    Caller(usize),
    Namespace(usize),
    Loop(usize),
    /// `loop.cycle`, `loop.changed`
    LoopMethod(usize, &'static str),
    Cycler(usize),
    /// The `next` method of a cycler.
    CyclerNext(usize),
    Joiner(usize),
}

/// The kind of a sequence, which decides how it is written and what can be done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Tuple,
    /// `range`, which is written with its bounds.
    Range,
    /// A view of a dictionary: `dict_keys`, `dict_values`, `dict_items`.
    View(&'static str),
    /// What `groupby` gives: a tuple whose parts have names.
    Group,
    /// The result of a filter that is iterated over: it has no length and no indices.
    Iterator,
}

#[derive(Debug)]
pub(super) struct List {
    pub(super) entries: Vec<Value>,
    pub(super) kind: Kind,
    depth: u16,
    /// Whether it may be a dictionary key: a tuple of hashable values. Computed once, since tuples may share their parts.
    hashable: bool,
}

/// A dictionary, in insertion order.
#[derive(Debug)]
pub(super) struct Dict {
    pub(super) pairs: Vec<(Value, Value)>,
    depth: u16,
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(text.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Self::Int(count as i128)
    }
}

fn deeper<'v>(values: impl Iterator<Item = &'v Value>) -> Option<u16> {
    let deepest = values.map(Value::nesting).max().unwrap_or(0);
    (deepest < MAX_NESTING).then_some(deepest + 1)
}

fn too_deep() -> Fault {
    "lists or dictionaries stand too deep in each other".into()
}

impl Value {
    /// A sequence; pays for its entries.
    pub(super) fn sequence(entries: Vec<Self>, kind: Kind, work: &mut Work) -> Result<Self, Fault> {
        work.spend_each(entries.len() + 1, ENTRY)?;
        let depth = deeper(entries.iter()).ok_or_else(too_deep)?;
        let hashable = kind == Kind::Tuple && entries.iter().all(Self::is_hashable);
        Ok(Self::List(Arc::new(List {
            entries,
            kind,
            depth,
            hashable,
        })))
    }

    pub(super) fn list(entries: Vec<Self>, work: &mut Work) -> Result<Self, Fault> {
        Self::sequence(entries, Kind::List, work)
    }

    pub(super) fn tuple(entries: Vec<Self>, work: &mut Work) -> Result<Self, Fault> {
        Self::sequence(entries, Kind::Tuple, work)
    }

    /// The iterator that a filter returns.
    pub(super) fn iterator(entries: Vec<Self>, work: &mut Work) -> Result<Self, Fault> {
        Self::sequence(entries, Kind::Iterator, work)
    }

    /// A dictionary; of equal keys the last value counts, at the first one's place.
    pub(super) fn dictionary(given: Vec<(Self, Self)>, work: &mut Work) -> Result<Self, Fault> {
        work.spend_each(given.len() + 1, 2 * ENTRY)?;
        let mut pairs: Vec<(Self, Self)> = Vec::with_capacity(given.len());
        for (key, value) in given {
            if !key.is_hashable() {
                return Err(format!("a {} cannot be a key", key.kind()));
            }
            match position(&pairs, &key, work)? {
                Some(at) => pairs[at].1 = value,
                None => pairs.push((key, value)),
            }
        }
        // A key may be nested too: a tuple, or a method of a dictionary.
        let parts = pairs.iter().flat_map(|(key, value)| [key, value]);
        let depth = deeper(parts).ok_or_else(too_deep)?;
        Ok(Self::Dict(Arc::new(Dict { pairs, depth })))
    }

    /// An undefined value of this name.
    pub(super) fn undefined(what: &str) -> Self {
        Self::Undefined(what.into())
    }

    /// The result of an attribute that the value does not have: an undefined value.
    pub(super) fn no_attribute(&self, name: &str) -> Self {
        Self::undefined(&format!(
            "'{}' object has no attribute '{}'",
            self.kind(),
            shown(name)
        ))
    }

    fn nesting(&self) -> u16 {
        match self {
            Self::List(list) => list.depth,
            Self::Dict(dict) => dict.depth,
            // The nesting of the value whose method it is.
            Self::Object(Object::Method(method)) => method.0.nesting() + 1,
            _ => 0,
        }
    }

    fn is_hashable(&self) -> bool {
        match self {
            Self::List(list) => list.hashable,
            Self::Dict(_) | Self::Undefined(_) => false,
            _ => true,
        }
    }

    /// The name of its type in Python.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Undefined(_) => "Undefined",
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "str",
            Self::Safe(_) => "Markup",
            Self::List(list) => match list.kind {
                Kind::List => "list",
                Kind::Tuple | Kind::Group => "tuple",
                Kind::Range => "range",
                Kind::View(name) => name,
                Kind::Iterator => "generator",
            },
            Self::Dict(_) => "dict",
            Self::Object(Object::Namespace(_)) => "Namespace",
            Self::Object(Object::Macro(_)) => "Macro",
            Self::Object(_) => "function",
        }
    }

    /// The text, if it is one.
    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) | Self::Safe(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number, if it is one; True and False are 1 and 0.
    pub(super) fn as_int(&self) -> Option<i128> {
        match self {
            Self::Bool(value) => Some(i128::from(*value)),
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub(super) fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(number) => Some(*number),
            other => other.as_int().map(|number| number as f64),
        }
    }

    pub(super) fn is_undefined(&self) -> bool {
        matches!(self, Self::Undefined(_))
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Undefined(_) | Self::None => false,
            Self::Bool(value) => *value,
            Self::Int(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Str(text) | Self::Safe(text) => !text.is_empty(),
            Self::List(list) => list.kind == Kind::Iterator || !list.entries.is_empty(),
            Self::Dict(dict) => !dict.pairs.is_empty(),
            Self::Object(_) => true,
        }
    }

    /// Fails if the value is undefined.
    pub(super) fn defined(&self) -> Result<&Self, Fault> {
        match self {
            Self::Undefined(what) => Err(what.to_string()),
            other => Ok(other),
        }
    }

    /// How many entries or characters it has.
    pub(super) fn length(&self, work: &mut Work) -> Result<Option<usize>, Fault> {
        Ok(match self {
            Self::Undefined(_) => Some(0),
            Self::Str(text) | Self::Safe(text) => {
                work.spend(text.len() / 8)?;
                Some(text.chars().count())
            }
            Self::List(list) if list.kind != Kind::Iterator => Some(list.entries.len()),
            Self::Dict(dict) => Some(dict.pairs.len()),
            _ => None,
        })
    }

    /// The entries that iterating over it gives; pays for each.
    pub(super) fn entries(&self, work: &mut Work) -> Result<Vec<Self>, Fault> {
        match self {
            Self::Undefined(_) => Ok(Vec::new()),
            Self::Str(text) | Self::Safe(text) => {
                work.spend_each(text.len(), ENTRY)?;
                let mut bytes = [0; 4];
                Ok(text
                    .chars()
                    .map(|character| Self::from(&*character.encode_utf8(&mut bytes)))
                    .collect())
            }
            Self::List(list) => {
                work.spend_each(list.entries.len(), ENTRY)?;
                Ok(list.entries.clone())
            }
            Self::Dict(dict) => {
                work.spend_each(dict.pairs.len(), ENTRY)?;
                Ok(dict.pairs.iter().map(|(key, _)| key.clone()).collect())
            }
            other => Err(format!("'{}' object is not iterable", other.kind())),
        }
    }

    /// A dictionary's value by its key.
    pub(super) fn lookup(&self, key: &Self, work: &mut Work) -> Result<Option<Self>, Fault> {
        let Self::Dict(dict) = self else {
            return Ok(None);
        };
        Ok(position(&dict.pairs, key, work)?.map(|at| dict.pairs[at].1.clone()))
    }

    /// `==`
    pub(super) fn equals(&self, other: &Self, work: &mut Work) -> Result<bool, Fault> {
        work.spend(STEP)?;
        if let (Some(one), Some(two)) = (self.as_str(), other.as_str()) {
            if one.len() != two.len() {
                return Ok(false);
            }
            work.spend(one.len() / 8)?;
            return Ok(one == two);
        }
        if let (Some(one), Some(two)) = (self.as_int(), other.as_int()) {
            return Ok(one == two);
        }
        if let (Some(one), Some(two)) = (self.as_float(), other.as_float()) {
            #[allow(clippy::float_cmp, reason = "as Python compares")]
            return Ok(one == two);
        }
        Ok(match (self, other) {
            (Self::Undefined(_), Self::Undefined(_)) | (Self::None, Self::None) => true,
            (Self::List(one), Self::List(two)) => {
                if one.kind != two.kind || one.entries.len() != two.entries.len() {
                    return Ok(false);
                }
                for (one, two) in one.entries.iter().zip(&two.entries) {
                    if !one.equals(two, work)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Dict(one), Self::Dict(two)) => {
                if one.pairs.len() != two.pairs.len() {
                    return Ok(false);
                }
                for (key, value) in &one.pairs {
                    match position(&two.pairs, key, work)? {
                        Some(at) if value.equals(&two.pairs[at].1, work)? => {}
                        _ => return Ok(false),
                    }
                }
                true
            }
            (Self::Object(one), Self::Object(two)) => one.is_same(two),
            _ => false,
        })
    }

    /// `<` and its like.
    pub(super) fn compare(&self, other: &Self, work: &mut Work) -> Result<Option<Ordering>, Fault> {
        work.spend(STEP)?;
        if let (Some(one), Some(two)) = (self.as_str(), other.as_str()) {
            work.spend(one.len().min(two.len()) / 8)?;
            return Ok(Some(one.cmp(two)));
        }
        if let (Some(one), Some(two)) = (self.as_int(), other.as_int()) {
            return Ok(Some(one.cmp(&two)));
        }
        if let (Some(one), Some(two)) = (self.as_float(), other.as_float()) {
            return Ok(one.partial_cmp(&two));
        }
        if let (Self::List(one), Self::List(two)) = (self, other)
            && one.kind == two.kind
            && matches!(one.kind, Kind::List | Kind::Tuple)
        {
            for (one, two) in one.entries.iter().zip(&two.entries) {
                if !one.equals(two, work)? {
                    return one.compare(two, work);
                }
            }
            return Ok(Some(one.entries.len().cmp(&two.entries.len())));
        }
        Err(format!(
            "'<' not supported between instances of '{}' and '{}'",
            self.defined()?.kind(),
            other.defined()?.kind()
        ))
    }
}

impl Object {
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Function(one), Self::Function(two)) => one == two,
            (Self::Macro(one), Self::Macro(two))
            | (Self::Caller(one), Self::Caller(two))
            | (Self::Namespace(one), Self::Namespace(two))
            | (Self::Loop(one), Self::Loop(two))
            | (Self::Cycler(one), Self::Cycler(two))
            | (Self::Joiner(one), Self::Joiner(two)) => one == two,
            _ => false,
        }
    }
}

/// The index of a key.
fn position(
    pairs: &[(Value, Value)],
    key: &Value,
    work: &mut Work,
) -> Result<Option<usize>, Fault> {
    for (at, (own, _)) in pairs.iter().enumerate() {
        if own.equals(key, work)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}
