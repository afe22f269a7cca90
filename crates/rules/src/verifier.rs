//! The one entrance: a gold answer and a prediction in, a verification out.

use std::ops::Deref;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::algebra::{self, work};
use crate::answer::Answer;
use crate::code::{self, Verdict};
use crate::compare::Comparison;
use crate::config::{Config, ExtractionMode, FallbackMode, Profile};
use crate::extract::{Found, Role};
use crate::format::AnswerFormat;
use crate::lexicon::numbers::{cardinal, ordinal};
use crate::lexicon::units::currency;
use crate::lexicon::words;
use crate::parse::ParseError;
use crate::verification::{Reading, Status, Verification, shortened};
use crate::{alternatives, compare, extract, math_verify, parse, pattern};

/// Verifies predictions under one profile and one set of settings. `Send + Sync`, without state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verifier {
    profile: Profile,
    config: Config,
    /// Settings for finding the gold answer, where they differ.
    gold: Option<Config>,
}

impl Verifier {
    /// A verifier under `profile` and `config`.
    pub fn new(profile: Profile, config: Config) -> Self {
        Self {
            profile,
            config,
            gold: None,
        }
    }

    /// This verifier, with settings of its own for finding the gold answer; how answers are compared stays as it is.
    ///
    /// ```
    /// use juror_rules::{Config, ExtractionTarget, Profile, Verifier};
    ///
    /// let boxed = Config { extract: vec![ExtractionTarget::Latex], ..Config::default() };
    /// let verifier = Verifier::new(Profile::Compat, boxed).with_gold_config(Config::default());
    /// assert_eq!(verifier.verify("5", r"Of 7, \boxed{5}.").equal, Some(true));
    /// ```
    #[must_use]
    pub fn with_gold_config(mut self, config: Config) -> Self {
        self.gold = Some(config);
        self
    }

    /// What is read in `text` as its answer; empty where there is none.
    ///
    /// Under [`Profile::Compat`] this is the list of Math-Verify's `parse`: a value, if something parses, and the text that
    /// was tried first. Under [`Profile::Strict`] it is the answer as it was found.
    ///
    /// ```
    /// use juror_rules::{Config, Profile, Reading, Role, Verifier};
    ///
    /// let verifier = Verifier::new(Profile::Compat, Config::default());
    /// let read = verifier.read(r"So it is $\frac{1}{2}$.", Role::Prediction);
    /// assert_eq!(read, [Reading::Value("1/2".into()), Reading::Text(r"\frac{1}{2}".into())]);
    /// ```
    pub fn read(&self, text: &str, role: Role) -> Vec<Reading> {
        let config = match role {
            Role::Gold => self.gold_config(),
            Role::Prediction => &self.config,
        };
        match self.profile {
            Profile::Strict => work::limited(text.len(), || {
                let side = read(text, role, config, false).ok();
                side.map(|side| Reading::Value(shortened(side.found.text.into())))
                    .into_iter()
                    .collect()
            }),
            Profile::Compat => math_verify::read(text, config),
        }
    }

    fn gold_config(&self) -> &Config {
        self.gold.as_ref().unwrap_or(&self.config)
    }

    /// Is the answer of `pred`, a whole response or a bare answer, that of `gold`?
    ///
    /// There is no error: what cannot be read or decided is a [`Verification`] whose `equal` is `None` and whose `status`
    /// and `reason` say why. Every input ends within a budget of work that is fixed but for a part in proportion to its length.
    ///
    /// ```
    /// use juror_rules::{Config, Profile, Status, Verifier};
    ///
    /// let strict = Verifier::new(Profile::Strict, Config::default());
    /// let verification = strict.verify(r"\frac{1}{2}", "Half of them, so the answer is **0.5**.");
    /// assert_eq!(verification.equal, Some(true));
    /// assert_eq!(verification.status, Status::Decided);
    ///
    /// // What cannot be read is never called different.
    /// let verification = strict.verify("3", r"The answer is $\frac{3$.");
    /// assert_ne!(verification.equal, Some(true));
    ///
    /// // Math-Verify takes the percent sign for nothing.
    /// let compat = Verifier::new(Profile::Compat, Config::default());
    /// assert_eq!(compat.verify(r"$28\%$", "28").equal, Some(true));
    /// assert_eq!(strict.verify(r"$28\%$", "28").equal, None);
    /// ```
    pub fn verify(&self, gold: &str, pred: &str) -> Verification {
        work::limited(gold.len() + pred.len(), || match self.profile {
            Profile::Strict => strict((gold, self.gold_config()), (pred, &self.config)),
            Profile::Compat => {
                math_verify::verify((gold, self.gold_config()), (pred, &self.config))
            }
        })
    }
}

impl Verifier {
    /// As [`Self::verify`], of a response whose answer stands in a `format`, against reference answers any of which is right: the
    /// verification of the first that is equal, else of the last that cannot be told, else of the first.
    ///
    /// ```
    /// use juror_rules::{AnswerFormat, Config, Profile, Verifier};
    ///
    /// let strict = Verifier::new(Profile::Strict, Config::default());
    /// let verification = strict.verify_any(["7", "5"], r"Of 7, \boxed{5}.", &AnswerFormat::boxed());
    /// assert_eq!(verification.equal, Some(true));
    /// ```
    pub fn verify_any<'g>(
        &self,
        golds: impl IntoIterator<Item = &'g str>,
        response: &str,
        format: &AnswerFormat,
    ) -> Verification {
        let mut golds = golds.into_iter();
        let first = golds.next().unwrap_or("");
        let Some(answer) = format.answer(response) else {
            let reason = "nothing in the response has the format of an answer".to_owned();
            return unread(Status::NoAnswer, &[first], &[], reason);
        };
        let mut verdict = self.verify(first, &answer);
        for gold in golds {
            if verdict.equal == Some(true) {
                break;
            }
            let next = self.verify(gold, &answer);
            if next.equal != Some(false) {
                verdict = next;
            }
        }
        verdict
    }
}

