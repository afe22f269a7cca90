//! What of a response the judge is shown.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use regex::Regex;

/// What of a response the judge is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum View {
    #[default]
    Full,
    /// What follows the response's own thinking: after its last `</think>`; nothing of thinking that does not end.
    AfterThinking,
    /// Its last line that is not blank.
    LastLine,
    /// Its last paragraph.
    LastStep,
    /// Its final answer alone: the content of the last `\boxed{…}`, else what follows the last "answer is" or "answer:" (on
    /// the next line, where nothing follows on its own), else nothing.
    Extracted,
    /// Its last characters.
    Tail(usize),
    /// Its paragraphs, numbered from 0: `[0] …`.
    Steps,
    /// None of it: for a judge's own solution.
    Nothing,
}

/// A name that is no view.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown view `{0}`; use full, after-thinking, last-line, last-step, extracted, steps or tail-chars:N"
)]
pub struct UnknownView(String);

impl FromStr for View {
    type Err = UnknownView;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownView(name.to_owned());
        Ok(match name {
            "full" => Self::Full,
            "after-thinking" => Self::AfterThinking,
            "last-line" => Self::LastLine,
            "last-step" => Self::LastStep,
            "extracted" => Self::Extracted,
            "steps" => Self::Steps,
            _ => {
                let count = name.strip_prefix("tail-chars:").ok_or_else(unknown)?;
                match count.parse() {
                    Ok(count) if count > 0 => Self::Tail(count),
                    _ => return Err(unknown()),
                }
            }
        })
    }
}

impl fmt::Display for View {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => out.write_str("full"),
            Self::AfterThinking => out.write_str("after-thinking"),
            Self::LastLine => out.write_str("last-line"),
            Self::LastStep => out.write_str("last-step"),
            Self::Extracted => out.write_str("extracted"),
            Self::Steps => out.write_str("steps"),
            Self::Nothing => out.write_str("nothing"),
            Self::Tail(count) => write!(out, "tail-chars:{count}"),
        }
    }
}

impl View {
    /// What the judge is shown of a response.
    pub(crate) fn judged_part(self, response: &str) -> Cow<'_, str> {
        match self {
            Self::Full => response.into(),
            Self::AfterThinking => after_thinking(response).into(),
            Self::LastLine => {
                let mut lines = response.lines().rev().map(str::trim);
                lines
                    .find(|line| !line.is_empty())
                    .unwrap_or_default()
                    .into()
            }
            Self::LastStep => paragraphs(response).last().unwrap_or_default().into(),
            Self::Extracted => extracted(response).unwrap_or_default().into(),
            Self::Tail(count) => match response.char_indices().nth_back(count - 1) {
                Some((start, _)) => response[start..].into(),
                None => response.into(),
            },
            Self::Steps => numbered(paragraphs(response)).into(),
            Self::Nothing => "".into(),
        }
    }
}

/// Steps, numbered from 0: `[0] …`.
pub(crate) fn numbered<'s>(steps: impl Iterator<Item = &'s str>) -> String {
    let steps: Vec<String> = steps
        .enumerate()
        .map(|(index, step)| format!("[{index}] {}", without_marks(step)))
        .collect();
    steps.join("\n\n")
}

/// The steps of a response: its paragraphs, between blank lines.
pub(crate) fn paragraphs(response: &str) -> impl Iterator<Item = &str> {
    let mut rest = response;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        let mut at = 0;
        for line in rest.split_inclusive('\n') {
            if line.trim().is_empty() {
                end = at;
                break;
            }
            at += line.len();
        }
        let (step, later) = rest.split_at(end);
        rest = later;
        Some(step.trim_end())
    })
}

/// A step in which no line begins like a step's number.
fn without_marks(step: &str) -> String {
    let mut plain = String::with_capacity(step.len());
    for line in step.split_inclusive('\n') {
        let text = line.trim_start();
        let digits = text.strip_prefix('[').map(|rest| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            (digits, rest[digits..].starts_with(']'))
        });
        match digits {
            Some((digits @ 1.., true)) => {
                plain.push_str(&line[..line.len() - text.len()]);
                plain.push('(');
                plain.push_str(&text[1..=digits]);
                plain.push(')');
                plain.push_str(&text[digits + 2..]);
            }
            _ => plain.push_str(line),
        }
    }
    plain
}

