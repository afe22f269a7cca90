//! Threads where the system allows only so many (`ulimit -u`, a container's limit on processes, too little memory for
//! stacks): a thread that cannot be started is an error that says what to do, never a panic.
//!
//! rayon's pool is started here, once, with as many threads as possible. By itself rayon would start it at its first use,
//! and panic if one of its threads could not be started.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::Duration;

/// The variable for the number of computing threads: rayon's.
pub(crate) const VARIABLE: &str = "RAYON_NUM_THREADS";
/// The most computing threads, whatever the variable says: more than any machine has processors.
pub(crate) const MOST: usize = 1024;
/// Threads reserved for other purposes if the system limits them: engines and their readers, input, downloads.
const SPARE: usize = 8;
/// How often starting a thread is attempted: one that has just ended may still be counted.
const ATTEMPTS: u32 = 4;

/// A thread that the system refuses to start.
#[derive(Debug, thiserror::Error)]
#[error(
    "could not start a thread for {purpose} ({source}): the limit on processes and threads (`ulimit -u`, or a container's) or \
     on memory is reached; raise it, or set {VARIABLE}=1 so that fewer are needed"
)]
pub struct ThreadError {
    /// The purpose of the thread.
    pub(crate) purpose: &'static str,
    /// The system's word.
    #[source]
    pub(crate) source: io::Error,
}

/// Why the pool of threads that compute cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// The variable does not hold a number.
    #[error(
        "{VARIABLE} is `{value}`, not a number of threads from 1 to {MOST}: correct it, or unset it to use all processors"
    )]
    Variable {
        /// What it holds.
        value: String,
    },
    /// Not even one thread can be started.
    #[error(transparent)]
    Thread(#[from] ThreadError),
}

/// Turns the system's refusal into an error that says what to do.
pub fn refused(purpose: &'static str) -> impl FnOnce(io::Error) -> ThreadError {
    move |source| ThreadError { purpose, source }
}

/// Locks. What panics is caught by whoever runs it, and leaves nothing half done behind a lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the pool that everything in parallel runs in, with fewer threads than it should have where the system allows no
/// more; then, and where the variable asks for too many, a note says so.
///
/// # Errors
/// [`PoolError`]: the variable is no number, or no thread can be started.
pub fn start_pool() -> Result<Option<String>, PoolError> {
    let set = std::env::var_os(VARIABLE).map(|value| value.to_string_lossy().into_owned());
    let asked = asked_for(set.as_deref())?;
    let wanted = asked
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    let threads = wanted.min(MOST);
    // Threads are started before rayon is: once it has failed it cannot be asked again.
    let mut waiting: Vec<Waiting> = Vec::with_capacity(threads + SPARE);
    let mut refusal = None;
    while waiting.len() < threads + SPARE {
        match Waiting::start() {
            Ok(thread) => waiting.push(thread),
            Err(error) => {
                refusal = Some(error);
                break;
            }
        }
    }
    let usable = match (waiting.len(), refusal) {
        (0, Some(refusal)) => return Err(refused("computing")(refusal).into()),
        (started, Some(_)) => started.saturating_sub(SPARE).clamp(1, threads),
        (_, None) => threads,
    };
    let spare = waiting.split_off(usable);
    for thread in spare {
        thread.dismiss();
    }
    let mut workers = waiting.into_iter();
    let built = rayon::ThreadPoolBuilder::new()
        .num_threads(usable)
        .spawn_handler(|worker| match workers.next() {
            Some(thread) => thread.work(worker),
            None => Err(io::ErrorKind::WouldBlock.into()),
        })
        .build_global();
    // It fails only where somebody else has started the pool before: then that one is used.
    drop(built);
    Ok(if usable < threads {
        Some(format!(
            "the system allows no more than {usable} of {threads} threads that compute (`ulimit -u`, or a container's limit \
             on processes): it goes on with these, slower"
        ))
    } else if threads < wanted {
        Some(format!(
            "{VARIABLE} asks for {wanted} threads: {MOST} are the most"
        ))
    } else {
        None
    })
}

/// The number of threads that the variable asks for; none where it leaves that open, as 0 does.
fn asked_for(value: Option<&str>) -> Result<Option<usize>, PoolError> {
    let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse() {
        Ok(0) => Ok(None),
        Ok(number) => Ok(Some(number)),
        // More than there are numbers for.
        Err(_) if digits => Ok(Some(usize::MAX)),
        Err(_) => Err(PoolError::Variable {
            value: value.chars().take(40).collect(),
        }),
    }
}

/// A thread that waits to be told what it is for.
struct Waiting {
    order: Sender<rayon::ThreadBuilder>,
    thread: JoinHandle<()>,
}

impl Waiting {
    fn start() -> io::Result<Self> {
        let mut attempt = 1;
        loop {
            let (order, orders) = channel::<rayon::ThreadBuilder>();
            let builder = Builder::new().name("compute".into());
            let started = builder.spawn(move || {
                if let Ok(worker) = orders.recv() {
                    worker.run();
                }
            });
            match started {
                Ok(thread) => return Ok(Self { order, thread }),
                Err(error) if attempt == ATTEMPTS => return Err(error),
                Err(_) => sleep(Duration::from_millis(2)),
            }
            attempt += 1;
        }
    }

    /// Makes it a worker of the pool.
    fn work(self, worker: rayon::ThreadBuilder) -> io::Result<()> {
        self.order
            .send(worker)
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Ends it, and waits until it has.
    fn dismiss(self) {
        drop(self.order);
        let _ = self.thread.join();
    }
}

#[cfg(test)]
mod tests {
    use super::{PoolError, asked_for};

    #[test]
    fn the_variable_is_a_number_or_an_error() {
        for open in [None, Some(""), Some("0"), Some(" ")] {
            assert!(matches!(asked_for(open), Ok(None)), "{open:?}");
        }
        assert!(matches!(asked_for(Some("5000")), Ok(Some(5000))));
        assert!(matches!(
            asked_for(Some("100000000000000000000")),
            Ok(Some(usize::MAX))
        ));
        for wrong in ["-1", "abc", "1.5", "0x10", "٣"] {
            assert!(
                matches!(asked_for(Some(wrong)), Err(PoolError::Variable { .. })),
                "{wrong}"
            );
        }
    }
}
