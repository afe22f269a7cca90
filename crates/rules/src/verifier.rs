//! The one entrance: a gold answer and a prediction in, a verification out.

use std::borrow::Cow;
use std::ops::Deref;

use crate::algebra::work;
use crate::answer::Answer;
use crate::code::{self, Verdict};
use crate::compare::Comparison;
use crate::config::{Config, ExtractionMode, FallbackMode, Profile};
use crate::doubts::{Doubts, MENTIONED, in_lakhs, without_rupees};
use crate::extract::{Found, Role};
use crate::format::AnswerFormat;
use crate::lexicon::{is_digit, words};
use crate::parse::ParseError;
use crate::verification::{Reading, Status, Verification, shortened};
use crate::{compare, extract, math_verify, parse};

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
        let (config, text) = match role {
            Role::Gold => (self.gold_config(), Cow::Borrowed(text)),
            Role::Prediction => (&self.config, self.answering(text).unwrap_or_default()),
        };
        match self.profile {
            Profile::Strict => work::limited(text.len(), || {
                let found = extract::extract(&text, role, config);
                let side = read(found, &text, role, config, false).ok();
                side.map(|side| Reading::Value(shortened(side.found.text.into())))
                    .into_iter()
                    .collect()
            }),
            Profile::Compat => math_verify::read(&text, config),
        }
    }

    /// What may hold the answer of a response, without what tools gave back; `None` where it has no box, and only boxes may, as Math-Verify does not know it.
    fn answering<'p>(&self, pred: &'p str) -> Option<Cow<'p, str>> {
        match self.profile {
            Profile::Compat if self.config.boxed_only => extract::last_box(pred).map(Cow::Owned),
            Profile::Compat => Some(Cow::Borrowed(pred)),
            Profile::Strict => Some(extract::without_tool_results(pred)),
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
        let passing = extract::ends_in_tool_result(pred);
        let Some(pred) = self.answering(pred) else {
            return without_answer(gold);
        };
        let sides = ((gold, self.gold_config()), (&*pred, &self.config));
        work::limited(gold.len() + pred.len(), || match self.profile {
            Profile::Strict => strict(sides.0, sides.1, passing),
            Profile::Compat => math_verify::verify(sides.0, sides.1),
        })
    }

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
        let pred = &*self.answering(pred).unwrap_or_default();
        work::limited(gold.len() + pred.len(), || {
            let side = |text, role, config, gold: &str| {
                let found = in_parts(extract::extract(text, role, config), text, gold);
                read(found, text, role, config, false)
            };
            let Ok(gold) = side(gold, Role::Gold, self.gold_config(), "") else {
                return Vec::new();
            };
            let Some(wanted) = extract::parts(&gold.text) else {
                return Vec::new();
            };
            if whole == Some(true) {
                return vec![whole; wanted.len()];
            }
            let pred = side(pred, Role::Prediction, &self.config, &gold.text);
            let pred = pred.as_ref().ok();
            let pred = pred.filter(|it| !(it.qualified || it.declines));
            let found = pred.and_then(parts_of);
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

    /// As [`Self::verify`], of a response whose answer stands in a `format`, against reference answers any of which is right: the verification of
    /// the first that is equal, else of the last that cannot be told, else of the first. Under [`Profile::Strict`] the `letter` of the option that they
    /// are may be equal where they are open.
    ///
    /// ```
    /// use juror_rules::{AnswerFormat, Config, Profile, Verifier};
    ///
    /// let strict = Verifier::new(Profile::Strict, Config::default());
    /// let verification = strict.verify_any(["7", "5"], None, "Of 7, [5].", &AnswerFormat::pattern(r"\[(.*)\]")?);
    /// assert_eq!(verification.equal, Some(true));
    /// # Ok::<(), String>(())
    /// ```
    pub fn verify_any<'g>(
        &self,
        golds: impl IntoIterator<Item = &'g str>,
        letter: Option<&'g str>,
        response: &str,
        format: &AnswerFormat,
    ) -> Verification {
        let mut golds = golds.into_iter().peekable();
        let strict = self.profile == Profile::Strict;
        let cut = strict.then(|| extract::without_tool_results(response));
        let cut = cut.as_deref().unwrap_or(response);
        let Some(answer) = format.answer(cut) else {
            return without_answer(golds.peek().unwrap_or(&""));
        };
        // Where that is all of it, what it ends in counts.
        let answer = if answer == cut { response } else { answer };
        let letter = letter.filter(|_| strict);
        let verify = |gold: &str| self.verify(gold, answer);
        of_any(golds, letter, verify, |it| it.equal).unwrap_or_else(|| verify(""))
    }
}

