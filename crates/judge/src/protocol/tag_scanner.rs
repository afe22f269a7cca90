//! The incremental scanner that finds tags in a completion.
//!
//! A tag is `<name>` or `</name>` with one of the known names, in any case, with spaces anywhere but in the name, and with attributes (`name=value`, quoted or
//! not) in an opening tag. Whatever else stands between angle brackets is text, and so are HTML-escaped tags. A tag holds no `<` and is at most [`MAX_TAG`]
//! bytes long, which bounds what the scanner keeps; each byte is looked at a constant number of times.
//!
//! How a completion is cut into pieces makes no difference to the tags found.

/// The longest tag, brackets included, in bytes.
pub(crate) const MAX_TAG: usize = 256;

named! {
    /// The tags that mean something in a judge's answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub(crate) enum TagName {
        /// Is the derivation free of errors?
        Process = "process",
        /// Is the final answer right?
        Outcome = "outcome",
        /// Is the work free of even small flaws?
        Perfect = "perfect",
        /// The deciding flaw.
        Reason = "reason",
        /// An alias that may mean the outcome or the whole.
        Result = "result",
        /// An alias that means process and outcome together.
        Overall = "overall",
        /// An alias that may mean the outcome or the whole.
        Verdict = "verdict",
        Think = "think",
        Thinking = "thinking",
        Analysis = "analysis",
    }
}

impl TagName {
    /// Does this tag wrap a judge's thinking?
    pub(crate) fn is_thinking(self) -> bool {
        matches!(self, Self::Think | Self::Thinking | Self::Analysis)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) name: TagName,
    /// `</name>` rather than `<name>`.
    pub(crate) closing: bool,
    /// Written exactly as asked for: lower case, no spaces, no attributes.
    pub(crate) plain: bool,
    /// The offset of its `<` in the completion, in bytes.
    pub(crate) start: usize,
    /// The offset right after its `>`, in bytes.
    pub(crate) end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scanned<'a> {
    /// Text outside tags; neighbouring stretches may come in several pieces.
    Text {
        text: &'a str,
        /// Its offset in the completion, in bytes.
        start: usize,
    },
    Tag(Tag),
}

/// Cuts a completion, piece by piece, into text and tags.
#[derive(Debug, Clone, Default)]
pub(crate) struct TagScanner {
    /// Text from a `<` on that may become a tag.
    pending: String,
    /// Bytes of the completion handed on so far.
    handed_on: usize,
}

