//! Letters of multiple choice, in their usual markup.

use super::markup::trim_markup;
use super::settled::says_right;
use super::words;

/// A choice read at the beginning of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    /// The letters, upper case, joined by `, `.
    pub letters: String,
    /// After the last letter and its bracket.
    pub end: usize,
    /// Was it marked as a choice, or only a letter?
    pub marked: bool,
}

/// What a letter of a choice stands in.
#[rustfmt::skip]
const WRAPPINGS: [(&str, &str); 20] = [
    ("(", ")"), ("[", "]"), ("**(", ")**"), ("**", "**"), ("{", "}"), ("\\text{(", ")}"), ("\\text{", "}"),
    ("\\textbf{(", ")}"), ("\\textbf{(", ") }"), ("\\textbf{", "}"), ("\\mathrm{(", ")}"), ("\\mathrm{", "}"),
    ("\\mathbf{(", ")}"), ("\\mathbf{", "}"), ("\\textbf{ (", ")}"), ("\\textbf{(", ")} "), ("$", "$"), ("\"", "\""),
    ("'", "'"), ("`", "`"),
];

/// The letter of a choice, in brackets or not: its upper case, the length, whether it was marked.
fn letter(text: &str) -> Option<(char, usize, bool)> {
    let first = *text.as_bytes().first()?;
    for (open, close) in WRAPPINGS
        .into_iter()
        .filter(|it| it.0.as_bytes()[0] == first)
    {
        if let Some(rest) = text.strip_prefix(open)
            && let Some(letter @ ('A'..='J' | 'a'..='e')) = rest.chars().next()
            && rest[1..].starts_with(close)
            && (letter.is_ascii_uppercase() || open.ends_with('('))
        {
            let length = open.len() + 1 + close.len();
            return Some((letter.to_ascii_uppercase(), length, true));
        }
    }
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

/// Two to six letters in a row and in their order: AC of "故选：AC".
fn in_a_row(text: &str) -> Option<Choice> {
    let end = words::leading(text, |it| ('A'..='J').contains(&it));
    let (letters, rest) = text.split_at(end);
    let ordered = letters.as_bytes().windows(2).all(|it| it[0] < it[1]);
    let bare = rest.trim_start_matches(['.', ',', ';', '!', ')', '*', '$', '}', '】']);
    let over = bare.is_empty() || bare.starts_with('\n') || bare.len() < rest.len();
    ((2..=6).contains(&end) && ordered && over).then(|| Choice {
        letters: letters.to_owned(),
        end,
        marked: true,
    })
}

/// Reads one or more choices at the beginning of `text`. `named`: a word such as "option" stands before it.
pub(super) fn leading(text: &str, named: bool) -> Option<Choice> {
    if named && let Some(several) = in_a_row(text) {
        return Some(several);
    }
    let (first, mut end, mut marked) = letter(text)?;
    let rest = &text[end..];
    marked |= dashed(rest);
    if !marked {
        // "A man", "I think", "E = mc^2", "C, where".
        let next = rest.trim_start();
        let word = words::first_word(next);
        let maths = next.starts_with(['=', '+', '-', '/', '^', '<', '>', '≤', '≥'])
            || next.starts_with('(') && !named && !in_brackets(next);
        let article = rest.starts_with(' ')
            && first == 'A'
            && word.len() > 1
            && !is_joining(word)
            && !words::CHOICE_VERB.contains(word)
            && !words::REASON.contains(word);
        if maths || (article && !named) {
            return None;
        }
        if rest.starts_with(' ')
            && !word.is_empty()
            && !is_joining(word)
            && !words::SUBORDINATING.contains(word)
            && !words::CHOICE_VERB.contains(word)
            && (first == 'I' || !words::FOLLOWS_LETTER.contains(word))
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
            word if is_joining(word) => (joined[word.len()..].trim_start(), true),
            _ => (joined, false),
        };
        // "C) I and II only": a blank alone joins no second letter to a marked one.
        let blank = !word && rest[..rest.len() - joined.len()].trim().is_empty();
        if !separated && !word {
            break;
        }
        let Some((letter, length, also)) = letter(joined) else {
            break;
        };
        if blank && marked && !also {
            break;
        }
        let after = &joined[length..];
        if !also
            && after.starts_with(' ')
            && words::first_word(after.trim_start()).len() > 1
            && !is_joining(words::first_word(after.trim_start()))
            && !words::CHOICE_VERB.contains(words::first_word(after.trim_start()))
        {
            break;
        }
        letters.push(letter);
        marked |= also;
        end = text.len() - after.len();
    }
    let letters: Vec<String> = letters.iter().map(char::to_string).collect();
    Some(Choice {
        letters: letters.join(", "),
        end,
        marked,
    })
}

