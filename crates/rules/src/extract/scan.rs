//! One scan over the text: where its boxes and formulas are.

use std::ops::Range;

use super::words;

/// A `\boxed{…}` or `\fbox{…}`; of nested ones the outermost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Boxed {
    /// Where its backslash is.
    pub start: usize,
    /// What it holds.
    pub content: Range<usize>,
    /// After its brace.
    pub end: usize,
    /// `false`: the text ends within it.
    pub closed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Formula {
    /// Where its opening delimiter begins.
    pub start: usize,
    /// What it holds.
    pub content: Range<usize>,
    /// After its closing delimiter.
    pub end: usize,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Regions {
    /// In order.
    pub boxes: Vec<Boxed>,
    /// In order; they do not overlap.
    pub formulas: Vec<Formula>,
    /// Where a formula begins in which the text ends.
    pub unclosed: Option<usize>,
}

impl Regions {
    /// The formula that `at` lies in, or the first one after it.
    pub(super) fn formula_at(&self, at: usize) -> Option<(usize, &Formula)> {
        let index = self.formulas.partition_point(|it| it.end <= at);
        self.formulas.get(index).map(|formula| (index, formula))
    }

    /// The formula that begins at `at`.
    pub(super) fn formula_from(&self, at: usize) -> Option<(usize, &Formula)> {
        self.formula_at(at)
            .filter(|(_, formula)| formula.start == at)
    }

    pub(super) fn has_box(&self, range: &Range<usize>) -> bool {
        let index = self.boxes.partition_point(|it| it.start < range.start);
        self.boxes
            .get(index)
            .is_some_and(|boxed| boxed.start < range.end)
    }
}

/// What each byte is to a walk over a text; 0: it passes over it.
pub(super) type Kinds = [u8; 256];

/// Letters and digits but for some, and these signs, are passed over.
pub(super) const fn passing(signs: &[u8], but: &[u8]) -> Kinds {
    let mut kinds = [1; 256];
    let mut byte = 0_u8;
    while byte.is_ascii() {
        if byte.is_ascii_alphanumeric() {
            kinds[byte as usize] = 0;
        }
        byte += 1;
    }
    with(with(kinds, signs, 0), but, 1)
}

/// These bytes of this kind.
const fn with(mut kinds: Kinds, bytes: &[u8], kind: u8) -> Kinds {
    let mut at = 0;
    while at < bytes.len() {
        kinds[bytes[at] as usize] = kind;
        at += 1;
    }
    kinds
}

/// The first byte from `at` on that a walk does not pass over.
pub(super) fn next_of(bytes: &[u8], at: usize, kinds: &Kinds) -> Option<(usize, u8)> {
    const AT_ONCE: usize = 8;
    let kind = |it: &u8| kinds[usize::from(*it)];
    let mut at = at;
    while let Some(next) = bytes.get(at..at + AT_ONCE)
        && next.iter().fold(0, |all, it| all | kind(it)) == 0
    {
        at += AT_ONCE;
    }
    let found = at + bytes.get(at..)?.iter().position(|it| kind(it) != 0)?;
    Some((found, bytes[found]))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delimiter<'t> {
    Dollar,
    Dollars,
    Parenthesis,
    Bracket,
    /// With its name, and whether `\begin` belongs to the content.
    Environment(&'t str, bool),
}

#[derive(Debug, Clone, Copy)]
struct Open<'t> {
    delimiter: Delimiter<'t>,
    start: usize,
    content: usize,
    depth: usize,
}

struct Scanner<'t> {
    text: &'t str,
    regions: Regions,
    open: Option<Open<'t>>,
    /// Start, content and depth of the box the scan is in.
    open_box: Option<(usize, usize, usize)>,
    /// The depth of the `\text{` the scan is in.
    words: Option<usize>,
    depth: usize,
}

pub(super) fn scan(text: &str) -> Regions {
    let mut scanner = Scanner {
        text,
        regions: Regions::default(),
        open: None,
        open_box: None,
        words: None,
        depth: 0,
    };
    scanner.run();
    scanner.regions
}

impl<'t> Scanner<'t> {
    fn run(&mut self) {
        const MARKS: Kinds = with([0; 256], b"\\${}", 1);
        let mut next = 0;
        while let Some((at, byte)) = next_of(self.text.as_bytes(), next, &MARKS) {
            next = match byte {
                b'\\' => self.backslash(at),
                b'$' => self.dollar(at),
                b'{' => {
                    self.depth += 1;
                    at + 1
                }
                _ => self.closing_brace(at),
            };
        }
        self.finish();
    }

    fn closing_brace(&mut self, at: usize) -> usize {
        self.depth = self.depth.saturating_sub(1);
        if let Some((start, content, depth)) = self.open_box
            && depth == self.depth
        {
            self.push_box(start, content..at, at + 1);
        }
        if self.words == Some(self.depth) {
            self.words = None;
        }
        at + 1
    }

