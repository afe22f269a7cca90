use super::{PackedRequests, REQUEST_WORDS, SampleRequest};

#[test]
fn requests_are_packed_as_the_kernel_reads_them_and_share_their_lists() {
    let (choices, numbers, mask) = (vec![7, 8, 9], vec![1.0, 1.0, 0.0], vec![0b1011, 1]);
    let request = SampleRequest {
        draw: 0.25,
        temperature: 0.7,
        top_k: 20,
        top_p: 0.95,
        min_p: 0.0,
        choices: &choices,
        numbers: &numbers,
        mask: Some(&mask),
        logprobs: None,
    };
    let none = SampleRequest {
        logprobs: Some(3),
        choices: &[],
        numbers: &[],
        mask: None,
        ..request
    };
    let packed = PackedRequests::new(&[request, none, request], 70);
    let one = 1f32.to_bits();
    assert_eq!(packed.lists, [7, 8, 9, one, one, 0, 0b1011, 1, 0]);
    assert_eq!(packed.with_logprobs, [1, 3]);
    assert_eq!(packed.requests.len(), 3 * REQUEST_WORDS);
    let number = |row: usize, at: usize| {
        let words = &packed.requests[row * REQUEST_WORDS + 2 * at..][..2];
        u64::from(words[0]) | u64::from(words[1]) << 32
    };
    assert_eq!(
        [0, 1, 2, 3].map(|at| number(2, at)),
        [0.25f64, 0.7, 0.95, 0.0].map(f64::to_bits)
    );
    assert_eq!(packed.requests[8..12], [20, 0, 3, 6]);
    assert_eq!(
        packed.requests[REQUEST_WORDS + 10..][..2],
        [0, super::NO_MASK]
    );
    assert_eq!(packed.requests[2 * REQUEST_WORDS + 8..], [20, 0, 3, 6]);
}
