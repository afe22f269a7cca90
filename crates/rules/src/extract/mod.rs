//! Finds the final answer in a response.
//!
//! ```text
//! text ──clean──▶ what counts ──scan──▶ boxes, formulas ──announcements──▶ what they announce ──▶ candidates, most trusted first
//! ```
//!
//! What an answer is announced by, from most to least trusted; within a kind the last one wins:
//!
//! 1. `\boxed{…}`, "the final answer is …", `#### …`, `<answer>…</answer>`, a last line `A: …`
//! 2. "the answer is …", "Answer: …", "the correct option is …"
//! 3. nothing: the text is itself an answer, and no more
//! 4. nothing: what the last sentence states
//!
//! A response that refuses, breaks off, or only thinks has no answer. The last kind is looked at only where there is no
//! announcement at all, so a number that merely comes last never replaces what was announced. Everything is linear in the text and without recursion.
//!
//! | file | what it does |
//! |---|---|
//! | `clean`, `scan` | what of a response counts; where its boxes and formulas are |
//! | `search` | weighs boxes, announcements and the rest against each other |
//! | `reach` | where what is announced ends |
//! | `labelled`, `listed` | labelled parts, which are no choices; answers that are set off from each other, which are a list |
//! | `boxes`, `formulas`, `strings` | what a box or a formula says; given strings |
//! | `choice`, `settled` | choice letters, with the texts of their options; the choice that a sentence settles on |
//! | `announcements`, `announced` | words that announce an answer; what stands after them |
//! | `whole` | texts and sentences that are an answer and nothing else |
//! | `sentences`, `items`, `stated`, `chain` | the last sentence, its numbers and formulas, and which of them is the answer |
//! | `ending`, `mentions` | a reference at the end of a sentence that announces nothing; its words and numbers near the end of a text |
//! | `decimal` | numbers with a decimal comma |
//! | `maths`, `symbols`, `tail`, `ratio` | how far mathematics reaches in prose; units and labels after a number |
//! | `beside` | words beside an answer that change it: the rows of a table |
//! | `qualifiers`, `aside` | answers that are supposed, doubted or taken back; what follows an answer without being one |
//! | `spoken` | mathematics and times of day in words |
//! | `hypertext` | tags and entities of HTML |
//! | `plain_end` | a plain number on a last line, without a search |
//! | `no_answer`, `markup`, `words` | refusals and cut-off texts; markup; words of the lexicon |

mod announced;
mod announcements;
mod aside;
mod beside;
mod boxes;
mod chain;
mod choice;
mod clean;
mod decimal;
mod ending;
mod formulas;
mod hypertext;
mod items;
mod labelled;
mod listed;
mod markup;
mod maths;
mod mentions;
mod no_answer;
mod plain_end;
mod qualifiers;
mod ratio;
mod reach;
mod scan;
mod search;
mod sentences;
mod settled;
mod spoken;
mod stated;
mod strings;
mod symbols;
mod tail;
mod whole;
mod words;

use std::borrow::Cow;

use beside::How;

use crate::config::{Config, DecimalMark};

/// Which side of the comparison a text is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The reference: a bare answer unless it says otherwise.
    Gold,
    /// The response: reasoning that ends in an answer, or a bare answer.
    Prediction,
}

/// The final answer of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found<'t> {
    /// The answer as `parse` takes it: delimiters and boxes gone, several boxes joined by `, `.
    pub(crate) text: Cow<'t, str>,
    /// What announced it: `boxed`, `final answer`, `answer`, `therefore`, `formula`, `number`, `whole`, ….
    pub(crate) method: &'static str,
    /// All that was announced, of which `text` may be a part.
    pub(crate) statement: Cow<'t, str>,
    /// Words beside `text` change what it says: "at least", "or more".
    pub(crate) qualified: bool,
    /// It may be read in another way too: what differs from it need not be wrong.
    pub(crate) doubtful: bool,
    /// A phrase of a refusal stands before it: it may be no answer.
    pub(crate) declines: bool,
    /// What was announced after a box that is the answer.
    pub(crate) later: Vec<Cow<'t, str>>,
    /// The text of the option, where `text` is its letter: "Budding" of "(D) Budding".
    pub(crate) option: Option<String>,
}

