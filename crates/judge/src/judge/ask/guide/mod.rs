//! Steers a generation so that it holds a verdict: thinking first, if the judge thinks, then the protocol's scaffold, in which only
//! words of the verdict are chosen.

mod options;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::runtime::{Ending, Guided};
pub(crate) use options::{Decides, GuideOptions};

use super::request::TextStop;
use super::token_scaffold::{Fork, TokenPart, tokenise};
use crate::judge::JudgeText;
use crate::judge::read::reading;
use juror_base::threads::lock;
use juror_engine::engine::{Choices, Guide, Next, Then, TokenSet};
use juror_engine::grammar::GrammarRun;
use juror_engine::text::TextError;
use juror_engine::text::reasoning::{Beginning, Thought, opening_tokens};
use juror_engine::text::tokenizer::{Place, TextStream};

/// Tokens between checks whether the judge's own text is still thinking.
const LOOK_EVERY: usize = 16;

/// Tokens kept free for the end of the thinking.
const THINKING_END: usize = 16;

/// Tokens kept free for the end of a text of a grammar, beside those of the end itself: there is not one after every token.
const GRAMMAR_END: usize = 8;

enum GuideState {
    /// Choosing whether the judge thinks, or says that a sample is outside of its domain.
    Opening(Fork, Vec<Opening>),
    /// Choosing between text of a grammar and thinking, which one of these tokens opens and the text beside it closes.
    OpeningText(Vec<(u32, String)>),
    Thinking(Thought),
    /// After thinking that ended by itself: white space, or the answer.
    Break,
    /// In a part of known text, or choosing.
    Fork(Fork),
    /// Writing something of its own first.
    Analysis(Option<TextStop>),
    Reason {
        end: String,
        close: Vec<u32>,
        stream: TextStream,
        written: String,
    },
    Grammar(GrammarText),
    Over,
}

struct GrammarText {
    run: GrammarRun,
    /// The tokens that may end it.
    close: Vec<u32>,
    /// The index of its first token, once it is known.
    at: Option<usize>,
}

/// What a way to begin leads to.
#[derive(Debug, Clone)]
enum Opening {
    /// Thinking that ends with this tag.
    Thinking(String),
    /// The answer: the branch is its beginning.
    Answer,
    /// Nothing: the sample is outside of the judge's domain.
    Outside,
}

pub(crate) struct VerdictGuide {
    text: Arc<JudgeText>,
    options: GuideOptions,
    parts: VecDeque<TokenPart>,
    state: GuideState,
    tokens: Vec<u32>,
    /// Which of them the choice at hand is made with.
    choice_at: usize,
    guided: Guided,
    result: Arc<Mutex<Guided>>,
}

