//! What of a response counts, and in which characters.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Anchored, Input, StartKind};
use unicode_normalization::UnicodeNormalization;

/// What a structural mark of a chat template or of thinking does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Structure {
    ThinkOpen,
    ThinkClose,
    /// What follows is the answer's channel.
    Final,
    /// What follows is another channel.
    Channel,
    /// A turn or the text ends here.
    End,
    /// Leaves the text around it as it is.
    Neutral,
}

const STRUCTURES: [(&str, Structure); 25] = [
    ("<think>", Structure::ThinkOpen),
    ("</think>", Structure::ThinkClose),
    ("<thinking>", Structure::ThinkOpen),
    ("</thinking>", Structure::ThinkClose),
    ("<thought>", Structure::ThinkOpen),
    ("</thought>", Structure::ThinkClose),
    ("<reasoning>", Structure::ThinkOpen),
    ("</reasoning>", Structure::ThinkClose),
    ("<scratchpad>", Structure::ThinkOpen),
    ("</scratchpad>", Structure::ThinkClose),
    ("[think]", Structure::ThinkOpen),
    ("[/think]", Structure::ThinkClose),
    ("◁think▷", Structure::ThinkOpen),
    ("◁/think▷", Structure::ThinkClose),
    ("<|begin_of_thought|>", Structure::ThinkOpen),
    ("<|end_of_thought|>", Structure::ThinkClose),
    ("<|channel|>final<|message|>", Structure::Final),
    ("<|channel|>analysis", Structure::Channel),
    ("<|channel|>commentary", Structure::Channel),
    ("<|im_end|>", Structure::End),
    ("<|endoftext|>", Structure::End),
    ("<|eot_id|>", Structure::End),
    ("<|return|>", Structure::End),
    ("<|im_start|>", Structure::End),
    ("<|begin_of_text|>", Structure::Neutral),
];

/// `None` never happens: a test builds it. It stands for "no structure found".
static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .start_kind(StartKind::Unanchored)
        .build(STRUCTURES.map(|(text, _)| text))
        .ok()
});

/// The part of a response that may hold its answer, with its characters made plain; or why there is none.
pub(super) fn visible(text: &str) -> Result<Cow<'_, str>, &'static str> {
    let part = outside_thinking(text)?;
    Ok(plain(part))
}

/// What follows the thinking, up to the end of the turn.
fn outside_thinking(text: &str) -> Result<&str, &'static str> {
    let Some(automaton) = AUTOMATON.as_ref() else {
        return Ok(text);
    };
    if !text.contains(['<', '[', '◁']) {
        return Ok(text);
    }
    let mut from = 0;
    let mut to = None;
    let mut thinking = None;
    let mut channel = false;
    for found in automaton.find_iter(Input::new(text).anchored(Anchored::No)) {
        let structure = STRUCTURES[found.pattern().as_usize()].1;
        match structure {
            Structure::ThinkClose | Structure::Final => {
                from = found.end();
                (to, thinking, channel) = (None, None, false);
            }
            Structure::ThinkOpen => thinking = thinking.or(Some(found.start())),
            Structure::Channel => channel = true,
            Structure::End => {
                if to.is_none()
                    && !text
                        .get(from..found.start())
                        .unwrap_or_default()
                        .trim()
                        .is_empty()
                {
                    to = Some(found.start());
                } else if to.is_none() {
                    from = after_role(text, found.end());
                }
            }
            Structure::Neutral => {
                if text
                    .get(from..found.start())
                    .unwrap_or_default()
                    .trim()
                    .is_empty()
                {
                    from = found.end();
                }
            }
        }
    }
    let end = [to, thinking]
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(text.len());
    let part = text.get(from..end).unwrap_or_default();
    if channel {
        return Err("the response has no final part");
    }
    if part.trim().is_empty() && thinking.is_some() {
        return Err("the response was cut off while thinking");
    }
    Ok(part.strip_suffix("</s>").unwrap_or(part))
}

/// Behind the role name that follows the opening of a turn.
fn after_role(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    for role in ["assistant", "user", "system"] {
        if rest.starts_with(role) {
            return at + role.len();
        }
    }
    at
}

/// What becomes of a character.
enum Fate {
    Keep,
    Drop,
    Become(char),
}

fn fate(character: char) -> Fate {
    match character {
        '\n' | '\t' | ' '..='~' => Fate::Keep,
        '\u{0}'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{fffc}'..='\u{fffd}' => Fate::Drop,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            Fate::Become(' ')
        }
        '\u{2028}' | '\u{2029}' => Fate::Become('\n'),
        '\u{2212}' | '\u{fe63}' | '\u{2010}' | '\u{2011}' => Fate::Become('-'),
        '\u{3002}' | '\u{ff61}' | '\u{66b}' => Fate::Become('.'),
        '\u{3001}' | '\u{66c}' | '\u{60c}' => Fate::Become(','),
        '\u{66a}' => Fate::Become('%'),
        '\u{ff01}'..='\u{ff5e}' => shifted(character, 0xff01, '!'),
        '\u{660}'..='\u{669}' => shifted(character, 0x660, '0'),
        '\u{6f0}'..='\u{6f9}' => shifted(character, 0x6f0, '0'),
        '\u{966}'..='\u{96f}' => shifted(character, 0x966, '0'),
        '\u{9e6}'..='\u{9ef}' => shifted(character, 0x9e6, '0'),
        '\u{e50}'..='\u{e59}' => shifted(character, 0xe50, '0'),
        '\u{1d400}'..='\u{1d7ff}' | '\u{2102}' | '\u{2115}' | '\u{211d}' | '\u{2124}' => {
            // The blackboard letters of number sets stay: they say which set is meant.
            match (character, std::iter::once(character).nfkc().next()) {
                ('\u{1d400}'..='\u{1d7ff}', Some(plain)) => Fate::Become(plain),
                _ => Fate::Keep,
            }
        }
        _ => Fate::Keep,
    }
}

