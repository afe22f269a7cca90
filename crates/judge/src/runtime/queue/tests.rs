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

#[test]
fn connections_of_one_address_have_places_together() {
    let owner = |client: &str| owner_of(&client.into()).to_string();
    assert_eq!(owner("10.0.0.1:5000"), "10.0.0.1");
    assert_eq!(owner("[::ffff:10.0.0.1]:5000"), "10.0.0.1");
    assert_eq!(owner("[::1]:6000"), "::");
    assert_eq!(owner("[2001:db8:1:2:3::4]:6000"), "2001:db8:1:2::");
    assert_eq!(owner("[2001:db8:1:2:ffff::]:7"), "2001:db8:1:2::");
    for name in ["run", "10.0.0.1", "a:5000", ""] {
        assert_eq!(owner(name), name);
    }
}

proptest! {
    /// Whoever is served has no more places than any other who waits for such; all are served, and long ones only when they may be.
    #[test]
    fn who_has_the_fewest_places_is_next(
        asked in prop::collection::vec((0..4u8, any::<bool>(), 0..4u8), 0..60),
        frees in prop::collection::vec(any::<(bool, usize)>(), 60),
    ) {
        let mut queue = PlaceQueue::default();
        for (number, (client, is_long, _)) in asked.iter().enumerate() {
            queue.push(&client.to_string().into(), *is_long, number);
        }
        // An item that nobody waits for.
        let turn = |number: &usize| if asked[*number].2 == 0 { Turn::Last } else { Turn::Now };
        let mut waiting: Vec<usize> = (0..asked.len()).collect();
        let mut has = [0usize; 4];
        for at in 0.. {
            let (takes_long, frees) = frees.get(at).copied().unwrap_or((true, 0));
            let places = |owner: &ClientName| has[owner.parse::<usize>().unwrap()];
            let Some((owner, number)) = queue.pop(takes_long, places, turn) else {
                let may = |number: &&usize| takes_long || !asked[**number].1;
                prop_assert_eq!(waiting.iter().find(may), None);
                if takes_long {
                    break;
                }
                continue;
            };
            let (client, is_long, _) = asked[number];
            prop_assert_eq!(owner.to_string(), client.to_string());
            prop_assert!(takes_long || !is_long);
            let is_last = turn(&number) == Turn::Last;
            for other in &waiting {
                let (other_client, other_long, _) = asked[*other];
                if (takes_long || !other_long) && (turn(other) == Turn::Last) == is_last {
                    prop_assert!(has[client as usize] <= has[other_client as usize]);
                }
                // What nobody waits for never comes before what somebody does.
                prop_assert!(!is_last || (other_long && !takes_long) || turn(other) == Turn::Last);
            }
            waiting.retain(|other| *other != number);
            has[client as usize] += 1;
            let freed = &mut has[frees % 4];
            *freed = freed.saturating_sub(1);
        }
        prop_assert!(waiting.is_empty());
    }

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
