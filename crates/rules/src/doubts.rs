//! Doubts about a verdict: what equal or different answers stand among, and whether one of them may be meant otherwise.

use unicode_normalization::UnicodeNormalization;

use crate::algebra;
use crate::answer::{Answer, Unit};
use crate::config::Config;
use crate::lexicon::numbers::{cardinal, ordinal};
use crate::lexicon::units::{CURRENCY_SIGNS, currency};
use crate::lexicon::{is_digit, words};
use crate::verifier::Side;
use crate::{alternatives, compare, extract, parse};

/// From how many words on an announced statement tells a story, of which a number may be another than the answer.
const LONG: usize = 8;

/// Why an answer may have been given in a way that is not known.
pub(crate) const MENTIONED: &str = "the words of the reference stand in what announces no answer";

/// Two answers that were compared, the reference's first, with all that was said beside them.
pub(crate) struct Doubts<'a> {
    pub(crate) sides: [&'a Side<'a>; 2],
    pub(crate) answers: [&'a Answer; 2],
    /// The reference and the response.
    pub(crate) texts: [&'a str; 2],
    pub(crate) configs: [&'a Config; 2],
}

impl Doubts<'_> {
    /// Why two equal answers may not mean the same.
    pub(crate) fn of_equal(&self) -> Option<&'static str> {
        let ([gold, pred], [a, b]) = (self.sides, self.answers);
        let [stated, said] = self.sides.map(|it| &*it.statement);
        let config = self.configs[1];
        let called_otherwise = || {
            let pair = called(stated).zip(called(said));
            pair.is_some_and(|(a, b)| a.0 == b.0 && a.1 != b.1)
        };
        #[rustfmt::skip]
        let doubts: [(&dyn Fn() -> bool, &str); 17] = [
            (&|| extract::opposed(stated, said), "one side says the opposite of the other"),
            (&|| compare::reordered(stated, said), "the same letters in another order"),
            (&|| extract::dollars(stated) != extract::dollars(said), "dollars of two countries"),
            (&|| other_currency(gold, pred), "another currency"),
            (&|| names_another_unit(a, b, extract::unit_of(pred.around().1)) || names_another_unit(b, a, None), "a word after the number may be its unit"),
            (&|| extract::holds(&gold.text, &pred.text, said), "what is counted holds what the reference counts"),
            (&called_otherwise, "the same value of differently named things"),
            (&|| names_swapped(stated, said), "the same numbers with other names"),
            (&|| is_reordered(a, b, said), "the order may count"),
            (&|| one_of(a, b, &pred.text, config) || one_of(b, a, &gold.text, config), "one of several, or all of them"),
            (&|| other_share(stated, said), "another share"),
            (&|| other_place(stated, said), "a place in a row against a number"),
            (&|| other_rate(gold, pred), "a rate against an amount, or another rate"),
            (&|| alternatives::below_slash(&gold.text).is_some() != alternatives::below_slash(&pred.text).is_some(), "what stands after a slash may belong below it"),
            (&|| in_letters(&gold.text, &pred.text) || in_letters(&pred.text, &gold.text), "letters in a fraction may be no unit"),
            (&|| compare::crossed(stated, said), "the order of a cross product counts"),
            (&|| compare::joined_otherwise(a, b, [stated, said]), "the same parts, joined in another way"),
        ];
        self.of_either(true).or_else(|| first(&doubts))
    }

    /// Why two different answers may mean the same, or another than what was read may be the answer.
    pub(crate) fn of_different(&self) -> Option<&'static str> {
        let ([gold, pred], [a, b]) = (self.sides, self.answers);
        let response = self.texts[1];
        let in_pairs = |it: &Side<'_>| in_lakhs(without_rupees(&it.text));
        let list = |it: &Answer| matches!(it, Answer::List(_));
        let text = |it: &Answer| matches!(it, Answer::Text(_));
        #[rustfmt::skip]
        let doubts: [(&dyn Fn() -> bool, &str); 12] = [
            (&|| in_pairs(gold) != in_pairs(pred), "digits in groups of two on one side"),
            (&|| self.stands_elsewhere(), MENTIONED),
            (&|| (list(a) || list(b)) && pred.statement.contains("i.e."), "the answer is said in two ways"),
            (&|| self.in_two_forms() == Some(false), "the answer is said in two ways"),
            (&|| gold.text.parse::<f64>().is_ok() && compound(&pred.text).any(|unit| says(&format!("{} {unit}", gold.text), b, self.configs[1])), "a number against a measure in several units"),
            (&|| text(a) && text(b) && unaccented(&gold.text).eq(unaccented(&pred.text)), "letters without their accents"),
            (&|| unknown_words(a, b) && (extract::is_foreign(response) || !response.trim().contains(' ')), "words that may be a number"),
            (&|| goes_on((&gold.text, a), pred, b), "what was read is not the whole answer"),
            (&|| self.may_be_read_so(), "read in another way the two are equal"),
            (&|| names_another_unit(a, b, extract::unit_of(pred.around().1).filter(|it| !it.is_ascii())), "a word after the number may be its unit"),
            (&|| in_parts(a, b) || in_parts(b, a), "a measure in several units may be their sum"),
            (&|| gold.doubtful || pred.doubtful, "the answer may be another part of what was said"),
        ];
        self.of_either(false).or_else(|| first(&doubts))
    }

    /// Why equal or different answers may mean something else.
    pub(crate) fn of_either(&self, equal: bool) -> Option<&'static str> {
        let [gold, pred] = self.sides;
        let (a, config) = (self.answers[0], self.configs[1]);
        let announced_later = || !equal && pred.later.iter().any(|it| says(it, a, config));
        #[rustfmt::skip]
        let doubts: [(&dyn Fn() -> bool, &str); 5] = [
            (&|| ends_ratio(self.answers[0], pred), MENTIONED),
            (&|| matches!(a, Answer::Quantity(it) if it.unit.is_some()) && extract::unit_of(pred.around().1).is_some_and(|it| words::SQUARED.contains(it)), "an area or a volume against another unit"),
            (&|| spoken_otherwise(&gold.text, pred, equal), "a ratio in words may be a range, a score or a time"),
            (&|| lone_unit(&gold.text) != lone_unit(&pred.text), "a letter after π or a root may be no unit"),
            (&announced_later, "another answer is announced after the box"),
        ];
        first(&doubts)
    }

    /// Are the two the same if one of them, or both, are read in another way?
    fn may_be_read_so(&self) -> bool {
        let [golds, preds] = [0, 1]
            .map(|at| alternatives::of(&self.sides[at].text, self.configs[at].decimal, at == 1));
        let says = |gold: &Answer| preds.iter().any(|it| says(it, gold, self.configs[1]));
        // "1,234" and "1.234"
        let [a, b] = self.sides.map(|it| it.text.replace(',', "."));
        let unknown = self.configs.iter().any(|it| it.decimal.is_none());
        unknown && a == b && a.trim_start_matches('-').starts_with(is_digit)
            // As they are written they differ.
            || golds.len() + preds.len() > 2
            && golds
                .iter()
                .any(|it| parse::parse(it).is_ok_and(|it| says(&it)))
    }

    /// Does a response hold the reference where no answer was read?
    fn stands_elsewhere(&self) -> bool {
        let ([gold, pred], [a, b]) = (self.sides, self.answers);
        let (response, config) = (self.texts[1], self.configs[1]);
        let read = value_of(pred, a);
        let truths = matches!((a, b), (Answer::Truth(_), Answer::Truth(_)));
        let more = || {
            extract::bare(response) != pred.text && response.trim().contains(char::is_whitespace)
        };
        // "(x, y) = (2, 3) and xy = 6" states several things.
        let unannounced = !extract::is_announced(pred.method)
            && (is_among(a, b, config)
                || more() && other_form(gold, pred)
                || extract::mentions_part(response, &gold.text));
        let story = pred.statement.split_whitespace().nth(LONG).is_some();
        unannounced
            || (!extract::is_announced(pred.method) || pred.method == "opening")
                && !truths
                && more()
                && extract::holds_near_end(response, read, &gold.text)
            || story && extract::holds_near_end(&pred.statement, read, &gold.text)
    }

    /// Why different answers are the same all the same.
    pub(crate) fn of_alike(&self) -> Option<&'static str> {
        let twice = || (self.in_two_forms() == Some(true)).then_some("one value in two forms");
        let fall = self.is_fall().then_some("a fall is negative");
        (fall.or_else(twice)).filter(|_| self.of_either(false).is_none())
    }

    /// Does a prediction say one value in two forms, one of which is the reference? `Some(false)` where it only may be, or one form is the other rounded.
    fn in_two_forms(&self) -> Option<bool> {
        let (pred, a, config) = (self.sides[1], self.answers[0], self.configs[1]);
        let mut said = [&pred.text, &pred.statement].into_iter();
        let (x, y) = said.find_map(|it| alternatives::forms(extract::bare(it)))?;
        let equal = |it: &Answer| compare::compare(a, it, config).equal;
        let own = [x, y].map(|it| parse::parse(it).map_or(Some(false), |it| equal(&it)));
        let exact = parse::parse(x).is_ok_and(|x| says(y, &x, config));
        let plain = |it: &str| {
            let number = it.trim_end_matches(['%', '\\']).parse::<f64>();
            it.contains(['.', '%']) && number.is_ok_and(|it| it > 0.0)
        };
        let rounded =
            |(x, y)| plain(y) && extract::rounds(x, &format!(", about {y}")) == Some(true);
        let one = exact || [(x, y), (y, x)].into_iter().any(rounded);
        (one && x != y && own != [Some(false); 2]).then(|| exact && own.contains(&Some(true)))
    }

    /// Is one side the negative of what the other states as lost: −15% and "a decrease of 15%"?
    fn is_fall(&self) -> bool {
        let ([gold, pred], config) = (self.sides, self.configs[1]);
        let below = gold.text.starts_with('-');
        let (with, without) = if below { (gold, pred) } else { (pred, gold) };
        let Some(size) = with.text.strip_prefix('-') else {
            return false;
        };
        // "It dropped by 8, so it is 5 degrees now."
        let by_itself = |it: &str| !it.starts_with(is_digit) || it.starts_with(&*without.text);
        !without.text.starts_with(['-', '+'])
            && extract::falls(&without.statement)
            && without.statement.split(" by ").skip(1).all(by_itself)
            && !without.statement.contains(" to ")
            && !extract::falls(&with.statement)
            && (without.answer.as_ref()).is_ok_and(|it| says(size, it, config))
    }
}

