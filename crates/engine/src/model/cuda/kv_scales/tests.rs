use super::*;

const HIDDEN: usize = 64;
const HEAD: usize = 8;

fn numbers(count: usize, seed: f64, size: f64) -> Tensor {
    let index = Tensor::arange(0, count as u32, &Device::Cpu).unwrap();
    let index = index.to_dtype(DType::F32).unwrap();
    let angles = ((index * 12.9898).unwrap() + seed).unwrap();
    (angles.sin().unwrap() * size).unwrap()
}

fn projection<'a>(
    weight: &'a Tensor,
    bias: Option<&'a Tensor>,
    norm: &'a Tensor,
    key_norm: Option<&'a Tensor>,
) -> KvProjection<'a> {
    KvProjection {
        weight,
        bias,
        norm,
        key_norm,
        kv_heads: 2,
        head_dim: HEAD,
    }
}

fn scales(size: f64, bias: f64, key_norm: Option<f64>) -> std::result::Result<KvScales, String> {
    let rows = 6 * HEAD;
    let weight = numbers(rows * HIDDEN, 1.0, size).reshape((rows, HIDDEN));
    let (weight, norm) = (weight.unwrap(), numbers(HIDDEN, 2.0, 1.0));
    let bias = (bias > 0.0).then(|| numbers(rows, 3.0, bias));
    let key_norm = key_norm.map(|size| numbers(HEAD, 4.0, size));
    projection(&weight, bias.as_ref(), &norm, key_norm.as_ref())
        .scales()
        .unwrap()
}

#[test]
fn nothing_exceeds_what_e4m3_holds() {
    let rows = 6 * HEAD;
    for (size, bias) in [(0.1, 0.0), (2.0, 5.0), (30.0, 300.0)] {
        let weight = numbers(rows * HIDDEN, 1.0, size);
        let weight = weight.reshape((rows, HIDDEN)).unwrap();
        let (bias, norm) = (numbers(rows, 3.0, bias), numbers(HIDDEN, 2.0, 1.0));
        let scales = projection(&weight, Some(&bias), &norm, None)
            .scales()
            .unwrap()
            .unwrap();
        for row in 2 * HEAD..rows {
            // The input for which this output is largest.
            let worst = (weight.get(row).unwrap() * &norm).unwrap();
            let length = worst.sqr().unwrap().sum_all().unwrap().sqrt().unwrap();
            let input = worst.broadcast_div(&length).unwrap();
            let input = ((input * (HIDDEN as f64).sqrt()).unwrap() * &norm).unwrap();
            let output = (weight.get(row).unwrap() * input)
                .unwrap()
                .sum_all()
                .unwrap();
            let output = output.to_scalar::<f32>().unwrap()
                + bias.get(row).unwrap().to_scalar::<f32>().unwrap().abs();
            let head = row / HEAD - 2;
            let (scale, rotated) = match head.checked_sub(2) {
                None => (scales.keys[head], std::f32::consts::SQRT_2),
                Some(head) => (scales.values[head], 1.0),
            };
            assert!(
                output * rotated <= 1.001 * LARGEST * scale,
                "{output} under {scale}"
            );
        }
    }
}

#[test]
fn what_is_small_or_normed_is_left_as_it_is() {
    assert_eq!(scales(0.1, 0.0, None).unwrap(), KvScales::ones(2));
    // Large projections, but the keys are normed; the values are not.
    let normed = scales(30.0, 300.0, Some(2.0)).unwrap();
    assert_eq!(normed.keys, [1.0, 1.0]);
    assert!(normed.values.iter().all(|scale| *scale > 1.0), "{normed:?}");
    let large = scales(0.1, 0.0, Some(300.0)).unwrap();
    assert!(large.keys.iter().all(|scale| *scale > 1.0), "{large:?}");
}

#[test]
fn a_bias_that_hides_the_keys_is_named() {
    let reason = scales(0.1, 400.0, None).unwrap_err();
    assert!(
        reason.contains("key head 0 has a bias of") && reason.contains("lost in FP8"),
        "{reason}"
    );
    assert!(scales(30.0, 400.0, None).is_ok());
    // A norm by head takes keys' biases away, and not those of values.
    let reason = scales(0.1, 400.0, Some(1.0)).unwrap_err();
    assert!(reason.contains("value head 0 has a bias of"), "{reason}");
}
