//! Log-probabilities of tokens, for requests that ask for them.

/// How likely a chosen token was, and which tokens were likeliest in its place.
///
/// Log-probabilities are natural logarithms of the softmax of the model's logits over the whole vocabulary: before the
/// temperature, before top-k, top-p and min-p, and before a guide says which tokens may be chosen. A token that a guide has
/// forced may thus be unlikely, and need not be among the likeliest.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenLogprobs {
    pub logprob: f32,
    /// The likeliest tokens with theirs, likeliest first, ties by token id; as many as the request asks for, unless fewer are possible at all.
    pub top: Vec<(u32, f32)>,
}

impl TokenLogprobs {
    /// The log-probabilities of `token` and of the `count` likeliest tokens, from a row of logits without NaN. `token` is an index of the row.
    pub fn from_logits(logits: &[f32], token: u32, count: usize) -> Self {
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
mod tests;
