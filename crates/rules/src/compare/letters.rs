//! Choice letters; yes and no.

use super::comparison::Comparison;
use super::context::Context;
use super::expressions;
use super::words::{self, Words};
use crate::answer::Answer;
use crate::lexicon::words::restricts;

/// How long a run of letters is whose order is looked at.
const MOST_LETTERS: usize = 64;

/// At least one side is a choice.
pub(super) fn choices(gold: &Answer, pred: &Answer, context: &Context<'_>) -> Comparison {
    let ((Answer::Choice(choice), other) | (other, Answer::Choice(choice))) = (gold, pred) else {
        return Comparison::open("");
    };
    let Some(letters) = letters_of(other) else {
        // A letter stands for an option that nobody has told us.
        let reason = context.say(|| {
            format!(
                "the choice {} against a {}",
                written(choice),
                words::kind(other)
            )
        });
        return Comparison::open(reason);
    };
    let mut choice = choice.clone();
    choice.sort_unstable();
    choice.dedup();
    if choice == letters {
        return Comparison::equal("choice");
    }
    context.different("choice", || {
        format!(
            "the choices {} and {} differ",
            written(&choice),
            written(&letters)
        )
    })
}

fn written(letters: &[char]) -> String {
    let letters: Vec<String> = letters.iter().map(char::to_string).collect();
    letters.join(", ")
}

/// The letters that an answer is, sorted, upper case, if it can be read as a choice.
fn letters_of(answer: &Answer) -> Option<Vec<char>> {
    let mut letters = match answer {
        Answer::Choice(letters) => letters.clone(),
        Answer::Quantity(_) => {
            let text = expressions::spelled(expressions::expression(answer)?)?;
            if text.len() > 8 || !text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                return None;
            }
            // Several letters are several choices only where they stand as such: "AC", not "cab".
            if text.len() > 1 && !text.bytes().all(|byte| byte.is_ascii_uppercase()) {
                return None;
            }
            text.chars().map(|c| c.to_ascii_uppercase()).collect()
        }
        Answer::Text(text) => {
            let text = text.trim_matches(|c: char| !c.is_alphanumeric());
            let text = text.strip_prefix("option ").unwrap_or(text);
            match text.as_bytes() {
                [letter] => vec![char::from(letter.to_ascii_uppercase())],
                _ => return None,
            }
        }
        Answer::List(parts) | Answer::Set(parts) | Answer::Tuple(parts) if parts.len() <= 26 => {
            let mut letters = Vec::new();
            for part in parts {
                // Lists of lists are no choices.
                match part {
                    Answer::Choice(_) | Answer::Quantity(_) | Answer::Text(_) => {
                        letters.extend(letters_of(part)?);
                    }
                    _ => return None,
                }
            }
            letters
        }
        _ => return None,
    };
    letters.sort_unstable();
    letters.dedup();
    (!letters.is_empty()).then_some(letters)
}

/// Places in a row, `1-3-2-4` and `B, A, C`; letters in their usual order are only several.
fn sequence(text: &str) -> Option<Vec<&str>> {
    if text.len() > MOST_LETTERS || !text.contains(['-', ',']) {
        return None;
    }
    let digits = |part: &str| part.len() <= 2 && part.bytes().all(|it| it.is_ascii_digit());
    let letter = |part: &str| part.len() == 1 && part.bytes().all(|it| it.is_ascii_uppercase());
    let places: Vec<&str> = text.split('-').collect();
    let letters: Vec<&str> = text.split(", ").collect();
    if places.len() > 2 && places.iter().all(|it| !it.is_empty() && digits(it)) {
        return Some(places);
    }
    (letters.len() > 2 && letters.iter().all(|it| letter(it))).then_some(letters)
}

