//! Filters of lists and dictionaries.

use std::cmp::Ordering;

use super::filters::apply;
use super::interpreter::{Given, Interpreter};
use super::methods::{self, argument, number, text};
use super::predicates;
use super::value::{Kind, Value};
use super::work::{ENTRY, Fault, STEP, Text, Work};

/// The entries that `map` and `select` go through; none if the value is not true.
fn entries_or_none(value: &Value, work: &mut Work) -> Result<Vec<Value>, Fault> {
    if value.is_true() {
        value.entries(work)
    } else {
        Ok(Vec::new())
    }
}

pub(super) fn first_or_last(value: &Value, first: bool, work: &mut Work) -> Result<Value, Fault> {
    let of = |entries: &[Value]| {
        let found = if first {
            entries.first()
        } else {
            entries.last()
        };
        found.cloned()
    };
    let found = match value {
        Value::Str(text) | Value::Safe(text) => {
            let mut characters = text.chars();
            let found = if first {
                characters.next()
            } else {
                characters.next_back()
            };
            found.map(|character| Value::from(character.to_string()))
        }
        Value::List(list) => of(&list.entries),
        other => of(&other.entries(work)?),
    };
    Ok(found.unwrap_or_else(|| Value::undefined("no first or last item, the sequence was empty")))
}

/// The pairs that `dict` and `namespace` are made from: those of a dictionary, or a list of pairs.
pub(super) fn pairs_of(value: &Value, work: &mut Work) -> Result<Vec<(Value, Value)>, Fault> {
    if let Value::Dict(dict) = value {
        work.spend_each(dict.pairs.len(), 2 * ENTRY)?;
        return Ok(dict.pairs.clone());
    }
    let mut pairs = Vec::new();
    for entry in value.defined()?.entries(work)? {
        match entry.entries(work)?.as_slice() {
            [key, value] => pairs.push((key.clone(), value.clone())),
            _ => return Err("a dictionary is made of pairs".into()),
        }
    }
    Ok(pairs)
}

/// `dictsort(case_sensitive=False, by='key', reverse=False)`
pub(super) fn dictsort(value: &Value, given: &Given, work: &mut Work) -> Result<Value, Fault> {
    let items = methods::items(value.defined()?, work)?;
    let sensitive = argument(given, 0, "case_sensitive").is_some_and(Value::is_true);
    let by = match argument(given, 1, "by") {
        None => 0,
        Some(_) => match text(given, 1, "by")? {
            "key" => 0,
            "value" => 1,
            _ => return Err("you can only sort by either \"key\" or \"value\"".into()),
        },
    };
    let backwards = argument(given, 2, "reverse").is_some_and(Value::is_true);
    let mut keys = Vec::new();
    for item in &items {
        let key = item.entries(work)?.swap_remove(by);
        keys.push(folded(key, sensitive, work)?);
    }
    let order = sorted(&keys, backwards, work)?;
    Value::list(at_places(&items, &order), work)
}

/// A text in lower case, unless comparison is case-sensitive; other values unchanged.
fn folded(value: Value, sensitive: bool, work: &mut Work) -> Result<Value, Fault> {
    match value.as_str() {
        Some(text) if !sensitive => {
            work.spend_each(text.len(), 4)?;
            Ok(Value::from(text.to_lowercase()))
        }
        _ => Ok(value),
    }
}

/// The indices of values in sorted order; equal values keep their order.
pub(super) fn sorted(
    keys: &[Value],
    backwards: bool,
    work: &mut Work,
) -> Result<Vec<usize>, Fault> {
    // A merge sort: the standard library's sorting may panic where NaN makes the order inconsistent.
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let mut width = 1;
    while width < order.len() {
        work.spend_each(order.len(), STEP)?;
        let mut merged = Vec::with_capacity(order.len());
        for runs in order.chunks(2 * width) {
            let (mut one, mut two) = runs.split_at(width.min(runs.len()));
            while let (Some(left), Some(right)) = (one.first(), two.first()) {
                let compared = keys[*right].compare(&keys[*left], work)?;
                let sooner = if backwards {
                    Ordering::Greater
                } else {
                    Ordering::Less
                };
                if compared == Some(sooner) {
                    merged.push(*right);
                    two = &two[1..];
                } else {
                    merged.push(*left);
                    one = &one[1..];
                }
            }
            merged.extend_from_slice(one);
            merged.extend_from_slice(two);
        }
        order = merged;
        width *= 2;
    }
    Ok(order)
}

fn at_places(entries: &[Value], places: &[usize]) -> Vec<Value> {
    places.iter().map(|&at| entries[at].clone()).collect()
}

