//! Models that encode positions in another way once a sequence is longer than a context (`LongRoPE`): when that is depends on
//! the sequence alone, not on how long it might become.

use juror_engine::engine::{Drafts, Engine, EngineConfig, Sampling};
use proptest::prelude::*;

use crate::lag::Lagging;
use crate::reader::{Reader, config, expected_with, prompts, reader, request, run, template};

fn reader_of(block_size: usize, short_context: usize) -> Reader {
    let mut reader = reader(block_size);
    reader.short_context = Some(short_context);
    reader
}

/// Runs prompts that may go on for `new` tokens, and compares with what comes out without an engine.
fn check(
    mut engine: Engine,
    prompts: &[Vec<u32>],
    short: usize,
    new: usize,
    arrive_late: bool,
) -> Result<(), TestCaseError> {
    let mut completions = Vec::new();
    for (id, prompt) in prompts.iter().enumerate() {
        engine.add(request(id as u64, prompt.clone(), new, Sampling::GREEDY));
        if arrive_late && id % 5 == 0 {
            completions.extend(engine.step().unwrap());
        }
    }
    completions.extend(run(&mut engine));
    completions.sort_by_key(|completion| completion.id);
    prop_assert_eq!(completions.len(), prompts.len());
    for (completion, prompt) in completions.iter().zip(prompts) {
        prop_assert_eq!(&completion.tokens, &expected_with(Some(short), prompt, new));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn a_sequence_is_long_from_the_token_on_that_makes_it_so(
        count in 1..40usize, shared in 0..40usize, spare in 0..60usize, block_size in 1..9usize,
        max_sequences in 1..40usize, token_budget in 1..80usize, max_prefill_chunk in 1..60usize,
        prefix_cache: bool, pin: bool, arrive_late: bool, late: Option<bool>, short in 1..90usize, new in 1..30usize,
        drafts in 0..6usize,
    ) {
        let longest = shared + 6 + 18 + new;
        let config = EngineConfig {
            // The template is pinned in both ways.
            blocks: longest.div_ceil(block_size) + 2 * shared.div_ceil(block_size) + spare,
            least_blocks: 1, block_size, max_sequences, token_budget, max_prefill_chunk, context_length: 200,
            prefix_cache, pinned_prefix: if pin { template(shared) } else { Vec::new() },
            drafts: Drafts::Most(drafts),
        };
        let (model, prompts) = (reader_of(block_size, short), prompts(count, shared));
        match late {
            None => check(Engine::new(Box::new(model), &config).unwrap(), &prompts, short, new, arrive_late)?,
            Some(late) => {
                let engine = Engine::new(Box::new(Lagging::new(model, late)), &config).unwrap();
                check(engine, &prompts, short, new, arrive_late)?;
            }
        }
    }
}

/// The limit on new tokens is how long a text may become, not how long it is.
#[test]
fn the_limit_on_new_tokens_changes_no_token() {
    let tokens = |new: usize| {
        let mut engine = Engine::new(Box::new(reader_of(4, 60)), &config(2000)).unwrap();
        for (id, prompt) in prompts(24, 12).into_iter().enumerate() {
            engine.add(request(id as u64, prompt, new, Sampling::GREEDY));
        }
        run(&mut engine)
    };
    let (few, many) = (tokens(8), tokens(100));
    for (few, many) in few.iter().zip(&many) {
        assert_eq!(few.tokens, many.tokens[..few.tokens.len()]);
    }
    assert!(
        many.iter()
            .any(|many| many.prompt.len() + many.tokens.len() > 60)
    );
}
