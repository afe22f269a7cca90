use super::*;
use crate::model::BatchRow;

/// Two rows, one after 20 tokens that are there already.
fn batch() -> StepBatch {
    let mut batch = StepBatch::default();
    for (first, query_len, blocks) in [(20, 37, [0, 1, 2, 3]), (0, 9, [4, 5, 6, 7])] {
        let query_start = batch.tokens.len();
        batch.rows.push(BatchRow {
            query_start,
            query_len,
            context_len: first + query_len,
            blocks: blocks.to_vec(),
            long: false,
            state: None,
        });
        for position in first..first + query_len {
            batch.tokens.push(1);
            batch.positions.push(position as u32);
            batch
                .slots
                .push(blocks[position / 16] * 16 + position as u32 % 16);
        }
    }
    batch
}

#[test]
fn rows_in_pieces_see_what_whole_rows_see() {
    let shape = AttentionShape {
        layers: 1,
        heads: 4,
        kv_heads: 2,
        head_dim: 8,
        softcap: None,
    };
    let batch = batch();
    let n = batch.tokens.len();
    let numbers = |heads: usize, salt: f64| {
        let count = (n * heads * 8) as u32;
        let index = Tensor::arange(0, count, &Device::Cpu).unwrap();
        let index = index.to_dtype(DType::F32).unwrap();
        let numbers = ((index * 1.7).unwrap() + salt).unwrap().sin().unwrap();
        numbers.reshape((n, heads, 8)).unwrap()
    };
    let (q, k, v) = (numbers(4, 1.0), numbers(2, 2.0), numbers(2, 3.0));
    let attend = |most_scores, window| {
        let mut plain = Plain::new(shape, 8, 16, &Device::Cpu, DType::F32).unwrap();
        plain.most_scores = most_scores;
        plain.prepare(&batch).unwrap();
        let largest = plain.step.as_ref().map(|step| {
            let scores = |part: &Rectangle| part.rows * part.queries * part.blocks * 16 * 4;
            step.rectangles.iter().map(scores).max().unwrap_or(0)
        });
        let output = plain.forward(0, window, &q, &k, &v).unwrap();
        let output = output.output.flatten_all().unwrap();
        (output.to_vec1::<f32>().unwrap(), largest.unwrap())
    };
    for window in [None, Some(11)] {
        let (whole, _) = attend(MAX_SCORES, window);
        for most_scores in [1, 1000, 3000] {
            let (pieces, largest) = attend(most_scores, window);
            // Keys come in whole blocks, and a query at least.
            assert!(largest <= most_scores.max(4 * 64) * 4 / 3, "{largest}");
            for (ours, expected) in pieces.iter().zip(&whole) {
                assert!((ours - expected).abs() < 1e-5, "{ours} {expected}");
            }
        }
    }
}