/// One side as it was read.
struct Side {
    found: Found<'static>,
    answer: Result<Answer, ParseError>,
}

impl Deref for Side {
    type Target = Found<'static>;

    fn deref(&self) -> &Self::Target {
        &self.found
    }
}

/// Is a response one short line, all of which may be an answer in words?
fn in_words(response: &str) -> bool {
    const LONGEST: usize = 120;
    let response = response.trim();
    // "This is too hard for me to solve."
    let declines = ["solve", "answer", "determine"];
    response.len() <= LONGEST
        && !response.contains(['\n', '?'])
        && !declines.iter().any(|it| response.contains(it))
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

/// Do both sides name a currency, and not the same?
fn other_currency(gold: &Side, pred: &Side) -> bool {
    fn named(side: &Side) -> Option<&str> {
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
    named(gold).zip(named(pred)).is_some_and(|(a, b)| a != b)
}

/// What was read, where it is another value than one of a list.
fn value_of<'a>(pred: &'a Side, gold: &Answer) -> &'a str {
    match gold {
        Answer::List(_) | Answer::Set(_) | Answer::Tuple(_) | Answer::Ratio(_) => "",
        _ => &pred.text,
    }
}

/// Does a text say the same as an answer?
fn says(text: &str, answer: &Answer, config: &Config) -> bool {
    parse::parse(text).is_ok_and(|it| compare::compare(answer, &it, config).equal == Some(true))
}

/// Is what was read only the end of a ratio, as in "a ratio of 1 to 4", or of a chance, as in "one in six"?
fn ends_ratio(gold: &Answer, pred: &Side) -> bool {
    let joined: &[&str] = match gold {
        Answer::Ratio(_) => &[" to "],
        _ => &[" in ", " out of "],
    };
    let (before, _) = pred.statement.rsplit_once(&*pred.text).unwrap_or_default();
    let before = joined.iter().find_map(|it| before.strip_suffix(it));
    let first = before.and_then(|it| it.rsplit([' ', '-']).next());
    first.is_some_and(|it| it.parse::<u64>().is_ok() || cardinal(it).is_some())
}

/// Is a ratio or a chance in words, and the reference none? Then it may be a range, a score, or a time of day: "ten to two".
fn spoken_otherwise(gold: &str, pred: &Side, equal: bool) -> bool {
    let joined = |it: &&str| pred.statement.contains(*it);
    let mixed = pred.statement.contains(" and ");
    let spoken = !pred.statement.contains(|it: char| it.is_ascii_digit());
    spoken
        && pred.text.contains([':', '/'])
        && !mixed
        && [" to ", " in ", " out of "].iter().any(joined)
        && !(equal && (gold.contains([':', '/']) || gold.contains("frac")))
}

/// Does a prediction go on where it was not read: "0.385 J/g·°C", "30 y.o.", "40 % of the distance", or "30 m/s straight up" against
/// "30 m/s upward"?
fn goes_on((gold, a): (&str, &Answer), pred: &Side, b: &Answer) -> bool {
    let (before, after) = pred.statement.rsplit_once(&*pred.text).unwrap_or_default();
    // "2h 30m"
    let beside = before.trim_end().rsplit(' ').next().unwrap_or("");
    let compound = pred.text.starts_with(|it: char| it.is_ascii_digit())
        && beside.starts_with(|it: char| it.is_ascii_digit())
        && beside.ends_with(char::is_alphabetic);
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
        || is_rate(pred)
        || more && after.split_whitespace().nth(1).is_some()
}

/// Are two texts the same if one of them is read in another way?
fn may_be_read_so((gold, a): (&str, &Answer), (pred, b): (&str, &Answer), config: &Config) -> bool {
    let readings = |text: &str| alternatives::of(text, config.decimal).into_iter();
    readings(pred).any(|it| says(&it, a, config)) || readings(gold).any(|it| says(&it, b, config))
}

/// The function and the argument whose value is stated: P and A|B of "P(A|B) = 0.3".
fn called(statement: &str) -> Option<(&str, &str)> {
    let (name, rest) = statement
        .trim_start_matches(['$', ' ', '*'])
        .split_once('(')?;
    let (argument, value) = rest.split_once(')')?;
    let plain = name.len() < 4 && name.chars().all(char::is_alphabetic);
    (plain && value.trim_start().starts_with('=')).then_some((name, argument))
}

/// Was one value read where words or several values are asked for, or a number in another base than it is written in?
fn other_form(gold: &Side, pred: &Side) -> bool {
    let (Ok(a), Ok(b)) = (&gold.answer, &pred.answer) else {
        return false;
    };
    let based = pred.text.rsplit_once('_').map(|(digits, _)| digits);
    match a {
        Answer::Text(_) | Answer::Truth(_) | Answer::Choice(_) => matches!(b, Answer::Quantity(_)),
        Answer::List(_) => !matches!(b, Answer::List(_) | Answer::Set(_) | Answer::Tuple(_)),
        _ => based == Some(&*gold.text),
    }
}

