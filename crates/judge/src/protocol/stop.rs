//! When a generation may end, because everything asked for is known.

use super::Yields;
use super::tag_scanner::{Scanned, TagScanner};
use super::verdict_reader::{Thinking, VerdictReader};

/// Says when a generation may end.
pub trait StopMatcher: Send {
    /// Takes the newest piece of the completion's text; true when the generation may end after it.
    fn push(&mut self, piece: &str) -> bool;
}

/// Ends a generation in tags right after the last field that is wanted.
///
/// It fires once all fields, and the reason if it is wanted, were written and closed outside the thinking. It runs the parser's own state machine, so whenever it fires, the text so far can be parsed. It keeps a
/// bounded amount of text, however long the completion.
#[derive(Debug, Clone)]
pub struct VerdictStop {
    reader: VerdictReader,
    wants_reason: bool,
}

impl VerdictStop {
    /// `starts_in_thinking`: the prompt ends inside a thinking block that the chat template has opened.
    pub(crate) fn new(wanted: Yields, starts_in_thinking: bool, wants_reason: bool) -> Self {
        Self {
            reader: VerdictReader::new(wanted, starts_in_thinking),
            wants_reason,
        }
    }
}

impl StopMatcher for VerdictStop {
    fn push(&mut self, piece: &str) -> bool {
        self.reader.push(piece);
        self.reader
            .settled()
            .is_some_and(|block| !self.wants_reason || block.reason.is_some())
    }
}

/// Ends a generation at one of some texts, in bounded memory.
#[derive(Debug, Clone)]
pub(crate) struct TextStop {
    texts: Vec<String>,
    /// The end of what was written, as long as the longest text.
    tail: String,
}

impl TextStop {
    pub(crate) fn new(texts: &[String]) -> Self {
        Self {
            texts: texts.to_vec(),
            tail: String::new(),
        }
    }
}

impl StopMatcher for TextStop {
    fn push(&mut self, piece: &str) -> bool {
        self.tail.push_str(piece);
        let is_over = self.texts.iter().any(|text| self.tail.contains(text));
        let longest = self.texts.iter().map(String::len).max().unwrap_or(0);
        let from = self.tail.len().saturating_sub(longest);
        self.tail.drain(..self.tail.floor_char_boundary(from));
        is_over
    }
}

/// Ends a generation at one of some texts outside its thinking.
#[derive(Debug, Clone)]
pub(super) struct AnswerStop {
    stop: TextStop,
    scanner: TagScanner,
    thinking: Option<Thinking>,
}

impl AnswerStop {
    pub(super) fn new(texts: &[String], starts_in_thinking: bool) -> Self {
        Self {
            stop: TextStop::new(texts),
            scanner: TagScanner::default(),
            thinking: starts_in_thinking.then_some(Thinking::Given),
        }
    }
}

