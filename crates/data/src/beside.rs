//! What stands beside a question and belongs to it: what it is about, and the options it has.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value as Json;

use super::columns::{ColumnMap, Field};
use super::field_texts::list_of_python;
use super::path::KeyPath;
use super::preset::Preset;
use super::row::{Row, RowValue, spelled_plainly};

#[derive(Default, Deserialize)]
struct Keys {
    questions: Vec<String>,
    before: Vec<String>,
    after: Vec<String>,
    unseen: Vec<String>,
    instruction: [String; 2],
    options: Vec<[String; 2]>,
}

// The file is part of the program, and a test reads it.
static KEYS: LazyLock<Keys> =
    LazyLock::new(|| toml::from_str(include_str!("beside.toml")).unwrap_or_default());

/// An option of a question, after its label.
type Choice = (String, String);

/// A row, one of its keys, and those that the user gave to fields.
pub(super) struct Beside<'r, 'a>(
    pub(super) &'r Row<'a>,
    pub(super) &'r str,
    pub(super) &'r ColumnMap,
);

impl<'a> Beside<'_, 'a> {
    /// The values of a path that begins in the object with the key.
    fn find(&self, path: &str) -> Result<Vec<RowValue<'a>>, String> {
        let Self(row, key, columns) = self;
        let first = path.split(['.', '[']).next().unwrap_or(path);
        let other = row.spelled_otherwise(first).filter(|_| !row.has(first));
        let path = match (key.rfind('.'), other) {
            (Some(dot), _) if path.starts_with(&key[..=dot]) => path.to_owned(),
            (Some(dot), _) => format!("{}{path}", &key[..=dot]),
            (None, Some(other)) => path.replacen(first, &other, 1),
            (None, None) if row.has(first) => path.to_owned(),
            _ => return Ok(Vec::new()),
        };
        if columns.named().contains(&path) {
            return Ok(Vec::new());
        }
        KeyPath::parse(&path).find(row)
    }

    /// The value of a key, if it says anything.
    fn get(&self, name: &str) -> Result<Option<RowValue<'a>>, String> {
        let value = self.find(name)?.into_iter().next();
        Ok(value.filter(|value| !["null", "[]", "{}", "\"\""].contains(&value.text())))
    }

    /// The texts and numbers at paths, up to the first where there is something else.
    fn texts(&self, paths: &str) -> Vec<String> {
        let text = |value: &RowValue| match value.text().as_bytes()[0] {
            b'"' => value.string().ok().filter(|text| !text.trim().is_empty()),
            b'-' | b'0'..=b'9' => Some(value.text().to_owned()),
            _ => None,
        };
        let of = |path| {
            let texts: Option<Vec<String>> = self.find(path).ok()?.iter().map(text).collect();
            texts.filter(|texts| !texts.is_empty())
        };
        paths.split(' ').map_while(of).flatten().collect()
    }

    /// The question with what belongs to it and is not in it, and what was added or left out; `None` if it has all. Only to a text of
    /// its own (`is_text`) is anything added.
    pub(super) fn complete(
        &self,
        question: &str,
        is_text: bool,
    ) -> Result<Option<[String; 2]>, String> {
        let key = spelled_plainly(self.1).unwrap_or_else(|| self.1.to_owned());
        let is_text = is_text && KEYS.questions.contains(&key);
        let [of, about] = &KEYS.instruction;
        let about = Some(about).filter(|_| *of == key);
        let (mut parts, mut how, mut before) = (vec![question.to_owned()], Vec::new(), 0);
        let options = if is_text { self.options()? } else { None };
        let names = KEYS.before.iter().chain(about).chain(&KEYS.after);
        // A path is one beside a question in the same object.
        let is_here = |it: &str| it.rfind('.').is_none_or(|at| key.starts_with(&it[..=at]));
        for name in names.filter(|it| is_text && is_here(it)) {
            match self.get(name)?.map(RowValue::string) {
                Some(Ok(text)) if !question.contains(text.trim()) => {
                    let is_before = KEYS.before.iter().any(|key| key == name);
                    parts.insert(if is_before { before } else { parts.len() }, text);
                    before += usize::from(is_before);
                    how.push(format!("and {name}"));
                }
                Some(Err(_)) if about == Some(name) => {
                    return Err(format!("`{name}`, what `{key}` is about, is no text"));
                }
                Some(Err(_)) if options.as_ref().is_none_or(|(it, _)| it != name) => {
                    how.push(format!("{name} left out"));
                }
                _ => {}
            }
        }
        for name in &KEYS.unseen {
            how.extend(self.get(name)?.map(|_| format!("{name} left out")));
        }
        if let Some((name, options)) = options.filter(|(_, options)| !are_in(question, options)) {
            parts.push(options.iter().map(shown).collect::<Vec<_>>().join("\n"));
            how.push(format!("and {name}"));
        }
        Ok((!how.is_empty()).then(|| [parts.join("\n\n"), how.join(", ")]))
    }

    /// Refuses a number beside options, or a list that is shown as text, as a table has it, that may be the place of one of them.
    pub(super) fn check_place(&self, answer: RowValue) -> Result<(), String> {
        let (key, text) = (self.1, answer.text().trim_matches('"'));
        let (Ok(place), false) = (text.parse::<usize>(), key.contains('[')) else {
            return Ok(());
        };
        let shown_list = |name: &String| {
            let count = count_of_shown(self.texts(name).first()?)?;
            (place < count).then(|| (name.clone(), Vec::new()))
        };
        let as_text = || KEYS.after.iter().find_map(shown_list);
        let Some((name, options)) = self.options()?.or_else(as_text) else {
            return Ok(());
        };
        let is_text = answer.text().starts_with('"');
        let says = |(label, option): &Choice| label == text || is_text && option == text;
        if !options.is_empty() && options.len() < place || options.iter().any(says) {
            return Ok(());
        }
        let (object, last) = key.split_at(key.rfind('.').map_or(0, |dot| dot + 1));
        let of_list = if options.is_empty() {
            "give JSON lines, or ".to_owned()
        } else if name.contains(' ') || self.texts(&format!("{name}[*]")).is_empty() {
            String::new()
        } else {
            format!(
                "name the option with `--columns 'reference={object}{name}[{last}]'`, which counts places from 0, or "
            )
        };
        Err(format!(
            "`{key}` (the reference answer) is {text} beside the options in `{name}`, and may be a place among them: {of_list}say that the \
             number is the answer, with `--columns reference={key}`"
        ))
    }

    /// Of an answer that is the text of one of the options, which stand beside it or beside the question: its letter. None where a text may be taken for a letter
    /// or for a place, or where the question may have the options under other letters.
    pub(super) fn option_letter(&self, answer: &str, preset: &'static Preset) -> Option<String> {
        let Self(row, _, columns) = self;
        let asked = columns.find(Field::Question, preset, row).ok()?;
        let asked = asked.unwrap_or_default();
        let within = Some(&*asked.key).filter(|key| key.contains('.'));
        let beside = |key: &str| Beside(row, key, columns).options().ok()?;
        let options = self.options().ok()?;
        let (_, options) = options.or_else(|| beside(within?))?;
        let others = asked.passed_over.iter();
        let others = others.filter_map(|key| KeyPath::parse(key).find(row).ok());
        let text = |asked: RowValue| match asked.messages() {
            Some(messages) => Some(messages.question().ok()?.text),
            None => asked.string().ok(),
        };
        let values = asked.values.iter().copied().chain(others.flatten());
        let asked: Vec<String> = values.filter_map(text).collect();
        let asked = asked.join("\n");
        let forms = options
            .iter()
            .map(|it| [&*it.0, bare(it).unwrap_or(&it.1).trim()]);
        let forms: Vec<[&str; 2]> = forms.collect();
        let plain = |text: &&str| text.trim_matches([' ', '(', ')', '.']).to_lowercase();
        let all: HashSet<String> = forms.iter().flatten().map(plain).collect();
        let is_letter = |label: &str| label.len() == 1 && label.starts_with(char::is_alphabetic);
        let is_place = |text: &str| text.parse().is_ok_and(|place: usize| place <= forms.len());
        let is_in = |[label, text]: &[&str; 2]| {
            let marks = [") ", ". ", ": ", ")** ", ".** "];
            let mut marked = marks.iter().map(|mark| format!("{label}{mark}{text}"));
            marked.any(|it| asked.contains(&it))
        };
        // "Company B" is called B too, whatever its letter is.
        let is_label = |word: &str| forms.iter().any(|it| it[0] == word);
        let names_one = |text: &str| text.split(|it: char| !it.is_alphanumeric()).any(is_label);
        let is_clear = |it: &[&str; 2]| is_letter(it[0]) && !is_place(it[1]) && !names_one(it[1]);
        let second = forms.get(1)?[0];
        // The question may have the options in whatever way: a second letter in it may be that of one.
        let mut words = asked.split(|it: char| !it.is_alphanumeric());
        let has_letters = words.any(|word| word.eq_ignore_ascii_case(second));
        let is_sound = all.len() == 2 * forms.len() && forms.iter().all(is_clear);
        let is_shown = has_letters || are_in(&asked, &options);
        let form = forms.iter().find(|form| form[1] == answer.trim())?;
        (is_sound && (!is_shown || forms.iter().all(is_in))).then(|| form[0].to_owned())
    }

    /// The options, and the key of all, or those of the first and the last.
    fn options(&self) -> Result<Option<(String, Vec<Choice>)>, String> {
        for [paths, labels] in &KEYS.options {
            let key = paths.split([' ', '.', '[']).next().unwrap_or(paths);
            let Some(value) = self.get(key)? else {
                continue;
            };
            let texts = self.texts(paths);
            let last = paths.split(' ').nth(texts.len().saturating_sub(1).max(1));
            let name = last.map_or(key.to_owned(), |last| format!("{key} to {last}"));
            let labels: Vec<String> = match value.json(key)? {
                Json::Object(by_label) if paths.ends_with(".*") => {
                    by_label.into_iter().map(|(label, _)| label).collect()
                }
                _ => self.texts(labels),
            };
            // Two columns may as well be responses that are compared.
            let least = if paths.contains(' ') { 3 } else { 2 };
            if (least..=26).contains(&texts.len()) && [0, texts.len()].contains(&labels.len()) {
                let labels = labels.into_iter().chain(('A'..='Z').map(String::from));
                return Ok(Some((name, labels.zip(texts).collect())));
            }
        }
        Ok(None)
    }
}