/// Does a number stand in a statement with a decimal comma?
fn with_comma(number: &str, statement: &str) -> bool {
    let written = number.replace('.', ",");
    let digit = |it: char| it.is_ascii_digit();
    let mut parts = statement.split(&*written);
    let before = parts.next().unwrap_or("");
    number.contains('.')
        && parts.next().is_some_and(|it| !it.starts_with(digit))
        && !before.ends_with(digit)
}

/// Are two lists in another order, in a statement that is about one?
fn is_reordered(a: &Answer, b: &Answer, statement: &str) -> bool {
    let (Answer::List(a), Answer::List(b)) = (a, b) else {
        return false;
    };
    let ordered = ["sequence", "order", "sorted", "ranking", "series"];
    a != b && ordered.iter().any(|it| statement.contains(it))
}

/// The place in a row that a word names: 7 of "7th", 2 of "second".
fn place(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(|it: char| it.is_ascii_lowercase());
    match &word[digits.len()..] {
        "st" | "nd" | "rd" | "th" => digits.parse().ok(),
        _ => ordinal(&word.to_ascii_lowercase()),
    }
}

/// Is the reference a place in a row, and does the prediction name another, or none in a sentence?
fn other_place(gold: &str, pred: &str) -> bool {
    let Some(own) = place(extract::bare(gold)) else {
        return false;
    };
    let words = || {
        pred.split(|it: char| !it.is_alphanumeric())
            .filter(|it| !it.is_empty())
    };
    let mut places = words().filter_map(place).peekable();
    match places.peek() {
        Some(_) => places.all(|it| it != own),
        None => words().nth(1).is_some(),
    }
}

/// Does an amount name what it counts, and no time of which it is a rate?
fn names_amount(text: &str) -> bool {
    // "60 bpm"
    let rate = text.ends_with("pm") || text.ends_with("ph") || text.ends_with("ps");
    text.contains(' ') && !rate && !text.contains('/') && !text.contains(" per ")
}

/// Does what was read become a rate by what follows it: "120 words a minute", "sixty kilometres every hour"?
fn is_rate(pred: &Side) -> bool {
    let (_, after) = pred.statement.rsplit_once(&*pred.text).unwrap_or_default();
    let mut words = after.split(|it: char| !it.is_alphabetic()).skip(1);
    let times = ["second", "minute", "hour", "day", "week", "month", "year"];
    after.starts_with(' ')
        && matches!(words.next(), Some("a" | "an" | "per" | "each" | "every"))
        && words.next().is_some_and(|it| times.contains(&it))
}

/// Do two shares mean different things: percentage points and percent, "30% off" and "30% of the price"?
fn other_share(gold: &str, pred: &str) -> bool {
    let points = |text: &str| text.contains("percentage point") || text.contains(" pp");
    let percent =
        |text: &str| text.contains('%') || text.contains("percent ") || text.ends_with("percent");
    let off = |text: &str| {
        [
            "% off",
            "percent off",
            "discount",
            "reduc",
            "less",
            "saves",
            "cheaper",
        ]
        .iter()
        .any(|it| text.contains(it))
    };
    points(gold) != points(pred) && percent(gold) != points(gold) && percent(pred) != points(pred)
        || gold.ends_with("% off") && pred.contains(" of ") && !off(pred)
}

/// Do two statements in a script without spaces measure in different units: 5 千米 and 5 米?
fn other_unit(gold: &str, pred: &str) -> bool {
    const UNITS: [&str; 24] = [
        "千米",
        "公里",
        "厘米",
        "毫米",
        "分米",
        "米",
        "千克",
        "公斤",
        "毫克",
        "克",
        "吨",
        "小时",
        "分钟",
        "秒",
        "毫升",
        "升",
        "平方米",
        "立方米",
        "天",
        "周",
        "キロ",
        "メートル",
        "グラム",
        "時間",
    ];
    let unit = |text: &str| {
        let after = text
            .rsplit(|it: char| it.is_ascii_digit())
            .next()
            .unwrap_or("");
        let after = after.trim_start();
        UNITS
            .iter()
            .position(|it| after.starts_with(it))
            .map(|at| match at {
                1 => 0,
                7 => 6,
                at => at,
            })
    };
    unit(gold).zip(unit(pred)).is_some_and(|(a, b)| a != b)
}

/// Does a name follow one number in the reference and another in the prediction: red and blue of "6 red and 4 blue" and "4 red ones and 6 blue ones"?
fn places_other(gold: &str, pred: &str) -> bool {
    const MOST: usize = 200;
    if gold.len() > MOST || pred.len() > 2 * MOST {
        return false;
    }
    fn named(text: &str) -> Vec<(&str, &str)> {
        let words: Vec<&str> = text.split(|it: char| !it.is_alphanumeric()).collect();
        let pairs = words.windows(2).map(|it| (it[1], it[0]));
        let number = |it: &str| it.parse::<u64>().is_ok();
        let pairs = pairs.filter(|(name, it)| number(it) && name.len() > 2 && !number(name));
        pairs.collect()
    }
    let own = named(gold);
    let others = named(pred);
    let other = |(name, number): &&(&str, &str)| {
        let mut same = others.iter().filter(|(it, _)| it == name).peekable();
        same.peek().is_some() && same.all(|(_, it)| it != number)
    };
    own.iter().filter(other).count() > 1
}

