//! What stands after words such as "the answer is".

use super::items::{self, Candidate, Form, Read, Source};
use super::markup::{trim_markup, without_markup};
use super::whole::is_product;
use super::{choice, listed, maths, ratio, sentences, spoken, stated, words};

/// How long an answer in words is at most, in bytes.
const MAX_WORDS: usize = 120;
/// How much of a clause is searched for the end of such an answer.
const FAR: usize = 4 * MAX_WORDS;

/// What is read after an announcement that ends at `from`, if it ends within `reach` bytes. `named`: is it a choice?
pub(super) fn read<'t>(source: Source<'t, '_>, from: usize, reach: usize, named: bool) -> Read<'t> {
    let start = skip_fillers(source.text, next_content(source.text, from)?);
    let start = skip_spaceless(source.text, start);
    let list = list_from(source.text, from, start);
    if let Some(listed) = list.and_then(|at| listed::leading(source, at)) {
        return (listed.range.end - start.min(listed.range.end) <= reach).then_some(listed);
    }
    let limit = start.saturating_add(reach);
    let end = sentences::end(source.text, source.regions, start, limit)?;
    if end <= start {
        return None;
    }
    // "3! = 6"
    let computed = source.text[end..].starts_with("! =");
    let on = computed.then(|| sentences::end(source.text, source.regions, end + 1, usize::MAX));
    let end = on.flatten().unwrap_or(end);
    let end = end + usize::from(is_factorial(source.text, start, end));
    let end = start + before_spaceless(&source.text[start..end]);
    if source.regions.has_box(&(start..end)) && !source.open_boxes {
        return None;
    }
    // "minus seven", "negative 7"
    let clause = &source.text[start..end];
    let bullet = source.text[..start].trim_end_matches(' ').ends_with('\n');
    let dash = || (clause.starts_with("– ") && !bullet).then_some("– ".len());
    let sign = words::sign(clause).or_else(dash);
    let reading = answer(source, start + sign.unwrap_or(0), end, named)?;
    match sign {
        Some(length) if reading.range.start == start + length => {
            let range = start..reading.range.end;
            reading.clone().negative(range).or(Some(reading))
        }
        _ => Some(reading),
    }
}

/// Where a list begins of which `start` is after the first markup: its emphasis, or its bullet.
fn list_from(text: &str, from: usize, start: usize) -> Option<usize> {
    let skipped = &text[from..start];
    let mark = skipped.trim_end_matches(['*', '`', '_']);
    let marked = mark.len() < skipped.len() && !mark.is_empty();
    let line = skipped.rfind('\n').map(|at| from + at + 1);
    marked.then_some(from + mark.len()).or(line)
}

/// How far "not A but" reaches, after which the answer stands; 0 where a clause does not begin so.
pub(super) fn before_but(clause: &str) -> usize {
    let near = &clause[..clause.floor_char_boundary(MAX_WORDS)];
    let rest = near.trim_start_matches([' ', ':', '*']);
    let end = rest.find(['.', '\n', ';']).unwrap_or(rest.len());
    let Some(at) = rest[..end].find(" but ") else {
        return 0;
    };
    let denied = rest.strip_prefix("not ").map_or("only", words::first_word);
    if words::LIMITS_DENIAL.contains(denied) {
        return 0;
    }
    near.len() - rest.len() + at + " but ".len()
}

/// After the words that say nothing, in scripts without spaces.
fn skip_spaceless(text: &str, from: usize) -> usize {
    let mut at = from;
    for _ in 0..4 {
        let Some((_, rest)) = words::SPACELESS_FILLER.begin(&text[at..]) else {
            break;
        };
        at = text.len() - rest.trim_start_matches([' ', '*']).len();
    }
    at
}

/// Up to the ending or unit that such a script glues to a value: "18" of "18美元", "C" of "Cです"; all of it where it does not begin with a value.
fn before_spaceless(clause: &str) -> usize {
    let first = clause.chars().next();
    if first.is_none_or(words::is_spaceless) {
        return clause.len();
    }
    let end = clause.find(words::is_spaceless).unwrap_or(clause.len());
    let bare = clause[..end].trim_end_matches([' ', '「', '(']);
    let length = Some(bare.len()).filter(|it| *it > 0);
    length.unwrap_or(clause.len())
}

/// Does the exclamation mark at `end` belong to something that is computed, as in "4*5!"?
fn is_factorial(text: &str, start: usize, end: usize) -> bool {
    let clause = &text[start..end];
    text[end..].starts_with('!')
        && clause.ends_with(|it: char| it.is_ascii_alphanumeric() || it == ')')
        && clause.contains(['*', '/', '^', '·', '×', '\\'])
        && !clause.contains('=')
        && (clause.contains('\\') || !clause.contains(' '))
}