/// Do words stand in the brackets that a text begins with, "(see above)"?
pub(super) fn in_brackets(text: &str) -> bool {
    text.strip_prefix('(')
        .is_some_and(|it| words::first_word(it).len() > 1)
}

fn is_joining(word: &str) -> bool {
    words::JOINS_CHOICES.contains(word)
}

/// The choice that a whole answer is, and what follows its letter: `(A)`, `\text{A}`, `C. Paris`, `\textbf{(B) } 42`, "option D".
pub(super) fn whole(text: &str) -> Option<(Choice, &str)> {
    let mut text = trim_markup(text);
    let named = strip_name(text);
    let is_named = named.is_some();
    text = named.unwrap_or(text);
    let choice = leading(text, is_named)?;
    let after = &text[choice.end..];
    // "I. true, II. false" are statements.
    if choice.letters == "I" && after.contains("II") {
        return None;
    }
    let rest = after.trim();
    let alone = rest.trim_end_matches(['.', '*']);
    let bare = alone.is_empty() || words::FITS_ALONE.contains(alone);
    // With words after it, it needs the markup: "A) Paris".
    let first = words::first_word(rest);
    let told = rest.len() > MAX_TEXT
        || rest.contains('\n')
        || words::CHOICE_VERB.contains(first)
        || words::TELLS_OF_OPTION.contains(first);
    let lettered = text[..choice.end].ends_with([')', '.', ':']) && !text.starts_with('(');
    // "(CO2)"; words in brackets may say anything of the letter, as "(wrong)" and "(and C)" do.
    let inner = rest.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    let formula = inner.is_some_and(|it| {
        let word = |it: &str| it.len() > 1 && it.bytes().all(|it| it.is_ascii_alphabetic());
        let digit = it.contains(words::is_digit);
        digit && !it.contains(['(', ')']) && !words::words_of(it).any(word)
    });
    let fits = bare
        || (lettered && after.starts_with(' '))
        || dashed(after)
        || is_named && formula
        || (choice.marked && !rest.starts_with(|it: char| "=+-/^(<>·*∩∪∧∨×".contains(it)));
    // `(A)(b)`, `(A)x`, `\text{H}_2`, `\text{A} \cup B`: formulas. `(C) 5`: a choice.
    let command = rest.strip_prefix('\\').map_or("", words::first_word);
    let letter = &text[..choice.end];
    let wrapped = letter.ends_with('}') && !letter.contains('(');
    let open = wrapped || !letter.ends_with(['.', ':', '}', ' ']) && !after.starts_with('\\');
    let mut gaps = ["\\ ", "\\\\", "\\quad", "\\qquad", "\\hspace", "\\text{ "].iter();
    let mut thin = ["\\,", "\\;", "\\:"].iter();
    let thin = thin.find_map(|it| after.strip_prefix(*it));
    let glued = !after.starts_with([' ', '*', '\n', '$', '–', '—', ':', '~'])
        && !gaps.any(|it| after.starts_with(*it))
        // "\text{A}\,\text{B}" is no letter with its text, "\text{A}\,42" is.
        && !thin.is_some_and(|it| it.starts_with("\\frac") || it.starts_with(words::is_digit));
    let product = !bare && (glued && open || words::JOINS_LETTERS.contains_exactly(command));
    (fits && !product && (bare || !told)).then_some((choice, thin.unwrap_or(after)))
}

/// How long the text of an option may be, in bytes.
const MAX_TEXT: usize = 200;

/// Does a dash set off the text of an option: "C - both", "B – 12 cm"? A minus sign has a number or a lone letter after it.
fn dashed(rest: &str) -> bool {
    let Some(sign) = rest.strip_prefix(' ') else {
        return false;
    };
    sign.starts_with("– ")
        || sign.starts_with("— ")
        || sign.strip_prefix("- ").is_some_and(|after| {
            let inner = ["\\text{", "\\textbf{", "\\mathrm{"]
                .iter()
                .find_map(|open| after.strip_prefix(open));
            words::first_word(inner.unwrap_or(after)).len() > 1
        })
}

/// The letter in brackets that a statement ends with: "12 m/s (option B)".
pub(super) fn at_end(statement: &str) -> Option<Choice> {
    let inner = trim_markup(statement).strip_suffix(')')?;
    let at = inner.rfind('(')?;
    let inner = inner[at + 1..].trim();
    let named = strip_name(inner);
    let choice = leading(named.unwrap_or(inner), named.is_some())?;
    (choice.end == named.unwrap_or(inner).len()).then_some(choice)
}

