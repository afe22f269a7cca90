//! Reserved delimiters: those of the prompt in use, which no text under judgement may write, and where a text holds one.
//!
//! | delimiter | found in a text as |
//! |---|---|
//! | a tag, `<name …>`, `</name>`, `[name]`, `<\|name\|>`, `【name】` | the bracket, spaces, `/`, spaces, the name; in any case, whatever follows; in `(` and `{` the closing bracket |
//! | a heading, `## name`, `**name**`, underlined | a line that is a heading of any level, in any of these forms, and begins with that text |
//! | a line that begins with `---`, `=== name ===`, `<<<` | a line that begins with as many of that character |
//! | a fence, three backticks or `~~~` or `"""`; a run of one character beside a field | as many of that character, anywhere |
//! | any other text | itself |
//!
//! A delimiter that lies partly in the field and partly in the prompt's own text is found as well.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::untrusted::{RESERVED_TAGS, fold, is_space, is_word};

/// Bytes of the prompt's own text beside a field that are searched.
const LOOK_AROUND: usize = 256;

/// Breaking a delimiter makes another one only where the prompt uses the replacement too; at most this often.
const ROUNDS: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tag {
    pub(super) open: &'static str,
    /// The name in lower case, its words parted by one space.
    pub(super) name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DelimiterRun {
    /// The shortest that does.
    pub(super) length: usize,
    /// Anywhere, or only where a line begins.
    pub(super) anywhere: bool,
}

/// Delimiters that no field may hold. Those of [`RESERVED_TAGS`] always belong to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reserved {
    /// With each how the prompt writes it.
    pub(super) tags: BTreeMap<Tag, String>,
    /// As [`heading_text`] gives them.
    pub(super) headings: BTreeSet<String>,
    pub(super) runs: BTreeMap<char, DelimiterRun>,
    literals: BTreeSet<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Breaches {
    /// The characters to be replaced, by their offsets in bytes of the field, and what they are in the delimiter.
    pub(crate) at: BTreeMap<usize, char>,
    /// The field begins with the rest of a delimiter that the prompt has begun.
    pub(crate) goes_on: bool,
}

impl Breaches {
    pub(crate) fn is_empty(&self) -> bool {
        self.at.is_empty() && !self.goes_on
    }
}

impl Reserved {
    /// True if nothing is reserved beside [`RESERVED_TAGS`].
    pub(crate) fn is_stock(&self) -> bool {
        *self == Self::default()
    }

    /// Reserves a text as it is written, letter by letter.
    pub(crate) fn add_literal(&mut self, text: &str) {
        if !text.is_empty() {
            self.literals.insert(text.to_owned());
        }
    }

    /// Reserves what `other` does too.
    pub(crate) fn add(&mut self, other: Self) {
        self.tags.extend(other.tags);
        self.headings.extend(other.headings);
        self.literals.extend(other.literals);
        for (character, run) in other.runs {
            self.add_run(character, run);
        }
    }

    pub(super) fn add_run(&mut self, character: char, run: DelimiterRun) {
        let known = self.runs.entry(character).or_insert(run);
        known.length = known.length.min(run.length);
        known.anywhere |= run.anywhere;
    }

    /// Keeps the tags that `keep` wants, by their opening bracket and how they are written. One that is a token of the
    /// vocabulary need not be reserved: no text under judgement becomes that token, and its letters are others.
    pub(crate) fn retain_tags(&mut self, keep: impl Fn(&str, &str) -> bool) {
        self.tags.retain(|tag, written| keep(tag.open, written));
    }

    /// Every tag as a field would forge it, opening and closing, without its closing bracket.
    pub(crate) fn forgeries(&self) -> impl Iterator<Item = String> + '_ {
        RESERVED_TAGS
            .iter()
            .map(|name| ("<", *name))
            .chain(self.tags.keys().map(|tag| (tag.open, tag.name.as_str())))
            .flat_map(|(open, name)| [format!("{open}{name}"), format!("{open}/{name}")])
    }

    /// These delimiters as bytes for a fingerprint; empty for those of the built-in prompts.
    pub(super) fn fingerprint(&self) -> String {
        let mut text = String::new();
        for tag in self.tags.keys() {
            let _ = writeln!(text, "tag {} {}", tag.open, tag.name);
        }
        for heading in &self.headings {
            let _ = writeln!(text, "heading {heading}");
        }
        for (character, run) in &self.runs {
            let _ = writeln!(text, "run {character} {} {}", run.length, run.anywhere);
        }
        text
    }

    /// Where `field`, between `before` and `after` of the prompt's own text, holds a delimiter.
    pub(crate) fn find(&self, before: &str, field: &str, after: &str) -> Breaches {
        let whole = Whole::new(before, field, after);
        let mut found = Breaches::default();
        let mut opens: BTreeSet<&str> = self.tags.keys().map(|tag| tag.open).collect();
        opens.insert("<");
        for open in opens {
            for at in occurrences(&whole.text, open) {
                if let Some(length) = self.tag_after(open, &whole.text[at + open.len()..]) {
                    whole.note(at, at + open.len() + length, &mut found);
                }
            }
        }
        for literal in &self.literals {
            for at in occurrences(&whole.text, literal) {
                whole.note(at, at + literal.len(), &mut found);
            }
        }
        if self.runs.values().any(|run| run.anywhere) {
            self.find_runs(&whole, &mut found);
        }
        if !self.headings.is_empty() || self.runs.values().any(|run| !run.anywhere) {
            self.find_lines(&whole, &mut found);
        }
        found
    }

    /// A field's text with every delimiter broken by a visible change of one character: `<` becomes `‹`.
    pub(crate) fn neutralise<'t>(&self, before: &str, field: &'t str, after: &str) -> Cow<'t, str> {
        let mut safe = Cow::Borrowed(field);
        for _ in 0..ROUNDS {
            let found = self.find(before, &safe, after);
            if found.is_empty() {
                break;
            }
            safe = Cow::Owned(replace(&safe, &found));
        }
        safe
    }

    /// How far a tag goes on right after its bracket.
    fn tag_after(&self, open: &str, after: &str) -> Option<usize> {
        let rest = after.trim_start_matches(is_space);
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let rest = rest.trim_start_matches(is_space);
        let skipped = after.len() - rest.len();
        let stock = RESERVED_TAGS.iter().copied().filter(|_| open == "<");
        let own = self.tags.keys().filter(|tag| tag.open == open);
        // `(a)` and `{x}` stand in formulas too, where more follows the name.
        let close = match open {
            "(" => ")",
            "{" => "}",
            _ => "",
        };
        stock
            .chain(own.map(|tag| tag.name.as_str()))
            .find_map(|name| {
                let length = name_length(name, rest)?;
                let after = rest[length..].trim_start_matches(is_space);
                after.starts_with(close).then_some(length)
            })
            .map(|length| skipped + length)
    }

    fn find_runs(&self, whole: &Whole, found: &mut Breaches) {
        let mut characters = whole.text.char_indices().peekable();
        while let Some((start, character)) = characters.next() {
            let mut end = start + character.len_utf8();
            while characters.next_if(|next| next.1 == character).is_some() {
                end += character.len_utf8();
            }
            let length = (end - start) / character.len_utf8();
            let delimits = |run: &DelimiterRun| run.anywhere && length >= run.length;
            if self.runs.get(&character).is_some_and(delimits) {
                whole.note_run(start, end, character, found);
            }
        }
    }

    fn find_lines(&self, whole: &Whole, found: &mut Breaches) {
        let mut lines = lines(&whole.text).peekable();
        while let Some((start, line)) = lines.next() {
            if start == 0 && whole.is_cut {
                continue;
            }
            let trimmed = line.trim_start_matches(is_space);
            let at = start + line.len() - trimmed.len();
            let Some(first) = trimmed.chars().next() else {
                continue;
            };
            let rest = trimmed.trim_start_matches(first);
            let length = (trimmed.len() - rest.len()) / first.len_utf8();
            let delimits = |run: &DelimiterRun| !run.anywhere && length >= run.length;
            if self.runs.get(&first).is_some_and(delimits) {
                whole.note_run(at, at + trimmed.len() - rest.len(), first, found);
            }
            let is_heading = first == '#' || matches!(first, '*' | '_') && length >= 2;
            // Where the prompt's own part of the line is the heading already, the field stands after it.
            let own = &whole.text[at..whole.from.max(at)];
            let is_own = self.begins_with_heading(own.trim_start_matches(first));
            if is_heading && !is_own && self.begins_with_heading(rest) {
                whole.note(at, at + trimmed.len(), found);
            }
            if let Some(&(below, underline)) = lines.peek()
                && is_underline(underline)
                && self.headings.contains(&heading_text(line))
            {
                let indent = underline.len() - underline.trim_start_matches(is_space).len();
                whole.note(below + indent, below + underline.len(), found);
            }
        }
    }

    fn begins_with_heading(&self, line: &str) -> bool {
        let text = heading_text(line);
        self.headings.iter().any(|heading| {
            text.strip_prefix(heading.as_str())
                .is_some_and(|rest| !rest.starts_with(is_word))
        })
    }
}

