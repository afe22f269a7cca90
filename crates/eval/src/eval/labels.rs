//! Labels: what people (or a stronger judge) say of a response.

use serde_json::{Map, Value};

use juror_data::Keep;

/// The fields of a label in their order, and the keys under which data sets have them; the first that a row has counts.
///
/// `label` and `answer` are not among them: data sets use these for much else. `ProcessBench`'s `label`, the first wrong
/// step, is read beside its `final_answer_correct`.
const KEYS: [(LabelField, &str); 5] = [
    (
        LabelField::Outcome,
        "outcome_label y_outcome outcome is_correct gold_judgment gold_correct human_judgment_result \
        GPT_4o_final_judgment_result final_answer_correct label.outcome scores.*.value symbolic_correct \
        gradingResult.pass feedback.correct exact_match metric.extractive_match",
    ),
    (
        LabelField::Overall,
        "overall_label y_overall overall label.overall",
    ),
    (
        LabelField::Process,
        "process_label y_process process label.process",
    ),
    (
        LabelField::Subject,
        "subject domain category discipline subset",
    ),
    (LabelField::AnswerType, "answer_type task_type"),
];

/// `VerifierBench`'s key for the outcome.
const VERIFIER_BENCH: &str = "gold_judgment";

/// The first of the outcome's keys under which programs write what they found.
const OF_PROGRAMS: &str = "symbolic_correct";

/// Inspect's, in a sample of its logs: the values of all its scorers, which must be one.
const INSPECT: &str = "scores.*.value";

/// `ProcessBench`'s key for the outcome.
const FINAL_ANSWER: &str = "final_answer_correct";

/// `ProcessBench`'s key for the first wrong step, -1 for none.
const FIRST_ERROR: &str = "label";

/// lm-eval's key for the filter that read a response.
pub(super) const FILTER: &str = "filter";

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LabelField {
        /// Whether the final answer is right.
        Outcome = "outcome",
        /// Whether derivation and final answer are right.
        Overall = "overall",
        /// Whether the derivation is right.
        Process = "process",
        /// What the question is about.
        Subject = "subject",
        /// What kind of answer it has.
        AnswerType = "answer_type",
    }
}

named! {
    /// Whose letters labels are. `C` is in both sets, and means the opposite.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Letters {
        /// C (correct), I (incorrect), P (partially correct: no label), N (no answer: not right).
        Inspect = "inspect",
        /// A (right), B (wrong), C (cut off or garbled: not right).
        VerifierBench = "verifierbench",
    }
}

impl Letters {
    /// Why a label that is no letter of these is none, and what to do, if it is one of the others.
    fn refusal(self, key: &str, value: &Value) -> Option<String> {
        let (inspect, verifier) = ("Inspect's (C, I, P, N)", "VerifierBench's (A, B, C)");
        let (letters, own, other, name) = match self {
            Self::Inspect => ("AB", inspect, verifier, "verifierbench"),
            Self::VerifierBench => ("IPN", verifier, inspect, "inspect"),
        };
        let text = value.get(0).unwrap_or(value).as_str()?.trim();
        let is_other = text.len() == 1 && letters.contains(&text.to_ascii_uppercase());
        let advice = match key {
            VERIFIER_BENCH | INSPECT => "name another key, or write true or false".to_owned(),
            _ => format!("give `--label-columns {LETTERS}={name}`, or write true or false"),
        };
        is_other.then(|| {
            format!("`{key}` is {value}, one of {other}, where letters are {own}: {advice}")
        })
    }
}

/// The name of the setting that says whose letters labels are, among those of fields.
const LETTERS: &str = "letters";

/// The fields that are true or false.
const TRUTHS: [LabelField; 3] = [
    LabelField::Outcome,
    LabelField::Overall,
    LabelField::Process,
];

/// Which keys of a row hold its label.
#[derive(Debug, Clone)]
pub struct LabelColumns {
    keys: [(LabelField, Vec<String>); 5],
    /// Whose letters they are, if the user says so.
    letters: Option<Letters>,
    /// Whether the first wrong step says whether the derivation is right: where no key of the process is named.
    first_error: bool,
}

