//! A JSON schema as `llguidance` takes it.
//!
//! It refuses what it does not know how to keep, and what libraries write has much of that. Here annotations are left out, what can be
//! said otherwise is said otherwise, and what cannot be kept while an answer is written is refused by its place.

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// Keywords that are kept, that would have to be and cannot, and that hold schemas; formats that are kept.
const WORDS: &str = include_str!("json_schema.tsv");

fn is(kind: &str, word: &str) -> bool {
    let words = WORDS.lines().filter_map(|line| line.split_once('\t'));
    let mut words = words.filter(|(own, _)| *own == kind);
    words.any(|(_, words)| words.split(' ').any(|own| own == word))
}

/// Comparisons of alternatives in one schema.
const MOST_COMPARISONS: usize = 20_000;

/// Says a schema so that it can be kept, and forbids additional properties where it does not speak of them.
/// Errors: what of it cannot be kept while an answer is written, with its place.
pub(super) fn prepare(schema: &mut Value) -> Result<(), String> {
    let root = schema.clone();
    let text = root.to_string();
    let fragment = |text: &str| Some(text[text.find('#')?..].to_owned());
    let whole = Whole {
        cited: text.split('"').filter_map(fragment).collect(),
        root,
        left: Cell::new(MOST_COMPARISONS),
    };
    whole.rewrite(schema, "#")?;
    let definitions_are_parts = puts_a_reference_together(schema);
    close_inside(schema, definitions_are_parts);
    Ok(())
}

/// A pattern whose classes of all signs but some are without NUL too: in one with every control character `llguidance` has `"` and `\` as well.
fn without_nul(pattern: &str) -> String {
    let (mut told, mut before) = (String::new(), None);
    for (at, sign) in pattern.char_indices() {
        // There `]` is a sign and no end, and two of a sign are an operator. After a range, `-` is a sign.
        let stays = |other: &str| pattern[at..].starts_with(other);
        if before == Some('^') && !["]", "--", "&&", "~~"].into_iter().any(stays) {
            told.push_str(r"\x00-\x00");
        }
        told.push(sign);
        before = match (before, sign) {
            (Some('['), '^') | (None | Some('[' | '^'), '[' | '\\') => Some(sign),
            _ => None,
        };
    }
    told
}

struct Whole {
    root: Value,
    /// What its texts refer to, among others.
    cited: HashSet<String>,
    /// Comparisons that may still be made.
    left: Cell<usize>,
}