/// The function and the argument whose value is stated: P and A|B of "P(A|B) = 0.3".
fn called(statement: &str) -> Option<(&str, String)> {
    let (name, rest) = statement
        .trim_start_matches(['$', ' ', '*'])
        .split_once('(')?;
    let (argument, value) = rest.split_once(')')?;
    let plain = matches!(name.len(), 1..4) && name.chars().all(char::is_alphabetic);
    if !(plain && value.trim_start().starts_with('=')) {
        return None;
    }
    let argument = argument.replace("\\mid", "|").replace(' ', "");
    let special = argument.contains(|it| is_digit(it) || it == '|');
    special.then_some((name, argument))
}

/// The words right after numbers, with the numbers. A command of LaTeX, `4\theta`, is no word.
fn named(text: &str) -> Vec<(&str, &str)> {
    let words = || text.split(|it: char| !(it.is_alphanumeric() || it == '\\'));
    let number = |it: &str| it.parse::<u64>().is_ok();
    let word = |it: &str| it.len() > 2 && !number(it) && !it.contains('\\');
    let is_named = |(name, it): &(&str, &str)| number(it) && word(name);
    words().skip(1).zip(words()).filter(is_named).collect()
}

/// Does a name follow one number in the reference and another in the prediction: red and blue of "6 red and 4 blue" and "4 red ones and 6 blue ones"?
fn names_swapped(gold: &str, pred: &str) -> bool {
    const MOST: usize = 200;
    if gold.len() > MOST || pred.len() > 2 * MOST {
        return false;
    }
    let own = named(gold);
    if own.len() < 2 {
        return false;
    }
    let others = named(pred);
    let other = |(name, number): &&(&str, &str)| {
        let mut same = others.iter().filter(|(it, _)| it == name).peekable();
        same.peek().is_some() && same.all(|(_, it)| it != number)
    };
    own.iter().filter(other).count() > 1
}