/// Are words without a digit given where a number is asked for, and not those that say that there is none?
fn unknown_words(gold: &Answer, pred: &Answer) -> bool {
    let (Answer::Quantity(_), Answer::Text(text)) = (gold, pred) else {
        return false;
    };
    !text.contains(|it: char| it.is_ascii_digit()) && !words::NO_VALUE.contains(text)
}

/// From how many words on an announced statement tells a story, of which a number may be another than the answer.
const LONG: usize = 8;

/// Why an answer may have been given in a way that is not known.
const MENTIONED: &str = "the words of the reference stand in what announces no answer";

/// What is mathematically true.
fn strict(
    (reference, gold_config): (&str, &Config),
    (response, config): (&str, &Config),
) -> Verification {
    let long = reference.len().max(response.len()) > extract::LONGEST;
    if long && extract::bare(reference) == extract::bare(response) {
        return alike(reference, reference, "written alike");
    }
    let gold = match read(reference, Role::Gold, gold_config, false) {
        Ok(side) => side,
        Err(_) if code::restates(reference, response) => {
            return of_code(Verdict::Equal, reference, reference);
        }
        Err(_) if reference.len() > extract::LONGEST => return too_long(),
        Err(reason) => {
            return unread(Status::UnparsedGold, &[reference], &[], reason);
        }
    };
    let choice = matches!(gold.answer, Ok(Answer::Choice(_)));
    let read = read(response, Role::Prediction, config, choice);
    if read.as_ref().is_err_and(|it| it == extract::NOTHING_FOUND)
        && !choice
        && !gold.qualified
        && let (Some(text), Ok(answer)) = (extract::short(response), &gold.answer)
        && let Ok(short) = parse::parse(&text)
    {
        // Such a line answers only if it is the reference.
        let comparison = compare::compare(answer, &short, config);
        if comparison.equal == Some(true) {
            return compared(comparison, &gold.text, &text);
        }
    }
    // Before anything is taken apart: an answer is itself.
    let statement = read.as_ref().map_or("", |side| &side.statement);
    let itself = extract::bare(&gold.statement);
    if let Ok(side) = &read
        && side.qualified
        && extract::retracted(statement)
        && extract::bare(response) != itself
        && !ends_in(response, &read, &gold)
    {
        let reason = "what is answered is taken back".to_owned();
        return unread(Status::UnparsedPred, &[&gold.text], &[&side.text], reason);
    }
    if let Ok(side) = &read
        && !extract::is_announced(side.method)
        && code::fenced(reference, response) == Some(false)
    {
        let reason = "what is fenced is not said to be the answer".to_owned();
        return unread(Status::UnparsedPred, &[&gold.text], &[statement], reason);
    }
    match code::verdict(reference, statement, response) {
        Some(Verdict::Open) if read.is_err() => {}
        Some(verdict) => return of_code(verdict, &gold.text, statement),
        None => {}
    }
    let itself = without_article(itself);
    if [statement, response]
        .iter()
        .any(|it| is_text(without_article(extract::bare(it)), itself))
    {
        return alike(&gold.text, &gold.text, "written alike");
    }
    let pred = match read {
        Err(_) if code::restates(reference, response) => {
            return of_code(Verdict::Equal, &gold.text, reference);
        }
        read if ends_in(response, &read, &gold) => {
            return alike(&gold.text, &gold.text, "what the last sentence ends in");
        }
        Ok(side) => side,
        Err(_) if response.len() > extract::LONGEST => return too_long(),
        // It may be said in a way that is not known.
        Err(reason)
            if (reason == extract::NOTHING_FOUND
                || reason == extract::BREAKS_OFF && in_words(response))
                && (in_words(response)
                    || matches!(gold.answer, Ok(Answer::Text(_)))
                    || extract::holds_near_end(response, "", &gold.text)
                    || extract::quotes(response, "", &gold.text)
                    || !choice && extract::mentions(response, &gold.text)) =>
        {
            let reason = MENTIONED.to_owned();
            return unread(Status::UnparsedPred, &[&gold.text], &[], reason);
        }
        Err(reason) => {
            return unread(Status::NoAnswer, &[&gold.text], &[], reason);
        }
    };
    if gold.qualified || pred.qualified {
        let (status, side) = if gold.qualified {
            (Status::UnparsedGold, &gold)
        } else {
            (Status::UnparsedPred, &pred)
        };
        let reason = format!(
            "words beside the answer change it: {}",
            quoted(&side.statement)
        );
        return unread(status, &[&gold.text], &[&pred.text], reason);
    }
    if let Some(parts) = parts_compared(&gold, &pred, config) {
        return compared(parts, &gold.text, &pred.text);
    }
    match (&gold.answer, &pred.answer) {
        (Ok(_), Ok(_)) if same_digits(&gold.text, &pred.text) => {
            alike(&gold.text, &pred.text, "the same digits in other groups")
        }
        (Ok(a), Ok(b)) => {
            let letters = compare::compare(a, b, config);
            let comparison = match options_compared(&gold, &pred, config) {
                Some(texts) => with_texts(letters, texts, &gold, &pred),
                None => letters,
            };
            let doubtful = match comparison.equal {
                Some(true) if !code::may_be_equal(reference, &pred.statement) => {
                    "collections of different lengths"
                }
                Some(true) if extract::opposed(&gold.statement, &pred.statement) => {
                    "one side says the opposite of the other"
                }
                Some(true) if compare::reordered(&gold.statement, &pred.statement) => {
                    "the same letters in another order"
                }
                Some(true)
                    if extract::dollars(&gold.statement) != extract::dollars(&pred.statement) =>
                {
                    "dollars of two countries"
                }
                Some(true) if other_currency(&gold, &pred) => "another currency",
                Some(true) if extract::holds(&gold.text, &pred.text, &pred.statement) => {
                    "what is counted holds what the reference counts"
                }
                Some(_) if ends_ratio(a, &pred) => MENTIONED,
                Some(equal) if spoken_otherwise(&gold.text, &pred, equal) => {
                    "a ratio in words may be a range, a score or a time"
                }
                Some(_) if lone_unit(&gold.text) != lone_unit(&pred.text) => {
                    "a letter after π or a root may be no unit"
                }
                Some(true)
                    if called(&gold.statement)
                        .zip(called(&pred.statement))
                        .is_some_and(|(a, b)| a.0 == b.0 && a.1 != b.1) =>
                {
                    "the same value of differently named things"
                }
                Some(true) if places_other(&gold.statement, &pred.statement) => {
                    "the same numbers with other names"
                }
                Some(true) if is_reordered(a, b, &pred.statement) => "the order may count",
                Some(true) if other_share(&gold.statement, &pred.statement) => "another share",
                Some(true) if other_unit(&gold.statement, &pred.statement) => "another unit",
                Some(true) if other_place(&gold.statement, &pred.statement) => {
                    "a place in a row against a number"
                }
                Some(true) if names_amount(&gold.text) && is_rate(&pred) => {
                    "a rate against an amount"
                }
                Some(true) if option_changed(&gold, &pred) => "words after the option change it",
                Some(true) if compare::crossed(&gold.statement, &pred.statement) => {
                    "the order of a cross product counts"
                }
                Some(true)
                    if compare::joined_otherwise(a, b, [&gold.statement, &pred.statement]) =>
                {
                    "the same parts, joined in another way"
                }
                Some(false) if is_fall(&gold, &pred, config) => {
                    return alike(&gold.text, &pred.text, "a fall is negative");
                }
                Some(false)
                    if in_lakhs(without_rupees(&gold.text))
                        != in_lakhs(without_rupees(&pred.text)) =>
                {
                    "digits in groups of two on one side"
                }
                Some(false) if natural_logarithm(&gold, &pred, config) => {
                    "the base of a logarithm is not said"
                }
                // "(x, y) = (2, 3) and xy = 6" states several things.
                Some(false)
                    if !extract::is_announced(pred.method) && is_among(a, b, config)
                        || !extract::is_stated(pred.method)
                            && !matches!((a, b), (Answer::Truth(_), Answer::Truth(_)))
                            && extract::bare(response) != pred.text
                            && response.trim().contains(char::is_whitespace)
                            && (extract::holds_near_end(
                                response,
                                value_of(&pred, a),
                                &gold.text,
                            ) || extract::quotes(response, value_of(&pred, a), &gold.text)) =>
                {
                    MENTIONED
                }
                Some(false)
                    if !extract::is_announced(pred.method)
                        && (other_form(&gold, &pred)
                            || extract::mentions_part(response, &gold.text))
                        || matches!((a, b), (Answer::Text(_), Answer::Quantity(_)))
                            && extract::mentions(&pred.statement, &gold.text)
                        || extract::holds_near_end(
                            &pred.statement,
                            value_of(&pred, a),
                            &gold.text,
                        ) && pred.statement.split_whitespace().nth(LONG).is_some() =>
                {
                    MENTIONED
                }
                // "La respuesta es siete."
                Some(false)
                    if (matches!(a, Answer::List(_)) || matches!(b, Answer::List(_)))
                        && pred.statement.contains("i.e.") =>
                {
                    "the answer is said in two ways"
                }
                Some(false) if unknown_words(a, b) => "words that may be a number",
                Some(false) if goes_on((&gold.text, a), &pred, b) => {
                    "what was read is not the whole answer"
                }
                Some(false) if may_be_read_so((&gold.text, a), (&pred.text, b), config) => {
                    "read in another way the two are equal"
                }
                Some(false) if gold.doubtful || pred.doubtful => {
                    "the answer may be another part of what was said"
                }
                Some(false)
                    if (gold_config.decimal.is_none() || config.decimal.is_none())
                        && (extract::same_but_for_comma(&gold.text, &pred.text)
                            || with_comma(&gold.text, &pred.statement)) =>
                {
                    "the comma may be a decimal one"
                }
                _ => "",
            };
            if !doubtful.is_empty() {
                let (status, reason) = (Status::UnparsedPred, doubtful.to_owned());
                return unread(status, &[&gold.text], &[&pred.text], reason);
            }
            compared(comparison, &gold.text, &pred.text)
        }
        // What cannot be read may still be written alike.
        _ if config.fallback_mode != FallbackMode::NoFallback
            && written_alike(&gold.text, &pred.text) =>
        {
            alike(
                &gold.text,
                &pred.text,
                "written alike, though not understood",
            )
        }
        (Err(error), _) => unreadable(error, Status::UnparsedGold, &gold.text, [&gold, &pred]),
        (_, Err(error)) => unreadable(error, Status::UnparsedPred, &pred.text, [&gold, &pred]),
    }
}