/// The text of an option, where `before` and `after` are what stands around its letter: "Budding" of "**(D) Budding** because …".
pub(super) fn text<'t>(before: &str, after: &'t str) -> Option<&'t str> {
    let near = &after[..after.floor_char_boundary(4 * MAX_TEXT)];
    let line = near.find('\n').map_or(near, |end| &near[..end]);
    let bare = line.trim_start_matches(['.', ')', ':', ']', '"', '$', '\\', ']']);
    let closed = bare.trim_start_matches(['*', '_']);
    let opened = before.trim_end_matches(['(', ' ', '[', '"']).ends_with('*');
    let set_off = closed.trim_start();
    let separated = set_off.starts_with([':', '–', '—', '-', '(']);
    // "**The answer is B.** It grows.": another sentence.
    if closed.len() < bare.len() && !opened && !separated {
        return None;
    }
    let mut text = set_off.trim_start_matches([':', ' ', '*', '~', '}']);
    // A dash that sets off the text, and no sign of a number.
    if let Some(rest) = ["- ", "– ", "— "]
        .iter()
        .find_map(|it| text.strip_prefix(it))
    {
        text = rest.trim_start();
    }
    // The bracket or the emphasis that holds it ends it.
    if let Some(inner) = set_off.strip_prefix('(')
        && let Some(end) = inner.rfind(')')
    {
        text = &inner[..end];
    } else if opened
        && closed.len() == bare.len()
        && let Some(end) = text.find("**")
    {
        text = &text[..end];
    } else if let Some(end) = REASONS.iter().filter_map(|it| text.find(it)).min() {
        text = &text[..end];
    }
    // "(D) Budding is correct."
    if let Some((at, _)) = text
        .match_indices(' ')
        .take(MAX_TEXT)
        .find(|(at, _)| says_right(&text[at + 1..]))
    {
        text = &text[..at];
    }
    let text = trim_markup(text);
    let first = words::first_word(text);
    let told = text.is_empty()
        || text.len() > MAX_TEXT
        || words::CHOICE_VERB.contains(first)
        || words::REASON.contains(first)
        || is_joining(first)
        || set_off.starts_with([',', ';']);
    (!told).then_some(text)
}

/// Where the reasons begin that follow an option.
#[rustfmt::skip]
const REASONS: [&str; 6] = [" because ", ", because ", " since ", ", since ", ", as ", ", which "];

/// The text of a numbered option: "photosynthesis" of "(2) photosynthesis".
pub(super) fn numbered(statement: &str) -> Option<&str> {
    let bare = trim_markup(statement);
    let bare = strip_name(bare).unwrap_or(bare);
    let inner = bare.strip_prefix('(').unwrap_or(bare);
    let rest = inner.trim_start_matches(words::is_digit);
    let text = rest.strip_prefix(") ")?;
    let letters =
        words::first_word(text).len() > 1 && (1..=2).contains(&(inner.len() - rest.len()));
    letters
        .then_some(text)
        .filter(|it| it.len() <= MAX_TEXT && !it.contains('\n'))
}

/// The lone letter after an article: "la C", "the C".
pub(super) fn after_article(text: &str) -> Option<&str> {
    let word = words::first_word(text);
    let rest = text[word.len()..].strip_prefix(' ')?;
    let rest = rest.trim_start_matches(['*', '(', ' ']);
    let lone =
        rest.starts_with(|it: char| it.is_ascii_uppercase()) && words::first_word(rest).len() == 1;
    (lone && words::ARTICLE.contains(word)).then_some(rest)
}

/// What follows "option", "choice", "letter", …, if that is how it begins.
pub(super) fn strip_name(text: &str) -> Option<&str> {
    if let Some((_, rest)) = words::SPACELESS_FILLER.begin(text)
        && rest.starts_with(|it: char| it.is_ascii_uppercase() || it == '(')
    {
        return Some(rest);
    }
    let mut rest = text;
    let mut found = false;
    for _ in 0..4 {
        let word = words::first_word(rest);
        let name = words::OPTION.contains(word);
        let filler = words::BEFORE_OPTION.contains(word) || words::ARTICLE.contains(word);
        if !name && !filler {
            break;
        }
        let after = &rest[word.len()..];
        let next = after.trim_start_matches("\\_");
        let next = next.trim_start_matches([' ', ':', '*', '_', '-', '#']);
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
