//! Attention with sinks, by each of the kernels that write results: against the same attention without, whose share the
//! log-sum-exp tells.

use candle_core::{DType, Device, Tensor};
use juror_engine::model::attention::{AttentionOutput, AttentionShape};
use juror_engine::model::cuda::array::Array;
use juror_engine::model::cuda::kernel::Kernels;
use juror_engine::model::cuda::operations::{HeadsForm, HeadsLayer, Operations, Tokens};
use juror_engine::model::cuda::paged::{AttendedLayer, CacheSettings, PagedCache};
use juror_engine::model::cuda::plan::AttentionPlan;
use juror_engine::model::ops;

use super::paged::{Blocks, Sequence, step};
use super::{Difference, floats, gpu, random};

const HEADS: usize = 8;
const KV_HEADS: usize = 2;
const HEAD_DIM: usize = 64;
const BLOCK: usize = 16;

fn array(tensor: &Tensor) -> Array {
    Array::from_tensor(tensor).unwrap()
}

#[test]
fn sinks_take_their_share() {
    let device = gpu();
    let cuda = device.as_cuda_device().unwrap();
    let dtype = DType::F16;
    let mut kernels = Kernels::new(cuda);
    let operations = Operations::load(&mut kernels, dtype).unwrap();
    let settings = CacheSettings {
        shape: AttentionShape {
            layers: 1,
            heads: HEADS,
            kv_heads: KV_HEADS,
            head_dim: HEAD_DIM,
            softcap: None,
        },
        scale: (HEAD_DIM as f32).sqrt().recip(),
        blocks: 400,
        block_size: BLOCK,
        dtype,
        kv: dtype,
        shared_prefix: true,
        tokens: 1024,
    };
    let cache = PagedCache::new(cuda, &mut kernels, &settings, &[]).unwrap();
    // Every key and value is there: one long row has written them, in the order of the blocks.
    let slots: Vec<u32> = (0..400 * BLOCK as u32).collect();
    let width = (HEADS + 2 * KV_HEADS) * HEAD_DIM;
    let there = |x: &Tensor| x.to_device(&device).unwrap();
    let qkv = there(&random(1, (slots.len(), 1, width), dtype));
    let words = |words: &[u32]| array(&Tensor::new(words, &device).unwrap());
    let full = |value: f32| array(&Tensor::full(value, HEAD_DIM / 2, &device).unwrap());
    let (ones, zeros, angles, places) = (
        full(1.0),
        full(0.0),
        words(&vec![0; slots.len()]),
        words(&slots),
    );
    let all = Tensor::zeros((slots.len(), HEADS * HEAD_DIM), dtype, &device).unwrap();
    let (keys, values, kv_scales) = cache.layer(0).unwrap();
    let layer = HeadsLayer {
        heads: HEADS,
        kv_heads: KV_HEADS,
        head_dim: HEAD_DIM,
        norms: None,
        form: HeadsForm::default(),
        query_scales: None,
        eps: 1.0,
        cos: ones.all(),
        sin: zeros.all(),
        keys,
        values,
        kv_scales,
    };
    let tokens = Tokens {
        count: slots.len(),
        ids: angles.all(),
        angles: angles.all(),
        slots: places.all(),
    };
    operations
        .split_heads(array(&all).all(), array(&qkv).all(), &tokens, &layer)
        .unwrap();
    // A tile of a prefill row, a decode row in splits, short ones, and two under a prefix.
    let mut blocks = Blocks::new(400, BLOCK);
    let mut sequences: Vec<Sequence> = [(300, 200), (2000, 1999), (20, 19), (1, 0), (700, 699)]
        .into_iter()
        .map(|(length, cached)| Sequence {
            cached,
            ..blocks.sequence(&vec![0; length])
        })
        .collect();
    sequences.push(Sequence {
        cached: 699,
        ..sequences[4].clone()
    });
    let mut parts: Vec<_> = sequences
        .iter_mut()
        .map(|sequence| {
            let count = sequence.tokens.len() - sequence.cached;
            (sequence, count)
        })
        .collect();
    let batch = step(&mut parts, BLOCK);
    let n = batch.tokens.len();
    let q = there(&random(2, (n, HEADS, HEAD_DIM), dtype));
    let sinks: Vec<f32> = (0..HEADS).map(|head| head as f32 * 2.0 - 3.0).collect();
    let sinks_there = array(&Tensor::new(sinks.as_slice(), &device).unwrap());
    let windows = [None, Some(90)];
    let plan = AttentionPlan::new(&batch, cache.plan_settings(), &windows).unwrap();
    let plan_words = words(&plan.words);
    for window in windows {
        let work = plan.for_window(window).unwrap();
        assert!(work.prefill.count > 0 && work.decode.count > 0);
        assert_eq!(work.merges.count > 0, window.is_none());
        let attend = |sinks| {
            let output = Tensor::zeros((n, HEADS, HEAD_DIM), dtype, &device).unwrap();
            let lse = Tensor::zeros((n, HEADS), DType::F32, &device).unwrap();
            let (queries, out, sums) = (array(&q), array(&output), array(&lse));
            let layer = AttendedLayer {
                index: 0,
                window,
                sinks,
                q: queries.all(),
                out: out.all(),
                lse: sums.all(),
            };
            cache.attend(&layer, &plan, plan_words.all()).unwrap();
            let on_cpu = |x: Tensor| {
                let x = x.to_device(&Device::Cpu).unwrap();
                x.to_dtype(DType::F32).unwrap()
            };
            AttentionOutput {
                output: on_cpu(output),
                lse: on_cpu(lse),
            }
        };
        let (without, with) = (attend(None), attend(Some(sinks_there.all())));
        let on_cpu = Tensor::new(sinks.as_slice(), &Device::Cpu).unwrap();
        let expected = ops::share_with_sinks(&without, &on_cpu).unwrap();
        let mut difference = Difference::default();
        difference.add(&floats(&with.output), &floats(&expected));
        assert_eq!(floats(&with.lse), floats(&without.lse));
        println!(
            "measured | attention with sinks, window {window:?} | worst {:.1e}, mean {:.1e} | 3e-3",
            difference.worst,
            difference.mean()
        );
        // Both were rounded to f16, around 1.
        assert!(difference.worst < 3e-3, "{:e}", difference.worst);
    }
}
