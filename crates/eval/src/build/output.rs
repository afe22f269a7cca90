//! The chosen samples as rows, in the shapes that trainers read.

use std::cell::Cell;
use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::best::Best;
use super::hard::Hard;
use super::pairs::Pairs;
use super::sft::Accepted;
use super::{AT_ONCE, Judged, Tally, Written};
use crate::{EvalError, Result};
use juror_data::output::{CellKind, Column, OutputError, OutputFile, OutputFormat};
use juror_data::{Sample, Samples as _};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Plain texts: `prompt` and `completion`, or `prompt`, `chosen` and `rejected`.
    Text,
    /// Chat messages: `messages`, or the same keys as for texts, each a list of messages.
    Messages,
}

/// The destination of rows, and what they hold beside their own keys.
#[derive(Debug)]
pub struct Output<'o> {
    pub judged: &'o Judged,
    /// The file; `None` for standard output.
    pub file: Option<OutputFile>,
    /// Keys of the input's rows that were kept.
    pub keep: Vec<String>,
    pub form: Form,
}

type Own = Vec<(&'static str, CellKind)>;

/// Makes a row from the samples of a record, or none.
type RowOf<'r, const N: usize> =
    dyn FnMut(usize, [Sample; N]) -> Result<Option<Map<String, Value>>> + 'r;

/// The key that stands for all keys of a row.
const ALL: &str = "all";

impl Output<'_> {
    /// Refuses an output that cannot hold the rows, before anything is read.
    /// Errors: for a name of another kind, and for all keys in a table.
    pub fn check(path: Option<&PathBuf>, keep: &[String]) -> Result<()> {
        let Some(path) = path else { return Ok(()) };
        let format = OutputFormat::from_path(path)?;
        if format != OutputFormat::JsonLines && keep.iter().any(|key| key == ALL) {
            return Err(EvalError::Unusable(
                "--keep all has no columns in a table: name the keys, or write JSON lines".into(),
            ));
        }
        Ok(())
    }

    /// Writes hard samples as rows that can be judged again, with `c` and `trials`.
    /// Errors: when a sample cannot be read again or a table cannot hold it, or the output cannot be written.
    pub fn hard(&self, hard: &Hard) -> Result<Written> {
        let texts = ["id", "question", "reference_answer", "response"];
        let own = texts.map(|key| (key, CellKind::Text)).into_iter();
        let own: Own = own
            .chain([("c", CellKind::Number), ("trials", CellKind::Integer)])
            .collect();
        let is_table = match &self.file {
            Some(file) => OutputFormat::from_path(file.path())? != OutputFormat::JsonLines,
            None => false,
        };
        self.write(
            &own,
            &hard.places,
            &|_| true,
            &mut |at, samples: [Sample; 1]| {
                let [sample] = samples;
                if let (true, Some(what)) = (is_table, nested(&sample)) {
                    return Err(no_cell(&sample.id, what));
                }
                let tally = self.tally(hard.places[at][0]);
                let mut row = sample.row(true);
                row["c"] = json!(tally.c());
                row["trials"] = json!(tally.trials);
                match row {
                    Value::Object(row) => Ok(Some(row)),
                    _ => Ok(None),
                }
            },
        )
    }

    /// Writes preference pairs: `prompt`, `chosen`, `rejected`, the scores and ids of both, and whether the rejected response is a lucky guess.
    pub fn pairs(&self, pairs: &Pairs) -> Result<Written> {
        let text = match self.form {
            Form::Text => CellKind::Text,
            Form::Messages => CellKind::Messages,
        };
        let own: Own = vec![
            ("prompt", text),
            ("chosen", text),
            ("rejected", text),
            ("score_chosen", CellKind::Number),
            ("score_rejected", CellKind::Number),
            ("chosen_id", CellKind::Text),
            ("rejected_id", CellKind::Text),
            ("lucky_guess", CellKind::Boolean),
        ];
        self.write(
            &own,
            &pairs.places,
            &|_| true,
            &mut |at, samples: [Sample; 2]| {
                let [chosen, rejected] = samples;
                let scores = pairs.places[at].map(|place| self.judged.score(place));
                let of_rejected = self.tally(pairs.places[at][1]);
                let mut row = Map::new();
                let prompt = match self.form {
                    Form::Text => Value::String(chosen.question),
                    Form::Messages => Value::Array(self.prompt(&chosen)?),
                };
                row.insert("prompt".into(), prompt);
                row.insert(
                    "chosen".into(),
                    self.text("assistant", chosen.student_answer),
                );
                row.insert(
                    "rejected".into(),
                    self.text("assistant", rejected.student_answer),
                );
                row.insert("score_chosen".into(), json!(scores[0]));
                row.insert("score_rejected".into(), json!(scores[1]));
                row.insert("chosen_id".into(), json!(chosen.id));
                row.insert("rejected_id".into(), json!(rejected.id));
                row.insert("lucky_guess".into(), json!(of_rejected.is_lucky_guess()));
                keep(&mut row, chosen.kept);
                Ok(Some(row))
            },
        )
    }

    /// Writes the best responses, with `reward` and `n`, the number of responses each was chosen from.
    pub fn best(&self, best: &Best) -> Result<Written> {
        let own = self.response_keys(&[("reward", CellKind::Number), ("n", CellKind::Integer)]);
        self.write(
            &own,
            &best.places,
            &|_| true,
            &mut |at, samples: [Sample; 1]| {
                let [sample] = samples;
                let score = self.judged.score(best.places[at][0]);
                let further = [("reward", json!(score)), ("n", json!(best.of[at]))];
                self.response(sample, further).map(Some)
            },
        )
    }

    /// Writes accepted responses, with `reward` and `c`: up to a number for each question, and each text once.
    pub fn sft(&self, accepted: &Accepted, per_question: Option<usize>) -> Result<Written> {
        let own = self.response_keys(&[("reward", CellKind::Number), ("c", CellKind::Number)]);
        let question_of = |at: usize| accepted.questions_of.get(at).copied();
        let full: Cell<Option<u32>> = Cell::new(None);
        let mut now: Option<u32> = None;
        let mut texts: HashSet<[u8; 32]> = HashSet::new();
        let mut same_text = 0;
        let wants = |at: usize| full.get().is_none() || full.get() != question_of(at);
        let mut row = |at: usize, samples: [Sample; 1]| {
            let [sample] = samples;
            if question_of(at) != now {
                now = question_of(at);
                texts.clear();
            }
            if per_question.is_some_and(|most| texts.len() >= most) {
                return Ok(None);
            }
            if !texts.insert(*blake3::hash(sample.student_answer.trim().as_bytes()).as_bytes()) {
                same_text += 1;
                return Ok(None);
            }
            if per_question.is_some_and(|most| texts.len() >= most) {
                full.set(now);
            }
            let place = accepted.places[at][0];
            let score = self.judged.score(place);
            let further = [
                ("reward", json!(score)),
                ("c", json!(self.tally(place).c())),
            ];
            self.response(sample, further).map(Some)
        };
        let written = self.write(&own, &accepted.places, &wants, &mut row)?;
        Ok(Written {
            same_text,
            ..written
        })
    }

    fn tally(&self, place: u32) -> Tally {
        self.judged
            .tallies
            .get(place as usize)
            .copied()
            .unwrap_or_default()
    }

    fn text(&self, role: &str, text: String) -> Value {
        match self.form {
            Form::Text => Value::String(text),
            Form::Messages => json!([{"role": role, "content": text}]),
        }
    }

    fn response_keys(&self, further: &[(&'static str, CellKind)]) -> Own {
        let texts: &[(&str, CellKind)] = match self.form {
            Form::Text => &[("prompt", CellKind::Text), ("completion", CellKind::Text)],
            Form::Messages => &[("messages", CellKind::Messages)],
        };
        [texts, &[("id", CellKind::Text)], further].concat()
    }

    /// The messages that ask the question: the row's own, or one turn of the user.
    fn prompt(&self, sample: &Sample) -> Result<Vec<Value>> {
        if sample.messages.is_empty() {
            return Ok(vec![json!({"role": "user", "content": sample.question})]);
        }
        let is_parquet = match &self.file {
            Some(file) => OutputFormat::from_path(file.path())? == OutputFormat::Parquet,
            None => false,
        };
        let is_plain = |message: &Value| {
            let keys = message.as_object().map_or(0, Map::len);
            keys == 2 && message["role"].is_string() && message["content"].is_string()
        };
        if is_parquet && !sample.messages.iter().all(is_plain) {
            let what = "a chat message that is more than a role and a text";
            return Err(no_cell(&sample.id, what));
        }
        Ok(sample.messages.clone())
    }

    /// The row of a question and one response.
    fn response<const M: usize>(
        &self,
        sample: Sample,
        further: [(&str, Value); M],
    ) -> Result<Map<String, Value>> {
        let mut row = Map::new();
        match self.form {
            Form::Text => {
                row.insert("prompt".into(), sample.question.into());
                row.insert("completion".into(), sample.student_answer.into());
            }
            Form::Messages => {
                let mut messages = self.prompt(&sample)?;
                messages.push(json!({"role": "assistant", "content": sample.student_answer}));
                row.insert("messages".into(), Value::Array(messages));
            }
        }
        row.insert("id".into(), sample.id.into());
        row.extend(further.map(|(key, value)| (key.to_owned(), value)));
        keep(&mut row, sample.kept);
        Ok(row)
    }

    /// Writes the rows that `row` makes from the samples of each wanted record, leaving out records for which it makes none.
    fn write<const N: usize>(
        &self,
        own: &Own,
        places: &[[u32; N]],
        wants: &dyn Fn(usize) -> bool,
        row: &mut RowOf<N>,
    ) -> Result<Written> {
        if let Some(key) = self
            .keep
            .iter()
            .find(|key| own.iter().any(|(name, _)| name == key))
        {
            return Err(EvalError::Unusable(format!(
                "--keep {key}: rows that are built have a key of that name: rename it in the input, or leave it out"
            )));
        }
        let columns = own.iter().map(|(name, kind)| Column::new(name, *kind));
        let kept = self.keep.iter();
        let kept = kept.map(|key| Column::new(key, CellKind::OfValues));
        let columns: Vec<Column> = columns.chain(kept).collect();
        let mut written = Written::default();
        let mut fill = |writer: &mut dyn Write| self.fill(places, wants, row, &mut written, writer);
        let result = if let Some(file) = &self.file {
            OutputFormat::from_path(file.path())?.write_table(file, &columns, fill)
        } else {
            let mut writer = BufWriter::new(io::stdout().lock());
            let filled = fill(&mut writer).and_then(|()| writer.flush());
            filled.map_err(|source| OutputError::WriteInPlace {
                path: "standard output".into(),
                source,
            })
        };
        result.map_err(|error| error.own().unwrap_or_else(EvalError::Output))?;
        Ok(written)
    }

    fn fill<const N: usize>(
        &self,
        places: &[[u32; N]],
        wants: &dyn Fn(usize) -> bool,
        row: &mut RowOf<N>,
        written: &mut Written,
        writer: &mut dyn Write,
    ) -> io::Result<()> {
        let mut at = 0;
        while at < places.len() {
            let mut records: Vec<usize> = Vec::new();
            while at < places.len() && records.len() < AT_ONCE {
                if wants(at) {
                    records.push(at);
                }
                at += 1;
            }
            let positions = records.iter().flat_map(|&record| places[record]);
            let positions: Vec<usize> = positions.map(|place| place as usize).collect();
            let samples = self.judged.rows.fetch(&positions);
            let samples = samples.map_err(|error| io::Error::other(EvalError::from(error)));
            let mut samples = samples?.into_iter();
            for record in records {
                // There are as many samples as indices.
                let of_record: [Sample; N] =
                    std::array::from_fn(|_| samples.next().unwrap_or_default());
                match row(record, of_record).map_err(io::Error::other)? {
                    Some(row) => {
                        written.rows += 1;
                        serde_json::to_writer(&mut *writer, &row)?;
                        writer.write_all(b"\n")?;
                    }
                    None => written.same_text += 1,
                }
            }
        }
        Ok(())
    }
}

/// Adds the kept keys of a row. With all keys kept, one that has the name of one of juror's own is left out.
fn keep(row: &mut Map<String, Value>, kept: Map<String, Value>) {
    for (key, value) in kept {
        row.entry(key).or_insert(value);
    }
}

fn no_cell(id: &str, what: &str) -> EvalError {
    EvalError::Unusable(format!(
        "sample {id:?} has {what}, which has no place in a table: write JSON lines (-o OUT.jsonl)"
    ))
}

/// What a sample has that no cell of a table can hold.
fn nested(sample: &Sample) -> Option<&'static str> {
    if !sample.alternatives.is_empty() {
        Some("several reference answers")
    } else if !sample.steps.is_empty() {
        Some("steps")
    } else if sample.rubric.is_some() {
        Some("a rubric")
    } else {
        (!sample.other_answer.is_empty()).then_some("a second response")
    }
}
