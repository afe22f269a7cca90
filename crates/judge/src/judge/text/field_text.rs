//! A text under judgement as tokens that spell no delimiter of the prompt.
//!
//! Breaking the delimiters that stand in the text is not enough: the tokenizer goes on to change it. A normaliser folds
//! `＜` to `<`, takes accents and control characters away, writes spaces as `▁`; a vocabulary drops the characters it lacks,
//! and spells bytes `<0x3C>`. So the tokens are spelled out again, as the model reads them, and searched for delimiters as the text was. One that is found
//! there is traced back to the characters that it was made of, and these are replaced. Where that does not help, the text is refused.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::protocol::Reserved;
use crate::protocol::control_text;
use crate::protocol::reserved::{Breaches, replace};
use juror_engine::text::TextError;
use juror_engine::text::tokenizer::{Place, TextStream, Tokenizer};

/// Times that delimiters are traced back. One is the rule; a normaliser may make another of what is left.
const ROUNDS: usize = 8;

pub(crate) struct FieldText {
    tokenizer: Arc<Tokenizer>,
    reserved: Reserved,
    /// The tokenizer forgets where spaces stood: tokens are spelled without any between them too.
    drops_spaces: bool,
    /// A delimiter that the vocabulary cannot spell.
    unspelled: Option<String>,
}

impl FieldText {
    pub(crate) fn new(tokenizer: Arc<Tokenizer>, mut reserved: Reserved) -> Self {
        let encode = |text: &str| {
            tokenizer
                .untrusted_offsets(text, Place::Within)
                .map(|(ids, _)| ids)
                .unwrap_or_default()
        };
        let joined = |text: &str| pieces(&tokenizer, &encode(text)).concat();
        // A tokenizer without a decoder puts a space between all tokens.
        let ab = encode("ab");
        let spaced = ab.len() > 1 && tokenizer.decode(&ab) == pieces(&tokenizer, &ab).join(" ");
        let drops_spaces = joined("a b") == joined("ab") || spaced;
        // What a delimiter looks like where the vocabulary cannot spell it, or spells it with spaces.
        let mut unspelled = None;
        for forged in reserved.forgeries().collect::<Vec<_>>() {
            let ids = encode(&forged);
            let spelled = tokenizer.decode(&ids);
            if !reserved.find("", &spelled, "").is_empty() {
                continue;
            }
            let spelled = spelled.trim();
            let is_known = |id: &u32| tokenizer.added_token(&tokenizer.piece(*id)).is_none();
            if ids.iter().any(is_known) && spelled.chars().nth(1).is_some() {
                reserved.add_literal(spelled);
            } else {
                unspelled.get_or_insert(forged);
            }
        }
        Self {
            tokenizer,
            reserved,
            drops_spaces,
            unspelled,
        }
    }

    /// What the user should know of this tokenizer.
    pub(crate) fn note(&self) -> Option<String> {
        let forged = self.unspelled.as_ref()?;
        Some(format!(
            "the model's vocabulary cannot spell {forged:?}: texts under judgement cannot be kept from closing their fields"
        ))
    }

    /// The tokens of a field that stands at `place`, between `before` and `after` of the prompt's own text.
    /// Errors: when the tokenizer refuses the text, or still makes a delimiter of it after all replacements.
    pub(crate) fn tokens(
        &self,
        text: &str,
        place: Place,
        before: &str,
        after: &str,
    ) -> Result<Vec<u32>, TextError> {
        Ok(self.safe(text, place, before, after)?.1)
    }