/// The verdict on several references, as [`Verifier::verify_any`] chooses it.
pub(crate) fn of_any<'g, V>(
    golds: impl IntoIterator<Item = &'g str>,
    letter: Option<&'g str>,
    verify: impl Fn(&'g str) -> V,
    equal: impl Fn(&V) -> Option<bool>,
) -> Option<V> {
    let better = |best: Option<V>, gold| match best.as_ref().map(&equal) {
        Some(Some(true)) => best,
        known => Some(verify(gold))
            .filter(|it| known.is_none() || equal(it) != Some(false))
            .or(best),
    };
    let verdict = golds.into_iter().fold(None, better);
    let is_open = verdict.as_ref().is_some_and(|it| equal(it).is_none());
    let said = letter.filter(|_| is_open).map(verify);
    said.filter(|it| equal(it) == Some(true)).or(verdict)
}

/// One side as it was read.
pub(crate) struct Side<'t> {
    pub(crate) found: Found<'t>,
    pub(crate) answer: Result<Answer, ParseError>,
}

impl<'t> Deref for Side<'t> {
    type Target = Found<'t>;

    fn deref(&self) -> &Self::Target {
        &self.found
    }
}

/// How long a response is at most of which all may be an answer in words, in bytes.
const SHORT_RESPONSE: usize = 120;

/// Is a response one short line, all of which may be an answer in words?
fn in_words(response: &str) -> bool {
    let response = response.trim();
    // "This is too hard for me to solve."
    let declines = ["solve", "answer", "determine"];
    response.len() <= SHORT_RESPONSE
        && !response.contains(['\n', '?'])
        && !declines.iter().any(|it| response.contains(it))
}

/// What is mathematically true. What stands after a refusal is not equal, unless the reference is one: "I cannot say. There are 3 reasons."
/// Neither is what stands in passing, without words that announce it, before what a tool gave back at the end.
fn strict(
    gold: (&str, &Config),
    (response, config): (&str, &Config),
    passing: bool,
) -> Verification {
    let response = extract::without_end_marks(response);
    let pred = extract::extract(response, Role::Prediction, config);
    // "Sorry for the long text. (C)" marks its choice, "Sorry, I cannot see the picture. (C)" guesses.
    let regrets = extract::refusal(response).is_some_and(|it| it.1) && !extract::denies(response);
    let sure = |it: &Found<'_>| it.method == "choice" && response.ends_with(')') && regrets;
    let declines = pred.as_ref().is_ok_and(|it| it.declines && !sure(it));
    let declines = declines && extract::refusal(gold.0).is_none();
    let passing = passing && (pred.as_ref()).is_ok_and(|it| !extract::is_announced(it.method));
    let verdict = of_found(gold, (response, config), pred);
    if (declines || passing) && verdict.equal == Some(true) {
        let reason = if declines {
            "words before the answer decline to give one"
        } else {
            "what a tool gave back follows, and no answer"
        };
        return Verification {
            equal: None,
            status: Status::UnparsedPred,
            reason: reason.to_owned(),
            ..verdict
        };
    }
    verdict
}