impl Default for LabelColumns {
    fn default() -> Self {
        Self {
            keys: KEYS.map(|(field, keys)| (field, keys.split(' ').map(Into::into).collect())),
            letters: None,
            first_error: true,
        }
    }
}

impl LabelColumns {
    /// Parses `FIELD=KEY` settings. A field that is not named is looked for under its usual keys; one with an empty key is not read.
    pub fn parse<S: AsRef<str>>(named: &[S]) -> Result<Self, String> {
        let mut columns = Self::default();
        for text in named {
            let text = text.as_ref();
            let (name, key) = text
                .split_once('=')
                .ok_or_else(|| format!("{text:?} is no FIELD=KEY, as in overall=human_overall"))?;
            if name.trim() == LETTERS {
                let letters = Letters::from_name(key.trim());
                let wrong = || format!("{LETTERS}={key}: they are inspect or verifierbench");
                columns.letters = Some(letters.ok_or_else(wrong)?);
                continue;
            }
            let field = LabelField::from_name(name.trim()).ok_or_else(|| {
                let names = LabelField::ALL.map(LabelField::name).join(", ");
                format!("{name:?} is no field of a label: those are {names}, and {LETTERS}")
            })?;
            columns.first_error &= field != LabelField::Process;
            let key = Some(key.trim().to_owned()).filter(|key| !key.is_empty());
            columns.keys[field as usize].1 = key.into_iter().collect();
        }
        Ok(columns)
    }

    /// The keys of labels, to be kept from rows that have them.
    pub(crate) fn keep(&self) -> Keep {
        let keys = self.keys.iter().flat_map(|(_, keys)| keys);
        let keys = keys.map(String::as_str).chain([FIRST_ERROR, FILTER]);
        Keep::parse(keys).where_there()
    }

    /// The keys that the user named for a field. One that is not named has several.
    pub(crate) fn named(&self) -> impl Iterator<Item = &String> {
        let named = self.keys.iter().filter(|(_, keys)| keys.len() == 1);
        named.flat_map(|(_, keys)| keys)
    }

    pub fn keys(&self, field: LabelField) -> &[String] {
        &self.keys[field as usize].1
    }

