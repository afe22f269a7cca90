//! Constrained answers of a model that writes nonsense: every one of them is a verdict.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use candle_core::{DType, Device, Tensor};
use juror_data::Sample;
use juror_data::rubric::{Criterion, Grade, Rubric};
use juror_data::verdict::{ParseRule, Status, Verdict};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::engine::{
    Drafts, Engine, EngineConfig, LogitsModel, Properties, Sampling, StepModel,
};
use juror_engine::model::attention::{self, AttentionKind, AttentionShape, with_states};
use juror_engine::model::batch::StepBatch;
use juror_engine::model::recurrence::RecurrentStates;
use juror_engine::model::{Decoder, ModelError, Precision};
use juror_engine::text::reasoning::ThinkingStyle;
use juror_judge::judge::build::PagedDecoder;
use juror_judge::judge::{ChatSettings, DeviceEngine, JudgeText, RulesMode, RunOptions, jobs, run};
use juror_judge::protocol::{self, PromptTemplate, Protocol, ScaffoldWants};
use serde_json::{Value, json};

use crate::devices::Keep;

/// Numbers without a pattern.
static NOISE: LazyLock<Vec<f32>> = LazyLock::new(|| {
    let mut state = 1_u64 << 63;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 4e6
    };
    (0..1 << 16).map(|_| next()).collect()
});

/// Logits that begin in the noise at a hash of token and position.
struct Nonsense {
    vocab: usize,
}

impl LogitsModel for Nonsense {
    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        let mut logits = Vec::with_capacity(batch.logits.len() * self.vocab);
        for &at in &batch.logits {
            let (token, position) = (batch.tokens[at as usize], batch.positions[at as usize]);
            let hash =
                (u64::from(token) << 32 | u64::from(position)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let first = (hash >> 40) as usize % (NOISE.len() - self.vocab);
            logits.extend_from_slice(&NOISE[first..first + self.vocab]);
        }
        let shape = (batch.logits.len(), self.vocab);
        Ok(Tensor::from_vec(logits, shape, &Device::Cpu)?)
    }

    fn properties(&self) -> Properties {
        Properties {
            async_scheduling: false,
            blocks: None,
            lazy_cache: false,
            short_context: None,
            states: None,
            windowed: None,
        }
    }

    fn shrink(&mut self, _blocks: usize) -> Result<Option<usize>, ModelError> {
        Ok(None)
    }
}

/// How the judge comes to its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Its vocabulary has thinking tags: it may think or not.
    MayThink,
    /// The chat template opens the thinking.
    Opened,
    /// The chat template closes it.
    Closed,
    /// It does not think.
    Never,
    /// It writes channels.
    Channels,
}

impl Way {
    const ALL: [Self; 5] = [
        Self::MayThink,
        Self::Opened,
        Self::Closed,
        Self::Never,
        Self::Channels,
    ];

    fn generation_prompt(self) -> &'static str {
        match self {
            Self::Opened => "<|im_start|>assistant\n<think>\n",
            Self::Closed => "<|im_start|>assistant\n<think>\n\n</think>\n\n",
            Self::Channels => "<|start|>assistant",
            Self::MayThink | Self::Never => "<|im_start|>assistant\n",
        }
    }
}

const MARKERS: [&str; 5] = [
    "<|start|>",
    "<|channel|>",
    "<|message|>",
    "<|end|>",
    "<|return|>",
];

