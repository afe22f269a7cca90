//! One run of a workload through an engine.

use std::time::{Duration, Instant};

use super::recorder::{Recorded, Recorder};
use super::shared::SharedModel;
use super::workload::Job;
use juror_engine::engine::{
    Completion, Engine, EngineConfig, EngineError, FinishReason, RandomKey, Request, Sampling,
};
use juror_engine::model::profile::{Profile, Span};

pub(crate) struct Measured {
    /// What it took to compute the template, before the clock started.
    pub template: Duration,
    /// From the first request that was handed in to the last token.
    pub wall: Duration,
    pub requests: Vec<RequestTimes>,
    pub record: Recorded,
    /// Where the model's time went, with profiling.
    pub spans: Vec<Span>,
    pub preemptions: u64,
}

/// One generation; times in seconds since it was handed in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestTimes {
    pub prompt: usize,
    /// Of these, found in the cache.
    pub cached: usize,
    pub output: usize,
    pub first_token: f64,
    pub finished: f64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct MeasureSettings {
    pub sampling: Sampling,
    pub seed: u64,
    /// Note where the model's time goes.
    pub profile: bool,
}

/// Runs all jobs, handed in at once, to their full length. The template is computed before the clock starts, as it is once
/// in a long run. `progress` is called after each step with the tokens generated so far.
pub(crate) fn measure(
    model: &SharedModel,
    config: &EngineConfig,
    jobs: &[Job],
    settings: &MeasureSettings,
    progress: &mut dyn FnMut(u64),
) -> Result<Measured, EngineError> {
    let mut engine = Engine::new(Box::new(model.clone()), config)?;
    let request = |id: usize, job: &Job| Request {
        id: id as u64,
        prompt: job.prompt.clone(),
        max_new_tokens: job.output,
        sampling: settings.sampling,
        random_key: RandomKey {
            seed: settings.seed,
            sample: id as u64,
            trial: 0,
        },
        eos: [].into(),
        guide: None,
        choices: None,
        logprobs: None,
        background: false,
    };
    let mut warm = config.pinned_prefix.clone();
    warm.push(0);
    let started = Instant::now();
    engine.add(request(
        jobs.len(),
        &Job {
            prompt: warm,
            output: 2.min(
                config
                    .context_length
                    .saturating_sub(config.pinned_prefix.len() + 1),
            ),
        },
    ));
    while engine.has_work() {
        engine.step()?;
    }
    let template = started.elapsed();
    let before = engine.stats();
    let recorder = Recorder::default();
    engine.observe(Box::new(recorder.clone()));
    model.set_profile(if settings.profile {
        Profile::on()
    } else {
        Profile::off()
    });
    let requests: Vec<Request> = jobs
        .iter()
        .enumerate()
        .map(|(id, job)| request(id, job))
        .collect();
    let started = Instant::now();
    for request in requests {
        engine.add(request);
    }
    let mut times = Vec::with_capacity(jobs.len());
    while engine.has_work() {
        for completion in engine.step()? {
            times.push(request_times(&completion)?);
        }
        progress(engine.stats().generated_tokens - before.generated_tokens);
    }
    let wall = started.elapsed();
    let spans = model.take_spans();
    model.set_profile(Profile::off());
    Ok(Measured {
        template,
        wall,
        requests: times,
        record: recorder.take(),
        spans,
        preemptions: engine.stats().preemptions - before.preemptions,
    })
}

fn request_times(completion: &Completion) -> Result<RequestTimes, EngineError> {
    if let FinishReason::Rejected(reason) | FinishReason::TooLong(reason) = &completion.finish {
        return Err(EngineError::Config(format!(
            "the workload does not fit: {reason}"
        )));
    }
    let timing = &completion.timing;
    let since = |instant: Instant| {
        instant
            .saturating_duration_since(timing.queued)
            .as_secs_f64()
    };
    Ok(RequestTimes {
        prompt: completion.prompt.len(),
        cached: completion.cached_tokens,
        output: completion.tokens.len(),
        first_token: since(timing.first_token.unwrap_or(timing.finished)),
        finished: since(timing.finished),
    })
}
