//! Attributes, subscripts, slices and calls.

use super::filters;
use super::functions;
use super::interpreter::{Given, Interpreter};
use super::methods;
use super::predicates;
use super::syntax::{Expression, Suffix};
use super::value::{Kind, Object, Value};
use super::work::{Fault, Work};

impl<'t> Interpreter<'t> {
    /// Applies the first of some suffixes, or an attribute together with the call that follows it. Returns the value and how
    /// many suffixes were applied.
    pub(super) fn suffix(
        &mut self,
        value: Value,
        suffixes: &'t [Suffix],
        caller: Option<usize>,
    ) -> Result<(Value, usize), Fault> {
        let Some(suffix) = suffixes.first() else {
            return Ok((value, 1));
        };
        let value = match suffix {
            Suffix::Attribute(name) => {
                if let Some(Suffix::Call(arguments)) = suffixes.get(1)
                    && methods::are_known(&value, name)
                {
                    let given = self.given(arguments)?;
                    return Ok((methods::call(self, &value, name, &given)?, 2));
                }
                self.attribute(&value, name)?
            }
            Suffix::Item(item) => {
                let item = self.value(item)?;
                self.item(&value, &item)?
            }
            Suffix::Slice(parts) => self.slice(&value, parts)?,
            Suffix::Call(arguments) => {
                let given = self.given(arguments)?;
                self.call(&value, given, caller)?
            }
            Suffix::Filter(filter) => {
                let given = self.given(&filter.arguments)?;
                filters::apply(self, &filter.name, value, given)?
            }
            Suffix::Test {
                negated,
                name,
                arguments,
            } => {
                let given = self.given(arguments)?;
                let holds = predicates::holds(name, &value, &given.plain, &mut self.work)?;
                Value::Bool(holds != *negated)
            }
        };
        Ok((value, 1))
    }

    pub(super) fn call(
        &mut self,
        callee: &Value,
        given: Given,
        caller: Option<usize>,
    ) -> Result<Value, Fault> {
        let Value::Object(object) = callee.defined()? else {
            return Err(format!("'{}' object is not callable", callee.kind()));
        };
        match object {
            Object::Function(name) => functions::call(self, name, given),
            Object::Method(method) => methods::call(self, &method.0, &method.1, &given),
            Object::Macro(at) => self.call_macro(*at, given, caller),
            Object::Caller(at) => self.call_macro(*at, given, None),
            Object::Loop(at) => match given.plain.as_slice() {
                [over] => self.recurse(*at, over),
                _ => Err("loop() takes one argument".into()),
            },
            Object::LoopMethod(at, "cycle") => {
                let turn = self.loops[*at].at;
                match given.plain.len() {
                    0 => Err("no items for cycling given".into()),
                    count => Ok(given.plain[turn % count].clone()),
                }
            }
            Object::LoopMethod(at, _) => {
                let last = self.loops[*at].last.take();
                let same = match last {
                    Some(last) if last.len() == given.plain.len() => {
                        let mut same = true;
                        for (one, two) in last.iter().zip(&given.plain) {
                            same &= one.equals(two, &mut self.work)?;
                        }
                        same
                    }
                    _ => false,
                };
                self.loops[*at].last = Some(given.plain);
                Ok(Value::Bool(!same))
            }
            Object::CyclerNext(at) => Ok(self.next_of(*at)),
            Object::Joiner(at) => {
                let (separator, used) = &mut self.joiners[*at];
                Ok(if std::mem::replace(used, true) {
                    separator.clone()
                } else {
                    Value::from("")
                })
            }
            Object::Namespace(_) | Object::Cycler(_) => {
                Err(format!("'{}' object is not callable", callee.kind()))
            }
        }
    }

    fn next_of(&mut self, cycler: usize) -> Value {
        let (items, at) = &mut self.cyclers[cycler];
        let item = items[*at].clone();
        *at = (*at + 1) % items.len();
        item
    }

    /// `value.name`: an attribute, else an entry.
    pub(super) fn attribute(&mut self, value: &Value, name: &str) -> Result<Value, Fault> {
        value.defined()?;
        self.work.spend(name.len())?;
        let missing = || value.no_attribute(name);
        if methods::are_known(value, name) {
            self.work.spend(super::work::ENTRY)?;
            return Ok(Value::Object(Object::Method(std::sync::Arc::new((
                value.clone(),
                name.to_owned(),
            )))));
        }
        if let Value::List(list) = value
            && list.kind == Kind::Group
        {
            let at = ["grouper", "list"].iter().position(|own| *own == name);
            let part = at.and_then(|at| list.entries.get(at));
            return Ok(part.cloned().unwrap_or_else(missing));
        }
        let Value::Object(object) = value else {
            let found = value.lookup(&Value::from(name), &mut self.work)?;
            return Ok(found.unwrap_or_else(missing));
        };
        Ok(match object {
            Object::Namespace(at) => match self.namespaces[*at].get(name) {
                Some(value) => value.clone(),
                None => missing(),
            },
            Object::Loop(at) => self.of_loop(*at, name)?.unwrap_or_else(missing),
            Object::Cycler(at) => match name {
                "next" => Value::Object(Object::CyclerNext(*at)),
                "current" => {
                    let (items, next) = &self.cyclers[*at];
                    items[*next].clone()
                }
                "reset" => {
                    self.cyclers[*at].1 = 0;
                    Value::None
                }
                _ => missing(),
            },
            _ => missing(),
        })
    }

