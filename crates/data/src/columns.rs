//! Which key of a row holds which field.

use std::fmt;

use serde::Deserialize;

use super::needs::Needs;
use super::path::KeyPath;
use super::preset::{PLAIN, Preset};
use super::row::{Row, RowValue};

named! {
    /// A field that a sample takes from a row.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Field {
        /// The problem.
        Question = "question",
        /// The reference answer.
        Reference = "reference",
        /// The response under judgement.
        Response = "response",
        /// The row's id, which may be missing.
        Id = "id",
        /// The response's steps, where a protocol shows them; without them, its paragraphs.
        Steps = "steps",
        /// The criteria, where a protocol judges by them.
        Rubric = "rubric",
        /// The second response, where a protocol compares.
        Other = "other",
    }
}

impl Field {
    /// The field of a name in `--columns`, which may be one that data sets use.
    fn parse(name: &str) -> Option<Self> {
        Self::from_name(match name {
            "reference_answer" | "gold" => "reference",
            "student_answer" | "pred" => "response",
            "other_answer" => "other",
            name => name,
        })
    }
}

/// One value for each field, in the order of [`Field::ALL`].
pub(crate) type PerField<T> = [T; Field::ALL.len()];

/// A `--columns` argument that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ColumnError(String);

/// Where one field is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Lookup {
    /// Where the row's preset looks for it.
    #[default]
    Preset,
    /// The key or path the user named.
    Named(KeyPath),
    /// Nowhere (`id=`), so the id is made from the content.
    Content,
}

/// Where in a row the question, the reference answer, the response and the id are.
///
/// Each row is resolved for itself, so what a row means never depends on its neighbours: by a key that the user named, or else by the first of the preset's
/// paths that the row has; a null counts only if there is no other value. The preset is the user's, or the one whose keys the row has. [`ColumnsUsed`] tells
/// what was found.
///
/// A named key may be a path into nested values, such as `reward_model.ground_truth` or `outputs[*].text`; a top-level key of that very name wins over the
/// path.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnMap {
    lookups: PerField<Lookup>,
    /// The keys that the user named.
    named: Vec<String>,
    /// The preset of every row; `None` if each row's preset is recognised by its keys.
    preset: Option<&'static Preset>,
    needs: Needs,
    /// Whether rows come from clients, who cannot name the keys.
    pub(super) is_fixed: bool,
    /// Whether a response all of whose text is thinking is read there.
    pub(super) in_reasoning: bool,
}

impl ColumnMap {
    /// Reads `FIELD=KEY` settings: FIELD is `question`, `reference` (or `reference_answer`), `response` (or `student_answer`) or `id`. `id=` with no key
    /// makes every id from the content.
    ///
    /// A key given to one field is no longer an alias of another: with `response=answer` alone, `answer` is never also read as the reference.
    /// Errors: when a setting has another form, names a field twice, or one key is given to two fields.
    pub fn parse<S: AsRef<str>>(
        settings: impl IntoIterator<Item = S>,
    ) -> Result<Self, ColumnError> {
        let mut named: Vec<(Field, String)> = Vec::new();
        for setting in settings {
            let setting = setting.as_ref();
            let (name, key) = setting
                .split_once('=')
                .ok_or_else(|| ColumnError(format!(
                    "`{setting}` is not a column: write FIELD=KEY, as in `question=problem`; FIELD is question, reference, response, id, \
                     steps, rubric or other"
                )))?;
            let (name, key) = (name.trim(), key.trim());
            let field = Field::parse(name).ok_or_else(|| ColumnError(format!(
                "there is no field `{name}`: use question, reference (or reference_answer), response (or student_answer), id, steps, \
                 rubric or other, as in `question=problem`"
            )))?;
            if key.is_empty() && field != Field::Id {
                return Err(ColumnError(format!(
                    "`{field}=` names no key: write `{field}=KEY` (only `id=` may be empty: ids are then made from the content)"
                )));
            }
            for (other, other_key) in &named {
                if *other == field {
                    return Err(ColumnError(format!(
                        "`{field}` is given two columns, `{other_key}` and `{key}`: keep one"
                    )));
                }
                // A conversation is both.
                let both = [Field::Question, Field::Response];
                let is_both = both.contains(other) && both.contains(&field);
                if other_key == key && !is_both {
                    return Err(ColumnError(format!(
                        "`{key}` is given for {other} and for {field}: a column can be one of them only"
                    )));
                }
            }
            named.push((field, key.to_owned()));
        }
        let lookup = |field| match named.iter().find(|(other, _)| *other == field) {
            Some((_, key)) if key.is_empty() => Lookup::Content,
            Some((_, key)) => Lookup::Named(KeyPath::parse(key)),
            None => Lookup::Preset,
        };
        let lookups = Field::ALL.map(lookup);
        Ok(Self {
            lookups,
            named: named.into_iter().map(|(_, key)| key).collect(),
            ..Self::default()
        })
    }

