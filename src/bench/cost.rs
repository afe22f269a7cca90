//! The least cost of a run: the operations that its tokens need, and the bytes that its steps must read.

use super::measure::{Measured, RequestTimes};
use super::recorder::Step;
use super::report::Context;
use juror_engine::checkpoint::ModelConfig;
use juror_engine::model::attention::{CacheLayout, kv_bytes_per_token};
use juror_engine::model::memory::MXFP4_BITS;

/// Floating-point operations that a run's tokens need: two for each weight a token meets, the scores and weighted values
/// of attention, and the output head for every token chosen.
pub(super) fn operations(run: &Measured, model: &ModelConfig) -> f64 {
    let layout = CacheLayout::from(model);
    let request = |request: &RequestTimes| {
        // The last token is chosen but not put through the model.
        let (from, to) = (request.cached, request.prompt + request.output - 1);
        // Through layers that attend to another's keys go only tokens whose logits are wanted.
        let sharing = model.sharing_layer_parameters();
        let own = model.active_layer_parameters() - sharing;
        let layers = 2.0 * (own * (to - from) + sharing * request.output) as f64;
        let head = 2.0 * (model.vocab * model.hidden * request.output) as f64;
        let shapes = layout.layers(model).enumerate();
        let keys = shapes.map(|(layer, (window, shape))| {
            let own = layer < model.first_sharing();
            let from = if own { from } else { to - request.output };
            (shape.heads * shape.head_dim) as f64 * (seen(to, window) - seen(from, window))
        });
        let keys: f64 = keys.sum();
        layers + 4.0 * keys + head
    };
    run.requests.iter().map(request).sum()
}

/// How many keys the first `tokens` tokens of a sequence see in a layer, in total.
fn seen(tokens: usize, window: Option<usize>) -> f64 {
    let full = tokens.min(window.unwrap_or(tokens));
    full as f64 * (full + 1) as f64 / 2.0 + (tokens - full) as f64 * full as f64
}

/// The fewest bytes that a run's steps must read.
pub(super) fn bytes(run: &Measured, context: &Context) -> f64 {
    let (model, precision) = (context.model, context.precision);
    let head = (model.vocab * model.hidden) as f64 * precision.weights.for_head().bits();
    let layout = CacheLayout::from(model);
    let per_token = model.active_layer_parameters() as f64;
    let tables = model.vocab * model.hidden + model.input_table();
    let all = (model.parameters() - tables) as f64;
    // Rows of a table alone are read of what layers get of a token, as stored, normally in 16 bits.
    let inputs = model.layer_inputs.map_or(0, |inputs| inputs.width) * 2 * model.layers;
    let packed = context.packed as f64;
    let step = |step: &Step| {
        // Of a mixture's experts, as many as the step's tokens can reach; the packed weights are those of experts.
        let tokens = (step.prefill_tokens + step.decode_tokens) as f64;
        let weights = (per_token * tokens).min(all).max(per_token);
        let packed = (weights - (all - packed)).clamp(0.0, packed);
        let bits = (weights - packed) * precision.weights.bits() + packed * MXFP4_BITS;
        let cached = step.used_blocks * context.engine.block_size;
        let keys = layout.layers(model).map(|(window, shape)| {
            let seen = window.map_or(cached, |window| cached.min(step.rows * window));
            seen * kv_bytes_per_token(&shape, precision.kv)
        });
        let keys: usize = keys.sum();
        (bits + head) / 8.0 + tokens * inputs as f64 + keys as f64
    };
    run.record.steps.iter().map(step).sum()
}

#[cfg(test)]
mod tests {
    use super::seen;

    #[test]
    fn windows_bound_what_is_seen() {
        for tokens in [0, 1, 7, 8, 9, 100] {
            for window in [None, Some(1), Some(8), Some(1000)] {
                let token = |index: usize| (index + 1).min(window.unwrap_or(usize::MAX));
                let sum: usize = (0..tokens).map(token).sum();
                let far = (seen(tokens, window) - sum as f64).abs();
                assert!(far < 1e-9, "{tokens}, {window:?}");
            }
        }
    }
}