impl VerdictGuide {
    /// A guide after `prompt`; `None` where the protocol has no scaffold, or the judge has a domain and does not say how an answer
    /// inside of it begins. What it learns is in `result`.
    pub(crate) fn new(
        text: &Arc<JudgeText>,
        prompt: &[u32],
        options: GuideOptions,
        result: Arc<Mutex<Guided>>,
    ) -> Result<Option<Self>, TextError> {
        let scaffold = text.protocol.scaffold(&options.wants);
        let Some(scaffold) = scaffold.filter(|_| text.has_scaffold()) else {
            return Ok(None);
        };
        let (tokenizer, thinking) = (text.prompts.tokenizer(), text.prompts.thinking());
        let end = text.eos.first().copied();
        let after_prompt = tokenizer.place_after(prompt).unwrap_or(Place::Within);
        let tokenise_at = |place| {
            tokenise(&scaffold, tokenizer, place, end, |source| {
                text.grammars.get(source)
            })
        };
        let (state, parts) = match (&text.judge.domain, thinking.beginning(tokenizer)) {
            (Some(domain), _) => {
                let inside = match thinking.left_open(&domain.inside) {
                    Some(tags) => Opening::Thinking(tags.close.clone()),
                    None => Opening::Answer,
                };
                let texts = [&domain.inside, &domain.outside];
                let fork = Fork::new(tokenizer, after_prompt, texts.map(String::as_str), end)?;
                let state = GuideState::Opening(fork, vec![inside, Opening::Outside]);
                (Some(state), tokenise_at(Place::Within)?)
            }
            (None, Beginning::Thinking(thought)) => (
                Some(GuideState::Thinking(thought)),
                tokenise_at(Place::Within)?,
            ),
            (None, Beginning::Answer) => (None, tokenise_at(after_prompt)?),
            (None, Beginning::Either(pairs)) => {
                let parts = tokenise_at(after_prompt)?;
                let state = match parts.first() {
                    Some(TokenPart::Grammar { .. }) => {
                        Some(GuideState::OpeningText(opening_tokens(&pairs, tokenizer)))
                    }
                    Some(TokenPart::Fork(answer)) => {
                        let opens = pairs.iter().map(|tags| tags.open.as_str());
                        let fork = Fork::new(tokenizer, after_prompt, opens, None)?;
                        let answers = answer.beginnings();
                        let ways = pairs.iter();
                        let ways = ways.map(|tags| Opening::Thinking(tags.close.clone()));
                        let ways = ways.chain(answers.iter().map(|_| Opening::Answer));
                        let ways = ways.collect();
                        Some(GuideState::Opening(fork.or(answers), ways))
                    }
                    // Text of its own may begin with thinking.
                    _ => None,
                };
                (state, parts)
            }
        };
        let mut guide = Self {
            text: Arc::clone(text),
            options,
            parts: parts.into(),
            state: GuideState::Over,
            tokens: Vec::new(),
            choice_at: 0,
            guided: Guided::default(),
            result,
        };
        match state {
            Some(state) => guide.state = state,
            None => guide.next_part(),
        }
        Ok(Some(guide))
    }

    /// The most tokens that it lets be written; `None` where nothing bounds text of the judge's own.
    pub(crate) fn longest(&self) -> Option<usize> {
        let thinking = |thinks: bool| match self.options.thinking_budget {
            _ if !thinks => Some(0),
            budget => Some(budget? + THINKING_END),
        };
        let is_thinking = |way: &Opening| matches!(way, Opening::Thinking(_));
        let fork = |fork: &Fork| TokenPart::Fork(fork.clone()).longest();
        let begun = match &self.state {
            GuideState::Fork(known) => fork(known),
            GuideState::Opening(known, ways) => {
                fork(known) + thinking(ways.iter().any(is_thinking))?
            }
            GuideState::Thinking(_) => thinking(true)?,
            GuideState::Over => 0,
            _ => return None,
        };
        let rest = self.parts.iter().map(|part| match part {
            TokenPart::Fork(known) => Some(fork(known)),
            _ => None,
        });
        Some(begun + rest.sum::<Option<usize>>()?)
    }

    fn next_part(&mut self) {
        let prompts = &self.text.prompts;
        let stream = || TextStream::new(Arc::clone(prompts.tokenizer()));
        self.state = match self.parts.pop_front() {
            None => GuideState::Over,
            Some(TokenPart::Fork(fork)) => GuideState::Fork(fork),
            Some(TokenPart::Analysis) => GuideState::Analysis(TextStop::new(&self.text, false)),
            Some(TokenPart::Reason { end, close }) => GuideState::Reason {
                end,
                close,
                stream: stream(),
                written: String::new(),
            },
            Some(TokenPart::Grammar { grammar, close }) => GuideState::Grammar(GrammarText {
                run: grammar.begin(),
                close,
                at: None,
            }),
        };
    }

    /// Goes to the next part, of which `tokens` were written.
    fn next_part_from(&mut self, tokens: &[u32]) {
        self.next_part();
        for &token in tokens {
            match &mut self.state {
                GuideState::Fork(fork) => fork.push(token),
                GuideState::Grammar(text) => {
                    text.at = Some(self.tokens.len() - tokens.len());
                    text.run.push(token);
                }
                _ => {}
            }
        }
    }

