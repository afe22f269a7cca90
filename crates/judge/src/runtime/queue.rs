//! A queue for each client, of which each in turn gives one item.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// Who asks: a client of the server, or the whole of a run.
pub(crate) type ClientName = Arc<str>;

/// When an item is served whose client's turn has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Now,
    /// When nothing else is there: nobody waits for it.
    Last,
    /// Never: it was served in another's turn.
    Gone,
}

/// A queue that is fair between clients: whoever waits with one item is served before another's second. The items of one client keep their order.
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

    #[cfg(any(feature = "serve", test))]
    pub(crate) fn pop(&mut self, turn: impl Fn(&T) -> Turn) -> Option<T> {
        self.pop_wanted(&turn).or_else(|| self.pop_last(&turn))
    }

    /// Takes the next item that somebody waits for.
    fn pop_wanted(&mut self, turn: &impl Fn(&T) -> Turn) -> Option<T> {
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
        None
    }

    /// Takes the next of the items that nobody waits for; what is wanted was taken before.
    fn pop_last(&mut self, turn: &impl Fn(&T) -> Turn) -> Option<T> {
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

    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty() && self.last.is_empty()
    }
}

/// A queue for places, of which short work is kept some. Who has the fewest places is served first: a client, or all connections of one
/// address together. Between these and between connections turns go round, and of each short and long work take turns.
#[derive(Debug)]
pub(crate) struct PlaceQueue<T> {
    by_owner: HashMap<ClientName, [FairQueue<T>; 2]>,
    /// Who has items, in the order of their turns, and whether the next is a long one.
    turns: VecDeque<(ClientName, bool)>,
}

impl<T> Default for PlaceQueue<T> {
    fn default() -> Self {
        Self {
            by_owner: HashMap::new(),
            turns: VecDeque::new(),
        }
    }
}

/// To whom the places of a client are counted: one that is known by its address alone has as many as all others there; of IPv6, as all
/// of its /64, any address of which a machine may take.
pub(crate) fn owner_of(client: &ClientName) -> ClientName {
    let address: Result<SocketAddr, _> = client.parse();
    match address.map(|at| at.ip().to_canonical()) {
        Ok(IpAddr::V4(ip)) => ip.to_string().into(),
        Ok(IpAddr::V6(ip)) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)
            .to_string()
            .into(),
        Err(_) => Arc::clone(client),
    }
}

impl<T> PlaceQueue<T> {
    /// Adds an item after the client's others of its kind.
    pub(crate) fn push(&mut self, client: &ClientName, is_long: bool, item: T) {
        let owner = owner_of(client);
        let own = self.by_owner.entry(Arc::clone(&owner)).or_insert_with(|| {
            self.turns.push_back((owner, false));
            Default::default()
        });
        own[usize::from(is_long)].push(client, item);
    }

    /// Takes the next item, long ones only if `takes_long`, with whose it is; `places` says how many somebody has.
    pub(crate) fn pop(
        &mut self,
        takes_long: bool,
        places: impl Fn(&ClientName) -> usize,
        turn: impl Fn(&T) -> Turn,
    ) -> Option<(ClientName, T)> {
        // What nobody waits for comes after all else.
        for is_wanted in [true, false] {
            let mut passed = HashSet::new();
            loop {
                let by_owner = &self.by_owner;
                let may_have = |owner: &ClientName| {
                    let own = by_owner.get(owner);
                    own.is_some_and(|own| takes_long || !own[0].is_empty())
                        && !passed.contains(owner)
                };
                let waiting = self.turns.iter().enumerate();
                let waiting = waiting.filter(|(_, (owner, _))| may_have(owner));
                let next = waiting.min_by_key(|(at, (owner, _))| (places(owner), *at));
                let Some((at, (owner, is_long))) = next else {
                    break;
                };
                let (owner, is_long) = (Arc::clone(owner), *is_long);
                let own = self.by_owner.get_mut(&owner)?;
                let mut take = |is_long: bool| {
                    let queue = &mut own[usize::from(is_long)];
                    let item = match (is_long && !takes_long, is_wanted) {
                        (true, _) => None,
                        (false, true) => queue.pop_wanted(&turn),
                        (false, false) => queue.pop_last(&turn),
                    };
                    Some((is_long, item?))
                };
                let taken = take(is_long).or_else(|| take(!is_long));
                let is_empty = own.iter().all(FairQueue::is_empty);
                if is_empty {
                    self.by_owner.remove(&owner);
                }
                if is_empty || taken.is_some() {
                    self.turns.remove(at);
                }
                let Some((was_long, item)) = taken else {
                    passed.insert(owner);
                    continue;
                };
                if !is_empty {
                    self.turns.push_back((Arc::clone(&owner), !was_long));
                }
                return Some((owner, item));
            }
        }
        None
    }

    /// Drops what is not to stay.
    pub(crate) fn retain(&mut self, stays: impl Fn(&T) -> bool) {
        self.by_owner.retain(|_, own| {
            for queue in own.iter_mut() {
                queue.retain(&stays);
            }
            !own.iter().all(FairQueue::is_empty)
        });
        self.turns
            .retain(|(owner, _)| self.by_owner.contains_key(owner));
    }
}

#[cfg(test)]
mod tests;