    fn push_box(&mut self, start: usize, content: Range<usize>, end: usize) {
        self.open_box = None;
        self.regions.boxes.push(Boxed {
            start,
            content,
            end,
            closed: true,
        });
    }

    /// A `$` or `$$` that is not escaped.
    fn dollar(&mut self, at: usize) -> usize {
        let double = self.text.as_bytes().get(at + 1) == Some(&b'$');
        match self.open {
            _ if self.words.is_some() => at + 1,
            Some(open) if open.delimiter == Delimiter::Dollars => {
                if double {
                    self.close(at, at + 2);
                    return at + 2;
                }
                at + 1
            }
            Some(open) if open.delimiter == Delimiter::Dollar => {
                if is_currency(self.text, open.content, at) {
                    self.open(Delimiter::Dollar, at, at + 1);
                } else {
                    self.close(at, at + 1);
                }
                at + 1
            }
            Some(_) => at + 1,
            None if double => {
                self.open(Delimiter::Dollars, at, at + 2);
                at + 2
            }
            None => {
                self.open(Delimiter::Dollar, at, at + 1);
                at + 1
            }
        }
    }

    fn backslash(&mut self, at: usize) -> usize {
        let rest = &self.text[at + 1..];
        match rest.as_bytes().first() {
            Some(b'(') => self.opening(Delimiter::Parenthesis, at, at + 2),
            Some(b'[') => self.opening(Delimiter::Bracket, at, at + 2),
            Some(b')') => self.closing(Delimiter::Parenthesis, at, at + 2),
            Some(b']') => self.closing(Delimiter::Bracket, at, at + 2),
            // Doubled by someone's escaping: outside a formula `\\(` opens one, and `\\boxed` is a box.
            Some(b'\\') => match rest.as_bytes().get(1) {
                Some(b'(' | b'[') if self.open.is_none() => at + 1,
                Some(b')') => self.closing(Delimiter::Parenthesis, at, at + 3),
                Some(b']') => self.closing(Delimiter::Bracket, at, at + 3),
                Some(b'a'..=b'z' | b'A'..=b'Z') => at + 1,
                _ => at + 2,
            },
            Some(b'b' | b'f' | b'e' | b't' | b'm') => self.command(at, rest),
            Some(byte) if byte.is_ascii() => at + 2,
            _ => at + 1,
        }
    }

    fn command(&mut self, at: usize, rest: &'t str) -> usize {
        let name = crate::lexicon::letters(rest, 16);
        let end = at + 1 + name;
        match &rest[..name] {
            "boxed" | "fbox" => self.boxed(at, end),
            "begin" => self.begin(at, end),
            "end" => self.end_of_environment(at, end),
            "text" | "mbox" | "textbf" | "textit" | "textrm" | "textnormal"
                if self.text.as_bytes().get(end) == Some(&b'{') =>
            {
                if self.open.is_some() && self.words.is_none() {
                    self.words = Some(self.depth);
                }
                end
            }
            _ => end,
        }
    }

    fn boxed(&mut self, at: usize, end: usize) -> usize {
        let bytes = self.text.as_bytes();
        let near = &self.text[end..self.text.floor_char_boundary(end + 8)];
        let gap = words::leading(near, |it| it.is_ascii_whitespace());
        if bytes.get(end + gap) == Some(&b'{') {
            if self.open_box.is_none() {
                self.open_box = Some((at, end + gap + 1, self.depth));
            }
            // Within a formula, a dollar right after the brace belongs to the box.
            if self.open.is_some()
                && self.words.is_none()
                && bytes.get(end + gap + 1) == Some(&b'$')
            {
                self.words = Some(self.depth);
            }
            // The brace is counted by whoever comes to it.
            return end + gap;
        }
        // `\boxed 5`: what follows, to the end of the formula or, outside of one, of the word.
        if self.open_box.is_none() {
            let rest = &self.text[end..self.text.floor_char_boundary(end + 44)];
            let text = rest.trim_start_matches(' ');
            // "I wrote it with \\boxed notation." mentions the command.
            let value = |it: char| it.is_ascii_digit() || "-+.\\$".contains(it);
            if self.open.is_none() && !text.starts_with(value) {
                return end;
            }
            let word = text.find(' ').filter(|_| self.open.is_none());
            let length = ["$", "\n", "{", "}", "\\)", "\\]"]
                .iter()
                .filter_map(|close| rest.find(close))
                .chain(word.map(|at| at + rest.len() - text.len()))
                .min()
                .unwrap_or(rest.len());
            if length <= 40 && !rest[..length].trim().is_empty() {
                self.push_box(at, end..end + length, end + length);
                return end + length;
            }
        }
        end
    }

    fn environment(&self, end: usize) -> Option<(&'t str, usize)> {
        let rest = self.text.get(end..)?.strip_prefix('{')?;
        let length = rest.bytes().take(20).position(|byte| byte == b'}')?;
        Some((&rest[..length], end + length + 2))
    }

