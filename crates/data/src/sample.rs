//! One sample to be judged.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::preset::is_known_key;
use crate::rubric::Rubric;

/// A question, its reference answer, and the response under judgement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// The row's own id, or a stable hash of its content.
    pub id: String,
    /// Place in the whole input, from 0, counting accepted rows only.
    pub index: usize,
    /// The problem.
    pub question: String,
    /// The messages that ask the question, up to the response, if the row has them and they are asked for: each with `role` and `content`, or as the row has
    /// it if its content is not text or it has more than these.
    pub messages: Vec<Value>,
    /// The expected final result, as the judge is shown it; if several are right, a list of them.
    pub reference_answer: String,
    /// The single reference answers, if there are several.
    pub alternatives: Vec<String>,
    /// Where it is the text of an option of the question: that one's letter. Nobody is shown it.
    pub option_letter: Option<String>,
    /// The response: derivation and result, or the result alone.
    pub student_answer: String,
    /// The response that it is compared with, under a protocol that compares responses.
    pub other_answer: String,
    /// The steps of the response, if the row has them; otherwise they are its paragraphs.
    pub steps: Vec<String>,
    /// The criteria that it is judged by, under a protocol with rubrics.
    pub rubric: Option<Arc<Rubric>>,
    /// The id of the row, if the row has a list of responses.
    pub group: Option<String>,
    /// Whether it is one of the better responses of its row, if the row says that of each.
    pub preferred: Option<bool>,
    /// Keys of the row that go into its verdicts ([`Keep`](super::Keep)).
    pub kept: Map<String, Value>,
}

impl Sample {
    /// A sample without an id: it gets one when it is judged, the hash of its content.
    pub fn new(
        question: impl Into<String>,
        reference_answer: impl Into<String>,
        student_answer: impl Into<String>,
    ) -> Self {
        Self {
            question: question.into(),
            reference_answer: reference_answer.into(),
            student_answer: student_answer.into(),
            ..Self::default()
        }
    }

    /// The same sample with an id of the caller's, which the verdict then has too.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// The same sample with a rubric, for a protocol that judges by one.
    #[must_use]
    pub fn with_rubric(mut self, rubric: Arc<Rubric>) -> Self {
        self.rubric = Some(rubric);
        self
    }

    /// The sample as a row under keys that can be read again; with `kept` also its kept keys, except those that would be read as something else.
    pub fn row(&self, kept: bool) -> Value {
        let mut row = json!({"id": self.id, "question": self.question});
        let mut set = |key: &str, value: Value| row[key] = value;
        match self.alternatives.as_slice() {
            [] => set("reference_answer", json!(self.reference_answer)),
            several => set("reference_answer", json!(several)),
        }
        set("response", json!(self.student_answer));
        if !self.other_answer.is_empty() {
            set("other_response", json!(self.other_answer));
        }
        if !self.steps.is_empty() {
            set("steps", json!(self.steps));
        }
        if let Some(rubric) = &self.rubric {
            set("rubric", json!(rubric.criteria()));
        }
        let is_own = |(key, _): &(&String, &Value)| kept && !is_known_key(key);
        for (key, value) in self.kept.iter().filter(is_own) {
            row[key] = value.clone();
        }
        row
    }

