//! The CUDA attention kernels on the plans that the host makes, run thread by thread on the CPU and compared with attention
//! in double precision (`tests/cuda_emulation/attention.cpp`).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod cuda_emulation;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use juror::model::cuda::plan::{self, AttentionPlan, PlanSettings};
use juror::model::{BatchRow, StepBatch};

/// A row: query tokens, keys that the last of them sees, keys shared with the rows of the same family.
#[derive(Clone, Copy)]
struct Row {
    query_len: usize,
    context_len: usize,
    shared: usize,
}

const fn row(query_len: usize, context_len: usize) -> Row {
    Row {
        query_len,
        context_len,
        shared: 0,
    }
}

const fn under(shared: usize, query_len: usize, context_len: usize) -> Row {
    Row {
        query_len,
        context_len,
        shared,
    }
}

struct Kernels {
    dtype: &'static str,
    cache: &'static str,
    head_dim: usize,
}

const fn kernels(dtype: &'static str, cache: &'static str, head_dim: usize) -> Kernels {
    Kernels {
        dtype,
        cache,
        head_dim,
    }
}

/// Every instantiation.
const KERNELS: [Kernels; 8] = [
    kernels("bf16", "same", 128),
    kernels("bf16", "same", 64),
    kernels("f16", "same", 128),
    kernels("f16", "same", 64),
    kernels("bf16", "e4m3", 128),
    kernels("bf16", "e4m3", 64),
    kernels("f16", "e4m3", 128),
    kernels("f16", "e4m3", 64),
];

/// The step of `rows`, with blocks out of order, and unused ones between them. Returns the number of blocks too.
fn step(rows: &[Row], block_size: usize) -> (StepBatch, usize) {
    let mut batch = StepBatch::default();
    let mut taken = 0;
    let mut fresh = |count: usize| -> Vec<u32> {
        let first = taken;
        taken += 2 * count as u32;
        (0..count as u32).rev().map(|i| first + 2 * i + 1).collect()
    };
    let most = rows.iter().map(|row| row.shared).max().unwrap_or(0);
    let shared = fresh(most / block_size);
    for row in rows {
        let mut blocks = shared[..row.shared / block_size].to_vec();
        let own = row.context_len.div_ceil(block_size) - blocks.len();
        blocks.extend(fresh(own));
        let query_start = batch.tokens.len();
        for position in row.context_len - row.query_len..row.context_len {
            batch.tokens.push(0);
            batch.positions.push(position as u32);
            let slot = blocks[position / block_size] as usize * block_size + position % block_size;
            batch.slots.push(slot as u32);
        }
        batch.rows.push(BatchRow {
            query_start,
            query_len: row.query_len,
            context_len: row.context_len,
            blocks,
            long: false,
        });
    }
    let blocks = taken as usize + 1;
    batch.validate(block_size, blocks).unwrap();
    (batch, blocks)
}

/// Appends a case in the driver's format.
fn write_case(
    cases: &mut String,
    name: &str,
    kernels: &Kernels,
    rows: &[Row],
    settings: &PlanSettings,
) -> AttentionPlan {
    let (batch, blocks) = step(rows, settings.block_size);
    let plan = AttentionPlan::new(&batch, settings).unwrap();
    let kv_bytes = if kernels.cache == "e4m3" { 1 } else { 2 };
    writeln!(
        cases,
        "{name} {} {} {} {} {} {} {blocks} {} {} {} {} {}",
        kernels.dtype,
        kernels.cache,
        kernels.head_dim,
        settings.heads,
        settings.kv_heads,
        settings.block_size.ilog2(),
        batch.tokens.len(),
        plan.slots,
        plan::prefill_shared_bytes(kernels.head_dim, kv_bytes),
        plan::decode_shared_bytes(kernels.head_dim, kv_bytes),
        batch.rows.len(),
    )
    .unwrap();
    let mut list = |numbers: &[usize]| {
        for number in numbers {
            write!(cases, "{number} ").unwrap();
        }
        cases.push('\n');
    };
    for row in &batch.rows {
        list(&[
            row.query_start,
            row.query_len,
            row.context_len,
            row.blocks.len(),
        ]);
        list(
            &row.blocks
                .iter()
                .map(|&block| block as usize)
                .collect::<Vec<_>>(),
        );
    }
    for section in [plan.prefill, plan.decode, plan.merges] {
        list(&[section.offset, section.count]);
    }
    list(&[plan.words.len()]);
    list(
        &plan
            .words
            .iter()
            .map(|&word| word as usize)
            .collect::<Vec<_>>(),
    );
    plan
}

fn settings(kv_heads: usize, group: usize, block_size: usize) -> PlanSettings {
    PlanSettings {
        heads: kv_heads * group,
        kv_heads,
        block_size,
        multiprocessors: 4,
        shared_prefix: true,
        // Whole rows, where a test says nothing else.
        split_keys: Some(1 << 20),
        max_slots: 1 << 16,
    }
}

