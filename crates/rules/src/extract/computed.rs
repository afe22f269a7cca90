//! What programs write for mathematics: `math.sqrt(9)`, `Fraction(1, 2)`, `17 // 3`.

use super::words;

/// How deeply rewritten calls nest.
const MOST_DEEP: usize = 4;

/// How long what stands in the brackets of a call is at most, in characters.
const LONGEST_CALL: usize = 200;
/// How long the name of a function and its modules is at most, in bytes.
const LONGEST_NAME: usize = 32;

/// The text with such calls and operators as mathematics writes them; `None` where there are none.
pub(super) fn as_mathematics(text: &str) -> Option<String> {
    let divided = with_operators(text);
    let called = with_calls(divided.as_deref().unwrap_or(text), MOST_DEEP);
    called.or(divided)
}

/// `17 // 3` and `17 % 3` between two numbers.
fn with_operators(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest.find(['/', '%']) {
        let floor = rest[at..].starts_with("//");
        let sign = if floor { 2 } else { 1 };
        let (before, after) = (&rest[..at], &rest[at + sign..]);
        let spaced = before.ends_with(' ') && after.starts_with(' ');
        if !floor && (rest[at..].starts_with('/') || !spaced) {
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        let (before, after) = (before.trim_end_matches(' '), after.trim_start_matches(' '));
        let is_digit = |it: char| it.is_ascii_digit();
        let start = before.trim_end_matches(is_digit).len();
        let length = after.len() - after.trim_start_matches(is_digit).len();
        let (left, right) = (&before[start..], &after[..length]);
        let following = &after[length..];
        let decimal = following
            .strip_prefix('.')
            .is_some_and(|it| it.starts_with(is_digit));
        let apart = !before[..start].ends_with(['.', ',', '/', '-', '*', '^'])
            && !decimal
            && !following.starts_with(['/', '*', '^']);
        if left.is_empty() || right.is_empty() || !apart {
            out.push_str(&rest[..at + sign]);
            rest = &rest[at + sign..];
            continue;
        }
        found = true;
        out.push_str(&before[..start]);
        if floor {
            out.extend(["floor(", left, "/", right, ")"]);
        } else {
            out.extend([left, " mod ", right]);
        }
        rest = &after[length..];
    }
    out.push_str(rest);
    found.then_some(out)
}

/// `math.sqrt(9)` without its module; `Fraction(1, 2)`, `pow(2, 3)` and `math.log(8, 2)` as mathematics.
fn with_calls(text: &str, deep: usize) -> Option<String> {
    let deep = deep.checked_sub(1)?;
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(dot_or_bracket) = text[at..].find(['.', '(']).map(|found| at + found) {
        at = dot_or_bracket + 1;
        let near = dot_or_bracket.saturating_sub(LONGEST_NAME).max(copied);
        let part = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.');
        let name = text.as_bytes()[near..dot_or_bracket].iter().rev();
        let from = dot_or_bracket - name.take_while(|it| part(it)).count();
        let name = &text[from..dot_or_bracket];
        if text[dot_or_bracket..].starts_with('.') {
            let is_pi = text[at..].starts_with("pi")
                && !text[at + 2..].starts_with(|it: char| it.is_ascii_alphanumeric());
            if is_pi && words::MODULE.contains_exactly(name) {
                out.push_str(&text[copied..from]);
                copied = at;
            }
            continue;
        }
        let (module, name) = name.rsplit_once('.').unwrap_or(("", name));
        let known = words::MODULE.contains_exactly(module);
        if !(known || module.is_empty() && matches!(name, "Fraction" | "pow")) {
            continue;
        }
        let Some((inner, end)) = arguments(text, dot_or_bracket) else {
            continue;
        };
        let inner: Vec<String> = inner
            .into_iter()
            .map(|it| with_calls(it, deep).unwrap_or_else(|| it.trim().to_owned()))
            .collect();
        let written = match (name, inner.as_slice()) {
            ("Fraction", [one]) => format!("({one})"),
            ("Fraction", [above, below]) => format!("({above})/({below})"),
            ("pow" | "power", [base, power]) => format!("({base})^({power})"),
            ("log", [value]) => format!("ln({value})"),
            ("log", [value, base]) => format!("ln({value})/ln({base})"),
            ("isqrt", [value]) => format!("floor(sqrt({value}))"),
            ("perm", [of, chosen]) => format!("P({of}, {chosen})"),
            (name, all) if words::FUNCTION.contains(name) => format!("{name}({})", all.join(", ")),
            _ => continue,
        };
        out.push_str(&text[copied..from]);
        out.push_str(&written);
        copied = end;
        at = end;
    }
    out.push_str(&text[copied..]);
    (copied > 0).then_some(out)
}

/// What stands between the bracket that opens at `open` and its counterpart on the same line, at its commas.
fn arguments(text: &str, open: usize) -> Option<(Vec<&str>, usize)> {
    let mut parts = Vec::new();
    let mut depth = 0_usize;
    let mut from = open + 1;
    for (at, it) in text[open..].char_indices().take(LONGEST_CALL) {
        let at = open + at;
        match it {
            '(' | '[' if depth > MOST_DEEP => return None,
            '(' | '[' => depth += 1,
            ',' if depth == 1 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            ')' | ']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    parts.push(&text[from..at]);
                    return Some((parts, at + 1));
                }
            }
            '\n' => return None,
            _ => {}
        }
    }
    None
}
