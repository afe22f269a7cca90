//! Words and phrases by what they do.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Table, in_lower_case, lower_case, names};

const TABLE: &str = include_str!("words.tsv");

/// The lines of the table by their names, since every list is made of some.
static LINES: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut lines: HashMap<_, Vec<_>> = HashMap::new();
    for (name, words) in TABLE.lines().filter_map(|line| line.split_once('\t')) {
        lines.entry(name).or_default().push(words);
    }
    lines
});

/// Words and phrases that do the same.
#[derive(Debug)]
pub(crate) struct Words {
    list: Vec<&'static str>,
    lower_case: Table<Cow<'static, str>, ()>,
    /// Which bytes one of them begins with, in this case.
    begins: [bool; 256],
    /// A bit for each shape that one of them has: see [`shape`].
    shapes: [u64; 16],
}

/// The words of all lines of `words.tsv` with this name.
pub(crate) fn listed(name: &str) -> impl Iterator<Item = &'static str> + use<> {
    let lines = LINES.get(name).into_iter().flatten();
    lines.flat_map(|words| names(words))
}

impl Words {
    /// All lines of `words.tsv` with this name.
    pub(crate) fn named(name: &str) -> Self {
        Self::of(listed(name).collect())
    }

    pub(crate) fn of(list: Vec<&'static str>) -> Self {
        let lower_case = list.iter().map(|word| (lower_case(word), ()));
        let (mut begins, mut shapes) = ([false; 256], [0; 16]);
        for word in &list {
            begins[usize::from(word.as_bytes().first().copied().unwrap_or(0))] = true;
            shapes[shape(word) / 64] |= 1 << (shape(word) % 64);
        }
        Self {
            shapes,
            lower_case: lower_case.collect(),
            begins,
            list,
        }
    }

    /// Is a word among them, whatever its case?
    pub(crate) fn contains(&self, word: &str) -> bool {
        // Most words are in no list, and most of them show it.
        let shape = shape(word);
        self.shapes[shape / 64] >> (shape % 64) & 1 == 1
            && in_lower_case(word, |it| self.lower_case.get(it)).is_some()
    }

    /// Is one of them what a text begins with, in this case? The longest one, and what follows it.
    pub(crate) fn begin<'t>(&self, text: &'t str) -> Option<(&'static str, &'t str)> {
        let first = text.bytes().next()?;
        if !self.begins[usize::from(first)] {
            return None;
        }
        let words = self.list.iter();
        words
            .filter_map(|own| Some((*own, text.strip_prefix(*own)?)))
            .max_by_key(|(own, _)| own.len())
    }

    /// Does one of them stand anywhere in a text, in this case?
    pub(crate) fn within(&self, text: &str) -> bool {
        let mut places = text.bytes().enumerate();
        places.any(|(at, it)| self.begins[usize::from(it)] && self.begin(&text[at..]).is_some())
    }

    /// Is a word among them, in this case?
    pub(crate) fn contains_exactly(&self, word: &str) -> bool {
        self.contains(word) && self.list.contains(&word)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.list.iter().copied()
    }
}

/// One of 1,024 numbers by length and by the first byte, that in the middle and the last, the same whatever the case.
fn shape(word: &str) -> usize {
    let bytes = word.as_bytes();
    let small = |it: Option<&u8>| it.map_or(0, |it| u32::from(it | 0x20));
    let ends = small(bytes.first()) | small(bytes.last()) << 8;
    let shape = ends | small(bytes.get(bytes.len() / 2)) << 16 | (bytes.len() as u32) << 24;
    (shape.wrapping_mul(0x9e37_79b1) >> 22) as usize
}

/// A list of `words.tsv`.
pub(crate) type List = LazyLock<Words>;

/// Lists by their names in the table: `TWO_LETTERS` is "two letters".
macro_rules! lists {
    ($($name:ident,)*) => {
        $(pub(crate) static $name: $crate::lexicon::words::List = std::sync::LazyLock::new(|| {
            let name = stringify!($name).to_lowercase().replace('_', " ");
            $crate::lexicon::words::Words::named(&name)
        });)*

        #[cfg(test)]
        const ALL: &[&$crate::lexicon::words::List] = &[$(&$name),*];

        #[cfg(test)]
        #[test]
        fn every_list_is_in_the_table() {
            assert!(ALL.iter().all(|list| list.iter().next().is_some()));
        }
    };
}
pub(crate) use lists;

lists! {
    APPROXIMATELY, OPERATION, STATING, NO_LABEL, IN_NUMBER, PERCENT, SHORT_WORD, CAPITALS, FUNCTION_IN_RUN, NO_FUNCTION_IN_RUN, TRUE, FALSE, NO_VALUE,
    EMPTY_SET, ALL_REAL_NUMBERS, ALL_REAL_NUMBERS_BUT, BEFORE_NO_SOLUTION, NO_SOLUTION, KIND_OF_ANSWER, CHANGES_NUMBER, QUANTIFIER, RESTRICTS,
    ELEMENT, INITIALS, MONTH, MOLECULE, HOLDS_FOR, ANNOUNCES_OUTPUT, BEFORE_SPOKEN, ONE, JOINS_UNITS, ORDERED, PERCENTAGE_POINT,
    HAS_CENTS, SETS_TYPE, POUNDS, TACIT_PREFIX, SQUARED, JOINS_EITHER, REDUCES, CALLS_PLACE, CALLS_PLACE_SPACELESS, MAKES_RATE, RATE_UNIT, TOTAL, CELSIUS, FAHRENHEIT, ABBREVIATED, SQUARE_BEFORE, CUBE_BEFORE, SQUARE_AFTER, CUBE_AFTER, FOREIGN_SCALE, JOINS_LETTERS, JOINS_ANYTHING, NAMES_NOTHING,
}

/// Is a truth value, after which `after` stands, said of some cases only: "true for even n", "yes, in most cases"?
pub(crate) fn restricts(after: &str) -> bool {
    let words = after.split(|it: char| !it.is_alphanumeric());
    let mut words = words.filter(|it| !matches!(*it, "" | "in" | "at" | "on" | "very"));
    let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let all = ["all", "every", "any", "each", "example", "instance"].contains(&second);
    RESTRICTS.contains(first) && !all
}