/// The verdict on what was found in a response.
fn of_found<'t>(
    (reference, gold_config): (&str, &Config),
    (response, config): (&'t str, &Config),
    pred: Result<Found<'t>, String>,
) -> Verification {
    let long = reference.len().max(response.len()) > extract::LONGEST;
    if long && extract::bare(reference) == extract::bare(response) {
        return alike(reference, reference, "written alike");
    }
    let gold = extract::extract(reference, Role::Gold, gold_config);
    let pred = in_parts(pred, response, gold.as_ref().map_or("", |it| &it.text));
    if let (Ok(gold), Ok(pred)) = (&gold, &pred)
        && let Some((a, b)) = gold.number().zip(pred.number())
        && extract::is_announced(pred.method)
        && (a == b) == (gold.text == pred.text)
    {
        if a == b {
            return alike(&gold.text, &pred.text, "written alike");
        }
        let comparison = Comparison::different("rational", format!("{a} and {b} differ"));
        return compared(comparison, &gold.text, &pred.text);
    }
    let gold = match read(gold, reference, Role::Gold, gold_config, false) {
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
    let read = read(pred, response, Role::Prediction, config, choice);
    // Where only boxes may answer, nothing else of it is looked at.
    let response = if config.boxed_only { "" } else { response };
    // A short line in which nothing was found answers only if it is the reference.
    if !choice
        && !gold.qualified
        && read.as_ref().is_err_and(|it| it == extract::NOTHING_FOUND)
        && let (Some(text), Ok(answer)) = (extract::short(response), &gold.answer)
        && let Ok(short) = parse::parse(&text)
        && let comparison = compare::compare(answer, &short, config)
        && comparison.equal == Some(true)
    {
        return compared(comparison, &gold.text, &text);
    }
    // Before anything is taken apart: an answer is itself.
    let statement = read.as_ref().map_or("", |side| &side.statement);
    let announced = (read.as_ref()).is_ok_and(|side| extract::is_announced(side.method));
    if read.is_ok() && !announced && code::fenced(reference, response) == Some(false) {
        let reason = "what is fenced is not said to be the answer".to_owned();
        return unread(Status::UnparsedPred, &[&gold.text], &[statement], reason);
    }
    match code::verdict(reference, statement, announced, response) {
        Some(Verdict::Open) if read.is_err() => {}
        Some(verdict) => return of_code(verdict, &gold.text, statement),
        None => {}
    }
    let itself = without_article(extract::bare(&gold.statement));
    let is_itself = |it: &&str| is_text(without_article(extract::bare(it)), itself);
    let first = Some(response).filter(|_| !announced);
    let first = first.and_then(extract::described).unwrap_or("");
    if [statement, response, first].iter().any(is_itself) {
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
                || reason == extract::BREAKS_OFF && response.len() <= SHORT_RESPONSE)
                && (in_words(response)
                    || choice && gold.text.contains(',')
                    || matches!(gold.answer, Ok(Answer::Text(_)))
                    || (gold.option.as_ref())
                        .is_some_and(|it| response.contains(extract::bare(it)))
                    || extract::holds_near_end(response, "", &gold.text)) =>
        {
            let reason = MENTIONED.to_owned();
            return unread(Status::UnparsedPred, &[&gold.text], &[], reason);
        }
        Err(reason) => {
            return unread(Status::NoAnswer, &[&gold.text], &[], reason);
        }
    };
    let sides = [(Status::UnparsedGold, &gold), (Status::UnparsedPred, &pred)];
    if let Some((status, side)) = sides.into_iter().find(|it| it.1.qualified) {
        let said = quoted(&side.statement);
        let reason = format!("words beside the answer change it: {said}");
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
            let doubts = Doubts {
                sides: [&gold, &pred],
                answers: [a, b],
                texts: [reference, response],
                configs: [gold_config, config],
            };
            if comparison.equal == Some(true) && !code::may_be_equal(reference, &pred.statement) {
                return of_code(Verdict::Different, &gold.text, &pred.text);
            }
            let doubt = match comparison.equal {
                Some(true) => doubts.of_equal(),
                Some(false) => match doubts.of_alike() {
                    Some(reason) => return alike(&gold.text, &pred.text, reason),
                    None => doubts.of_different(),
                },
                None => None,
            };
            if let Some(doubt) = doubt {
                let (status, reason) = (Status::UnparsedPred, doubt.to_owned());
                return unread(status, &[&gold.text], &[&pred.text], reason);
            }
            compared(comparison, &gold.text, &pred.text)
        }
        // What cannot be read may still be written alike.
        _ if config.fallback_mode != FallbackMode::NoFallback
            && written_alike(&gold.text, &pred.text) =>
        {
            let reason = "written alike, though not understood";
            alike(&gold.text, &pred.text, reason)
        }
        (Err(error), _) => unreadable(error, Status::UnparsedGold, &gold.text, [&gold, &pred]),
        (_, Err(error)) => unreadable(error, Status::UnparsedPred, &pred.text, [&gold, &pred]),
    }
}