impl Found<'_> {
    /// The whole number that it is, where nothing is said beside it.
    pub(crate) fn number(&self) -> Option<i64> {
        let beside = self.statement.trim_start() != self.text || self.option.is_some();
        let sure = !(beside || self.qualified || self.doubtful) && self.later.is_empty();
        self.text.parse().ok().filter(|_| sure)
    }

    /// What is said before the answer, and after it.
    pub(crate) fn around(&self) -> (&str, &str) {
        if self.statement == self.text {
            return ("", "");
        }
        let last = self.statement.strip_suffix(&*self.text).map(|it| (it, ""));
        last.or_else(|| self.statement.rsplit_once(&*self.text))
            .unwrap_or_default()
    }

    /// This answer, borrowing nothing.
    pub(crate) fn into_owned(self) -> Found<'static> {
        Found {
            text: Cow::Owned(self.text.into_owned()),
            method: self.method,
            statement: Cow::Owned(self.statement.into_owned()),
            qualified: self.qualified,
            doubtful: self.doubtful,
            declines: self.declines,
            later: (self.later.into_iter())
                .map(|it| Cow::Owned(it.into_owned()))
                .collect(),
            option: self.option,
        }
    }
}

/// Whether a response is blank, or thinking that was cut off before there is anything that may be an answer.
pub fn says_nothing(response: &str) -> bool {
    let text = response.trim();
    let after = |mark: &str| {
        let begins = text.get(..mark.len())?.eq_ignore_ascii_case(mark);
        begins.then(|| text[mark.len()..].to_ascii_lowercase())
    };
    let thought = words::THINKING_BEGINS.iter().find_map(after);
    let mut may_answer = r"</ <| <｜ <end &lt; [/ ◁/ \boxed answer".split(' ');
    text.is_empty() || thought.is_some_and(|thought| !may_answer.any(|it| thought.contains(it)))
}

/// The last box of a response that is no part of its thinking, with its unit; those that state one answer together, labelled parts in one box.
pub(crate) fn last_box(text: &str) -> Option<String> {
    let visible = clean::visible(text).ok()?;
    let regions = scan::scan(&visible);
    regions.boxes.last().filter(|it| it.closed)?;
    let found = boxes::last(&visible, &regions, visible.len())?;
    let unit = boxes::unit_after(&visible, &regions.boxes[found.last]);
    let end = if unit.is_empty() {
        found.end
    } else {
        words::offset(&visible, unit) + unit.len()
    };
    let slice = || visible[found.start..end].to_owned();
    let labelled = found.labelled.as_ref();
    Some(labelled.map_or_else(slice, |it| format!("\\boxed{{{it}}}")))
}

/// The final answer of `text`, the most trusted candidate; or why there is none, for a person.
pub(crate) fn extract<'t>(text: &'t str, role: Role, config: &Config) -> Result<Found<'t>, String> {
    if let Some(found) = plain_end::found(text, role, config) {
        return Ok(found);
    }
    let first = search(text, role, config)?.into_iter().next();
    first.ok_or_else(|| NOTHING_FOUND.to_owned())
}

pub(crate) use aside::rounds;
pub(crate) use clean::{ends_in_tool_result, replaced, without_end_marks, without_tool_results};
pub(crate) use decimal::of_commas;
pub(crate) use ending::ends_in;
pub(crate) use labelled::parts;
pub(crate) use markup::trim_markup as bare;
pub(crate) use mentions::{holds_near_end, mentions_part};
pub(crate) use no_answer::refusal;
pub(crate) use qualifiers::{currency_code, deny as denies, dollars, falls, holds, opposed};
pub(crate) use search::{BREAKS_OFF, NOTHING_FOUND};

/// Is a text, by its letters or words, in another language than English?
pub(crate) fn is_foreign(text: &str) -> bool {
    let letter =
        |it: char| ('\u{c0}'..'\u{250}').contains(&it) || ('\u{400}'..'\u{530}').contains(&it);
    if text.contains(|it: char| it.is_alphabetic() && letter(it)) {
        return true;
    }
    words::has(text, &words::COMMA_LANGUAGE) || words::has(text, &words::COMMA_ANNOUNCEMENT)
}

/// Do words before a value only suppose it?
pub(crate) fn supposes(before: &str) -> bool {
    words::has(before, &words::MAY_BE) || qualifiers::supposes(before)
}

/// The word, or the sign of a currency, that what follows a value begins with, which may be its unit; `None` where it is known to be none.
pub(crate) fn unit_of(after: &str) -> Option<&str> {
    let after = after.trim_start_matches(['*', '`']);
    if after.starts_with(words::is_spaceless) {
        let end = after.find(|it| !(words::is_spaceless(it) || it == '/'));
        let known = words::ENDS_SPACELESS.begin(after).is_some();
        return (!known).then_some(&after[..end.unwrap_or(after.len())]);
    }
    if let Some(rest) = after.strip_prefix(" $")
        && !rest.contains(char::is_alphanumeric)
    {
        return Some(&after[1..2]);
    }
    let after = after.strip_prefix(' ').unwrap_or(after);
    let word = words::first_word(after.trim_start_matches(['$', ' ']));
    #[rustfmt::skip]
    let known = [
        &words::NOT_COUNTED, &words::PREPOSITION, &words::SUBORDINATING, &words::CONCLUDING, &words::ADJECTIVE, &words::REASON, &words::COMMA_LANGUAGE,
    ];
    (word.len() > 1 && !known.iter().any(|it| it.contains(word))).then_some(word)
}