/// Does `pred` state the letters of `gold`, a run of them with capitals such as RNA or ACBD, in another order?
pub(crate) fn reordered(gold: &str, pred: &str) -> bool {
    if let Some(own) = sequence(gold)
        && (gold.contains('-') || !own.is_sorted())
    {
        let words = pred.split_whitespace().chain([pred]);
        let mut stated = words.filter_map(|it| sequence(it.trim_matches([' ', '.', '*'])));
        return stated.any(|it| it != own);
    }
    let sorted = |text: &str| {
        let mut letters = text.as_bytes().to_vec();
        letters.sort_unstable();
        letters
    };
    // "The order is A, C, B."
    let mut words = pred.split(|it: char| !it.is_ascii_alphabetic());
    if gold.len() <= MOST_LETTERS && words.any(|it| matches!(it, "order" | "sequence" | "ranking"))
    {
        let single =
            words.filter(|it| it.len() == 1 && it.bytes().all(|it| it.is_ascii_uppercase()));
        let stated: String = single.collect();
        if stated != gold && sorted(&stated) == sorted(gold) {
            return true;
        }
    }
    let gold = gold
        .trim_start_matches(|it: char| !it.is_ascii_alphabetic())
        .trim_end_matches(|it: char| !it.is_ascii_alphabetic());
    let gold = gold.rsplit('{').next().unwrap_or(gold);
    let run = 2..=MOST_LETTERS;
    if !run.contains(&gold.len())
        || !gold.bytes().all(|byte| byte.is_ascii_alphabetic())
        || gold.bytes().filter(u8::is_ascii_uppercase).count() < 2
    {
        return false;
    }
    let own = sorted(gold);
    let runs = || pred.split(|it: char| !it.is_ascii_alphabetic());
    runs().all(|run| run != gold) && runs().any(|run| run.len() == gold.len() && sorted(run) == own)
}

/// Is one text a cross product, and the other one of its factors in another order, or a dot product?
pub(crate) fn crossed(gold: &str, pred: &str) -> bool {
    const NAMES: &str = r"\vec|\mathbf|\overrightarrow|\boldsymbol|\nabla";
    let letters = |it: &str| {
        it.chars()
            .filter(|it| it.is_alphanumeric())
            .collect::<String>()
    };
    let product = |text: &str, sign: &str| {
        let (left, right) = text.split_once(sign)?;
        let last = &left[left.rfind('\\')?..];
        NAMES
            .split('|')
            .any(|it| last.starts_with(it))
            .then(|| [letters(left), letters(right)])
    };
    match [gold, pred].map(|it| product(it, "\\times")) {
        [Some(a), Some(b)] => a != b,
        [None, None] => false,
        [Some(_), None] => product(pred, "\\cdot").is_some(),
        [None, Some(_)] => product(gold, "\\cdot").is_some(),
    }
}

/// At least one side is yes or no.
pub(super) fn truths(gold: &Answer, pred: &Answer, context: &Context<'_>) -> Comparison {
    match (truth_of(gold), truth_of(pred)) {
        (Some(a), Some(b)) if a == b => Comparison::equal("truth"),
        (Some(_), Some(_)) => Comparison::different("truth", "one side says yes, the other no"),
        _ => {
            let first = matches!(gold, Answer::Truth(_));
            let other = if first { pred } else { gold };
            match other {
                Answer::Text(_) | Answer::Relation(_) | Answer::Choice(_) | Answer::List(_) => {
                    Comparison::open("yes or no against what may imply either")
                }
                _ => context.different("kind", || {
                    format!("yes or no against a {}", words::kind(other))
                }),
            }
        }
    }
}

/// What an answer says, if it says yes or no.
fn truth_of(answer: &Answer) -> Option<bool> {
    let word = match answer {
        Answer::Truth(truth) => return Some(*truth),
        Answer::Text(text) => match Words::of(text) {
            // "Yes, because …": the first word is the answer. "Yes to the first, no to the second."
            Words::Plain(words)
                if ["yes", "no"]
                    .iter()
                    .all(|it| words.iter().any(|own| own == it)) =>
            {
                return None;
            }
            Words::Plain(words) if restricts(&words[1.min(words.len())..].join(" ")) => {
                return None;
            }
            Words::Plain(words) => words.into_iter().next()?,
            Words::Formula(_) => return None,
        },
        Answer::Quantity(_) => {
            let word = expressions::spelled(expressions::expression(answer)?)?;
            match word.as_str() {
                "T" => return Some(true),
                "F" => return Some(false),
                // Other lone letters are variables.
                _ if word.len() < 2 => return None,
                _ => word.to_lowercase(),
            }
        }
        _ => return None,
    };
    match word.as_str() {
        "yes" | "true" | "correct" => Some(true),
        "no" | "false" | "incorrect" => Some(false),
        _ => None,
    }
}
