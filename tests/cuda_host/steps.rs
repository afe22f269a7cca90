//! A step: the library's algorithms, masks, launches.

use super::*;

/// Steps of all lengths, with weights in bf16 and in FP8, where the library takes scales by row and where it does not.
#[test]
fn no_step_chooses_an_algorithm() {
    let _alone = alone();
    let fp8 = Precision {
        weights: WeightType::F8E4M3,
        ..Precision::all(DType::BF16)
    };
    let all = families(&small()).into_iter();
    for (name, random) in all.chain(families_of_one_gpu(&small())) {
        for (precision, scales) in [(Precision::all(DType::BF16), 1), (fp8, 1), (fp8, 0)] {
            imitation::set(&format!("compute=0 scales={scales}"));
            let loaded = load_model(
                &random.config,
                &random.weights,
                &[device(0)],
                precision,
                false,
            );
            let sizes = EngineConfig {
                token_budget: 640,
                ..config(random.config.max_positions)
            };
            let mut model = loaded.unwrap().with_cache(&sizes, true).unwrap();
            let before = imitation::count("choice of an algorithm");
            for count in [1, 16, 17, 511, 512, 513, 577, 640] {
                let mut batch = prompt_step(count);
                batch.rows[0].state = state(&random, 0, StateStart::Zero, None);
                model.logits(&batch).unwrap();
            }
            let chosen = imitation::count("choice of an algorithm") - before;
            assert_eq!(chosen, 0, "{name}, {precision:?}, scales by row: {scales}");
            imitation::set("compute=1 scales=1");
        }
    }
}

/// Allows only tokens whose remainder follows that of the last one, so that a mask of another place or row would be seen.
struct Remainders;

impl Remainders {
    fn after(token: u32) -> Next {
        let allowed: TokenSet = (0..131)
            .filter(|next| next % 5 == (token + 1) % 5)
            .collect();
        Next {
            append: Vec::new(),
            then: Then::OneOf {
                tokens: Arc::new(allowed.into()),
                choices: None,
            },
        }
    }
}

impl Guide for Remainders {
    fn begin(&mut self) -> Next {
        Self::after(0)
    }

    fn push(&mut self, token: u32) -> Next {
        Self::after(token)
    }
}

/// Masks that depend on the token before, told while the step computes; other rows are free.
#[test]
fn masks_are_those_of_their_place() {
    let _alone = alone();
    let random = qwen3();
    let model = load(&random, &device(0), Precision::all(DType::BF16)).unwrap();
    let mut engine = Engine::new(model, &config(random.config.max_positions)).unwrap();
    for request in requests(random.config.vocab) {
        engine.add(Request {
            guide: (request.id % 2 == 0).then(|| Box::new(Remainders) as Box<dyn Guide>),
            ..request
        });
    }
    let mut masked = 0;
    while engine.has_work() {
        for completion in engine.step().unwrap() {
            assert_eq!(completion.tokens.len(), NEW_TOKENS);
            if completion.id % 2 == 0 {
                let remainders: Vec<u32> =
                    completion.tokens.iter().map(|token| token % 5).collect();
                assert_eq!(remainders, [1, 2, 3, 4, 0, 1]);
                masked += 1;
            }
        }
    }
    assert_eq!(masked, 3);
    assert_eq!(engine.stats().discarded_tokens, 0);
}

/// What docs/decisions/cuda.md and the kernels' comments say of a step's launches.
#[test]
fn a_layer_is_eleven_launches_with_a_shared_prefix() {
    let _alone = alone();
    let step = |layers: usize| {
        let mut sizes = small();
        sizes["num_hidden_layers"] = json!(layers);
        let random = Random::new("Qwen3ForCausalLM", &sizes);
        let mut model = load(&random, &device(0), Precision::all(DType::BF16)).unwrap();
        // A prompt's chunk, and three sequences that share eight blocks, each with a token.
        let mut batch = StepBatch::default();
        for row in 0..4u32 {
            let (first, length) = if row == 0 { (0, 40) } else { (128 + row, 1) };
            let blocks: Vec<u32> = if row == 0 {
                vec![20, 21, 22]
            } else {
                (0..8).chain([9 + row]).collect()
            };
            batch.rows.push(BatchRow {
                query_start: batch.tokens.len(),
                query_len: length,
                context_len: first as usize + length,
                blocks: blocks.clone(),
                long: false,
                state: None,
            });
            for position in first..first + length as u32 {
                batch.tokens.push(1);
                batch.positions.push(position);
                let block = blocks[position as usize / BLOCK] as usize;
                batch
                    .slots
                    .push((block * BLOCK + position as usize % BLOCK) as u32);
            }
            batch.logits.push(batch.tokens.len() as u32 - 1);
        }
        let before = imitation::count("launch");
        model.logits(&batch).unwrap();
        imitation::count("launch") - before
    };
    let (two, three) = (step(2), step(3));
    assert_eq!(three - two, 11);
}
