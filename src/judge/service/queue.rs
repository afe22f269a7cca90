//! What waits for an engine: a queue for each client, of which each in turn gives one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A queue that is fair between clients: whoever waits with one item is served before another's second. The items of one client
/// keep their order.
pub(super) struct FairQueue<T> {
    queues: Mutex<Queues<T>>,
    pushed: Condvar,
}

struct Queues<T> {
    by_client: HashMap<String, VecDeque<T>>,
    /// The clients with items, in the order of their turns.
    turns: VecDeque<String>,
    length: usize,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self {
            queues: Mutex::new(Queues {
                by_client: HashMap::new(),
                turns: VecDeque::new(),
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

    /// Takes the item of the client whose turn it is, waiting for one at most so long.
    pub(super) fn pop(&self, patience: Duration) -> Option<T> {
        let queues = self.queues();
        let waited = self
            .pushed
            .wait_timeout_while(queues, patience, |queues| queues.length == 0)
            .unwrap_or_else(PoisonError::into_inner);
        let (mut queues, _) = waited;
        let client = queues.turns.pop_front()?;
        let own = queues.by_client.get_mut(&client)?;
        let item = own.pop_front();
        if own.is_empty() {
            queues.by_client.remove(&client);
        } else {
            queues.turns.push_back(client);
        }
        queues.length -= usize::from(item.is_some());
        item
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
        queues.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drained(queue: &FairQueue<(usize, usize)>) -> Vec<(usize, usize)> {
        std::iter::from_fn(|| queue.pop(Duration::ZERO)).collect()
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
