//! An engine's answer: the body of a chat's or a raw completion, as servers and batch files hold it.
//!
//! A text may be a list of content parts. `reasoning_content` (vLLM also `reasoning`) is thinking, and read only where the user says that
//! answers stand there, as they do where a server takes an answer without an end of thinking for thinking.

use serde_json::{Value, json};

use crate::rows;
use juror_data::verdict::Usage;
use juror_data::{ContentPart, REASONING, answer_in_reasoning};

/// The longest message of an engine that is told.
const MOST_MESSAGE: usize = 500;

/// What a word in the reason for which an answer ended says of the answer: the first that is there counts. Words `with` one say nothing by themselves, some `exactly` so.
const ENDINGS: &str = include_str!("endings.tsv");

/// All of the text of an answer that ended by itself, which the engine took for thinking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reasoned {
    pub(crate) key: &'static str,
    pub(crate) text: String,
}

impl Reasoned {
    pub(crate) fn answer(&self) -> &str {
        answer_in_reasoning(&self.text)
    }

    /// Where the text is, and what reads it.
    pub(crate) fn told(&self) -> String {
        format!(
            "all of its text is in `{}`, as the engine took it for thinking: --answer-in-reasoning reads it there",
            self.key
        )
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EngineAnswer {
    /// The answer's text; none where only thinking was written.
    pub(crate) text: Option<String>,
    /// The engine took the thinking out of the text.
    pub(crate) thinks_apart: bool,
    /// All of its text, where the engine took that for thinking.
    pub(crate) reasoned: Option<Reasoned>,
    /// The length limit cut it.
    pub(crate) is_cut: bool,
    /// The text says that the judge will give no verdict.
    pub(crate) is_refusal: bool,
    pub(crate) usage: Usage,
}

impl EngineAnswer {
    pub(crate) fn is_blank(&self) -> bool {
        let text = self.text.as_deref();
        text.is_none_or(|text| text.trim().is_empty())
    }
}

/// Why an engine gave no answer, and whether it may give one if it is asked again.
pub(crate) type NoAnswer = (String, bool);

/// The error that a line, a response or a body holds: its own, one within its choice, or a text in the place of that.
pub(crate) fn error_in(holder: &Value) -> Option<&Value> {
    let choices = &holder["choices"];
    let choice = choices.get(0).unwrap_or(choices);
    let is_said = |error: &&Value| {
        let parts = ["message", "code"];
        let has_part = parts.into_iter().any(|key| given(error, key).is_some());
        has_part || error.as_str().is_some_and(|text| !text.is_empty())
    };
    let own = given(holder, "error").or(given(choice, "error").filter(is_said));
    own.or(Some(choice).filter(|choice| choice.is_string()))
}

pub(crate) fn error_of(holder: &Value) -> Option<String> {
    let error = error_in(holder)?;
    Some(told(&said_of(error).unwrap_or_else(|| error.to_string())))
}

/// The message of an error, after its code.
pub(crate) fn said_of(error: &Value) -> Option<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let message = given(error, "message").or(Some(error).filter(|error| error.is_string()));
    Some(match given(error, "code") {
        Some(code) => format!("{}: {}", text(code), text(message?)),
        None => text(message?),
    })
}

pub(crate) fn told(message: &str) -> String {
    let message = match message.char_indices().nth(MOST_MESSAGE) {
        Some((end, _)) => &message[..end],
        None => message,
    };
    format!("the engine reports an error: {message}")
}

/// The answer in a completion's body; the first error is one that nobody can read, the second that of an engine.
pub(crate) fn completion(body: &Value) -> Result<Result<EngineAnswer, NoAnswer>, String> {
    let own = of_responses(body);
    let choice = match only(body, "choices")? {
        Some(choice) => Some(choice),
        None => only(body, "outputs")?.or(own.as_ref()),
    };
    let holder = choice.unwrap_or(body);
    let message = given(holder, "message");
    if choice.is_none() && message.is_none() && holder.get("text").is_none() {
        if body.get("choices").or(body.get("outputs")).is_some() {
            let why = "the engine gave no answer, as filters do (`choices` is empty)";
            return Ok(Err((why.to_owned(), true)));
        }
        return Err(
            "no answer that can be read: neither `response.body.choices`, `response.body.output`, `choices`, `outputs`, `text` nor `response` as a text, and \
             no `error`"
                .to_owned(),
        );
    }
    let calls = message.and_then(|message| given(message, "tool_calls")?.as_array());
    if calls.is_some_and(|calls| !calls.is_empty()) {
        let why = "the engine called a tool in place of an answer";
        return Ok(Err((why.to_owned(), false)));
    }
    let (said, thinking) = match message {
        Some(message) => message_text(message)?,
        None => (text_of(holder.get("text"))?, None),
    };
    let text = match said {
        Ok(text) => text,
        Err(refusal) => {
            return Ok(Ok(EngineAnswer {
                text: Some(refusal),
                is_refusal: true,
                usage: usage(body),
                ..EngineAnswer::default()
            }));
        }
    };
    let about = given(holder, "meta_info").unwrap_or(holder);
    // A proxy may say `stop` of what it does not know: OpenRouter and LiteLLM hand on the engine's own reason.
    let native = "native_finish_reason";
    let proxy = holder.get("provider_specific_fields");
    let reasons = [
        given(holder, native),
        proxy.and_then(|more| given(more, native)),
        given(about, "finish_reason").or(given(about, "done_reason")),
    ];
    let mut answer = answer(text, thinking, &reasons, usage(body));
    let details = ["completion_tokens_details", "output_tokens_details"].into_iter();
    let mut details = details.filter_map(|key| body["usage"][key]["reasoning_tokens"].as_u64());
    // Some servers count what they leave in the text.
    if let Ok(answer) = &mut answer
        && answer.is_blank()
    {
        answer.thinks_apart |= details.any(|count| count > 0);
    }
    Ok(answer)
}

/// An answer of the Responses API, in its `output`, as a choice of a chat completion.
fn of_responses(body: &Value) -> Option<Value> {
    let items = given(body, "output")?.as_array()?;
    let of = |kind: &str, key: &str| -> Vec<Value> {
        let items = items.iter().filter(|item| item["type"] == kind);
        let parts = items.filter_map(|item| item[key].as_array());
        parts.flatten().cloned().collect()
    };
    let thinking = of("reasoning", "summary").into_iter();
    let thinking = thinking.filter_map(|part| Some(part["text"].as_str()?.to_owned()));
    let calls = items.iter().filter(|item| item["type"] == "function_call");
    let cut = body.pointer("/incomplete_details/reason");
    let cut = cut.filter(|reason| !reason.is_null());
    Some(json!({
        "message": {
            "content": of("message", "content"),
            "reasoning": thinking.collect::<String>(),
            "tool_calls": calls.collect::<Vec<_>>(),
        },
        "finish_reason": cut.unwrap_or(&body["status"]),
    }))
}

/// The one element of a list.
fn only<'v>(body: &'v Value, key: &str) -> Result<Option<&'v Value>, String> {
    let Some(list) = given(body, key) else {
        return Ok(None);
    };
    match list.as_array().map(Vec::as_slice) {
        Some([]) => Ok(None),
        Some([one]) => Ok(Some(one)),
        Some(list) => Err(format!(
            "`{key}` holds {} answers, and each request asks for one: which counts is not known; for several answers of one \
             sample export with --trials",
            list.len()
        )),
        None => Err(format!("`{key}` is no list")),
    }
}