/// Does a response that announces no answer end in words that are the answer of `gold`? It is asked for nothing else: such
/// a sentence may say more than its answer.
fn ends_in(pred: &str, read: &Result<Side<'_>, String>, gold: &Side<'_>) -> bool {
    let announced = |side: &Side<'_>| extract::is_announced(side.method);
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
    let numbered = gold.text.contains(is_digit);
    let worded = !numbered || matches!(answer, Ok(Answer::Text(_)));
    let bare = without_article(extract::bare(&gold.text));
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

/// What has parts is answered by parts, though they compute: "(1) 3 + 4 = 7; (2) 3 + 8 = 11".
fn in_parts<'t>(
    found: Result<Found<'t>, String>,
    text: &'t str,
    gold: &str,
) -> Result<Found<'t>, String> {
    let mut found = found?;
    let parted = |it: &str| extract::parts(it).is_some();
    if !extract::is_announced(found.method) && parted(gold) && parted(text) {
        (found.text, found.method) = (Cow::Borrowed(text.trim()), "whole");
        found.statement = found.text.clone();
    }
    Ok(found)
}

/// Parses what was found in one side; the reason where there is no answer. `choice`: the letter of a choice is asked for.
fn read<'t>(
    found: Result<Found<'t>, String>,
    text: &'t str,
    role: Role,
    config: &Config,
    choice: bool,
) -> Result<Side<'t>, String> {
    let mut found = found.or_else(|reason| {
        // "None of the above (E)"
        let line = text.trim();
        let one = choice && line.len() <= SHORT_RESPONSE && line.matches(['(', '\n']).count() == 1;
        let said = Found {
            statement: Cow::Borrowed(if one { line } else { "" }),
            ..Found::default()
        };
        extract::choice_instead(&said, text, config).ok_or(reason)
    })?;
    if choice
        && found.method != "choice"
        && let Some(letter) = extract::choice_instead(&found, text, config)
    {
        found = letter;
    }
    let mut answer = parse::parse(&found.text);
    // "6 (feet)", "42-yard"
    if role == Role::Gold
        && answer.is_err()
        && let Some((value, unit)) = found.text.trim_end_matches(')').split_once(['-', '('])
        && let joined = format!("{} {unit}", value.trim_end())
        && let Ok(Answer::Quantity(it)) = parse::parse(&joined)
        && let Some(named) = it.unit.as_ref().filter(|it| *it.name == *unit)
        && (named.dimension.is_some() || unit.ends_with('s'))
        && !unit.starts_with("per")
    {
        (found.text, answer) = (Cow::Owned(joined), Ok(Answer::Quantity(it)));
    }
    if config.extraction_mode == ExtractionMode::AnyMatch
        && matches!(answer, Err(ParseError::Syntax { .. } | ParseError::Empty))
    {
        // Another that was announced in the same way; one that was not would be a guess.
        for other in extract::candidates(text, role, config).into_iter().skip(1) {
            if other.method == found.method
                && let Ok(answer) = parse::parse(&other.text)
            {
                return Ok(Side {
                    found: other,
                    answer: Ok(answer),
                });
            }
        }
    }
    // A letter that only the parser takes for one may be denied by what stands beside it.
    let lettered = found.method != "choice" && matches!(answer, Ok(Answer::Choice(_)));
    found.qualified |= lettered && extract::denies(&found.statement);
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