/// Does a lone letter stand after π or a root, as in "10π m"? It may be a variable; squared, `m` is a unit.
fn lone_unit(text: &str) -> bool {
    text.match_indices(' ').any(|(at, _)| {
        let value = text[..at].trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
        let unit = text[at + 1..].trim_start_matches(|it: char| it.is_ascii_alphabetic());
        let squared = text[at + 1..].starts_with('m') && unit.starts_with(['^', '²', '³']);
        value.ends_with(['π', '√']) && text.len() - unit.len() == at + 2 && !squared
    })
}

/// Does a response that announces no answer end in words that are the answer of `gold`? It is asked for nothing else: such
/// a sentence may say more than its answer.
fn ends_in(pred: &str, read: &Result<Side, String>, gold: &Side) -> bool {
    let announced = |side: &Side| extract::is_announced(side.method);
    let answer = gold.answer.as_ref();
    if gold.qualified
        || read.as_ref().is_ok_and(announced)
        // A refusal, or thinking that does not end.
        || read.as_ref().is_err_and(|it| it != extract::NOTHING_FOUND)
        || matches!(answer, Ok(Answer::Choice(_)))
    {
        return false;
    }
    let lettered = gold.text.contains(|it: char| it.is_alphabetic());
    let numbered = gold.text.contains(|it: char| it.is_ascii_digit());
    let worded = !numbered || matches!(answer, Ok(Answer::Text(_)));
    let bare = extract::bare(&gold.text);
    let bare = bare.strip_prefix("the ").unwrap_or(bare);
    // Co is no CO.
    let symbol = words::ELEMENT.contains_exactly(bare);
    let is = |text: &str| {
        !symbol && text.eq_ignore_ascii_case(bare)
            || text == bare
            || worded && parse::parse(text).is_ok_and(|it| answer == Ok(&it))
    };
    lettered && extract::ends_in(pred, is)
}

