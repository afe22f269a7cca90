//! What waits for a thread or an engine: a queue for each client, of which each in turn gives one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A queue that is fair between clients: whoever waits with one item is served before another's second. The items of one client
/// keep their order. What nobody waits for when its turn comes is served when nothing else is there.
pub(super) struct FairQueue<T> {
    queues: Mutex<Queues<T>>,
    pushed: Condvar,
}

struct Queues<T> {
    by_client: HashMap<String, VecDeque<T>>,
    /// The clients with items, in the order of their turns.
    turns: VecDeque<String>,
    /// What nobody waits for.
    last: VecDeque<T>,
    length: usize,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self {
            queues: Mutex::new(Queues {
                by_client: HashMap::new(),
                turns: VecDeque::new(),
                last: VecDeque::new(),
                length: 0,
            }),
            pushed: Condvar::new(),
        }
    }
}

impl<T> FairQueue<T> {
    fn queues(&self) -> MutexGuard<'_, Queues<T>> {
        // Nothing panics while it holds the lock.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an item behind the client's others.
    pub(super) fn push(&self, client: &str, item: T) {
        let mut queues = self.queues();
        queues.length += 1;
        if let Some(own) = queues.by_client.get_mut(client) {
            own.push_back(item);
        } else {
            let own = VecDeque::from([item]);
            queues.by_client.insert(client.to_owned(), own);
            queues.turns.push_back(client.to_owned());
        }
        self.pushed.notify_one();
    }

    /// Takes the item of the client whose turn it is, if it is wanted, waiting for one at most so long.
    pub(super) fn pop(&self, patience: Duration, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        let queues = self.queues();
        let waited = self
            .pushed
            .wait_timeout_while(queues, patience, |queues| queues.length == 0)
            .unwrap_or_else(PoisonError::into_inner);
        let (mut queues, _) = waited;
        while let Some(client) = queues.turns.pop_front() {
            let own = queues.by_client.get_mut(&client)?;
            let item = own.pop_front()?;
            let is_wanted = is_wanted(&item);
            if own.is_empty() {
                queues.by_client.remove(&client);
            } else if is_wanted {
                queues.turns.push_back(client);
            } else {
                // It has had no turn yet.
                queues.turns.push_front(client);
            }
            if is_wanted {
                queues.length -= 1;
                return Some(item);
            }
            queues.last.push_back(item);
        }
        let item = queues.last.pop_front();
        queues.length -= usize::from(item.is_some());
        item
    }

    /// Drops what is not to stay.
    pub(super) fn retain(&self, stays: impl Fn(&T) -> bool) {
        let mut queues = self.queues();
        let Queues {
            by_client,
            turns,
            last,
            length,
        } = &mut *queues;
        by_client.retain(|_, own| {
            own.retain(&stays);
            !own.is_empty()
        });
        turns.retain(|client| by_client.contains_key(client));
        last.retain(&stays);
        *length = last.len() + by_client.values().map(VecDeque::len).sum::<usize>();
    }

    /// How many items wait.
    #[cfg(test)]
    fn length(&self) -> usize {
        self.queues().length
    }

    /// Drops all that waits.
    pub(super) fn clear(&self) {
        let mut queues = self.queues();
        queues.by_client.clear();
        queues.turns.clear();
        queues.last.clear();
        queues.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drained(queue: &FairQueue<(usize, usize)>) -> Vec<(usize, usize)> {
        std::iter::from_fn(|| queue.pop(Duration::ZERO, |_| true)).collect()
    }

    #[test]
    fn what_nobody_waits_for_is_served_last() {
        let queue = FairQueue::default();
        for number in 0..6 {
            queue.push(["a", "b"][number % 2], number);
        }
        let is_wanted = |number: &usize| ![0, 2, 3].contains(number);
        let order: Vec<_> = (0..6)
            .filter_map(|_| queue.pop(Duration::ZERO, is_wanted))
            .collect();
        assert_eq!(order, [4, 1, 5, 0, 2, 3]);
        for number in 0..6 {
            queue.push(["a", "b"][number % 2], number);
        }
        assert_eq!(queue.pop(Duration::ZERO, is_wanted), Some(4));
        queue.retain(is_wanted);
        assert_eq!(queue.length(), 2);
        assert_eq!(queue.pop(Duration::ZERO, is_wanted), Some(1));
        assert_eq!(queue.pop(Duration::ZERO, is_wanted), Some(5));
        assert_eq!(queue.pop(Duration::ZERO, is_wanted), None);
    }

    proptest! {
        /// Of two clients that wait, neither is served twice more often than the other; each one's items keep their order.
        #[test]
        fn clients_take_turns(clients in prop::collection::vec(0..4usize, 0..40)) {
            let queue = FairQueue::default();
            for (at, client) in clients.iter().enumerate() {
                queue.push(&client.to_string(), (*client, at));
            }
            prop_assert_eq!(queue.length(), clients.len());
            let order = drained(&queue);
            prop_assert_eq!(order.len(), clients.len());
            prop_assert_eq!(queue.length(), 0);
            let mut served = [0usize; 4];
            for (client, at) in order {
                let waits = |of: usize| clients.iter().filter(|c| **c == of).count() > served[of];
                for (other, count) in served.iter().enumerate() {
                    prop_assert!(!waits(other) || served[client] <= *count, "{client} before {other}");
                }
                let own: Vec<usize> = (0..clients.len()).filter(|i| clients[*i] == client).collect();
                prop_assert_eq!(own[served[client]], at);
                served[client] += 1;
            }
        }
    }
}
