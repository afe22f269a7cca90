//! A queue for each client, of which each in turn gives one item.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Who asks: a client of the server, or the whole of a run.
pub(crate) type ClientName = Arc<str>;

/// When an item is served whose client's turn has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// At once.
    Now,
    /// When nothing else is there: nobody waits for it.
    Last,
    /// Never: it was served in another's turn.
    Gone,
}

/// A queue that is fair between clients: whoever waits with one item is served before another's second. The items of one client
/// keep their order.
#[derive(Debug)]
pub(crate) struct FairQueue<T> {
    by_client: HashMap<ClientName, VecDeque<T>>,
    /// The clients with items, in the order of their turns.
    turns: VecDeque<ClientName>,
    /// What nobody waits for.
    last: VecDeque<T>,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self {
            by_client: HashMap::new(),
            turns: VecDeque::new(),
            last: VecDeque::new(),
        }
    }
}

impl<T> FairQueue<T> {
    /// Adds an item after the client's others.
    pub(crate) fn push(&mut self, client: &ClientName, item: T) {
        if let Some(own) = self.by_client.get_mut(client) {
            own.push_back(item);
        } else {
            self.by_client
                .insert(Arc::clone(client), VecDeque::from([item]));
            self.turns.push_back(Arc::clone(client));
        }
    }

    /// Takes the next item.
    pub(crate) fn pop(&mut self, turn: impl Fn(&T) -> Turn) -> Option<T> {
        while let Some(client) = self.turns.pop_front() {
            let own = self.by_client.get_mut(&client)?;
            let item = own.pop_front()?;
            let turn = turn(&item);
            if own.is_empty() {
                self.by_client.remove(&client);
            } else if turn == Turn::Now {
                self.turns.push_back(client);
            } else {
                // It has had no turn yet.
                self.turns.push_front(client);
            }
            match turn {
                Turn::Now => return Some(item),
                Turn::Last => self.last.push_back(item),
                Turn::Gone => {}
            }
        }
        while let Some(item) = self.last.pop_front() {
            if turn(&item) != Turn::Gone {
                return Some(item);
            }
        }
        None
    }

    /// Drops what is not to stay.
    pub(crate) fn retain(&mut self, stays: impl Fn(&T) -> bool) {
        self.by_client.retain(|_, own| {
            own.retain(&stays);
            !own.is_empty()
        });
        self.turns
            .retain(|client| self.by_client.contains_key(client));
        self.last.retain(&stays);
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty() && self.last.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn queue(clients: impl IntoIterator<Item = usize>) -> FairQueue<usize> {
        let mut queue = FairQueue::default();
        for (number, client) in clients.into_iter().enumerate() {
            queue.push(&client.to_string().into(), number);
        }
        queue
    }

    #[test]
    fn what_nobody_waits_for_is_served_last() {
        let turn = |number: &usize| match number {
            0 | 2 | 3 => Turn::Last,
            6 => Turn::Gone,
            _ => Turn::Now,
        };
        let clients = [0, 1, 0, 1, 0, 1, 0];
        let mut all = queue(clients);
        let order: Vec<_> = std::iter::from_fn(|| all.pop(turn)).collect();
        assert_eq!(order, [4, 1, 5, 0, 2, 3]);
        assert!(all.is_empty());
        let mut some = queue(clients);
        assert_eq!(some.pop(turn), Some(4));
        some.retain(|number| turn(number) == Turn::Now);
        let order: Vec<_> = std::iter::from_fn(|| some.pop(turn)).collect();
        assert_eq!(order, [1, 5]);
    }

    proptest! {
        /// Of two clients that wait, neither is served twice more often than the other; each one's items keep their order.
        #[test]
        fn clients_take_turns(clients in prop::collection::vec(0..4usize, 0..40)) {
            let mut queue = queue(clients.iter().copied());
            let order: Vec<_> = std::iter::from_fn(|| queue.pop(|_| Turn::Now)).collect();
            prop_assert_eq!(order.len(), clients.len());
            prop_assert!(queue.is_empty());
            let mut served = [0usize; 4];
            for number in order {
                let client = clients[number];
                let waits = |of: usize| clients.iter().filter(|c| **c == of).count() > served[of];
                for (other, count) in served.iter().enumerate() {
                    prop_assert!(!waits(other) || served[client] <= *count, "{client} before {other}");
                }
                let own: Vec<usize> = (0..clients.len()).filter(|i| clients[*i] == client).collect();
                prop_assert_eq!(own[served[client]], number);
                served[client] += 1;
            }
        }
    }
}
