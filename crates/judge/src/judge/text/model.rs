//! A judge: a model under a protocol, ready to be asked.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::domain::{Domain, JudgeFile};
use super::generation::GenerationDefaults;
use super::model_text::{ModelText, guarded, optional};
use super::prompt::{PromptBuilder, PromptError, PromptTokens, TokenCount};
use super::source::Served;
use crate::catalog::known_judges::{self, KnownJudge};
use crate::judge::RunOptions;
use crate::protocol::{PromptTemplate, Protocol, ScaffoldWants};
use crate::reward::RewardPolicy;
use crate::runtime::Doubt;
use juror_data::Sample;
use juror_data::journal::{ChatIdentity, Identity};
use juror_engine::checkpoint::{CheckpointError, ModelConfig, ModelSource, Weights};
use juror_engine::engine::{Choices, Completion, TokenSet};
use juror_engine::grammar::{GrammarError, Grammars};
use juror_engine::text::TextError;
use juror_engine::text::chat_template::{ChatOptions, ChatTemplate, Moment};
use juror_engine::text::end_tokens::EndToken;
use juror_engine::text::reasoning::{ThinkingStyle, VisibleAnswer};
use juror_engine::text::tokenizer::{Place, Tokenizer};

/// The user's settings of the chat template and of the thinking style; by default none.
#[warn(missing_docs)]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatSettings {
    /// Options of the chat template.
    pub options: ChatOptions,
    /// Another chat template than the model's: what it is called, and its text.
    pub template: Option<(String, String)>,
    /// How the model writes its thinking.
    pub style: Option<ThinkingStyle>,
    /// Date and time given to a chat template that uses them.
    pub moment: Option<Moment>,
    /// Judge samples outside the judge's domain too: every answer begins as of a sample inside.
    pub force_domain: bool,
}

/// The judge's text side: writes prompts and reads answers. Needs no weights.
pub struct JudgeText {
    pub protocol: Arc<Protocol>,
    pub prompts: PromptBuilder,
    pub eos: Arc<[u32]>,
    /// How those of the model are known.
    pub ends: Vec<EndToken>,
    /// Token variants of True and False, or of the protocol's labels.
    pub(crate) choices: Arc<Choices>,
    /// The model's sizes; none of one whose files are not here.
    pub config: Option<ModelConfig>,
    /// Most tokens of prompt and completion together.
    pub context: usize,
    pub generation: GenerationDefaults,
    /// The manifest's entry for the chat template; none where all its options are at their defaults.
    pub chat: Option<ChatIdentity>,
    /// What its `judge.json` says; no domain if it is to judge anything.
    pub judge: JudgeFile,
    /// What the user should know before the first verdict.
    pub notes: Vec<String>,
    /// Whether the protocol gives answers a form that this model can follow.
    has_form: bool,
    blank: OnceLock<TokenSet>,
    pub(crate) grammars: Grammars,
    /// The server that answers, where the model runs elsewhere.
    pub(crate) endpoint: Option<Served>,
}

/// What a judge's text side is made of.
pub(crate) struct TextParts {
    pub(crate) name: String,
    pub(crate) config: Option<ModelConfig>,
    pub(crate) context: usize,
    /// Most tokens of a completion that leave room for a prompt.
    pub(crate) most_new_tokens: usize,
    pub(crate) ends: Vec<EndToken>,
    pub(crate) tokenizer: Arc<Tokenizer>,
    pub(crate) chat: ChatTemplate,
    pub(crate) judge: JudgeFile,
    pub(crate) known: Option<&'static KnownJudge>,
    pub(crate) generation: GenerationDefaults,
    pub(crate) notes: Vec<String>,
    /// The prompts' tokenizer is not known.
    pub(crate) is_for_others: bool,
}

impl JudgeText {
    /// Whether the probabilities of all tokens say something of its verdicts.
    pub(crate) fn wants_probabilities(&self) -> bool {
        let asks = |domain: &Domain| domain.least > 0.0;
        self.judge.weighs_thinking || self.judge.domain.as_ref().is_some_and(asks)
    }

    /// Whether its labels are told apart by the tokens with which they begin.
    pub fn has_choices(&self) -> bool {
        self.is_elsewhere() || !self.choices.tokens.is_empty()
    }

