//! What a sentence states: its formulas and numbers, one after the other, and how they are written out as an answer.

use std::borrow::Cow;
use std::ops::Range;

use super::scan::Regions;
use super::tail::{Tail, tail};
use super::{maths, symbols, words};

/// How much of a sentence is read, in bytes.
pub(super) const WINDOW: usize = 2_000;
/// In how much of a clause things that it states begin, in bytes.
const MAX_SPAN: usize = 32_000;
/// How many things a sentence states at most.
const MAX_ITEMS: usize = 1_024;

/// What kind of thing was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// In LaTeX delimiters.
    Formula,
    /// Bare maths.
    Plain,
    Choice,
    Words,
}
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'t, 'm> {
    pub text: &'t str,
    pub regions: &'m Regions,
    /// Are boxes read as what they hold, and not left to whoever looks for boxes?
    pub open_boxes: bool,
}

/// What may have been read.
pub(super) type Read<'t> = Option<Candidate<'t>>;

/// An answer that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate<'t> {
    pub text: Cow<'t, str>,
    pub kind: Form,
    /// Where it stands.
    pub range: Range<usize>,
}

impl<'t> Candidate<'t> {
    pub(super) fn new(text: impl Into<Cow<'t, str>>, kind: Form, range: Range<usize>) -> Self {
        let text = text.into();
        Self { text, kind, range }
    }

    /// What words before it make negative, in `range` with them; `None` where it does not begin with a number.
    pub(super) fn negative(self, range: Range<usize>) -> Option<Self> {
        let worded = ["\\text", "\\math"]
            .iter()
            .any(|it| self.text.starts_with(it));
        let begins = self
            .text
            .starts_with(|it: char| it.is_ascii_digit() || it == '\\' && !worded);
        let number = begins && crate::parse::date(&self.text).is_none()
            || words::is_number_word(words::first_word(&self.text));
        number.then(|| Candidate {
            text: Cow::Owned(format!("-{}", self.text)),
            range,
            ..self
        })
    }
}

/// One thing that a sentence states.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Where its value stands.
    pub value: Range<usize>,
    /// After its unit and what is said of it.
    pub end: usize,
    pub kind: Form,
    pub tail: Tail,
    /// Is it something the sentence mentions and does not state?
    pub weak: bool,
    /// Is it denied?
    pub negated: bool,
    /// Is it only the name of something?
    pub symbol: bool,
    /// Is it one plain number?
    pub number: bool,
    /// Which of the sentence's conclusions it belongs to.
    pub segment: usize,
}
pub(super) fn items(source: Source<'_, '_>, range: Range<usize>) -> Vec<Item> {
    let mut collector = Collector {
        source,
        items: Vec::new(),
        start: range.start,
        aside: false,
        segment: 0,
        barren: 0,
        wasted: 0,
        spaceless: source.text[range.clone()].contains(words::is_spaceless),
    };
    let mut at = range.start;
    let last = range.end.min(range.start + MAX_SPAN);
    while at < last && collector.items.len() < MAX_ITEMS {
        if let Some((_, formula)) = source.regions.formula_from(at) {
            // What is looked at may end before it.
            if formula.end > source.text.len() {
                break;
            }
            let end = formula.end.max(at + 1);
            let boxed = source.regions.has_box(&(formula.start..formula.end));
            if !boxed || source.open_boxes {
                at = collector.formula(formula.start..end, &formula.content.clone());
            } else {
                at = end;
            }
            continue;
        }
        let limit = source
            .regions
            .formula_at(at)
            // A matrix without delimiters may be part of what stands before it.
            .filter(|(_, formula)| formula.start < formula.content.start)
            .map_or(range.end, |(_, formula)| {
                formula.start.max(at).min(range.end)
            });
        if limit <= at {
            break;
        }
        match collector.step(at, limit) {
            Some(next) => at = next,
            None => break,
        }
    }
    collector.items
}

/// How many bytes may be read as maths to no end, and what beginning to read counts as.
const MOST_WASTED: usize = 100_000;
const BEGINNING: usize = 16;

/// From this length on a run that states nothing is not read again from within.
const BARREN: usize = 500;

struct Collector<'t, 'm> {
    source: Source<'t, 'm>,
    items: Vec<Item>,
    start: usize,
    /// Within a clause that states nothing, up to its comma.
    aside: bool,
    segment: usize,
    /// The end of a long run of maths that states nothing: read again from each of its words it would be quadratic.
    barren: usize,
    /// How many bytes were read as maths and stated nothing: each place may begin a run that reads far.
    wasted: usize,
    /// Is it in a script without spaces, which glues words to numbers?
    spaceless: bool,
}