impl Whole {
    fn rewrite(&self, schema: &mut Value, place: &str) -> Result<(), String> {
        let Some(keys) = schema.as_object_mut() else {
            return Ok(());
        };
        if keys.get("maxItems") == Some(&json!(1)) || keys.get("uniqueItems") == Some(&json!(false))
        {
            keys.remove("uniqueItems");
        }
        self.name_properties(keys);
        if let Some(key) = keys.keys().find(|key| is("not kept", key)) {
            let sets = if key == "uniqueItems" {
                " (in pydantic: a list in place of a set)"
            } else {
                ""
            };
            return Err(format!(
                "`{key}` at {place} cannot be kept to while an answer is written: leave it out{sets}, and check the answer for it"
            ));
        }
        let free = |format: &Value| format.as_str().is_some_and(|format| !is("format", format));
        keys.retain(|key, value| is("kept", key) && !(key == "format" && free(value)));
        if let Some((one, other)) = keys.get("oneOf").and_then(|all| self.overlapping(all)) {
            return Err(format!(
                "`oneOf` at {place}: its alternatives {one} and {other} may hold for one value together, which cannot be ruled out while \
                 an answer is written: use `anyOf`, or give each a required property with a `const`"
            ));
        }
        if let Some(all) = keys.remove("oneOf") {
            also(keys, "anyOf", all);
        }
        let all = match keys.get("enum") {
            Some(Value::Array(all)) => all.as_slice(),
            _ => keys.get("const").map_or(&[][..], std::slice::from_ref),
        };
        if all.iter().any(|value| spellings(value).is_some()) {
            let said = |one| spellings(one).unwrap_or_else(|| json!({"const": one}));
            let all = all.iter().map(said).collect();
            keys.retain(|key, _| key != "enum" && key != "const");
            also(keys, "anyOf", all);
        }
        // How pydantic says that a decimal number is more than signs.
        let pattern = keys
            .get("pattern")
            .and_then(|pattern| pattern.as_str()?.strip_prefix("^(?!^["));
        let pattern = pattern.and_then(|pattern| pattern.split_once("]*$)"));
        if let Some((signs, rest)) = pattern.filter(|(signs, _)| !signs.contains(']')) {
            let (signs, rest) = (json!(format!("[^{signs}]")), json!(format!("^{rest}")));
            keys.insert("pattern".to_owned(), rest);
            also(keys, "allOf", json!([{"type": "string", "pattern": signs}]));
        }
        if let Some(Value::String(pattern)) = keys.get_mut("pattern") {
            *pattern = without_nul(pattern);
        }
        if let Some(Value::Object(named)) = keys.get_mut("patternProperties") {
            let all = std::mem::take(named).into_iter();
            named.extend(all.map(|(pattern, schema)| (without_nul(&pattern), schema)));
        }
        for (key, value) in keys {
            // A definition that is not used may say what it likes.
            let is_used = |name: &str| {
                key.starts_with(['p', 'i', 'a']) || self.cited.contains(&format!("#/{key}/{name}"))
            };
            match value {
                Value::Object(named) if is("named", key) => {
                    for (name, schema) in named.iter_mut().filter(|(name, _)| is_used(name)) {
                        self.rewrite(schema, &format!("{place}/{key}/{name}"))?;
                    }
                }
                Value::Array(list) if is("held", key) || key == "allOf" => {
                    for (at, schema) in list.iter_mut().enumerate() {
                        self.rewrite(schema, &format!("{place}/{key}/{at}"))?;
                    }
                }
                held if is("held", key) => self.rewrite(held, &format!("{place}/{key}"))?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Says names that are listed, of a pattern or of a length as properties, where nothing else speaks of properties.
    fn name_properties(&self, keys: &mut Map<String, Value>) {
        let Some(names) = keys.get("propertyNames").map(|names| self.resolved(names)) else {
            return;
        };
        let others = keys.contains_key("properties") || keys.contains_key("patternProperties");
        let only = |known: &[&str]| {
            let mut names = names.as_object().into_iter().flatten();
            !others
                && names.all(|(key, value)| match key.as_str() {
                    "format" => value.as_str().is_some_and(|format| !is("format", format)),
                    key => !is("kept", key) || key == "type" || known.contains(&key),
                })
        };
        let value = keys
            .get("additionalProperties")
            .unwrap_or(&json!(true))
            .clone();
        let (key, named) = if let Some(all) = values(names).filter(|_| only(&["enum", "const"])) {
            let all = all.into_iter().filter_map(Value::as_str);
            ("properties", all.map(str::to_owned).collect())
        } else if let Some(pattern) = names["pattern"].as_str().filter(|_| only(&["pattern"])) {
            ("patternProperties", vec![pattern.to_owned()])
        } else if only(&["minLength", "maxLength"]) {
            let least = names["minLength"].as_u64().unwrap_or(0);
            let most = names["maxLength"].as_u64();
            let most = most.map_or(String::new(), |most| most.to_string());
            ("patternProperties", vec![format!("^.{{{least},{most}}}$")])
        } else {
            return;
        };
        let named = named.into_iter().map(|name| (name, value.clone()));
        keys.insert(key.to_owned(), Value::Object(named.collect()));
        keys.insert("additionalProperties".to_owned(), json!(false));
        keys.remove("propertyNames");
    }

    /// The places, from 1, of two alternatives that one value may be of.
    fn overlapping(&self, all: &Value) -> Option<(usize, usize)> {
        let all = all.as_array()?;
        let pairs = (1..all.len()).flat_map(|other| (0..other).map(move |one| (one, other)));
        let mut pairs = pairs.filter(|(one, other)| !self.are_apart(&all[*one], &all[*other], 0));
        pairs.next().map(|(one, other)| (one + 1, other + 1))
    }

    /// Whether so many more comparisons may be made.
    fn may(&self, comparisons: usize) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(comparisons));
        left >= comparisons
    }

    /// What a reference is to, a few deep.
    fn resolved<'s>(&'s self, mut schema: &'s Value) -> &'s Value {
        for _ in 0..8 {
            let target = schema["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
            let target = target.and_then(|target| self.root.pointer(target));
            schema = target.unwrap_or(schema);
        }
        schema
    }

    /// Whether it is sure that no value is of both schemas.
    fn are_apart(&self, one: &Value, other: &Value, depth: usize) -> bool {
        if depth > 4 || !self.may(1) {
            return false;
        }
        let (one, other) = (self.resolved(one), self.resolved(other));
        let are_objects = one["type"] == "object" && other["type"] == "object";
        for (one, other) in [(one, other), (other, one)] {
            let apart = |one: &Value| self.are_apart(one, other, depth + 1);
            let any = one["anyOf"].as_array().or(one["oneOf"].as_array());
            let all = one["allOf"].as_array();
            if any.is_some_and(|any| any.iter().all(apart))
                || all.is_some_and(|all| all.iter().any(apart))
            {
                return true;
            }
            // A required property that the other one forbids, or has of another kind.
            let is_closed =
                other["additionalProperties"] == false && other["patternProperties"].is_null();
            let required = one["required"].as_array().filter(|_| are_objects);
            for name in required.into_iter().flatten().filter_map(Value::as_str) {
                let apart = match (&one["properties"][name], &other["properties"][name]) {
                    (_, Value::Null) => is_closed,
                    (Value::Null, _) => false,
                    (one, other) => self.are_apart(one, other, depth + 1),
                };
                if apart || !self.may(1) {
                    return apart;
                }
            }
        }
        if let (Some(ones), Some(others)) = (values(one), values(other)) {
            let same = |one: &Value, other: &Value| {
                one == other || (one.is_number() && one.as_f64() == other.as_f64())
            };
            let mut ones = ones.iter();
            return self.may(ones.len() * others.len())
                && !ones.any(|one| others.iter().any(|other| same(one, other)));
        }
        match (kinds(one), kinds(other)) {
            (Some(one), Some(other)) => !one.iter().any(|kind| other.contains(kind)),
            _ => false,
        }
    }
}

/// Adds `anyOf` or `allOf`, beside one that is there.
fn also(keys: &mut Map<String, Value>, key: &str, schemas: Value) {
    if keys.contains_key(key) {
        let all = keys.entry("allOf").or_insert_with(|| json!([]));
        if let Some(all) = all.as_array_mut() {
            all.push(json!({key: schemas}));
        }
    } else {
        keys.insert(key.to_owned(), schemas);
    }
}

/// A whole number that is written with a point, as a schema that takes it without one too: the only multiple of a half in reach.
fn spellings(value: &Value) -> Option<Value> {
    let number = value
        .as_f64()
        .filter(|number| value.is_f64() && number.fract() == 0.0 && number.abs() < 1e12)?;
    let beyond = number + 0.25_f64.copysign(number);
    let (low, high) = (number.min(beyond), number.max(beyond));
    Some(json!({"type": "number", "minimum": low, "maximum": high, "multipleOf": 0.5}))
}

fn values(schema: &Value) -> Option<Vec<&Value>> {
    let listed = schema["enum"].as_array().map(|all| all.iter().collect());
    listed.or_else(|| schema.get("const").map(|value| vec![value]))
}

/// The types of a schema's values; an integer is a number.
fn kinds(schema: &Value) -> Option<Vec<&str>> {
    fn own(name: &str) -> &str {
        if name == "integer" { "number" } else { name }
    }
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    match (&schema["type"], values(schema)) {
        (_, Some(values)) => Some(values.into_iter().map(kind).collect()),
        (Value::String(name), None) => Some(vec![own(name)]),
        (Value::Array(names), None) => names.iter().map(|name| name.as_str().map(own)).collect(),
        _ => None,
    }
}

/// Forbids additional properties in each object schema that names its properties and does not say otherwise: free keys would
/// let a weak model write up to its limit. Schemas that are combined are left alone, since each would forbid the others'
/// keys.
fn close_inside(schema: &mut Value, definitions_are_parts: bool) {
    let Some(keys) = schema.as_object_mut() else {
        return;
    };
    let is_put_together = is_put_together(keys);
    if keys.get("properties").is_some_and(Value::is_object)
        && !is_put_together
        && !keys.contains_key("unevaluatedProperties")
    {
        keys.entry("additionalProperties").or_insert(false.into());
    }
    for (key, value) in keys {
        let key = key.as_str();
        let is_part = (is_put_together && is("in place", key))
            || (definitions_are_parts && matches!(key, "$defs" | "definitions"));
        let close = if is_part { close_held } else { close_inside };
        let close = |schema: &mut Value| close(schema, definitions_are_parts);
        match value {
            Value::Object(named) if is("named", key) => named.values_mut().for_each(close),
            Value::Array(list) if is("held", key) || key == "allOf" => {
                list.iter_mut().for_each(close);
            }
            Value::Object(_) if is("held", key) => close(value),
            _ => {}
        }
    }
}

/// Closes the schemas of a combined schema's properties and items.
fn close_held(schema: &mut Value, definitions_are_parts: bool) {
    let close = |schema: &mut Value| close_inside(schema, definitions_are_parts);
    let Some(keys) = schema.as_object_mut() else {
        return;
    };
    for (key, value) in keys {
        match value {
            Value::Object(named) if matches!(key.as_str(), "properties" | "patternProperties") => {
                named.values_mut().for_each(close);
            }
            Value::Object(_) if key == "items" => close(value),
            _ => {}
        }
    }
}

/// Whether several subschemas together say what a value is.
fn is_put_together(keys: &Map<String, Value>) -> bool {
    let parts = |(key, value): (&String, &Value)| match value {
        Value::Array(all) if key == "allOf" => all.len(),
        _ => usize::from(is("in place", key) || key == "properties"),
    };
    keys.iter().map(parts).sum::<usize>() > 1
}

/// Whether a `$ref` stands where schemas are combined.
fn puts_a_reference_together(schema: &Value) -> bool {
    match schema {
        Value::Object(keys) => {
            let refers = |value: &Value| value.get("$ref").is_some();
            let lists = ["allOf", "anyOf", "oneOf"].map(|key| keys.get(key)?.as_array());
            let in_lists = lists.into_iter().flatten().flatten().any(refers);
            (is_put_together(keys) && (in_lists || keys.contains_key("$ref")))
                || keys.values().any(puts_a_reference_together)
        }
        Value::Array(all) => all.iter().any(puts_a_reference_together),
        _ => false,
    }
}