/// Runs the cases of one test; the driver is compiled once for all.
fn check(cases: &str) {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    let driver = DRIVER.get_or_init(|| cuda_emulation::build("attention"));
    let mut program = Command::new(driver)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A program that ends early has said why.
        scope.spawn(move || input.write_all(cases.as_bytes()));
        program.wait_with_output().unwrap()
    });
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{failed}");
    print!("{said}");
}

#[test]
fn decode_rows_of_all_lengths_and_groups() {
    let mut cases = String::new();
    let lengths = [1, 15, 16, 17, 63, 64, 65, 130].map(|keys| row(1, keys));
    for (index, (kernels, group)) in KERNELS.iter().zip([4, 5, 8, 2, 1, 4, 5, 8]).enumerate() {
        let settings = settings(2, group, [16, 32, 64][index % 3]);
        let plan = write_case(
            &mut cases,
            &format!("lengths,group-{group}"),
            kernels,
            &lengths,
            &settings,
        );
        assert_eq!((plan.decode.count, plan.slots), (8, 0));
    }
    // More query heads than a tile has rows; and few tokens, of which the last sees the most.
    let heads = write_case(
        &mut cases,
        "group-20",
        &KERNELS[0],
        &[row(1, 40)],
        &settings(1, 20, 16),
    );
    assert_eq!(heads.decode.count, 2);
    let tokens = write_case(
        &mut cases,
        "4-tokens",
        &KERNELS[0],
        &[row(4, 4), row(3, 66), row(4, 33)],
        &settings(2, 4, 16),
    );
    assert_eq!((tokens.decode.count, tokens.prefill.count), (3, 0));
    check(&cases);
}

#[test]
fn decode_rows_in_splits() {
    let mut cases = String::new();
    for (splits, kernels) in (1..=5).zip([0, 1, 4, 5, 0]) {
        let settings = PlanSettings {
            split_keys: Some(64),
            ..settings(2, 4, 16)
        };
        // The last token of two begins a split of its own, of which the other sees nothing.
        let rows = [row(1, 64 * splits - 3), row(2, 64 * splits + 1)];
        let plan = write_case(
            &mut cases,
            &format!("splits-{splits}"),
            &KERNELS[kernels],
            &rows,
            &settings,
        );
        let parts = if splits == 1 { 0 } else { splits };
        assert_eq!(plan.decode.count, 2 * splits + 1);
        assert_eq!(plan.slots, parts + 2 * (splits + 1));
    }
    check(&cases);
}

#[test]
fn prefill_rows_with_and_without_cached_keys() {
    let mut cases = String::new();
    for (index, (kernels, group)) in KERNELS.iter().zip([4, 5, 1, 2, 8, 4, 5, 1]).enumerate() {
        // Tiles of the first row end in the middle of a token where the group is 5.
        let rows = [row(40, 40), row(17, 150), row(1, 20), row(65, 65)];
        let plan = write_case(
            &mut cases,
            &format!("prefill,group-{group}"),
            kernels,
            &rows[index % 2..][..3],
            &settings(1, group, [16, 64, 32][index % 3]),
        );
        assert!(plan.prefill.count > 1 && plan.decode.count > 0 && plan.slots == 0);
    }
    for kernels in [&KERNELS[0], &KERNELS[5]] {
        let settings = PlanSettings {
            split_keys: Some(64),
            ..settings(1, 4, 16)
        };
        let plan = write_case(
            &mut cases,
            "prefill,split",
            kernels,
            &[row(40, 150), row(33, 33)],
            &settings,
        );
        assert_eq!(plan.slots, 40 * 3);
    }
    check(&cases);
}

#[test]
fn shared_prefixes_are_merged_exactly() {
    let mut cases = String::new();
    // 20 rows × 4 heads: one prefill tile. Blocks end at the prefix, so even a first own token is a part of its own.
    let mut rows: Vec<Row> = (0..20).map(|i| under(96, 1, 97 + 7 * i % 50)).collect();
    rows[3] = under(96, 3, 130);
    rows[4] = under(96, 30, 130);
    rows[5] = row(1, 33);
    for kernels in [&KERNELS[0], &KERNELS[3], &KERNELS[4], &KERNELS[5]] {
        let plan = write_case(
            &mut cases,
            "shared,prefill-tile",
            kernels,
            &rows,
            &settings(2, 4, 32),
        );
        assert!(plan.merges.count == 20 && plan.slots == 40);
    }
    // Four rows × 2 heads: a decode tile; a longer prefix nested in the other; and splits of both.
    let rows = [96, 96, 96, 240, 240, 240].map(|shared| under(shared, 1, shared + 9));
    for split_keys in [None, Some(64)] {
        let settings = PlanSettings {
            split_keys,
            ..settings(1, 1, 16)
        };
        for kernels in [&KERNELS[0], &KERNELS[4]] {
            let plan = write_case(&mut cases, "shared,nested", kernels, &rows, &settings);
            assert_eq!(plan.merges.count, 6);
            assert_eq!(plan.prefill.count, 0);
        }
    }
    check(&cases);
}