    /// For rows from clients, who have no `--columns`: error messages give other advice.
    #[must_use]
    pub fn fixed(mut self) -> Self {
        self.is_fixed = true;
        self
    }

    /// Reads a response in chat messages where a server put all of it, if it took that for thinking: in `reasoning_content`.
    #[must_use]
    pub fn with_reasoning(mut self, in_reasoning: bool) -> Self {
        self.in_reasoning = in_reasoning;
        self
    }

    /// Reads rows for these needs.
    #[must_use]
    pub fn with_needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    /// Reads rows for what `other` needs too; `None` where both need another rubric.
    #[must_use]
    pub fn joined(self, other: &Self) -> Option<Self> {
        let needs = self.needs.joined(&other.needs)?;
        Some(Self { needs, ..self })
    }

    /// What rows are read for.
    pub fn needs(&self) -> &Needs {
        &self.needs
    }

    /// Whether the user named a key for a field.
    pub fn names(&self, field: Field) -> bool {
        matches!(self.lookups[field as usize], Lookup::Named(_))
    }

    /// The keys that the user named.
    pub fn named(&self) -> &[String] {
        &self.named
    }

    /// Reads every row by this preset.
    #[must_use]
    pub fn with_preset(self, preset: Option<&'static Preset>) -> Self {
        Self { preset, ..self }
    }

