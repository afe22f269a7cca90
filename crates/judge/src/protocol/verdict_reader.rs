//! The state machine that turns the tags of a completion into verdict blocks.
//!
//! Parser and stop rule are the same state machine, so a generation can never be stopped before its verdict can be read.
//!
//! **Thinking never counts.** `<think>`, `<thinking>` or `<analysis>` hides everything up to the closing tag of the same name. A closing tag without an opening
//! one makes everything before it thinking. Thinking tags count wherever they stand, in a reason too.
//!
//! **A field** reaches from its opening tag to the next tag. Inside must be `True` or `False` and nothing else but white space, quotes, brackets, Markdown
//! emphasis and trailing punctuation. Signs that negate (`!True`, `~True`, `-True`) are never taken off. A field that closes but cannot be read is an
//! unreadable statement; one that neither closes nor can be read is a mention in prose (`the <process> tag`) and is ignored.
//!
//! **A block** collects the fields that the protocol asks for, in any order; others are ignored. A field that repeats within a block must agree with itself.
//! Once a block has all of them, the next repetition begins a new block; the last block whose fields are all readable counts.
//!
//! **Unknown tags** may be a model's own notation for thinking. While one is open, no verdict is final; where a pair of
//! them holds a verdict and other text, nothing is read.
//!
//! **Tags in a reason do not count**, since a judge may quote what it grades. A reason that never ends before a different
//! verdict could be a quotation or a missing closing tag: then nothing is read.
//!
//! **Aliases.** Where a block has no `<outcome>`, a `<result>`, `<overall>` or `<verdict>` is read as the outcome only if
//! the process is True, or not asked for: whether it means the outcome or "process and outcome", it then says the same. With
//! a process of False the two meanings differ and nothing is read. Beside an `<outcome>` they are ignored.

use std::ops::Range;

use super::block::{Block, ReasonSpan, Statement};
use super::labels::{is_unseen, plain};
use super::tag_scanner::{Scanned, Tag, TagName, TagScanner};
use super::unknown_tags::UnknownTags;
use super::{Yields, shorten};

/// The longest text between a field's tags that is looked at, in bytes.
const MAX_VALUE: usize = 256;

/// A field whose opening tag was read.
#[derive(Debug, Clone)]
struct Open {
    name: TagName,
    plain: bool,
    start: usize,
    text: String,
    /// More text than a value can have.
    overflow: bool,
}

/// A reason whose opening tag was read.
#[derive(Debug, Clone)]
struct OpenReason {
    start: usize,
    plain: bool,
    /// The values of the fields mentioned in it.
    quoted: Block,
    /// A complete verdict in it differs from the block's.
    differs: bool,
    /// A second opening tag was seen.
    reopened: bool,
}

/// Which closing tag ends the thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// Opened by the chat template, under any name.
    Given,
    Named(TagName),
}

impl Thinking {
    /// What is open after a tag of thinking, where `open` was before.
    pub(super) fn after(open: Option<Self>, tag: Tag) -> Option<Self> {
        match (open, tag.closing) {
            (None, closing) => (!closing).then_some(Self::Named(tag.name)),
            (Some(Self::Named(name)), true) if name != tag.name => open,
            (Some(_), closing) => open.filter(|_| !closing),
        }
    }
}

/// Reads verdict blocks from a completion, piece by piece, in bounded memory.
#[derive(Debug, Clone)]
pub(super) struct VerdictReader {
    scanner: TagScanner,
    state: ReaderState,
}

#[derive(Debug, Clone)]
struct ReaderState {
    wanted: Yields,
    thinking: Option<Thinking>,
    /// The last readable block before the current one.
    last: Option<Block>,
    block: Block,
    open: Option<Open>,
    reason: Option<OpenReason>,
    /// Text outside every field.
    stray: bool,
    unknown: UnknownTags,
}

impl VerdictReader {
    /// `starts_in_thinking`: the prompt ends inside a thinking block.
    pub(super) fn new(wanted: Yields, starts_in_thinking: bool) -> Self {
        let state = ReaderState {
            thinking: starts_in_thinking.then_some(Thinking::Given),
            ..ReaderState::new(wanted)
        };
        Self {
            scanner: TagScanner::default(),
            state,
        }
    }

    /// Takes the next piece of the completion.
    pub(super) fn push(&mut self, piece: &str) {
        let Self { scanner, state } = self;
        scanner.push(piece, |scanned| state.take(scanned));
    }

