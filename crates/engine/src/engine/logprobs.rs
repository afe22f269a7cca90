//! Log-probabilities of tokens, for requests that ask for them.

/// How likely a chosen token was, and which tokens were likeliest in its place.
///
/// Log-probabilities are natural logarithms of the softmax of the model's logits over the whole vocabulary: before the
/// temperature, before top-k, top-p and min-p, and before a guide says which tokens may be chosen. A token that a guide has
/// forced may thus be unlikely, and need not be among the likeliest.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenLogprobs {
    /// The chosen token's.
    pub logprob: f32,
    /// The likeliest tokens with theirs, likeliest first, ties by token id; as many as the request asks for, unless fewer are
    /// possible at all.
    pub top: Vec<(u32, f32)>,
}

impl TokenLogprobs {
    /// The log-probabilities of `token` and of the `count` likeliest tokens, from a row of logits without NaN. `token` is an
    /// index of the row.
    pub fn of(logits: &[f32], token: u32, count: usize) -> Self {
        let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mass = |logit: &f32| f64::from(logit - highest).exp();
        let total = f64::from(highest) + logits.iter().map(mass).sum::<f64>().ln();
        let logprob = |logit: f32| (f64::from(logit) - total) as f32;
        let top = likeliest(logits, count);
        Self {
            logprob: logprob(logits[token as usize]),
            top: top
                .into_iter()
                .map(|(token, logit)| (token, logprob(logit)))
                .collect(),
        }
    }
}

/// The `count` highest logits with their tokens, highest first, ties by token; tokens at minus infinity are left out.
fn likeliest(logits: &[f32], count: usize) -> Vec<(u32, f32)> {
    let mut top: Vec<(u32, f32)> = Vec::new();
    let mut least = f32::NEG_INFINITY;
    for (token, &logit) in (0..).zip(logits) {
        // Of equal logits the first, that of the lower token, is kept.
        if count == 0 || logit <= least {
            continue;
        }
        if top.len() == count {
            top.pop();
        }
        let place = top.partition_point(|other| other.1 >= logit);
        top.insert(place, (token, logit));
        if top.len() == count {
            least = top[count - 1].1;
        }
    }
    top
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_row_of_known_probabilities() {
        let never = f32::NEG_INFINITY;
        let row = [0.1f32, 0.4, 0.0, 0.1, 0.4].map(|p| if p > 0.0 { p.ln() + 7.0 } else { never });
        let known = TokenLogprobs::of(&row, 3, 9);
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
        assert_eq!(TokenLogprobs::of(&row, 3, 3).top, known.top[..3]);
        assert_eq!(TokenLogprobs::of(&row, 3, 0).top, []);
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
}