/// Are two lists in another order, in a statement that is about one?
fn is_reordered(a: &Answer, b: &Answer, statement: &str) -> bool {
    let lists = matches!((a, b), (Answer::List(a), Answer::List(b)) if a != b);
    let mut words = statement.split(|it: char| !it.is_alphanumeric());
    lists && words.any(|it| words::ORDERED.contains(it)) && !statement.contains("order to")
}

/// Is one side a measure, and the other several in different units, which may be its parts in another order?
fn in_parts(amount: &Answer, several: &Answer) -> bool {
    let (Answer::Quantity(whole), Answer::List(parts)) = (amount, several) else {
        return false;
    };
    let unit = |it: &Answer| match it {
        Answer::Quantity(it) => it.unit.as_ref().map(|it| (it.dimension, it.size.clone())),
        _ => None,
    };
    let own = whole.unit.as_ref().map(|it| it.dimension);
    let other = |it: &[Answer]| unit(&it[0]) != unit(&it[1]);
    own.is_some()
        && parts.iter().all(|it| unit(it).map(|it| it.0) == own)
        && parts.windows(2).all(other)
}

/// Is one side an amount and the other several, in `text`, of which one is meant and which it is the sum of: "1 hour or 30 minutes"?
fn one_of(amount: &Answer, several: &Answer, text: &str, config: &Config) -> bool {
    let (Answer::Quantity(_), Answer::List(parts)) = (amount, several) else {
        return false;
    };
    let mut words = text.split(|it: char| !it.is_alphabetic());
    let is = |it: &Answer| compare::compare(amount, it, config).equal == Some(true);
    words.any(|it| words::JOINS_EITHER.contains(it)) && !parts.first().is_some_and(is)
}

