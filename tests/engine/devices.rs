//! Several engines on one queue: the same verdicts, each once, whatever happens to one of the engines.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use candle_core::{Device, Tensor};
use juror_data::verdict::{Status, Verdict};
use juror_data::{LoadOptions, Sample, load};
use juror_engine::checkpoint::ModelSource;
use juror_engine::engine::{
    Drafts, Engine, EngineConfig, LogitsModel, Properties, Sampling, Stats,
};
use juror_engine::model::ModelError;
use juror_engine::model::batch::StepBatch;
use juror_judge::judge::{
    DeviceEngine, DeviceStats, EngineOptions, JudgeError, JudgeText, RunEnd, RunOptions, Sink,
    WorkloadLengths, build_engine, jobs, run,
};
use juror_judge::protocol::{
    self, AnswerForm, ParsedVerdict, PromptTemplate, Protocol, StopMatcher, Unreadable, Yields,
};

const NEW_TOKENS: usize = 24;

/// Keeps verdicts, and raises the flag once there are `enough`.
#[derive(Default)]
pub(crate) struct Keep {
    pub(crate) verdicts: Vec<Verdict>,
    devices: Vec<DeviceStats>,
    total: Stats,
    enough: Option<(usize, Arc<AtomicBool>)>,
}

impl Sink for Keep {
    fn keep(&mut self, verdict: Verdict) -> Result<(), JudgeError> {
        self.verdicts.push(verdict);
        if let Some((enough, flag)) = &self.enough {
            flag.store(self.verdicts.len() >= *enough, Ordering::Relaxed);
        }
        Ok(())
    }

    fn progress(&mut self, stats: &Stats) {
        self.total = *stats;
    }

    fn devices(&mut self, devices: &[DeviceStats]) {
        self.devices = devices.to_vec();
    }
}

impl Keep {
    /// By sample and trial, without what the cache happened to hold.
    fn sorted(mut self) -> Vec<Verdict> {
        self.verdicts
            .sort_by_key(|verdict| (verdict.index, verdict.trial));
        for verdict in &mut self.verdicts {
            verdict.usage.cached_tokens = 0;
        }
        self.verdicts
    }
}

fn text(protocol: &Arc<Protocol>) -> (ModelSource, Arc<JudgeText>) {
    let source = juror_judge::catalog::resolve("tiny").unwrap();
    let template = PromptTemplate::parse(protocol.template.as_deref().unwrap()).unwrap();
    let text = Arc::new(JudgeText::load(&source, protocol, &template).unwrap());
    (source, text)
}

fn options(trials: u32) -> RunOptions {
    RunOptions {
        sampling: Sampling {
            temperature: 0.8,
            ..Sampling::GREEDY
        },
        max_new_tokens: NEW_TOKENS,
        trials,
        seed: 3,
        raw: true,
        // A protocol here has faults where free answers are read.
        constrained: false,
        ..RunOptions::default()
    }
}

fn samples() -> Vec<Sample> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/rollouts.jsonl");
    load(&[examples], &LoadOptions::default()).unwrap().samples
}

/// Engines on the CPU, of different sizes, so that they are not equally fast.
fn engines(count: usize) -> (Arc<JudgeText>, Vec<DeviceEngine>) {
    let (source, text) = text(&protocol::find("prime").unwrap());
    let engines = (0..count)
        .map(|at| {
            let sizes = EngineOptions {
                max_sequences: Some(if at == 0 { 8 } else { 2 }),
                token_budget: Some(if at == 0 { 256 } else { 64 }),
                ..EngineOptions::default()
            };
            DeviceEngine {
                device: format!("cpu:{at}"),
                engine: build_engine(
                    &source,
                    &text,
                    &[Device::Cpu],
                    &sizes,
                    &WorkloadLengths::unknown(&text, NEW_TOKENS),
                    Arc::default(),
                )
                .unwrap(),
            }
        })
        .collect();
    (text, engines)
}

fn judge(count: usize, trials: u32, interrupted: &AtomicBool, kept: &mut Keep) -> RunEnd {
    let samples = samples();
    let (text, mut engines) = engines(count);
    let done: HashSet<(usize, u32)> = kept
        .verdicts
        .iter()
        .map(|verdict| (verdict.index, verdict.trial))
        .collect();
    let jobs = jobs::by_question(samples.as_slice(), trials, |position, trial| {
        done.contains(&(position, trial))
    });
    run(
        samples.as_slice(),
        &jobs,
        &options(trials),
        &text,
        &mut engines,
        interrupted,
        kept,
    )
    .unwrap()
}