fn compared(comparison: Comparison, gold: &str, pred: &str) -> Verification {
    Verification {
        equal: comparison.equal,
        status: comparison.status,
        method: comparison.method,
        gold: vec![shortened(gold.to_owned())],
        pred: vec![shortened(pred.to_owned())],
        reason: comparison.reason,
    }
}

/// What is equal as it is written.
fn alike(gold: &str, pred: &str, reason: &str) -> Verification {
    let reason = reason.to_owned();
    let comparison = Comparison {
        reason,
        ..Comparison::equal("text")
    };
    compared(comparison, gold, pred)
}

/// The verification of a value of a program.
fn of_code(verdict: Verdict, gold: &str, pred: &str) -> Verification {
    match verdict {
        Verdict::Equal => alike(gold, pred, "the same value"),
        Verdict::Different => Verification {
            equal: Some(false),
            ..alike(gold, pred, "another value")
        },
        Verdict::Open => {
            let reason = "no value as programs write it".to_owned();
            Verification {
                method: "text",
                ..unread(Status::UnparsedPred, &[gold], &[pred], reason)
            }
        }
    }
}

/// Extracts and parses one side; the reason where there is no answer. `choice`: the letter of a choice is asked for.
fn read(text: &str, role: Role, config: &Config, choice: bool) -> Result<Side, String> {
    let mut found = match extract::extract(text, role, config) {
        Err(reason) if choice => extract::choice_at_end(text).ok_or(reason)?,
        found => found?,
    };
    if choice
        && found.method != "choice"
        && let Some(letter) = extract::choice_instead(&found, text, config)
    {
        found = letter;
    }
    let answer = parse::parse(&found.text);
    if config.extraction_mode == ExtractionMode::AnyMatch
        && matches!(answer, Err(ParseError::Syntax { .. } | ParseError::Empty))
    {
        // Another that was announced in the same way; one that was not would be a guess.
        for other in extract::candidates(text, role, config).into_iter().skip(1) {
            if other.method == found.method
                && let Ok(answer) = parse::parse(&other.text)
            {
                let found = other.into_owned();
                return Ok(Side {
                    found,
                    answer: Ok(answer),
                });
            }
        }
    }
    // A letter that only the parser takes for one may be denied by what stands beside it.
    let lettered = found.method != "choice" && matches!(answer, Ok(Answer::Choice(_)));
    let denied = lettered && extract::denies(&found.statement);
    found.qualified |= denied;
    let found = found.into_owned();
    Ok(Side { found, answer })
}

/// No verdict on what could not be read; no answer is not equal to any.
fn unread(status: Status, gold: &[&str], pred: &[&str], reason: String) -> Verification {
    Verification {
        equal: (status == Status::NoAnswer).then_some(false),
        status,
        method: "none",
        gold: gold.iter().map(|&text| shortened(text.into())).collect(),
        pred: pred.iter().map(|&text| shortened(text.into())).collect(),
        reason,
    }
}

/// No verdict on a text of which too much was not read.
pub(crate) fn too_long() -> Verification {
    let reason = format!(
        "of more than {} bytes only the end is read",
        extract::LONGEST
    );
    unread(Status::TooComplex, &[], &[], reason)
}

/// A text in quotes, of a long one the beginning.
fn quoted(text: &str) -> String {
    const LONGEST: usize = 120;
    let text = text.trim();
    let begin = &text[..text.floor_char_boundary(LONGEST)];
    let rest = if begin.len() < text.len() { "…" } else { "" };
    format!("“{begin}{rest}”")
}

/// What is wrong with an answer, and what of it was left over.
fn with_rest(error: &ParseError, text: &str) -> String {
    match error {
        ParseError::Syntax { at, .. } => match text.get(*at..).filter(|rest| !rest.is_empty()) {
            Some(rest) => format!("{error}: {}", quoted(rest)),
            None => error.to_string(),
        },
        _ => error.to_string(),
    }
}