/// Do two shares mean different things: percentage points and percent, "30% off" and "30% of the price"?
fn other_share(gold: &str, pred: &str) -> bool {
    let points = |text: &str| words::PERCENTAGE_POINT.within(text);
    let percent = |text: &str| text.contains('%') || words::PERCENT.within(text);
    let reduces = |text: &str| words::REDUCES.within(text);
    points(gold) != points(pred) && percent(if points(gold) { pred } else { gold })
        || percent(pred) && pred.contains(" of ") && reduces(gold) && !reduces(pred)
}

/// Is the reference a place in a row, and does the prediction name another, or a number that it does not call one?
fn other_place(gold: &str, pred: &str) -> bool {
    let place = |it: &str| ordinal(&it.to_ascii_lowercase());
    let Some(own) = place(extract::bare(gold)) else {
        // "3 years" and "第3年", "3rd year", "year 3", but not "hour 13"
        let bare = gold.trim_start_matches(is_digit);
        let (number, unit) = (&gold[..gold.len() - bare.len()], bare.trim_start());
        let known = || unit.ends_with('s') || parse::unit(unit).is_some();
        // "5 people" and "5人目"
        let counts = || known() || !(unit.is_empty() || pred.is_ascii());
        if number.is_empty() || gold.contains(['第', '目', '째']) || !counts() {
            return false;
        }
        let says =
            |text: &str, it: &str| text.split(it).skip(1).any(|it| !it.starts_with(is_digit));
        let named = format!("{} {number}", unit.trim_end_matches('s'));
        let named = unit.len() > 2 && says(&pred.to_ascii_lowercase(), &named);
        let called = |it: &str| it.starts_with(number) && place(it).is_some();
        let (said, mut signs) = (pred.replace(' ', ""), words::CALLS_PLACE_SPACELESS.iter());
        let sign = |a: &str, b: &str| says(&said, &format!("{a}{b}"));
        let signed = !said.is_ascii() && signs.any(|it| sign(it, number) || sign(number, it));
        return named || signed || pred.split(' ').any(called);
    };
    let words = || pred.split(|it: char| !it.is_alphanumeric());
    let mut places = words().filter_map(place).peekable();
    if places.peek().is_some() {
        return places.all(|it| it != own);
    }
    let called = |it: &str| words::CALLS_PLACE.contains(it);
    pred.trim().contains(char::is_whitespace) && !pred.contains(['=', ':']) && !words().any(called)
}

/// Does an amount name what it counts, and no time of which it is a rate?
fn names_amount(text: &str) -> bool {
    // "60 bpm"
    let rate = text.ends_with("pm") || text.ends_with("ph") || text.ends_with("ps");
    let mut words = text.split(' ');
    let rate = rate || words.any(|it| words::MAKES_RATE.contains(it));
    text.contains(' ') && !rate && !text.contains('/')
}

