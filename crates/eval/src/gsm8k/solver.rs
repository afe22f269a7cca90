//! A local model as the solver: prompts of the standard configurations as requests, and their answers as rows.

use serde_json::{Map, Value, json};

use super::exemplars::Exemplar;
use super::report::Made;
use super::test_set::{TestSet, question_key};
use juror_judge::wire::Route;

/// Texts that end every answer.
const STOP: [&str; 3] = ["Question:", "</s>", "<|im_end|>"];

/// A further text that ends an answer in the form of a chain of thought.
const STOP_OF_CHAIN: &str = "Q:";

/// The instruction to a chat model before the question.
const CHAT_TASK: &str = "Solve the problem step by step. Write the final answer, as a number alone, on the last line behind `#### `.";

named! {
    /// A standard way of asking.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Configuration {
        ZeroShot = "0-shot",
        /// The question and "Let's think step by step."
        ZeroShotCot = "0-shot-cot",
        FiveShot = "5-shot",
        /// Eight worked examples as chains of thought.
        EightShotCot = "8-shot-cot",
        TenShot = "10-shot",
        /// A turn of a conversation.
        Chat = "chat",
    }
}

impl Configuration {
    /// The number of worked examples before the question.
    pub fn shots(self) -> usize {
        match self {
            Self::ZeroShot | Self::ZeroShotCot | Self::Chat => 0,
            Self::FiveShot => 5,
            Self::EightShotCot => 8,
            Self::TenShot => 10,
        }
    }

    fn is_chain(self) -> bool {
        matches!(self, Self::ZeroShotCot | Self::EightShotCot)
    }

    /// How a question is asked, in words.
    pub(crate) fn format(self) -> String {
        match self {
            Self::ZeroShot | Self::FiveShot | Self::TenShot => "Question: …\\nAnswer:".to_owned(),
            Self::ZeroShotCot => "Q: …\\nA: Let's think step by step.".to_owned(),
            Self::EightShotCot => "Q: …\\nA: (examples end in \"The answer is n.\")".to_owned(),
            Self::Chat => format!("the model's chat template, one user turn: {CHAT_TASK}\\n\\n…"),
        }
    }

    /// A question with worked examples before it; for a chat, the user's turn.
    pub(crate) fn prompt(self, exemplars: &[Exemplar], question: &str) -> String {
        let question = question_key(question);
        if self == Self::Chat {
            return format!("{CHAT_TASK}\n\n{question}");
        }
        let (short, long) = (("Q: ", "\nA:"), ("Question: ", "\nAnswer:"));
        let (ask, answer) = if self.is_chain() { short } else { long };
        let mut prompt = String::new();
        for exemplar in exemplars {
            let solution = if self.is_chain() {
                exemplar.chain_of_thought()
            } else {
                exemplar.marked()
            };
            prompt.extend([ask, &exemplar.question, answer, " ", &solution, "\n\n"]);
        }
        prompt.extend([ask, question, answer]);
        if self == Self::ZeroShotCot {
            prompt.push_str(" Let's think step by step.");
        }
        prompt
    }
}

/// How questions are asked and answers sampled.
#[derive(Debug, Clone)]
pub struct Solver {
    pub model: String,
    pub configuration: Configuration,
    /// The worked examples, as many as the configuration needs.
    pub exemplars: Vec<Exemplar>,
    pub exemplars_source: String,
    pub samples: u32,
    /// 0 is greedy.
    pub temperature: f64,
    /// Sample from the likeliest tokens that make up this share.
    pub top_p: f64,
    /// The longest response, in tokens.
    pub max_new_tokens: u64,
    pub seed: u64,
    /// Texts that end a response, in addition to the usual ones.
    pub more_stops: Vec<String>,
}

impl Solver {
    /// Texts that end a response.
    pub(crate) fn stops(&self) -> Vec<&str> {
        let chain = self.configuration.is_chain().then_some(STOP_OF_CHAIN);
        let more = self.more_stops.iter().map(String::as_str);
        STOP.into_iter().chain(chain).chain(more).collect()
    }