#[test]
fn two_and_three_engines_give_the_verdicts_of_one() {
    let go_on = AtomicBool::new(false);
    let [one, two, three] = [1, 2, 3].map(|count| {
        let mut kept = Keep::default();
        assert_eq!(judge(count, 2, &go_on, &mut kept), RunEnd::Complete);
        let verdicts: usize = kept.devices.iter().map(|device| device.verdicts).sum();
        assert_eq!(verdicts, 2 * samples().len());
        assert_eq!(kept.devices.len(), count);
        let steps: u64 = kept.devices.iter().map(|device| device.stats.steps).sum();
        assert_eq!(kept.total.steps, steps);
        for (at, device) in kept.devices.iter().enumerate() {
            assert_eq!(device.device, format!("cpu:{at}"));
            assert!(device.verdicts > 0, "{:?}", kept.devices);
        }
        kept.sorted()
    });
    assert_eq!(one.len(), 2 * samples().len());
    assert_eq!(two, one);
    assert_eq!(three, one);
}

#[test]
fn an_interrupted_run_of_several_engines_goes_on_with_another_number() {
    let mut whole = Keep::default();
    judge(1, 1, &AtomicBool::new(false), &mut whole);
    let mut kept = Keep::default();
    for (count, enough) in [(3, 4), (2, 9)] {
        let interrupted = Arc::new(AtomicBool::new(false));
        kept.enough = Some((enough, Arc::clone(&interrupted)));
        assert_eq!(
            judge(count, 1, &interrupted, &mut kept),
            RunEnd::Interrupted
        );
        assert!((enough..whole.verdicts.len()).contains(&kept.verdicts.len()));
    }
    kept.enough = None;
    judge(1, 1, &AtomicBool::new(false), &mut kept);
    assert_eq!(kept.sorted(), whole.sorted());
}

/// How an engine comes to grief.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Never,
    Error,
    Panic,
}

/// Ends every generation at once with its end-of-sequence token, until it fails.
struct Mortal {
    vocab: usize,
    eos: u32,
    steps_left: usize,
    end: End,
    /// Whether the one that fails has failed: before, the other would do all the work where it is the faster one.
    has_failed: Arc<AtomicBool>,
}

impl LogitsModel for Mortal {
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

    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        if self.end == End::Never {
            let begun = Instant::now();
            while !self.has_failed.load(Ordering::Relaxed)
                && begun.elapsed() < Duration::from_secs(10)
            {
                thread::yield_now();
            }
        }
        self.has_failed
            .fetch_or(self.steps_left == 0, Ordering::Relaxed);
        match (self.steps_left, self.end) {
            (0, End::Error) => return Err(ModelError::Device("out of memory".into())),
            (0, End::Panic) => panic!("on purpose"),
            _ => self.steps_left = self.steps_left.saturating_sub(1),
        }
        let mut row = vec![0_f32; self.vocab];
        row[self.eos as usize] = 50.0;
        let rows = row.repeat(batch.logits.len());
        Ok(Tensor::from_vec(
            rows,
            (batch.logits.len(), self.vocab),
            &Device::Cpu,
        )?)
    }
}

fn mortal(text: &JudgeText, steps_left: usize, end: End, has_failed: &Arc<AtomicBool>) -> Engine {
    let model = Mortal {
        vocab: text.config.as_ref().unwrap().vocab,
        eos: text.eos[0],
        steps_left,
        end,
        has_failed: Arc::clone(has_failed),
    };
    let config = EngineConfig {
        blocks: 600,
        least_blocks: 600,
        block_size: 16,
        max_sequences: 2,
        token_budget: 2000,
        max_prefill_chunk: 2000,
        context_length: text.context,
        prefix_cache: true,
        pinned_prefix: Vec::new(),
        drafts: Drafts::Off,
    };
    Engine::new(Box::new(model), &config).unwrap()
}

#[test]
fn an_engine_that_fails_stops_the_run_and_is_named() {
    let samples = samples();
    let (_, text) = text(&protocol::find("prime").unwrap());
    let go_on = AtomicBool::new(false);
    for (end, said) in [(End::Error, "out of memory"), (End::Panic, "on purpose")] {
        for steps in [0, 3] {
            let mut kept = Keep::default();
            let engines = |end| {
                let has_failed = Arc::new(AtomicBool::new(end == End::Never));
                vec![
                    DeviceEngine {
                        device: "cuda:0".to_owned(),
                        engine: mortal(&text, usize::MAX, End::Never, &has_failed),
                    },
                    DeviceEngine {
                        device: "cuda:3".to_owned(),
                        engine: mortal(&text, steps, end, &has_failed),
                    },
                ]
            };
            let judge = |end, kept: &mut Keep| {
                let done: HashSet<usize> =
                    kept.verdicts.iter().map(|verdict| verdict.index).collect();
                let jobs = jobs::by_question(samples.as_slice(), 1, |position, _| {
                    done.contains(&position)
                });
                run(
                    samples.as_slice(),
                    &jobs,
                    &options(1),
                    &text,
                    &mut engines(end),
                    &go_on,
                    kept,
                )
            };
            let message = judge(end, &mut kept).unwrap_err().to_string();
            assert!(
                message.starts_with("cuda:3: ") && message.contains(said),
                "{message}"
            );
            assert!(message.ends_with("also without this device"), "{message}");
            assert!(kept.verdicts.len() < samples.len());
            // What was kept counts; the rest is judged once the device is well again.
            assert_eq!(judge(End::Never, &mut kept).unwrap(), RunEnd::Complete);
            let indices: Vec<usize> = kept.sorted().iter().map(|verdict| verdict.index).collect();
            assert_eq!(indices, (0..samples.len()).collect::<Vec<_>>());
        }
    }
}