/// What there is one of for each: the hour of "$15 per hour".
fn each(statement: &str) -> Option<&str> {
    let rated = Some(statement).filter(|it| it.contains(" per "));
    let (_, rest) = rated?.rsplit_once(" per ")?;
    rest.split(|it: char| !it.is_alphabetic()).next()
}

/// Is the one a rate and the other an amount, or a rate of another time?
fn other_rate(gold: &Side<'_>, pred: &Side<'_>) -> bool {
    let [a, b] = [gold, pred].map(|it| each(&it.statement));
    let units = |it| parse::unit(it).map(|it| (it.dimension, it.size));
    let unit = pred.text.rsplit(' ').next().unwrap_or("");
    let rated = is_rate(pred) || words::RATE_UNIT.contains(unit);
    names_amount(&gold.text) && !is_rate(gold) && rated
        || a.is_some() && b.is_none() && words::TOTAL.within(&pred.statement)
        || a.zip(b).is_some_and(|(a, b)| match (units(a), units(b)) {
            (Some(a), Some(b)) => a != b,
            (None, None) => a != b,
            _ => false,
        })
}

/// Does what was read become a rate by what follows it: "120 words a minute", "sixty kilometres every hour"?
fn is_rate(pred: &Side<'_>) -> bool {
    let (_, after) = pred.around();
    let mut words = after.split(|it: char| !it.is_alphabetic()).skip(1);
    let dimension = |it: &str| parse::unit(it).and_then(|it| it.dimension);
    let time = |it: &str| dimension(it).is_some_and(|it| Some(it) == dimension("s"));
    after.starts_with(' ')
        && words
            .next()
            .is_some_and(|it| words::MAKES_RATE.contains(it))
        && words.next().is_some_and(time)
}

/// Does a word that stands after the number of `b`, which was read without it, name no unit or currency of `a`? Of a script without
/// spaces it is all that follows.
fn names_another_unit(a: &Answer, b: &Answer, word: Option<&str>) -> bool {
    /// How many characters such a unit has at most.
    const LONGEST: usize = 8;
    let (Answer::Quantity(a), Answer::Quantity(b)) = (a, b) else {
        return false;
    };
    // What is counted, "5 leagues", may be a unit too.
    let label = b.unit.as_ref().filter(|it| it.dimension.is_none());
    let Some(word) = label.map_or(word, |it| Some(&it.name)) else {
        return false;
    };
    let unit = a.unit.as_ref().filter(|it| it.dimension.is_some());
    let is_own = |name: &str| {
        let same = |other: Unit| {
            unit.is_some_and(|own| own.dimension == other.dimension && own.size == other.size)
        };
        money(name).is_some_and(|it| Some(it) == a.currency.as_deref())
            || parse::unit(name).is_some_and(same)
    };
    // "3.5个小时", but not the metre of "3.5厘米" and "3.5米每秒"
    let within = |from: &str| {
        let ends = from.char_indices().map(|(at, it)| at + it.len_utf8());
        !word.contains(['/', '每']) && ends.take(LONGEST).any(|end| is_own(&from[..end]))
    };
    let mut begins = [word, word.trim_start_matches(['个', '個'])].into_iter();
    let bare = (b.unit.is_none() || label.is_some()) && b.currency.is_none() && !b.percent;
    (a.currency.is_some() || unit.is_some())
        && bare
        && !word.split(' ').next().is_some_and(is_own)
        && (word.is_ascii() || !begins.any(within))
}

/// The code of the currency that a name or a sign stands for.
fn money(name: &str) -> Option<&'static str> {
    let mut signs = CURRENCY_SIGNS.iter();
    let named = currency(name).map(|(code, _)| code);
    named.or_else(|| Some(signs.find(|it| it.0.trim_start_matches('\\') == name)?.1))
}

