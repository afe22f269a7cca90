use std::collections::BTreeMap;
use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::model::BatchRow;

const SETTINGS: PlanSettings = PlanSettings {
    heads: 32,
    kv_heads: 8,
    block_size: 16,
    multiprocessors: 132,
    prefill_rows: 128,
    shared_prefix: true,
    split_keys: None,
    max_slots: 1 << 20,
};

/// A step of rows given as (query tokens, context, block table).
fn step(rows: &[(usize, usize, Vec<u32>)], block_size: usize) -> StepBatch {
    let mut batch = StepBatch::default();
    for (query_len, context_len, blocks) in rows {
        let query_start = batch.tokens.len();
        for position in context_len - query_len..*context_len {
            batch.tokens.push(0);
            batch.positions.push(position as u32);
            let slot = blocks[position / block_size] as usize * block_size + position % block_size;
            batch.slots.push(slot as u32);
        }
        batch.rows.push(BatchRow {
            query_start,
            query_len: *query_len,
            context_len: *context_len,
            blocks: blocks.clone(),
            long: false,
            state: None,
        });
    }
    batch.validate(block_size, usize::MAX).unwrap();
    batch
}

/// The keys that each query head of each token attends to: a list of (slot or `NO_SLOT`, keys), from the words alone.
type Parts = BTreeMap<(usize, usize), BTreeMap<u32, Range<usize>>>;

fn read_items(
    words: &[u32],
    (section, tile): (Section, usize),
    batch: &StepBatch,
    settings: &PlanSettings,
    window: Option<usize>,
    parts: &mut Parts,
) {
    let group = settings.heads / settings.kv_heads;
    let row_of = |token: usize| {
        batch
            .rows
            .iter()
            .find(|row| (row.query_start..row.query_start + row.query_len).contains(&token))
            .unwrap()
    };
    for index in 0..section.count {
        let item: Vec<usize> = words[section.offset + index * ITEM_WORDS..][..ITEM_WORDS]
            .iter()
            .map(|&word| word as usize)
            .collect();
        let (rows, keys) = (item[1]..item[2], item[4]..item[5]);
        assert!(!rows.is_empty() && rows.len() <= tile && rows.start % tile == 0);
        assert!(!keys.is_empty() && keys.start.is_multiple_of(16));
        for row in rows {
            let query = row / group;
            let (token, seen, slot) = if item[9] == 1 {
                assert_eq!(item[0] % 2, 0);
                let pair = &words[item[0] + 2 * query..][..2];
                (pair[0] as usize, keys.end, pair[1] + item[7] as u32)
            } else {
                let slot = if item[7] as u32 == NO_SLOT {
                    NO_SLOT
                } else {
                    (item[7] + query * item[8]) as u32
                };
                (item[0] + query, item[3] + query, slot)
            };
            assert_eq!(
                item[10] < u32::MAX as usize,
                item[9] == 0 && window.is_some()
            );
            let first = seen.saturating_sub(item[10]).max(keys.start);
            let seen = first..keys.end.min(seen).max(first);
            for key in (keys.start..seen.end).step_by(16) {
                let block = words[item[6] + key / settings.block_size];
                assert_eq!(block, row_of(token).blocks[key / settings.block_size]);
            }
            let before = parts
                .entry((token, row % group))
                .or_default()
                .insert(slot, seen);
            assert_eq!(before, None, "a part is written twice");
        }
    }
}

/// Checks that every query head of every token attends to each of its keys once, through slots of its own: in layers without
/// a window, whose plan is returned, and with some.
fn check(batch: &StepBatch, settings: &PlanSettings) -> WindowPlan {
    let windows = [Some(100), None, Some(7), Some(100), Some(1 << 20)];
    let plan = AttentionPlan::new(batch, settings, &windows).unwrap();
    for window in windows {
        check_window(batch, settings, &plan, window);
    }
    *plan.for_window(None).unwrap()
}