    /// Whether the judge was not sure enough that it knows such samples, by the doubtful tokens of a completion that begins with the text of those inside.
    pub(crate) fn doubts_domain(&self, completion: &Completion, doubts: Option<&[Doubt]>) -> bool {
        /// The most tokens that spell that text.
        const SPELT: usize = 64;
        let (Some(domain), Some(doubts)) = (&self.judge.domain, doubts) else {
            return false;
        };
        let inside = domain.inside.trim();
        let begins = |count: &usize| {
            let tokens = completion.tokens.get(..*count).unwrap_or_default();
            let written = self.prompts.tokenizer().decode(tokens);
            written.trim_start().starts_with(inside)
        };
        let most = completion.tokens.len().min(SPELT);
        let spelt = (1..=most).find(begins);
        spelt.is_some_and(|count| domain.is_doubtful(doubts, count))
    }

    /// How many tokens of a completion stand before its answer.
    pub(crate) fn tokens_of_thinking(
        &self,
        completion: &Completion,
        answer: &VisibleAnswer,
    ) -> usize {
        let bytes = answer.thinking_bytes();
        let counts: Vec<usize> = (0..=completion.tokens.len()).collect();
        let length = |count: &usize| {
            let tokens = completion.tokens.get(..*count).unwrap_or_default();
            self.prompts.tokenizer().decode(tokens).len()
        };
        counts
            .partition_point(|count| length(count) <= bytes)
            .saturating_sub(1)
    }

    /// The prompt of a sample, if the context has room for it and `max_new_tokens` more; else how long it is.
    pub fn prompt(
        &self,
        sample: &Sample,
        max_new_tokens: usize,
    ) -> Result<Result<Vec<u32>, TokenCount>, TextError> {
        let context = self.context;
        let most = context.saturating_sub(max_new_tokens);
        Ok(match self.prompts.tokens_within(sample, most)? {
            PromptTokens::Whole(tokens)
                if tokens.len().saturating_add(max_new_tokens) <= context =>
            {
                Ok(tokens)
            }
            PromptTokens::Whole(tokens) => Err(TokenCount::Exactly(tokens.len())),
            PromptTokens::AtLeast(tokens) => Err(TokenCount::AtLeast(tokens)),
        })
    }

    /// Whether a server answers for it.
    pub fn is_elsewhere(&self) -> bool {
        self.endpoint.is_some()
    }