    /// Says what follows, after `append`.
    fn go_on(&mut self, mut append: Vec<u32>) -> Next {
        loop {
            match &mut self.state {
                GuideState::Opening(fork, ways) => {
                    append.extend(fork.take_known());
                    let Some(branch) = fork.taken_branch() else {
                        let options = fork.options();
                        return self.choose(append, options, None);
                    };
                    let tokens = fork.branch(branch).to_vec();
                    match ways.get(branch) {
                        Some(Opening::Thinking(close)) => {
                            let tokenizer = self.text.prompts.tokenizer();
                            self.state = GuideState::Thinking(Thought::until(close, tokenizer));
                        }
                        Some(Opening::Answer) if self.text.judge.domain.is_some() => {
                            self.next_part();
                        }
                        Some(Opening::Answer) => {
                            self.choice_at = self.tokens.len().saturating_sub(1);
                            self.next_part_from(&tokens);
                        }
                        Some(Opening::Outside) | None => {
                            self.parts.clear();
                            self.state = GuideState::Over;
                        }
                    }
                }
                GuideState::OpeningText(opens) => {
                    let opens: Vec<u32> = opens.iter().map(|(token, _)| *token).collect();
                    let options = self.firsts().iter().chain(opens).collect();
                    return self.choose(append, options, None);
                }
                GuideState::Fork(fork) => {
                    append.extend(fork.take_known());
                    let Some(branch) = fork.taken_branch() else {
                        if fork.is_whole() {
                            self.choice_at = self.tokens.len() + append.len();
                        }
                        let (options, numbers) = (fork.options(), fork.numbers());
                        return self.choose(append, options, numbers);
                    };
                    if let Some((field, words)) = fork.choice.take()
                        && let Some(word) = words.get(branch)
                    {
                        self.guided.filled.choices.push((field, word.clone()));
                        self.guided.tokens.push(self.choice_at);
                    }
                    let filled = &self.guided.filled;
                    if self
                        .options
                        .decides
                        .is_some_and(|decides| decides.is_decided(filled))
                    {
                        self.guided.left_out = self.most_left();
                        self.parts.clear();
                    }
                    self.next_part();
                }
                GuideState::Grammar(text) => {
                    let at = *text.at.get_or_insert(self.tokens.len() + append.len());
                    let next = text.run.next(append);
                    let is_over = matches!(next.then, Then::End);
                    let next = self.emit(next.append, next.then);
                    if is_over {
                        self.end_text(at);
                    }
                    return next;
                }
                GuideState::Thinking(_) | GuideState::Analysis(_) | GuideState::Reason { .. } => {
                    return self.emit(append, Then::Free);
                }
                GuideState::Break => {
                    let firsts = self.firsts();
                    let options = firsts.iter().chain(self.text.blank().iter()).collect();
                    return self.choose(append, options, None);
                }
                GuideState::Over => {
                    let next = self.emit(append, Then::End);
                    self.save(Ending::Chosen);
                    return next;
                }
            }
        }
    }

    fn choose(
        &mut self,
        append: Vec<u32>,
        options: TokenSet,
        choices: Option<Arc<Choices>>,
    ) -> Next {
        let tokens = Arc::new(options.into());
        self.emit(append, Then::OneOf { tokens, choices })
    }

    fn emit(&mut self, append: Vec<u32>, then: Then) -> Next {
        self.tokens.extend(&append);
        self.guided.appended += append.len();
        Next { append, then }
    }

    fn save(&mut self, ending: Ending) {
        self.guided.ending = ending;
        lock(&self.result).clone_from(&self.guided);
    }

    /// The most tokens that are needed after the part at hand.
    fn most_left(&self) -> usize {
        let parts = self.parts.iter();
        parts.map(TokenPart::longest).sum()
    }

    /// Whether there is room for one more token of the judge's own, and for the parts to come after `close` more.
    fn has_room(&self, close: usize) -> bool {
        self.tokens.len() + close + self.most_left() < self.options.most
    }

    fn encode(&self, text: &str) -> Vec<u32> {
        let tokenizer = self.text.prompts.tokenizer();
        // It is our own text; what a tokenizer refuses is left out, and the answer then begins without it.
        tokenizer
            .encode_trusted_at(text, Place::Within)
            .unwrap_or_default()
    }