    /// The block that is complete right now: nothing is open that could change it.
    pub(super) fn settled(&self) -> Option<&Block> {
        let state = &self.state;
        let quiet = state.thinking.is_none()
            && state.open.is_none()
            && state.reason.is_none()
            && !state.unknown.are_open();
        let block = &state.block;
        (quiet && !block.ambiguous && block.is_closed() && block.values().is_some())
            .then_some(block)
    }

    /// Ends the completion. `None`: the thinking was not finished. Else the block that counts, or the one to blame.
    pub(super) fn finish(mut self) -> Option<Block> {
        let Self { scanner, state } = &mut self;
        let expected = match (&state.open, &state.reason) {
            (_, Some(_)) => Some(TagName::Reason),
            (Some(open), None) => Some(open.name),
            (None, None) => None,
        };
        scanner.finish(expected, |scanned| state.take(scanned));
        if state.thinking.is_some() {
            return None;
        }
        if state.reason.is_some() {
            state.end_reason(scanner.handed_on(), None);
        } else {
            state.end_open(None);
        }
        let ReaderState {
            last,
            block,
            stray,
            unknown,
            ..
        } = self.state;
        let several = last.is_some();
        let mut counts = match last {
            Some(last) if !block.ambiguous && block.values().is_none() => last,
            _ => block,
        };
        counts.exact &= !stray && !several;
        counts.wrapped = unknown.finish().map(str::to_owned);
        Some(counts)
    }
}

impl ReaderState {
    fn new(wanted: Yields) -> Self {
        Self {
            wanted,
            thinking: None,
            last: None,
            block: Block::new(wanted),
            open: None,
            reason: None,
            stray: false,
            unknown: UnknownTags::new(wanted),
        }
    }

    fn take(&mut self, scanned: Scanned<'_>) {
        if matches!(scanned, Scanned::Tag(_)) {
            self.unknown.interrupt(self.open.is_none());
        }
        match scanned {
            Scanned::Tag(tag) if tag.name.is_thinking() => self.thinking_tag(tag),
            _ if self.thinking.is_some() => {}
            Scanned::Tag(tag) if self.reason.is_some() => self.tag_in_reason(tag),
            Scanned::Tag(tag) => self.tag(tag),
            Scanned::Text { text, .. } => self.text(text),
        }
    }

    fn text(&mut self, text: &str) {
        if self.reason.is_none() {
            self.unknown.text(text, self.open.is_none());
        }
        match &mut self.open {
            Some(open) if open.text.len() + text.len() > MAX_VALUE => {
                let room = MAX_VALUE - open.text.len();
                let fits = text.floor_char_boundary(room);
                open.text.push_str(&text[..fits]);
                open.overflow = true;
            }
            Some(open) => open.text.push_str(text),
            None => self.stray |= self.reason.is_none() && !text.trim().is_empty(),
        }
    }

    fn thinking_tag(&mut self, tag: Tag) {
        let before = self.thinking;
        self.thinking = Thinking::after(before, tag);
        match (before, self.thinking) {
            (None, None) => *self = Self::new(self.wanted),
            (None, Some(_)) if self.reason.is_some() => self.end_reason(tag.start, None),
            (None, Some(_)) => self.end_open(None),
            (Some(_), None) => self.stray &= !(self.block.is_blank() && self.last.is_none()),
            (Some(_), Some(_)) => {}
        }
    }

    fn tag(&mut self, tag: Tag) {
        if tag.closing {
            match &self.open {
                Some(open) if open.name == tag.name => self.end_open(Some(tag)),
                Some(_) => self.drop_open(),
                None => self.stray = true,
            }
            return;
        }
        self.end_open(None);
        if tag.name == TagName::Reason {
            if self.block.is_filled() && self.block.reason.is_some() {
                self.begin_block();
            }
            self.reason = Some(OpenReason {
                start: tag.end,
                plain: tag.plain,
                quoted: Block::new(self.wanted),
                differs: false,
                reopened: false,
            });
        } else {
            self.begin_field(tag);
        }
    }

    fn tag_in_reason(&mut self, tag: Tag) {
        let closes_field = |open: &Open| tag.closing && open.name == tag.name;
        if tag.name == TagName::Reason && tag.closing {
            self.end_reason(tag.start, Some(tag));
        } else if self.open.as_ref().is_some_and(closes_field) {
            self.end_open(Some(tag));
        } else {
            if tag.closing {
                self.open = None;
            } else {
                self.end_open(None);
            }
            if tag.name == TagName::Reason {
                if let Some(reason) = &mut self.reason {
                    reason.reopened = true;
                }
            } else if !tag.closing {
                self.begin_field(tag);
            }
        }
    }

