//! The prompt text with its slots.
//!
//! A template is plain text with `{{ question }}`, `{{ student_answer }}` and `{{ reference_answer }}` (each exactly
//! once), `{{ rubric }}` or `{{ other_answer }}` (once, under a protocol that needs it) and `{{ few_shots }}` (at most once). Every other brace is plain text, so JSON and LaTeX need no escaping.
//!
//! The template and its few-shots are trusted; the fields come with the sample and are not. They never meet before tokenising:
//! [`PromptTemplate::render_with_marks`] puts one private character in each field's place, that text goes through the model's chat template, and
//! [`split_marks`] cuts the result back into [`Segment`]s. The caller tokenises trusted segments with special tokens on and fields with special tokens off, so
//! that a field can make no control token. Each field is substituted once and never looked at again: a `{{ question }}` inside an answer stays what it is.

use std::sync::LazyLock;

use regex::Regex;

use super::delimiters::Delimiters;

/// The names a `{{ … }}` may hold, as error messages list them.
const ALLOWED: &str = "question, student_answer, reference_answer, other_answer, rubric, few_shots";

named! {
    /// A field that each sample fills with a text of its own.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum FieldName {
        Question = "question",
        /// The response to be graded.
        StudentAnswer = "student_answer",
        /// The expected final result.
        ReferenceAnswer = "reference_answer",
        /// The criteria, under a protocol with rubrics.
        Rubric = "rubric",
        /// The response that the first one is compared with, under a protocol that compares.
        OtherAnswer = "other_answer",
    }
}

impl FieldName {
    /// The fields that every prompt has.
    pub(crate) const REQUIRED: [Self; 3] =
        [Self::Question, Self::StudentAnswer, Self::ReferenceAnswer];

    /// The private character (a Unicode noncharacter, which no text should hold) that keeps the field's place.
    pub(crate) fn mark(self) -> char {
        match self {
            Self::Question => '\u{FDD0}',
            Self::StudentAnswer => '\u{FDD1}',
            Self::ReferenceAnswer => '\u{FDD2}',
            Self::Rubric => '\u{FDD3}',
            Self::OtherAnswer => '\u{FDD4}',
        }
    }

    fn from_mark(mark: char) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.mark() == mark)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Template, few-shots and chat template: tokenised with special tokens on.
    Trusted(String),
    /// The place of a field: its text is neutralised and tokenised with special tokens off.
    Field(FieldName),
}

/// Why a prompt text cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TemplateError(String);

/// Why a chat-rendered prompt cannot be cut into segments: the field that the chat template has dropped, or repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the chat template {what} the prompt: {field} is {where_it_is} in its output; use another chat template or the raw prompt"
)]
pub struct MarksError {
    what: &'static str,
    field: FieldName,
    where_it_is: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Field(FieldName),
    FewShots,
}

/// A prompt text that was read and found whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTemplate {
    text: String,
    parts: Vec<Part>,
    few_shots: Option<String>,
}