    /// What a report must state about it.
    pub fn made(&self) -> Made {
        let shots = self.configuration.shots();
        let draws = if self.temperature == 0.0 {
            "greedy (temperature 0)".to_owned()
        } else {
            let (samples, seed) = (self.samples, self.seed);
            let each = if samples == 1 { "sample" } else { "samples" };
            let top_p = if self.top_p < 1.0 {
                format!(", top-p {}", self.top_p)
            } else {
                String::new()
            };
            format!(
                "{samples} {each} a question at temperature {}{top_p}, seed {seed}",
                self.temperature
            )
        };
        Made {
            model: Some(self.model.clone()),
            config: Some(self.configuration.name().to_owned()),
            shots: Some(shots as u64),
            shots_source: (shots > 0).then(|| self.exemplars_source.clone()),
            prompt_format: Some(self.configuration.format()),
            decoding: Some(format!(
                "{draws}; at most {} tokens; stops at {}",
                self.max_new_tokens,
                json!(self.stops())
            )),
        }
    }

    /// A hash of the configuration, exemplars included: 32 hexadecimal digits.
    pub fn hash(&self) -> String {
        let prompt = self.configuration.prompt(&self.exemplars, "");
        let settings = json!([prompt, self.made()]).to_string();
        let mut hash = blake3::hash(settings.as_bytes()).to_hex().to_string();
        hash.truncate(32);
        hash
    }

    /// The number of exemplars whose questions are in the set, so that the model is shown their answers.
    pub fn leaked(&self, set: &TestSet) -> usize {
        let leaked = self.exemplars.iter();
        leaked
            .filter(|one| set.find(&one.question).is_some())
            .count()
    }

    /// The request for the question at `place`, a line of a batch.
    pub fn request(&self, place: usize, question: &str) -> String {
        let prompt = self.configuration.prompt(&self.exemplars, question);
        let mut body = Map::new();
        let route = if self.configuration == Configuration::Chat {
            body.insert(
                "messages".into(),
                json!([{"role": "user", "content": prompt}]),
            );
            Route::Chat
        } else {
            body.insert("prompt".into(), json!(prompt));
            Route::Completions
        };
        for (key, value) in [
            ("n", json!(self.samples)),
            ("temperature", json!(self.temperature)),
            // Fields left out would get the model's recommended values.
            ("top_p", json!(self.top_p)),
            ("top_k", json!(0)),
            ("min_p", json!(0.0)),
            ("max_tokens", json!(self.max_new_tokens)),
            ("stop", json!(self.stops())),
        ] {
            body.insert(key.into(), value);
        }
        json!({"custom_id": place.to_string(), "method": "POST", "url": route.path(), "body": body})
            .to_string()
    }

    /// The row with the answer to a request. Responses that could not be generated are blank, with the reason.
    pub fn row(
        &self,
        id: &str,
        question: &str,
        references: &[&str],
        made: &Value,
        output: &Value,
    ) -> Value {
        let choices = output["response"]["body"]["choices"].as_array();
        let choices = choices.map(Vec::as_slice).unwrap_or_default();
        let texts = choices.iter().map(|choice| {
            let text = choice["text"].as_str();
            let content = || choice["message"]["content"].as_str();
            text.or_else(content).unwrap_or_default()
        });
        let mut responses: Vec<&str> = texts.collect();
        responses.resize(self.samples as usize, "");
        let reasons = choices.iter().map(|choice| choice["finish_reason"].clone());
        let reference = match references {
            [one] => json!(one),
            several => json!(several),
        };
        let mut row = json!({
            "id": id,
            "question": question,
            "reference": reference,
            "responses": responses,
            "finish_reasons": reasons.collect::<Vec<_>>(),
            "usage": output["response"]["body"]["usage"],
            "solver": made,
        });
        if let Some(why) = output["error"]["message"].as_str() {
            row["error"] = json!(why);
        }
        row
    }
}

#[cfg(test)]
mod tests;