/// The built-in judge's tokenizer with a chat template of this way, and without its domain.
pub(crate) fn text(way: Way, protocol: &Arc<Protocol>) -> (Arc<JudgeText>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny");
    let read = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(tiny.join(name)).unwrap()).unwrap()
    };
    let write = |name: &str, value: &Value| {
        std::fs::write(folder.path().join(name), value.to_string()).unwrap();
    };
    let (mut config, mut tokenizer) = (read("config.json"), read("tokenizer.json"));
    let mut vocab = config["vocab_size"].as_u64().unwrap();
    if way == Way::Channels {
        let added = tokenizer["added_tokens"].as_array_mut().unwrap();
        let mut first = added[0].clone();
        for marker in MARKERS {
            first["id"] = json!(vocab);
            first["content"] = json!(marker);
            added.push(first.clone());
            vocab += 1;
        }
        config["vocab_size"] = json!(vocab);
    }
    write("config.json", &config);
    write("tokenizer.json", &tokenizer);
    let mut settings = read("tokenizer_config.json");
    let prompt = way.generation_prompt().replace('\n', "\\n");
    settings["chat_template"] = json!(format!(
        "{{% for message in messages %}}{{{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' \
         }}}}{{% endfor %}}{{% if add_generation_prompt %}}{{{{ '{prompt}' }}}}{{% endif %}}"
    ));
    write("tokenizer_config.json", &settings);
    let source = juror_judge::catalog::resolve(folder.path().to_str().unwrap()).unwrap();
    let prompt = protocol
        .template
        .as_deref()
        .unwrap_or("{{ question }} {{ student_answer }} {{ reference_answer }}");
    let chat = ChatSettings {
        style: match way {
            Way::Never => Some(ThinkingStyle::None),
            Way::Channels => Some(ThinkingStyle::Harmony),
            _ => None,
        },
        ..ChatSettings::default()
    };
    let template = PromptTemplate::parse(prompt).unwrap();
    let text = JudgeText::load_with(&source, protocol, &template, &chat).unwrap();
    (Arc::new(text), vocab as usize)
}

fn judge(
    text: &Arc<JudgeText>,
    vocab: usize,
    samples: &[Sample],
    options: &RunOptions,
) -> Vec<Verdict> {
    judge_with(Box::new(Nonsense { vocab }), text, samples, options)
}

/// The verdicts of a model of logits.
pub(crate) fn judge_with(
    model: Box<dyn StepModel>,
    text: &Arc<JudgeText>,
    samples: &[Sample],
    options: &RunOptions,
) -> Vec<Verdict> {
    let config = EngineConfig {
        blocks: 4000,
        least_blocks: 1,
        block_size: 16,
        max_sequences: 64,
        token_budget: 2048,
        max_prefill_chunk: 2048,
        context_length: 4096,
        prefix_cache: true,
        pinned_prefix: Vec::new(),
        drafts: Drafts::Off,
    };
    let engine = Engine::new(model, &config).unwrap();
    let mut engines = vec![DeviceEngine {
        device: "cpu".into(),
        engine,
    }];
    let jobs = jobs::by_question(samples, options.trials, |_, _| false);
    let mut kept = Keep::default();
    run(
        samples,
        &jobs,
        options,
        text,
        &mut engines,
        &AtomicBool::new(false),
        &mut kept,
    )
    .unwrap();
    kept.verdicts
}

/// A rubric of so many criteria: met or not, and on scales of several kinds.
fn rubric(count: usize) -> Arc<Rubric> {
    let criteria = (0..count).map(|at| Criterion {
        name: None,
        text: format!("It is {at} times as good."),
        points: at as f64 + 1.0,
        scale: [None, Some([1, 5]), Some([0, 10])][at % 3],
    });
    Arc::new(Rubric::new(criteria.collect()).unwrap())
}

fn samples(count: usize) -> Vec<Sample> {
    (0..count)
        .map(|index| {
            let steps: Vec<String> = (0..=index % 13)
                .map(|step| format!("Step {step}."))
                .collect();
            let mut sample = Sample::new(format!("What is {index} + 1?"), "4", steps.join("\n\n"))
                .with_id(index.to_string());
            sample.index = index;
            sample.with_rubric(rubric(index % 6 + 1))
        })
        .collect()
}

fn options() -> RunOptions {
    RunOptions {
        sampling: Sampling {
            temperature: 1.0,
            ..Sampling::GREEDY
        },
        max_new_tokens: 120,
        rules: RulesMode::Off,
        raw: true,
        ..RunOptions::default()
    }
}