/// No verdict, since `text` of one side cannot be read. What is too long or nested too deeply is not misread but too complex.
fn unreadable(error: &ParseError, unparsed: Status, text: &str, sides: [&Side; 2]) -> Verification {
    let status = match error {
        ParseError::TooDeep { .. } | ParseError::TooLong { .. } => Status::TooComplex,
        ParseError::Empty | ParseError::Syntax { .. } => unparsed,
    };
    let [gold, pred] = sides;
    unread(status, &[&gold.text], &[&pred.text], with_rest(error, text))
}

impl Verifier {
    /// Which labelled parts of `gold`, "(a) 3, (b) 5", are right in `pred`, in their order: `None` for one that `pred` does not have, or
    /// that cannot be told. Empty where `gold` has no parts, and under [`Profile::Compat`], which knows none.
    ///
    /// ```
    /// use juror_rules::{Config, Profile, Verifier};
    ///
    /// let strict = Verifier::new(Profile::Strict, Config::default());
    /// let parts = strict.parts("(a) 3, (b) 5", "The answer is (a) 3, (b) 6.");
    /// assert_eq!(parts, [Some(true), Some(false)]);
    /// ```
    pub fn parts(&self, gold: &str, pred: &str) -> Vec<Option<bool>> {
        if self.profile != Profile::Strict {
            return Vec::new();
        }
        let whole = self.verify(gold, pred).equal;
        work::limited(gold.len() + pred.len(), || {
            let Ok(gold) = read(gold, Role::Gold, self.gold_config(), false) else {
                return Vec::new();
            };
            let Some(wanted) = extract::parts(&gold.text) else {
                return Vec::new();
            };
            if whole == Some(true) {
                return vec![whole; wanted.len()];
            }
            let pred = read(pred, Role::Prediction, &self.config, false);
            let pred = pred.as_ref().ok().filter(|side| !side.qualified);
            let found = pred.and_then(|side| extract::parts(&side.text));
            let found = found.filter(|_| !gold.qualified).unwrap_or_default();
            let part = |(label, value): &(&str, &str)| {
                let own = found
                    .iter()
                    .find(|(own, _)| own.eq_ignore_ascii_case(label));
                part_compared(value, own?.1, &self.config).equal
            };
            wanted.iter().map(part).collect()
        })
    }
}

/// The value of one part against that of another.
fn part_compared(a: &str, b: &str, config: &Config) -> Comparison {
    if written_alike(a, b) {
        return Comparison::equal("text");
    }
    match (parse::parse(a), parse::parse(b)) {
        (Ok(a), Ok(b)) => compare::compare(&a, &b, config),
        _ => Comparison::open(NO_SUCH_PARTS.to_owned()),
    }
}

/// Why parts are open.
const NO_SUCH_PARTS: &str = "labelled parts against what has none, or others";

/// Labelled parts, "(a) 3, (b) 5", one by one; open where only one side has some. `None` where neither has.
fn parts_compared(gold: &Side, pred: &Side, config: &Config) -> Option<Comparison> {
    let (a, b) = (extract::parts(&gold.text), extract::parts(&pred.text));
    if a.is_none() && b.is_none() {
        return None;
    }
    let open = || Comparison::open(NO_SUCH_PARTS.to_owned());
    let (Some(a), Some(b)) = (a, b) else {
        return Some(open());
    };
    let alike = a.len() == b.len()
        && a.iter()
            .zip(&b)
            .all(|((a, _), (b, _))| a.eq_ignore_ascii_case(b));
    if !alike {
        return Some(open());
    }
    let parts = a.iter().zip(&b);
    let parts = parts.map(|((_, a), (_, b))| part_compared(a, b, config));
    let mut whole = Comparison::all("list", parts);
    if whole.reason.is_empty() {
        whole.reason = whole.sentence();
    }
    Some(whole)
}

/// What the texts of options say, where a side names one and the other is something to compare it with.
fn options_compared(gold: &Side, pred: &Side, config: &Config) -> Option<Comparison> {
    let parsed = |text: &String| parse::parse(text).ok();
    let is_choice = |side: &Side| matches!(side.answer, Ok(Answer::Choice(_)));
    let (a, b) = match (&gold.option, &pred.option) {
        (Some(a), Some(b)) => {
            if extract::bare(a) == extract::bare(b) {
                return Some(Comparison::equal("text"));
            }
            (parsed(a)?, parsed(b)?)
        }
        (Some(a), None) if !is_choice(pred) => (parsed(a)?, pred.answer.clone().ok()?),
        // The 2 of "(2) photosynthesis", which a number names.
        (None, Some(b))
            if matches!(gold.answer, Ok(Answer::Quantity(_)))
                && matches!(parsed(b), Some(Answer::Text(_))) =>
        {
            return None;
        }
        (None, Some(b)) if !is_choice(gold) => {
            if extract::bare(&gold.text) == extract::bare(b) {
                return Some(Comparison::equal("text"));
            }
            (gold.answer.clone().ok()?, parsed(b)?)
        }
        _ => return None,
    };
    Some(compare::compare(&a, &b, config))
}

/// Does the text of the option of `gold` stand in `pred` before words that change it?
fn option_changed(gold: &Side, pred: &Side) -> bool {
    let text = gold.option.as_deref().map(extract::bare);
    let following = text.and_then(|it| pred.statement.split_once(it));
    following.is_some_and(|(_, after)| extract::change_option(after))
}

/// How many words the text of an option has at most, for its difference to count: more may be the reasons.
const SHORT: usize = 8;

