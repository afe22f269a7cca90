//! Answers in words.

use std::cmp::Ordering;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::comparison::Comparison;
use super::context::Context;
use super::expressions::{self, shortened};
use super::naming;
use crate::algebra::{self, Expr};
use crate::answer::Answer;
use crate::lexicon;
use crate::lexicon::numbers::{number_word, ordinal, roman};
use crate::lexicon::words::Words as Table;

/// Compares two answers of which at least one is words.
pub(super) fn compare(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Comparison {
    match (gold, pred) {
        (Answer::Text(a), Answer::Text(b)) => texts(a, b, context),
        (Answer::Text(text), other) | (other, Answer::Text(text)) => against(text, other, context),
        _ => Comparison::open(""),
    }
}

fn texts(a: &str, b: &str, context: &Context<'_>) -> Comparison {
    if a == b {
        return Comparison::equal("text");
    }
    if is_date(a) && is_date(b) {
        if a.ends_with(b) || b.ends_with(a) {
            return Comparison::open("a date against the same without its year");
        }
        return context.different("text", || format!("{a} and {b} differ"));
    }
    let (words_a, words_b) = (Words::of(a), Words::of(b));
    if words_a == words_b {
        return Comparison::equal("text");
    }
    if let Some(known) = initials(a, b).or_else(|| initials(b, a)) {
        return if known {
            Comparison::equal("text")
        } else {
            Comparison::open("one text may abbreviate the other")
        };
    }
    // The cases of a definition have no order.
    if let (Some(a), Some(b)) = (a.strip_prefix("cases: "), b.strip_prefix("cases: ")) {
        let rows = |text| {
            let mut rows: Vec<_> = str::split(text, "; ").collect();
            rows.sort_unstable();
            rows
        };
        if rows(a) == rows(b) {
            return Comparison::equal("text");
        }
    }
    let (Words::Plain(words_a), Words::Plain(words_b)) = (words_a, words_b) else {
        return Comparison::open("formulas in words that are not written alike");
    };
    let differ = || {
        context.different("text", || {
            let [a, b] = [a, b].map(|it| shortened(it.to_owned()));
            format!("“{a}” and “{b}” differ")
        })
    };
    match (Meaning::of(&words_a), Meaning::of(&words_b)) {
        (Some(a), Some(b)) if a == b => return Comparison::equal("text"),
        (Some(_), Some(_)) => {
            return Comparison::open("two ways of saying that there is no ordinary answer");
        }
        _ => {}
    }
    let contained = |few: &[String], many: &[String]| few.iter().all(|word| many.contains(word));
    let (few, many) = if words_a.len() <= words_b.len() {
        (&words_a, &words_b)
    } else {
        (&words_b, &words_a)
    };
    let denied = |words: &[String]| words.iter().any(|word| NEGATIONS.contains(word));
    if denied(&words_a) != denied(&words_b) {
        return differ();
    }
    // Searching each word of one in the other is quadratic; long texts are no answers anyway.
    if many.len() > 200 {
        return Comparison::open("long texts that are not written alike");
    }
    // Words of scripts without spaces are not told apart.
    let glued = |a: &str, b: &str| !a.is_ascii() && b.contains(a);
    if contained(few, many) || glued(a, b) || glued(b, a) {
        return Comparison::open("one text says more than the other");
    }
    // "e-mail" and "email"
    let glued = words_a.concat() == words_b.concat();
    if glued || abbreviates(a, b) || abbreviates(b, a) {
        return Comparison::open("one text may abbreviate the other");
    }
    // "Tokyo" and 東京
    let latin = |text: &str| text.contains(|it: char| it.is_ascii_alphabetic());
    let other = |text: &str| text.contains(|it: char| it.is_alphabetic() && it >= '\u{370}');
    if latin(a) && other(b) && !latin(b) || latin(b) && other(a) && !latin(a) {
        return Comparison::open("words in two scripts");
    }
    // "Albert Einstein" and "Einstein came up with relativity"
    let name = |it: &&str| it.len() > 3 && it.starts_with(char::is_uppercase);
    let named = |text: &str, other: &str| {
        let mut names = other.split_whitespace().filter(name);
        names.any(|name| text.split_whitespace().any(|it| it == name))
    };
    if many.len() > 3 && (named(a, b) || named(b, a)) {
        return Comparison::open("one text may name the other");
    }
    if placed(&words_a) == placed(&words_b) {
        return Comparison::open("the same words with a number in another form");
    }
    differ()
}

/// Is a text the initials of another, "the UK" of "United Kingdom"? And are they known to stand for nothing else that is asked for?
fn initials(short: &str, long: &str) -> Option<bool> {
    let short = short.strip_prefix("the ").unwrap_or(short);
    let short = short.strip_prefix("The ").unwrap_or(short);
    let capitals = matches!(short.len(), 2..=6) && short.bytes().all(|it| it.is_ascii_uppercase());
    let counted = |word: &&str| !matches!(*word, "of" | "the" | "and" | "The" | "A" | "An");
    let words = long.split([' ', '-']).filter(counted);
    // "World War II" is no WWI.
    let named = |it: &str| it.contains(char::is_lowercase) && it.starts_with(char::is_uppercase);
    let are = capitals
        && long.contains(' ')
        && words.clone().all(named)
        && short
            .chars()
            .map(Some)
            .eq(words.map(|it| it.chars().next()));
    are.then(|| lexicon::words::INITIALS.contains_exactly(short))
}

/// May a text be another in short, word by word, "St. Louis" and "Saint Louis", or by its signs alone, `NaCl` and "sodium chloride"?
fn abbreviates(short: &str, long: &str) -> bool {
    let within = |short: &str, long: &str| {
        let mut letters = long.chars();
        let same_start = short.chars().next() == long.chars().next();
        same_start && short.chars().all(|it| letters.any(|letter| letter == it))
    };
    let [few, many] = [short, long].map(|it| it.split(' ').collect::<Vec<_>>());
    let mut pairs = few.iter().zip(&many);
    let inner = |text: &str| text.chars().skip(1).any(char::is_uppercase);
    let short = short.strip_prefix("the ").unwrap_or(short);
    let sign = !short.contains(' ') && short.len() <= 5 && inner(short);
    few.len() == many.len()
        && pairs.all(|(a, b)| a == b || a.strip_suffix('.').is_some_and(|a| within(a, b)))
        || sign && many.len() > 1 && !many.iter().any(|it| inner(it))
}

/// Words in order, with ordinals and Roman numerals as numbers: 1 of "First World War" and "World War I".
fn placed(words: &[String]) -> Vec<String> {
    let number = |word: &String| match (ordinal(word), roman(&word.to_uppercase())) {
        (Some(place), _) => place.to_string(),
        (_, Some(number)) => number.to_string(),
        _ => word.clone(),
    };
    let mut words: Vec<String> = words.iter().map(number).collect();
    words.sort_unstable();
    words
}

/// A date as the parser writes it: `2020-05-17`, `-05-17`.
fn is_date(text: &str) -> bool {
    let year = text.len().saturating_sub(6);
    let bytes = text.as_bytes();
    matches!(year, 0 | 4)
        && bytes.len() == year + 6
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            at if at == year || at == year + 3 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

fn against(text: &str, other: &Answer, context: &Context<'_>) -> Comparison {
    // "a hexagon", read as a letter and what it counts.
    if let Answer::Quantity(quantity) = other
        && let (Expr::Symbol(letter), Some(unit)) = (&quantity.value, &quantity.unit)
    {
        let verdict = texts(text, &format!("{letter} {}", unit.name), context);
        if verdict.equal == Some(true) {
            return verdict;
        }
        return Comparison::open("words against letters that may be words");
    }
    if let Answer::Quantity(quantity) = other
        && let Some(letters) = expressions::spelled(&quantity.value)
    {
        let squeezed: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
        let letters: String = letters.chars().filter(|c| c.is_alphanumeric()).collect();
        let long = letters.chars().nth(1).is_some();
        let alike = squeezed == letters || long && squeezed.eq_ignore_ascii_case(&letters);
        if alike && !letters.is_empty() || initials(&letters, text) == Some(true) {
            return Comparison::equal("text");
        }
        // "potassium" and K
        if lexicon::words::ELEMENT.contains_exactly(&letters) {
            return Comparison::open("words against the sign of an element");
        }
        // `b` may be the letter of an option, `e` is a number.
        if long || matches!(letters.as_bytes(), [b'a'..=b'd']) {
            return Comparison::open("words against letters that may be a word or an option");
        }
    }
    let Words::Plain(words) = Words::of(text) else {
        return Comparison::open("words with a formula against an answer of another kind");
    };
    let same = |same: bool, said: &str| {
        if same {
            Comparison::equal("text")
        } else {
            Comparison::different("kind", said)
        }
    };
    match (Meaning::of(&words), other) {
        (Some(Meaning::Nothing), Answer::Set(elements)) => {
            return same(elements.is_empty(), "one side says that there is none");
        }
        (Some(Meaning::Endless), Answer::Quantity(quantity)) => {
            let endless = algebra::infinity(&quantity.value) == Some(Ordering::Greater);
            return if endless || naming::is_constant(&quantity.value) {
                same(endless, "one side says that there is no end")
            } else {
                Comparison::open("words against an expression")
            };
        }
        (Some(Meaning::AllReals), Answer::Interval(interval)) => {
            let whole = algebra::infinity(&interval.lower.value) == Some(Ordering::Less)
                && algebra::infinity(&interval.upper.value) == Some(Ordering::Greater);
            return same(whole, "one side says all real numbers");
        }
        (Some(Meaning::AllReals), Answer::Quantity(quantity)) => {
            if matches!(&quantity.value, Expr::Symbol(name) if **name == *"ℝ" || **name == *"R") {
                return Comparison::equal("text");
            }
        }
        // "He has none left", "The limit is infinite."
        (_, Answer::Quantity(quantity))
            if words.len() > 1
                && words
                    .iter()
                    .any(|it| it == "none" || it == "nothing" || it == "infinite") =>
        {
            let zero = matches!(&quantity.value, Expr::Number(value) if value.is_zero());
            if zero || algebra::infinity(&quantity.value).is_some() {
                return Comparison::open("words that may say so");
            }
        }
        // "all integers" may be what ℤ is.
        (_, Answer::Quantity(quantity)) if matches!(&quantity.value, Expr::Symbol(name) if matches!(&**name, "ℕ" | "ℤ" | "ℚ" | "ℝ" | "ℂ")) =>
        {
            return Comparison::open("words against the sign of a set");
        }
        (Some(Meaning::Nothing | Meaning::Undefined), Answer::Quantity(quantity))
            if !is_constant(&quantity.value) =>
        {
            return Comparison::open("words against an expression");
        }
        (
            Some(Meaning::Midday),
            Answer::Time {
                seconds: 43_200,
                afternoon: Some(_),
            },
        )
        | (Some(Meaning::Midnight), Answer::Time { seconds: 0, .. }) => {
            return Comparison::equal("time");
        }
        (Some(Meaning::Midday | Meaning::Midnight), Answer::Time { .. } | Answer::Ratio(_)) => {
            return Comparison::open("a time in words");
        }
        (Some(Meaning::AllReals | Meaning::Nothing), _)
            if !matches!(other, Answer::Quantity(_)) =>
        {
            return Comparison::open("words against a set");
        }
        _ => {}
    }
    // A lone letter among the words may be a variable.
    let numeral = |it: &str| number_word(it).is_some() || lexicon::words::IN_NUMBER.contains(it);
    let variable = words
        .iter()
        .any(|it| it.chars().nth(1).is_none() || numeral(it));
    let glued = text.contains(|it| ('\u{2e80}'..='\u{d7a3}').contains(&it));
    if variable || glued || words.is_empty() || words.len() > 12 {
        return Comparison::open("words against an answer of another kind");
    }
    match other {
        Answer::Quantity(_)
        | Answer::Tuple(_)
        | Answer::Interval(_)
        | Answer::Matrix(_)
        | Answer::Ratio(_)
        | Answer::Time { .. } => context.different("kind", || {
            format!("“{}” is no {}", shortened(text.to_owned()), kind(other))
        }),
        _ => Comparison::open("words against an answer of another kind"),
    }
}

/// Is an expression a number, with no letters in it, and neither ∞ nor -∞?
fn is_constant(expr: &Expr) -> bool {
    naming::is_constant(expr) && algebra::infinity(expr).is_none()
}

/// What kind of answer one is, in a sentence.
pub(super) fn kind(answer: &Answer) -> &'static str {
    match answer {
        Answer::Quantity(quantity) if is_constant(&quantity.value) => "number",
        Answer::Quantity(_) => "expression",
        Answer::Relation(_) => "statement",
        Answer::Set(_) => "set",
        Answer::List(_) => "list",
        Answer::Tuple(_) => "tuple",
        Answer::Interval(_) => "interval",
        Answer::Union(_) | Answer::Intersection(_) | Answer::Difference(_) => "set of numbers",
        Answer::Matrix(_) => "matrix",
        Answer::Choice(_) => "choice",
        Answer::Ratio(_) => "ratio",
        Answer::Time { .. } => "time of day",
        Answer::Truth(_) => "yes or no",
        Answer::Text(_) => "text",
    }
}

/// The words of a text, ready to be compared.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// Nothing but words: lower case, singular, without punctuation, articles and the like.
    Plain(Vec<String>),
    /// Words with digits or signs, which all count: without spaces, longer words in lower case.
    Formula(String),
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let text: String = text.nfkc().map(straight).collect();
        let text = text.trim().trim_end_matches(['.', '!', ',', ';']);
        let plain = text
            .chars()
            .all(|c| c.is_alphabetic() || c.is_whitespace() || "'\".,;:!?-()’“”_".contains(c));
        if !plain {
            return Self::Formula(formula(text));
        }
        let mut words = Vec::new();
        for word in text.split(|c: char| !c.is_alphabetic() && c != '\'') {
            // "Graph A" names one.
            let named = word == "A" && !words.is_empty();
            let word = word.replace('\'', "").to_lowercase();
            if !word.is_empty() && (named || !FILLERS.contains(&word)) {
                words.push(singular(word));
            }
        }
        if words.is_empty() {
            return Self::Formula(formula(text));
        }
        Self::Plain(words)
    }
}

