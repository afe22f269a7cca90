//! Recurrent states and windows, and what is refused.

use super::*;

/// A sequence's part in a step: its number, its first token, their count, the slot, how that begins, where it is saved.
type Part = (usize, usize, usize, u32, StateStart, Option<u32>);

/// States of sequences side by side, in parts, saved and gone on from: the logits of the CPU, for whole sequences.
#[test]
fn states_are_those_of_their_sequences() {
    let _alone = alone();
    for (name, random) in families_of_one_gpu(&small()) {
        if random.config.recurrent.is_none() {
            continue;
        }
        let token = |at: usize, salt: usize| ((at * 31 + salt * 17 + at * at * salt) % 131) as u32;
        // Two that begin with the same block, and one of its own.
        let first: Vec<u32> = (0..40).map(|at| token(at, 1)).collect();
        let second = [&first[..BLOCK], &[7, 9, 100, 3, 77]].concat();
        let third: Vec<u32> = (0..21).map(|at| token(at, 5)).collect();
        let sequences = [(first, 0), (second, 8), (third, 16)];
        let copy = StateStart::Copy(5);
        let (zero, go_on) = (StateStart::Zero, StateStart::Continue);
        let steps: [&[Part]; 4] = [
            &[(2, 0, 2, 1, zero, None), (0, 0, BLOCK, 0, zero, Some(5))],
            &[
                (0, BLOCK, 1, 0, go_on, None),
                (1, BLOCK, 3, 3, copy, None),
                (2, 2, 17, 1, go_on, None),
            ],
            &[
                (0, BLOCK + 1, 20, 0, go_on, Some(2)),
                (2, 19, 1, 1, go_on, None),
            ],
            &[
                (1, BLOCK + 3, 2, 3, go_on, None),
                (0, 37, 3, 4, StateStart::Copy(2), None),
                (2, 20, 1, 1, go_on, None),
            ],
        ];
        // In f16, where a small fault shows.
        let mut model = load(&random, &device(0), Precision::all(DType::F16)).unwrap();
        let cpu = random.on_cpu();
        let mut expected = Vec::new();
        for (tokens, _) in &sequences {
            let mut batch = prompt_step(tokens.len());
            batch.tokens.clone_from(tokens);
            batch.logits = (0..tokens.len() as u32).collect();
            batch.rows[0].state = state(&random, 0, zero, None);
            let logits = cpu.forward(&batch, random.cache(40, 1).as_mut()).unwrap();
            expected.push(logits.to_vec2::<f32>().unwrap());
        }
        let mut worst = 0f32;
        for parts in steps {
            let mut batch = StepBatch::default();
            let mut wanted = Vec::new();
            for &(index, from, count, slot, start, save) in parts {
                let (tokens, first_block) = &sequences[index];
                let mut blocks: Vec<u32> = (*first_block..first_block + 4).collect();
                if index == 1 {
                    blocks[0] = 0;
                }
                batch.rows.push(BatchRow {
                    query_start: batch.tokens.len(),
                    query_len: count,
                    context_len: from + count,
                    blocks: blocks.clone(),
                    long: false,
                    state: state(&random, slot, start, save),
                });
                for position in from..from + count {
                    batch.tokens.push(tokens[position]);
                    batch.positions.push(position as u32);
                    let block = blocks[position / BLOCK] as usize;
                    batch.slots.push((block * BLOCK + position % BLOCK) as u32);
                }
                // The last token's, in most steps not all there are.
                batch.logits.push(batch.tokens.len() as u32 - 1);
                wanted.push((index, from + count - 1));
            }
            let logits = model.logits(&batch).unwrap().to_vec2::<f32>().unwrap();
            for (row, (index, at)) in logits.iter().zip(wanted) {
                for (ours, theirs) in row.iter().zip(&expected[index][at]) {
                    worst = worst.max((ours - theirs).abs());
                }
            }
        }
        println!("{name}: logits {worst:.3}");
        assert!(worst < 0.04, "{name}: logits {worst}");
    }
    assert_eq!(imitation::bytes(0), 0, "device memory is left behind");
}