    fn begin(&mut self, at: usize, end: usize) -> usize {
        let Some((name, after)) = self.environment(end) else {
            return end;
        };
        if self.open.is_none() {
            let plain = name.trim_end_matches('*');
            if words::DISPLAY.contains_exactly(plain) {
                self.open(Delimiter::Environment(name, false), at, after);
            } else if words::OBJECT.contains_exactly(plain) {
                self.open(Delimiter::Environment(name, true), at, after);
            }
        }
        after
    }

    fn end_of_environment(&mut self, at: usize, end: usize) -> usize {
        let Some((name, after)) = self.environment(end) else {
            return end;
        };
        if let Some(open) = self.open
            && let Delimiter::Environment(opened, _) = open.delimiter
            && opened == name
        {
            self.close(at, after);
        }
        after
    }

    /// An opening that cannot stand within another of its kind.
    fn opening(&mut self, delimiter: Delimiter<'t>, at: usize, content: usize) -> usize {
        let fresh = match self.open {
            None => true,
            Some(open) => {
                open.delimiter == delimiter
                    || (open.delimiter == Delimiter::Dollar
                        && is_currency(self.text, open.content, at))
            }
        };
        if fresh && self.words.is_none() {
            self.open(delimiter, at, content);
        }
        content
    }

    fn closing(&mut self, delimiter: Delimiter<'t>, at: usize, end: usize) -> usize {
        if self.open.is_some_and(|open| open.delimiter == delimiter) {
            self.close(at, end);
        }
        end
    }

    fn open(&mut self, delimiter: Delimiter<'t>, start: usize, content: usize) {
        self.open = Some(Open {
            delimiter,
            start,
            content,
            depth: self.depth,
        });
        self.words = None;
    }

    fn close(&mut self, content_end: usize, end: usize) {
        let Some(open) = self.open.take() else {
            return;
        };
        self.words = None;
        // A box that the formula opened ends with it, even if a brace was forgotten.
        if let Some((start, content, _)) = self.open_box
            && start >= open.start
        {
            self.push_box(start, content..content_end, content_end);
        }
        if self
            .open_box
            .is_none_or(|(_, _, depth)| open.depth >= depth)
        {
            self.depth = open.depth;
        }
        let whole = matches!(open.delimiter, Delimiter::Environment(_, true));
        let content = if whole {
            open.start..end
        } else {
            open.content..content_end
        };
        if !self.text[content.clone()].trim().is_empty() {
            self.regions.formulas.push(Formula {
                start: open.start,
                content,
                end,
            });
        }
    }

    fn finish(&mut self) {
        if let Some((start, content, _)) = self.open_box {
            self.regions.boxes.push(Boxed {
                start,
                content: content..self.text.len(),
                end: self.text.len(),
                closed: false,
            });
        }
        if let Some(open) = self.open {
            let rest = self.text[open.content..].trim();
            let currency = open.delimiter == Delimiter::Dollar
                && (rest.is_empty()
                    || rest
                        .trim_start_matches('-')
                        .starts_with(|first: char| first.is_ascii_digit() || first == '.')
                    || prose_words(rest) > 3
                    || self.text[..open.start].ends_with(words::is_digit));
            if !currency {
                self.regions.unclosed = Some(open.start);
            }
        }
    }
}

/// Is the `$` before `content` the sign of a currency, the next one being at `next`?
fn is_currency(text: &str, content: usize, next: usize) -> bool {
    let inner = &text[content..next];
    if inner.trim().is_empty() {
        return true;
    }
    let first = inner.bytes().next().unwrap_or(b' ');
    let sum = first.is_ascii_digit()
        || (matches!(first, b'.' | b'-')
            && inner.as_bytes().get(1).is_some_and(u8::is_ascii_digit));
    if !sum {
        return !inner.contains(['\\', '^', '_', '=']) && prose_words(inner) > 4;
    }
    let after_letter = text[..content - 1].ends_with(|last: char| last.is_ascii_alphabetic());
    let after = text.as_bytes().get(next + 1);
    let next_digit = after.is_some_and(u8::is_ascii_digit);
    after_letter
        || inner.ends_with(char::is_whitespace)
        || next_digit
        || inner.ends_with("**")
        || prose_words(inner) > 1
}

/// How many words of prose a would-be formula holds, names of functions and units not counted; none where it has commands.
fn prose_words(inner: &str) -> usize {
    let word = |it: &&str| {
        let prose = it.len() > 1 && it.bytes().all(|it| it.is_ascii_alphabetic());
        prose && !words::FUNCTION.contains(it) && !words::is_unit(it)
    };
    let said = words::words_of(inner).filter(word);
    if inner.contains('\\') {
        0
    } else {
        said.take(6).count()
    }
}
