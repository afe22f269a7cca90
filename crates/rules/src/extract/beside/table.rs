//! The rows of `lexicon/beside.tsv`, and the classes of a word: an item that some row has is a class.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Arc, LazyLock};

use super::super::words::{is_counted, is_digit, is_unit};
use super::{FAR_GAP, GAP, How};
use crate::lexicon::numbers::{NumberWord, number_words};
use crate::lexicon::units::currency_names;
use crate::lexicon::words::listed;
use crate::lexicon::{BESIDE, KeyHasher, in_lower_case, lower_case, rows};

/// Where a row's pattern stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// Ends at the value, but for articles, currencies and words of a kind of answer.
    Ends,
    /// Anywhere in the near words before it.
    NearBefore,
    /// The same, but after the last verb.
    AfterVerb,
    /// Anywhere before it.
    Before,
    /// Begins at the value.
    Begins,
    /// Anywhere in the near words of the clause after it.
    NearAfter,
    /// Anywhere in the clause after it, up to a comma or bracket.
    Clause,
    /// Anywhere after it.
    After,
    /// Begins in the bracket after it.
    Bracket,
    /// Anywhere in that bracket.
    InBracket,
    /// Where it begins, what belongs to the value ends.
    Ending,
    /// Where it ends, at the value, nothing before it belongs to the value.
    Clearing,
    /// Anywhere after it: the value is said again, by the number that the pattern ends with.
    Again,
}

/// Their names in the table, in this order.
#[rustfmt::skip]
const PLACES: [&str; 13] = [
    "…value", "near value", "verb near value", "before value", "value…", "value near", "value clause", "value after", "value (…", "value (…)",
    "ends", "clears", "value again",
];

/// The place with a name, as its number.
pub(super) fn place(name: &str) -> Option<usize> {
    PLACES.iter().position(|it| *it == name)
}

/// How many words of 64 bits hold a bit for each class.
const WIDTH: usize = 6;

/// What every word and sign is.
const ALWAYS: usize = 64 * WIDTH - 1;

/// A set of classes, one bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Set([u64; WIDTH]);

impl Set {
    fn insert(&mut self, class: usize) {
        self.0[class / 64] |= 1 << (class % 64);
    }

    pub(super) fn has(&self, class: usize) -> bool {
        self.0[class / 64] >> (class % 64) & 1 == 1
    }

    pub(super) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).any(|(own, it)| own & it != 0)
    }

    pub(super) fn join(&mut self, other: Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own |= other;
        }
    }
}

/// One item of a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item {
    /// A word or sign of this class.
    Is(usize),
    /// No word or sign of this class, which may be the end.
    IsNot(usize),
    /// Up to so many words, or words and signs.
    Gap(usize, bool),
}

/// What stands beside a value, item by item.
pub(super) type Row = Arc<[Item]>;

/// Does a word or sign have a shape?
type Shape = fn(&str) -> bool;

/// What a word or sign is by its shape, as the table names it.
#[rustfmt::skip]
const SHAPES: [(&str, Shape); 9] = [
    ("<number>", |it| it.starts_with(is_digit)), ("<digits>", |it| it.starts_with(is_digit)), ("<unit>", is_unit), ("<counted>", is_counted),
    ("<mixed>", |it| it.starts_with(char::is_alphabetic) && it.contains(is_digit)),
    ("<letter>", |it| it.len() == 1 && it.starts_with(char::is_lowercase)), ("<capital>", |it| it.starts_with(char::is_uppercase)),
    ("<operator>", |it| !it.as_bytes()[0].is_ascii_alphanumeric() && it.starts_with(|it| "<>≤≥≠≪≫+-–−/^×÷".contains(it))), ("<word>", |it| it.starts_with(char::is_alphabetic)),
];

/// The words of other tables that a shape stands for.
fn words_of_shape(name: &str) -> Vec<&'static str> {
    use NumberWord::{Number, Part, Scale};
    let numbers = |is: fn(NumberWord) -> bool| {
        let all = number_words().filter(move |(_, does)| is(*does));
        all.map(|(word, _)| word).collect()
    };
    match name {
        "<number>" => numbers(|it| matches!(it, Number(_) | Scale(_) | Part(2))),
        "<part>" => numbers(|it| matches!(it, Part(_))),
        "<currency>" => currency_names().filter(|it| !it.contains(' ')).collect(),
        _ => Vec::new(),
    }
}

/// The table: which classes a word has, and the rows.
pub(super) struct Table {
    classes: HashMap<Cow<'static, str>, Set, BuildHasherDefault<KeyHasher>>,
    /// For each kind of answer, on either side of it, and shape: how many words from the value on rows ask for it, and the classes that it is in.
    shapes: [[[(usize, Set); SHAPES.len()]; 2]; How::LETTERS.len()],
    /// How words end that deny as the ending by itself does: "isn't".
    negating: Vec<&'static str>,
    /// The classes of verbs before a value, of what may stand between a bound and its value, and of what ends a clause.
    pub(super) verb: usize,
    pub(super) passed: usize,
    pub(super) stop: usize,
    /// By their places and the answers that they are for: with classes of which one stands beside a value where any of them matches, and for each that of its own.
    pub(super) rows: Vec<(Set, Vec<(usize, Row)>)>,
}

pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table {
        classes: HashMap::default(),
        shapes: Default::default(),
        negating: list("@negating_ending").collect(),
        verb: 0,
        passed: 0,
        stop: 0,
        rows: Vec::new(),
    };
    table
        .rows
        .resize_with(PLACES.len() * How::LETTERS.len(), Default::default);
    let mut names = HashMap::<&str, usize, BuildHasherDefault<KeyHasher>>::default();
    let mut class = |table: &mut Table, name: &'static str, asked: (u8, bool, usize)| {
        let next = names.len();
        debug_assert!(next < ALWAYS);
        let class = *names.entry(name).or_insert_with(|| {
            for word in name.split('|') {
                table.add(word, next);
            }
            next
        });
        let (how, follows, words) = asked;
        let how = how * u8::from(name.contains('<'));
        let shapes = table.shapes.iter_mut().enumerate();
        for (_, own) in shapes.filter(|(at, _)| how >> at & 1 == 1) {
            for ((shape, _), own) in SHAPES.iter().zip(&mut own[usize::from(follows)]) {
                if name.split('|').any(|it| it == *shape) {
                    own.0 = own.0.max(words);
                    own.1.insert(class);
                }
            }
        }
        class
    };
    let none = (0, false, 0);
    table.verb = class(&mut table, "@verb_of_value", none);
    let passed = "@passed_before_value|@kind_of_answer|<currency>";
    table.passed = class(&mut table, passed, none);
    table.stop = class(&mut table, "@ends_clause|,", none);
    for row in rows(BESIDE) {
        if let [how, named, pattern] = row[..]
            && let Some(place) = place(named)
        {
            let phrases = match pattern.strip_prefix("@@") {
                Some(name) => list(name).collect(),
                None => vec![pattern],
            };
            let how = How::mask(how);
            let follows = place >= Place::Begins as usize && place != Place::Clearing as usize;
            for phrase in phrases {
                // Rare is a number, and else the last word; at the value it is the item there.
                let number = |it: &&str| it.contains("<number>") || it.contains("<digits>");
                let word = |it: &&str| !it.starts_with(['!', '…']);
                let mut words = phrase.split(' ').filter(word);
                let rare = if place == Place::Ends as usize {
                    phrase.split(' ').next_back().filter(word)
                } else if named.ends_with('…') {
                    phrase.split(' ').next().filter(word)
                } else {
                    words.clone().find(number).or(words.next_back())
                };
                let rare = rare.map_or(ALWAYS, |it| class(&mut table, it, none));
                // A row that begins at the value asks no word but its own.
                let near = named.ends_with('…') && !phrase.contains('…');
                let mut item = |(at, it): (usize, &'static str)| {
                    let asked = (how, follows, if near { at + 1 } else { usize::MAX });
                    match it.strip_prefix('!') {
                        Some(name) => Item::IsNot(class(&mut table, name, asked)),
                        None if it == "…" => Item::Gap(GAP, true),
                        None if it == "……" => Item::Gap(FAR_GAP, false),
                        None => Item::Is(class(&mut table, it, asked)),
                    }
                };
                let row: Row = phrase.split(' ').enumerate().map(&mut item).collect();
                for at in (0..How::LETTERS.len()).filter(|at| how >> at & 1 == 1) {
                    let (any, rows) = &mut table.rows[place * How::LETTERS.len() + at];
                    any.insert(rare);
                    rows.push((rare, row.clone()));
                }
            }
        }
    }
    table
});

/// The list that a name in the table stands for.
pub(super) fn list(name: &str) -> impl Iterator<Item = &'static str> + use<> {
    listed(&name.trim_start_matches('@').replace('_', " "))
}

impl Table {
    /// Makes `word`, a list or a shape part of a class.
    fn add(&mut self, word: &'static str, class: usize) {
        let mut insert = |word: &'static str| {
            let known = self.classes.entry(lower_case(word));
            known.or_default().insert(class);
        };
        if word.starts_with('@') {
            list(word).for_each(insert);
        } else if word.starts_with('<') && word.len() > 1 {
            words_of_shape(word).into_iter().for_each(insert);
        } else {
            insert(word);
        }
    }

    /// The classes of a word or sign on a side of an answer that was found so, with so many before it.
    pub(super) fn classes(&self, word: &str, how: How, follows: bool, at: usize) -> Set {
        let own = in_lower_case(word, |it| self.classes.get(it));
        let mut set = own.copied().unwrap_or_default();
        set.insert(ALWAYS);
        let mut endings = self.negating.iter();
        if let Some(ending) = endings.find(|it| word.len() > it.len() && word.ends_with(**it)) {
            let own = self.classes.get(*ending);
            set.join(own.copied().unwrap_or_default());
        }
        let asked = &self.shapes[how as usize][usize::from(follows)];
        for ((_, is), (words, own)) in SHAPES.iter().zip(asked) {
            if at < *words && is(word) {
                set.join(*own);
            }
        }
        set
    }
}