    /// Why probabilities are not known, where they are not.
    pub fn endpoint_without_probabilities(&self) -> Option<&'static str> {
        let served = self.endpoint.as_ref();
        let lacks = served.is_some_and(|one| one.lacks_probabilities);
        lacks.then_some("the server does not say how likely the words of its answers were")
    }

    /// Whether its answers can be constrained.
    pub fn has_scaffold(&self) -> bool {
        let domain = self.judge.domain.as_ref();
        domain.is_none_or(Domain::is_choice) && self.has_form
    }

    /// Whether its reward may be known before the answer is over: not where a grammar says what is written.
    pub fn has_early_reward(&self) -> bool {
        let scaffold = self.protocol.scaffold(&ScaffoldWants::default());
        self.has_scaffold() && scaffold.is_some_and(|scaffold| scaffold.grammar().is_none())
    }

    /// The form that the protocol gives to answers, if it does: whether this model can follow it.
    fn form(&self) -> Option<Result<(), GrammarError>> {
        let forms = [false, true].map(|reason| {
            let wants = ScaffoldWants {
                reason,
                ..ScaffoldWants::default()
            };
            let scaffold = self.protocol.scaffold(&wants)?;
            let grammar = scaffold.grammar().map(|source| self.grammars.get(source));
            Some(grammar.map_or(Ok(()), |made| made.map(|_| ())))
        });
        let [one, other] = forms;
        Some(one?.and(other?))
    }

    pub(crate) fn blank(&self) -> &TokenSet {
        self.blank
            .get_or_init(|| self.prompts.tokenizer().blank().into_iter().collect())
    }

    /// Reads configuration, tokenizer and chat template.
    pub fn load(
        source: &ModelSource,
        protocol: &Arc<Protocol>,
        template: &PromptTemplate,
    ) -> Result<Self, PromptError> {
        Self::load_with(source, protocol, template, &ChatSettings::default())
    }

    /// As [`Self::load`], with the user's settings of the chat template.
    /// Errors: when one of them cannot be read or used, or the chat template has no use for an option.
    pub fn load_with(
        source: &ModelSource,
        protocol: &Arc<Protocol>,
        template: &PromptTemplate,
        settings: &ChatSettings,
    ) -> Result<Self, PromptError> {
        guarded(source, || Self::read(source, protocol, template, settings))
    }

    fn read(
        source: &ModelSource,
        protocol: &Arc<Protocol>,
        template: &PromptTemplate,
        settings: &ChatSettings,
    ) -> Result<Self, PromptError> {
        let model = ModelText::load(source)?;
        let separate = match &settings.template {
            Some((_, text)) => Some(text.clone()),
            None if !protocol.chat => Some(BARE.to_owned()),
            None => optional(source, "chat_template.jinja")?,
        };
        let tokenizer_config =
            optional(source, "tokenizer_config.json")?.unwrap_or_else(|| "{}".into());
        // A template of the program is not tried first.
        let own = !protocol.chat || matches!(source, ModelSource::Embedded(_));
        let read = if own {
            ChatTemplate::new
        } else {
            ChatTemplate::of_model
        };
        let chat = read(&tokenizer_config, separate)?;
        if let Some(moment) = settings.moment {
            chat.clock().set(moment);
        }
        let ends = model.ends(Some(&chat));
        let ModelText {
            config,
            tokenizer,
            generation,
            notes,
            ..
        } = model;
        let parts = TextParts {
            name: source.to_string(),
            ends,
            context: config.max_positions,
            most_new_tokens: config.max_positions / 2,
            config: Some(config),
            tokenizer,
            chat,
            judge: JudgeFile::load(source)?,
            known: known_judge(source),
            generation,
            notes,
            is_for_others: false,
        };
        Self::of_parts(parts, protocol, template, settings)
    }

    /// Puts the text side together.
    /// Errors: when the prompt does not pass through the chat template, or the template has no use for an option.
    pub(crate) fn of_parts(
        parts: TextParts,
        protocol: &Arc<Protocol>,
        template: &PromptTemplate,
        settings: &ChatSettings,
    ) -> Result<Self, PromptError> {
        let TextParts {
            name,
            config,
            context,
            most_new_tokens,
            ends,
            tokenizer,
            chat,
            mut judge,
            known,
            mut generation,
            mut notes,
            is_for_others,
        } = parts;
        let mut answer_start = String::new();
        if settings.force_domain {
            let model = name.clone();
            let stated = judge.domain.take().ok_or(PromptError::NoDomain { model })?;
            answer_start = stated.inside;
        }
        // Whoever renders the messages applies them.
        let none = ChatOptions::default();
        let own = &settings.options;
        let options = if is_for_others { &none } else { own };
        let prompts = PromptBuilder::new(
            Arc::clone(&tokenizer),
            &chat,
            template,
            protocol.view,
            options,
            settings.style.clone(),
            &answer_start,
        )?;
        let prompts = if is_for_others {
            prompts.for_others()
        } else {
            prompts
        };
        // A known judge's settings are for its own protocol; under another, that protocol's come first. A prompt needs room too.
        generation = with_known(generation, known, protocol.as_ref(), most_new_tokens);
        notes.extend_from_slice(prompts.notes());
        let own = protocol.template.as_deref();
        let own = own.and_then(|text| PromptTemplate::parse(text).ok());
        let own_text = own.is_some_and(|own| own.hash() == template.hash());
        let built_in = protocol.hash.is_none();
        let protocols = &judge.protocols;
        let trained = protocols.iter().any(|name| *name == protocol.name) && own_text && built_in;
        if !(protocols.is_empty() || trained) {
            notes.push(format!(
                "{name} knows no other prompt than that of protocol {}: with this one its verdicts mean nothing; use another \
                 --model",
                protocols.join(", ")
            ));
        }
        let choices = Arc::new(choices(protocol.as_ref(), &tokenizer)?);
        let own: Vec<u32> = ends.iter().map(|end| end.id).collect();
        let eos: Arc<[u32]> = prompts.thinking().ends(&own, &tokenizer).into();
        let mut text = Self {
            protocol: Arc::clone(protocol),
            grammars: Grammars::new(&tokenizer, &eos),
            eos,
            ends,
            prompts,
            choices,
            config,
            context,
            generation,
            judge,
            chat: identity(settings, &chat),
            notes,
            has_form: false,
            blank: OnceLock::new(),
            endpoint: None,
        };
        match text.form() {
            None => {}
            Some(Ok(())) => text.has_form = true,
            Some(Err(why)) => text.notes.push(format!(
                "answers are not constrained: the form that protocol {} gives them cannot be used here: {why}",
                protocol.name
            )),
        }
        Ok(text)
    }

    /// The same of a model behind a server.
    pub(crate) fn served_by(mut self, served: Served) -> Self {
        self.has_form = served.has_form;
        self.endpoint = Some(served);
        self
    }

    /// Most tokens of prompt and completion together, where that is known: of a server that is asked in text, what it says.
    pub fn token_context(&self) -> usize {
        let served = self.endpoint.as_ref().filter(|one| one.takes_text);
        served.and_then(|one| one.context).unwrap_or(self.context)
    }

    /// The options of a run where the user says nothing: sampling and length as the model's makers recommend.
    pub fn run_options(&self, trials: u32) -> RunOptions {
        self.generation.run_options(self.protocol.as_ref(), trials)
    }

    /// Checks whether the weights hold an output head that the configuration does not mention, and notes that it is used.
    pub fn settle_head(&mut self, source: &ModelSource) -> Result<(), CheckpointError> {
        let Some(config) = &self.config else {
            return Ok(());
        };
        let settled = Weights::open(source)?.settle(config)?.into_owned();
        if settled.tie_embeddings != config.tie_embeddings {
            self.notes.push(format!("output head: {OWN_HEAD}"));
        }
        self.config = Some(settled);
        Ok(())
    }
}

