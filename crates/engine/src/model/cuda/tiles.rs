//! In tiles of how many rows a product with one weight is done (`kernels/moe_gemm.cu`).

/// A weight's outputs in one thread block, whatever the tile.
pub(super) const OUTPUTS: usize = 128;

/// A tile's rows, and the instructions that the warps of its thread block issue for 64 inputs, of weights in four bits (`nvdisasm`,
/// `sm_90a`; e4m3's are in proportion). A warp widens a weight once for 32 rows or for 64; a tile of 128 has twice the warps.
const TILES: [(usize, usize); 3] = [(32, 4 * 377), (64, 4 * 441), (128, 8 * 425)];

/// The tile with which the multiprocessor that has most thread blocks has least to do: rows that only fill a tile cost as much as
/// others, and a multiprocessor without a block does nothing. Results do not depend on it.
pub(super) fn rows_of_tile(rows: usize, outputs: usize, multiprocessors: usize) -> usize {
    let busiest = |(tile, instructions): (usize, usize)| {
        let blocks = rows.div_ceil(tile) * outputs.div_ceil(OUTPUTS);
        blocks.div_ceil(multiprocessors) * instructions
    };
    let [first, others @ ..] = TILES;
    let least = others.into_iter().fold(first, |least, tile| {
        if busiest(tile) < busiest(least) {
            tile
        } else {
            least
        }
    });
    least.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an H100 or H200 has.
    const MULTIPROCESSORS: usize = 132;

    #[test]
    fn rows_that_only_fill_a_tile_are_not_multiplied() {
        // Gate and up of a 70B: 448 thread blocks for each tile of rows.
        let tile = |rows| rows_of_tile(rows, 57_344, MULTIPROCESSORS);
        assert_eq!([1, 32, 33, 52, 64].map(tile), [32, 32, 64, 64, 64]);
        for (rows, filled) in [(150usize, 192), (237, 256), (256, 256), (300, 320)] {
            assert_eq!(rows.div_ceil(tile(rows)) * tile(rows), filled);
        }
    }

    #[test]
    fn narrow_weights_keep_more_multiprocessors_busy() {
        // Down of an 8B, and 237 rows: two tiles of 128 are 64 thread blocks, four of 64 twice as many.
        assert_eq!(rows_of_tile(237, 4096, MULTIPROCESSORS), 64);
        // Down of a 70B, and 64 rows: two tiles of 32 are 128.
        assert_eq!(rows_of_tile(64, 8192, MULTIPROCESSORS), 32);
        // Where all are busy, the fewest instructions.
        assert_eq!(rows_of_tile(256, 24_576, MULTIPROCESSORS), 128);
        assert_eq!(rows_of_tile(256, 24_576, 1), 128);
    }
}
