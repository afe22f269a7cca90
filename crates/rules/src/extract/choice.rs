//! Letters of multiple choice, in their usual markup.

use super::markup::trim_markup;
use super::words;

/// A choice read at the beginning of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    /// The letters, upper case, joined by `, `.
    pub letters: String,
    /// Behind the last letter and its bracket.
    pub end: usize,
    /// Was it marked as a choice, or only a letter?
    pub marked: bool,
}

/// The letter of a choice, in brackets or not: its upper case, the length, whether it was marked.
fn letter(text: &str) -> Option<(char, usize, bool)> {
    let bytes = text.as_bytes();
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("**(", ")**"),
        ("**", "**"),
        ("{", "}"),
        ("\\text{(", ")}"),
        ("\\text{", "}"),
        ("\\textbf{(", ")}"),
        ("\\textbf{(", ") }"),
        ("\\textbf{", "}"),
        ("\\mathrm{(", ")}"),
        ("\\mathrm{", "}"),
        ("\\mathbf{(", ")}"),
        ("\\mathbf{", "}"),
        ("\\textbf{ (", ")}"),
        ("\\textbf{(", ")} "),
        ("$", "$"),
        ("\"", "\""),
        ("'", "'"),
        ("`", "`"),
    ] {
        if let Some(rest) = text.strip_prefix(open) {
            let mut inner = rest.chars();
            if let Some(letter) = inner.next()
                && letter.is_ascii_alphabetic()
                && inner.as_str().starts_with(close)
            {
                let bracket = open.ends_with('(') || open == "[";
                let upper = letter.to_ascii_uppercase();
                let known = if letter.is_ascii_uppercase() {
                    upper <= 'J'
                } else {
                    bracket && open != "[" && upper <= 'E'
                };
                if known {
                    return Some((upper, open.len() + 1 + close.len(), true));
                }
            }
        }
    }
    let first = *bytes.first()?;
    if !first.is_ascii_alphabetic() {
        return None;
    }
    let upper = first.to_ascii_uppercase() as char;
    let after = &text[1..];
    let next = after.chars().next();
    match next {
        Some(')') if upper <= 'J' => Some((upper, 2, true)),
        Some(':' | '.') if first.is_ascii_uppercase() && upper <= 'J' => {
            let spaced = after[1..].is_empty() || after[1..].starts_with([' ', '\n', '*']);
            spaced.then_some((upper, 2, true))
        }
        None if first.is_ascii_uppercase() && upper <= 'J' => Some((upper, 1, false)),
        Some(next)
            if first.is_ascii_uppercase()
                && upper <= 'J'
                && (next.is_whitespace() || matches!(next, ',' | '*' | ';' | '"' | '!')) =>
        {
            Some((upper, 1, false))
        }
        _ => None,
    }
}

/// Reads one or more choices at the beginning of `text`. `named`: a word such as "option" stands before it.
pub(super) fn leading(text: &str, named: bool) -> Option<Choice> {
    let (first, mut end, mut marked) = letter(text)?;
    let rest = &text[end..];
    if !marked {
        // "A man", "I think", "E = mc^2", "C, where".
        let next = rest.trim_start();
        let word = words::first_word(next);
        let maths = next.starts_with(['=', '+', '-', '/', '^', '<', '>', '≤', '≥', '(']);
        let article = rest.starts_with(' ') && first == 'A' && word.len() > 1 && !is_joining(word);
        if maths || (article && !named) {
            return None;
        }
        if rest.starts_with(' ')
            && !word.is_empty()
            && !is_joining(word)
            && !words::SUBORDINATING.contains(word)
            && !words::among(word, &["is", "as"])
            && !named
        {
            return None;
        }
    }
    let mut letters = vec![first];
    for _ in 0..9 {
        let rest = &text[end..];
        let joined = rest.trim_start_matches([' ', ',', ';', '/', '&']);
        let separated = joined.len() < rest.len();
        let (joined, word) = match words::first_word(joined) {
            word @ ("and" | "or" | "AND" | "und" | "et") => {
                (joined[word.len()..].trim_start(), true)
            }
            _ => (joined, false),
        };
        if !separated && !word {
            break;
        }
        let Some((letter, length, also)) = letter(joined) else {
            break;
        };
        let after = &joined[length..];
        if !also
            && after.starts_with(' ')
            && words::first_word(after.trim_start()).len() > 1
            && !is_joining(words::first_word(after.trim_start()))
        {
            break;
        }
        letters.push(letter);
        marked |= also;
        end = text.len() - after.len();
    }
    let mut out = String::with_capacity(letters.len() * 3);
    for (index, letter) in letters.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        out.push(*letter);
    }
    Some(Choice {
        letters: out,
        end,
        marked,
    })
}