fn check_window(
    batch: &StepBatch,
    settings: &PlanSettings,
    planned: &AttentionPlan,
    window: Option<usize>,
) {
    let plan = planned.for_window(window).unwrap();
    let longest = batch.rows.iter().map(|row| row.context_len).max().unwrap();
    let cuts = window.filter(|&keys| keys < longest);
    // Kernels read items and merges in units of 16 bytes, pairs of 8.
    for section in [plan.prefill, plan.decode, plan.merges] {
        assert_eq!(section.offset % 4, 0);
    }
    let mut parts = Parts::new();
    for kernel in [
        (plan.decode, DECODE_ROWS),
        (plan.prefill, settings.prefill_rows),
    ] {
        read_items(&planned.words, kernel, batch, settings, cuts, &mut parts);
    }
    let mut merges = BTreeMap::new();
    let mut taken = vec![false; plan.slots];
    for index in 0..plan.merges.count {
        let merge = &planned.words[plan.merges.offset + index * MERGE_WORDS..][..MERGE_WORDS];
        let slots = merge[1]..merge[1] + merge[2];
        for slot in slots.clone() {
            assert!(!std::mem::replace(&mut taken[slot as usize], true));
        }
        assert!(merges.insert(merge[0] as usize, slots).is_none());
    }
    let group = settings.heads / settings.kv_heads;
    for row in &batch.rows {
        for i in 0..row.query_len {
            for head in 0..group {
                let token = row.query_start + i;
                let parts = &parts[&(token, head)];
                let slots = merges.get(&token).cloned().unwrap_or(NO_SLOT..NO_SLOT);
                let end = row.context_len - row.query_len + i + 1;
                let mut next = window.map_or(0, |keys| end.saturating_sub(keys));
                for (&slot, keys) in parts {
                    if slot != NO_SLOT && !slots.contains(&slot) {
                        // A tile's other split, of which this token sees nothing, is left out of the merge.
                        assert!(keys.is_empty());
                        continue;
                    }
                    assert_eq!((keys.start, keys.is_empty()), (next, false));
                    next = keys.end;
                }
                assert_eq!(next, end);
                if slots.is_empty() {
                    assert_eq!(parts.keys().collect::<Vec<_>>(), [&NO_SLOT]);
                } else {
                    assert!(slots.clone().all(|slot| parts.contains_key(&slot)));
                }
            }
        }
    }
}

/// Keys that all items of both kernels read.
fn keys_read(planned: &AttentionPlan, window: Option<usize>) -> usize {
    let plan = planned.for_window(window).unwrap();
    [plan.prefill, plan.decode]
        .iter()
        .flat_map(|section| (0..section.count).map(|index| section.offset + index * ITEM_WORDS))
        .map(|item| (planned.words[item + 5] - planned.words[item + 4]) as usize)
        .sum()
}

/// `rows` decode rows under a template of `template` blocks, each with `own` further keys.
fn judge_step(rows: u32, template: u32, own: usize) -> StepBatch {
    let rows: Vec<_> = (0..rows)
        .map(|row| {
            let context = template as usize * 16 + own;
            let own_blocks = own.div_ceil(16) as u32;
            let blocks = (0..template)
                .chain((0..own_blocks).map(|block| template + row * own_blocks + block))
                .collect();
            (1, context, blocks)
        })
        .collect();
    step(&rows, 16)
}

#[test]
fn a_template_is_attended_to_together() {
    let batch = judge_step(128, 81, 200);
    let plan = check(&batch, &SETTINGS);
    // 128 rows × 4 heads are four tiles; 81 × 16 keys are cut in three to use more of the device; 200 keys in two.
    assert_eq!((plan.prefill.count, plan.decode.count), (12, 256));
    assert_eq!((plan.merges.count, plan.slots), (128, 128 * 5));
    let apart = check(
        &batch,
        &PlanSettings {
            shared_prefix: false,
            ..SETTINGS
        },
    );
    assert_eq!(apart.prefill.count, 0);
}

#[test]
fn few_rows_are_split_to_fill_the_device() {
    let batch = judge_step(1, 0, 1650);
    let plan = check(&batch, &SETTINGS);
    assert_eq!((plan.decode.count, plan.slots), (13, 13));
    // Many rows of similar length are not split.
    let batch = judge_step(256, 0, 1650);
    let plan = check(&batch, &SETTINGS);
    assert_eq!((plan.decode.count, plan.slots), (256, 0));
}

#[test]
fn nested_prefixes_are_shared_at_each_level() {
    let rows: Vec<_> = (0..32u32)
        .map(|row| {
            let blocks = (0..20)
                .chain(100 + row / 8 * 10..110 + row / 8 * 10)
                .chain([1000 + row])
                .collect();
            (1, 31 * 16 - 3, blocks)
        })
        .collect();
    let plan = check(&step(&rows, 16), &SETTINGS);
    // The template's item is a whole prefill tile; each question's has 8 × 4 rows.
    assert_eq!((plan.prefill.count, plan.slots), (5, 32 * 3));
}

#[test]
fn short_of_scratch_the_plan_has_fewer_cuts() {
    let batch = judge_step(64, 81, 400);
    for max_slots in [0, 100, 128, 200] {
        let settings = PlanSettings {
            max_slots,
            ..SETTINGS
        };
        let plan = check(&batch, &settings);
        assert!(plan.slots <= max_slots);
        assert_eq!(plan.slots > 0, max_slots >= 128);
    }
}