/// How many samples each combination has; `JUROR_NONSENSE=4000 cargo test --release --test engine nonsense` for more.
fn count() -> usize {
    let given = std::env::var("JUROR_NONSENSE").ok();
    given.and_then(|count| count.parse().ok()).unwrap_or(20)
}

#[test]
fn nonsense_becomes_a_verdict() {
    let mut verdicts = 0;
    let known = protocol::known();
    for protocol in known.filter(|known| known.scaffold(&ScaffoldWants::default()).is_some()) {
        for way in Way::ALL {
            let (text, vocab) = text(way, protocol);
            for reason in [false, true] {
                let mut options = options();
                options.wants_reason = reason;
                options.thinking_budget = Some(20);
                let samples = samples(count());
                for verdict in judge(&text, vocab, &samples, &options) {
                    let what = format!("{} {way:?}: {verdict:#?}", protocol.name);
                    assert_eq!(verdict.status, Status::Ok, "{what}");
                    let yields = protocol.yields();
                    assert_eq!(verdict.process.is_some(), yields.process, "{what}");
                    assert_eq!(verdict.outcome.is_some(), yields.outcome, "{what}");
                    assert_eq!(verdict.perfect.is_some(), yields.perfect, "{what}");
                    assert_eq!(verdict.score.is_some(), yields.score, "{what}");
                    if protocol.form.needs_rubric() {
                        assert_eq!(verdict.criteria.len(), verdict.index % 6 + 1, "{what}");
                        for (at, criterion) in verdict.criteria.iter().enumerate() {
                            // Of 0 to 10, two grades begin with the same token.
                            let expected = criterion.expected.is_some();
                            assert_eq!(expected, at % 3 < 2, "{what}");
                        }
                    }
                    assert!(
                        verdict.usage.completion_tokens <= options.max_new_tokens,
                        "{what}"
                    );
                    let steps = samples[verdict.index].student_answer.split("\n\n").count();
                    assert!(
                        verdict.first_error.is_none_or(|step| step < steps),
                        "{what}"
                    );
                    verdicts += 1;
                }
            }
        }
    }
    println!("{verdicts} verdicts");
}

/// A random model with recurrent layers, one of attention, and experts.
fn recurrent(vocab: usize) -> Box<dyn StepModel> {
    let model = json!({
        "architectures": ["Qwen3_5MoeForCausalLM"], "vocab_size": vocab, "hidden_size": 32, "num_hidden_layers": 3,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "full_attention_interval": 3,
        "linear_num_key_heads": 1, "linear_num_value_heads": 2, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
        "linear_conv_kernel_dim": 4, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
        "shared_expert_intermediate_size": 16, "max_position_embeddings": 4096, "rms_norm_eps": 1e-6, "rope_theta": 1e4,
        "tie_word_embeddings": true, "hidden_act": "silu",
    });
    let model = ModelConfig::parse(&model.to_string(), "config.json").unwrap();
    let weights = Weights::random(&model, 7);
    let decoder = Decoder::load(&model, &weights, &Device::Cpu, Precision::F32).unwrap();
    let shape = AttentionShape::from(&model);
    let states = model.recurrent.as_ref().unwrap().shape;
    let build = move |blocks| {
        let kind = AttentionKind::Tiled;
        let cache = attention::build(kind, &shape, blocks, 16, &Device::Cpu, DType::F32)?;
        Ok(with_states(cache, RecurrentStates::new(states, 20)))
    };
    Box::new(PagedDecoder::with_cache(decoder, 4000, 4000, Box::new(build)).unwrap())
}

#[test]
fn every_protocol_runs_on_a_model_with_recurrent_layers() {
    for protocol in protocol::known() {
        let constrains = protocol.scaffold(&ScaffoldWants::default()).is_some();
        let (text, vocab) = text(Way::MayThink, protocol);
        for free in [false, true] {
            let options = RunOptions {
                constrained: !free,
                thinking_budget: Some(20),
                max_new_tokens: 60,
                ..options()
            };
            let samples = samples(6);
            let verdicts = judge_with(recurrent(vocab), &text, &samples, &options);
            assert_eq!(verdicts.len(), samples.len(), "{}", protocol.name);
            for verdict in &verdicts {
                let what = format!("{}, free {free}: {verdict:#?}", protocol.name);
                let expected = if constrains && !free {
                    &[Status::Ok][..]
                } else {
                    &[Status::Ok, Status::Unparsed]
                };
                assert!(expected.contains(&verdict.status), "{what}");
            }
        }
    }
}