fn is_joining(word: &str) -> bool {
    matches!(word, "and" | "or" | "und" | "et")
}

/// The choice that a whole answer is: `(A)`, `\text{A}`, `C. Paris`, `\textbf{(B) } 42`, "option D".
pub(super) fn whole(text: &str) -> Option<Choice> {
    let mut text = trim_markup(text);
    let named = strip_name(text);
    let is_named = named.is_some();
    text = named.unwrap_or(text);
    let choice = leading(text, is_named)?;
    let rest = text[choice.end..].trim();
    let bare = rest.is_empty() || rest == "." || rest == "**";
    // With words behind it, it needs the markup: "A) Paris".
    let rest_word = words::first_word(rest);
    let told = rest.len() > 100
        || rest.contains('\n')
        || words::among(
            rest_word,
            &[
                "is", "are", "was", "would", "has", "can", "cannot", "and", "or",
            ],
        );
    let lettered = text[..choice.end].ends_with([')', '.', ':']) && !text.starts_with('(');
    let fits = bare
        || (lettered && text[choice.end..].starts_with(' '))
        || (choice.marked && !rest.starts_with(['=', '+', '-', '/', '^', '(', '<', '>', '·', '*']));
    // `(a)(b)`, `(A)x`: products. `(C) 5`: a choice.
    let product = !bare
        && !text[choice.end..].starts_with([' ', '\\', '*', '\n', '$'])
        && !text[..choice.end].ends_with(['.', ':', '}', ' ']);
    (fits && !product && (bare || !told)).then_some(choice)
}

/// The choice that a sentence settles on: "Option D is correct", "I choose (B)".
pub(super) fn stated(sentence: &str) -> Option<Choice> {
    let sentence = sentence.trim_matches([' ', '\n', '*', '_', '"', '>']);
    let settled = |rest: &str| {
        let rest = rest.trim_start_matches(['*', '_', ' ', ')']);
        words::CHOOSES.iter().any(|it| rest.starts_with(it))
    };
    let opening = words::first_word(sentence);
    let bare = if words::CONCLUDING.contains(opening) {
        sentence[opening.len()..].trim_start_matches([',', ' '])
    } else {
        sentence
    };
    let named = strip_name(bare);
    if let Some(choice) = leading(named.unwrap_or(bare), named.is_some())
        && (choice.marked || named.is_some())
        && settled(&named.unwrap_or(bare)[choice.end..])
    {
        return Some(choice);
    }
    for verb in [" choose ", " pick ", " select ", " go with "] {
        if let Some((_, rest)) = sentence.rsplit_once(verb) {
            let named = strip_name(rest);
            let choice = leading(named.unwrap_or(rest), true)?;
            let after = named.unwrap_or(rest)[choice.end..].trim_start_matches(['*', '_']);
            let over = after.is_empty() || after.starts_with(['.', ',', '!', ';', ':', '\n']);
            return (over || named.is_some()).then_some(choice);
        }
    }
    None
}

/// What follows "option", "choice", "letter", …, if that is how it begins.
pub(super) fn strip_name(text: &str) -> Option<&str> {
    let mut rest = text;
    let mut found = false;
    for _ in 0..4 {
        let word = words::first_word(rest);
        let name = words::OPTION.contains(word);
        let filler = words::among(word, &["the", "correct", "answer", "both"]);
        if !name && !filler {
            break;
        }
        let after = &rest[word.len()..];
        let next = after.trim_start_matches([' ', ':', '*']);
        if next.len() == after.len() {
            break;
        }
        found |= name;
        rest = next;
        if name {
            break;
        }
    }
    found.then_some(rest)
}
