//! What is asked of the driver, and what comes of it when it refuses.

use super::*;

#[test]
fn products_bind_the_context_themselves() {
    let _alone = alone();
    let device = device(0);
    let cuda = device.as_cuda_device().unwrap().clone();
    let ones = |rows| Tensor::ones((rows, 64), DType::BF16, &device).unwrap();
    let (weight, x, out) = (ones(64), ones(16), ones(16));
    let mut gemm = Gemm::new(&cuda).unwrap();
    // This thread has not called the driver yet.
    let handed = std::thread::spawn(move || {
        let weight = Weight::plain(&weight, None).unwrap();
        let (x, target) = (
            Array::from_tensor(&x).unwrap(),
            Array::from_tensor(&out).unwrap(),
        );
        let rows = Rows {
            values: x.all(),
            scales: None,
            count: 3,
        };
        gemm.multiply(rows, &weight, target.all()).unwrap();
        out
    });
    let out = handed.join().unwrap().to_dtype(DType::F32).unwrap();
    let out = out.to_device(&Device::Cpu).unwrap();
    assert_eq!(
        format!("{:?}", out.to_vec2::<f32>().unwrap()[2][63]),
        "64.0"
    );
}

#[test]
fn products_refuse_operands_that_begin_anywhere() {
    let _alone = alone();
    let device = device(0);
    let cuda = device.as_cuda_device().unwrap();
    let weight = Tensor::ones((64, 64), DType::BF16, &device).unwrap();
    let x = Array::zeros(cuda, 17 * 64, DType::BF16, "x").unwrap();
    let out = Array::zeros(cuda, 16 * 64, DType::BF16, "out").unwrap();
    let weight = Weight::plain(&weight, None).unwrap();
    let rows = Rows {
        values: x.part(8..8 + 16 * 64).unwrap(),
        scales: None,
        count: 16,
    };
    let refusal = Gemm::new(cuda)
        .unwrap()
        .multiply(rows, &weight, out.all())
        .unwrap_err();
    assert!(
        refusal.to_string().contains("a multiple of 256"),
        "{refusal}"
    );
}

/// Text for an error is made when there is one. What a launch allocates is its list of arguments, in our form and cudarc's.
#[test]
fn a_launch_makes_no_text() {
    let _alone = alone();
    let device = device(0);
    let cuda = device.as_cuda_device().unwrap();
    let operations = Operations::on(cuda, DType::BF16).unwrap();
    let mut products = Products::new(cuda).unwrap();
    let array = |elements| Array::zeros(cuda, elements, DType::BF16, "numbers").unwrap();
    let (x, out) = (array(16 * 64), array(16 * 64));
    let norm = Array::zeros(cuda, 64, DType::F32, "numbers").unwrap();
    let weight = Tensor::ones((64, 64), DType::BF16, &device).unwrap();
    let mut weight = Weight::plain(&weight, None).unwrap();
    let prepared = products.prepare(cuda, &mut weight, DType::BF16, 1..=16);
    prepared.unwrap();
    imitation::set("compute=0");
    let allocations = |run: &mut dyn FnMut()| {
        run();
        let before = HOST_ALLOCATIONS.with(Cell::get);
        (0..100).for_each(|_| run());
        (HOST_ALLOCATIONS.with(Cell::get) - before) / 100
    };
    let launch = allocations(&mut || {
        let target = Target::Plain(out.all());
        operations
            .rms_norm(target, x.all(), Some(norm.all()), (16, 64), 1e-6)
            .unwrap();
    });
    let product = allocations(&mut || {
        products
            .multiply(&operations, Target::Plain(x.all()), &weight, out.all(), 16)
            .unwrap();
    });
    imitation::set("compute=1");
    println!("{launch} allocations a launch");
    assert!(launch <= 4, "{launch} allocations a launch");
    assert_eq!(product, 0, "allocations a product");
}

/// Each allocation in turn is refused: the model is not loaded and says why, or it goes on with less and gives the same
/// tokens. Nothing stays behind.
#[test]
fn out_of_memory_at_every_allocation() {
    let _alone = alone();
    let mut sizes = small();
    sizes["num_hidden_layers"] = json!(1);
    let random = Random::new("Qwen3ForCausalLM", &sizes);
    let run = || -> Result<Vec<Generated>, String> {
        let device = DeviceChoice::Cuda(0)
            .open()
            .map_err(|error| error.to_string())?;
        let model = load(&random, &device, Precision::all(DType::BF16))
            .map_err(|error| error.to_string())?;
        generate(model, &random)
    };
    let expected = run().unwrap();
    let (mut refused, mut survived) = (0, 0);
    for number in 1.. {
        imitation::set(&format!("fail={number}"));
        let came = run();
        let asked = imitation::count("allocation");
        imitation::set("fail=0");
        assert_eq!(
            imitation::bytes(0),
            0,
            "allocation {number} refused: memory is left behind"
        );
        if asked < number {
            break;
        }
        match came {
            Ok(tokens) => {
                assert_eq!(tokens.len(), expected.len());
                for (ours, expected) in tokens.iter().zip(&expected) {
                    ours.check_same(expected, &format!("allocation {number} refused"));
                }
                survived += 1;
            }
            Err(message) => {
                assert!(
                    message.contains("out of memory"),
                    "allocation {number} refused: {message}"
                );
                refused += 1;
            }
        }
    }
    println!("{refused} runs ended with a message, {survived} went on");
    assert!(refused > 20 && survived >= 2, "{refused}, {survived}");
}

#[test]
fn several_devices_work_side_by_side() {
    let _alone = alone();
    let random = qwen3();
    let run = |ordinal| {
        generate(
            load(&random, &device(ordinal), Precision::all(DType::F16)).unwrap(),
            &random,
        )
    };
    let expected = run(0).unwrap();
    std::thread::scope(|scope| {
        let both = [0, 1].map(|ordinal| scope.spawn(move || run(ordinal).unwrap()));
        for (ordinal, handle) in both.into_iter().enumerate() {
            assert_eq!(handle.join().unwrap(), expected, "device {ordinal}");
        }
    });
    assert_eq!([imitation::bytes(0), imitation::bytes(1)], [0, 0]);
}