/// Typographic quotes and dashes as plain ones.
fn straight(c: char) -> char {
    match c {
        '’' | '‘' | 'ʼ' | '`' => '\'',
        '“' | '”' | '„' => '"',
        '‐' | '‑' | '–' | '—' | '−' => '-',
        c => c,
    }
}

/// A text in which signs matter.
fn formula(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let mut letters = String::new();
        for c in word.chars().chain(['\0']) {
            if c.is_alphabetic() {
                letters.push(c);
                continue;
            }
            // A lone letter is a variable, whose case matters.
            if letters.chars().nth(1).is_some() {
                out.push_str(&letters.to_lowercase());
            } else {
                out.push_str(&letters);
            }
            letters.clear();
            if c != '\0' && c != '"' && c != '$' {
                out.push(c);
            }
        }
    }
    out
}

/// A word without its plural ending, near enough for comparing; of words for one thing always the same.
fn singular(mut word: String) -> String {
    if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && word != "does" {
        word.pop();
    }
    let same = |pair: &'static str| pair.strip_prefix(&*word)?.strip_prefix(' ');
    SAME.iter().find_map(same).map_or(word, str::to_owned)
}

/// Words for one thing in pairs; words that change nothing, and words that turn an answer round.
static SAME: LazyLock<Table> = LazyLock::new(|| Table::named("the same thing"));
static FILLERS: LazyLock<Table> = LazyLock::new(|| Table::named("says nothing"));
static NEGATIONS: LazyLock<Table> = LazyLock::new(|| Table::named("turns an answer round"));