/// Reads the answer that a clause begins with or is about.
fn answer<'t>(source: Source<'t, '_>, start: usize, end: usize, named: bool) -> Read<'t> {
    let rest = &source.text[start..end];
    let (bare, is_named) = match choice::strip_name(rest) {
        Some(after) => (after, true),
        None => (choice::after_article(rest).unwrap_or(rest), named),
    };
    let at = end - bare.len();
    // The full stop of "A." may be the end of the clause.
    let reach = (end + 1).min(source.text.len());
    let whole = source.text.is_char_boundary(reach);
    let reach = if whole { reach } else { end };
    if source
        .regions
        .formula_from(at)
        .is_none_or(|(_, formula)| formula.content.len() <= 24)
        && let Some(found) = choice::leading(&source.text[at..reach], is_named)
        && let rest = &source.text[at + found.end..reach]
        && (found.marked
            || is_named
            || ends_soon(rest)
            || words::FOLLOWS_LETTER.contains(words::first_word(rest.trim_start())))
    {
        let range = at..at + found.end;
        return Some(Candidate::new(found.letters, Form::Choice, range));
    }
    let bare = rest.trim_start_matches(['*', '_', ' ', '`', '"', '~', '≈']);
    let markup = rest.len() - bare.len();
    if let Some(length) = date(&rest[markup..]) {
        let range = start + markup..start + markup + length;
        let text = &source.text[range.clone()];
        return Some(Candidate::new(text, Form::Plain, range));
    }
    if let Some(written) = spoken::written(trim_markup(rest)) {
        return Some(Candidate::new(written, Form::Plain, start..end));
    }
    if let Some((text, length)) = ratio::leading(&rest[markup..]) {
        let range = start..start + markup + length;
        return Some(Candidate::new(text, Form::Plain, range));
    }
    let bare = trim_markup(rest);
    // `6!` within its sentence: an exclamation mark that ends one is not in its clause.
    let digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    if is_product(bare) || rest.strip_suffix('!').is_some_and(digits) {
        let text = without_markup(bare);
        return Some(Candidate::new(text, Form::Plain, start..end));
    }
    let all = items::items(source, start..end);
    if let Some(first) = all.first()
        && first.value.start <= start + markup
    {
        let mut range = 0..stated::joined_forward(source, &all, 0);
        // "$48 + 24$ = 72": the value is after the sign. A formula may end after the clause that it begins in.
        let after = source.text.get(all[range.end - 1].end..end);
        if range.end < all.len() && after.is_some_and(|it| it.trim_start().starts_with('=')) {
            range = range.end..stated::joined_forward(source, &all, range.end);
        }
        return stated::render(source, &all[range]);
    }
    // A single letter: a variable, or a choice without markup.
    if let Some(run) = maths::run(&source.text[..end], start)
        && ends_soon(&source.text[run.end..end])
    {
        let text = without_markup(trim_markup(&source.text[start..run.end]));
        return Some(Candidate::new(text, Form::Plain, start..run.end));
    }
    let article = words::ENGLISH_ARTICLE.contains(words::first_word(rest));
    if is_short_text(rest) && (!article || all.is_empty()) {
        return words_only(source, start, end);
    }
    if !all.is_empty() {
        return stated::sentence(source, start..end);
    }
    words_only(source, start, end)
}

/// The length of the date that a text begins with; it ends with its year or its day, or with its era.
fn date(text: &str) -> Option<usize> {
    const LONGEST: usize = 32;
    let near = &text[..text.floor_char_boundary(LONGEST)];
    if !near.contains(words::is_digit) {
        return None;
    }
    let ends = near
        .char_indices()
        .filter(|(_, it)| {
            it.is_ascii_digit() || it.is_ascii_alphabetic() && near.starts_with(char::is_numeric)
        })
        .map(|(at, _)| at + 1)
        .filter(|at| !near[*at..].starts_with(|it: char| it.is_ascii_alphanumeric()));
    let mut dates = ends.filter(|end| crate::parse::date(&near[..*end]).is_some());
    dates.next_back()
}

/// Does the clause begin with a name or a few words that are set off, as in "Evelyn, who ran 5 miles"?
fn is_short_text(clause: &str) -> bool {
    let bare = clause.trim_start_matches(['*', '_', '"', '“', ' ']);
    let near = &bare[..bare.floor_char_boundary(FAR)];
    let length = match near.find([',', '(', '*', '"', '”']) {
        None if near.len() < bare.len() => return false,
        length => length.unwrap_or(near.len()),
    };
    let head = bare[..length].trim();
    let count = head.split_whitespace().count();
    let digits = head.contains(words::is_digit) || head.contains(['$', '\\']);
    let number = head.split_whitespace().any(words::is_number_word);
    count > 0
        && count <= 3
        && !digits
        && !number
        && !words::SUBORDINATING.contains(words::first_word(head))
}

/// Before what an answer in words ends.
#[rustfmt::skip]
const STOPS: [&str; 9] = [" because ", " since ", " as ", " which ", " where ", " so ", " - ", " – ", " — "];