/// A text as it came, or the refusal in its place.
type Said = Result<Option<String>, String>;

/// The text of a message, and the thinking that was taken out of it, with its key.
fn message_text(message: &Value) -> Result<(Said, Option<Reasoned>), String> {
    let thinking = ["reasoning_content", "reasoning", "thinking"]
        .into_iter()
        .find_map(|key| {
            let thinking = given(message, key).filter(|thinking| *thinking != "")?;
            Some(Reasoned {
                key,
                text: thinking.as_str().unwrap_or_default().to_owned(),
            })
        });
    let thinking = thinking.or_else(|| {
        let key = "reasoning_details";
        let parts = given(message, key)?.as_array()?;
        let texts = parts.iter().filter_map(|part| part["text"].as_str());
        let text = (!parts.is_empty()).then(|| texts.collect())?;
        Some(Reasoned { key, text })
    });
    let refusal = given(message, "refusal").and_then(Value::as_str);
    let said = match refusal.filter(|refusal| !refusal.is_empty()) {
        Some(refusal) => Err(refusal.to_owned()),
        None => text_of(message.get("content"))?,
    };
    Ok((said, thinking))
}

/// Thinking and answer of gpt-oss whose server dropped the tags of the harmony format; no answer where the text was cut, or where what begins it does not stand
/// there once.
pub(crate) fn untagged_harmony(text: &str, is_cut: bool) -> Option<(&str, Option<&str>)> {
    let said = text.trim_start().strip_prefix("analysis")?;
    if said.starts_with(|c: char| c == ':' || c.is_whitespace()) {
        return None;
    }
    let mut parts = said.split("assistantfinal");
    let (thinking, answer) = (parts.next()?, parts.next());
    let is_known = !is_cut && parts.next().is_none();
    Some((thinking, answer.filter(|_| is_known)))
}