/// Set phrases, and what each says.
#[rustfmt::skip]
static PHRASES: LazyLock<[(Table, Meaning); 6]> = LazyLock::new(|| [
    ("means no solution", Meaning::Nothing), ("means no value", Meaning::Undefined), ("means no end", Meaning::Endless),
    ("means every real number", Meaning::AllReals), ("means midday", Meaning::Midday), ("means midnight", Meaning::Midnight),
].map(|(list, meaning)| (Table::named(list), meaning)));

/// What set phrases mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Nothing,
    Undefined,
    /// Infinitely many, infinity.
    Endless,
    /// Every real number.
    AllReals,
    /// 12 o'clock.
    Midday,
    /// 0 o'clock.
    Midnight,
}

impl Meaning {
    /// Of words as [`Words::Plain`] gives them.
    pub(super) fn of(words: &[String]) -> Option<Self> {
        if words.len() > 8 {
            return None;
        }
        let text = words.join(" ");
        let text = text
            .strip_prefix("there ")
            .or_else(|| text.strip_prefix("equation has "))
            .or_else(|| text.strip_prefix("has "))
            .unwrap_or(&text);
        let mut phrases = PHRASES.iter();
        phrases
            .find(|(list, _)| list.contains(text))
            .map(|(_, meaning)| *meaning)
    }
}