/// Do both sides name a currency, and not the same?
fn other_currency(gold: &Side<'_>, pred: &Side<'_>) -> bool {
    fn named<'a>(side: &'a Side<'_>) -> Option<&'a str> {
        let quantity = match &side.answer {
            Ok(Answer::Quantity(it)) => it.currency.as_deref().or_else(|| {
                // "40 Egyptian pounds"
                let name = &it.unit.as_ref()?.name;
                let (_, last) = name.rsplit_once(' ')?;
                currency(last).map(|_| &**name)
            }),
            _ => None,
        };
        quantity.or_else(|| extract::currency_code(&side.statement))
    }
    named(gold).is_some_and(|own| named(pred).is_some_and(|it| it != own))
}

/// Is what was read only the end of a ratio, as in "a ratio of 1 to 4", or of a chance, as in "one in six"?
fn ends_ratio(gold: &Answer, pred: &Side<'_>) -> bool {
    let joined: &[&str] = match gold {
        Answer::Ratio(_) => &[" to "],
        _ => &[" in ", " out of "],
    };
    let (before, _) = pred.around();
    // "one in a hundred"
    let article = words::MAKES_RATE.iter();
    let mut before_article = article.filter_map(|it| before.strip_suffix(' ')?.strip_suffix(it));
    let before = before_article.next().unwrap_or(before);
    let before = joined.iter().find_map(|it| before.strip_suffix(it));
    let first = before.and_then(|it| it.rsplit([' ', '-']).next());
    first
        .is_some_and(|it| it.parse::<u64>().is_ok() || cardinal(&it.to_ascii_lowercase()).is_some())
}

/// Is a ratio or a chance in words, and the reference none? Then it may be a range, a score, or a time of day: "ten to two".
fn spoken_otherwise(gold: &str, pred: &Side<'_>, equal: bool) -> bool {
    let joined = |it: &&str| pred.statement.contains(*it);
    pred.text.contains([':', '/'])
        && !pred.statement.contains(is_digit)
        && !pred.statement.contains(" and ")
        && [" to ", " in ", " out of "].iter().any(joined)
        && !(equal && (gold.contains([':', '/']) || gold.contains("frac")))
}

/// Does a lone letter stand after π or a root, as in "10π m"? It may be a variable; squared, `m` is a unit.
fn lone_unit(text: &str) -> bool {
    let text = if text.is_ascii() { "" } else { text };
    text.match_indices(' ').any(|(at, _)| {
        let value = text[..at].trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
        let unit = text[at + 1..].trim_start_matches(|it: char| it.is_ascii_alphabetic());
        let squared = text[at + 1..].starts_with('m') && unit.starts_with(['^', '²', '³']);
        value.ends_with(['π', '√']) && text.len() - unit.len() == at + 2 && !squared
    })
}

/// Is a value in single letters above and below each other, as `2 \frac{V}{m^2}` is, and the other in none? They may be variables.
fn in_letters(text: &str, other: &str) -> bool {
    let (value, letters) = text.rsplit_once("frac{").unwrap_or_default();
    let value = value.trim_end_matches(['\\', 'd', 't', ' ', '~', ',']);
    let mut words = letters.split(|it: char| !it.is_alphabetic());
    let (_, bare) = other.rsplit_once('=').unwrap_or(("", other));
    value.ends_with(|it: char| it == '}' || it.is_ascii_digit())
        && letters.starts_with(char::is_alphabetic)
        && !letters.contains('\\')
        // What is written together as well: a speed.
        && !letters.starts_with("m}{s")
        && words.all(|it| it.len() < 2)
        && !bare.contains(char::is_alphabetic)
}

/// Is a value one of several that are stated?
fn is_among(gold: &Answer, pred: &Answer, config: &Config) -> bool {
    let Answer::List(parts) = pred else {
        return false;
    };
    if !matches!(gold, Answer::Quantity(_) | Answer::Relation(_)) {
        return false;
    }
    let mut parts = parts.iter().take(8);
    parts.any(|it| compare::compare(gold, it, config).equal == Some(true))
}

/// What was read, where it is another value than one of a list.
fn value_of<'a>(pred: &'a Side<'_>, gold: &Answer) -> &'a str {
    match gold {
        Answer::List(_) | Answer::Set(_) | Answer::Tuple(_) | Answer::Ratio(_) => "",
        _ => &pred.text,
    }
}