    fn of_loop(&mut self, at: usize, name: &str) -> Result<Option<Value>, Fault> {
        let own = &self.loops[at];
        let (turn, count) = (own.at, own.entries.len());
        Ok(Some(match name {
            "index" => Value::from(turn + 1),
            "index0" => Value::from(turn),
            "revindex" => Value::from(count - turn),
            "revindex0" => Value::from(count - turn - 1),
            "first" => Value::Bool(turn == 0),
            "last" => Value::Bool(turn + 1 == count),
            "length" => Value::from(count),
            "depth" => Value::from(own.depth + 1),
            "depth0" => Value::from(own.depth),
            "previtem" => match turn.checked_sub(1) {
                Some(before) => own.entries[before].clone(),
                None => Value::undefined("there is no previous item"),
            },
            "nextitem" => match own.entries.get(turn + 1) {
                Some(next) => next.clone(),
                None => Value::undefined("there is no next item"),
            },
            "cycle" => Value::Object(Object::LoopMethod(at, "cycle")),
            "changed" => Value::Object(Object::LoopMethod(at, "changed")),
            _ => return Ok(None),
        }))
    }

    /// `value[item]`: an entry, else an attribute.
    pub(super) fn item(&mut self, value: &Value, item: &Value) -> Result<Value, Fault> {
        value.defined()?;
        let missing =
            || Value::undefined(&format!("'{}' object has no such element", value.kind()));
        match value {
            Value::Dict(_) => {
                if let Some(found) = value.lookup(item, &mut self.work)? {
                    return Ok(found);
                }
            }
            Value::List(list) if list.kind != Kind::Iterator => {
                if let Some(at) = item.as_int() {
                    let at = place(at, list.entries.len());
                    return Ok(at.map_or_else(missing, |at| list.entries[at].clone()));
                }
            }
            Value::Str(text) | Value::Safe(text) => {
                if let Some(at) = item.as_int() {
                    self.work.spend(text.len() / 4)?;
                    let count = if at < 0 {
                        text.chars().count()
                    } else {
                        text.len()
                    };
                    let character = place(at, count).and_then(|at| text.chars().nth(at));
                    return Ok(character.map_or_else(missing, |one| Value::from(one.to_string())));
                }
            }
            _ => {}
        }
        match item.as_str() {
            Some(name) if !matches!(value, Value::Dict(_)) || methods::are_known(value, name) => {
                self.attribute(value, name)
            }
            name => Ok(name.map_or_else(missing, |name| value.no_attribute(name))),
        }
    }

    fn slice(&mut self, value: &Value, parts: &'t [Option<Expression>; 3]) -> Result<Value, Fault> {
        let mut numbers = [None; 3];
        for (part, number) in parts.iter().zip(&mut numbers) {
            let Some(part) = part else { continue };
            match self.value(part)? {
                Value::None => {}
                part => {
                    *number = Some(
                        part.defined()?
                            .as_int()
                            .ok_or_else(|| "slice indices must be integers or None".to_owned())?,
                    );
                }
            }
        }
        slice(value.defined()?, numbers, &mut self.work)
    }
}

/// The index of a place that counts from the start, or from the end if negative; `None` outside the sequence.
fn place(at: i128, count: usize) -> Option<usize> {
    let at = if at < 0 { at + count as i128 } else { at };
    usize::try_from(at).ok().filter(|at| *at < count)
}

/// A slice of a sequence or a text.
fn slice(
    value: &Value,
    [start, stop, step]: [Option<i128>; 3],
    work: &mut Work,
) -> Result<Value, Fault> {
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err("slice step cannot be zero".into());
    }
    let (characters, entries): (Vec<char>, &[Value]) = match value {
        Value::Str(text) | Value::Safe(text) => {
            work.spend_each(text.len(), 8)?;
            (text.chars().collect(), &[])
        }
        Value::List(list) if list.kind != Kind::Iterator => (Vec::new(), &list.entries),
        other => return Err(format!("'{}' object cannot be sliced", other.kind())),
    };
    let count = characters.len().max(entries.len()) as i128;
    let (lowest, highest) = if step > 0 {
        (0, count)
    } else {
        (-1, count - 1)
    };
    let bound = |given: Option<i128>, otherwise: i128| match given {
        None => otherwise,
        Some(at) if at < 0 => at.saturating_add(count).max(lowest),
        Some(at) => at.min(highest),
    };
    let (start, stop) = if step > 0 {
        (bound(start, 0), bound(stop, count))
    } else {
        (bound(start, count - 1), bound(stop, -1))
    };
    let mut places = Vec::new();
    let mut at = start;
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        work.spend(8)?;
        places.push(at as usize);
        at = at.saturating_add(step);
    }
    if let Value::List(list) = value {
        let entries = places.into_iter().map(|at| entries[at].clone()).collect();
        return Value::sequence(entries, list.kind, work);
    }
    let text: String = places.into_iter().map(|at| characters[at]).collect();
    Ok(Value::from(text))
}