pub(crate) fn refused(why: &str) -> String {
    let shown = &why[..why.floor_char_boundary(MOST_MESSAGE)];
    format!("the judge refused to answer: {shown}")
}

/// A text, or a list of content parts as one text.
fn text_of(value: Option<&Value>) -> Result<Said, String> {
    match value {
        None | Some(Value::Null) => Ok(Ok(None)),
        Some(Value::String(text)) => Ok(Ok(Some(text.clone()))),
        Some(Value::Array(parts)) => {
            let mut text = String::new();
            for part in parts {
                match ContentPart::read(part).map_err(|why| format!("the answer has {why}"))? {
                    ContentPart::Text(part) => text.push_str(part),
                    ContentPart::Refusal(why) => return Ok(Err(why.to_owned())),
                    ContentPart::LeftOut(REASONING) => {}
                    ContentPart::LeftOut(kind) => {
                        return Err(format!("the answer has {kind} among its content parts"));
                    }
                }
            }
            Ok(Ok(Some(text)))
        }
        Some(_) => {
            Err("the answer's text is neither a text nor a list of content parts".to_owned())
        }
    }
}

pub(crate) fn answer(
    text: Option<String>,
    thinking: Option<Reasoned>,
    reasons: &[Option<&Value>],
    usage: Usage,
) -> Result<EngineAnswer, NoAnswer> {
    let thinks_apart = thinking.is_some();
    let mut is_cut = false;
    for reason in reasons.iter().flatten() {
        // SGLang's own reasons are objects.
        let reason = given(reason, "type").unwrap_or(reason).as_str();
        let Some(reason) = reason.filter(|reason| !reason.is_empty()) else {
            continue;
        };
        let (shown, reason) = (
            &reason[..reason.floor_char_boundary(80)],
            reason.to_lowercase(),
        );
        let kind = ending(&reason);
        let why = match kind {
            "whole" => continue,
            "cut" => {
                is_cut = true;
                continue;
            }
            "withheld" => "withheld the answer",
            "failed" => "broke the answer off",
            _ => "does not say whether the answer is whole",
        };
        let why = format!("the engine {why}: it ended with `{shown}`");
        return Err((why, kind == "failed"));
    }
    if text.is_none() && !thinks_apart && !is_cut {
        return Err(("the engine gave no text".to_owned(), false));
    }
    let mut answer = EngineAnswer {
        text,
        thinks_apart,
        is_cut,
        usage,
        ..EngineAnswer::default()
    };
    let is_all = answer.is_blank() && !is_cut;
    answer.reasoned = thinking.filter(|thinking| is_all && !thinking.text.is_empty());
    Ok(answer)
}

/// What a reason says of the answer that ended so: the kind of the first row whose word is in it. Whole is only one whose words all are known, since
/// `stopped_early` and `incomplete_stop` have a word for whole too.
fn ending(reason: &str) -> &'static str {
    let kind = rows(ENDINGS).find(|(word, _)| reason.contains(word));
    let known = |word: &str, (known, kind): (&str, &str)| match kind {
        "whole" | "with" => word.starts_with(known),
        _ => kind == "exactly" && word == known,
    };
    let is_known = |word: &str| word.is_empty() || rows(ENDINGS).any(|row| known(word, row));
    let mut words = reason.split(|c: char| !c.is_alphabetic());
    match kind.map_or("", |(_, kind)| kind) {
        "whole" if !words.all(is_known) => "",
        kind => kind,
    }
}

/// Tokens spent, as far as they are told; the Responses API has names of its own.
pub(crate) fn usage(body: &Value) -> Usage {
    let own = given(body, "usage").or(given(body, "meta_info"));
    let count = |holder: Option<&Value>, key: &str| {
        let count = holder.and_then(|holder| holder.get(key)?.as_u64());
        count.and_then(|it| it.try_into().ok()).unwrap_or(0)
    };
    let details = ["prompt_tokens_details", "input_tokens_details"];
    let details = own.and_then(|usage| details.iter().find_map(|key| given(usage, key)));
    Usage {
        prompt_tokens: count(own, "prompt_tokens").max(count(own, "input_tokens")),
        cached_tokens: count(details.or(own), "cached_tokens"),
        completion_tokens: count(own, "completion_tokens").max(count(own, "output_tokens")),
        ..Usage::default()
    }
}

/// A key's value, if it is not null.
pub(crate) fn given<'v>(holder: &'v Value, key: &str) -> Option<&'v Value> {
    holder.get(key).filter(|value| !value.is_null())
}
