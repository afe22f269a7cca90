//! A sample as the token ids a judge sees.

use std::sync::Arc;

use crate::dataset::Sample;
use crate::model::ModelError;
use crate::model::chat_template::ChatTemplate;
use crate::model::tokenizer::Tokenizer;
use crate::protocol::template::{
    FieldName, Fields, PromptTemplate, Segment, assemble, split_marks,
};
use crate::protocol::{TemplateError, neutralise};

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
    /// A field of the sample.
    Own(FieldName),
}

/// Builds prompts: the shared stretches are tokenised once, a sample's texts each time, apart and as plain text.
pub struct PromptBuilder {
    tokenizer: Arc<Tokenizer>,
    segments: Vec<Segment>,
    stretches: Vec<Stretch>,
    starts_in_thinking: bool,
}

impl PromptBuilder {
    /// Renders the template into the model's chat template and tokenises what all prompts share.
    ///
    /// # Errors
    /// When the chat template fails, drops or repeats the prompt.
    pub fn new(
        tokenizer: Arc<Tokenizer>,
        chat: &ChatTemplate,
        template: &PromptTemplate,
    ) -> Result<Self, PromptError> {
        let rendered = chat.render(&template.render_with_marks())?;
        let segments = split_marks(&rendered)?;
        let mut stretches = Vec::with_capacity(segments.len());
        for segment in &segments {
            stretches.push(match segment {
                Segment::Trusted(text) => Stretch::Shared(tokenizer.encode_trusted(text)?),
                Segment::Field(name) => Stretch::Own(*name),
            });
        }
        // Some chat templates open the thinking themselves; the completion then starts inside it.
        let starts_in_thinking = rendered.trim_end().ends_with("<think>");
        Ok(Self {
            tokenizer,
            segments,
            stretches,
            starts_in_thinking,
        })
    }

    /// The prompt of a sample, as token ids.
    ///
    /// # Errors
    /// When the tokenizer refuses one of the sample's texts; the message names the field.
    pub fn tokens(&self, sample: &Sample) -> Result<Vec<u32>, ModelError> {
        let fields = fields(sample);
        let mut tokens = Vec::new();
        for stretch in &self.stretches {
            match stretch {
                Stretch::Shared(shared) => tokens.extend_from_slice(shared),
                Stretch::Own(name) => {
                    let own = self
                        .tokenizer
                        .encode_untrusted(&neutralise(fields.get(*name)));
                    tokens.extend(
                        own.map_err(|error| ModelError::Tokenizer(format!("{name}: {error}")))?,
                    );
                }
            }
        }
        Ok(tokens)
    }

    /// The prompt of a sample, as text.
    pub fn text(&self, sample: &Sample) -> String {
        assemble(&self.segments, &fields(sample))
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
        let fields = fields(sample);
        self.stretches
            .iter()
            .map(|stretch| match stretch {
                Stretch::Shared(tokens) => Ok((None, tokens.len())),
                Stretch::Own(name) => {
                    let own = self
                        .tokenizer
                        .encode_untrusted(&neutralise(fields.get(*name)))?;
                    Ok((Some(*name), own.len()))
                }
            })
            .collect()
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    /// True if the prompt ends inside a thinking block.
    pub fn starts_in_thinking(&self) -> bool {
        self.starts_in_thinking
    }
}

fn fields(sample: &Sample) -> Fields<'_> {
    Fields {
        question: &sample.question,
        student_answer: &sample.student_answer,
        reference_answer: &sample.reference_answer,
    }
}