#[test]
fn what_is_chosen_is_what_the_protocol_reads() {
    for protocol in protocol::known() {
        let (text, vocab) = text(Way::Never, protocol);
        for verdict in judge(&text, vocab, &samples(40), &options()) {
            if verdict.parse_rule != Some(ParseRule::Constrained) {
                continue;
            }
            let written = verdict.raw.as_ref().unwrap().completion.clone();
            let read = protocol.parse(&written, false);
            // An analysis of nonsense may hold what makes an answer unreadable.
            let Ok(read) = read else {
                assert!(written.len() > 60, "{}: {written}", protocol.name);
                continue;
            };
            assert_eq!(
                (
                    read.fields.process,
                    read.fields.outcome,
                    read.fields.perfect,
                    read.fields.first_error
                ),
                (
                    verdict.process,
                    verdict.outcome,
                    verdict.perfect,
                    verdict.first_error
                ),
                "{}: {written}",
                protocol.name
            );
            assert_eq!(read.fields.label, verdict.label);
            let grades: Vec<Grade> = verdict.criteria.iter().map(|one| one.grade).collect();
            assert_eq!(read.fields.grades, grades);
        }
    }
}

#[test]
fn only_thinking_that_does_not_end_stays_unread() {
    let prime = protocol::find("prime").unwrap();
    let mut unfinished = 0;
    for way in Way::ALL {
        let (text, vocab) = text(way, &prime);
        for verdict in judge(&text, vocab, &samples(60), &options()) {
            if verdict.status == Status::Ok {
                assert_eq!(verdict.parse_rule, Some(ParseRule::Constrained));
                assert!(
                    verdict.confidence.process.is_some() && verdict.confidence.perfect.is_some()
                );
                continue;
            }
            let why = verdict.error.unwrap();
            assert!(why.starts_with("thinking not finished"), "{way:?}: {why}");
            unfinished += 1;
        }
    }
    assert!(unfinished > 0);
}

