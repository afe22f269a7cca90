//! Work on many items over all cores.

use std::thread::available_parallelism;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

/// Items for which it is worth starting a thread: a few hundred microseconds of work.
const ITEMS_PER_THREAD: usize = 32;

/// `work` on each of `items`, in their order.
///
/// Threads live no longer than the call: those of a pool that lasts are gone in a forked process, which would wait for
/// them for ever.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = available_parallelism().map_or(1, usize::from);
    let threads = cores.min(items.len().div_ceil(ITEMS_PER_THREAD));
    if threads > 1
        && let Ok(pool) = ThreadPoolBuilder::new().num_threads(threads).build()
    {
        return pool.install(|| items.par_iter().map(&work).collect());
    }
    // Few items, or no thread to be had.
    items.iter().map(work).collect()
}