    pub(super) fn preset(&self, row: &Row) -> Result<&'static Preset, String> {
        let preset = self.preset.map_or_else(|| Preset::recognise(row), Ok)?;
        if self.needs().response && !self.names(Field::Response) {
            preset.check(row)?;
        }
        Ok(preset)
    }

    /// A field's values in a row, with the key they were found under; `None` if the row has none.
    pub(crate) fn find<'a>(
        &self,
        field: Field,
        preset: &'static Preset,
        row: &Row<'a>,
    ) -> Result<Option<Found<'a>>, String> {
        match &self.lookups[field as usize] {
            Lookup::Content => Ok(None),
            Lookup::Named(path) => {
                let values = path.find(row)?;
                Ok((!values.is_empty()).then(|| Found {
                    key: path.text().to_owned(),
                    values,
                    is_of_each: path.is_of_each(),
                    ..Found::default()
                }))
            }
            Lookup::Preset if field == Field::Response && !preset.joined.is_empty() => {
                let mut values = Vec::new();
                for path in &preset.joined {
                    let found = path.find(row)?;
                    if found.is_empty() {
                        return Err(format!("`{}` has no response", path.text()));
                    }
                    values.extend(found);
                }
                let paths: Vec<&str> = preset.joined.iter().map(KeyPath::text).collect();
                Ok(Some(Found {
                    key: paths.join(" and "),
                    values,
                    is_of_each: true,
                    passed_over: Vec::new(),
                }))
            }
            Lookup::Preset => {
                let mut found: Option<Found> = None;
                // Tables have a null where a row has no value: it counts only if there is nothing else.
                let mut null: Option<Found> = None;
                let mut passed_over: Vec<String> = Vec::new();
                let mut take = |key: &str, values: Vec<RowValue<'a>>, is_of_each| {
                    let is_null = values.iter().all(|value| value.is_null());
                    match (&found, is_null) {
                        (Some(_), true) => {}
                        // What holds the value that was found is no other one, nor is a response of the same object.
                        (Some(found), false)
                            if is_within(&found.key, key)
                                || field == Field::Response && is_beside(&found.key, key) => {}
                        (Some(_), false) => passed_over.push(key.to_owned()),
                        (None, _) => {
                            let slot = if is_null { &mut null } else { &mut found };
                            slot.get_or_insert(Found {
                                key: key.to_owned(),
                                values,
                                is_of_each,
                                passed_over: Vec::new(),
                            });
                        }
                    }
                };
                for path in self.paths(field, preset) {
                    let values = path.find(row)?;
                    if !values.is_empty() {
                        take(path.text(), values, path.is_of_each());
                    }
                }
                // Keys that match only without regard to case and separators come after those that match exactly.
                for path in self.paths(field, preset) {
                    let other = row.spelled_otherwise(path.text());
                    if let Some(other) = other.filter(|key| !self.named.iter().any(|n| n == key)) {
                        take(&other, row.get(&other)?.into_iter().collect(), false);
                    }
                }
                let found = found.or(null.filter(|_| field != Field::Id));
                Ok(found.map(|it| Found { passed_over, ..it }))
            }
        }
    }

    /// Of several responses side by side, which are the better ones; empty if the row does not say.
    pub(super) fn preferred(
        &self,
        preset: &'static Preset,
        row: &Row,
    ) -> Result<Vec<Option<bool>>, String> {
        let mut preferred = Vec::new();
        if self.lookups[Field::Response as usize] != Lookup::Preset {
            return Ok(preferred);
        }
        let better = match &preset.better {
            None => Some(0),
            Some(path) => {
                let value = path.find(row)?.into_iter().next();
                let text = value.and_then(|value| value.string().ok());
                let is_said = |it: &&str| text.as_deref().map(str::trim) == Some(*it);
                ["A>B", "B>A"].iter().position(is_said)
            }
        };
        for (at, path) in preset.joined.iter().enumerate() {
            let count = path.find(row)?.len();
            let is_better = better.map(|better| better == at);
            preferred.extend(std::iter::repeat_n(is_better, count));
        }
        Ok(preferred)
    }

    /// The preset's paths of a field, without the keys that the user gave to another field.
    fn paths(
        &self,
        field: Field,
        preset: &'static Preset,
    ) -> impl Iterator<Item = &'static KeyPath> {
        preset.paths[field as usize]
            .iter()
            .filter(|path| !self.named.iter().any(|key| key == path.text()))
    }

    /// The keys `field` is looked for under, as text for a message.
    pub(super) fn looked_for(&self, field: Field, preset: &'static Preset) -> String {
        match &self.lookups[field as usize] {
            Lookup::Content => String::new(),
            Lookup::Named(path) => format!("`{}`", path.text()),
            Lookup::Preset => {
                let paths: Vec<&str> = self.paths(field, preset).map(KeyPath::text).collect();
                paths.join(", ")
            }
        }
    }
}

/// Whether two paths lead through the same key of a row.
fn is_beside(path: &str, other: &str) -> bool {
    let first = |path: &str| path.split_once('.').map(|(first, _)| first.to_owned());
    first(path).is_some() && first(path) == first(other)
}

/// Whether a path leads through a key.
fn is_within(path: &str, key: &str) -> bool {
    let rest = path.strip_prefix(key);
    rest.is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// Values, the key they were found under, and other keys of the field that the row has too.
#[derive(Default)]
pub(crate) struct Found<'a> {
    pub(super) key: String,
    pub(super) values: Vec<RowValue<'a>>,
    /// Whether they are all elements of a list.
    pub(super) is_of_each: bool,
    pub(super) passed_over: Vec<String>,
}