/// The verdict of two letters, or of a letter against something else, with what the texts of their options say.
fn with_texts(letters: Comparison, texts: Comparison, gold: &Side, pred: &Side) -> Comparison {
    let is_choice = |side: &Side| matches!(side.answer, Ok(Answer::Choice(_)));
    let short = |side: &Side| {
        let text = side.option.as_deref().unwrap_or("");
        text.split_whitespace().count() <= SHORT
    };
    let short = short(gold) && short(pred);
    if !(is_choice(gold) && is_choice(pred)) {
        // One side is the text of an option.
        return match texts.equal {
            Some(false) if letters.equal == Some(true) || !short => {
                Comparison::open("the letter and the text of an option")
            }
            _ => texts,
        };
    }
    match (letters.equal, texts.equal) {
        (Some(true), Some(false)) if short => {
            Comparison::open("one letter, and two texts that differ")
        }
        (Some(false), Some(true)) => Comparison::open("two letters, and one text"),
        _ => letters,
    }
}

/// Is a number grouped as in 1,23,456?
fn in_lakhs(text: &str) -> bool {
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let mut groups = text.split(',').rev();
    let threes = groups
        .next()
        .is_some_and(|last| last.len() == 3 && digits(last));
    let pairs: Vec<&str> = groups.collect();
    let (first, rest) = pairs.split_last().unwrap_or((&"", &[]));
    threes
        && !rest.is_empty()
        && matches!(first.len(), 1 | 2)
        && digits(first)
        && rest.iter().all(|pair| pair.len() == 2 && digits(pair))
}

/// Are these one number, grouped as in 1,23,456 on one side and in threes or not at all on the other, or with a K for its thousands on one side?
fn same_digits(a: &str, b: &str) -> bool {
    let in_thousands = |text: &str| text.ends_with(['K', 'k']);
    let (a, b) = (without_rupees(a), without_rupees(b));
    let digits = |text: &str| {
        let text = text.strip_suffix(['K', 'k']).unwrap_or(text);
        !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit() || it == b',')
    };
    let bare = |text: &str| text.replace(',', "").replace(['K', 'k'], "000");
    digits(a)
        && digits(b)
        && a.len().max(b.len()) < 40
        && (in_lakhs(a) || in_lakhs(b) || in_thousands(a) != in_thousands(b))
        && bare(a) == bare(b)
}

/// A text without the article, or the pronoun, that it begins with.
fn without_article(text: &str) -> &str {
    let article = ["the ", "The ", "a ", "A ", "an ", "An ", "it ", "It "];
    let rest = article.iter().find_map(|it| text.strip_prefix(it));
    rest.filter(|it| it.len() > 1).unwrap_or(text)
}

/// Are two texts one, but for the points of initials: "U.K." and "UK"?
fn is_text(a: &str, b: &str) -> bool {
    static INITIALS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:[A-Z]\.)+[A-Z]\b\.?"));
    let plain = |text| INITIALS.replace_all(text, |it: &Captures<'_>| it[0].replace('.', ""));
    // Points are at most every second sign.
    let may_be = a.len().max(b.len()) <= 2 * a.len().min(b.len());
    a == b || may_be && (a.contains('.') || b.contains('.')) && plain(a) == plain(b)
}

/// Is one side the negative of what the other states as lost: −15% and "a decrease of 15%"?
fn is_fall(gold: &Side, pred: &Side, config: &Config) -> bool {
    let (with, without) = if gold.text.starts_with('-') {
        (gold, pred)
    } else {
        (pred, gold)
    };
    let Some(size) = with.text.strip_prefix('-') else {
        return false;
    };
    !without.text.starts_with(['-', '+'])
        && extract::falls(&without.statement)
        && !without.statement.contains(" to ")
        && !extract::falls(&with.statement)
        && (without.answer.as_ref()).is_ok_and(|it| says(size, it, config))
}

/// Are the two equal if a logarithm without a base is the natural one?
fn natural_logarithm(gold: &Side, pred: &Side, config: &Config) -> bool {
    let plain = |text: &str| text.contains("log") && !text.contains("log_");
    let natural = |text: &str| text.replace("log", "ln");
    let is = |text: &str| text.contains("ln");
    if !(plain(&gold.text) && is(&pred.text) || is(&gold.text) && plain(&pred.text)) {
        return false;
    }
    parse::parse(&natural(&gold.text)).is_ok_and(|it| says(&natural(&pred.text), &it, config))
}

/// A sum without the sign of rupees, in which people count in lakhs.
fn without_rupees(text: &str) -> &str {
    let mut signs = ["₹", "Rs.", "Rs"].into_iter();
    let rest = signs.find_map(|sign| text.strip_prefix(sign));
    rest.map_or(text, str::trim_start)
}

/// Do two texts differ in nothing but spaces and dollar signs? Texts without a letter or digit never count as alike.
fn written_alike(a: &str, b: &str) -> bool {
    // "3 4" is not "34".
    let signs = |text: &'_ str| {
        let mut signs = String::new();
        let mut blank = false;
        for sign in text.chars().filter(|it| *it != '$') {
            if blank && sign.is_ascii_digit() && signs.ends_with(|it: char| it.is_ascii_digit()) {
                signs.push(' ');
            }
            blank = sign.is_whitespace();
            if !blank {
                signs.push(sign);
            }
        }
        signs
    };
    a.chars().any(char::is_alphanumeric) && signs(a) == signs(b)
}