/// The text of an option that begins with its label, without that.
fn bare((label, text): &Choice) -> Option<&str> {
    let rest = text.trim_start_matches([' ', '(']).strip_prefix(&**label)?;
    rest.strip_prefix([')', '.', ':'])
}

/// An option after its label, unless it begins with it.
fn shown(choice: &Choice) -> String {
    let (label, text) = (&choice.0, choice.1.trim());
    bare(choice).map_or_else(|| format!("{label}) {text}"), |_| text.to_owned())
}

/// The number of elements of a list that a text shows as JSON, Python or `NumPy` does.
fn count_of_shown(text: &str) -> Option<usize> {
    let list: Option<Vec<Json>> = serde_json::from_str(text.trim()).ok();
    let of_python = || Some(list_of_python(&text.replace("' '", "', '"))?.len());
    list.map(|list| list.len()).or_else(of_python)
}

/// Whether a question has all options, each on a line or after a label.
fn are_in(question: &str, options: &[Choice]) -> bool {
    options.iter().all(|(_, text)| {
        question.match_indices(text.as_str()).any(|(at, _)| {
            let mut before = question[..at].chars().rev().take(8);
            let last = before.find(|character| !" -*•".contains(*character));
            last.is_none_or(|last| ").:\n".contains(last))
        })
    })
}

#[cfg(test)]
mod tests;