/// One by one, together, in chunks, from a snapshot at the end of a pinned prefix, and after preemption: the same tokens.
#[test]
fn states_and_windows_in_every_schedule() {
    let _alone = alone();
    let newer = families_with_parts_of_their_own(&small()).into_iter();
    let newer = newer.map(|(name, _, random)| (name, random));
    for (name, random) in newer.chain(families_of_one_gpu(&small())) {
        if !["Qwen3.5", "Gemma 4"].contains(&name) {
            continue;
        }
        let plain = config(random.config.max_positions);
        let shared = prompts(random.config.vocab)[0][..2 * BLOCK].to_vec();
        let run = |config: &EngineConfig| {
            let precision = Precision::all(DType::F16);
            let devices = [device(0)];
            let model = load_model(&random.config, &random.weights, &devices, precision, false);
            let model = model.unwrap().with_cache(config, true).unwrap();
            // Blocks behind a window are given back, so there are fewer of them.
            let windowed = model.properties().windowed;
            assert_eq!(windowed.is_some(), name == "Gemma 4");
            assert!(windowed.is_none_or(|cache| cache.window == 40 && cache.blocks < 40));
            generate_with(model, &random, config).unwrap()
        };
        let together = run(&plain);
        for (what, config) in [
            (
                "alone",
                EngineConfig {
                    max_sequences: 1,
                    ..plain.clone()
                },
            ),
            (
                "chunks of 7",
                EngineConfig {
                    max_prefill_chunk: 7,
                    ..plain.clone()
                },
            ),
            (
                "pinned",
                EngineConfig {
                    pinned_prefix: shared,
                    ..plain.clone()
                },
            ),
            (
                "a small cache",
                EngineConfig {
                    blocks: 13,
                    ..plain.clone()
                },
            ),
        ] {
            for (ours, theirs) in run(&config).iter().zip(&together) {
                ours.check_same(theirs, &format!("{name}, {what}"));
            }
        }
    }
}

/// What has no states of its own on a GPU is refused by name.
#[test]
fn recurrent_layers_are_refused_where_nothing_computes_them() {
    let _alone = alone();
    let refused = |random: &Random, devices: &[Device], plain| {
        let precision = Precision::all(DType::BF16);
        let loaded = load_model(&random.config, &random.weights, devices, precision, plain);
        loaded.err().unwrap().to_string()
    };
    for (name, random) in families_of_one_gpu(&small()) {
        if random.config.recurrent.is_none() {
            continue;
        }
        let two = refused(&random, &[device(0), device(1)], false);
        assert!(
            two.contains("--tensor-parallel 2") && two.contains("not divided among GPUs"),
            "{name}: {two}"
        );
        let plain = refused(&random, &[device(0)], true);
        assert!(
            plain.contains("by our CUDA kernels alone") && plain.contains("--device cpu"),
            "{name}: {plain}"
        );
    }
    let mut sizes = small();
    for (key, size) in [
        ("full_attention_interval", 2),
        ("linear_conv_kernel_dim", 4),
        ("linear_num_key_heads", 2),
        ("linear_num_value_heads", 4),
        ("linear_key_head_dim", 48),
        ("linear_value_head_dim", 64),
    ] {
        sizes[key] = json!(size);
    }
    let odd = Random::new("Qwen3_5ForCausalLM", &sizes);
    let odd = refused(&odd, &[device(0)], false);
    assert!(odd.contains("linear_key_head_dim of 48"), "{odd}");
}

/// Whatever else was asked for needs the kernels, and is not at fault.
#[test]
fn the_option_that_the_kernels_do_not_take_is_named() {
    let _alone = alone();
    let refused = |random: &Random, count, precision| {
        let devices: Vec<Device> = (0..count).map(device).collect();
        let loaded = load_model(&random.config, &random.weights, &devices, precision, false);
        loaded.err().unwrap().to_string()
    };
    let fp8 = Precision {
        kv: DType::F8E4M3,
        ..Precision::all(DType::BF16)
    };
    let both = Precision {
        weights: WeightType::F8E4M3,
        ..fp8
    };
    let named = |name: &str| {
        let newer = families_with_parts_of_their_own(&small()).into_iter();
        let newer = newer.map(|(name, _, random)| (name, random));
        let mut all = newer.chain(families_of_one_gpu(&small()));
        all.find(|(found, _)| *found == name).unwrap().1
    };
    let gemma = refused(&named("Gemma 4"), 1, both);
    assert!(
        gemma.contains("in FP8)") && gemma.ends_with("leave out --kv-dtype fp8"),
        "{gemma}"
    );
    // Heads of 32.
    let two = refused(&qwen3(), 2, fp8);
    assert!(
        two.starts_with("--tensor-parallel 2 needs") && two.ends_with("leave out --kv-dtype fp8"),
        "{two}"
    );
    let recurrent = refused(&named("Qwen3.5"), 1, Precision::F32);
    assert!(
        recurrent.ends_with("leave out --dtype, or run it with --device cpu"),
        "{recurrent}"
    );
}