impl StopMatcher for AnswerStop {
    fn push(&mut self, piece: &str) -> bool {
        // A part holds one tag at most, at its end.
        piece.split_inclusive('>').any(|part| {
            let is_over = self.thinking.is_none() && self.stop.push(part);
            self.scanner.push(part, |scanned| match scanned {
                Scanned::Tag(tag) if tag.name.is_thinking() => {
                    self.thinking = Thinking::after(self.thinking, tag);
                    self.stop.tail.clear();
                }
                _ => {}
            });
            is_over
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::tag_form::tests::{judge_like, parse};

    /// The text up to which a character-wise generation runs.
    fn stopped_at(text: &str, starts_in_thinking: bool, wants_reason: bool) -> Option<&str> {
        let mut stop = VerdictStop::new(Yields::ALL, starts_in_thinking, wants_reason);
        text.char_indices()
            .find(|(at, character)| stop.push(&text[*at..at + character.len_utf8()]))
            .map(|(at, character)| &text[..at + character.len_utf8()])
    }

    const VERDICT: &str =
        "<process> True </process>\n<outcome> True </outcome>\n<perfect> False </perfect>";

    #[test]
    fn a_text_ends_a_generation_however_it_is_cut() {
        let mut stop = AnswerStop::new(&["\nUser:".to_owned(), "é!".to_owned()], false);
        assert!(!stop.push("Final Decision: Yes\n"));
        assert!(!stop.push("Use"));
        assert!(stop.push("r: 2"));
        let mut stop = AnswerStop::new(&["é!".to_owned()], false);
        assert!(!stop.push("ééé") && !stop.push(" é"));
        assert!(stop.push("!"));
    }

    #[test]
    fn a_text_ends_no_thinking() {
        for (text, starts_in_thinking, answer) in [
            ("<think>a\nb</think>A\n", false, "A"),
            ("a\nb</think>A\n", true, "A"),
            (
                "x <analysis>a\n</think>\n</analysis>A <b>\n",
                false,
                "A <b>",
            ),
            ("A\n<think>b</think>", false, "A"),
            ("<think>a\n", false, ""),
            ("a\n<think>\n", true, ""),
        ] {
            let ends = text.rfind(answer).filter(|_| !answer.is_empty());
            let ends = ends.map(|at| at + answer.len() + 1);
            let mut stop = AnswerStop::new(&["\n".to_owned()], starts_in_thinking);
            let stops = |(at, _): &(usize, char)| stop.push(&text[*at..=*at]);
            let stopped = text.char_indices().find(stops).map(|(at, _)| at + 1);
            assert_eq!(stopped, ends, "{text}");
            let mut stop = AnswerStop::new(&["\n".to_owned()], starts_in_thinking);
            assert_eq!(stop.push(text), ends.is_some(), "{text}");
        }
    }

    #[test]
    fn stops_right_after_what_is_wanted() {
        let whole = format!("{VERDICT} <reason> ok </reason> and more");
        assert_eq!(stopped_at(&whole, false, false), Some(VERDICT));
        assert_eq!(
            stopped_at(&whole, false, true),
            whole.strip_suffix(" and more")
        );
        let odd =
            "< Perfect >true< / PERFECT ><outcome>TRUE</outcome>x<process a=1>`True`</process >";
        assert_eq!(stopped_at(&format!("{odd} more"), false, false), Some(odd));
    }

    #[test]
    fn never_stops_in_thinking_or_on_an_unreadable_verdict() {
        assert_eq!(stopped_at(VERDICT, true, false), None);
        let thought = format!("{VERDICT}</think>{VERDICT}");
        assert_eq!(stopped_at(&thought, true, false), Some(thought.as_str()));
        let thought = format!("<think>{VERDICT}</think>{VERDICT}");
        assert_eq!(stopped_at(&thought, false, false), Some(thought.as_str()));
        assert_eq!(
            stopped_at(&VERDICT.replace("False", "Maybe"), false, false),
            None
        );
        assert_eq!(stopped_at("<perfect> True </perfect>", false, false), None);
        assert_eq!(stopped_at(VERDICT, false, true), None);
    }

    #[test]
    fn never_stops_in_tags_that_nothing_is_known_of() {
        for open in [
            "<ponder>",
            "[PONDER]",
            "<|musing_start|>",
            "◁musing▷",
            "Well, <ponder>",
        ] {
            let draft = format!("{open}Let me see. {VERDICT} Or not? ");
            assert_eq!(stopped_at(&draft, false, false), None, "{open}");
        }
        let beside = format!("<ponder>hm</ponder>{VERDICT}");
        assert_eq!(stopped_at(&beside, false, false), Some(beside.as_str()));
        let around = format!("<grades_of_work>{VERDICT}</grades_of_work>");
        assert_eq!(
            stopped_at(&format!("{around} more"), false, false),
            Some(around.as_str())
        );
    }

    proptest! {
        #[test]
        fn whenever_it_stops_the_text_so_far_can_be_read(
            pieces in prop::collection::vec(
                prop_oneof![
                    5 => judge_like(),
                    1 => prop::sample::select(vec!["<ponder>", "</ponder>", "[PONDER]", "[/PONDER]", "<pon", "der>"])
                        .prop_map(str::to_owned),
                ],
                0..12,
            ),
            starts_in_thinking: bool,
            wants_reason: bool,
        ) {
            let mut stop = VerdictStop::new(Yields::ALL, starts_in_thinking, wants_reason);
            let mut text = String::new();
            for piece in pieces {
                text.push_str(&piece);
                if stop.push(&piece) {
                    let parsed = parse(&text, starts_in_thinking);
                    prop_assert!(parsed.is_ok(), "{text:?}: {parsed:?}");
                }
            }
        }

        #[test]
        fn a_whole_verdict_always_stops(before in "[^<]*", values: [bool; 3], wants_reason: bool) {
            let word = |value| if value { "True" } else { "FALSE" };
            let [process, outcome, perfect] = values.map(word);
            let verdict = format!("{before}<process>{process}</process><outcome>{outcome}</outcome>{before}<perfect>{perfect}</perfect><reason>{before}</reason>");
            prop_assert!(stopped_at(&verdict, false, wants_reason).is_some());
        }
    }
}