fn after_thinking(response: &str) -> &str {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";
    let answer = response.rfind(CLOSE);
    let answer = answer.map_or(response, |at| &response[at + CLOSE.len()..]);
    answer.find(OPEN).map_or(answer, |at| &answer[..at]).trim()
}

/// The final answer that a response states.
fn extracted(response: &str) -> Option<&str> {
    static STATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?im)(?:\banswer[*_]*(?:\s+is\b|[ \t]*[:：=])|^[#*_ \t]*(?:final\s+)?answer[*_ \t]*$)",
            r"[*_ \t]*:?[ \t]*\n?[ \t]*"
        ))
        .ok()
    });
    let response = after_thinking(response);
    if let Some(content) = last_boxed(response) {
        return Some(content);
    }
    let after = STATED.as_ref()?.find_iter(response).last()?.end();
    let line = response[after..].lines().next()?;
    let answer = line.trim_start_matches(['*', '_', ' ']);
    let answer = answer.trim_end_matches(['*', '_', ' ', '.']);
    (!answer.is_empty()).then_some(answer)
}

/// The content of the last `\boxed{…}` whose braces close, in one pass.
fn last_boxed(response: &str) -> Option<&str> {
    const BOXED: &str = "\\boxed";
    // The depth in which each open box stands, and where its content begins.
    let mut boxes: Vec<(usize, usize)> = Vec::new();
    let (mut depth, mut found) = (0_usize, None);
    let mut escaped = false;
    for (at, byte) in response.bytes().enumerate() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match byte {
            b'\\' => escaped = true,
            b'{' => {
                if response[..at].trim_end().ends_with(BOXED) {
                    boxes.push((depth, at + 1));
                }
                depth += 1;
            }
            b'}' => {
                depth = depth.saturating_sub(1);
                if let Some((of_box, start)) = boxes.last().copied()
                    && of_box >= depth
                {
                    boxes.pop();
                    found = Some(response[start..at].trim());
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_judge_is_shown() {
        let response =
            "<think>\nhm 4\n</think>\nFirst 2 + 2.\nThat is 4.\n\n\nSo \\boxed{\\frac{8}{2}}.\n\n";
        for (view, shown) in [
            ("full", response),
            (
                "after-thinking",
                "First 2 + 2.\nThat is 4.\n\n\nSo \\boxed{\\frac{8}{2}}.",
            ),
            ("last-line", "So \\boxed{\\frac{8}{2}}."),
            ("last-step", "So \\boxed{\\frac{8}{2}}."),
            ("extracted", "\\frac{8}{2}"),
            ("tail-chars:3", ".\n\n"),
            ("tail-chars:9999", response),
        ] {
            let parsed: View = view.parse().unwrap();
            assert_eq!(parsed.to_string(), view);
            assert_eq!(parsed.judged_part(response), shown, "{view}");
        }
        assert_eq!(View::Steps.judged_part("a\nb\n \nc"), "[0] a\nb\n\n[1] c");
        assert_eq!(
            View::Steps.judged_part("a\n[7] b\n\n [12]"),
            "[0] a\n(7) b\n\n[1] (12)"
        );
        for (response, answer) in [
            ("I think.\n**Final answer:** 12 cm.", "12 cm"),
            ("The answer is 7.", "7"),
            ("Answer: x\nso", "x"),
            ("no idea", ""),
            ("\\boxed{1} \\boxed{2", "1"),
            ("\\boxed {5}", "5"),
            ("The answer is .5", ".5"),
            ("### Final Answer\n12", "12"),
            ("**Answer**: 5\n\nI hope this answers your question!", "5"),
            ("The answer isn't clear", ""),
            ("Answer：x = 5", "x = 5"),
            ("The answer is 5, no wait, the answer is 6.", "6"),
            ("\\boxed{1} and \\boxed{\\{1,2)}", "\\{1,2)"),
            ("<think>\\boxed{1}</think>The answer is 2", "2"),
            ("The answer is\n\n## Check", ""),
            ("", ""),
        ] {
            assert_eq!(View::Extracted.judged_part(response), answer, "{response}");
        }
        assert_eq!(View::AfterThinking.judged_part("a <think> b"), "a");
        assert_eq!(View::Tail(2).judged_part("añb"), "ñb");
        for wrong in ["", "half", "tail-chars:0", "tail-chars:x"] {
            assert!(wrong.parse::<View>().is_err());
        }
    }
}
