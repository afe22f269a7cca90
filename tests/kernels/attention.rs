//! The CUDA attention kernels on the plans that the host makes, run thread by thread on the CPU and compared with attention
//! in double precision (`tests/cuda_emulation/attention.cpp`).

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use juror_engine::model::cuda::plan::{self, AttentionPlan, PlanSettings, WindowPlan};
use juror_engine::model::{BatchRow, StepBatch};

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

/// What layers differ in: keys that a query sees, whether each head has a sink, what scores are multiplied with in place of
/// `1 / √head_dim`, and their bound.
#[derive(Clone, Copy, Debug)]
struct Layer {
    window: Option<usize>,
    sinks: bool,
    scale: Option<f64>,
    softcap: f64,
}

const FULL: Layer = Layer {
    window: None,
    sinks: false,
    scale: None,
    softcap: 0.0,
};

/// Every instantiation for narrow heads.
const KERNELS: [Kernels; 10] = [
    kernels("bf16", "same", 128),
    kernels("bf16", "same", 64),
    kernels("f16", "same", 128),
    kernels("f16", "same", 64),
    kernels("bf16", "e4m3", 128),
    kernels("bf16", "e4m3", 64),
    kernels("f16", "e4m3", 128),
    kernels("f16", "e4m3", 64),
    kernels("bf16", "same", 32),
    kernels("f16", "same", 32),
];