impl TagScanner {
    /// Takes the next piece and hands what it decides to `sink`, in order.
    pub(crate) fn push(&mut self, piece: &str, mut sink: impl FnMut(Scanned<'_>)) {
        let mut rest = piece;
        while !rest.is_empty() {
            if self.pending.is_empty() {
                let text = &rest[..rest.find('<').unwrap_or(rest.len())];
                self.hand_on_text(text, &mut sink);
                rest = &rest[text.len()..];
                if let Some(after) = rest.strip_prefix('<') {
                    self.pending.push('<');
                    rest = after;
                }
                continue;
            }
            let inside = &rest[..rest.find(['<', '>']).unwrap_or(rest.len())];
            rest = &rest[inside.len()..];
            if self.pending.len() + inside.len() >= MAX_TAG {
                self.hand_on_pending(&mut sink);
                self.hand_on_text(inside, &mut sink);
                continue;
            }
            self.pending.push_str(inside);
            if rest.starts_with('<') {
                self.hand_on_pending(&mut sink);
            } else if let Some(after) = rest.strip_prefix('>') {
                rest = after;
                self.pending.push('>');
                match read_tag(&self.pending) {
                    None => self.hand_on_pending(&mut sink),
                    Some((name, closing, plain)) => {
                        let start = self.handed_on;
                        self.handed_on += self.pending.len();
                        self.pending.clear();
                        let end = self.handed_on;
                        sink(Scanned::Tag(Tag {
                            name,
                            closing,
                            plain,
                            start,
                            end,
                        }));
                    }
                }
            }
        }
    }

    /// Ends the completion: hands on what was never closed, unless it is the beginning of `</expected>`.
    pub(crate) fn finish(&mut self, expected: Option<TagName>, mut sink: impl FnMut(Scanned<'_>)) {
        let begun: String = self
            .pending
            .chars()
            .filter(|character| !character.is_whitespace())
            .map(|character| character.to_ascii_lowercase())
            .collect();
        if expected.is_some_and(|name| format!("</{}>", name.name()).starts_with(&begun)) {
            self.pending.clear();
        } else {
            self.hand_on_pending(&mut sink);
        }
    }

    /// Where the text handed on so far ends, in bytes.
    pub(crate) fn handed_on(&self) -> usize {
        self.handed_on
    }

    fn hand_on_text(&mut self, text: &str, sink: &mut impl FnMut(Scanned<'_>)) {
        if !text.is_empty() {
            let start = self.handed_on;
            self.handed_on += text.len();
            sink(Scanned::Text { text, start });
        }
    }

    fn hand_on_pending(&mut self, sink: &mut impl FnMut(Scanned<'_>)) {
        let text = std::mem::take(&mut self.pending);
        self.hand_on_text(&text, sink);
    }
}

/// The name, whether it closes, and whether it is written exactly as asked for; `None` where it is no known tag.
fn read_tag(bracketed: &str) -> Option<(TagName, bool, bool)> {
    let inner = bracketed.strip_prefix('<')?.strip_suffix('>')?;
    let inner = inner.trim_start();
    let (closing, inner) = match inner.strip_prefix('/') {
        Some(after) => (true, after.trim_start()),
        None => (false, inner),
    };
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let length = inner.find(|character| !is_name(character));
    let length = length.unwrap_or(inner.len());
    let (written, attributes) = inner.split_at(length);
    let mut name = TagName::ALL.into_iter();
    let name = name.find(|name| written.eq_ignore_ascii_case(name.name()))?;
    let blank = attributes.trim().is_empty();
    if !blank && (closing || !are_attributes(attributes)) {
        return None;
    }
    let slash = if closing { "/" } else { "" };
    let plain = bracketed == format!("<{slash}{}>", name.name());
    Some((name, closing, plain))
}

/// Is this a list of ` name=value`, each after white space?
pub(super) fn are_attributes(text: &str) -> bool {
    let mut rest = text;
    loop {
        let next = rest.trim_start();
        if next.is_empty() {
            return true;
        }
        if next.len() == rest.len() {
            return false;
        }
        let is_name = |character: char| {
            character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | ':' | '.')
        };
        let length = next.find(|character| !is_name(character));
        let length = length.unwrap_or(next.len());
        let Some(value) = next[length..].trim_start().strip_prefix('=') else {
            return false;
        };
        if length == 0 {
            return false;
        }
        let value = value.trim_start();
        rest = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => match value[1..].find(quote) {
                Some(end) => &value[end + 2..],
                None => return false,
            },
            Some(_) => {
                let end = value.find(|character: char| character.is_whitespace());
                let end = end.unwrap_or(value.len());
                if value[..end].contains(['"', '\'', '=']) {
                    return false;
                }
                &value[end..]
            }
            None => return false,
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scan(pieces: &[&str]) -> (Vec<Tag>, String) {
        let (mut tags, mut text) = (Vec::new(), String::new());
        let mut scanner = TagScanner::default();
        let mut sink = |scanned: Scanned<'_>| match scanned {
            Scanned::Tag(tag) => tags.push(tag),
            Scanned::Text { text: piece, .. } => text.push_str(piece),
        };
        for piece in pieces {
            scanner.push(piece, &mut sink);
        }
        scanner.finish(None, &mut sink);
        (tags, text)
    }

    #[test]
    fn tags_as_models_write_them() {
        for (text, name, closing, plain) in [
            ("<process>", TagName::Process, false, true),
            ("</perfect>", TagName::Perfect, true, true),
            ("< / Reason\n>", TagName::Reason, true, false),
            (
                "<OUTCOME score='1' x = 2 a:b=\"> no\" >",
                TagName::Outcome,
                false,
                false,
            ),
            ("<think >", TagName::Think, false, false),
        ] {
            let (tags, _) = scan(&[text]);
            if text.contains("no") {
                assert_eq!(tags, [], "a tag ends at its first closing bracket");
                continue;
            }
            assert_eq!(tags.len(), 1, "{text}");
            assert_eq!(
                (tags[0].name, tags[0].closing, tags[0].plain),
                (name, closing, plain)
            );
            assert_eq!((tags[0].start, tags[0].end), (0, text.len()));
        }
        for text in [
            "<processes>",
            "<process/>",
            "<process is what I write, x>",
            "<process a>",
            "<process a=>",
            "<process=1>",
            "<pro cess>",
            "&lt;process&gt;",
            "<process",
            "<//process>",
            "</process a=1>",
            "<process a='1'b='2'>",
            "<step>",
            "<>",
            "< >",
        ] {
            assert_eq!(scan(&[text]), (vec![], text.to_owned()));
        }
        let long = format!("<process a={}>", "x".repeat(MAX_TAG));
        assert_eq!(scan(&[&long]), (vec![], long.clone()));
        assert_eq!(scan(&["a <<process> b"]).0.len(), 1);
    }

    proptest! {
        #[test]
        fn cutting_makes_no_difference(
            text in r#"(<|/|>| |process|outcome|think|a=1|é|x{90}|"|.)*"#,
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).filter(|&at| text.is_char_boundary(at)).collect();
            at.extend([0, text.len()]);
            at.sort_unstable();
            let pieces: Vec<&str> = at.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(scan(&pieces), scan(&[&text]));
        }
    }
}