pub(super) fn words_only<'t>(source: Source<'t, '_>, start: usize, end: usize) -> Read<'t> {
    let clause = &source.text[start..end];
    let clause = &clause[..clause.floor_char_boundary(FAR)];
    if let Some(list) = word_list(clause) {
        return Some(Candidate::new(list, Form::Words, start..end));
    }
    let mut length = clause.find([',', ';', '\n', '(']).unwrap_or(clause.len());
    for stop in STOPS {
        if let Some(at) = clause[..length].find(stop)
            && at > 0
        {
            length = at;
        }
    }
    let text = trim_markup(&clause[..length]);
    let mut opens = ["that ", "the "].into_iter();
    let text = opens.find_map(|it| text.strip_prefix(it)).unwrap_or(text);
    let first = words::first_word(text);
    // "not a function" is an answer; "not 7" rules one out.
    let denies =
        first.eq_ignore_ascii_case("not") && text.len() > 8 && !text.contains(words::is_digit);
    // "Answer: correct" answers; "the answer is correct" comments.
    let labelled = words::VERDICT.contains(text) && is_labelled(&source.text[..start]);
    let comments =
        words::NO_ANSWER.contains(text) || words::BEGINS_NO_ANSWER.contains(first) && !denies;
    let states_nothing =
        text.len() > MAX_WORDS || !text.contains(char::is_alphanumeric) || comments && !labelled;
    if states_nothing {
        return None;
    }
    let (text, range) = (without_markup(text), start..start + length);
    Some(Candidate::new(text, Form::Words, range))
}

/// Three or more short texts with commas and a joining word between them, "red, green and blue", with commas alone.
fn word_list(clause: &str) -> Option<String> {
    let bare = trim_markup(clause).trim_end_matches('.');
    let mut items: Vec<&str> = bare.split(", ").collect();
    let last = items.pop()?;
    let join = words::words_of(last).find(|it| words::JOINS_ITEMS.contains(it))?;
    let (one, other) = last.split_at(words::offset(last, join));
    let pair = [one.trim(), other[join.len()..].trim()];
    items.extend(pair.into_iter().filter(|it| !it.is_empty()));
    let text = |it: &&str| {
        (1..=2).contains(&it.split(' ').count())
            && it.chars().all(|it| it.is_alphabetic() || it == ' ')
            && !words::words_of(it).any(|it| {
                words::SUBORDINATING.contains(it)
                    || words::DENIES.contains(it)
                    || words::JOINS_ITEMS.contains(it)
            })
    };
    (items.len() > 2 && items.iter().all(text)).then(|| items.join(", "))
}

/// Does a colon, or a heading's end, stand before the answer?
fn is_labelled(before: &str) -> bool {
    let label = before.trim_end_matches([' ', '*', '_']);
    label.ends_with('\n') || label.ends_with(':')
}

/// Is what follows no more than punctuation, or a new clause?
fn ends_soon(rest: &str) -> bool {
    let bare = rest.trim_start_matches(['*', '_', '"', ')', '`', '$']);
    let next = bare.trim_start();
    next.is_empty()
        || next.starts_with(['.', ',', ';', '!', '\n', ':', '}'])
        || choice::in_brackets(next)
        || words::SUBORDINATING.contains(words::first_word(next))
        || bare.starts_with('\n')
}

/// Where something other than blanks, colons and emphasis stands, on this line or the ones below.
fn next_content(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let markup = first.is_whitespace()
            || matches!(
                first,
                ':' | '*' | '_' | '`' | '"' | '>' | '#' | '~' | '“' | '✅' | '→' | '➡'
            )
            || (first == '-' && rest[1..].starts_with([' ', '-']) && !is_minus(&text[..at], rest))
            || (first == '|' && (rest[1..].starts_with(' ') || rest[1..].starts_with("--")));
        if !markup {
            return Some(at);
        }
        at += first.len_utf8();
    }
}

/// Is the dash that `rest` begins with the sign of a number, and no bullet of a list?
fn is_minus(before: &str, rest: &str) -> bool {
    rest[1..]
        .trim_start_matches(' ')
        .starts_with(words::is_digit)
        && !before.trim_end_matches(' ').ends_with('\n')
}

/// After the words that say nothing.
fn skip_fillers(text: &str, from: usize) -> usize {
    let mut at = from;
    for _ in 0..12 {
        let rest = &text[at..];
        let word = words::first_word(rest);
        if words::FILLER.contains(word) && rest[word.len()..].starts_with([' ', ':', ',', '\n']) {
            let after = &rest[word.len()..];
            let next = after.trim_start_matches([' ', ':', ',', '\n', '\t', '*']);
            if next.is_empty() {
                return at;
            }
            at += rest.len() - next.len();
        } else if word.is_empty() && rest.starts_with(['=', ':', '→']) {
            let first = rest.chars().next().map_or(1, char::len_utf8);
            at = text.len() - rest[first..].trim_start_matches([' ', '\t']).len();
        } else {
            return at;
        }
    }
    at
}