/// Do words before a value change, deny or doubt it?
pub(crate) fn qualifies(before: &str) -> bool {
    beside::changes(before, "", How::Announced)
        || qualifiers::doubt(before)
        || words::words_of(before).any(qualifiers::is_denial)
}

/// The choice that `text` names, where one is asked for and [`extract`] finds something else: in "A: 18" the A, in "12 m/s (B)" the B.
pub(crate) fn choice_instead<'t>(
    found: &Found<'_>,
    text: &'t str,
    config: &Config,
) -> Option<Found<'t>> {
    if found.method == search::ANSWER_LETTER {
        let mut candidates = candidates(text, Role::Prediction, config).into_iter();
        return candidates.find(|it| it.method == "choice");
    }
    let letters = choice::at_end(&found.statement)?.letters;
    let letter = found.statement.rfind('(').unwrap_or(found.statement.len());
    let before = &found.statement[..letter];
    Some(Found {
        text: Cow::Owned(letters),
        method: "choice",
        statement: Cow::Owned(found.statement.clone().into_owned()),
        // "Both (A) and (B)", "No (E)"
        qualified: found.qualified
            || before.split('(').skip(1).any(|it| it.find(')') == Some(1))
            || (beside::changes(before, "", How::Worded)
                || words::has(before, &words::DENIES_ANNOUNCEMENT))
                && !words::NONE_OF_ALL.contains(before.trim()),
        doubtful: found.doubtful,
        ..Found::default()
    })
}

/// What stands on a first line of its own before a paragraph about it: "London\n\nIt lies on the Thames."
pub(crate) fn described(text: &str) -> Option<&str> {
    let (line, rest) = text.trim_start().split_once("\n\n")?;
    let about = words::DESCRIBES.contains(words::first_word(rest.trim_start()));
    let about = about && !line.contains(['?', '\n']);
    let other = |it: &str| words::WRONG.contains(it) || words::CONCLUDING.contains(it);
    let goes_on = rest.contains("\n\n") || words::words_of(rest).any(other);
    (about && !goes_on && !whole::contradicts("yes", rest)).then_some(line)
}

/// One short line in which nothing was found, and which denies or changes nothing: all of it may be an answer in words.
pub(crate) fn short(text: &str) -> Option<String> {
    const LONGEST: usize = 60;
    let line = bare(text);
    let says = line.len() <= LONGEST
        && !line.contains(['\n', '?'])
        && !qualifiers::is_place(line)
        && (line.contains("not exist") || !beside::changes(line, "", How::Worded))
        && !words::words_of(line).any(|it| words::CONDITION.contains(it));
    (says || words::is_number_word(line)).then(|| markup::without_markup(line).into_owned())
}

/// How much of a text is read, in bytes, some 400,000 tokens: of a longer one the lines at its end.
pub(crate) const LONGEST: usize = 1_500_000;

/// Everything in `text` that may be its final answer, most trusted first, eight at most; empty where [`extract`] finds no answer.
pub(crate) fn candidates<'t>(text: &'t str, role: Role, config: &Config) -> Vec<Found<'t>> {
    search(text, role, config).unwrap_or_default()
}

/// Is an answer found in this way announced as one?
pub(crate) fn is_announced(method: &str) -> bool {
    !matches!(method, "whole" | "number" | "formula" | "therefore")
}

fn search<'t>(text: &'t str, role: Role, config: &Config) -> Result<Vec<Found<'t>>, &'static str> {
    let announced;
    let mut config = config;
    if text.len() > LONGEST {
        // Of what only its end was read an announcement counts, and nothing else.
        announced = Config {
            try_extract_without_anchor: false,
            ..config.clone()
        };
        config = &announced;
    }
    let mut found = match clean::visible(text)? {
        Cow::Borrowed(part) => search::search(part, role, config)?,
        Cow::Owned(part) => {
            let found = search::search(&part, role, config)?;
            found.into_iter().map(Found::into_owned).collect()
        }
    };
    found.retain(|it| text.len() <= LONGEST || is_announced(it.method));
    for answer in &mut found {
        if config.decimal == Some(DecimalMark::Comma)
            && let Some(pointed) = of_commas(&answer.text)
        {
            answer.text = Cow::Owned(pointed);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