/// A field with the prompt's own text next to it.
struct Whole {
    text: String,
    from: usize,
    to: usize,
    /// The first line is not whole.
    is_cut: bool,
}

impl Whole {
    fn new(before: &str, field: &str, after: &str) -> Self {
        let cut = before.ceil_char_boundary(before.len().saturating_sub(LOOK_AROUND));
        let end = after.floor_char_boundary(LOOK_AROUND);
        let text = [&before[cut..], field, &after[..end]].concat();
        let from = before.len() - cut;
        Self {
            text,
            from,
            to: from + field.len(),
            is_cut: cut > 0,
        }
    }

    /// Notes a delimiter that is at least in part the field's.
    fn note(&self, start: usize, end: usize, found: &mut Breaches) {
        if start >= self.to || end <= self.from {
            return;
        }
        if start < self.from {
            found.goes_on = true;
        } else {
            let character = self.text[start..].chars().next().unwrap_or_default();
            found.at.insert(start - self.from, character);
        }
    }

    /// The same of a run of one character: each of the field's is replaced.
    fn note_run(&self, start: usize, end: usize, character: char, found: &mut Breaches) {
        for at in (start..end).step_by(character.len_utf8()) {
            if (self.from..self.to).contains(&at) {
                found.at.insert(at - self.from, character);
            }
        }
    }
}

