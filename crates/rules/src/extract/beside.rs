//! What stands beside a value and makes it another: the rows of `lexicon/beside.tsv`, matched against words that are looked up once.
//!
//! A word or sign is looked up once and becomes a set of classes; a class is an item that some row has. The rows are then compared
//! with sets alone, each at most once for each word of a bounded window.

mod table;

use table::{Item, Place, Row, Set, TABLE};

use super::words;
use crate::config::Config;

/// How many words and signs on either side of a value are looked at.
const MOST: usize = 48;
/// How many words a gap `…` of a row passes over.
const GAP: usize = 3;
/// How many words and signs a gap `……` of a row passes over.
const FAR_GAP: usize = 12;
/// How many words on either side belong to a number in a sentence that narrates.
const NEAR: usize = 3;
/// How many before a box and after it: its rows reach no further.
const BEFORE_BOX: usize = 8;
const AFTER_BOX: usize = 12;
/// How many bytes before a value are looked at.
const FAR: usize = 400;

/// How an answer was found, which decides the rows that are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// In a box.
    Boxed,
    /// A value after words that announce it, or that is all of a text.
    Announced,
    /// A value in a sentence that narrates.
    Stated,
    /// A year or a time of day in such a sentence.
    Timed,
    /// An answer in words.
    Worded,
    /// The letter of a choice.
    Chosen,
    /// The letter of a choice, with its text after it.
    Option,
}

impl How {
    /// Of a choice: does its text follow, as after "B:"?
    pub(super) fn of_letter(letter: &str) -> Self {
        match letter.as_bytes().last() {
            Some(b':' | b'.' | b')') => Self::Option,
            _ => Self::Chosen,
        }
    }

    /// Their letters in the table.
    const LETTERS: [char; 7] = ['b', 'n', 's', 't', 'w', 'c', 'o'];

    /// Those that a row is asked for, one bit each.
    fn mask(letters: &str) -> u8 {
        let own = Self::LETTERS.iter().enumerate();
        own.map(|(at, it)| u8::from(letters.contains(*it)) << at)
            .sum()
    }
}

/// A word or sign.
#[derive(Debug, Clone, Copy)]
struct Token {
    /// Where it begins.
    start: usize,
    classes: Set,
    word: bool,
}

/// What a dash before words is looked up as: it sets them off, and takes nothing away.
const SETS_OFF: &str = "—";

/// The words and signs of a text; markup, quotes and blanks are none. `follows`: do they stand after the value?
fn tokens(text: &str, how: How, follows: bool) -> impl Iterator<Item = Token> {
    let (mut at, mut count) = (0, 0);
    std::iter::from_fn(move || {
        at += text[at..].find(|it| !is_markup(it))?;
        let rest = &text[at..];
        let run = words::run(rest, true);
        let word = run > 0;
        let length = rest.ceil_char_boundary(run.max(1));
        // "=> 5", "-> 5"
        let begins = || at == 0 || text[..at].ends_with(['\n', '=', '-']);
        let dash = !word && (sets_off(rest) || rest.starts_with("> ") && begins());
        let said = if dash { SETS_OFF } else { &rest[..length] };
        let token = Token {
            start: at,
            classes: TABLE.classes(said, how, follows, count),
            word,
        };
        count += 1;
        at += length;
        Some(token)
    })
}

/// Does a text begin with a dash that stands before words? The mark of a quotation at the beginning of a line is no sign either.
fn sets_off(text: &str) -> bool {
    let rest = text
        .strip_prefix(['-', '–'])
        .and_then(|it| it.strip_prefix(' '));
    rest.is_some_and(|it| words::first_word(it.trim_start()).len() > 1)
}

/// What ends a value that is said again.
const ENDS_VALUE: [char; 5] = [',', ';', '\n', '!', '('];

/// Does a sign, or a blank, say nothing beside a value?
fn is_markup(it: char) -> bool {
    matches!(
        it,
        '*' | '_' | '$' | '\\' | '`' | '~' | '"' | '{' | '}' | '“' | '”'
    ) || it.is_whitespace()
}