/// The longest completion where neither the protocol nor the model's makers say.
pub const MAX_NEW_TOKENS: usize = 2048;

/// The chat template of a prompt that goes without one.
pub(crate) const BARE: &str = "{{ messages[-1].content }}";

/// The tokens whose odds are recorded: those of True and False, or those with which the spellings of the protocol's labels
/// begin. A token with which labels of different numbers begin tells nothing; where two as declared do, there is no mean of scores.
fn choices(protocol: &Protocol, tokenizer: &Tokenizer) -> Result<Choices, TextError> {
    let Some(words) = protocol.form.choices() else {
        let [yes, no] = tokenizer.variants(["true", "false"]);
        return Ok(Choices::yes_or_no(&yes, &no));
    };
    // The number of each token; none where there are several.
    let mut numbers: BTreeMap<u32, Option<f32>> = BTreeMap::new();
    let mut add = |token: u32, number: f32| {
        let known = numbers.entry(token).or_insert(Some(number));
        *known = known.filter(|known| known.to_bits() == number.to_bits());
    };
    let scaffold = protocol.scaffold(&ScaffoldWants::default());
    if scaffold.is_some_and(|scaffold| scaffold.grammar().is_some()) {
        // Under a grammar a word's first token may be any beginning.
        for (token, bytes) in (0..).zip(tokenizer.token_bytes().unwrap_or_default()) {
            for (word, number) in &words {
                if !bytes.is_empty() && word.as_bytes().starts_with(&bytes) {
                    add(token, *number);
                }
            }
        }
    }
    let (mut firsts, mut alike) = (BTreeMap::new(), false);
    for (word, number) in words {
        let tokens = tokenizer.encode_trusted_at(word, Place::Within)?;
        let known = firsts.insert(tokens.first().copied(), number.to_bits());
        alike |= known.is_some_and(|known| known != number.to_bits());
        let (lower, upper) = (word.to_lowercase(), word.to_uppercase());
        let mut capital = lower.clone();
        if let Some(first) = capital.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        for spelling in [word, &lower, &upper, &capital] {
            for text in [spelling.to_owned(), format!(" {spelling}")] {
                if let Some(token) = tokenizer.encode_trusted_at(&text, Place::Within)?.first() {
                    add(*token, number);
                }
            }
        }
    }
    let known = numbers
        .into_iter()
        .filter(|_| !(alike && protocol.yields().score));
    let known = known.filter_map(|(token, number)| Some((token, number?)));
    let (tokens, numbers) = known.unzip();
    Ok(Choices { tokens, numbers })
}