impl Collector<'_, '_> {
    /// Reads what begins at `at`, before `limit`; where to go on, `None` at the end of what is stated.
    fn step(&mut self, at: usize, limit: usize) -> Option<usize> {
        let text = &self.source.text[..limit];
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let width = first.len_utf8();
        if first == ',' || first == ';' || first == ':' {
            self.aside = false;
            return Some(at + width);
        }
        let starts_maths = first.is_ascii_digit()
            || [
                '-', '+', '±', '.', '(', '[', '{', '\\', '√', 'π', '∞', '∅', '≈', '|', '<', '>',
                '≤', '≥',
            ]
            .contains(&first)
            || symbols::is_currency(first);
        if starts_maths || (!first.is_ascii() && first.is_numeric()) {
            return Some(self.maths(text, at, first));
        }
        if first.is_alphabetic() {
            return self.word(text, at);
        }
        Some(at + width)
    }

    /// The run of maths at `at`, as long as runs that state nothing do not cost much, however long the text is.
    fn run(&mut self, text: &str, at: usize) -> Option<maths::Run> {
        if self.wasted > MOST_WASTED {
            return None;
        }
        let (run, end) = maths::reach(text, at);
        self.wasted += end - at + BEGINNING;
        run
    }

    fn maths(&mut self, text: &str, at: usize, first: char) -> usize {
        let rest = &text[at..];
        // Within reach only, so that many places cost no more than their number.
        let near = &rest[..rest.floor_char_boundary(WINDOW)];
        let glued = self.spaceless.then(|| near.find(words::is_spaceless));
        let glued = glued.flatten();
        let whole = text;
        let text = &text[..glued.map_or(text.len(), |length| at + length)];
        let rest = &text[at..];
        // A dash or a bullet in front of words.
        if matches!(first, '-' | '+' | '<' | '>' | '.' | '|')
            && !rest[1..]
                .trim_start_matches([' ', '$', '\\'])
                .starts_with(|it: char| {
                    it.is_ascii_digit()
                        || matches!(it, '.' | '(' | '√' | 'π' | '∞')
                        || it.is_ascii_alphabetic()
                })
        {
            return at + first.len_utf8();
        }
        let run = self.run(text, at).filter(|run| {
            let taken = &text[at..run.end];
            let useful = has_digit(taken)
                || taken.contains(symbols::is_vulgar)
                || run.relation
                || taken.contains(['\\', 'π', '∞', '∅', '√'])
                || taken.starts_with(['(', '[', '{']) && taken.contains(',');
            let hyphened = text[run.end..].starts_with('-')
                && text[run.end + 1..].starts_with(|it: char| it.is_ascii_alphabetic());
            useful && !hyphened
        });
        let Some(run) = run else {
            if matches!(
                first,
                '(' | '[' | '{' | '\\' | '≈' | '±' | '-' | '+' | '<' | '>' | '|'
            ) {
                return at + first.len_utf8();
            }
            return at + token(rest);
        };
        let before = text[self.start..at].trim_end_matches(['*', '_', '`', '"', '~']);
        if !symbols::is_currency(first)
            && before.ends_with(|it: char| {
                it.is_alphanumeric() && !words::is_spaceless(it) || matches!(it, '_' | '.')
            })
        {
            // The rest of a name.
            if self.start + before.len() == at {
                return at + token(rest);
            }
        }
        // "3500米"
        let after = &whole[run.end..];
        let unit = words::is_unit(words::first_word(after));
        let after = if unit { after } else { &text[run.end..] };
        let counted = run.number
            || text[at..run.end]
                .rsplit_once('=')
                .is_some_and(|(_, value)| {
                    value
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b',' | b'.'))
                });
        let tail = tail(after, counted);
        // "horse #12" answers, where nothing follows and no other is named.
        let last = !text[run.end..].contains(char::is_alphanumeric);
        let only = before.find('#').map(|at| at + 1) == Some(before.len());
        let numbered = words::NUMBERED.contains(words::last_word(before));
        // "Using (24) we are done": the number of a formula.
        let inner = text[at..run.end]
            .strip_prefix('(')
            .and_then(|it| it.strip_suffix(')'));
        let label = inner.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit())) && {
            let word = words::last_word(before);
            words::PREPOSITION.contains(word) || words::REFERS.contains(word)
        };
        let numbered = numbered || label;
        if numbered || before.ends_with('#') && !(last && only && self.items.is_empty()) {
            return run.end;
        }
        self.push(at..run.end, tail, Form::Plain, false, run.number)
    }

    fn formula(&mut self, outer: Range<usize>, content: &Range<usize>) -> usize {
        let text = self.source.text;
        let inner = text[content.clone()].trim();
        let number = inner
            .trim_start_matches(['-', '\\', '$'])
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.'));
        let symbol = !inner.contains(words::is_digit)
            && !inner.contains(['=', '<', '>', '\\', '+', '*', '/', '^'])
            && inner.chars().count() <= 6;
        let tail = tail(&text[outer.end..], number);
        if words::NUMBERED.contains(words::last_word(&text[..outer.start])) && number {
            return outer.end;
        }
        self.push(outer, tail, Form::Formula, symbol, number)
    }

    fn push(
        &mut self,
        value: Range<usize>,
        tail: Tail,
        kind: Form,
        symbol: bool,
        number: bool,
    ) -> usize {
        let text = self.source.text;
        self.wasted = self.wasted.saturating_sub(value.len());
        let before = &text[self.start..value.start];
        let word = words::last_word(before);
        let end = value.end + tail.end;
        let weak = self.aside
            || (words::PREPOSITION.contains(word)
                && !(word.eq_ignore_ascii_case("of") && is_amount(before)));
        let negated = words::EXCLUDES.contains(word) || before.trim_end().ends_with("instead of");
        self.items.push(Item {
            value,
            end,
            kind,
            tail,
            weak,
            negated,
            symbol,
            number,
            segment: self.segment,
        });
        end
    }

    fn word(&mut self, text: &str, at: usize) -> Option<usize> {
        let rest = &text[at..];
        let word = words::first_word(rest);
        let length = if rest.starts_with(words::is_spaceless) {
            // A number may be glued to it.
            word.len().max(1)
        } else {
            token(rest)
        };
        let after = &rest[word.len().min(rest.len())..];
        if rest[..length].bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let tail = tail(&rest[length..], false);
            if tail.base.is_some() {
                return Some(self.push(at..at + length, tail, Form::Plain, false, true));
            }
        }
        let takes_argument = words::FUNCTION_WITH_ARGUMENT.contains(word);
        if (word.len() <= 3 || words::FUNCTION.contains(word))
            && (at >= self.barren || takes_argument)
            && let Some(run) = self.run(text, at)
        {
            let taken = &text[at..run.end];
            if (run.relation && (has_digit(taken) || taken.len() > 4))
                || (taken.contains(['(', '^', '+', '*', '/']) && taken.len() > 2)
                || (takes_argument && has_digit(taken))
            {
                let tail = tail(&text[run.end..], false);
                return Some(self.push(at..run.end, tail, Form::Plain, false, false));
            }
            if taken.len() > BARREN {
                self.barren = run.end;
            }
        }
        if words::is_number_word(words::hyphenated(rest, length))
            && !word.eq_ignore_ascii_case("half")
            && let Some(end) = number_words(text, at)
        {
            let lone_one = text[at..end].eq_ignore_ascii_case("one");
            let tail = tail(&text[end..], true);
            if !lone_one || !tail.unit.is_empty() && tail.unit.start <= 1 {
                return Some(self.push(at..end, tail, Form::Plain, false, true));
            }
        }
        if words::CONCLUDING.contains(word) {
            if !self.items.is_empty() {
                self.segment += 1;
            }
            self.aside = false;
        } else if words::SUBORDINATING.contains(word)
            && after.starts_with([' ', '\n'])
            // "amount due $84.60"
            && (word != "due" || !after.starts_with(" $"))
        {
            let stated = self.items.iter().any(|item| {
                !item.weak && !item.negated && !item.symbol && item.segment == self.segment
            });
            if stated {
                return None;
            }
            self.aside = true;
        }
        Some(at + length)
    }
}