/// Do the items match from `at` on? Where the match ends.
fn matches(items: &[Item], tokens: &[Token], at: usize) -> Option<usize> {
    let Some((item, rest)) = items.split_first() else {
        return Some(at);
    };
    match item {
        Item::Is(class) => {
            let here = tokens.get(at).is_some_and(|it| it.classes.has(*class));
            here.then(|| matches(rest, tokens, at + 1)).flatten()
        }
        Item::IsNot(class) => {
            let here = tokens.get(at).is_some_and(|it| it.classes.has(*class));
            (!here)
                .then(|| matches(rest, tokens, (at + 1).min(tokens.len())))
                .flatten()
        }
        Item::Gap(most, words) => {
            let near = tokens.iter().skip(at).take(*most);
            let passed = near.take_while(|it| it.word || !words);
            (at..=at + passed.count()).find_map(|from| matches(rest, tokens, from))
        }
    }
}

/// All classes of some words and signs.
fn union<'t>(tokens: impl Iterator<Item = &'t Token>) -> Set {
    let mut all = Set::default();
    tokens.for_each(|it| all.join(it.classes));
    all
}

/// The words and signs before a value; before a box no more than show that no row ends there.
fn before_value(before: &str, how: How) -> Vec<Token> {
    let read = |text| -> Vec<Token> { tokens(text, how, false).take(FAR).collect() };
    if how != How::Boxed {
        return read(words::ending(before, FAR));
    }
    let blanks = before.bytes().enumerate().rev().filter(|it| it.1 == b' ');
    let near = |most| read(&before[blanks.clone().nth(most).map_or(0, |it| it.0)..]);
    let last = near(1);
    let bare = last.iter().rfind(|it| !it.classes.has(TABLE.passed));
    let ending = union(bare.into_iter().chain(last.last()));
    let ends = bare.is_none() || rows_of(Place::Ends, how).0.meets(&ending);
    let over = !ends && last.iter().any(|it| it.word);
    if over { last } else { near(BEFORE_BOX) }
}

/// Does what stands before or after a value that was found so change it?
pub(super) fn changes(before: &str, after: &str, how: How) -> bool {
    if !(has_word(before) || has_word(after)) {
        return false;
    }
    let mut before = before_value(before, how);
    let aside = after.trim_start_matches(is_markup).strip_prefix('(');
    let aside = aside.and_then(|it| it.split_once(')'));
    let (aside, after) = aside.unwrap_or(("", after));
    let most = if how == How::Boxed { AFTER_BOX } else { MOST };
    let bracket: Vec<Token> = tokens(aside, how, true).take(most).collect();
    // Of a value that begins its sentence more words are near.
    let near_words = |before: &[Token]| {
        let led = before.iter().any(|it| it.word);
        if led { NEAR } else { 3 * NEAR }
    };
    // After a box what is further counts only for rows that begin at it, or with what ends its clause.
    let (mut words, mut far, near) = (0, how != How::Boxed, near_words(&before));
    let after = tokens(after, how, true).take(most).enumerate();
    let after = after.map_while(|(at, token)| {
        far |= at == 0 && rows_of(Place::Begins, how).0.meets(&token.classes)
            || token.classes.has(TABLE.stop);
        let read = far || words < near;
        words += usize::from(token.word);
        read.then_some(token)
    });
    let after: Vec<Token> = after.collect();
    // A row that has another class matches nowhere.
    let all = union(before.iter().chain(&after).chain(&bracket));
    // Those that may match where one item stands at an edge of such classes, the others among such.
    let rows_for = |place, edge: Set, among: Set| {
        let (any, rows) = rows_of(place, how);
        let count = if any.meets(&edge) { rows.len() } else { 0 };
        let may = move |it: &Item| !matches!(it, Item::Is(class) if !among.has(*class));
        let rows = rows[..count].iter().filter(move |it| edge.has(it.0));
        let rows = rows.map(|(_, row)| row);
        rows.filter(move |row| row.iter().all(may))
    };
    let rows = |place| rows_for(place, all, all);
    let ends = rows(Place::Ending).filter_map(|row| begins(row, &after));
    let own = &after[..ends.min().unwrap_or(after.len())];
    if rows(Place::Clearing).any(|row| ends_with(row, &before)) {
        before.clear();
    }
    let within = |place, tokens: &[Token]| {
        rows_of(place, how).0.meets(&all) && {
            let among = union(tokens.iter());
            rows_for(place, among, among).any(|row| begins(row, tokens).is_some())
        }
    };
    let at_once = |place, tokens: &[Token]| {
        rows_for(place, union(tokens.iter().take(1)), all)
            .any(|row| matches(row, tokens, 0).is_some())
    };
    let is = |class: usize| move |it: &Token| it.classes.has(class);
    // "up to Rs. 5", "up to a million"
    let last = before.iter().rposition(|it| !it.classes.has(TABLE.passed));
    let bare = &before[..last.map_or(0, |at| at + 1)];
    let words = before.iter().enumerate().rev().filter(|it| it.1.word);
    let from = words.map(|it| it.0).take(NEAR).last();
    let near = &before[from.unwrap_or(before.len())..];
    let verb = near.iter().rposition(is(TABLE.verb)).map_or(0, |at| at + 1);
    let stop = own.iter().position(is(TABLE.stop));
    let clause = &own[..stop.unwrap_or(own.len())];
    let words = clause.iter().enumerate().filter(|(_, it)| it.word);
    let words = words.take(near_words(&before));
    let near_after = words.map(|(at, _)| at + 1).last();
    let passed = bare.len() < before.len();
    let last = union(before.last().into_iter().chain(bare.last()));
    let mut ends = rows_for(Place::Ends, last, all);
    ends.any(|row| ends_with(row, &before) || passed && ends_with(row, bare))
        || within(Place::NearBefore, near)
        || within(Place::AfterVerb, &near[verb..])
        || within(Place::Before, &before)
        || at_once(Place::Begins, own)
        || within(Place::NearAfter, &clause[..near_after.unwrap_or(0)])
        || within(Place::Clause, clause)
        || within(Place::After, &after)
        || at_once(Place::Bracket, &bracket)
        || within(Place::InBracket, &bracket)
}

