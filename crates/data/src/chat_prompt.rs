//! Prompts as an engine was given them, a chat template's markup around the turns: what was asked in them.

use std::sync::LazyLock;

use super::messages::conversation;

/// The markup of turns in some chat template.
struct Turn {
    before: &'static str,
    answer: &'static str,
    /// Behind a turn of the user.
    after: Vec<&'static str>,
}

impl Turn {
    /// A turn up to the markup that ends it: what comes after that, a tool's turn or thinking, is no part of it.
    fn one<'t>(&self, text: &'t str, trimmed: fn(&str) -> &str) -> &'t str {
        let ends = self.after.first().filter(|end| end.starts_with('<'));
        let end = ends.and_then(|end| text.find(end)).unwrap_or(text.len());
        trimmed(&text[..end])
    }
}
static TURNS: LazyLock<Vec<Turn>> = LazyLock::new(|| {
    let lines = include_str!("chat_markup.tsv").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let turns = lines.filter_map(|line| {
        let mut parts = line.split('\t');
        Some(Turn {
            before: parts.next()?,
            answer: parts.next()?,
            after: parts.collect(),
        })
    });
    turns.collect()
});

/// The question in a prompt: of one with a chat template's markup the last turn of the user, with those before it as messages have them ([`conversation`]),
/// without the system text; else all of it. `trimmed` takes control tokens off both ends of a text.
pub fn question(prompt: &str, trimmed: fn(&str) -> &str) -> String {
    turns(prompt, trimmed).0
}

/// The question in a prompt, and whether a system text was left out.
fn turns(prompt: &str, trimmed: fn(&str) -> &str) -> (String, bool) {
    for turn in TURNS.iter() {
        // A question may quote a conversation; only a prompt ends with the word for the answer.
        let is_plain = turn.before.ends_with(':');
        let mut ends = turn.after.iter();
        if is_plain && !ends.any(|end| prompt.trim_end().ends_with(end)) {
            continue;
        }
        let found = prompt.match_indices(turn.before).filter(|(at, _)| {
            // Words begin a turn only at the beginning of a line.
            !is_plain || *at == 0 || prompt[..*at].ends_with('\n')
        });
        let places: Vec<usize> = found.map(|(at, _)| at).collect();
        let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
            continue;
        };
        let rest = &prompt[last + turn.before.len()..];
        let ends = turn.after.iter().filter_map(|end| rest.rfind(end));
        let asked = match ends.min() {
            Some(end) => rest[..end].trim(),
            // A text that begins with such a word and is no conversation.
            None if is_plain => continue,
            None => trimmed(rest),
        };
        // Markers alone have no space between them.
        let mut has_system = trimmed(&prompt[..first]).contains(char::is_whitespace);
        let mut said = |text| {
            let own = without_system(text);
            has_system |= own.len() < text.len();
            own.to_owned()
        };
        let mut turns = Vec::new();
        for between in places.windows(2) {
            let earlier = &prompt[between[0] + turn.before.len()..between[1]];
            let mut answers = earlier.match_indices(turn.answer);
            let answer = answers.find(|(at, _)| !is_plain || earlier[..*at].ends_with('\n'));
            let (text, answered) = match answer {
                Some((at, answer)) => (&earlier[..at], Some(&earlier[at + answer.len()..])),
                None => (earlier, None),
            };
            turns.push(("user", turn.one(&said(text), trimmed).to_owned()));
            turns.extend(answered.map(|text| ("assistant", turn.one(text, trimmed).to_owned())));
        }
        turns.push(("user", said(asked)));
        return (conversation(&turns), has_system);
    }
    (trimmed(prompt).to_owned(), false)
}

/// A response without the marker that ends a turn in some chat template; `None` if it ends with none, or is nothing else.
pub(super) fn without_end(response: &str) -> Option<&str> {
    let ends = TURNS.iter().flat_map(|turn| &turn.after);
    let mut ends = ends.filter(|end| end.starts_with('<'));
    let own = ends.find_map(|end| response.trim_end().strip_suffix(end));
    own.filter(|own| !own.trim().is_empty())
}

