//! What a verification takes: processor time of the thread, and memory above what was allocated before.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use juror_rules::{Config, OutcomeRules, Profile, RulesProfile, Verifier};

/// Counts the bytes that are allocated.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What one verification took.
#[derive(Clone, Copy, Default)]
pub struct Cost {
    pub milliseconds: f64,
    pub megabytes: f64,
}

fn processor_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Milliseconds since the program began at which the pair under way began; 0: none.
pub static SINCE: AtomicU64 = AtomicU64::new(0);
/// The pair under way, as [`line`] writes it.
pub static UNDER_WAY: Mutex<String> = Mutex::new(String::new());

pub fn measure(profile: RulesProfile, gold: &str, pred: &str, started: Instant) -> Cost {
    *UNDER_WAY.lock().unwrap() = line(profile, Cost::default(), gold, pred);
    SINCE.store(1 + started.elapsed().as_millis() as u64, Ordering::Relaxed);
    let before = ALLOCATED.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let from = processor_time();
    match profile {
        RulesProfile::Strict => {
            drop(Verifier::new(Profile::Strict, Config::default()).verify(gold, pred))
        }
        RulesProfile::Compat => {
            drop(Verifier::new(Profile::Compat, Config::default()).verify(gold, pred))
        }
        other => drop(OutcomeRules::new(other, Config::default()).verify(gold, pred)),
    }
    let milliseconds = processor_time() - from;
    SINCE.store(0, Ordering::Relaxed);
    let megabytes = (PEAK.load(Ordering::Relaxed).saturating_sub(before)) as f64 / 1e6;
    Cost {
        milliseconds,
        megabytes,
    }
}

/// The least of several: another process may have emptied the caches.
pub fn measure_again(profile: RulesProfile, gold: &str, pred: &str, started: Instant) -> Cost {
    let costs = (0..4).map(|_| measure(profile, gold, pred, started));
    costs
        .reduce(|a, b| Cost {
            milliseconds: a.milliseconds.min(b.milliseconds),
            ..b
        })
        .unwrap_or_default()
}

/// A pair with its cost as a JSON line.
pub fn line(profile: RulesProfile, cost: Cost, gold: &str, pred: &str) -> String {
    serde_json::json!({
        "profile": profile.as_str(),
        "milliseconds": (cost.milliseconds * 100.0).round() / 100.0,
        "megabytes": (cost.megabytes * 100.0).round() / 100.0,
        "gold": gold,
        "pred": pred,
    })
    .to_string()
}