    /// The text that these tokens are made of; where there are none, without the delimiters that stand in it.
    pub(crate) fn text<'t>(
        &self,
        text: &'t str,
        place: Place,
        before: &str,
        after: &str,
    ) -> Cow<'t, str> {
        match self.safe(text, place, before, after) {
            Ok((text, _)) => text,
            Err(_) => self.neutralised(text, before, after),
        }
    }

    /// The text for an unknown tokenizer: without any known family's control tokens.
    pub(crate) fn for_others<'t>(&self, text: &'t str, before: &str, after: &str) -> Cow<'t, str> {
        control_text::neutralise(&self.reserved, before, text, after)
    }

    /// The text without the delimiters that stand in it, before the tokenizer's part is looked at.
    pub(crate) fn neutralised<'t>(&self, text: &'t str, before: &str, after: &str) -> Cow<'t, str> {
        self.reserved.neutralise(before, text, after)
    }

    fn safe<'t>(
        &self,
        text: &'t str,
        place: Place,
        before: &str,
        after: &str,
    ) -> Result<(Cow<'t, str>, Vec<u32>), TextError> {
        let mut text = self.neutralised(text, before, after);
        for _ in 0..ROUNDS {
            let ids = self.tokenizer.encode_untrusted_at(&text, place)?;
            let spelled = self.tokenizer.decode(&ids);
            let is_safe = |spelled: &str| self.reserved.find(before, spelled, after).is_empty();
            if is_safe(&spelled)
                && (!self.drops_spaces || is_safe(&pieces(&self.tokenizer, &ids).concat()))
            {
                return Ok((text, ids));
            }
            let Some(found) = self.trace(&text, place, before, after)? else {
                break;
            };
            text = Cow::Owned(replace(&text, &found));
        }
        Err(TextError::Tokenizer(
            "the tokenizer makes of this text what delimits the prompt's fields, and it cannot be told from the prompt's own"
                .into(),
        ))
    }

    /// The characters of `text` of which its tokens spell delimiters; none if they cannot be told.
    fn trace(
        &self,
        text: &str,
        place: Place,
        before: &str,
        after: &str,
    ) -> Result<Option<Breaches>, TextError> {
        let (ids, offsets) = self.tokenizer.untrusted_offsets(text, place)?;
        let mut stream = TextStream::new(Arc::clone(&self.tokenizer));
        let mut spellings = vec![ids.iter().map(|&id| stream.push(id)).collect()];
        if self.drops_spaces {
            spellings.push(pieces(&self.tokenizer, &ids));
        }
        let mut traced = Breaches::default();
        for spelling in spellings {
            let spelled = spelling.concat();
            let found = self.reserved.find(before, &spelled, after);
            traced.goes_on |= found.goes_on;
            let mut places = found.at.into_iter().peekable();
            let mut end = 0;
            for (piece, offset) in spelling.iter().zip(&offsets) {
                end += piece.len();
                while let Some((_, made)) = places.next_if(|&(at, _)| at < end) {
                    let sources = self.made_of(text, offset, made);
                    traced.at.extend(sources.into_iter().map(|at| (at, made)));
                }
            }
        }
        Ok((!traced.is_empty()).then_some(traced))
    }

    /// The characters in this part of `text` that become `made`; the first of it if none does so alone.
    fn made_of(&self, text: &str, part: &Range<usize>, made: char) -> Vec<usize> {
        let start = text.floor_char_boundary(part.start);
        let end = text.ceil_char_boundary(part.end.max(start));
        let mut buffer = [0; 4];
        let is_source = |character: char, buffer: &mut [u8; 4]| {
            character == made
                || !character.is_ascii()
                    && self
                        .tokenizer
                        .normalised(character.encode_utf8(buffer))
                        .contains(made)
        };
        let sources: Vec<usize> = text[start..end]
            .char_indices()
            .filter(|&(_, character)| is_source(character, &mut buffer))
            .map(|(at, _)| start + at)
            .collect();
        if sources.is_empty() {
            vec![start]
        } else {
            sources
        }
    }
}

/// Each token as the vocabulary writes it, spaces as spaces.
fn pieces(tokenizer: &Tokenizer, ids: &[u32]) -> Vec<String> {
    ids.iter()
        .map(|&id| {
            tokenizer
                .piece(id)
                .replace(['▁', 'Ġ'], " ")
                .replace('Ċ', "\n")
        })
        .collect()
}
