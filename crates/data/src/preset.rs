//! The shapes of rows that are recognised, from `presets.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::columns::{Field, PerField};
use super::path::KeyPath;
use super::row::{Row, RowValue, spelled_plainly};

/// A shape of rows: where each field of a sample is.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Preset {
    /// Its name in `--preset`.
    #[serde(skip)]
    pub name: String,
    /// Which programs write this shape.
    pub about: String,
    /// The advice for a row without a question, if it is not to name the question's key.
    pub(super) without_question: Option<String>,
    /// Keys that hold something in rows without a response, and what to say of such a row.
    pub(super) refused: Vec<(KeyPath, String)>,
    /// The key whose values tell repeated rows apart: in each file the rows with its first value count, and the others repeat them.
    pub(super) once: Option<String>,
    /// Whether its question is the prompt that an engine was given, with a chat template's markup.
    pub(super) asks_as_engines_do: bool,
    /// Whether several reference answers are the parts of one.
    pub(super) joins: bool,
    /// The paths of a list of texts that a reference may be as Python writes it, which is then several.
    pub(super) lists_as_text: Vec<KeyPath>,
    /// Whether the usual names of a response come before its own.
    usual_first: bool,
    /// Whether its list of texts is one response, step by step.
    pub(super) step_by_step: bool,
    /// The keys that a row of this shape has.
    when: Vec<KeyPath>,
    /// The keys that it has not.
    unless: Vec<KeyPath>,
    /// The keys that it has without a value.
    null: Vec<KeyPath>,
    /// The names of other presets that are not meant, whose keys such a row may have too.
    over: Vec<String>,
    /// The keys of an object that holds such rows, and those that lead to the list of them.
    document: Vec<String>,
    list: Vec<String>,
    /// The key that numbers the rows of one id, which is then that of their group.
    pub(super) epoch: Option<KeyPath>,
    /// The key that says what went wrong, in rows that have no response for that.
    pub(super) failed: Option<KeyPath>,
    /// Paths to responses that are compared with each other; those of the first path are better than the others.
    pub(super) joined: Vec<KeyPath>,
    /// The key that says which of two responses is better, if it is not always the first.
    pub(super) better: Option<KeyPath>,
    #[serde(flatten)]
    own: BTreeMap<Field, Vec<KeyPath>>,
    /// Where each field is looked for, its own paths first; the first path found wins.
    #[serde(skip)]
    pub(super) paths: PerField<Vec<KeyPath>>,
}

/// The name of the shape without keys of its own: one key for each field.
pub(super) const PLAIN: &str = "plain";

static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    // The file is part of the program, and a test reads it.
    let mut presets: BTreeMap<String, Preset> =
        toml::from_str(include_str!("presets.toml")).unwrap_or_default();
    let usual = presets.get(PLAIN).map(|plain| plain.own.clone());
    let usual = usual.unwrap_or_default();
    for (name, preset) in &mut presets {
        preset.name.clone_from(name);
        preset.paths = Field::ALL.map(|field| {
            let mut paths = preset.own.remove(&field).unwrap_or_default();
            let usual = usual.get(&field).into_iter().flatten();
            let usual = usual.filter(|path| !paths.contains(path)).cloned();
            let usual: Vec<KeyPath> = usual.collect();
            let is_first = preset.usual_first && field == Field::Response;
            let at = if is_first { 0 } else { paths.len() };
            paths.splice(at..at, usual);
            paths
        });
    }
    presets.into_values().collect()
});

/// Every preset, by name.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

impl Preset {
    /// The preset of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        presets().iter().find(|preset| preset.name == name)
    }

    /// Whether rows without a shape of their own may have a field under this key.
    pub fn is_usual(field: Field, key: &str) -> bool {
        let plain = Self::named(PLAIN).into_iter();
        let mut paths = plain.flat_map(|it| &it.paths[field as usize]);
        paths.any(|path| path.text() == key)
    }

    /// Refuses a row that says why it has no response.
    pub(super) fn check(&self, row: &Row) -> Result<(), String> {
        for (path, why) in &self.refused {
            if path.find(row)?.iter().any(|value| !value.is_null()) {
                return Err(why.clone());
            }
        }
        Ok(())
    }

    /// Whether a row repeats another: it has not the value that the key of repeated rows has in its file's first row.
    pub(super) fn repeats(&self, row: &Row, first: &mut Option<String>) -> Result<bool, String> {
        let value = self.once.as_ref().map(|key| row.get(key)).transpose()?;
        let value = value.flatten().map(RowValue::text);
        Ok(value.is_some_and(|value| *first.get_or_insert_with(|| value.into()) != *value))
    }

    /// The shape of a row.
    pub(super) fn recognise(row: &Row) -> Result<&'static Self, String> {
        let mut found: Vec<&'static Self> = Vec::new();
        for preset in presets() {
            let has = |path: &KeyPath| {
                let found = path.find(row)?;
                Ok::<_, String>(found.iter().any(|value| !value.is_null()))
            };
            let wanted = preset.when.iter().map(|path| (path, true));
            let wanted = wanted.chain(preset.unless.iter().map(|path| (path, false)));
            let mut has_all = true;
            for (path, is_there) in wanted {
                has_all = has_all && has(path)? == is_there;
            }
            for path in &preset.null {
                has_all = has_all && !has(path)? && !path.find(row)?.is_empty();
            }
            if has_all {
                found.push(preset);
            }
        }
        // A preset with all keys of another one and more is the closer match.
        let closer = |a: &Self, b: &Self| {
            let has_all = b.when.iter().all(|path| a.when.contains(path));
            (a.when.len() > b.when.len() && has_all) || a.over.contains(&b.name)
        };
        let is_closest = |one: &&&Self| !found.iter().any(|other| closer(other, one));
        let closest: Vec<&'static Self> = found.iter().filter(is_closest).copied().collect();
        match closest.as_slice() {
            [preset] => Ok(preset),
            several => {
                let names: Vec<&str> = several.iter().map(|preset| preset.name.as_str()).collect();
                Err(format!(
                    "the row may be of {}: say which with --preset; it has {}",
                    names.join(" or of "),
                    row.shown_keys()
                ))
            }
        }
    }
}

/// The keys that lead to the list of rows in an object with these keys; `None` if it is not known to hold one.
pub(super) fn list_in(keys: &[String]) -> Option<&'static [String]> {
    let mut lists = presets().iter().filter(|preset| !preset.list.is_empty());
    let is_of = |preset: &&Preset| preset.document.iter().all(|key| keys.contains(key));
    Some(&lists.find(is_of)?.list)
}

/// Whether a preset reads `key` at the top level of a row.
pub(super) fn is_known_key(key: &str) -> bool {
    let key = &*spelled_plainly(key).unwrap_or_else(|| key.to_owned());
    presets().iter().any(|preset| {
        // What is a reference or an id in one program's rows is often something else in others', as `label` is.
        let is_read = |field: &Field| {
            preset.name == PLAIN || [Field::Question, Field::Response].contains(field)
        };
        let fields = Field::ALL.into_iter().filter(is_read);
        let mut paths = fields.flat_map(|field| &preset.paths[field as usize]);
        let mut joined = preset.joined.iter();
        paths.any(|path| path.text() == key)
            || joined.any(|path| path.text().split('[').next() == Some(key))
    }) || key == "solution"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_read() {
        let names: Vec<&str> = presets()
            .iter()
            .map(|preset| preset.name.as_str())
            .collect();
        assert_eq!(
            names.len(),
            include_str!("presets.toml").matches("\nabout = ").count()
        );
        assert!(names.contains(&PLAIN), "{names:?}");
    }
}
