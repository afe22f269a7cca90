use super::*;

fn step(drafting: &mut Drafting, rows: usize, cost: f64, accept: [usize; 2]) -> usize {
    let depth = drafting.depth(rows);
    let by_three = depth[1] > depth[0];
    let most = depth[usize::from(by_three)];
    let draft = Draft {
        tokens: vec![0; most],
        by_three,
    };
    let drafted_tokens = rows * most;
    let seconds = 0.010 + cost * 0.010 / rows as f64 * drafted_tokens as f64;
    for _ in 0..if most > 0 { rows } else { 0 } {
        drafting.accepted(&draft, accept[usize::from(by_three)].min(most));
    }
    let size = StepSize {
        rows,
        prefill_tokens: 0,
        decode_tokens: rows + drafted_tokens,
        drafted_tokens,
    };
    drafting.measured(size, Duration::from_secs_f64(seconds));
    most
}

#[test]
fn drafts_are_made_as_far_as_they_pay() {
    for (cost, accepted, expected) in [(0.2, 3, 3), (0.2, 1, 1), (0.2, 0, 0), (1.1, 3, 0)] {
        let mut drafting = Drafting::new(Drafts::Auto);
        let drafted: Vec<usize> = (0..1000)
            .map(|_| step(&mut drafting, 4, cost, [accepted; 2]))
            .collect();
        let usual = drafted.iter().filter(|&&most| most == expected).count();
        assert!(usual > 900, "{cost} {accepted}: {usual} times {expected}");
        let tried = drafted.iter().filter(|&&most| most == DEPTH).count();
        assert!(tried >= 8, "later changes would go unseen");
    }
}

#[test]
fn a_price_is_that_of_its_number_of_rows() {
    let mut drafting = Drafting::new(Drafts::Auto);
    for _ in 0..300 {
        step(&mut drafting, 1, 0.1, [2; 2]);
        step(&mut drafting, 33, 2.0, [2; 2]);
    }
    let far =
        |drafting: &mut Drafting, rows| (0..40).filter(|_| drafting.depth(rows)[0] > 0).count();
    assert!(far(&mut drafting, 1) > 30);
    assert!(far(&mut drafting, 33) < 3);
}

#[test]
fn what_last_followed_is_drafted_and_three_tokens_come_before_two() {
    let mut lookup = Lookup::default();
    let mut tokens = vec![9, 1, 2, 5, 6, 7, 8, 1, 2, 4, 3, 9, 1, 2];
    let mut draft = |tokens: &[u32], room| lookup.draft(tokens, [2, 3], room);
    let found = draft(&tokens, 9);
    assert_eq!((found.tokens, found.by_three), (vec![5, 6, 7], true));
    assert_eq!(draft(&tokens, 1).tokens, [5]);
    tokens.extend([9, 8, 1, 2]);
    assert_eq!(draft(&tokens, 9).tokens, [4, 3, 9]);
    tokens.extend([0, 1, 2]);
    // Last followed by 0, what was drafted before.
    let found = draft(&tokens, 9);
    assert_eq!((found.tokens, found.by_three), (vec![0, 1], false));
    tokens.extend([30, 31]);
    assert!(draft(&tokens, 9).tokens.is_empty());
    tokens.extend([31, 31]);
    assert_eq!(draft(&tokens, 9).tokens, [31, 31]);
    assert!(Lookup::default().draft(&[1], [2, 3], 9).tokens.is_empty());
}

#[test]
fn a_number_is_a_limit_and_nothing_else_is_taken() {
    assert_eq!("auto".parse(), Ok(Drafts::Auto));
    assert_eq!("0".parse(), Ok(Drafts::Off));
    assert_eq!("3".parse(), Ok(Drafts::Most(3)));
    for wrong in ["16", "-1", "", "many"] {
        assert!(wrong.parse::<Drafts>().is_err(), "{wrong}");
    }
}
