//! A verdict is read from what the judge writes alone: of a judge that does not look at its prompt, every attack gets the same.

use std::collections::HashSet;
use std::sync::Arc;

use candle_core::{Device, Tensor};
use juror_data::Sample;
use juror_engine::engine::{LogitsModel, Properties};
use juror_engine::model::ModelError;
use juror_engine::model::batch::StepBatch;
use juror_judge::attack::{Family, Target, attacks, is_positive};
use juror_judge::judge::{JudgeText, RulesMode, RunOptions};
use juror_judge::protocol::{self, PromptTemplate, Protocol};

use crate::constrained::{Way, judge_with, text};

/// The same logits everywhere, from a hash of the token.
struct Blind {
    vocab: usize,
    seed: u64,
}

impl LogitsModel for Blind {
    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        let mut state = self.seed | 1 << 63;
        let row: Vec<f32> = (0..self.vocab)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 40) as f32 / 4e6
            })
            .collect();
        let rows = batch.logits.len();
        Ok(Tensor::from_vec(
            row.repeat(rows),
            (rows, self.vocab),
            &Device::Cpu,
        )?)
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

fn rows() -> Vec<Sample> {
    (2..6)
        .map(|have| {
            let question = format!("Tom has {have} apples and buys 7 more. How many has he now?");
            let sum = have + 7;
            let response =
                format!("He has {have}.\n\nHe buys 7.\n\n{have} + 7 = {sum}. It is {sum}.");
            Sample::new(question, sum.to_string(), response).with_id(have.to_string())
        })
        .collect()
}

fn samples(protocol: &Arc<Protocol>, text: &JudgeText) -> Vec<Sample> {
    let prompt = protocol.template.as_deref().unwrap_or(
        "<response>{{ student_answer }}</response> {{ question }} {{ reference_answer }}",
    );
    let target = Target::new(text, &PromptTemplate::parse(prompt).unwrap());
    let yields = protocol.yields();
    let mut samples = rows();
    for (index, sample) in samples.iter_mut().enumerate() {
        sample.index = index;
    }
    let harmless = samples.len();
    for attack in attacks(&samples.clone(), &Family::ALL, &target, yields, 5) {
        let mut sample = attack.sample;
        sample.index += harmless;
        samples.push(sample);
    }
    assert!(samples.len() > 5 * harmless, "{}", protocol.name);
    samples
}

#[test]
fn no_verdict_comes_from_the_response() {
    let mut said = HashSet::new();
    let known = protocol::known();
    for protocol in known.filter(|known| !known.yields().score) {
        let (text, vocab) = text(Way::Never, protocol);
        let samples = samples(protocol, &text);
        for constrained in [true, false] {
            for seed in 1..9 {
                let options = RunOptions {
                    rules: RulesMode::Off,
                    max_new_tokens: 40,
                    constrained,
                    ..RunOptions::default()
                };
                let model = Box::new(Blind { vocab, seed });
                let verdicts = judge_with(model, &text, &samples, &options);
                assert_eq!(verdicts.len(), samples.len());
                let yields = protocol.yields();
                // Which step is chosen depends on how many the response has, and nothing else.
                let steps = !yields.outcome;
                let different: HashSet<_> = verdicts
                    .iter()
                    .filter(|verdict| {
                        !steps || samples[verdict.index].student_answer.split("\n\n").count() == 3
                    })
                    .map(|verdict| {
                        (
                            verdict.status,
                            verdict.process,
                            verdict.outcome,
                            is_positive(verdict, yields),
                        )
                    })
                    .collect();
                let what = format!("{} {constrained} {seed}: {different:?}", protocol.name);
                assert_eq!(different.len(), 1, "{what}");
                said.extend(
                    different
                        .into_iter()
                        .map(|(.., positive)| (constrained, positive)),
                );
            }
        }
    }
    // Judges that always say True and such that never do.
    assert!(
        said.contains(&(true, true)) && said.contains(&(true, false)),
        "{said:?}"
    );
    assert!(!said.contains(&(false, true)), "{said:?}");
}
