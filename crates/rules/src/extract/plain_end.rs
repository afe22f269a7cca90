//! A plain number on a last line of its own, as GSM8K has it: "#### 18", "A: 18". Most rows of training and evaluation end so, and where
//! nothing else in the text can count, the search that weighs everything finds nothing else.

use std::borrow::Cow;

use super::search::ANSWER_LETTER;
use super::{Found, Role, words};
use crate::config::{Config, ExtractionTarget};

/// How long such a text is at most, and such a number, in bytes.
const LONGEST: usize = 16_000;
const MOST_DIGITS: usize = 15;

/// Characters that neither mark up, nor announce, nor hide anything.
const PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        table[byte as usize] = byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b' ' | b'.' | b',' | b':' | b';' | b'\'' | b'"' | b'(' | b')'
            )
            || matches!(
                byte,
                b'-' | b'+' | b'*' | b'/' | b'=' | b'$' | b'%' | b'!' | b'?' | b'>'
            );
        byte += 1;
    }
    table
};

/// What [`super::extract`] finds in such a text; `None` where it has to be searched.
pub(super) fn found<'t>(text: &'t str, role: Role, config: &Config) -> Option<Found<'t>> {
    use ExtractionTarget::{Expr, Latex};
    let usual = config.decimal.is_none() && matches!(*config.extract, [Latex, Expr]);
    if !usual || text.len() > LONGEST || !text.ends_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let digits = text
        .bytes()
        .rev()
        .take_while(is_digit)
        .take(MOST_DIGITS + 1)
        .count();
    if digits > MOST_DIGITS {
        return None;
    }
    let (before, number) = text.split_at(text.len() - digits);
    let (method, statement) = match role {
        Role::Gold if before.is_empty() => ("whole", number),
        Role::Prediction => {
            let (head, method, statement) = if let Some(head) = before.strip_suffix("\n#### ") {
                (head, "####", number)
            } else {
                let head = before.strip_suffix("\nA: ")?;
                let line = &head[head.rfind('\n').map_or(0, |at| at + 1)..];
                // "The final answer is" may go on below.
                if line.contains("inal") || line.contains("ebnis") {
                    return None;
                }
                (head, ANSWER_LETTER, &text[before.len() - 1..])
            };
            says_nothing_else(head).then_some((method, statement))?
        }
        Role::Gold => return None,
    };
    Some(Found {
        text: Cow::Borrowed(number),
        method,
        statement: Cow::Borrowed(statement),
        qualified: false,
        doubtful: false,
        option: None,
    })
}

/// Is there nothing in a text that may hide its last line, or be another question or a list of choices?
fn says_nothing_else(head: &str) -> bool {
    let bytes = head.as_bytes();
    let mut begins = true;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        let passed = match byte {
            b'*' | b'(' | b'-' | b'>' if begins => false,
            b'Q' | b'P' if begins => words::QUESTION.begin(&head[at..]).is_none(),
            b'B' if begins => !matches!(next, b':' | b')' | b'.'),
            b'\n' => true,
            // The marks of a calculator.
            b'<' => next == b'<' || at > 0 && bytes[at - 1] == b'<',
            _ => PLAIN[usize::from(byte)],
        };
        if !passed {
            return false;
        }
        begins = byte == b'\n';
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::candidates;

    /// What a search finds first.
    fn sought(text: &str, role: Role) -> Option<Found<'_>> {
        candidates(text, role, &Config::default())
            .into_iter()
            .next()
    }

    #[test]
    fn a_plain_end_is_what_a_search_finds() {
        let heads = [
            "It takes 2/2=<<2/2=1>>1 bolt of white fiber\nSo it takes 2+1=<<2+1=3>>3 bolts.",
            "She has $5.\nPeter has $6, so they have 50% more: $11 (not 12)!",
            "The answer is 12.\nWait, no.",
            "Is it 12? If so, the final value is 13.\nBut it isn't",
            "Therefore,",
            "I cannot solve this.",
            "1. five\n2. six",
            "5'3\" is 63 inches - or 12 x 5 + 3 per cent",
        ];
        let mut plain = 0;
        for head in heads {
            for number in ["18", "0", "007", "123456789012345"] {
                for mark in ["####", "A:"] {
                    let text = format!("{head}\n{mark} {number}");
                    let found = found(&text, Role::Prediction, &Config::default());
                    plain += usize::from(found.is_some());
                    if found.is_some() {
                        assert_eq!(found, sought(&text, Role::Prediction), "{text}");
                    }
                }
                let gold = found(number, Role::Gold, &Config::default());
                assert!(gold.is_some());
                assert_eq!(gold, sought(number, Role::Gold));
            }
        }
        assert_eq!(plain, 64);
    }

    #[test]
    fn what_else_may_count_is_searched() {
        let texts = [
            "<think>5\n#### 18",
            "\\boxed{5}\n#### 18",
            "Q: How many?\nA: 5\n\nQ: And then?\nA: 18",
            "A: 5\nB: 6\nA: 18",
            "The final answer is\nA: 18",
            "[answer]5[/answer]\n#### 18",
        ];
        for text in texts {
            assert_eq!(
                found(text, Role::Prediction, &Config::default()),
                None,
                "{text}"
            );
        }
    }
}