/// Was one value read where words or several values are asked for, or a number in another base than it is written in?
fn other_form(gold: &Side<'_>, pred: &Side<'_>) -> bool {
    let (Ok(a), Ok(b)) = (&gold.answer, &pred.answer) else {
        return false;
    };
    let based = pred.text.rsplit_once('_').map(|(digits, _)| digits);
    match a {
        Answer::Text(_) | Answer::Truth(_) | Answer::Choice(_) => matches!(b, Answer::Quantity(_)),
        Answer::List(_) | Answer::Tuple(_) | Answer::Interval(_) => {
            matches!(b, Answer::Quantity(_) | Answer::Relation(_))
        }
        _ => based == Some(&*gold.text),
    }
}

/// The letters of a text without their accents.
fn unaccented(text: &str) -> impl Iterator<Item = char> {
    text.nfd().filter(|it| !matches!(it, '\u{300}'..='\u{36f}'))
}

/// The units of a measure that has several: "1 hour 30 minutes".
fn compound(text: &str) -> impl Iterator<Item = &str> {
    let words = || text.split(|it: char| !it.is_alphabetic());
    let unit = |it: &&str| parse::unit(it).is_some();
    let several = words().filter(unit).nth(1).is_some();
    words().filter(move |it| several && unit(it))
}

/// Are words without a digit given where a number is asked for, and not those that say that there is none?
fn unknown_words(gold: &Answer, pred: &Answer) -> bool {
    let (Answer::Quantity(_), Answer::Text(text)) = (gold, pred) else {
        return false;
    };
    !text.contains(is_digit) && !words::NO_VALUE.contains(text)
}

/// Does a prediction go on where it was not read: "0.385 J/g·°C", "30 y.o.", "40 % of the distance", or "30 m/s straight up" against "30 m/s upward"?
fn goes_on((gold, a): (&str, &Answer), pred: &Side<'_>, b: &Answer) -> bool {
    let (before, after) = pred.around();
    // "2h 30m"
    let beside = before.trim_end().rsplit(' ').next().unwrap_or("");
    let compound = pred.text.starts_with(is_digit)
        && beside.starts_with(is_digit)
        && beside.ends_with(char::is_alphabetic);
    let rate = gold.contains('/') || gold.contains(" per ");
    // What is in terms of something, against its letter.
    let lettered =
        |it: &Answer| matches!(it, Answer::Quantity(it) if algebra::has_letter(&it.value));
    let share = pred.text.ends_with('%') || pred.text.contains(char::is_alphabetic);
    let in_terms = share && after.starts_with(" of ") && lettered(a) && !lettered(b);
    let dotted = after.strip_prefix('.').unwrap_or("");
    let cut = after.starts_with(['·', '⋅', '°', '⁻']) || dotted.starts_with(char::is_lowercase);
    let more = gold.strip_prefix(&*pred.text);
    let more = more.and_then(|it| it.strip_prefix(' ')?.chars().next());
    let more = more.is_some_and(char::is_alphabetic);
    compound
        || in_terms
        || cut
        || rate && is_rate(pred)
        || more && after.split_whitespace().nth(1).is_some()
}

/// The first doubt that holds.
fn first(doubts: &[(&dyn Fn() -> bool, &'static str)]) -> Option<&'static str> {
    let holds = doubts.iter().find(|(holds, _)| holds());
    holds.map(|(_, doubt)| *doubt)
}

/// Does a text say the same as an answer?
fn says(text: &str, answer: &Answer, config: &Config) -> bool {
    parse::parse(text).is_ok_and(|it| compare::compare(answer, &it, config).equal == Some(true))
}

/// Is a number grouped as in 1,23,456?
pub(crate) fn in_lakhs(text: &str) -> bool {
    if !text.contains(',') {
        return false;
    }
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let length = |it: &str| if digits(it) { it.len() } else { 0 };
    let groups: Vec<usize> = text.split(',').map(length).collect();
    matches!(groups[..], [1 | 2, 2, .., 3]) && groups[1..groups.len() - 1].iter().all(|it| *it == 2)
}

/// A sum without the sign of rupees, in which people count in lakhs.
pub(crate) fn without_rupees(text: &str) -> &str {
    let mut signs = ["₹", "Rs.", "Rs"].into_iter();
    let rest = signs.find_map(|sign| text.strip_prefix(sign));
    rest.map_or(text, str::trim_start)
}