#[test]
fn a_decided_reward_ends_the_answer() {
    let prime = protocol::find("prime").unwrap();
    let (text, vocab) = text(Way::Never, &prime);
    let mut options = options();
    let samples = samples(60);
    let whole = judge(&text, vocab, &samples, &options);
    options.decide_only = true;
    let decided = judge(&text, vocab, &samples, &options);
    let find = |verdicts: &[Verdict], index| {
        verdicts
            .iter()
            .find(|verdict| verdict.index == index)
            .unwrap()
            .clone()
    };
    let mut seen = [0; 3];
    for index in 0..samples.len() {
        let (whole, decided) = (find(&whole, index), find(&decided, index));
        assert_eq!(whole.reward, decided.reward);
        assert_eq!(whole.process, decided.process);
        assert_eq!(decided.perfect, None);
        assert!(decided.usage.completion_tokens < whole.usage.completion_tokens);
        if whole.process == Some(false) {
            assert_eq!(decided.outcome, None);
            seen[0] += 1;
        } else {
            assert_eq!(decided.outcome, whole.outcome);
            seen[1 + usize::from(whole.outcome == Some(true))] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

/// A protocol whose answers are of a grammar that begins with any text.
fn with_free_beginning() -> Arc<Protocol> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "own.toml",
        "description = \"own\"\ngrammar = \"own.lark\"\n[answer]\nform = \"labels\"\n\
         rules = [{ name = \"stated\", pattern = '\\nVerdict: ([AB])\\z' }]\n\
         [answer.labels]\nA = { outcome = true }\nB = { outcome = false }\n",
    );
    write(
        "own.lark",
        "start: TEXT \"\\nVerdict: \" (\"A\" | \"B\")\nTEXT: /[^\\n]{1,20}/",
    );
    protocol::resolve(folder.path().join("own.toml").to_str().unwrap()).unwrap()
}

#[test]
fn a_grammar_that_begins_with_any_text_leaves_thinking_its_place() {
    let protocol = with_free_beginning();
    let mut thought = 0;
    for way in Way::ALL {
        let (text, vocab) = text(way, &protocol);
        let mut options = options();
        options.thinking_budget = Some(20);
        for verdict in judge(&text, vocab, &samples(40), &options) {
            assert_eq!(verdict.status, Status::Ok, "{way:?}: {verdict:#?}");
            assert!(verdict.outcome.is_some() && verdict.confidence.outcome.is_some());
            let written = &verdict.raw.as_ref().unwrap().completion;
            thought += usize::from(way == Way::MayThink && written.starts_with("<think>"));
        }
    }
    println!("{thought} thought");
    let (text, vocab) = text(Way::MayThink, &protocol);
    let tokenizer = text.prompts.tokenizer();
    let mut options = options();
    options.sampling = Sampling::GREEDY;
    for (budget, status) in [(None, Status::Unparsed), (Some(20), Status::Ok)] {
        let model = Box::new(Thinks {
            vocab,
            open: tokenizer.token_id("<think>").unwrap(),
            filler: tokenizer.encode_trusted("x").unwrap()[0],
        });
        options.thinking_budget = budget;
        for verdict in judge_with(model, &text, &samples(3), &options) {
            assert_eq!(verdict.status, status, "{verdict:#?}");
        }
    }
}

/// Opens its thinking, and never ends it.
struct Thinks {
    vocab: usize,
    open: u32,
    filler: u32,
}

impl LogitsModel for Thinks {
    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        let mut logits = vec![0.0_f32; batch.logits.len() * self.vocab];
        for (row, &at) in logits.chunks_mut(self.vocab).zip(&batch.logits) {
            let is_thinking = [self.open, self.filler].contains(&batch.tokens[at as usize]);
            let next = if is_thinking { self.filler } else { self.open };
            row[next as usize] = 9.0;
        }
        let shape = (batch.logits.len(), self.vocab);
        Ok(Tensor::from_vec(logits, shape, &Device::Cpu)?)
    }

    fn properties(&self) -> Properties {
        LogitsModel::properties(&Nonsense { vocab: self.vocab })
    }

    fn shrink(&mut self, _blocks: usize) -> Result<Option<usize>, ModelError> {
        Ok(None)
    }
}

#[test]
fn no_verdict_is_put_into_thinking_that_a_judge_opens_itself() {
    let known = protocol::known();
    for protocol in known.filter(|known| known.scaffold(&ScaffoldWants::default()).is_some()) {
        let (text, vocab) = text(Way::MayThink, protocol);
        let tokenizer = text.prompts.tokenizer();
        let model = || {
            Box::new(Thinks {
                vocab,
                open: tokenizer.token_id("<think>").unwrap(),
                filler: tokenizer.encode_trusted("x").unwrap()[0],
            })
        };
        let mut options = options();
        options.sampling = Sampling::GREEDY;
        let samples = samples(3);
        for verdict in judge_with(model(), &text, &samples, &options) {
            let what = format!("{}: {verdict:#?}", protocol.name);
            assert_eq!(verdict.status, Status::Unparsed, "{what}");
            let why = verdict.error.as_deref().unwrap();
            assert!(why.starts_with("thinking not finished"), "{what}");
        }
        options.thinking_budget = Some(20);
        for verdict in judge_with(model(), &text, &samples, &options) {
            let what = format!("{}: {verdict:#?}", protocol.name);
            assert_eq!(verdict.status, Status::Ok, "{what}");
            let written = &verdict.raw.as_ref().unwrap().completion;
            assert!(written.contains("</think>"), "{what}");
        }
    }
}
