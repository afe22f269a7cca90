//! Paths to values within a row: `answer`, `reward_model.ground_truth`, `outputs[*].text`, `scores.*.value`.

use std::sync::Arc;

use serde::Deserialize;

use super::row::{Row, RowValue};

/// A top-level key, or a path into nested values; a clone shares it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(super) struct KeyPath {
    text: Arc<str>,
    /// The steps of the path; empty if the text cannot be read as a path.
    steps: Arc<[Step]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Place(usize),
    /// `[*]`: every element.
    Each,
    /// `parts[*]`: the parts of one text, without Gemini's thinking, which is marked.
    Parts,
    /// `*` as a key: every value of an object.
    EachKey,
    /// `[key=text]`: the elements that are objects with this text, or a list that has it, under the key.
    Where(String, String),
    /// `choices[at]`: the elements of `choices` whose places are under the key `at` beside it.
    At(String, String),
}

impl From<String> for KeyPath {
    fn from(text: String) -> Self {
        Self::parse(&text)
    }
}

impl KeyPath {
    pub(super) fn parse(text: &str) -> Self {
        Self {
            text: text.into(),
            steps: Self::steps(text).unwrap_or_default().into(),
        }
    }

    fn steps(text: &str) -> Option<Vec<Step>> {
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (key, places) = part.split_at(part.find('[').unwrap_or(part.len()));
            if key.is_empty() {
                return None;
            }
            steps.push(match key {
                "*" if !steps.is_empty() => Step::EachKey,
                _ => Step::Key(key.to_owned()),
            });
            for place in places.split_inclusive(']') {
                let place = place.strip_prefix('[')?.strip_suffix(']')?;
                let step = match (place, place.split_once('=')) {
                    ("*", _) if key == "parts" => Step::Parts,
                    ("*", _) => Step::Each,
                    (_, Some((key, text))) => Step::Where(key.into(), text.into()),
                    _ if place.bytes().all(|byte| byte.is_ascii_digit()) => {
                        Step::Place(place.parse().ok()?)
                    }
                    _ => match steps.pop()? {
                        Step::Key(list) => Step::At(list, place.to_owned()),
                        _ => return None,
                    },
                };
                steps.push(step);
            }
        }
        Some(steps)
    }

    /// Whether it leads to every element of a list or of an object.
    pub(super) fn is_of_each(&self) -> bool {
        let is_each = |step: &Step| matches!(step, Step::Each | Step::EachKey);
        self.steps.iter().any(is_each)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The values that it leads to; none if the row has no such key. A top-level key with the path's exact text wins.
    pub(crate) fn find<'a>(&self, row: &Row<'a>) -> Result<Vec<RowValue<'a>>, String> {
        if let Some(value) = row.get(&self.text)? {
            return Ok(vec![value]);
        }
        let Some((first, rest)) = self.steps.split_first() else {
            return Ok(Vec::new());
        };
        let mut values: Vec<RowValue<'a>> = match first {
            Step::Key(key) => row.get(key)?.into_iter().collect(),
            Step::At(list, at) => at_places(row.get(list)?, row.get(at)?),
            _ => Vec::new(),
        };
        for step in rest {
            let mut inner = Vec::with_capacity(values.len());
            let count = values.len();
            for value in values {
                match step {
                    Step::Key(key) => inner.extend(value.key(key)?),
                    Step::Place(place) => inner.extend(value.elements().into_iter().nth(*place)),
                    Step::Each => inner.extend(value.elements()),
                    Step::Parts => inner.extend(value.elements().into_iter().filter(|part| {
                        let thought = part.key("thought").ok().flatten();
                        thought.is_none_or(|thought| thought.text() != "true")
                    })),
                    Step::EachKey => inner.extend(value.values()?),
                    Step::Where(key, text) => {
                        for element in value.elements() {
                            let found = element.key(key)?.into_iter();
                            let mut found = found.flat_map(|it| [vec![it], it.elements()].concat());
                            let is_it = found.any(|it| it.string().is_ok_and(|own| own == *text));
                            inner.extend(is_it.then_some(element));
                        }
                    }
                    Step::At(list, at) => {
                        inner.extend(at_places(value.key(list)?, value.key(at)?));
                    }
                }
            }
            if let Step::Key(key) = step
                && (1..count).contains(&inner.len())
            {
                return Err(format!(
                    "`{}`: {} of {count} elements have no `{key}`",
                    self.text,
                    count - inner.len()
                ));
            }
            values = inner;
        }
        Ok(values)
    }
}

/// The elements of a list at a place, or at those of a list of places; a place may be a text.
fn at_places<'a>(list: Option<RowValue<'a>>, at: Option<RowValue<'a>>) -> Vec<RowValue<'a>> {
    let (Some(list), Some(at)) = (list, at) else {
        return Vec::new();
    };
    let elements = list.elements();
    let places = match at.elements() {
        none if none.is_empty() => vec![at],
        places => places,
    };
    let place = |it: RowValue| it.text().trim_matches('"').parse::<usize>().ok();
    let value = |it: RowValue<'a>| elements.get(place(it)?).copied();
    places.into_iter().filter_map(value).collect()
}
