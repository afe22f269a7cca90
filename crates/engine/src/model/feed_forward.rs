//! The part of a layer that works on each token separately: one gated layer, or the best of many.

use candle_core::{DType, Device, Tensor};

use super::cpu::elementwise::sigmoid;
use super::linear::Linear;
use super::{Result, cpu, ops};
use crate::checkpoint::config::{Activation, Experts, Scores};

/// The part of a layer after attention: from `[N, hidden]` to `[N, hidden]`.
pub(crate) enum FeedForward {
    /// One gated layer for every token.
    Dense(Gated),
    /// Many gated layers, of which a few are chosen for each token.
    Mixture(Box<Mixture>),
    /// Both, one beside the other.
    Beside(Box<Beside>),
}

/// A dense layer, and experts that work on the residual stream beside it (Gemma 4); each has norms of its own.
pub(crate) struct Beside {
    pub(crate) dense: Gated,
    /// The norm of the dense layer's result, `[hidden]`.
    pub(crate) dense_result_norm: Tensor,
    /// The norm before the experts.
    pub(crate) norm: Tensor,
    /// Ones: the router's norm has no weight.
    pub(crate) ones: Tensor,
    pub(crate) mixture: Mixture,
    pub(crate) result_norm: Tensor,
    pub(crate) eps: f32,
}

impl Beside {
    /// From the normed and the plain residual stream, `[N, hidden]` each, to `[N, hidden]`.
    fn forward(&self, x: &Tensor, residual: &Tensor) -> Result<Tensor> {
        let norm = |x: &Tensor, weight: &Tensor| ops::rms_norm(x, weight, self.eps);
        let dense = norm(&self.dense.forward(x)?, &self.dense_result_norm)?;
        let routed = norm(residual, &self.ones)?;
        let chosen = self.mixture.chosen(&norm(residual, &self.norm)?, &routed)?;
        Ok((dense + norm(&chosen, &self.result_norm)?)?)
    }
}

/// `down(activation(gate(x), up(x)))`
pub(crate) struct Gated {
    /// Gate and up in one product: `[2 · width, hidden]`.
    pub(crate) gate_up: Linear,
    /// `[hidden, width]`
    pub(crate) down: Linear,
    pub(crate) activation: Activation,
}

impl Gated {
    /// From `[N, hidden]` to `[N, hidden]`.
    pub(crate) fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        match self.activation {
            Activation::Silu => Linear::feed_forward(&self.gate_up, &self.down, x),
            Activation::Gelu => {
                let inner = ops::gelu_mul(&self.gate_up.forward(x)?)?;
                self.down.forward(&inner)
            }
            Activation::Clamped { alpha, limit } => {
                let inner = ops::clamped_swiglu(&self.gate_up.forward(x)?, alpha, limit)?;
                self.down.forward(&inner)
            }
        }
    }
}

/// A mixture of experts (<https://arxiv.org/abs/1701.06538>, as Qwen3-MoE has it): a router gives each token a probability
/// for every expert; the likeliest ones work on it, and their results are added by weight.
///
/// The router works in f32. Experts run one after the other in the order of their numbers, each over all its tokens, so a
/// token's sum has the same order whatever else is in the step.
pub(crate) struct Mixture {
    /// `[experts, hidden]`
    pub(crate) router: Linear,
    /// What is added to scores when experts are chosen.
    pub(crate) correction: Option<Vec<f32>>,
    pub(crate) experts: Vec<Gated>,
    /// The expert that works on every token, and the row `[1, hidden]` whose sigmoid is its weight, if that is not 1.
    pub(crate) shared: Option<(Gated, Option<Linear>)>,
    /// How many experts work on a token, and how they are weighted.
    pub(crate) config: Experts,
    /// What the weight of each expert is multiplied with, once a token's sum to 1.
    pub(crate) scales: Option<Vec<f32>>,
}

impl Mixture {
    /// From `[N, hidden]` to `[N, hidden]`.
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let chosen = self.chosen(x, x)?;
        let Some((expert, weight)) = &self.shared else {
            return Ok(chosen);
        };
        let result = expert.forward(x)?;
        let Some(weight) = weight else {
            return Ok((chosen + result)?);
        };
        let weight = candle_nn::ops::sigmoid(&weight.forward(x)?)?;
        Ok((chosen + result.broadcast_mul(&weight)?)?)
    }

    /// What the experts give for `x` that are chosen by `routed`, `[N, hidden]` both.
    fn chosen(&self, x: &Tensor, routed: &Tensor) -> Result<Tensor> {
        let (n, hidden) = x.dims2()?;
        let logits = self.router.forward(&routed.to_dtype(DType::F32)?)?;
        let logits = logits.to_device(&Device::Cpu)?.to_vec2::<f32>()?;
        let mut tokens = vec![(Vec::new(), Vec::new()); self.experts.len()];
        for (token, logits) in logits.iter().enumerate() {
            for (expert, weight) in route(logits, self.correction.as_deref(), &self.config) {
                tokens[expert].0.push(token as u32);
                let scale = self.scales.as_ref().map_or(1.0, |scales| scales[expert]);
                tokens[expert].1.push(weight * scale);
            }
        }
        let chosen = self
            .experts
            .iter()
            .zip(tokens)
            .filter(|(_, (tokens, _))| !tokens.is_empty());
        if !cpu::applies(x) {
            let mut out = Tensor::zeros((n, hidden), DType::F32, x.device())?;
            for (expert, (tokens, weights)) in chosen {
                let weights = Tensor::from_vec(weights, (tokens.len(), 1), x.device())?;
                let tokens = Tensor::new(tokens, x.device())?;
                let result = expert.forward(&x.index_select(&tokens, 0)?)?;
                let result = result.to_dtype(DType::F32)?.broadcast_mul(&weights)?;
                out = out.index_add(&tokens, &result, 0)?;
            }
            return Ok(out.to_dtype(x.dtype())?);
        }
        let mut out = vec![0.0f32; n * hidden];
        for (expert, (tokens, weights)) in chosen {
            let mut rows = Vec::with_capacity(tokens.len() * hidden);
            cpu::with_f32([x], |[x]| {
                for &token in &tokens {
                    rows.extend_from_slice(&x[token as usize * hidden..][..hidden]);
                }
                Ok(())
            })?;
            let rows = Tensor::from_vec(rows, (tokens.len(), hidden), x.device())?;
            cpu::with_f32([&expert.forward(&rows)?], |[result]| {
                for ((&token, weight), result) in
                    tokens.iter().zip(weights).zip(result.chunks_exact(hidden))
                {
                    let out = &mut out[token as usize * hidden..][..hidden];
                    for (out, x) in out.iter_mut().zip(result) {
                        *out = weight.mul_add(*x, *out);
                    }
                }
                Ok(())
            })?;
        }
        Ok(Tensor::from_vec(out, (n, hidden), x.device())?)
    }
}

