//! The verdicts of the embedded judge on the examples, on the GPU and on the CPU.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use candle_core::Device;
use juror_data::verdict::{Status, Verdict};
use juror_data::{LoadOptions, load};
use juror_engine::engine::Stats;
use juror_judge::judge::{
    DeviceEngine, EngineOptions, JudgeError, JudgeText, RulesMode, RunOptions, Sink,
    WorkloadLengths, build_engine, jobs, run,
};
use juror_judge::protocol::{self, PromptTemplate};

use super::{gpu, root};

#[derive(Default)]
struct Keep(Vec<Verdict>);

impl Sink for Keep {
    fn keep(&mut self, verdict: Verdict) -> Result<(), JudgeError> {
        self.0.push(verdict);
        Ok(())
    }

    fn progress(&mut self, _stats: &Stats) {}
}

/// The examples under the built-in judge, as `juror judge --device …` runs it.
fn judge_examples(device: &Device) -> Vec<Verdict> {
    let loaded = load(
        &[root().join("examples/rollouts.jsonl")],
        &LoadOptions::default(),
    )
    .unwrap();
    let source = juror_judge::catalog::resolve("tiny").unwrap();
    let protocol = protocol::find("prime").unwrap();
    let template = PromptTemplate::parse(protocol.template.as_deref().unwrap()).unwrap();
    let text = Arc::new(JudgeText::load(&source, &protocol, &template).unwrap());
    let max_new_tokens = text.generation.max_new_tokens.unwrap_or(2048);
    let engine = build_engine(
        &source,
        &text,
        std::slice::from_ref(device),
        &EngineOptions::default(),
        &WorkloadLengths::unknown(&text, max_new_tokens),
        Arc::default(),
    )
    .unwrap();
    let options = RunOptions {
        max_new_tokens,
        rules: RulesMode::Off,
        ..RunOptions::default()
    };
    let mut kept = Keep::default();
    let go_on = AtomicBool::new(false);
    run(
        loaded.samples.as_slice(),
        &jobs::in_input_order(loaded.samples.as_slice(), 1, |_, _| false),
        &options,
        &text,
        &mut vec![DeviceEngine {
            device: "the device".into(),
            engine,
        }],
        &go_on,
        &mut kept,
    )
    .unwrap();
    kept.0.sort_by_key(|verdict| verdict.index);
    kept.0
}

#[test]
fn examples_get_the_verdicts_of_the_cpu() {
    let essence = |verdicts: Vec<Verdict>| -> Vec<(String, Status, [Option<bool>; 4])> {
        let fields = |v: &Verdict| [v.process, v.outcome, v.perfect, v.overall];
        verdicts
            .into_iter()
            .map(|verdict| {
                let fields = fields(&verdict);
                (verdict.id, verdict.status, fields)
            })
            .collect()
    };
    let (on_cpu, on_gpu) = (
        essence(judge_examples(&Device::Cpu)),
        essence(judge_examples(&gpu())),
    );
    let readable = on_cpu.iter().filter(|verdict| verdict.1 == Status::Ok);
    assert!(
        readable.count() > on_cpu.len() / 2,
        "verdicts that cannot be read say little when compared: {on_cpu:?}"
    );
    let other: Vec<_> = on_cpu.iter().zip(&on_gpu).filter(|(a, b)| a != b).collect();
    println!(
        "measured | verdicts of the examples, bf16 on the GPU and f32 on the CPU | {} of {} the same | all",
        on_cpu.len() - other.len(),
        on_cpu.len()
    );
    assert!(other.is_empty(), "CPU and GPU differ: {other:?}");
}