impl PromptTemplate {
    /// Reads a prompt text. The final newline of the file, if any, is not part of it.
    /// Errors: an unknown or repeated slot, a `{{` that is not closed on its line, a missing field, Jinja's statements, or a private character;
    /// each with its line.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        // `{#}` is neither beginning nor end.
        static JINJA: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"\{%[^%\n]*%\}|\{#[^#\n]*[^#{\n]#\}").ok());
        // A list or a request's body as JSON, and a list as YAML, from the beginning to the end: a prompt may begin with a conversation.
        static MESSAGES: LazyLock<Option<Regex>> = LazyLock::new(|| {
            let list = r#"\[\s*\{\s*"(?:role|content)"\s*:\s*["\[](?s:.*)\}\s*\]"#;
            let body = format!(
                r#"\{{\s*"(?:[^{{}}]*,\s*")?messages"\s*:\s*{list}(?:(?s:.*)[\]"\del])?\s*(?:\}}\s*)+"#
            );
            let yaml = r"(?:messages:\s+-\s+(?:role|content):|-\s+role:\s*\S+\s+content:|-\s+content:.*\n\s+role:).*(?:\n(?:(?:-|\s|messages:).*)?)*";
            Regex::new(&format!(r"\A\s*(?:{list}|{body}|{yaml})\s*\z")).ok()
        });
        let text = text.trim_start_matches('\u{feff}');
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        refuse_private_characters(text)?;
        if let Some(found) = JINJA.as_ref().and_then(|jinja| jinja.find(text)) {
            let what = "Jinja's `{% … %}` and `{# … #}` are not rendered: take them out";
            return Err(wrong(line_of(text, found.start()), what));
        }
        if MESSAGES.as_ref().is_some_and(|list| list.is_match(text)) {
            let why = "the prompt is a list of chat messages, and all of it would be one message of the user: write that one's text alone, and give the \
                       system's with --system-prompt";
            return Err(TemplateError(why.to_owned()));
        }
        let mut parts = Vec::new();
        let mut plain_from = 0;
        let mut at = 0;
        while let Some(found) = text[at..].find("{{") {
            let open = at + found;
            let line = line_of(text, open);
            let inside = open + 2;
            let length = text[inside..]
                .find(['}', '\n'])
                .filter(|&end| text[inside + end..].starts_with("}}"))
                .ok_or_else(|| {
                    wrong(line, "`{{` is never closed on its line; write `{{ name }}`")
                })?;
            let part = slot(text[inside..inside + length].trim(), line)?;
            if parts.contains(&part) {
                let name = part_name(&part);
                let what =
                    format!("`{{{{ {name} }}}}` is used a second time; each slot may stand once");
                return Err(wrong(line, &what));
            }
            if plain_from < open {
                parts.push(Part::Text(text[plain_from..open].to_owned()));
            }
            parts.push(part);
            at = inside + length + 2;
            plain_from = at;
        }
        if plain_from < text.len() {
            parts.push(Part::Text(text[plain_from..].to_owned()));
        }
        for field in FieldName::REQUIRED {
            if !parts.contains(&Part::Field(field)) {
                let line = line_of(text, text.len());
                return Err(TemplateError(format!(
                    "the prompt ends at line {line} without `{{{{ {field} }}}}`; question, student_answer and reference_answer must each stand once, \
                     each in two braces (a prompt may hold {ALLOWED})"
                )));
            }
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
            few_shots: None,
        })
    }

    /// Puts trusted examples into the `{{ few_shots }}` slot. They are taken as they are: a slot in them is plain text.
    /// Errors: when the template has no such slot, or the examples hold a private character.
    pub fn with_few_shots(mut self, examples: &str) -> Result<Self, TemplateError> {
        if !self.parts.contains(&Part::FewShots) {
            let why =
                "the prompt has no `{{ few_shots }}`, so few-shot examples have no place in it";
            return Err(TemplateError(why.to_owned()));
        }
        refuse_private_characters(examples)?;
        self.few_shots = Some(examples.to_owned());
        Ok(self)
    }

    pub fn has(&self, field: FieldName) -> bool {
        self.parts.contains(&Part::Field(field))
    }

    /// The template's own text, slots and all.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The prompt without a chat template, as segments.
    pub(crate) fn segments(&self) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut trusted = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => trusted.push_str(text),
                Part::FewShots => trusted.push_str(self.few_shots.as_deref().unwrap_or_default()),
                Part::Field(field) => {
                    push_trusted(&mut segments, &mut trusted);
                    segments.push(Segment::Field(*field));
                }
            }
        }
        push_trusted(&mut segments, &mut trusted);
        segments
    }

    /// The prompt with one private character in each field's place, ready for a chat template and [`split_marks`].
    pub(crate) fn render_with_marks(&self) -> String {
        self.segments()
            .into_iter()
            .map(|segment| match segment {
                Segment::Trusted(text) => text,
                Segment::Field(field) => field.mark().to_string(),
            })
            .collect()
    }

    /// What delimits the fields, and which of them nothing delimits.
    pub fn delimiters(&self) -> Delimiters {
        let few_shots = self.few_shots.as_deref().unwrap_or_default();
        let mut text = String::new();
        let mut examples = 0..0;
        for part in &self.parts {
            match part {
                Part::Text(own) => text.push_str(own),
                Part::Field(field) => text.push(field.mark()),
                Part::FewShots => {
                    examples = text.len()..text.len() + few_shots.len();
                    text.push_str(few_shots);
                }
            }
        }
        Delimiters::of_prompt(&text, &examples)
    }

    /// A fingerprint (BLAKE3, hexadecimal) of the template's text and its few-shots, for a run's manifest; also of the
    /// delimiters that its fields may not hold, where they are others than those of the built-in prompts.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(self.text.len() as u64).to_le_bytes());
        hasher.update(self.text.as_bytes());
        if let Some(examples) = &self.few_shots {
            hasher.update(b"few_shots");
            hasher.update(examples.as_bytes());
        }
        let reserved = self.delimiters().reserved;
        if !reserved.is_stock() {
            hasher.update(b"reserved");
            hasher.update(reserved.fingerprint().as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// Cuts a chat-rendered prompt of `template` at the fields' private characters.
/// Errors: when a field is missing or there twice: the chat template dropped or repeated the prompt.
pub(crate) fn split_marks(
    rendered: &str,
    template: &PromptTemplate,
) -> Result<Vec<Segment>, MarksError> {
    let fail = |what, field, where_it_is| MarksError {
        what,
        field,
        where_it_is,
    };
    let mut segments = Vec::new();
    let mut trusted = String::new();
    for character in rendered.chars() {
        match FieldName::from_mark(character) {
            None => trusted.push(character),
            Some(field) if segments.contains(&Segment::Field(field)) => {
                return Err(fail("repeated", field, "more than once"));
            }
            Some(field) => {
                push_trusted(&mut segments, &mut trusted);
                segments.push(Segment::Field(field));
            }
        }
    }
    push_trusted(&mut segments, &mut trusted);
    let is_dropped =
        |field: &FieldName| template.has(*field) && !segments.contains(&Segment::Field(*field));
    match FieldName::ALL.into_iter().find(is_dropped) {
        Some(field) => Err(fail("dropped", field, "not")),
        None => Ok(segments),
    }
}

fn push_trusted(segments: &mut Vec<Segment>, trusted: &mut String) {
    if !trusted.is_empty() {
        segments.push(Segment::Trusted(std::mem::take(trusted)));
    }
}

fn slot(name: &str, line: usize) -> Result<Part, TemplateError> {
    if name == "few_shots" {
        return Ok(Part::FewShots);
    }
    FieldName::from_name(name).map(Part::Field).ok_or_else(|| {
        let name: String = name.chars().take(40).collect();
        wrong(line, &format!("unknown slot `{{{{ {name} }}}}`"))
    })
}

fn wrong(line: usize, what: &str) -> TemplateError {
    TemplateError(format!(
        "line {line}: {what}; a prompt is plain text and may hold {ALLOWED}"
    ))
}

fn part_name(part: &Part) -> &'static str {
    match part {
        Part::Field(field) => field.name(),
        Part::FewShots | Part::Text(_) => "few_shots",
    }
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text[..at].bytes().filter(|&byte| byte == b'\n').count()
}

fn refuse_private_characters(text: &str) -> Result<(), TemplateError> {
    match text
        .char_indices()
        .find(|(_, character)| matches!(character, '\u{FDD0}'..='\u{FDEF}'))
    {
        None => Ok(()),
        Some((at, character)) => {
            let code = u32::from(character);
            let what = format!("the private character U+{code:04X} is reserved for marking fields");
            Err(wrong(line_of(text, at), &what))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: &str =
        "Grade {it}: {{question}}\n{{ few_shots }}|{{  student_answer  }}|{{ reference_answer }}\n";

    fn template(text: &str) -> PromptTemplate {
        PromptTemplate::parse(text).unwrap()
    }

    #[test]
    fn slots_become_segments_and_one_final_newline_goes() {
        let plain = template(SMALL);
        let trusted = |text: &str| Segment::Trusted(text.to_owned());
        assert_eq!(
            plain.segments(),
            [
                trusted("Grade {it}: "),
                Segment::Field(FieldName::Question),
                trusted("\n|"),
                Segment::Field(FieldName::StudentAnswer),
                trusted("|"),
                Segment::Field(FieldName::ReferenceAnswer),
            ]
        );
        let shown = plain.with_few_shots("see {{ question }}").unwrap();
        assert_eq!(shown.segments()[2], trusted("\nsee {{ question }}|"));
    }

    #[test]
    fn errors_name_the_line_and_what_is_allowed() {
        for (text, line, says) in [
            ("a\n{{ questoin }}", "line 2", "questoin"),
            ("a\nb\n{{ question", "line 3", "never closed"),
            ("{{ question\n}}", "line 1", "never closed"),
            ("{{ question } }}", "line 1", "never closed"),
            ("{{question}}\n{{question}}", "line 2", "second time"),
            (
                "{{question}}{{student_answer}}\n\n",
                "line 2",
                "reference_answer",
            ),
            ("{{}}", "line 1", "unknown slot"),
            ("{% if a %}{{ question }}", "line 1", "not rendered"),
            ("a {#1} {#}\nb {# c #}", "line 2", "not rendered"),
        ] {
            let message = PromptTemplate::parse(text).unwrap_err().to_string();
            assert!(message.contains(line), "{message}");
            assert!(message.contains(says), "{message}");
            assert!(
                message.contains(
                    "question, student_answer, reference_answer, other_answer, rubric, few_shots"
                ),
                "{message}"
            );
        }
        // Chat messages as JSON or YAML; a text that begins with a list is one.
        let turns = "{{question}}{{student_answer}}{{reference_answer}}";
        for list in [
            format!(
                r#"[{{"role": "system", "content": "s"}}, {{"role": "user", "content": "{turns}"}}]"#
            ),
            format!(
                "{{\n  \"messages\": [\n    {{\"content\": \"{turns}\", \"role\": \"user\"}}]}}"
            ),
            format!("- role: system\n  content: s\n- role: user\n  content: |\n    {turns}\n"),
            format!("messages:\n  - content: \"{turns}\"\n    role: user\n"),
            format!("- role: system\r\n  content: s\r\n\r\n- role: user\r\n  content: {turns}\r\n"),
            format!(
                r#"{{"model": "m", "temperature": 0, "messages": [{{"role": "user", "content": "{turns}"}}], "n": 1}}"#
            ),
        ] {
            let message = PromptTemplate::parse(&list).unwrap_err().to_string();
            assert!(message.contains("--system-prompt"), "{list}: {message}");
        }
        for text in [
            "- role: a grader\n- content: all",
            "[1] Read.",
            "{\"role\": 1}",
            "[{\"role\": \"user\", \"content\": \"q\"}]\n\nEnd with [Correct] or {}",
            "{\"messages\": [{\"role\": \"user\", \"content\": \"q\"}]}\n\u{feff}Is it right?",
            "- role: user\n  content: q\n\nThe answer is:",
        ] {
            let text = format!("{text}\n{turns}");
            let plain = PromptTemplate::parse(&format!("\u{feff}{text}")).unwrap();
            assert_eq!(plain.text(), text);
        }
        let private = PromptTemplate::parse("x\n\u{FDD5}").unwrap_err();
        assert!(private.to_string().contains("line 2") && private.to_string().contains("U+FDD5"));
        let twice = format!("{SMALL}{{{{few_shots}}}}");
        let twice = PromptTemplate::parse(&twice).unwrap_err().to_string();
        assert!(
            twice.starts_with("line 3: `{{ few_shots }}` is used a second time"),
            "{twice}"
        );
    }

    #[test]
    fn few_shots_need_a_slot_and_change_the_hash() {
        let bare = template("{{question}}{{student_answer}}{{reference_answer}}");
        let none = bare.with_few_shots("x").unwrap_err();
        assert!(
            none.to_string()
                .starts_with("the prompt has no `{{ few_shots }}`")
        );
        let plain = template(SMALL);
        assert!(plain.clone().with_few_shots("\u{FDD0}").is_err());
        let one = plain.clone().with_few_shots("x").unwrap();
        let empty = plain.clone().with_few_shots("").unwrap();
        assert_eq!(plain.hash().len(), 64);
        assert_ne!(plain.hash(), one.hash());
        assert_ne!(plain.hash(), empty.hash());
        assert_eq!(
            one.hash(),
            template(SMALL).with_few_shots("x").unwrap().hash()
        );
    }

    #[test]
    fn a_chat_template_that_drops_or_repeats_the_prompt_is_noticed() {
        let template = template(SMALL);
        let marked = template.render_with_marks();
        let chat = format!("<|im_start|>user\n{marked}<|im_end|>\n");
        let segments = split_marks(&chat, &template).unwrap();
        assert_eq!(segments.len(), 7);
        for (rendered, says) in [
            (
                "<|im_start|>".to_owned(),
                "dropped the prompt: question is not in",
            ),
            (
                marked.repeat(2),
                "repeated the prompt: question is more than once in",
            ),
        ] {
            let why = split_marks(&rendered, &template).unwrap_err().to_string();
            assert!(why.contains(says), "{why}");
        }
    }

    proptest! {
        #[test]
        fn marks_lead_back_to_the_same_segments(before in "[^{\u{FDD0}-\u{FDEF}]*", after in "[^{\u{FDD0}-\u{FDEF}]*") {
            let text = format!("{before}{{{{question}}}}-{{{{student_answer}}}}-{{{{reference_answer}}}}{after}.");
            let template = template(&text);
            prop_assert_eq!(split_marks(&template.render_with_marks(), &template).unwrap(), template.segments());
        }

        #[test]
        fn parsing_any_text_does_not_panic(text in r"(\{\{|\}\}|\{|question|few_shots| |\n|é|.)*") {
            let _ = PromptTemplate::parse(&text);
        }
    }
}