/// The experts of one token and their weights, likeliest first; ties go to the lower number. A correction says who is chosen,
/// and nothing of the weights.
fn route(logits: &[f32], correction: Option<&[f32]>, config: &Experts) -> Vec<(usize, f32)> {
    let scores: Vec<f32> = match config.scores {
        Scores::Softmax => {
            let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            logits.iter().map(|logit| (logit - highest).exp()).collect()
        }
        Scores::Sigmoid => logits.iter().map(|logit| sigmoid(*logit)).collect(),
    };
    let correction = |expert: usize| correction.map_or(0.0, |correction| correction[expert]);
    let ranks = scores.iter().enumerate();
    let mut chosen: Vec<(usize, f32)> = ranks
        .map(|(at, score)| (at, score + correction(at)))
        .collect();
    let best_first = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let top = config.per_token.clamp(1, chosen.len());
    if top < chosen.len() {
        chosen.select_nth_unstable_by(top - 1, best_first);
        chosen.truncate(top);
    }
    chosen.sort_unstable_by(best_first);
    for (expert, weight) in &mut chosen {
        *weight = scores[*expert];
    }
    let total = match (config.normalise, config.scores) {
        (true, _) => chosen.iter().map(|(_, weight)| weight).sum(),
        (false, Scores::Softmax) => scores.iter().sum(),
        (false, Scores::Sigmoid) => 1.0f32,
    };
    // Sigmoids may all be zero in f32.
    let total = total.max(f32::MIN_POSITIVE);
    for (_, weight) in &mut chosen {
        *weight = *weight / total * config.scale as f32;
    }
    chosen
}

impl FeedForward {
    /// From the normed and the plain residual stream, `[N, hidden]` each, to `[N, hidden]`.
    pub(crate) fn forward(&self, x: &Tensor, residual: &Tensor) -> Result<Tensor> {
        match self {
            Self::Dense(gated) => Ok(gated.forward(x)?),
            Self::Mixture(mixture) => mixture.forward(x),
            Self::Beside(beside) => beside.forward(x, residual),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Experts, Scores, route};

    #[test]
    fn the_likeliest_experts_share_the_weight() {
        let config = |normalise| Experts {
            count: 4,
            per_token: 2,
            intermediate: 8,
            normalise,
            scores: Scores::Softmax,
            scale: 1.0,
            shared: None,
            first: 0,
            beside_dense: false,
            mxfp4: false,
            together: false,
        };
        let logits = [0.1f32.ln(), 0.4f32.ln(), 0.3f32.ln(), 0.2f32.ln()];
        let shares = route(&logits, None, &config(false));
        assert_eq!((shares[0].0, shares[1].0), (1, 2));
        assert!((shares[0].1 - 0.4).abs() < 1e-6 && (shares[1].1 - 0.3).abs() < 1e-6);
        let shares = route(&logits, None, &config(true));
        assert!((shares[0].1 - 4.0 / 7.0).abs() < 1e-6);
        // Ties go to the lower number.
        let equal: Vec<usize> = route(&[1.0; 4], None, &config(true))
            .iter()
            .map(|(expert, _)| *expert)
            .collect();
        assert_eq!(equal, [0, 1]);
        // Sigmoids of 0, 1, −1 and 2; the correction chooses the third and first, and weighs nothing.
        let config = Experts {
            scores: Scores::Sigmoid,
            scale: 2.5,
            ..config(true)
        };
        let correction = [0.5, 0.0, 0.9, 0.0];
        let chosen = route(&[0.0, 1.0, -1.0, 2.0], Some(&correction), &config);
        let shares = [0.5, 1.0 / (1.0 + 1f32.exp())];
        assert_eq!((chosen[0].0, chosen[1].0), (2, 0));
        assert!((chosen[0].1 - 2.5 * shares[1] / (shares[0] + shares[1])).abs() < 1e-6);
        let apart = Experts {
            normalise: false,
            ..config
        };
        let chosen = route(&[0.0, 1.0, -1.0, 2.0], None, &apart);
        assert!((chosen[1].1 - 2.5 / (1.0 + (-1f32).exp())).abs() < 1e-6);
        assert!(
            route(&[-200.0; 4], None, &config)
                .iter()
                .all(|(_, weight)| *weight == 0.0)
        );
    }
}
