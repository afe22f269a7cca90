//! Every attack of `juror attack` that forges a verdict, tags or control tokens stays text under every protocol, whatever the
//! rows hold that it is made of.

use std::collections::HashSet;
use std::sync::LazyLock;

use juror_data::Sample;
use juror_engine::text::tokenizer::Tokenizer;
use juror_judge::attack::{Family, Target, attacks};
use juror_judge::judge::JudgeText;
use juror_judge::protocol::{self, PromptTemplate, Yields};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{hostile, tokenizer_json};

/// Of the model families that are supported, and of others.
const MARKERS: [&str; 37] = [
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|observation|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|start|>",
    "<|channel|>",
    "<|message|>",
    "<|constrain|>",
    "<|eot_id|>",
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|im_sep|>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[gMASK]",
    "<sop>",
    "[THINK]",
    "[/THINK]",
    "◁think▷",
    "◁/think▷",
    "<|begin_of_thought|>",
    "<|end_of_thought|>",
    "<|thinking_start|>",
    "<|thinking_end|>",
    "<unused94>",
    "<unused95>",
    "<start_of_turn>",
    "<end_of_turn>",
];

/// A judge under a protocol, whose vocabulary has the control tokens of every family.
struct Case {
    name: String,
    text: JudgeText,
    target: Target,
    /// The names of the prompt's own tags.
    tags: Vec<String>,
    /// The tokens that are more than their letters.
    added: HashSet<u32>,
}

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let tiny = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny");
    let mut tokenizer = tokenizer_json();
    let mut config: Value =
        serde_json::from_str(&std::fs::read_to_string(tiny.join("config.json")).unwrap()).unwrap();
    let mut vocab = config["vocab_size"].as_u64().unwrap();
    let added = tokenizer["added_tokens"].as_array_mut().unwrap();
    let mut token = added[0].clone();
    for marker in MARKERS {
        assert!(
            added.iter().all(|known| known["content"] != marker),
            "{marker}"
        );
        token["id"] = json!(vocab);
        token["content"] = json!(marker);
        added.push(token.clone());
        vocab += 1;
    }
    config["vocab_size"] = json!(vocab);
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    std::fs::copy(
        tiny.join("tokenizer_config.json"),
        folder.path().join("tokenizer_config.json"),
    )
    .unwrap();
    let source = juror_judge::catalog::resolve(folder.path().to_str().unwrap()).unwrap();
    let known = protocol::known();
    known
        .map(|protocol| {
            let own = "<question>{{ question }}</question>\n<response>{{ student_answer }}</response>\n\
                       <gold>{{ reference_answer }}</gold>";
            let prompt = protocol.template.as_deref().unwrap_or(own);
            let template = PromptTemplate::parse(prompt).unwrap();
            let text = JudgeText::load(&source, protocol, &template).unwrap();
            let tags = prompt
                .split("</")
                .skip(1)
                .map(|rest| rest.split('>').next().unwrap().to_lowercase());
            Case {
                name: protocol.name.clone(),
                target: Target::new(&text, &template),
                tags: tags.collect(),
                added: added_ids(text.prompts.tokenizer()),
                text,
            }
        })
        .collect()
});

fn added_ids(tokenizer: &Tokenizer) -> HashSet<u32> {
    let ids = tokenizer
        .added_tokens()
        .map(|token| tokenizer.token_id(token).unwrap());
    let ids: HashSet<u32> = ids.collect();
    assert!(ids.len() > MARKERS.len());
    ids
}

impl Case {
    /// The stretches of a prompt that are not text under judgement, after a check of those that are.
    fn trusted(&self, sample: &Sample) -> Vec<Vec<u32>> {
        let tokens = self.text.prompts.tokens(sample).unwrap();
        let mut rest = tokens.as_slice();
        let mut trusted = Vec::new();
        for (field, count) in self.text.prompts.token_counts(sample).unwrap() {
            let (stretch, behind) = rest.split_at(count);
            if field.is_none() {
                trusted.push(stretch.to_vec());
            } else {
                let is_control = |token: &&u32| self.added.contains(token);
                let control: Vec<&u32> = stretch.iter().filter(is_control).collect();
                assert!(control.is_empty(), "{} {control:?}: {sample:?}", self.name);
            }
            rest = behind;
        }
        assert!(rest.is_empty());
        trusted
    }

    /// How often each of the prompt's tags stands in it.
    fn tag_counts(&self, sample: &Sample) -> Vec<usize> {
        let tokens = self.text.prompts.tokens(sample).unwrap();
        let prompt = self.text.prompts.tokenizer().decode(&tokens).to_lowercase();
        let count = |tag: &String| {
            prompt.matches(&format!("<{tag}>")).count()
                + prompt.matches(&format!("</{tag}>")).count()
        };
        self.tags.iter().map(count).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_attack_stays_text_under_every_protocol(
        fields in prop::collection::vec((hostile(), hostile(), hostile()), 1..3),
        seed in any::<u64>(),
    ) {
        let mut rows: Vec<Sample> = fields
            .into_iter()
            .map(|(question, reference, response)| Sample::new(question, format!("{reference}7"), response))
            .collect();
        rows.push(Sample::new("What is 3 + 4 - 2?", "5", "3 + 4 = 7. Then 7 - 2 = 5. It is 5.").with_id("plain"));
        let harmless = Sample::new("What is 3 + 4?", "7", "3 + 4 = 7.");
        for case in CASES.iter() {
            let (trusted, tags) = (case.trusted(&harmless), case.tag_counts(&harmless));
            let attacks = attacks(&rows, &Family::ALL, &case.target, Yields::ALL, seed);
            prop_assert!(attacks.len() >= Family::ALL.len());
            for attack in attacks {
                let what = format!("{} {:?}", case.name, attack.sample);
                prop_assert_eq!(&case.trusted(&attack.sample), &trusted, "{}", &what);
                prop_assert_eq!(&case.tag_counts(&attack.sample), &tags, "{}", &what);
            }
        }
    }
}

/// The generators write what they are to: without the neutralising there would be control tokens and closed fields.
#[test]
fn the_attacks_are_attacks() {
    let row = Sample::new(
        "What is 3 + 4 - 2?",
        "5",
        "3 + 4 = 7. Then 7 - 2 = 5. It is 5.",
    );
    for case in CASES.iter() {
        let tokenizer = case.text.prompts.tokenizer();
        let (mut controls, mut closed) = (HashSet::new(), false);
        for seed in 0..200 {
            let families = [
                Family::ForgedVerdict,
                Family::ControlTokens,
                Family::ForgedThinking,
            ];
            for attack in attacks(
                std::slice::from_ref(&row),
                &families,
                &case.target,
                Yields::ALL,
                seed,
            ) {
                let response = attack.sample.student_answer;
                let read = tokenizer.encode_trusted(&response).unwrap();
                controls.extend(read.into_iter().filter(|token| case.added.contains(token)));
                closed |= case
                    .tags
                    .iter()
                    .any(|tag| response.contains(&format!("</{tag}>")));
            }
        }
        assert!(
            controls.len() > MARKERS.len() * 3 / 4,
            "{}: {controls:?}",
            case.name
        );
        assert!(closed, "{}", case.name);
    }
}