    fn find<'r>(
        &self,
        field: LabelField,
        row: &'r Map<String, Value>,
    ) -> Option<(&str, &'r Value)> {
        let within = |(outer, inner): (&str, &str)| row.get(outer)?.get(inner);
        let get = |key: &str| row.get(key).or_else(|| within(key.split_once('.')?));
        let own = |field| {
            let keys = self.keys(field);
            // The first may be one that the user named.
            let programs = keys.iter().skip(1).position(|key| key == OF_PROGRAMS);
            &keys[..programs.map_or(keys.len(), |at| at + 1)]
        };
        // What a program found is no label in a row that has a place for one of people.
        let mut by_people = TRUTHS.into_iter().flat_map(own);
        let is_theirs = by_people.any(|key| get(key).is_some());
        let all = self.keys(field);
        let keys = if is_theirs { own(field) } else { all };
        let mut found = keys.iter().filter_map(|key| Some((&**key, get(key)?)));
        found.find(|(_, value)| !is_missing(value))
    }

    /// The label of one of a row's samples, whose place and number are given: of several each has its own, in a list.
    pub(crate) fn read_of(
        &self,
        row: &Map<String, Value>,
        [place, count]: [usize; 2],
    ) -> Result<Label, String> {
        let mut own = row.clone();
        for (key, value) in TRUTHS.iter().filter_map(|field| self.find(*field, row)) {
            let values = value.as_array();
            // Of several scorers none is that of a response.
            let of_scorers = key == INSPECT && values.is_some_and(|values| values.len() > 1);
            match values.filter(|values| values.len() == count) {
                _ if of_scorers || count < 2 => continue,
                Some(values) => own.insert(key.to_owned(), values[place].clone()),
                // The one value is not known to be of this response.
                None if values.is_none() => own.insert(key.to_owned(), Value::Null),
                None => match values.map_or(0, Vec::len) {
                    1 => continue,
                    labels => {
                        return Err(format!("`{key}` has {labels} labels for {count} responses"));
                    }
                },
            };
        }
        self.read(&own)
    }

    pub(crate) fn read(&self, row: &Map<String, Value>) -> Result<Label, String> {
        let mut seen = [LettersSeen::default(); 3];
        let mut truth = |at: usize| {
            let Some((key, value)) = self.find(TRUTHS[at], row) else {
                return Ok(None);
            };
            let letters = match key {
                VERIFIER_BENCH => Some(Letters::VerifierBench),
                INSPECT => Some(Letters::Inspect),
                _ => self.letters,
            };
            let several = value.as_array().filter(|values| values.len() != 1);
            let read = truth(value, letters, &mut seen[at]);
            let refusal = letters.and_then(|letters| letters.refusal(key, value));
            read.map_err(|()| match several {
                None if refusal.is_some() => refusal.unwrap_or_default(),
                Some(_) => format!(
                    "`{key}` is {value}: name the one that is the label, as in `--label-columns {}={}`",
                    TRUTHS[at].name(),
                    key.replace('*', "NAME")
                ),
                None => format!(
                    "`{key}` is {value}: a label is true or false, 1 or 0, correct or incorrect, A, B or C, or C, I, P or N"
                ),
            })
        };
        let [outcome, overall, process] = [truth(0)?, truth(1)?, truth(2)?];
        let name = |field| {
            self.find(field, row).map(|(_, value)| match value {
                Value::String(text) => text.trim().to_owned(),
                other => other.to_string(),
            })
        };
        // The cells of a table are strings.
        let has_step = self.first_error && row.contains_key(FINAL_ANSWER);
        let first_error = row.get(FIRST_ERROR).filter(|_| has_step);
        let first_error: Option<i64> = first_error.and_then(|step| match step {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_i64(),
        });
        let mut label = Label {
            outcome,
            overall,
            process: process.or(first_error.map(|step| step < 0)),
            seen,
            subject: name(LabelField::Subject),
            answer_type: name(LabelField::AnswerType),
            first_error,
        };
        if label.overall.is_none() && !seen[1].open {
            label.overall = and(label.process, label.outcome);
        }
        Ok(label)
    }

    /// What the letter `C` means in each of the fields whose labels are `seen`; `None` where none of them is open.
    pub(crate) fn meaning(&self, seen: &[LettersSeen; 3]) -> Result<[Option<bool>; 3], String> {
        let mut meaning = [None; 3];
        for ((field, seen), meaning) in TRUTHS.into_iter().zip(seen).zip(&mut meaning) {
            let why = match (self.letters, seen.inspect, seen.verifier_bench) {
                (Some(letters), ..) => {
                    *meaning = Some(letters == Letters::Inspect);
                    continue;
                }
                (None, true, true) => "some are Inspect's (I, P, N), others VerifierBench's (A, B)",
                (None, false, false) if seen.open => "there is no other letter",
                (None, inspect, _) => {
                    *meaning = seen.open.then_some(inspect);
                    continue;
                }
            };
            return Err(format!(
                "labels of {} are letters, and {why}. `C` is right in Inspect's logs, and cut off or garbled, which is not right, in \
                 VerifierBench: say which with `--label-columns {LETTERS}={}` or `--label-columns {LETTERS}={}`",
                field.name(),
                Letters::Inspect.name(),
                Letters::VerifierBench.name()
            ));
        }
        Ok(meaning)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LettersSeen {
    /// `C`, which is read when all labels are known.
    pub(crate) open: bool,
    /// I, P or N.
    inspect: bool,
    /// A or B.
    verifier_bench: bool,
}

impl LettersSeen {
    /// Adds those of another label.
    pub(crate) fn add(&mut self, other: Self) {
        self.open |= other.open;
        self.inspect |= other.inspect;
        self.verifier_bench |= other.verifier_bench;
    }
}

/// Whether there is no label: null, or in a table, where all cells may be texts, an empty one.
pub(super) fn is_missing(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Whether both are true, if both are known. One that is false would suffice, but in data with outcomes alone all labels would then be false.
pub(super) fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a && b),
        _ => None,
    }
}

