//! Sampled tokens against those that the host chooses.

use candle_core::{DType, Device, Tensor};
use juror_engine::engine::sampler::choose;
use juror_engine::engine::{
    Allowed, Choices, RandomKey, RowRequest, Sampling, TokenLogprobs, TokenSet,
};
use juror_engine::model::cuda::SampleRequest;
use juror_engine::model::cuda::kernel::Kernels;
use juror_engine::model::cuda::sampling::{PackedRequests, Sampler};

use super::super::random;
use super::{Gpu, array};

#[test]
fn sampling_equals_the_host() {
    let gpu = Gpu::new(DType::BF16);
    let cuda = gpu.device.as_cuda_device().unwrap();
    let choices = Choices::yes_or_no(&[5, 700], &[6]);
    let odd: TokenSet = (0..150_000).filter(|token| token % 2 == 1).collect();
    let odd = Allowed::from(odd);
    let few = Allowed::from(TokenSet::from_iter([6, 700]));
    let mut other = 0;
    let mut count = 0;
    for vocab in [1000, 32_003, 151_936] {
        let rows = 64;
        let stride = usize::next_multiple_of(vocab, 8);
        let logits = random(14, (1, rows, vocab), DType::F32)
            .reshape((rows, vocab))
            .unwrap();
        let logits = (logits * 3.0).unwrap();
        let padding = Tensor::zeros((rows, stride - vocab), DType::F32, &Device::Cpu).unwrap();
        let there = Tensor::cat(&[&logits, &padding], 1)
            .unwrap()
            .contiguous()
            .unwrap()
            .to_device(&gpu.device)
            .unwrap();
        let requests: Vec<RowRequest> = (0..rows)
            .map(|row| RowRequest {
                sampling: Sampling {
                    temperature: [0.0, 0.6, 1.0, 2.0][row % 4],
                    top_k: [0, 1, 20, 0][row / 4 % 4],
                    top_p: [1.0, 0.95, 0.5][row % 3],
                    min_p: [0.0, 0.1][row / 32],
                },
                key: RandomKey {
                    seed: 1,
                    sample: row as u64,
                    trial: 0,
                },
                position: 3,
                allowed: [None, Some(&odd), Some(&few), None][row / 2 % 4],
                choices: (row % 2 == 0).then_some(&choices),
                logprobs: (row % 5 < 2).then_some(row % 7),
            })
            .collect();
        let expected = choose(&logits, &requests).unwrap();
        let packed: Vec<_> = requests.iter().map(SampleRequest::from).collect();
        let packed = PackedRequests::new(&packed, vocab);
        let mut sampler = Sampler::new(cuda, &mut Kernels::new(cuda), rows).unwrap();
        let [words, lists, wanted] = [&packed.requests, &packed.lists, &packed.with_logprobs]
            .map(|part| array(&gpu.words(part)));
        sampler
            .launch(
                array(&there).all(),
                (rows, vocab, stride),
                (words.all(), lists.all(), wanted.all()),
                packed.with_logprobs,
            )
            .unwrap();
        let ours = sampler.collect().unwrap();
        let values = logits.to_vec2::<f32>().unwrap();
        for (row, (ours, expected)) in ours.iter().zip(&expected).enumerate() {
            let (request, expected) = (&requests[row], expected.as_ref().unwrap());
            count += 1;
            assert_eq!(ours.logprobs.is_some(), request.logprobs.is_some());
            if let (Some((own, top)), Some(wanted)) = (&ours.logprobs, request.logprobs) {
                let known = TokenLogprobs::from_logits(&values[row], ours.token.unwrap(), wanted);
                let tokens = |top: &[(u32, f32)]| top.iter().map(|one| one.0).collect::<Vec<_>>();
                assert_eq!(tokens(top), tokens(&known.top));
                let ours = top.iter().map(|one| one.1).chain([*own]);
                let known = known.top.iter().map(|one| one.1).chain([known.logprob]);
                for (ours, known) in ours.zip(known) {
                    assert!((ours - known).abs() < 1e-5, "{ours} instead of {known}");
                }
            }
            if ours.token != Some(expected.token) {
                assert!(request.sampling.temperature > 0.0, "greedy is exact");
                other += 1;
            } else if let Some(number) = expected.expected {
                assert!((ours.expected.unwrap() - number).abs() < 1e-4);
            } else {
                assert_eq!(ours.expected, None);
            }
        }
    }
    println!(
        "measured | sampled tokens | {} of {count} the same | all but 2 %",
        count - other
    );
    assert!(other * 50 <= count, "{other} of {count} differ");
    // No numbers, no token.
    let nan = Tensor::full(f32::NAN, (1, 1000), &gpu.device).unwrap();
    let request = SampleRequest {
        draw: 0.5,
        temperature: 1.0,
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
        choices: &[],
        numbers: &[],
        mask: None,
        logprobs: None,
    };
    // A mask that allows nothing has room of its own, though it is as empty as the choices.
    let masked = SampleRequest {
        mask: Some(&[]),
        ..request
    };
    assert_eq!(PackedRequests::new(&[masked], 1000).lists, [0; 32]);
    let packed = PackedRequests::new(&[request], 1000);
    let mut sampler = Sampler::new(cuda, &mut Kernels::new(cuda), 1).unwrap();
    let words = array(&gpu.words(&packed.requests));
    sampler
        .launch(
            array(&nan).all(),
            (1, 1000, 1000),
            (
                words.all(),
                words.part(0..0).unwrap(),
                words.part(0..0).unwrap(),
            ),
            packed.with_logprobs,
        )
        .unwrap();
    assert_eq!(sampler.collect().unwrap()[0].token, None);
}