/// The rows of a place for an answer that was found so.
fn rows_of(place: Place, how: How) -> &'static (Set, Vec<(usize, Row)>) {
    &TABLE.rows[place as usize * How::LETTERS.len() + how as usize]
}

/// Where a row begins in `tokens`.
fn begins(row: &Row, tokens: &[Token]) -> Option<usize> {
    (0..tokens.len()).find(|at| matches(row, tokens, *at).is_some())
}

/// Does a row's pattern end where `tokens` end?
fn ends_with(row: &Row, tokens: &[Token]) -> bool {
    let reach = |it: &Item| match it {
        Item::Gap(most, _) => *most,
        _ => 1,
    };
    let longest = row.iter().map(reach).sum();
    let from = tokens.len().saturating_sub(longest);
    // Before the first word there is none.
    if let Some((Item::IsNot(_), rest)) = row.split_first()
        && matches(rest, tokens, 0) == Some(tokens.len())
    {
        return true;
    }
    (from..tokens.len()).any(|at| matches(row, tokens, at) == Some(tokens.len()))
}

/// Does what follows a value say another, where it says it again: "$12^2$, which equals 124"?
pub(super) fn says_another(value: &str, after: &str) -> bool {
    if !after.bytes().any(|it| it.is_ascii_digit()) {
        return false;
    }
    // "1/2 (0.25)"
    let sign = |it: char| it.is_ascii_digit() || " .+-*/^%×·".contains(it);
    let aside = after.trim_start_matches([' ', '*', '$']).strip_prefix('(');
    let aside = aside.and_then(|it| it.split(')').next()).unwrap_or("");
    let aside = aside.trim_start_matches(['=', ' ']);
    if aside.starts_with(char::is_numeric) && aside.chars().all(sign) && !is_same(value, aside) {
        return true;
    }
    let tokens: Vec<Token> = tokens(after, How::Announced, true).take(MOST).collect();
    let (_, rows) = rows_of(Place::Again, How::Announced);
    let again = rows.iter().find_map(|(_, row)| {
        let mut places = 0..tokens.len();
        places.find_map(|at| matches(row, &tokens, at))
    });
    let Some(number) = again.and_then(|end| tokens.get(end - 1)) else {
        return false;
    };
    let number = &after[number.start..];
    // "i.e. 2 + 3"
    let clause = number.split(ENDS_VALUE).next().unwrap_or(number);
    if is_same(value, clause.trim_end_matches(['.', ' '])) {
        return false;
    }
    let in_number = |it: char| it.is_ascii_digit() || matches!(it, '.' | ',' | '/' | '^');
    let number = &number[..words::leading(number, in_number)];
    !is_same(value, number.trim_end_matches(['.', ',', '/', '^']))
}

/// Are two values equal?
pub(super) fn is_same(a: &str, b: &str) -> bool {
    let values = (crate::parse::parse(a), crate::parse::parse(b));
    let (Ok(a), Ok(b)) = values else {
        return false;
    };
    crate::compare::compare(&a, &b, &Config::default()).equal == Some(true)
}

/// Is there anything but blanks, markup and full stops?
fn has_word(text: &str) -> bool {
    text.contains(|it: char| !(it == '.' || is_markup(it)))
}

#[cfg(test)]
mod tests;