/// The protocol that a model is asked under where the user names none: a known judge's own, else `prime`.
pub fn default_protocol(source: &ModelSource) -> &'static str {
    protocol_of(known_judge(source))
}

/// The protocol that a known judge is asked under, or one that is not known.
pub(crate) fn protocol_of(known: Option<&'static KnownJudge>) -> &'static str {
    known.map_or("prime", |judge| judge.protocol.as_str())
}

/// The known judge of this name, if there is one: of an alias, or an id on the hub.
pub fn known_judge_named(name: &str) -> Option<&'static KnownJudge> {
    known_judges::find(name.split('@').next().unwrap_or_default())
}

/// The options of a run with a model that runs elsewhere, where the user says nothing: as a known judge's makers recommend, else the protocol.
pub fn recommended_options(
    known: Option<&KnownJudge>,
    protocol: &Protocol,
    trials: u32,
) -> RunOptions {
    let generation = with_known(GenerationDefaults::default(), known, protocol, usize::MAX);
    RunOptions {
        constrained: false,
        ..generation.run_options(protocol, trials)
    }
}

impl GenerationDefaults {
    fn run_options(&self, protocol: &Protocol, trials: u32) -> RunOptions {
        RunOptions {
            sampling: self.sampling_for(trials),
            max_new_tokens: self.max_new_tokens.unwrap_or(MAX_NEW_TOKENS),
            trials,
            reward: RewardPolicy::default_for(protocol.yields()),
            ..RunOptions::default()
        }
    }
}

/// What a model's makers recommend for generations under the protocol, given what the model's own files say; completions are of at most `most` tokens.
fn with_known(
    generation: GenerationDefaults,
    known: Option<&KnownJudge>,
    protocol: &Protocol,
    most: usize,
) -> GenerationDefaults {
    let own = known.filter(|judge| protocol.hash.is_none() && judge.protocol == protocol.name);
    let sampling = |judge: Option<&KnownJudge>| judge?.sampling;
    GenerationDefaults {
        sampling: sampling(own)
            .or(protocol.sampling)
            .or(sampling(known))
            .or(generation.sampling),
        max_new_tokens: own
            .and_then(|judge| judge.max_new_tokens)
            .or(protocol.max_new_tokens)
            .map(|tokens| tokens.min(most))
            .or(generation.max_new_tokens),
    }
}

/// The entry of a model from the hub among the known judges.
fn known_judge(source: &ModelSource) -> Option<&'static KnownJudge> {
    known_judge_named(&source.origin()?)
}

/// The note for weights that hold an output head although the configuration ties it to the embedding table.
pub const OWN_HEAD: &str = "the weights' own: tie_word_embeddings is true in config.json, but the output head in the file \
     differs from the embedding table; as in transformers 5 it is used";

/// The settings that decide the verdicts beside the model's own files, for the manifest.
fn identity(settings: &ChatSettings, chat: &ChatTemplate) -> Option<ChatIdentity> {
    let options = &settings.options;
    let identity = ChatIdentity {
        thinking: options.thinking,
        reasoning_effort: options
            .reasoning_effort
            .map(|effort| effort.as_str().to_owned()),
        system_prompt: options.system_prompt.clone(),
        variables: options
            .variables
            .iter()
            .map(|variable| (variable.name.clone(), variable.value.clone()))
            .collect(),
        template: settings.template.as_ref().map(|(name, text)| Identity {
            name: name.clone(),
            hash: blake3::hash(text.as_bytes()).to_hex().to_string(),
        }),
        thinking_style: settings.style.as_ref().map(ToString::to_string),
        date: chat.clock().used(),
        force_domain: settings.force_domain,
    };
    (identity != ChatIdentity::default()).then_some(identity)
}