/// The length of what stands here without a blank, and without closing punctuation.
fn token(text: &str) -> usize {
    let length = text
        .find(|it: char| {
            it.is_whitespace() || matches!(it, '*' | '"' | '$' | ',' | ';' | ':' | '(' | ')' | '\\')
        })
        .unwrap_or(text.len());
    length.max(text.chars().next().map_or(1, char::len_utf8))
}

/// Where the number in words that begins at `at` ends.
fn number_words(text: &str, at: usize) -> Option<usize> {
    let mut end = None;
    let mut here = at;
    for _ in 0..12 {
        let rest = &text[here..];
        let word = words::hyphenated(rest, rest.len());
        if word.is_empty() {
            break;
        }
        // "three quarters"
        if words::is_number_word(word) || end.is_some() && words::is_part(word) {
            here += word.len();
            end = Some(here);
        } else if let Some(part) =
            and_part(rest).filter(|_| end.is_some_and(|end| !text[at..end].contains([' ', '-'])))
        {
            return Some(here + part);
        } else if word == "and" && end.is_some_and(|end| text[at..end].contains("hundred")) {
            here += word.len();
        } else {
            break;
        }
        if !text[here..].starts_with(' ') {
            break;
        }
        here += 1;
    }
    end
}

/// The length of "and a half" or "and three quarters", which a number in words may end in.
fn and_part(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("and ")?;
    let (count, part) = rest.split_once(' ')?;
    let part = words::first_word(part);
    let counts = count == "a" || words::is_number_word(count);
    // "two and a half hours and ten minutes" is not read.
    let end = words::offset(text, part) + part.len();
    let near = &text[end..text.floor_char_boundary(end + 24)];
    (counts && words::is_part(part) && !near.contains(" and ")).then_some(end)
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// "a total of", "an area of": what follows is stated.
fn is_amount(before: &str) -> bool {
    let before = before.trim_end_matches(['*', ' ', '_']);
    let Some(before) = before.strip_suffix("of") else {
        return false;
    };
    words::AMOUNT.contains(words::last_word(before))
}