/// The form of `prime`, with an error of our own in each of its parts, once.
#[derive(Debug)]
struct Faulty {
    form: Arc<dyn AnswerForm>,
    matchers: AtomicUsize,
    parsed: AtomicUsize,
}

struct FaultyMatcher;

impl StopMatcher for FaultyMatcher {
    fn push(&mut self, _: &str) -> bool {
        panic!("the matcher's fault")
    }
}

impl AnswerForm for Faulty {
    fn yields(&self) -> Yields {
        self.form.yields()
    }

    fn read(&self, answer: &str) -> Result<ParsedVerdict, Unreadable> {
        self.form.read(answer)
    }

    fn stop(&self, texts: &[String], thinks: bool, reason: bool) -> Option<Box<dyn StopMatcher>> {
        match self.matchers.fetch_add(1, Ordering::Relaxed) {
            2 => panic!("the protocol's fault"),
            4 => Some(Box::new(FaultyMatcher)),
            _ => self.form.stop(texts, thinks, reason),
        }
    }

    fn parse(
        &self,
        completion: &str,
        thinks: bool,
        stop: &[String],
    ) -> Result<ParsedVerdict, Unreadable> {
        let before = self.parsed.fetch_add(1, Ordering::Relaxed);
        assert!(before != 6, "the parser's fault");
        self.form.parse(completion, thinks, stop)
    }
}

fn faulty() -> Protocol {
    let prime = Protocol::clone(protocol::known().next().unwrap());
    let form = Faulty {
        form: Arc::clone(&prime.form),
        matchers: AtomicUsize::default(),
        parsed: AtomicUsize::default(),
    };
    Protocol {
        name: "faulty".to_owned(),
        max_new_tokens: Some(NEW_TOKENS),
        form: Arc::new(form),
        ..prime
    }
}

#[test]
fn an_error_of_our_own_costs_one_sample() {
    let mut peaceful = Keep::default();
    judge(1, 1, &AtomicBool::new(false), &mut peaceful);
    let peaceful = peaceful.sorted();

    let samples = samples();
    let (source, text) = text(&Arc::new(faulty()));
    let sizes = EngineOptions {
        max_sequences: Some(4),
        token_budget: Some(128),
        ..EngineOptions::default()
    };
    let engine = build_engine(
        &source,
        &text,
        &[Device::Cpu],
        &sizes,
        &WorkloadLengths::unknown(&text, NEW_TOKENS),
        Arc::default(),
    )
    .unwrap();
    let mut kept = Keep::default();
    let end = run(
        samples.as_slice(),
        &jobs::by_question(samples.as_slice(), 1, |_, _| false),
        &options(1),
        &text,
        &mut vec![DeviceEngine {
            device: "cpu".into(),
            engine,
        }],
        &AtomicBool::new(false),
        &mut kept,
    );
    assert_eq!(end.unwrap(), RunEnd::Complete);
    let verdicts = kept.sorted();
    assert_eq!(verdicts.len(), samples.len());
    let mut faults = Vec::new();
    for (verdict, expected) in verdicts.iter().zip(&peaceful) {
        match &verdict.error {
            Some(error) if error.contains("an error of juror itself") => {
                assert_eq!(verdict.status, Status::Failed);
                assert_eq!((verdict.outcome, verdict.reward), (None, None));
                faults.push(error.as_str());
            }
            _ => assert_eq!(verdict, expected),
        }
    }
    faults.sort_unstable();
    assert_eq!(faults.len(), 3, "{faults:?}");
    for (fault, part) in faults.iter().zip(["matcher", "parser", "protocol"]) {
        assert!(fault.contains(&format!("(the {part}'s fault)")), "{fault}");
        assert!(fault.contains("please report this sample"), "{fault}");
    }
}
