//! Paths to values within a row: `answer`, `reward_model.ground_truth`, `outputs[*].text`, `scores.*.value`.

use super::row::{Row, Value};

/// A top-level key, or a path into nested values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyPath {
    text: String,
    /// The steps of the path; empty if the text cannot be read as a path.
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Place(usize),
    /// `[*]`: every element.
    Each,
    /// `*` as a key: every value of an object.
    EachKey,
}

impl KeyPath {
    pub(super) fn parse(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            steps: Self::steps(text).unwrap_or_default(),
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
                steps.push(match place {
                    "*" => Step::Each,
                    _ => Step::Place(place.parse().ok()?),
                });
            }
        }
        Some(steps)
    }

    /// Whether it leads to every element of a list or of an object.
    pub(super) fn is_of_each(&self) -> bool {
        let is_each = |step: &Step| matches!(step, Step::Each | Step::EachKey);
        self.steps.iter().any(is_each)
    }

    /// The path as it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The values that it leads to; none if the row has no such key. A top-level key with the path's exact text wins.
    pub(crate) fn find<'a>(&self, row: &Row<'a>) -> Result<Vec<Value<'a>>, String> {
        if let Some(value) = row.get(&self.text)? {
            return Ok(vec![value]);
        }
        let Some((Step::Key(first), rest)) = self.steps.split_first() else {
            return Ok(Vec::new());
        };
        let mut values: Vec<Value<'a>> = row.get(first)?.into_iter().collect();
        for step in rest {
            let mut inner = Vec::with_capacity(values.len());
            let count = values.len();
            for value in values {
                match step {
                    Step::Key(key) => inner.extend(value.key(key)?),
                    Step::Place(place) => inner.extend(value.elements().into_iter().nth(*place)),
                    Step::Each => inner.extend(value.elements()),
                    Step::EachKey => inner.extend(value.values()?),
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