    /// The reference answers: any of them is right.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        let all = match self.alternatives.as_slice() {
            [] => std::slice::from_ref(&self.reference_answer),
            several => several,
        };
        all.iter().map(String::as_str)
    }

    /// The id of a row that has none: the first 16 hexadecimal characters of the BLAKE3 hash of its three texts.
    ///
    /// Each text is preceded by its length in bytes (64 bits, little-endian), so that moving text from one field to its neighbour gives another id. The id is
    /// the same in every version, since outputs are joined by it.
    pub fn content_id(question: &str, reference_answer: &str, student_answer: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        for text in [question, reference_answer, student_answer] {
            hash_text(&mut hasher, text);
        }
        let mut id = hasher.finalize().to_hex().to_string();
        id.truncate(16);
        id
    }

    /// [`Self::content_id`] of this sample.
    pub fn own_content_id(&self) -> String {
        Self::content_id(&self.question, &self.reference_answer, &self.student_answer)
    }

    /// The id of the `number`th row with exactly the same content, from 2.
    pub(super) fn numbered_id(content_id: &str, number: u32) -> String {
        format!("{content_id}-{number}")
    }

    /// A short hash of everything that distinguishes this sample from others, to notice that a file has changed.
    pub(super) fn check(&self) -> u64 {
        let mut hasher = blake3::Hasher::new();
        self.hash_into(&mut hasher);
        first_bytes(&hasher.finalize())
    }

    /// A short hash of the question: samples with the same question share more of the prompt than the template. If there are messages, it is their hash: the
    /// same last turn after other turns is another question.
    pub fn question_hash(&self) -> u64 {
        let is_question = |message: &Value| {
            message["role"] == "user" && message["content"] == self.question.as_str()
        };
        if self.messages.len() < 2 && self.messages.iter().all(is_question) {
            return id_hash(&self.question);
        }
        let mut hasher = blake3::Hasher::new();
        for message in &self.messages {
            let mut message = message.clone();
            message.sort_all_objects();
            hash_text(&mut hasher, &message.to_string());
        }
        first_bytes(&hasher.finalize())
    }

    /// A short hash of the id.
    pub fn id_hash(&self) -> u64 {
        id_hash(&self.id)
    }

    /// The length of the texts that a judge may be shown, in bytes.
    pub fn bytes(&self) -> usize {
        let rubric = self.rubric.as_ref().map(|rubric| rubric.shown().len());
        let responses = self.student_answer.len() + self.other_answer.len();
        self.question.len() + self.reference_answer.len() + responses + rubric.unwrap_or(0)
    }

    /// The memory that the sample takes up, in bytes, approximately, with its row's kept values: a value of one letter takes a hundred times as much as in a
    /// file.
    pub fn memory(&self) -> usize {
        self.bytes() + memory_of_entries(&self.kept)
    }

    /// Adds everything that distinguishes this sample from others to the input's fingerprint.
    pub(super) fn hash_into(&self, hasher: &mut blake3::Hasher) {
        let (question, reference) = (&self.question, &self.reference_answer);
        let texts = [&self.id, question, reference, &self.student_answer];
        let other = Some(&self.other_answer).filter(|other| !other.is_empty());
        for text in texts.into_iter().chain(other).chain(&self.steps) {
            hash_text(hasher, text);
        }
        if let Some(rubric) = self.rubric.as_deref() {
            hash_text(hasher, &serde_json::to_string(rubric).unwrap_or_default());
        }
        if !self.kept.is_empty() {
            // The order of columns does not matter; a map can always be written.
            let mut kept = self.kept.clone();
            kept.sort_keys();
            kept.values_mut().for_each(Value::sort_all_objects);
            hash_text(hasher, &serde_json::to_string(&kept).unwrap_or_default());
        }
    }
}

/// A short hash of a sample's id.
pub fn id_hash(id: &str) -> u64 {
    first_bytes(&blake3::hash(id.as_bytes()))
}

/// Memory of an entry besides its texts: a key, a value, their place in the map's order and in its table.
const ENTRY: usize = size_of::<(String, Value)>() + 4 * size_of::<usize>();

fn memory_of_entries(entries: &Map<String, Value>) -> usize {
    let of_entry = |(key, value): (&String, &Value)| ENTRY + key.len() + memory_of(value);
    entries.iter().map(of_entry).sum()
}

fn memory_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => {
            values.len() * size_of::<Value>() + values.iter().map(memory_of).sum::<usize>()
        }
        Value::Object(entries) => memory_of_entries(entries),
    }
}

fn first_bytes(hash: &blake3::Hash) -> u64 {
    let first = hash.as_bytes().first_chunk();
    first.map_or(0, |first| u64::from_le_bytes(*first))
}

fn hash_text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ids_never_change() {
        assert_eq!(
            Sample::content_id("What is 2 + 2?", "4", "2 + 2 = 4, so 4."),
            "763d43d30fd80733"
        );
    }

    #[test]
    fn text_that_moves_between_fields_makes_another_id() {
        let ids = [
            Sample::content_id("ab", "c", "d"),
            Sample::content_id("a", "bc", "d"),
            Sample::content_id("a", "b", "cd"),
            Sample::content_id("", "abc", "d"),
            Sample::content_id("abcd", "", ""),
        ];
        for (at, id) in ids.iter().enumerate() {
            assert!(!ids[..at].contains(id), "{ids:?}");
        }
    }
}
