use std::time::{Duration, Instant};

use super::Breakdown;
use crate::bench::recorder::Step;
use juror_engine::model::profile::{Phase, Span};

#[test]
fn every_part_of_the_steps_is_somewhere() {
    let start = Instant::now();
    let ms = Duration::from_millis;
    let step = |at: u64, prefill_tokens, decode_tokens| Step {
        started: start + ms(at),
        duration: ms(100),
        model: ms(90),
        host: ms(10),
        rows: 1,
        prefill_tokens,
        decode_tokens,
        generated: decode_tokens,
        used_blocks: 1,
    };
    let span = |phase, at: u64, length: u64| Span {
        phase,
        start: start + ms(at),
        duration: ms(length),
    };
    let spans = [
        span(Phase::Gemm, 5, 40),
        span(Phase::Attention, 50, 30),
        span(Phase::Gemm, 105, 20),
        span(Phase::Attention, 130, 10),
        span(Phase::Head, 150, 5),
    ];
    let steps = [step(0, 30, 10), step(100, 0, 8)];
    assert_eq!(Breakdown::new(&steps, &[]), None);
    let sum = Breakdown::new(&steps, &spans).unwrap();
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    close(sum.prefill_gemm_s, 0.030);
    close(sum.decode_gemm_s, 0.030);
    close(sum.prefill_attention_s, 0.030);
    close(sum.decode_attention_s, 0.010);
    close(sum.sampling_s, 0.020 + 0.055);
    close(sum.parts().iter().map(|(_, seconds)| seconds).sum(), 0.2);
}