/// `text` with the characters at these places replaced by others that look alike and delimit nothing.
pub(crate) fn replace(text: &str, found: &Breaches) -> String {
    let mut safe = String::with_capacity(text.len() + 3 * found.at.len() + 3);
    if found.goes_on {
        safe.push('‹');
    }
    for (at, character) in text.char_indices() {
        match found.at.get(&at) {
            Some(&delimiter) => push_broken(character, delimiter, &mut safe),
            None => safe.push(character),
        }
    }
    safe
}

/// The replacement of `character`, which is or becomes `delimiter`. No Unicode normal form folds it back.
fn push_broken(character: char, delimiter: char, safe: &mut String) {
    let replacement = match delimiter {
        '`' => 'ˋ',
        '~' => '∼',
        '#' => '♯',
        '=' => '═',
        '-' => '–',
        '*' => '∗',
        '_' => 'ˍ',
        '"' => '“',
        '\'' => '‘',
        '[' => '⟦',
        '{' => '⦃',
        '(' => '⦅',
        '>' => '›',
        '|' => '¦',
        '‹' => '❬',
        // A letter is kept.
        _ if delimiter.is_alphanumeric() => {
            safe.push(character);
            '‹'
        }
        _ => '‹',
    };
    safe.push(replacement);
}

/// Every place of `wanted`, those that overlap included.
fn occurrences<'t>(text: &'t str, wanted: &'t str) -> impl Iterator<Item = usize> + 't {
    let first = wanted.chars().next().unwrap_or_default();
    text.match_indices(first)
        .map(|(at, _)| at)
        .filter(move |&at| text[at..].starts_with(wanted))
}

/// How far `text` begins with `name`, which must not go on as a longer word.
fn name_length(name: &str, text: &str) -> Option<usize> {
    let mut rest = text;
    for wanted in name.chars() {
        if wanted == ' ' {
            let next = rest.trim_start_matches(is_space);
            if next.len() == rest.len() {
                return None;
            }
            rest = next;
            continue;
        }
        let found = rest.chars().next().filter(|&found| fold(found) == wanted)?;
        rest = &rest[found.len_utf8()..];
    }
    let goes_on = name.ends_with(is_word) && rest.starts_with(is_word);
    (!goes_on).then_some(text.len() - rest.len())
}

/// A heading's text without the signs that make it one, in lower case, its words parted by one space.
pub(super) fn heading_text(line: &str) -> String {
    let is_sign =
        |character: char| is_space(character) || matches!(character, '#' | '*' | '_' | ':' | '：');
    folded(line.trim_matches(is_sign))
}

/// In lower case, words parted by one space.
pub(super) fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.extend(word.chars().map(fold));
    }
    folded
}

pub(super) fn is_underline(line: &str) -> bool {
    let line = line.trim_matches(is_space);
    let of = |sign: char| line.chars().all(|character| character == sign);
    !line.is_empty() && (of('=') || of('-'))
}

/// Lines with their offsets, without what ends them.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_break =
        |character: char| matches!(character, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let mut start = 0;
    text.split(is_break).map(move |line| {
        let at = start;
        start += line.len();
        start += text[start..].chars().next().map_or(0, char::len_utf8);
        (at, line)
    })
}