/// A label's truth value: `None` within if it has none, or if it is the letter `C` and it is unknown whose. An error if it is no label.
fn truth(value: &Value, of: Option<Letters>, seen: &mut LettersSeen) -> Result<Option<bool>, ()> {
    match value {
        Value::Bool(truth) => Ok(Some(*truth)),
        Value::Number(number) => match number.as_f64() {
            Some(0.0) => Ok(Some(false)),
            Some(1.0) => Ok(Some(true)),
            _ => Err(()),
        },
        Value::String(text) => {
            let text = text.trim().to_ascii_lowercase();
            let is_open = of.is_none();
            Ok(match text.as_str() {
                "true" | "correct" | "right" | "yes" | "1" | "1.0" => Some(true),
                "false" | "incorrect" | "wrong" | "no" | "0" | "0.0" | "invalid" => Some(false),
                "a" | "b" if of != Some(Letters::Inspect) => {
                    seen.verifier_bench |= is_open;
                    Some(text == "a")
                }
                "i" | "p" | "n" if of != Some(Letters::VerifierBench) => {
                    seen.inspect |= is_open;
                    (text != "p").then_some(false)
                }
                "c" => {
                    seen.open |= is_open;
                    of.map(|letters| letters == Letters::Inspect)
                }
                _ => return Err(()),
            })
        }
        Value::Array(values) => match values.as_slice() {
            [only] => truth(only, of, seen),
            _ => Err(()),
        },
        _ => Err(()),
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label {
    /// Whether the final answer is right.
    pub(crate) outcome: Option<bool>,
    /// Whether derivation and final answer are right.
    pub(crate) overall: Option<bool>,
    /// Whether the derivation is right.
    pub(crate) process: Option<bool>,
    /// What the question is about.
    pub(crate) subject: Option<String>,
    /// What kind of answer it has.
    pub(crate) answer_type: Option<String>,
    /// The first wrong step, from 0, and -1 for none.
    pub(crate) first_error: Option<i64>,
    /// The letters in it, of outcome, overall and process.
    pub(crate) seen: [LettersSeen; 3],
}

impl Label {
    /// Whether it has nothing that a verdict can be compared with.
    pub(crate) fn is_empty(&self) -> bool {
        let is_none = self.outcome.is_none() && self.overall.is_none() && self.process.is_none();
        is_none && !self.is_open()
    }

    /// Whether some of it is a letter whose meaning depends on other labels.
    pub(crate) fn is_open(&self) -> bool {
        self.seen.iter().any(|seen| seen.open)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// One label of a row with several responses would be that of each.
    #[test]
    fn each_of_several_responses_has_its_own_label() {
        let columns = LabelColumns::default();
        let read = |row: Value, place| {
            let label = columns.read_of(row.as_object().unwrap(), place);
            label.map(|label| (label.outcome, label.subject))
        };
        let list = json!({"is_correct": [true, false], "subject": "s"});
        let of = |outcome| Ok((Some(outcome), Some("s".to_owned())));
        assert_eq!(read(list.clone(), [0, 2]), of(true));
        assert_eq!(read(list.clone(), [1, 2]), of(false));
        let one = json!({"is_correct": true, "subject": "s"});
        assert_eq!(read(one.clone(), [0, 1]), of(true));
        assert_eq!(
            read(json!({"subject": "s"}), [1, 2]),
            Ok((None, Some("s".to_owned())))
        );
        assert_eq!(read(one, [0, 2]), Ok((None, Some("s".to_owned()))));
        let why = read(list.clone(), [0, 1]).unwrap_err();
        assert!(why.contains("name the one that is the label"), "{why}");
        let why = read(list, [0, 3]).unwrap_err();
        assert_eq!(why, "`is_correct` has 2 labels for 3 responses");
        // Of two scorers neither is the label of one of two responses.
        let why = read(json!({"scores.*.value": [true, false]}), [0, 2]).unwrap_err();
        assert!(why.contains("name the one that is the label"), "{why}");
    }

    /// Labels in the shapes of published data sets are read without options.
    #[test]
    fn labels_of_data_sets_are_read() {
        let page = include_str!("../../../../docs/guide/eval.md");
        for key in KEYS.iter().flat_map(|(_, keys)| keys.split(' ')) {
            assert!(page.contains(&format!("`{key}`")), "{key}");
        }
        let read = |row: Value| {
            let row = row.as_object().unwrap();
            let label = LabelColumns::default().read(row).unwrap();
            (label.outcome, label.overall, label.process, label.subject)
        };
        let of = |subject: &str| Some(subject.to_owned());
        let verifier_bench =
            |letter| json!({"gold_judgment": letter, "domain": "Math", "answer_type": "Formula"});
        assert_eq!(
            read(verifier_bench("A")),
            (Some(true), None, None, of("Math"))
        );
        assert_eq!(
            read(verifier_bench("C")),
            (Some(false), None, None, of("Math"))
        );
        assert_eq!(
            read(json!({"gold_judgment": true, "domain": "Physics"})),
            (Some(true), None, None, of("Physics"))
        );
        assert_eq!(
            read(json!({"gold_correct": false, "answer_type": "Set"})),
            (Some(false), None, None, None)
        );
        let var =
            json!({"human_judgment_result": null, "GPT_4o_final_judgment_result": "Incorrect"});
        assert_eq!(read(var), (Some(false), None, None, None));
        let process_bench =
            |step| json!({"final_answer_correct": true, "label": step, "steps": ["a", "b"]});
        assert_eq!(
            read(process_bench(-1)),
            (Some(true), Some(true), Some(true), None)
        );
        assert_eq!(
            read(process_bench(1)),
            (Some(true), Some(false), Some(false), None)
        );
        assert_eq!(
            read(json!({"final_answer_correct": "True", "label": "-1"})),
            (Some(true), Some(true), Some(true), None)
        );
        for key in [
            "symbolic_correct",
            "exact_match",
            "feedback.correct",
            "gradingResult.pass",
        ] {
            assert_eq!(read(json!({ key: 1.0 })).0, Some(true), "{key}");
        }
        // In rows that have a place for a label of people what programs found is none.
        for (row, expected) in [
            (
                json!({"overall_label": true, "exact_match": 0.5}),
                (None, Some(true), None),
            ),
            (
                json!({"process_label": true, "exact_match": 0}),
                (None, None, Some(true)),
            ),
            (
                json!({"outcome_label": null, "exact_match": 1}),
                (None, None, None),
            ),
            (
                json!({"label": {"overall": false}, "symbolic_correct": true}),
                (None, Some(false), None),
            ),
            (
                json!({"is_correct": false, "feedback": {"correct": true}}),
                (Some(false), None, None),
            ),
        ] {
            let (outcome, overall, process, _) = read(row.clone());
            assert_eq!((outcome, overall, process), expected, "{row}");
        }
        // One that the user names is.
        let named = LabelColumns::parse(&["outcome=symbolic_correct"]).unwrap();
        let row = json!({"overall_label": true, "symbolic_correct": false});
        let label = named.read(row.as_object().unwrap()).unwrap();
        assert_eq!((label.outcome, label.overall), (Some(false), Some(true)));
        // In `JudgeBench`, `label` is not a label of a response.
        assert_eq!(
            read(json!({"label": "A>B", "source": "mmlu"})),
            (None, None, None, None)
        );
        assert_eq!(
            read(json!({"num_correct": 1, "subset": "Safety"})),
            (None, None, None, of("Safety"))
        );
    }
}
