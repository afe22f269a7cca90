//! A sample as the token ids a judge sees.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::field_text::FieldText;
use crate::protocol::template::{FieldName, PromptTemplate, Segment, split_marks};
use crate::protocol::view::numbered;
use crate::protocol::{Delimiters, TemplateError, View, tokens_in};
use crate::wire::EndpointError;
use juror_base::terminal::escaped;
use juror_data::Sample;
use juror_engine::checkpoint::CheckpointError;
use juror_engine::text::TextError;
use juror_engine::text::chat_template::{ChatOptions, ChatTemplate, ThinkingSwitch};
use juror_engine::text::reasoning::Thinking;
use juror_engine::text::reasoning::ThinkingStyle;
use juror_engine::text::tokenizer::{Place, Tokenizer};

/// Why a prompt cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    #[error("prompt text: {0}")]
    Template(#[from] TemplateError),
    #[error(transparent)]
    Marks(#[from] crate::protocol::template::MarksError),
    #[error(
        "{model} states no domain (it has no judge.json with one): without --force-domain it judges every sample"
    )]
    NoDomain { model: String },
    #[error(
        "--chat-template: the server renders the messages with its own; with --tokenizer MODEL prompts are rendered here"
    )]
    RenderedElsewhere,
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Text(#[from] TextError),
}

impl From<CheckpointError> for PromptError {
    fn from(error: CheckpointError) -> Self {
        Self::Text(error.into())
    }
}

enum Stretch {
    /// The same in every prompt: tokenised once.
    Shared(Vec<u32>),
    /// A field of the sample, and where it stands.
    Own(OwnStretch),
}

struct OwnStretch {
    name: FieldName,
    place: Place,
    /// The prompt's own text right before it, and right after it.
    before: String,
    after: String,
}

/// A prompt's tokens, as far as they were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptTokens {
    /// All of them; there may be more than were asked for.
    Whole(Vec<u32>),
    /// More than were asked for: at least so many. They were not made.
    AtLeast(usize),
}

/// The tokens of a prompt: how many there are, or how many at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenCount {
    Exactly(usize),
    AtLeast(usize),
}

impl fmt::Display for TokenCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(tokens) => write!(f, "{tokens}"),
            Self::AtLeast(tokens) => write!(f, "at least {tokens}"),
        }
    }
}

/// Texts of up to so many bytes are tokenised without a check of how many tokens they have at least.
const SURELY_TOKENISED: usize = 64 << 10;

/// Bytes for each token asked for, from which on a text is checked first; real text has three to five.
const BYTES_PER_TOKEN: usize = 16;

/// Bytes from which on every text is checked first.
const LONG_TEXT: usize = 1 << 20;

/// Builds prompts: the shared stretches are tokenised once, a sample's texts each time, apart and as plain text.
pub struct PromptBuilder {
    tokenizer: Arc<Tokenizer>,
    segments: Vec<Segment>,
    stretches: Vec<Stretch>,
    view: View,
    fields: FieldText,
    thinking: Thinking,
    notes: Vec<String>,
    switch: ThinkingSwitch,
    /// The tokenizer is not known: it may have any family's control tokens.
    is_for_others: bool,
}