/// A turn of the user without the system text that Llama 2's template puts into it.
fn without_system(turn: &str) -> &str {
    let system = turn.trim_start().strip_prefix("<<SYS>>");
    let split = system.and_then(|turn| turn.split_once("<</SYS>>"));
    split.map_or(turn, |(_, turn)| turn.trim_start())
}

/// The names of roles as they stay where a prompt's tokens were left out: before a turn of the user, and before one of the assistant.
const NAMES: [[&str; 2]; 4] = [
    ["\nuser\n", "\nassistant\n"],
    ["\nuser\n", "\nmodel\n"],
    ["user\n\n", "assistant\n\n"],
    ["user", "assistant"],
];

/// The question in a prompt that an engine was given, and whether a system text was left out: as [`question`], or between the names of the roles ([`NAMES`]).
pub(super) fn asked(prompt: &str) -> (String, bool) {
    let bare = NAMES.iter().find_map(|names| named(prompt, *names));
    bare.unwrap_or_else(|| turns(prompt, without_usual_tokens))
}

/// The turns of a prompt between the names of the roles; `None` if these do not alternate up to the end, where the assistant begins.
fn named(prompt: &str, [user, assistant]: [&str; 2]) -> Option<(String, bool)> {
    let text = format!("\n{}\n\n", opened(prompt));
    let mut parts = text.split(user);
    let head = parts.next()?.trim();
    // Names without an end of line may be words.
    let is_named = head.starts_with("system") || head.is_empty() && user.ends_with('\n');
    let mut turns = Vec::new();
    for part in parts {
        let (said, answered) = part.split_once(assistant).filter(|_| is_named)?;
        turns.push(("user", said.trim().to_owned()));
        turns.push(("assistant", answered.trim().to_owned()));
    }
    let (_, open) = turns.pop()?;
    let is_one = |(_, text): &(&str, String)| !text.is_empty() && !text.contains(assistant);
    let alternate = open.is_empty() && turns.iter().all(is_one);
    alternate.then(|| (conversation(&turns), !head.is_empty()))
}

/// A prompt without the thinking that a template opens, or closes at once, at its end.
fn opened(prompt: &str) -> &str {
    let text = prompt.trim_end();
    let closed = text.strip_suffix("</think>").unwrap_or(text).trim_end();
    closed.strip_suffix("<think>").map_or(text, str::trim_end)
}

/// Whether a text is such a prompt by its own markup: it begins with a marker, and ends where a chat template lets the assistant begin.
pub(super) fn is_prompt(text: &str) -> bool {
    let opened = opened(text);
    let mut turns = TURNS.iter().filter(|turn| !turn.before.ends_with(':'));
    opened.trim_start().starts_with(['<', '['])
        && turns.any(|turn| opened.ends_with(turn.answer) && opened.contains(turn.before))
}

/// The longest token that is looked for at the ends of a prompt, in bytes.
const MOST_TOKEN: usize = 64;

/// A text without white space and the tokens of the commonest templates (`<|…|>`, `<｜…｜>`, `<s>`, `<bos>`) at its ends.
fn without_usual_tokens(text: &str) -> &str {
    let is_token = |name: &str| {
        let wraps = |bar: char| name.len() > 2 && name.starts_with(bar) && name.ends_with(bar);
        matches!(name, "s" | "/s" | "bos" | "eos")
            || ((wraps('|') || wraps('｜')) && !name.contains(' '))
    };
    let mut text = text.trim();
    loop {
        // Only so far from the ends, or each token that is taken off at one would cost a search from the other.
        let head = &text[..text.floor_char_boundary(MOST_TOKEN)];
        let tail = text.ceil_char_boundary(text.len().saturating_sub(MOST_TOKEN));
        let front = head.find('>').filter(|_| text.starts_with('<'));
        let front = front.map(|end| (&text[1..end], &text[end + 1..]));
        let back = text[tail..].rfind('<').filter(|_| text.ends_with('>'));
        let back = back.map(|at| (&text[..tail + at], &text[tail + at + 1..text.len() - 1]));
        text = match (front, back) {
            (Some((name, rest)), _) if is_token(name) => rest.trim_start(),
            (_, Some((rest, name))) if is_token(name) => rest.trim_end(),
            _ => return text,
        };
    }
}

#[cfg(test)]
mod tests;