/// A response in which nothing has the format that was asked for.
fn without_answer(gold: &str) -> Verification {
    let reason = "nothing in the response has the format of an answer".to_owned();
    unread(Status::NoAnswer, &[gold], &[], reason)
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
        ParseError::Syntax { at, .. } if text.get(*at..).is_some_and(|rest| !rest.is_empty()) => {
            format!("{error}: {}", quoted(&text[*at..]))
        }
        _ => error.to_string(),
    }
}

/// No verdict, since `text` of one side cannot be read. What is too long or nested too deeply is not misread but too complex.
fn unreadable(error: &ParseError, open: Status, text: &str, sides: [&Side<'_>; 2]) -> Verification {
    let status = match error {
        ParseError::TooDeep { .. } | ParseError::TooLong { .. } => Status::TooComplex,
        ParseError::Empty | ParseError::Syntax { .. } => open,
    };
    let [gold, pred] = sides;
    unread(status, &[&gold.text], &[&pred.text], with_rest(error, text))
}

/// The value of one part against that of another.
fn part_compared(a: &str, b: &str, config: &Config) -> Comparison {
    match (parse::parse(a), parse::parse(b)) {
        (Ok(a), Ok(b)) => compare::compare(&a, &b, config),
        _ => Comparison::open(NO_SUCH_PARTS),
    }
}

/// The labelled parts of a side; those of boxes have their labels before them.
fn parts_of<'a>(side: &'a Side<'_>) -> Option<Vec<(&'a str, &'a str)>> {
    let boxed = || extract::parts(&side.statement).filter(|_| side.method == "boxed");
    extract::parts(&side.text).or_else(boxed)
}

/// Why parts are open.
const NO_SUCH_PARTS: &str = "labelled parts against what has none, or others";

/// Labelled parts, "(a) 3, (b) 5", one by one; open where only one side has some. `None` where neither has.
fn parts_compared(gold: &Side<'_>, pred: &Side<'_>, config: &Config) -> Option<Comparison> {
    let a = extract::parts(&gold.text);
    let own = a.as_ref().and_then(|_| parts_of(pred));
    let b = own.or_else(|| extract::parts(&pred.text));
    if a.is_none() && b.is_none() {
        return None;
    }
    let both = || a.iter().flatten().zip(b.iter().flatten());
    if a.as_ref().map(Vec::len) != b.as_ref().map(Vec::len)
        || !both().all(|(a, b)| a.0.eq_ignore_ascii_case(b.0))
    {
        return Some(Comparison::open(NO_SUCH_PARTS));
    }
    let parts = both().map(|(a, b)| part_compared(a.1, b.1, config));
    let mut whole = Comparison::all("list", parts);
    if whole.reason.is_empty() {
        whole.reason = whole.sentence();
    }
    Some(whole)
}

/// What the texts of options say, where a side names one and the other is something to compare it with.
fn options_compared(gold: &Side<'_>, pred: &Side<'_>, config: &Config) -> Option<Comparison> {
    let parsed = |text: &String| parse::parse(text).ok();
    let is_choice = |side: &Side<'_>| matches!(side.answer, Ok(Answer::Choice(_)));
    let named = gold.option.as_deref();
    let named = named.or((!is_choice(gold)).then_some(&*gold.text));
    let (a, b) = match (&gold.option, &pred.option) {
        (Some(a), None) if !is_choice(pred) => (parsed(a)?, pred.answer.clone().ok()?),
        // The 2 of "(2) photosynthesis", which a number names.
        (None, Some(b))
            if matches!(gold.answer, Ok(Answer::Quantity(_)))
                && matches!(parsed(b), Some(Answer::Text(_))) =>
        {
            return None;
        }
        (_, Some(b)) if named.is_some_and(|it| extract::bare(it) == extract::bare(b)) => {
            return Some(Comparison::equal("text"));
        }
        (Some(a), Some(b)) => (parsed(a)?, parsed(b)?),
        (None, Some(b)) if !is_choice(gold) => (gold.answer.clone().ok()?, parsed(b)?),
        _ => return None,
    };
    Some(compare::compare(&a, &b, config))
}