impl PromptBuilder {
    /// Renders the template into the model's chat template and tokenises what all prompts share. `view` is what of a response goes in; `style` is how the model
    /// writes its thinking, if that is not to be found out; `answer_start` is what every answer begins with.
    /// Errors: when the chat template fails, drops or repeats the prompt, or has no use for an option.
    pub fn new(
        tokenizer: Arc<Tokenizer>,
        chat: &ChatTemplate,
        template: &PromptTemplate,
        view: View,
        options: &ChatOptions,
        style: Option<ThinkingStyle>,
        answer_start: &str,
    ) -> Result<Self, PromptError> {
        let marked = template.render_with_marks();
        let rendered = chat.render(&marked, options)? + answer_start;
        let segments = split_marks(&rendered, template)?;
        let mut stretches = Vec::with_capacity(segments.len());
        let mut place = Place::Beginning;
        for (at, segment) in segments.iter().enumerate() {
            match segment {
                Segment::Trusted(text) => {
                    let tokens = tokenizer.encode_trusted_at(text, place)?;
                    place = tokenizer.place_after(&tokens).unwrap_or(place);
                    stretches.push(Stretch::Shared(tokens));
                }
                Segment::Field(name) => {
                    let own = |at: Option<usize>| match at.and_then(|at| segments.get(at)) {
                        Some(Segment::Trusted(text)) => text.clone(),
                        _ => String::new(),
                    };
                    stretches.push(Stretch::Own(OwnStretch {
                        name: *name,
                        place,
                        before: own(at.checked_sub(1)),
                        after: own(Some(at + 1)),
                    }));
                    place = Place::Within;
                }
            }
        }
        let thinking = Thinking::find(
            style,
            &tokenizer,
            chat.source(),
            generation_prompt(chat, &marked, options, &rendered),
        )?;
        let Delimiters {
            mut reserved,
            unprotected,
        } = template.delimiters();
        let is_token = |text: &str| tokenizer.added_token(text).is_some();
        // In plain angle brackets they are tags, also where the vocabulary has tokens for them.
        reserved.retain_tags(|open, written| open == "<" || !is_token(written));
        let mut lacking = BTreeSet::new();
        if let Some((before, after)) = rendered.split_once(marked.trim()) {
            let written = [before, after].map(tokens_in).concat();
            lacking.extend(written.into_iter().filter(|&token| !is_token(token)));
            let mut chat = Delimiters::of_chat(&format!("{before}\u{FDD0}{after}"));
            chat.retain_tags(|_, written| !is_token(written));
            reserved.add(chat);
        }
        for tag in thinking.text_tags() {
            reserved.add_literal(tag);
        }
        let fields = FieldText::new(Arc::clone(&tokenizer), reserved);
        // A prompt that shows no response has nothing under judgement in it.
        let unprotected = unprotected.iter().filter(|_| view != View::Nothing);
        let mut notes: Vec<String> = unprotected.map(ToString::to_string).collect();
        notes.extend(fields.note());
        if !lacking.is_empty() {
            let names = lacking.iter().map(|name| escaped(name).into_owned());
            let names: Vec<String> = names.collect();
            notes.push(format!(
                "the chat template names tokens that the vocabulary lacks ({}): the model sees them as plain letters; if it was not \
                 trained so, take a file with the right vocabulary, or give its template with --chat-template",
                names.join(", ")
            ));
        }
        Ok(Self {
            tokenizer,
            segments,
            stretches,
            view,
            fields,
            thinking,
            notes,
            switch: chat.thinking_switch(&marked, options),
            is_for_others: false,
        })
    }

    /// The same, for prompts that are handed over as text: control tokens of all known families are broken in the fields, for it
    /// is not known which the model has.
    pub(crate) fn for_others(self) -> Self {
        Self {
            is_for_others: true,
            ..self
        }
    }

