//! A sample as the token ids a judge sees.

use std::borrow::Cow;
use std::sync::Arc;

use super::thinking::Thinking;
use crate::dataset::Sample;
use crate::model::ModelError;
use crate::model::chat_template::{ChatOptions, ChatTemplate, ThinkingSwitch};
use crate::model::tokenizer::{Place, Tokenizer};
use crate::protocol::template::{FieldName, Fields, PromptTemplate, Segment, split_marks};
use crate::protocol::{TemplateError, ThinkingStyle, neutralise};

/// Why a prompt cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The prompt text has a fault.
    #[error("prompt text: {0}")]
    Template(#[from] TemplateError),
    /// The chat template loses or repeats the prompt.
    #[error(transparent)]
    Marks(#[from] crate::protocol::template::MarksError),
    /// The tokenizer or the chat template failed.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// A stretch of every prompt.
enum Stretch {
    /// The same in every prompt: tokenised once.
    Shared(Vec<u32>),
    /// A field of the sample, and where it stands.
    Own(FieldName, Place),
}

/// Builds prompts: the shared stretches are tokenised once, a sample's texts each time, apart and as plain text.
pub struct PromptBuilder {
    tokenizer: Arc<Tokenizer>,
    segments: Vec<Segment>,
    stretches: Vec<Stretch>,
    thinking: Thinking,
    switch: ThinkingSwitch,
}

impl PromptBuilder {
    /// Renders the template into the model's chat template and tokenises what all prompts share. `style` is how the
    /// model writes its thinking, if that is not to be found out.
    ///
    /// # Errors
    /// When the chat template fails, drops or repeats the prompt, or has no use for an option.
    pub fn new(
        tokenizer: Arc<Tokenizer>,
        chat: &ChatTemplate,
        template: &PromptTemplate,
        options: &ChatOptions,
        style: Option<ThinkingStyle>,
    ) -> Result<Self, PromptError> {
        let marked = template.render_with_marks();
        let rendered = chat.render(&marked, options)?;
        let segments = split_marks(&rendered)?;
        let mut stretches = Vec::with_capacity(segments.len());
        let mut place = Place::Beginning;
        for segment in &segments {
            match segment {
                Segment::Trusted(text) => {
                    let tokens = tokenizer.encode_trusted_at(text, place)?;
                    place = tokenizer.place_behind(&tokens).unwrap_or(place);
                    stretches.push(Stretch::Shared(tokens));
                }
                Segment::Field(name) => {
                    stretches.push(Stretch::Own(*name, place));
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
        Ok(Self {
            tokenizer,
            segments,
            stretches,
            thinking,
            switch: chat.thinking_switch(&marked, options),
        })
    }

    /// The prompt of a sample, as token ids.
    ///
    /// # Errors
    /// When the tokenizer refuses one of the sample's texts; the message names the field.
    pub fn tokens(&self, sample: &Sample) -> Result<Vec<u32>, ModelError> {
        let mut tokens = Vec::new();
        for stretch in &self.stretches {
            match stretch {
                Stretch::Shared(shared) => tokens.extend_from_slice(shared),
                Stretch::Own(name, place) => tokens.extend(self.own(sample, *name, *place)?),
            }
        }
        Ok(tokens)
    }

    fn own(&self, sample: &Sample, name: FieldName, place: Place) -> Result<Vec<u32>, ModelError> {
        self.tokenizer
            .encode_untrusted_at(&self.shown(sample, name), place)
            .map_err(|error| ModelError::Tokenizer(format!("{name}: {error}")))
    }

    /// A field's text as the judge sees it.
    fn shown<'s>(&self, sample: &'s Sample, name: FieldName) -> Cow<'s, str> {
        let text = fields(sample).get(name);
        match self.thinking.without_tags(text) {
            Cow::Borrowed(text) => neutralise(text),
            Cow::Owned(text) => Cow::Owned(neutralise(&text).into_owned()),
        }
    }

    /// The prompt of a sample, as text.
    pub fn text(&self, sample: &Sample) -> String {
        let mut prompt = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Trusted(text) => prompt.push_str(text),
                Segment::Field(name) => prompt.push_str(&self.shown(sample, *name)),
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

    /// Each stretch of the prompt, in order: `None` with the number of tokens that all prompts share, or the field's
    /// name with the number of its tokens in this sample.
    ///
    /// # Errors
    /// As [`Self::tokens`].
    pub fn token_counts(
        &self,
        sample: &Sample,
    ) -> Result<Vec<(Option<FieldName>, usize)>, ModelError> {
        self.stretches
            .iter()
            .map(|stretch| match stretch {
                Stretch::Shared(tokens) => Ok((None, tokens.len())),
                Stretch::Own(name, place) => {
                    Ok((Some(*name), self.own(sample, *name, *place)?.len()))
                }
            })
            .collect()
    }

    /// The tokenizer.
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

/// What the chat template writes for the judge to go on from, behind all messages.
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

fn fields(sample: &Sample) -> Fields<'_> {
    Fields {
        question: &sample.question,
        student_answer: &sample.student_answer,
        reference_answer: &sample.reference_answer,
    }
}
