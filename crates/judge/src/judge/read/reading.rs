//! What a completion says: the verdict in its answer, and the probabilities with which its words were chosen.

use std::borrow::Cow;
use std::ops::Range;

use crate::judge::JudgeText;
use crate::protocol::unknown_tags::without_unknown_tags;
use crate::protocol::{
    ChoiceField, ParsedVerdict, Protocol, ScaffoldWants, UNCLEAR, Unreadable, ValueSpans,
};
use crate::runtime::Guided;
use juror_data::verdict::{Confidence, ParseRule};
use juror_engine::engine::{Completion, FinishReason};
use juror_engine::text::reasoning::{ThinkingStyle, VisibleAnswer};

/// What was recorded where each choice of a constrained answer was made.
pub(crate) fn expected_of_choices(
    guided: &Guided,
    completion: &Completion,
) -> impl Iterator<Item = (ChoiceField, Option<f32>)> {
    let choices = guided.filled.choices.iter().zip(&guided.tokens);
    choices.map(|((field, _), token)| {
        let recorded = completion.expected.iter().find(|(at, _)| at == token);
        (*field, recorded.map(|(_, expected)| *expected))
    })
}

/// Whether a completion so far can be read, and fits the sample; `is_cut`: as one that its limit ended.
pub(crate) fn is_readable(
    text: &JudgeText,
    tokens: &[u32],
    wants: &ScaffoldWants,
    is_cut: bool,
) -> bool {
    let thinking = text.prompts.thinking();
    let answer = thinking.read(text.prompts.tokenizer(), tokens);
    let (style, begins_inside) = (thinking.style(), thinking.starts_in_thinking());
    read(
        text.protocol.as_ref(),
        style,
        &answer,
        begins_inside,
        is_cut,
        wants,
    )
    .is_ok_and(|parsed| parsed.rule != ParseRule::Named(UNCLEAR.to_owned()))
}

/// The text of a completion, and the same without thinking.
pub(crate) fn read_answer(text: &JudgeText, completion: &Completion) -> VisibleAnswer {
    let tokens = match completion.finish {
        FinishReason::EndOfSequence => &completion.tokens[..completion.tokens.len() - 1],
        _ => &completion.tokens[..],
    };
    let prompts = &text.prompts;
    prompts.thinking().read(prompts.tokenizer(), tokens)
}

/// Reads the verdict in an answer, which must fit what the sample wants; `starts_in_thinking` where the prompt ended inside a thinking block, `is_cut` where the length
/// limit ended it.
pub(crate) fn read(
    protocol: &Protocol,
    style: &ThinkingStyle,
    answer: &VisibleAnswer,
    starts_in_thinking: bool,
    is_cut: bool,
    wants: &ScaffoldWants,
) -> Result<ParsedVerdict, Unreadable> {
    if is_cut && !protocol.reads_cut {
        return Err(Unreadable::Cut);
    }
    let visible = answer.visible.as_deref();
    let visible = visible.ok_or(Unreadable::ThinkingNotFinished)?;
    let visible = match style {
        // A judge that does not think may write any tags.
        ThinkingStyle::None => {
            without_unknown_tags(visible, &protocol.form.choices().unwrap_or_default()).into()
        }
        _ => Cow::Borrowed(visible),
    };
    check(protocol.parse(&visible, starts_in_thinking)?, wants)
}

/// Reads the tokens from `at` on as text of the protocol's grammar.
pub(crate) fn read_of_grammar(
    text: &JudgeText,
    completion: &Completion,
    at: usize,
) -> Result<ParsedVerdict, Unreadable> {
    let tokenizer = text.prompts.tokenizer();
    let (before, tokens) = completion.tokens.split_at(at.min(completion.tokens.len()));
    let tokens = match completion.finish {
        FinishReason::EndOfSequence => tokens.split_last().map_or(tokens, |(_, tokens)| tokens),
        _ => tokens,
    };
    let mut parsed = text.protocol.form.read(&tokenizer.decode(tokens))?;
    let before = tokenizer.decode(before).len();
    let ValueSpans {
        process,
        outcome,
        perfect,
        score,
    } = &mut parsed.spans;
    for span in [process, outcome, perfect, score] {
        if span.start < span.end {
            *span = span.start + before..span.end + before;
        }
    }
    Ok(parsed)
}

/// Refuses the index of a step that the response does not have, and grades that the rubric does not have.
fn check(parsed: ParsedVerdict, wants: &ScaffoldWants) -> Result<ParsedVerdict, Unreadable> {
    let steps = wants.steps;
    if let Some(index) = parsed.fields.first_error.filter(|index| *index >= steps) {
        return Err(Unreadable::NoSuchStep { index, steps });
    }
    if let Some(rubric) = wants
        .rubric
        .as_deref()
        .filter(|_| !parsed.fields.grades.is_empty())
    {
        let verdicts = rubric.verdicts(&parsed.fields.grades, &[]);
        verdicts.map_err(Unreadable::Grades)?;
    }
    Ok(parsed)
}

/// The odds recorded at the tokens with which the words of the values begin. `length` gives the bytes that tokens decode to.
pub(crate) fn confidence(
    completion: &Completion,
    spans: &ValueSpans,
    length: impl Fn(&[u32]) -> usize,
) -> Confidence {
    let odds = |span: &Range<usize>| {
        if span.is_empty() {
            return None;
        }
        // The last of the tokens with odds that begins before the word ends; the word must begin in it.
        let recorded = &completion.expected;
        let count =
            recorded.partition_point(|&(token, _)| length(&completion.tokens[..token]) < span.end);
        recorded[..count]
            .iter()
            .rev()
            .take(LOOKED_AT)
            .find(|&&(token, _)| {
                let begins = length(&completion.tokens[..token]);
                let ends = length(&completion.tokens[..=token]);
                begins <= span.start && span.start < ends
            })
            .map(|&(_, odds)| odds)
    };
    Confidence {
        process: odds(&spans.process),
        outcome: odds(&spans.outcome),
        perfect: odds(&spans.perfect),
        score: odds(&spans.score),
    }
}

/// Tokens with odds that are looked at for a word: more than a word has.
const LOOKED_AT: usize = 8;