pub(super) fn reverse(value: &Value, work: &mut Work) -> Result<Value, Fault> {
    if let Some(text) = value.as_str() {
        work.spend_each(text.len(), 2)?;
        return Ok(Value::from(text.chars().rev().collect::<String>()));
    }
    let mut entries = value.entries(work)?;
    entries.reverse();
    Value::iterator(entries, work)
}

/// `batch(count, fill_with)` and `slice(count, fill_with)`
pub(super) fn columns(
    name: &str,
    value: &Value,
    given: &Given,
    work: &mut Work,
) -> Result<Value, Fault> {
    let count = number(given, 0, "linecount")?.unwrap_or(0);
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return Err(format!("{name} takes a number above 0"));
    }
    let filling = argument(given, 1, "fill_with").filter(|value| !value.is_none());
    let entries = value.entries(work)?;
    let mut rows = Vec::new();
    if name == "batch" {
        for row in entries.chunks(count) {
            let mut row = row.to_vec();
            if let Some(filling) = filling {
                work.spend_each(count - row.len(), ENTRY)?;
                row.resize(count, filling.clone());
            }
            rows.push(Value::list(row, work)?);
        }
    } else {
        work.spend_each(count, ENTRY)?;
        let (each, more) = (entries.len() / count, entries.len() % count);
        let mut at = 0;
        for row in 0..count {
            let length = each + usize::from(row < more);
            let mut entries = entries[at..at + length].to_vec();
            at += length;
            if let Some(filling) = filling
                && row >= more
            {
                entries.push(filling.clone());
            }
            rows.push(Value::list(entries, work)?);
        }
    }
    Value::iterator(rows, work)
}

/// `a.0.b`, each part an entry or an attribute.
fn follow(interpreter: &mut Interpreter<'_>, value: &Value, path: &Value) -> Result<Value, Fault> {
    if path.as_int().is_some() {
        return interpreter.item(value, path);
    }
    let path = path.to_text(&mut interpreter.work)?;
    let mut value = value.clone();
    for part in path.split('.') {
        interpreter.work.spend(STEP + part.len())?;
        let part = match part.parse::<i128>() {
            Ok(at) => Value::Int(at),
            Err(_) => Value::from(part),
        };
        value = interpreter.item(&value, &part)?;
    }
    Ok(value)
}

pub(super) fn map(
    interpreter: &mut Interpreter<'_>,
    value: &Value,
    mut given: Given,
) -> Result<Value, Fault> {
    let entries = entries_or_none(value, &mut interpreter.work)?;
    let mut mapped = Vec::with_capacity(entries.len());
    if let Some(at) = given.named.iter().position(|(name, _)| name == "attribute") {
        let (_, path) = given.named.swap_remove(at);
        let default = argument(&given, usize::MAX, "default").cloned();
        for entry in entries {
            let found = follow(interpreter, &entry, &path)?;
            mapped.push(match &default {
                Some(default) if found.is_undefined() => default.clone(),
                _ => found,
            });
        }
    } else {
        if given.plain.is_empty() {
            return Err("map takes a filter or an attribute".into());
        }
        let name = given.plain.remove(0);
        let name = name.as_str().ok_or("map takes the name of a filter")?;
        let names: usize = given.named.iter().map(|(name, _)| name.len()).sum();
        for entry in entries {
            interpreter.work.spend(names)?;
            interpreter
                .work
                .spend_each(given.plain.len() + given.named.len(), ENTRY)?;
            let arguments = Given {
                plain: given.plain.clone(),
                named: given.named.clone(),
            };
            interpreter.work.enter()?;
            mapped.push(apply(interpreter, name, entry, arguments)?);
            interpreter.work.leave();
        }
    }
    Value::iterator(mapped, &mut interpreter.work)
}

pub(super) fn select(
    interpreter: &mut Interpreter<'_>,
    filter: &str,
    value: &Value,
    mut given: Given,
) -> Result<Value, Fault> {
    let entries = entries_or_none(value, &mut interpreter.work)?;
    let wanted = filter.starts_with("select");
    let path = if filter.ends_with("attr") {
        if given.plain.is_empty() {
            return Err("missing parameter for attribute name".into());
        }
        Some(given.plain.remove(0))
    } else {
        None
    };
    let test = if given.plain.is_empty() {
        None
    } else {
        Some(given.plain.remove(0).to_text(&mut interpreter.work)?)
    };
    let mut kept = Vec::new();
    for entry in entries {
        interpreter.work.spend(STEP)?;
        let asked = match &path {
            Some(path) => follow(interpreter, &entry, path)?,
            None => entry.clone(),
        };
        let holds = match &test {
            Some(test) => predicates::holds(test, &asked, &given.plain, &mut interpreter.work)?,
            None => asked.is_true(),
        };
        if holds == wanted {
            kept.push(entry);
        }
    }
    Value::iterator(kept, &mut interpreter.work)
}