#[test]
fn settings_that_no_kernel_can_run_are_refused() {
    for settings in [
        PlanSettings {
            block_size: 8,
            ..SETTINGS
        },
        PlanSettings {
            block_size: 48,
            ..SETTINGS
        },
        PlanSettings {
            kv_heads: 5,
            ..SETTINGS
        },
        PlanSettings {
            split_keys: Some(16),
            ..SETTINGS
        },
    ] {
        assert!(AttentionPlan::new(&StepBatch::default(), &settings, &[None]).is_err());
    }
    assert!(AttentionPlan::new(&StepBatch::default(), &SETTINGS, &[Some(0)]).is_err());
}

#[test]
fn a_window_leaves_earlier_keys_unread() {
    // Decode rows of 128 keys and at most 15 more, and tiles of 32 tokens of a prefill row.
    let mut rows: Vec<_> = (0..64)
        .map(|row| (1, 4000 + row, (0..255).collect()))
        .collect();
    rows.push((1024, 4096, (0..256).collect()));
    let batch = step(&rows, 16);
    let windows = [Some(128), None];
    let plan = AttentionPlan::new(&batch, &SETTINGS, &windows).unwrap();
    assert!(keys_read(&plan, Some(128)) <= 64 * (128 + 15) + 32 * (128 + 31 + 15));
    let windowed = plan.for_window(Some(128)).unwrap();
    assert_eq!((windowed.decode.count, windowed.prefill.count), (64, 32));
    assert_eq!(windowed.slots, 0);
}

#[test]
fn a_window_that_cuts_nothing_is_planned_as_none() {
    let batch = judge_step(128, 81, 200);
    let longest = 81 * 16 + 200;
    let plan = |windows: &[Option<usize>]| AttentionPlan::new(&batch, &SETTINGS, windows).unwrap();
    let none = plan(&[None]);
    assert_eq!(plan(&[Some(longest), None, Some(4096)]), none);
    assert_eq!(none.for_window(Some(longest)), none.for_window(None));
    assert_eq!(none.for_window(Some(longest - 1)), None);
    // With one key less every row is cut, and nothing is shared.
    let cut = plan(&[Some(longest - 1)]);
    assert!(cut.for_window(Some(longest - 1)).unwrap().prefill.count == 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_key_is_attended_to_once(
        rows in prop::collection::vec((0u32..4, 0u32..3, 0usize..40, 1usize..90, 1usize..40), 1..24),
        (kv_heads, group) in prop::sample::select(vec![(8, 1), (8, 2), (8, 4), (1, 5), (2, 8), (1, 32)]),
        shift in 4u32..7,
        multiprocessors in 1usize..200,
        shared_prefix: bool,
        split_keys in prop::option::of(prop::sample::select(vec![64usize, 128, 192])),
        max_slots in prop::sample::select(vec![0usize, 40, 1 << 20]),
        window in prop::option::of(1usize..600),
    ) {
        let block_size = 1 << shift;
        let mut fresh = 10_000;
        let rows: Vec<_> = rows
            .into_iter()
            .map(|(template, question, own, query_len, decode)| {
                // One row in two decodes. Cached: blocks of a template, of a question under it, own tokens.
                let query_len = if decode % 2 == 0 { 1 } else { query_len };
                let cached = (template * 9 + question * 3) as usize * block_size + own;
                let mut blocks: Vec<u32> = (0..template * 9)
                    .chain((0..question * 3).map(|block| 1000 * (template * 3 + question) + block))
                    .collect();
                let context = cached + query_len;
                while blocks.len() * block_size < context {
                    fresh += 1;
                    blocks.push(fresh);
                }
                (query_len, context, blocks)
            })
            .collect();
        let batch = step(&rows, block_size);
        let settings = PlanSettings {
            heads: kv_heads * group,
            kv_heads,
            block_size,
            multiprocessors,
            prefill_rows: 128,
            shared_prefix,
            split_keys,
            max_slots,
        };
        let plan = check(&batch, &settings);
        prop_assert!(plan.slots <= max_slots);
        let again = AttentionPlan::new(&batch, &settings, &[window, None]).unwrap();
        prop_assert!(again.for_window(window).unwrap().slots <= max_slots);
        check_window(&batch, &settings, &again, window);
        prop_assert_eq!(again, AttentionPlan::new(&batch, &settings, &[window, None]).unwrap());
    }
}
