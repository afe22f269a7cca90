//! Memory for requests. What a request takes (the bytes of its body that have come, what is read of them, samples that wait) is
//! reserved here before it is taken, and given back when it is done with; who finds no room waits.
//!
//! A client may hold as much as it leaves free. So however much others hold, there is room for whoever wants less than they do, and
//! small requests do not wait for large ones. One request at a time, that which has waited longest, may go beyond its client's share:
//! what a few have read halfway cannot block all of them.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use juror_base::threads::lock;

/// What all requests may hold together, beside the one that goes beyond its share, in bytes.
const SHARED: usize = 2 << 30;

/// So often work that nobody waits for is looked for while a request finds no room.
const RECLAIM_EVERY: Duration = Duration::from_secs(1);

pub(super) struct Budget {
    total: usize,
    held: Mutex<Held>,
    freed: Notify,
    beyond: Arc<Semaphore>,
    /// Gives up what nobody waits for.
    reclaim: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct Held {
    all: usize,
    by_client: HashMap<String, usize>,
    reclaimed: Option<Instant>,
}

/// Memory that a request has; given back when it is dropped.
pub(super) struct Reservation {
    budget: Arc<Budget>,
    client: String,
    bytes: usize,
    /// It has gone beyond its client's share, and is not counted in it.
    beyond: Option<OwnedSemaphorePermit>,
}

impl Budget {
    /// `reclaim` is called where a request finds no room.
    pub(super) fn new(reclaim: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Self::with_reclaim(SHARED, reclaim)
    }

    fn with_reclaim(total: usize, reclaim: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            total,
            held: Mutex::default(),
            freed: Notify::new(),
            beyond: Arc::new(Semaphore::new(1)),
            reclaim: Box::new(reclaim),
        })
    }

    /// A client's reservation, of nothing yet.
    pub(super) fn reserve(self: &Arc<Self>, client: &str) -> Reservation {
        Reservation {
            budget: Arc::clone(self),
            client: client.to_owned(),
            bytes: 0,
            beyond: None,
        }
    }

    fn reclaim(&self) {
        let mut held = lock(&self.held);
        let is_due = held.reclaimed;
        let is_due = is_due.is_none_or(|last| last.elapsed() >= RECLAIM_EVERY);
        if is_due {
            held.reclaimed = Some(Instant::now());
            // Reservations are dropped meanwhile.
            drop(held);
            (self.reclaim)();
        }
    }
}

impl Reservation {
    /// Waits until it has so many bytes.
    pub(super) async fn grow_to(&mut self, bytes: usize) {
        if self.try_grow(bytes) {
            return;
        }
        let budget = Arc::clone(&self.budget);
        let mut beyond = pin!(Arc::clone(&budget.beyond).acquire_owned());
        loop {
            let mut freed = pin!(budget.freed.notified());
            // What is freed from here on is noticed.
            freed.as_mut().enable();
            budget.reclaim();
            if self.try_grow(bytes) {
                return;
            }
            tokio::select! {
                // It is never closed.
                Ok(permit) = &mut beyond => {
                    self.shrink_to(0);
                    self.beyond = Some(permit);
                    self.bytes = bytes;
                    return;
                }
                () = freed => {}
                () = tokio::time::sleep(RECLAIM_EVERY) => {}
            }
        }
    }

    fn try_grow(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        if self.beyond.is_none() && more > 0 {
            let mut held = lock(&self.budget.held);
            let all = held.all + more;
            let own = held.by_client.get(&self.client).copied().unwrap_or(0) + more;
            if all + own > self.budget.total {
                return false;
            }
            held.all = all;
            held.by_client.insert(self.client.clone(), own);
        }
        self.bytes += more;
        true
    }

    /// Gives back what it has beyond so many bytes.
    pub(super) fn shrink_to(&mut self, bytes: usize) {
        let less = self.bytes.saturating_sub(bytes);
        self.bytes -= less;
        if self.beyond.is_some() || less == 0 {
            return;
        }
        let mut held = lock(&self.budget.held);
        held.all -= less;
        if let Some(own) = held.by_client.get_mut(&self.client) {
            *own -= less;
            if *own == 0 {
                held.by_client.remove(&self.client);
            }
        }
        drop(held);
        self.budget.freed.notify_waiters();
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn run<T>(test: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        runtime.unwrap().block_on(test)
    }

    /// Whether it has room at once.
    async fn has_room(reservation: &mut Reservation, bytes: usize) -> bool {
        tokio::select! {
            biased;
            () = reservation.grow_to(bytes) => true,
            () = std::future::ready(()) => false,
        }
    }

    #[test]
    fn whoever_wants_less_than_others_hold_finds_room() {
        run(async {
            let budget = Budget::with_reclaim(1000, || {});
            let mut taken = Vec::new();
            for number in 0..6 {
                let mut one = budget.reserve(&number.to_string());
                while one.try_grow(one.bytes + 1) {}
                taken.push(one.bytes);
                assert!(one.bytes > 0, "{taken:?}");
                std::mem::forget(one);
            }
            assert_eq!(taken, [500, 250, 125, 62, 31, 16]);
            // A client of two requests has no more than one of one.
            let budget = Budget::with_reclaim(1000, || {});
            let (mut one, mut two) = (budget.reserve("a"), budget.reserve("a"));
            assert!(one.try_grow(300) && !two.try_grow(201) && two.try_grow(200));
            drop(one);
            assert!(two.try_grow(500));
            drop(two);
            assert_eq!(lock(&budget.held).all, 0);
            assert!(lock(&budget.held).by_client.is_empty());
        });
    }

    #[test]
    fn one_at_a_time_goes_beyond_its_share_and_blocks_no_other() {
        run(async {
            let budget = Budget::with_reclaim(1000, || {});
            let (mut first, mut second) = (budget.reserve("a"), budget.reserve("b"));
            assert!(has_room(&mut first, 400).await);
            assert!(has_room(&mut second, 300).await);
            // Neither can be read to its end within its share.
            assert!(has_room(&mut first, 5000).await);
            assert!(!has_room(&mut second, 600).await);
            let mut third = budget.reserve("c");
            assert!(has_room(&mut third, 100).await);
            drop(third);
            drop(first);
            assert!(has_room(&mut second, 600).await);
        });
    }

    #[test]
    fn who_waits_goes_on_once_there_is_room_and_has_what_nobody_waits_for_given_up() {
        run(async {
            let called = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&called);
            let budget = Budget::with_reclaim(1000, move || {
                count.fetch_add(1, Ordering::Relaxed);
            });
            let mut holds = budget.reserve("a");
            holds.grow_to(500).await;
            let mut beyond = budget.reserve("b");
            beyond.grow_to(2000).await;
            let mut waits = budget.reserve("c");
            assert!(!has_room(&mut waits, 300).await);
            assert!(called.load(Ordering::Relaxed) > 0);
            let ((), ()) = tokio::join!(waits.grow_to(300), async { holds.shrink_to(100) });
            assert_eq!((waits.bytes(), holds.bytes()), (300, 100));
        });
    }
}