pub(super) fn join(
    interpreter: &mut Interpreter<'_>,
    value: &Value,
    given: &Given,
) -> Result<Value, Fault> {
    let mut entries = value.entries(&mut interpreter.work)?;
    let separator = match argument(given, 0, "d") {
        Some(separator) => separator.to_text(&mut interpreter.work)?,
        None => "".into(),
    };
    if let Some(path) = argument(given, 1, "attribute").filter(|path| !path.is_none()) {
        for entry in &mut entries {
            *entry = follow(interpreter, entry, path)?;
        }
    }
    let mut out = Text::new(&mut interpreter.work);
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 {
            out.push(&separator)?;
        }
        out.work.spend(1)?;
        entry.write(&mut out)?;
    }
    Ok(Value::from(out.finish()))
}

/// Filters that look at an attribute of each entry, if one is named.
pub(super) fn by_attribute(
    interpreter: &mut Interpreter<'_>,
    name: &str,
    value: &Value,
    given: &Given,
) -> Result<Value, Fault> {
    let entries = value.entries(&mut interpreter.work)?;
    let (at, sensitive, default) = match name {
        "sort" => (2, argument(given, 1, "case_sensitive"), None),
        "groupby" => (
            0,
            argument(given, 2, "case_sensitive"),
            argument(given, 1, "default"),
        ),
        "sum" => (0, None, None),
        _ => (1, argument(given, 0, "case_sensitive"), None),
    };
    let sensitive = sensitive.is_some_and(Value::is_true);
    let path = argument(given, at, "attribute").filter(|path| !path.is_none());
    let mut keys = Vec::with_capacity(entries.len());
    for entry in &entries {
        let mut key = match path {
            Some(path) => follow(interpreter, entry, path)?,
            None => entry.clone(),
        };
        if let (true, Some(default)) = (key.is_undefined(), default) {
            key = default.clone();
        }
        if name != "sum" {
            key = folded(key, sensitive, &mut interpreter.work)?;
        }
        keys.push(key);
    }
    let work = &mut interpreter.work;
    match name {
        "sum" => {
            let mut sum = argument(given, 1, "start")
                .cloned()
                .unwrap_or(Value::Int(0));
            for key in &keys {
                work.spend(STEP)?;
                sum = super::operators::apply(super::syntax::Operator::Add, &sum, key, work)?;
            }
            Ok(sum)
        }
        "sort" => {
            let backwards = argument(given, 0, "reverse").is_some_and(Value::is_true);
            let order = sorted(&keys, backwards, work)?;
            Value::list(at_places(&entries, &order), work)
        }
        "unique" => {
            let mut kept: Vec<usize> = Vec::new();
            for (at, key) in keys.iter().enumerate() {
                let mut is_new = true;
                for &before in &kept {
                    if keys[before].equals(key, work)? {
                        is_new = false;
                        break;
                    }
                }
                if is_new {
                    kept.push(at);
                }
            }
            Value::iterator(at_places(&entries, &kept), work)
        }
        "groupby" => {
            let order = sorted(&keys, false, work)?;
            let mut groups: Vec<Vec<usize>> = Vec::new();
            for at in order {
                match groups.last_mut() {
                    Some(group) if keys[group[0]].equals(&keys[at], work)? => group.push(at),
                    _ => groups.push(vec![at]),
                }
            }
            let mut rows = Vec::with_capacity(groups.len());
            for group in groups {
                let first = group[0];
                let group = Value::list(at_places(&entries, &group), &mut interpreter.work)?;
                let key = match path {
                    Some(path) => follow(interpreter, &entries[first], path)?,
                    None => entries[first].clone(),
                };
                let key = match default {
                    Some(default) if key.is_undefined() => default.clone(),
                    _ => key,
                };
                rows.push(Value::sequence(
                    vec![key, group],
                    Kind::Group,
                    &mut interpreter.work,
                )?);
            }
            Value::list(rows, &mut interpreter.work)
        }
        _ => {
            let wins = if name == "min" {
                Ordering::Less
            } else {
                Ordering::Greater
            };
            let mut best = 0;
            for (at, key) in keys.iter().enumerate().skip(1) {
                if key.compare(&keys[best], work)? == Some(wins) {
                    best = at;
                }
            }
            let empty = || Value::undefined("no aggregated item, the sequence was empty");
            Ok(entries.get(best).cloned().unwrap_or_else(empty))
        }
    }
}