/// How many words the text of an option has at most, for its difference to count: more may be the reasons.
const SHORT: usize = 8;

/// The verdict of two letters, or of a letter against something else, with what the texts of their options say.
fn with_texts(
    letters: Comparison,
    texts: Comparison,
    gold: &Side<'_>,
    pred: &Side<'_>,
) -> Comparison {
    let is_choice = |side: &Side<'_>| matches!(side.answer, Ok(Answer::Choice(_)));
    let texts_of = [gold, pred].map(|it| it.option.as_deref().unwrap_or(""));
    let short = (texts_of.iter()).all(|it| it.split_whitespace().count() <= SHORT);
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

/// Are these one number, grouped as in 1,23,456 on one side and in threes or not at all on the other, or with K or M for its thousands on one side?
fn same_digits(a: &str, b: &str) -> bool {
    /// How many digits a double holds.
    const MOST: usize = 15;
    #[rustfmt::skip]
    const SCALES: [(&str, f64); 7] = [
        ("K", 1e3), ("k", 1e3), ("M", 1e6), ("B", 1e9), (" thousand", 1e3), (" million", 1e6), (" billion", 1e9),
    ];
    let (a, b) = (without_rupees(a), without_rupees(b));
    let scaled = |text: &str| SCALES.into_iter().find(|it| text.ends_with(it.0));
    let value = |text: &str| {
        let (name, scale) = scaled(text).unwrap_or(("", 1.0));
        let digits = text[..text.len() - name.len()].replace(',', "");
        let plain = digits.len() <= MOST && digits.starts_with(is_digit);
        let count: f64 = digits.parse().ok().filter(|_| plain)?;
        Some(count * scale)
    };
    (in_lakhs(a) || in_lakhs(b) || scaled(a).or(scaled(b)).is_some())
        && value(a)
            .zip(value(b))
            .is_some_and(|(a, b)| (a - b).abs() <= a.abs() * f64::EPSILON)
}

/// A text without the article, or the pronoun, that it begins with.
fn without_article(text: &str) -> &str {
    let article = ["the ", "The ", "a ", "A ", "an ", "An ", "it ", "It "];
    let rest = article.iter().find_map(|it| text.strip_prefix(it));
    rest.filter(|it| it.len() > 1).unwrap_or(text)
}

/// Are two texts one, but for the points of initials: "U.K." and "UK"?
fn is_text(a: &str, b: &str) -> bool {
    let no_point = |it: &u8| *it != b'.';
    let capital = |it: &str| it.ends_with(|it: char| it.is_ascii_uppercase());
    let initials = |it: &str| it.split('.').rev().skip(1).all(capital);
    a == b
        || a.bytes().filter(no_point).eq(b.bytes().filter(no_point)) && initials(a) && initials(b)
}

/// Do two texts differ in nothing but dollar signs and blanks that part no digits? Texts without a letter or digit never count as alike.
fn written_alike(a: &str, b: &str) -> bool {
    let sign = |it: &char| !it.is_whitespace() && *it != '$';
    let parts = |it: char| !it.is_ascii_digit();
    let numbers = |it: &str| it.split(parts).filter(|it| !it.is_empty()).count();
    let alike = || a.chars().filter(sign).eq(b.chars().filter(sign));
    a.contains(char::is_alphanumeric) && alike() && numbers(a) == numbers(b)
}