/// The keys one field was read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldUse {
    /// Each key and the number of rows it served, in the order of first use.
    pub(crate) keys: Vec<(String, usize)>,
    /// Other aliases of the field that a row had and that were not used.
    pub(crate) passed_over: Vec<String>,
}

/// The keys that every field was read from, to be shown before anything is judged.
///
/// Shown as `question ← problem · reference ← answer (not gt) · response ← solution · id ← the content's hash`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnsUsed {
    /// The keys of each field.
    pub(crate) fields: PerField<FieldUse>,
    /// Rows whose id was made from their content.
    pub content_ids: usize,
    /// Each preset that rows were read by and their number, in the order of first use.
    pub presets: Vec<(&'static str, usize)>,
    /// Rows that repeat others and were left out.
    pub repeated: usize,
    /// Rows that say that something went wrong, and were left out.
    pub failed: usize,
    /// Responses that are blank.
    pub(super) blank: usize,
}

impl ColumnsUsed {
    /// Counts the key that a field of one row was read from.
    pub(super) fn count(&mut self, field: Field, key: &str, passed_over: &[String]) {
        let used = &mut self.fields[field as usize];
        tally(&mut used.keys, key.to_owned());
        for alias in passed_over {
            if !used.passed_over.contains(alias) {
                used.passed_over.push(alias.clone());
            }
        }
    }
}

/// Counts one more of `one`, keeping the order of first use.
pub fn tally<T: PartialEq>(counts: &mut Vec<(T, usize)>, one: T) {
    match counts.iter_mut().find(|(other, _)| *other == one) {
        Some((_, count)) => *count += 1,
        None => counts.push((one, 1)),
    }
}

impl fmt::Display for ColumnsUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.presets.as_slice() {
            [] | [(PLAIN, _)] => {}
            [(preset, _)] => write!(f, "{preset} rows: ")?,
            several => {
                let of = |(preset, rows): &(&str, usize)| format!("{preset} ({rows})");
                let presets: Vec<String> = several.iter().map(of).collect();
                write!(f, "rows of {}: ", presets.join(", "))?;
            }
        }
        for (at, field) in Field::ALL.into_iter().enumerate() {
            let used = &self.fields[field as usize];
            if matches!(field, Field::Steps | Field::Rubric | Field::Other) && used.keys.is_empty()
            {
                continue;
            }
            let keys = used.keys.iter();
            let mut keys: Vec<(&str, usize)> = keys.map(|(key, rows)| (&**key, *rows)).collect();
            if field == Field::Id && (self.content_ids > 0 || keys.is_empty()) {
                keys.push(("the content's hash", self.content_ids));
            }
            let counted = |(key, rows): &(&str, usize)| {
                let many = if *rows == 1 { "" } else { "s" };
                format!("{key} ({rows} row{many})")
            };
            let text: Vec<String> = match keys.as_slice() {
                [] => vec!["nothing".to_owned()],
                [(key, _)] => vec![(*key).to_owned()],
                _ => keys.iter().map(counted).collect(),
            };
            let gap = if at == 0 { "" } else { " · " };
            write!(f, "{gap}{field} ← {}", text.join(", "))?;
            if !used.passed_over.is_empty() {
                write!(f, " (not {})", used.passed_over.join(", "))?;
            }
        }
        for (count, what, more) in [
            (self.repeated, "row", " that repeat others left out"),
            (self.failed, "row", " with an error left out"),
            (self.blank, "blank response", ""),
        ] {
            if count > 0 {
                let many = if count == 1 { "" } else { "s" };
                write!(f, " · {count} {what}{many}{more}")?;
            }
        }
        Ok(())
    }
}