    /// The judge's own text is over: either it can be read, or the scaffold follows. True in the first case.
    fn is_readable(&mut self, is_cut: bool) -> bool {
        let wants = &self.options.wants;
        let is_readable = reading::is_readable(&self.text, &self.tokens, wants, is_cut);
        if is_readable {
            self.save(Ending::ByItself);
        }
        is_readable
    }

    /// The text of a grammar is over, or could not be followed to its end.
    fn end_text(&mut self, at: usize) {
        if let GuideState::Grammar(text) = &self.state {
            self.guided.error = text.run.error();
        }
        self.save(Ending::Grammar(at));
    }

    /// The tokens that the next part may begin with.
    fn firsts(&self) -> TokenSet {
        let next = self.parts.front();
        next.map(TokenPart::firsts).unwrap_or_default()
    }

    /// The thinking did not end in time: the verdict does not fit any more.
    fn give_up(&mut self) -> Next {
        self.save(Ending::NoRoom);
        Next::END
    }

    /// The tag that ends the thinking in which a text of the judge's own stands, if it does.
    fn open_thought(&self) -> Option<String> {
        let prompts = &self.text.prompts;
        let written = prompts.tokenizer().decode(&self.tokens);
        let tags = prompts.thinking().left_open(&written);
        tags.map(|tags| tags.close.clone())
    }

    /// Ends thinking in the judge's own text that has spent its budget or leaves no room. Returns what follows, if it did.
    fn end_overdue_thought(&mut self) -> Option<Next> {
        let budget = self.options.thinking_budget;
        let spent = budget.and_then(|budget| self.tokens.len().checked_sub(budget));
        // Looking is decoding all that was written: now and then is enough.
        let is_time = spent.is_some_and(|more| more % LOOK_EVERY == 0);
        let has_room = self.has_room(THINKING_END);
        if has_room && !is_time {
            return None;
        }
        let close = self.open_thought()?;
        if budget.is_none() {
            return (!self.has_room(0)).then(|| self.give_up());
        }
        let append = self.encode(&format!("\n{close}\n\n"));
        if has_room {
            self.state = GuideState::Analysis(TextStop::new(&self.text, false));
            return Some(self.emit(append, Then::Free));
        }
        self.next_part();
        Some(self.go_on(append))
    }

    /// `is_cut`: no room is left for more of it.
    fn end_analysis(&mut self, is_cut: bool) -> Next {
        if self.is_readable(is_cut) {
            return Next::END;
        }
        self.next_part();
        self.go_on(Vec::new())
    }

    /// Takes a token of thinking. Returns what follows, unless the next part does.
    fn think(&mut self, mut thought: Thought, token: u32) -> Option<Next> {
        if thought.push(token) {
            match self.parts.front() {
                Some(TokenPart::Fork(_) | TokenPart::Grammar { .. }) if thought.has_break() => {
                    self.state = GuideState::Break;
                }
                _ => self.next_part(),
            }
            return (!self.has_room(0)).then(|| self.give_up());
        }
        let budget = self.options.thinking_budget;
        let is_spent = budget.is_some_and(|budget| self.tokens.len() >= budget);
        Some(if !is_spent && self.has_room(THINKING_END) {
            self.state = GuideState::Thinking(thought);
            Next::FREE
        } else if budget.is_none() {
            self.give_up()
        } else {
            self.end_thinking(&thought)
        })
    }

    fn end_thinking(&mut self, thought: &Thought) -> Next {
        let append = self.encode(&thought.end());
        self.next_part();
        self.go_on(append)
    }

    fn end_reason(&mut self, written: &str, close: Vec<u32>) -> Next {
        let reason = written.trim();
        self.guided.filled.reason = (!reason.is_empty()).then(|| reason.to_owned());
        self.next_part();
        self.go_on(close)
    }
}

impl Guide for VerdictGuide {
    fn begin(&mut self) -> Next {
        self.go_on(Vec::new())
    }