/// Those for wide heads, in smaller tiles.
const WIDE: [Kernels; 6] = [
    kernels("bf16", "same", 256),
    kernels("f16", "same", 512),
    kernels("bf16", "e4m3", 256),
    kernels("f16", "same", 256),
    kernels("bf16", "same", 512),
    kernels("f16", "e4m3", 256),
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
            state: None,
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
    layer: Layer,
) -> WindowPlan {
    let (batch, blocks) = step(rows, settings.block_size);
    let settings = &PlanSettings {
        prefill_rows: plan::prefill_rows(kernels.head_dim),
        ..*settings
    };
    // Other layers' work stands before.
    let windows = [Some(5), None, layer.window];
    let planned = AttentionPlan::new(&batch, settings, &windows).unwrap();
    let plan = *planned.for_window(layer.window).unwrap();
    let kv_bytes = if kernels.cache == "e4m3" { 1 } else { 2 };
    writeln!(
        cases,
        "{name} {} {} {} {} {} {} {blocks} {} {} {} {} {} {} {} {} {} {}",
        kernels.dtype,
        kernels.cache,
        kernels.head_dim,
        settings.heads,
        settings.kv_heads,
        settings.block_size.ilog2(),
        batch.tokens.len(),
        plan.slots,
        plan::prefill_shared_bytes(kernels.head_dim, kv_bytes, false),
        plan::prefill_shared_bytes(kernels.head_dim, kv_bytes, true),
        plan::decode_shared_bytes(kernels.head_dim, kv_bytes),
        layer.window.unwrap_or(0),
        u8::from(layer.sinks),
        layer
            .scale
            .unwrap_or((kernels.head_dim as f64).sqrt().recip()),
        layer.softcap,
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
    list(&[planned.words.len()]);
    list(
        &planned
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
        prefill_rows: 128,
        shared_prefix: true,
        // Whole rows, where a test says nothing else.
        split_keys: Some(1 << 20),
        max_slots: 1 << 16,
    }
}

/// Runs the cases of one test and gives what was printed; the driver is compiled once for all.
fn check(cases: &str) -> String {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    let driver = DRIVER.get_or_init(|| crate::cuda_emulation::build("attention"));
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
    said.into_owned()
}

#[test]
fn decode_rows_of_all_lengths_and_groups() {
    let mut cases = String::new();
    let lengths = [1, 15, 16, 17, 63, 64, 65, 130].map(|keys| row(1, keys));
    for (index, (kernels, group)) in KERNELS
        .iter()
        .zip([4, 5, 8, 2, 1, 4, 5, 8, 2, 4])
        .enumerate()
    {
        let settings = settings(2, group, [16, 32, 64][index % 3]);
        let plan = write_case(
            &mut cases,
            &format!("lengths,group-{group}"),
            kernels,
            &lengths,
            &settings,
            FULL,
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
        FULL,
    );
    assert_eq!(heads.decode.count, 2);
    let tokens = write_case(
        &mut cases,
        "4-tokens",
        &KERNELS[0],
        &[row(4, 4), row(3, 66), row(4, 33)],
        &settings(2, 4, 16),
        FULL,
    );
    assert_eq!((tokens.decode.count, tokens.prefill.count), (3, 0));
    check(&cases);
}

#[test]
fn decode_rows_in_splits() {
    let mut cases = String::new();
    for (splits, kernels) in (1..=5).zip([0, 1, 4, 5, 8]) {
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
            FULL,
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
    for (index, (kernels, group)) in KERNELS
        .iter()
        .zip([4, 5, 1, 2, 8, 4, 5, 1, 2, 4])
        .enumerate()
    {
        // Tiles of the first row end in the middle of a token where the group is 5.
        let rows = [row(40, 40), row(17, 150), row(1, 20), row(65, 65)];
        let plan = write_case(
            &mut cases,
            &format!("prefill,group-{group}"),
            kernels,
            &rows[index % 2..][..3],
            &settings(1, group, [16, 64, 32][index % 3]),
            FULL,
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
            FULL,
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
    for kernels in [
        &KERNELS[0],
        &KERNELS[3],
        &KERNELS[4],
        &KERNELS[5],
        &KERNELS[9],
    ] {
        let plan = write_case(
            &mut cases,
            "shared,prefill-tile",
            kernels,
            &rows,
            &settings(2, 4, 32),
            FULL,
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
            let plan = write_case(&mut cases, "shared,nested", kernels, &rows, &settings, FULL);
            assert_eq!(plan.merges.count, 6);
            assert_eq!(plan.prefill.count, 0);
        }
    }
    check(&cases);
}

#[test]
fn decode_rows_under_windows() {
    let mut cases = String::new();
    let lengths = [200, 1, 15, 16, 17, 63, 65, 130].map(|keys| row(1, keys));
    // Shorter than a block, between blocks, whole blocks, and one that cuts nothing.
    let windows = [1, 7, 16, 17, 48, 64, 100, 200, 33, 90];
    for (index, (kernels, group)) in KERNELS
        .iter()
        .zip([4, 5, 8, 2, 1, 4, 8, 5, 2, 4])
        .enumerate()
    {
        let layer = Layer {
            window: Some(windows[index]),
            sinks: index % 2 == 0,
            ..FULL
        };
        let plan = write_case(
            &mut cases,
            &format!("window-{},group-{group}", windows[index]),
            kernels,
            &lengths,
            &settings(2, group, [16, 32, 64][index % 3]),
            layer,
        );
        assert_eq!((plan.decode.count, plan.slots), (8, 0));
    }
    // Few tokens, whose windows begin in several blocks of 16, or behind the row's first key.
    let tokens = [row(4, 4), row(3, 66), row(4, 33), row(2, 20)];
    for (window, kernels) in [(1, 0), (3, 5), (15, 3), (32, 4)] {
        let plan = write_case(
            &mut cases,
            &format!("window-{window},4-tokens"),
            &KERNELS[kernels],
            &tokens,
            &settings(2, 4, 16),
            Layer {
                window: Some(window),
                sinks: true,
                ..FULL
            },
        );
        assert_eq!((plan.decode.count, plan.prefill.count), (4, 0));
    }
    // A window of several splits: tokens of a row begin and end in different ones.
    for (window, kernels) in [(65, 0), (130, 5), (200, 1)] {
        let plan = write_case(
            &mut cases,
            &format!("window-{window},splits"),
            &KERNELS[kernels],
            &[row(1, 330), row(4, 259), row(3, 64), row(4, 400)],
            &PlanSettings {
                split_keys: Some(64),
                ..settings(2, 4, 32)
            },
            Layer {
                window: Some(window),
                sinks: true,
                ..FULL
            },
        );
        assert!(plan.merges.count > 8, "{plan:?}");
    }
    check(&cases);
}

#[test]
fn prefill_rows_under_windows() {
    let mut cases = String::new();
    let windows = [1, 20, 64, 8, 100, 33, 17, 160, 48, 70];
    for (index, (kernels, group)) in KERNELS
        .iter()
        .zip([4, 5, 1, 2, 8, 4, 5, 1, 2, 4])
        .enumerate()
    {
        let rows = [row(40, 40), row(33, 150), row(1, 90), row(129, 170)];
        let plan = write_case(
            &mut cases,
            &format!("prefill,window-{},group-{group}", windows[index]),
            kernels,
            &rows[index % 2..][..3],
            &settings(1, group, [16, 64, 32][index % 3]),
            Layer {
                window: Some(windows[index]),
                sinks: index % 2 == 1,
                ..FULL
            },
        );
        assert!(plan.prefill.count > 1 && plan.decode.count > 0 && plan.slots == 0);
    }
    // Tokens whose windows lie in one split, in two, and in the first and last of several tiles.
    for (window, kernels) in [(100, 0), (40, 5), (70, 3)] {
        let plan = write_case(
            &mut cases,
            &format!("prefill,window-{window},split"),
            &KERNELS[kernels],
            &[row(70, 250), row(33, 33)],
            &PlanSettings {
                split_keys: Some(64),
                ..settings(1, 4, 16)
            },
            Layer {
                window: Some(window),
                sinks: true,
                ..FULL
            },
        );
        assert!(plan.merges.count >= 70, "{plan:?}");
    }
    check(&cases);
}

/// Of a family some lie in the window whole and attend together, and some are cut and attend alone.
#[test]
fn shared_prefixes_under_windows_and_beside_sinks() {
    let mut cases = String::new();
    let mut rows: Vec<Row> = (0..20).map(|i| under(96, 1, 97 + 7 * i % 50)).collect();
    rows[4] = under(96, 30, 130);
    let settings = settings(2, 4, 32);
    for (window, kernels, together) in [(None, 0, 19), (Some(127), 5, 12), (Some(40), 3, 0)] {
        let layer = Layer {
            window,
            sinks: true,
            ..FULL
        };
        let name = format!("shared,window-{}", window.unwrap_or(0));
        let plan = write_case(
            &mut cases,
            &name,
            &KERNELS[kernels],
            &rows,
            &settings,
            layer,
        );
        assert_eq!(plan.merges.count, together);
    }
    check(&cases);
}

/// Where splits are given and prefixes not shared, a row's result does not depend on the step it is in, to the bit.
#[test]
fn a_row_alone_and_among_others() {
    let mut cases = String::new();
    let firsts = [row(1, 333), row(3, 190), row(40, 170)];
    let settings = PlanSettings {
        split_keys: Some(128),
        shared_prefix: false,
        ..settings(2, 4, 16)
    };
    let layers = [
        FULL,
        Layer {
            window: Some(150),
            sinks: true,
            ..FULL
        },
        Layer {
            window: Some(40),
            sinks: true,
            ..FULL
        },
    ];
    let mut names = Vec::new();
    for (index, first) in firsts.into_iter().enumerate() {
        for layer in layers {
            let name = format!("row-{index},window-{}", layer.window.unwrap_or(0));
            let others = [first, row(1, 290), row(20, 61), row(2, 18)];
            for rows in [&others[..1], &others] {
                write_case(&mut cases, &name, &KERNELS[index], rows, &settings, layer);
            }
            names.push(name);
        }
    }
    let said = check(&cases);
    for name in names {
        let bits: Vec<_> = said
            .lines()
            .filter(|line| line.starts_with(&format!("{name} ")))
            .map(|line| line.rsplit_once(' ').unwrap().1)
            .collect();
        assert_eq!(bits.len(), 2, "{name}");
        assert_eq!(bits[0], bits[1], "{name}");
    }
}

/// Wide heads: rows of all lengths by decode and prefill, cut by windows, in splits, under shared prefixes and beside sinks; scores with
/// a scale of their own, bounded and not.
#[test]
fn wide_heads() {
    let mut cases = String::new();
    let mut rows: Vec<Row> = [1, 16, 17, 130].map(|keys| row(1, keys)).to_vec();
    rows.extend([
        row(40, 100),
        row(3, 66),
        under(96, 1, 102),
        under(96, 21, 120),
    ]);
    rows.extend((0..6).map(|own| under(96, 1, 97 + own)));
    for (index, kernels) in WIDE.iter().enumerate() {
        let layer = |window| Layer {
            window,
            sinks: index % 2 == 0,
            scale: (index % 3 == 0).then_some(0.1),
            softcap: if index % 4 < 2 { 1.5 } else { 0.0 },
        };
        let (kv_heads, group) = [(2, 2), (1, 4), (1, 8), (2, 1)][index % 4];
        let whole = settings(kv_heads, group, [16, 32][index % 2]);
        let name = |what: &str| format!("{what},{},{}", kernels.cache, kernels.head_dim);
        let plan = write_case(
            &mut cases,
            &name("rows"),
            kernels,
            &rows,
            &whole,
            layer(None),
        );
        assert!(
            plan.prefill.count > 1 && plan.decode.count > 4 && plan.merges.count > 0,
            "{plan:?}"
        );
        let cut = PlanSettings {
            split_keys: Some(64),
            shared_prefix: false,
            ..whole
        };
        let plan = write_case(
            &mut cases,
            &name("cut"),
            kernels,
            &rows,
            &cut,
            layer(Some(70)),
        );
        assert!(plan.merges.count > 10, "{plan:?}");
    }
    check(&cases);
}

/// Bounds and scales of scores in the kernels for narrow heads.
#[test]
fn scores_with_bounds() {
    let mut cases = String::new();
    let rows = [row(40, 150), row(1, 90), row(129, 140), row(1, 17)];
    for (index, kernels) in KERNELS.iter().enumerate() {
        let layer = Layer {
            window: (index % 2 == 1).then_some(60),
            sinks: index % 3 == 0,
            scale: Some(0.05 * (1 + index) as f64),
            softcap: [0.5, 3.0, 50.0][index % 3],
        };
        let name = format!("bounded,{}", kernels.head_dim);
        write_case(
            &mut cases,
            &name,
            kernels,
            &rows,
            &settings(1, 4, 32),
            layer,
        );
    }
    check(&cases);
}

/// Of wide heads too a row's result is its own, to the bit.
#[test]
fn a_row_of_wide_heads_alone_and_among_others() {
    let mut cases = String::new();
    let settings = PlanSettings {
        split_keys: Some(128),
        shared_prefix: false,
        ..settings(1, 4, 16)
    };
    let firsts = [row(1, 190), row(17, 70)];
    for kernels in &WIDE[..4] {
        for first in firsts {
            let others = [first, row(1, 90), row(20, 61)];
            let name = format!(
                "own,{},{},{}",
                kernels.cache, kernels.head_dim, first.query_len
            );
            let layer = Layer {
                softcap: 2.0,
                ..FULL
            };
            for rows in [&others[..1], &others] {
                write_case(&mut cases, &name, kernels, rows, &settings, layer);
            }
        }
    }
    let said = check(&cases);
    let lines: Vec<_> = said
        .lines()
        .filter(|line| line.starts_with("own"))
        .collect();
    assert_eq!(lines.len(), 16);
    for pair in lines.chunks(2) {
        let bits = |line: &str| line.rsplit_once(' ').unwrap().1.to_owned();
        assert_eq!(bits(pair[0]), bits(pair[1]), "{}", pair[0]);
    }
}