    fn begin_field(&mut self, tag: Tag) {
        self.open = Some(Open {
            name: tag.name,
            plain: tag.plain,
            start: tag.end,
            text: String::new(),
            overflow: false,
        });
    }

    /// The current block is over; it is remembered where it can be read.
    fn begin_block(&mut self) {
        let block = std::mem::replace(&mut self.block, Block::new(self.wanted));
        if block.values().is_some() || block.ambiguous {
            self.last = Some(block);
        } else {
            self.stray = true;
        }
    }

    /// A field was closed by another field's tag: it says nothing.
    fn drop_open(&mut self) {
        if let Some(open) = self.open.take() {
            self.block.exact = false;
            self.block.slot(open.name).mention = Some(shorten(&open.text));
        }
    }

    /// The open field ends, by its closing tag or without.
    fn end_open(&mut self, closing: Option<Tag>) {
        let Some(open) = self.open.take() else { return };
        let read = (!open.overflow).then(|| read_value(&open.text)).flatten();
        let in_reason = self.reason.is_some();
        if read.is_none() && closing.is_none() {
            if !in_reason {
                self.block.exact = false;
                if !open.text.trim().is_empty() {
                    self.block.slot(open.name).mention = Some(shorten(&open.text));
                }
            }
            return;
        }
        let statement = Statement {
            value: read.as_ref().map(|(value, _)| *value),
            span: read.map_or(open.start..open.start, |(_, word)| {
                open.start + word.start..open.start + word.end
            }),
            found: shorten(&open.text),
            closed: closing.is_some(),
        };
        let plain = open.plain
            && closing.is_some_and(|tag| tag.plain)
            && matches!(open.text.trim(), "True" | "False");
        if let Some(reason) = &mut self.reason {
            if reason.quoted.is_filled() && reason.quoted.slot(open.name).statement.is_some() {
                reason.quoted = Block::new(self.wanted);
            }
            state_field(&mut reason.quoted, open.name, statement, plain);
            let quoted = reason.quoted.values();
            reason.differs |= quoted.is_some() && quoted != self.block.values();
            return;
        }
        if self.block.is_filled() && self.block.slot(open.name).statement.is_some() {
            self.begin_block();
        }
        self.unknown.field(open.name);
        state_field(&mut self.block, open.name, statement, plain);
    }

    /// The reason ends at an offset, by its closing tag or without.
    fn end_reason(&mut self, end: usize, closing: Option<Tag>) {
        self.open = None;
        let Some(reason) = self.reason.take() else {
            return;
        };
        let block = &mut self.block;
        block.ambiguous |= reason.differs && (reason.reopened || closing.is_none());
        block.written(TagName::Reason);
        block.exact &= reason.plain && closing.is_some_and(|tag| tag.plain);
        block.reason = Some(ReasonSpan {
            text: reason.start..end,
            closed: closing.is_some(),
        });
    }
}

/// Puts a statement into its slot; one that does not agree with an earlier one is kept as a contradiction.
fn state_field(block: &mut Block, name: TagName, statement: Statement, plain: bool) {
    block.written(name);
    block.exact &= plain;
    if !matches!(name, TagName::Process | TagName::Outcome | TagName::Perfect) {
        block.alias_name = Some(name);
    }
    let slot = block.slot(name);
    match &slot.statement {
        None => slot.statement = Some(statement),
        Some(first) if first.value.is_some() && first.value == statement.value => {}
        Some(_) => slot.contradiction = Some(statement.found),
    }
}

/// The value and where its word stands, if there is one word and it is True or False.
fn read_value(text: &str) -> Option<(bool, Range<usize>)> {
    let decoration = |character: char| {
        character.is_whitespace()
            || is_unseen(character)
            || matches!(
                character,
                '*' | '_' | '`' | '"' | '\'' | '“' | '”' | '„' | '‘' | '’' | '«' | '»'
            )
            || matches!(character, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>')
    };
    let rest = text.trim_start_matches(|character| decoration(character) || character == ':');
    let start = text.len() - rest.len();
    let word = rest.trim_end_matches(|character| {
        decoration(character) || matches!(character, '.' | ',' | ';' | ':' | '!')
    });
    let plain = plain(word);
    let plain = plain.trim_end();
    let value = if plain.eq_ignore_ascii_case("true") {
        true
    } else if plain.eq_ignore_ascii_case("false") {
        false
    } else {
        return None;
    };
    Some((value, start..start + word.len()))
}