    /// A field's text as it goes in.
    fn shown<'s>(&self, sample: &'s Sample, own: &OwnStretch) -> Cow<'s, str> {
        let text = shown_field(sample, self.view, own.name);
        if !self.is_for_others {
            return text;
        }
        let safe = self.fields.for_others(&text, &own.before, &own.after);
        Cow::Owned(safe.into_owned())
    }

    /// What the user should know of the prompt: which fields nothing protects.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The prompt of a sample, as token ids.
    /// Errors: when the tokenizer refuses one of the sample's texts; the message names the field.
    pub fn tokens(&self, sample: &Sample) -> Result<Vec<u32>, TextError> {
        let mut tokens = Vec::new();
        for stretch in &self.stretches {
            match stretch {
                Stretch::Shared(shared) => tokens.extend_from_slice(shared),
                Stretch::Own(own) => tokens.extend(self.own(sample, own)?),
            }
        }
        Ok(tokens)
    }

    /// As [`Self::tokens`], if there are no more than `most`: a sample's texts may be of any length, and tokenising them
    /// would take time and memory in proportion.
    pub fn tokens_within(&self, sample: &Sample, most: usize) -> Result<PromptTokens, TextError> {
        let shared = self.shared_tokens();
        let left = most.saturating_sub(shared);
        let tokenised = left.saturating_mul(BYTES_PER_TOKEN);
        let tokenised = tokenised.clamp(SURELY_TOKENISED, LONG_TEXT);
        for stretch in &self.stretches {
            let Stretch::Own(own) = stretch else {
                continue;
            };
            let text = self.shown(sample, own);
            let text = self.fields.neutralised(&text, &own.before, &own.after);
            if text.len() > tokenised
                && let Some(least) = self.tokenizer.more_tokens_than(left, &text)
            {
                return Ok(PromptTokens::AtLeast(shared.saturating_add(least)));
            }
        }
        self.tokens(sample).map(PromptTokens::Whole)
    }

    fn own(&self, sample: &Sample, own: &OwnStretch) -> Result<Vec<u32>, TextError> {
        let text = self.shown(sample, own);
        self.fields
            .tokens(&text, own.place, &own.before, &own.after)
            .map_err(|error| TextError::Tokenizer(format!("{}: {error}", own.name)))
    }

    pub fn text(&self, sample: &Sample) -> String {
        let mut stretches = self.stretches.iter().filter_map(|stretch| match stretch {
            Stretch::Shared(_) => None,
            Stretch::Own(own) => Some(own),
        });
        let mut prompt = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Trusted(text) => prompt.push_str(text),
                Segment::Field(_) => {
                    if let Some(own) = stretches.next() {
                        let text = self.shown(sample, own);
                        prompt.push_str(&self.fields.text(
                            &text,
                            own.place,
                            &own.before,
                            &own.after,
                        ));
                    }
                }
            }
        }
        prompt
    }

    /// The tokens every prompt begins with: chat markup, instructions and few-shots up to the first field.
    pub fn shared_prefix(&self) -> &[u32] {
        match self.stretches.first() {
            Some(Stretch::Shared(tokens)) => tokens,
            _ => &[],
        }
    }

    /// How many tokens all prompts share, wherever they stand.
    pub(crate) fn shared_tokens(&self) -> usize {
        let shared = self.stretches.iter().map(|stretch| match stretch {
            Stretch::Shared(tokens) => tokens.len(),
            Stretch::Own(_) => 0,
        });
        shared.sum()
    }

    /// Each stretch of the prompt, in order: `None` with the number of tokens that all prompts share, or the field's
    /// name with the number of its tokens in this sample.
    pub fn token_counts(
        &self,
        sample: &Sample,
    ) -> Result<Vec<(Option<FieldName>, usize)>, TextError> {
        self.stretches
            .iter()
            .map(|stretch| match stretch {
                Stretch::Shared(tokens) => Ok((None, tokens.len())),
                Stretch::Own(own) => Ok((Some(own.name), self.own(sample, own)?.len())),
            })
            .collect()
    }

    pub fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    /// What `--thinking` does with the model's chat template.
    pub fn switch(&self) -> ThinkingSwitch {
        self.switch
    }

    /// How the judge's thinking is told from its answer.
    pub fn thinking(&self) -> &Thinking {
        &self.thinking
    }
}

/// The generation prompt: the chat template's text after all messages.
fn generation_prompt<'r>(
    chat: &ChatTemplate,
    marked: &str,
    options: &ChatOptions,
    rendered: &'r str,
) -> &'r str {
    let without = chat.render_without_generation_prompt(marked, options);
    if let Some(prompt) = without
        .ok()
        .and_then(|without| rendered.strip_prefix(without.as_str()))
    {
        return prompt;
    }
    // Then the last line that is not blank: where a template opens the thinking.
    let end = rendered.trim_end();
    &rendered[end.rfind('\n').map_or(0, |at| at + 1)..]
}

/// A field's text, as far as the judge is to see it.
pub(crate) fn shown_field(sample: &Sample, view: View, name: FieldName) -> Cow<'_, str> {
    match name {
        FieldName::Question => sample.question.as_str().into(),
        FieldName::StudentAnswer if view == View::Steps && !sample.steps.is_empty() => {
            numbered(sample.steps.iter().map(String::as_str)).into()
        }
        FieldName::StudentAnswer => view.judged_part(&sample.student_answer),
        FieldName::ReferenceAnswer => sample.reference_answer.as_str().into(),
        FieldName::OtherAnswer => view.judged_part(&sample.other_answer),
        FieldName::Rubric => sample
            .rubric
            .as_ref()
            .map_or("".into(), |rubric| rubric.shown().into()),
    }
}
