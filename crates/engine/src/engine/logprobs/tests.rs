use proptest::prelude::*;

use super::*;

#[test]
fn a_row_of_known_probabilities() {
    let never = f32::NEG_INFINITY;
    let row = [0.1f32, 0.4, 0.0, 0.1, 0.4].map(|p| if p > 0.0 { p.ln() + 7.0 } else { never });
    let known = TokenLogprobs::from_logits(&row, 3, 9);
    let close = |ours: f32, probability: f32| (ours - probability.ln()).abs() < 1e-6;
    assert!(close(known.logprob, 0.1), "{known:?}");
    let tokens: Vec<u32> = known.top.iter().map(|top| top.0).collect();
    assert_eq!(
        tokens,
        [1, 4, 0, 3],
        "ties by token, and what is impossible left out"
    );
    assert!(
        close(known.top[0].1, 0.4) && close(known.top[3].1, 0.1),
        "{known:?}"
    );
    assert_eq!(TokenLogprobs::from_logits(&row, 3, 3).top, known.top[..3]);
    assert_eq!(TokenLogprobs::from_logits(&row, 3, 0).top, []);
}

proptest! {
    #[test]
    fn the_likeliest_are_the_beginning_of_all_in_order(
        logits in prop::collection::vec(-4i8..4, 1..60), count in 0..70usize,
    ) {
        let logits: Vec<f32> = logits.into_iter().map(f32::from).collect();
        let mut all: Vec<(u32, f32)> = (0..).zip(logits.iter().copied()).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all.truncate(count);
        prop_assert_eq!(likeliest(&logits, count), all);
    }
}