fn shifted(character: char, from: u32, to: char) -> Fate {
    let code = (character as u32)
        .wrapping_sub(from)
        .wrapping_add(to as u32);
    char::from_u32(code).map_or(Fate::Keep, Fate::Become)
}

/// The text in plain characters; borrowed where nothing changes.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let first = bytes
        .iter()
        .position(|&byte| byte >= 0x80 || (byte < b' ' && byte != b'\n' && byte != b'\t'));
    let Some(first) = first else {
        return Cow::Borrowed(text);
    };
    let keeps = |character: char| matches!(fate(character), Fate::Keep);
    let Some(first) = text[first..]
        .char_indices()
        .find(|&(_, character)| !keeps(character))
        .map(|(at, _)| first + at)
    else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = text[first..].chars();
    while let Some(character) = rest.next() {
        match character {
            '\r' => {
                if !rest.as_str().starts_with('\n') {
                    out.push('\n');
                }
            }
            '\u{1b}' => skip_escape(&mut rest),
            // `\f` and `\b` of a string that was not meant to have escapes.
            '\u{c}' | '\u{8}' if begins_command(character, rest.as_str()) => {
                if !out.ends_with('\\') {
                    out.push('\\');
                }
                out.push(if character == '\u{c}' { 'f' } else { 'b' });
            }
            '\u{b}' | '\u{c}' => out.push(' '),
            _ => match fate(character) {
                Fate::Keep => out.push(character),
                Fate::Drop => {}
                Fate::Become(' ') if groups_thousands(&out, rest.as_str()) => {}
                Fate::Become(other) => out.push(other),
            },
        }
    }
    Cow::Owned(out)
}

fn begins_command(control: char, rest: &str) -> bool {
    let commands: &[&str] = if control == '\u{c}' {
        &["rac", "box", "loor", "orall"]
    } else {
        &["oxed", "inom", "ar{", "egin{", "eta", "ig", "mod"]
    };
    commands.iter().any(|command| rest.starts_with(command))
}

/// Over a terminal's control sequence, whose first character is gone already.
fn skip_escape(rest: &mut std::str::Chars<'_>) {
    if !rest.as_str().starts_with('[') {
        return;
    }
    rest.next();
    // A sequence is short; what does not end is none.
    for character in rest.by_ref().take(32) {
        if ('@'..='~').contains(&character) {
            return;
        }
    }
}

/// Does a no-break or thin space here stand between the digits of one number?
fn groups_thousands(before: &str, after: &str) -> bool {
    let after = after.as_bytes();
    let digit = |at: usize| after.get(at).is_some_and(u8::is_ascii_digit);
    before.ends_with(|last: char| last.is_ascii_digit())
        && digit(0)
        && digit(1)
        && digit(2)
        && !digit(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_follows_the_thinking_counts() {
        for (text, expected) in [
            ("plain", Ok("plain")),
            ("<think>5</think>6", Ok("6")),
            ("a</think>b</think>c", Ok("c")),
            ("5 <think> 6", Ok("5 ")),
            ("<think> 6", Err("the response was cut off while thinking")),
            ("<THINK>1</THINK>2", Ok("2")),
            (
                "<|channel|>analysis<|message|>1<|end|><|start|>assistant<|channel|>final<|message|>2<|return|>",
                Ok("2"),
            ),
            (
                "<|channel|>analysis<|message|>1",
                Err("the response has no final part"),
            ),
            ("is 5.<|im_end|>\n<|im_start|>user\n6", Ok("is 5.")),
            ("<|im_start|>assistant\n5", Ok("\n5")),
        ] {
            assert_eq!(outside_thinking(text), expected, "{text}");
        }
    }

    #[test]
    fn characters_become_plain() {
        for (text, expected) in [
            ("\u{2212}5", "-5"),
            ("４２", "42"),
            ("٤٢", "42"),
            ("1\u{a0}234\u{a0}567", "1234567"),
            ("5\u{a0}cm", "5 cm"),
            ("4\u{200b}2\u{0}", "42"),
            ("\u{1b}[1;32m5\u{1b}[0m", "5"),
            ("a\r\nb", "a\nb"),
            ("\u{8}oxed{5}", "\\boxed{5}"),
            ("\\\u{c}rac{1}{2}", "\\frac{1}{2}"),
            ("𝟓𝑥", "5x"),
            ("x² ≤ √3", "x² ≤ √3"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
        assert!(matches!(plain("x² ≤ √3"), Cow::Borrowed(_)));
    }

    #[test]
    fn the_automaton_builds() {
        assert!(AUTOMATON.is_some());
    }
}
