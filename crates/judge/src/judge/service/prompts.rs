//! Prompts are made on a few threads, which clients have in turns: a client's thousands of samples keep none of another's waiting.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::completion::VerdictBuilder;
use super::super::engines::PATIENCE;
use super::super::request::{RequestBuilder, Trial};
use super::{AT_ONCE, Shared, TakeVerdict, Waiting, lock};
use juror_base::panics;
use juror_base::threads::{self, ThreadError};
use juror_data::Sample;

/// The most threads.
const MOST_THREADS: usize = 16;

/// What is done in one turn.
pub(super) enum Job {
    /// Prompts of samples of one call.
    Samples {
        client: String,
        samples: Vec<(usize, Sample)>,
        take: Arc<dyn TakeVerdict>,
    },
    /// Another prompt.
    Work {
        work: Box<dyn FnOnce() + Send>,
        is_wanted: Box<dyn Fn() -> bool + Send>,
    },
}

impl Job {
    pub(super) fn is_wanted(&self) -> bool {
        match self {
            Self::Samples { take, .. } => take.is_wanted(),
            Self::Work { is_wanted, .. } => is_wanted(),
        }
    }
}

/// Starts the threads; they end with the service.
pub(super) fn start(shared: &Arc<Shared>) -> Result<(), ThreadError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for _ in 0..cores.clamp(2, MOST_THREADS) {
        let own = Arc::clone(shared);
        let thread = std::thread::Builder::new().name("prompts".into());
        thread
            .spawn(move || {
                while !own.is_over() {
                    let job = own.jobs.pop(PATIENCE, Job::is_wanted);
                    // Whoever waits for a job that panics is told so where it is dropped.
                    let _ = panics::guarded(|| job.map(|job| own.run_job(job)));
                }
            })
            .map_err(threads::refused("making prompts"))?;
    }
    Ok(())
}

impl Shared {
    pub(super) fn push_job(&self, client: &str, job: Job) {
        self.jobs.push(client, job);
        if self.is_over() {
            self.drop_waiting();
        }
    }

    pub(super) fn judge(
        &self,
        client: &str,
        mut samples: Vec<(usize, Sample)>,
        take: &Arc<dyn TakeVerdict>,
    ) {
        // Those of one question share more of their prompts than the template.
        let mut first: HashMap<u64, usize> = HashMap::new();
        samples.sort_by_cached_key(|(place, sample)| {
            *first.entry(sample.question_hash()).or_insert(*place)
        });
        let mut rest = samples.into_iter();
        loop {
            let samples: Vec<_> = rest.by_ref().take(AT_ONCE).collect();
            if samples.is_empty() {
                break;
            }
            let job = Job::Samples {
                client: client.to_owned(),
                samples,
                take: Arc::clone(take),
            };
            self.push_job(client, job);
        }
    }

    fn run_job(&self, job: Job) {
        let (client, samples, take) = match job {
            Job::Work { work, .. } => return work(),
            Job::Samples {
                client,
                samples,
                take,
            } => (client, samples, take),
        };
        let setup = &self.setup;
        let verdicts = VerdictBuilder::new(&setup.options, Some(&setup.text));
        let requests = RequestBuilder::new(&setup.text, &setup.options, &verdicts, &self.in_flight);
        for (place, mut sample) in samples {
            if sample.id.trim().is_empty() {
                sample.id = sample.own_content_id();
            }
            sample.index = self.next_sample.fetch_add(1, Ordering::Relaxed);
            let prompt = requests.prompt(&sample);
            let sample = Arc::new(sample);
            let waits = Waiting {
                place,
                take: Arc::clone(&take),
            };
            lock(&self.waiting).insert(sample.index, waits);
            match requests.trial(&sample, 0, &prompt) {
                Trial::Ask(request) => self.enqueue(&client, *request),
                Trial::Waits(id) => {
                    self.forget_gone(id);
                    // Its turn may come before that of the client who has asked first.
                    if lock(&self.queued).contains_key(&id) {
                        self.queue.push(&client, id);
                    }
                }
                Trial::Judged(verdict) => self.deliver(*verdict),
            }
        }
        if self.is_over() {
            self.drop_waiting();
        }
    }
}