    fn push(&mut self, token: u32) -> Next {
        self.tokens.push(token);
        match std::mem::replace(&mut self.state, GuideState::Over) {
            GuideState::Opening(mut fork, ways) => {
                fork.push(token);
                self.state = GuideState::Opening(fork, ways);
            }
            GuideState::OpeningText(opens) => {
                match opens.into_iter().find(|(open, _)| *open == token) {
                    Some((_, close)) => {
                        let tokenizer = self.text.prompts.tokenizer();
                        self.state = GuideState::Thinking(Thought::until(&close, tokenizer));
                    }
                    None => self.next_part_from(&[token]),
                }
            }
            GuideState::Fork(mut fork) => {
                fork.push(token);
                self.state = GuideState::Fork(fork);
            }
            GuideState::Thinking(thought) => {
                if let Some(next) = self.think(thought, token) {
                    return next;
                }
            }
            GuideState::Break => {
                if self.text.blank().contains(token) {
                    self.next_part();
                } else {
                    self.choice_at = self.tokens.len() - 1;
                    self.next_part_from(&[token]);
                }
            }
            GuideState::Analysis(mut stop) => {
                let is_over = stop.as_mut().is_some_and(|stop| stop.push(token));
                if let Some(next) = self.end_overdue_thought() {
                    return next;
                }
                // Thinking that it opens in its last tokens could not be ended any more.
                let kept = match self.options.thinking_budget {
                    Some(_) => THINKING_END,
                    None => 0,
                };
                if is_over || !self.has_room(kept) {
                    return self.end_analysis(!is_over);
                }
                self.state = GuideState::Analysis(stop);
                return Next::FREE;
            }
            GuideState::Reason {
                end,
                close,
                mut stream,
                mut written,
            } => {
                written.push_str(&stream.push(token));
                if let Some(at) = written.find(&end) {
                    return self.end_reason(&written[..at], Vec::new());
                }
                if !self.has_room(close.len()) {
                    return self.end_reason(&written, close);
                }
                self.state = GuideState::Reason {
                    end,
                    close,
                    stream,
                    written,
                };
                return Next::FREE;
            }
            GuideState::Grammar(mut text) => {
                text.run.push(token);
                if let Some(at) = text.at
                    && !self.has_room(text.close.len() + GRAMMAR_END)
                    && text.run.close(&text.close)
                {
                    let next = self.emit(text.close, Then::End);
                    self.save(Ending::Grammar(at));
                    return next;
                }
                self.state = GuideState::Grammar(text);
            }
            GuideState::Over => return Next::END,
        }
        self.go_on(Vec::new())
    }

    fn end(&mut self) -> Option<Next> {
        match std::mem::replace(&mut self.state, GuideState::Over) {
            // Without a budget nobody has said that the thinking may be cut.
            GuideState::Thinking(_) if self.options.thinking_budget.is_none() => None,
            GuideState::Thinking(thought) => Some(self.end_thinking(&thought)),
            GuideState::Analysis(_) => {
                let mut append = Vec::new();
                if let Some(close) = self.open_thought() {
                    // As after any thinking that was not ended.
                    self.options.thinking_budget?;
                    append = self.encode(&format!("\n{close}\n\n"));
                } else if self.is_readable(false) {
                    return None;
                }
                self.next_part();
                Some(self.go_on(append))
            }
            GuideState::Reason { close, written, .. } => Some(self.end_reason(&written, close)),
            GuideState::Fork(mut fork) => {
                // It ends a word that another begins with.
                for &token in self.text.eos.iter().take(1) {
                    fork.push(token);
                }
                self.state = GuideState::Fork(fork);
                Some(self.go_on(Vec::new()))
            }
            // It may end here: otherwise this token was not allowed.
            GuideState::Grammar(text) => {
                let at = text.at.unwrap_or(self.tokens.len());
                self.state = GuideState::Grammar(text);
                self.end_text(at);
                None
            }
            GuideState::Opening(..)
            | GuideState::OpeningText(_)
            | GuideState::Break
            | GuideState::Over => None,
        }
    }
}
