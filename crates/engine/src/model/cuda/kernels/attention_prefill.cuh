// Attention of 128 query rows against a range of keys: query tokens × the query heads of one key head, so that a group
// reads its keys once. Also the queries of all members of a shared-prefix group, gathered.
//
// The scheme of FlashAttention-2 (https://arxiv.org/abs/2307.08691): scores, weights and outputs stay in registers. Two stages
// of 64 keys and values: while one is worked on, cp.async fills the other. 96 KiB, two blocks share a multiprocessor. Only
// tiles of which some row does not see all are masked; those that no row sees are skipped.
//
// Wider heads have fewer rows and keys in the same 96 KiB: 64 and 32 at D = 256, where a warp has one tile of rows, and 32 and 16 at
// D = 512, where two warps share a tile of rows: both compute its scores, and each half of the outputs' columns, which are all that
// its registers hold.
//
// Whose products: each warp's own, or those of all four together, which a `Products` says. It has
//   query_at, key_at   where a 16-byte chunk of a row lies in shared memory
//   PERMUTED           whether columns of 8-bit caches are in the order of `key_fragments` and `value_fragments`
//   ROWS_TOGETHER      rows that are masked and skipped together; ROW_TILES tiles of 16 rows a warp, and `first_row` of each
//   TILE_BYTES         memory beside the stages that `tile` needs
//   publish            after the copies, before the barrier
//   tile               after the barrier: where the stage's keys and values lie as products take them
//   attend             one tile of keys: scores, weights, outputs; it calls `load_next` once, early
#pragma once

#include "attention_tile.cuh"

namespace attention {

template <int D> constexpr int prefill_rows = D <= 128 ? 128 : 16384 / D;
template <int D> constexpr int prefill_keys = D <= 128 ? 64 : 8192 / D;
/// Warps that share rows.
template <int D> constexpr unsigned prefill_team = D <= 256 ? 1 : 2;
constexpr int THREADS = 32 * WARPS;
/// Tiles of 16 rows of a warp.
template <int D> constexpr int row_tiles = prefill_rows<D> / 16 * prefill_team<D> / WARPS;

/// The item's queries into shared memory, as products take them. Rows beyond the item are 0.
template <typename T, typename KV, int D, typename Products>
static __device__ __forceinline__ void load_queries(unsigned char* to, const Call<T, KV>& call, const Item& item,
                                                    unsigned kv_head, unsigned group) {
    constexpr int CHUNKS = 2 * D / 16;
#pragma unroll 4
    for (int i = 0; i < prefill_rows<D> * CHUNKS / THREADS; i++) {
        const unsigned chunk = (i * THREADS + threadIdx.x) % CHUNKS;
        const unsigned local = (i * THREADS + threadIdx.x) / CHUNKS;
        const Row row = find_row(item, call.plan, item.row_begin + local, kv_head, group);
        uint4 eight = make_uint4(0, 0, 0, 0);
        if (row.valid)
            eight = load_raw8(call.q + static_cast<size_t>(row.token) * call.q_stride + static_cast<size_t>(row.head) * D +
                              8 * chunk);
        if constexpr (Types<T, KV>::EIGHT_BIT && !Products::PERMUTED) {
            *reinterpret_cast<uint4*>(to + Products::query_at(local, chunk)) =
                make_uint4(to_half2<T>(eight.x), to_half2<T>(eight.y), to_half2<T>(eight.z), to_half2<T>(eight.w));
        } else if constexpr (Products::PERMUTED) {
            // Of 16 columns, `4 c, 4 c + 1` go to `2 c, 2 c + 1` and `4 c + 2, 4 c + 3` to 8 further: see `key_fragments`.
            const unsigned first = chunk & ~1u;
            const unsigned at = (chunk & 1) * 8;
            unsigned char* low = to + Products::query_at(local, first) + at;
            unsigned char* high = to + Products::query_at(local, first + 1) + at;
            *reinterpret_cast<uint2*>(low) = make_uint2(to_half2<T>(eight.x), to_half2<T>(eight.z));
            *reinterpret_cast<uint2*>(high) = make_uint2(to_half2<T>(eight.y), to_half2<T>(eight.w));
        } else {
            *reinterpret_cast<uint4*>(to + Products::query_at(local, chunk)) = eight;
        }
    }
}

template <typename T, typename KV, int D, typename Products>
static __device__ __forceinline__ void prefill_by(const Call<T, KV>& call) {
    constexpr bool EIGHT_BIT = Types<T, KV>::EIGHT_BIT;
    constexpr int ROW_BYTES = D * sizeof(KV);
    constexpr int CHUNKS = ROW_BYTES / 16;
    constexpr int PREFILL_ROWS = prefill_rows<D>;
    constexpr int PREFILL_KEYS = prefill_keys<D>;
    constexpr int ROW_TILES = row_tiles<D>;
    constexpr unsigned TEAM = prefill_team<D>;
    constexpr int STAGE_BYTES = 2 * PREFILL_KEYS * ROW_BYTES;

    const unsigned kv_head = blockIdx.x % call.kv_heads;
    const unsigned index = blockIdx.x / call.kv_heads;
    if (index >= call.item_count)
        return;
    const unsigned group = call.heads / call.kv_heads;
    const Item item = read_item(call.plan, call.items + index * 12);
    const unsigned warp = threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    DYNAMIC_SHARED(shared);
    // Queries, two stages of keys and values, what products need beside these, and which keys each row and each warp sees (in
    // registers it would cost the loop too many).
    constexpr unsigned RING = PREFILL_ROWS * D * 2;
    constexpr unsigned STAGES_XOR = RING ^ (RING + STAGE_BYTES);
    Seen* seen = reinterpret_cast<Seen*>(shared + RING + 2 * STAGE_BYTES + Products::TILE_BYTES);
    uint4* warps = reinterpret_cast<uint4*>(seen + PREFILL_ROWS);

    // What this thread copies of 16 keys: a chunk of each `ROWS_AT_ONCE`th row. (8-bit rows of 64 take half of the threads.)
    constexpr unsigned ROWS_AT_ONCE = THREADS / CHUNKS;
    const unsigned chunk = threadIdx.x % CHUNKS;
    const unsigned row = threadIdx.x / CHUNKS;
    const unsigned key_bytes = call.kv_heads * ROW_BYTES;
    const unsigned own = row * key_bytes + kv_head * ROW_BYTES + chunk * 16;
    // Copies the keys and values from `key` on into the stage at offset `stage`.
    auto load = [&](unsigned key, unsigned stage) {
        if (key < item.key_end && row < 16) {
            unsigned char* to = shared + stage;
            // Every 16 keys lie in one block. Their numbers come from the first-level cache nearly always.
#pragma unroll
            for (int part = 0; part < PREFILL_KEYS / 16; part++) {
                const unsigned first = key + 16 * part;
                const unsigned block = first < item.key_end ? call.plan[item.table + (first >> call.block_shift)] : 0;
                const unsigned slot = (block << call.block_shift) + (first & ((1u << call.block_shift) - 1));
                const size_t offset = static_cast<size_t>(slot) * key_bytes + own;
                const unsigned char* keys = reinterpret_cast<const unsigned char*>(call.keys) + offset;
                const unsigned char* values = reinterpret_cast<const unsigned char*>(call.values) + offset;
#pragma unroll
                for (unsigned i = 0; i < 16; i += ROWS_AT_ONCE) {
                    // Keys beyond the end become 0 and are never read: a weight of 0 must not meet a NaN.
                    const bool valid = first + row + i < item.key_end;
                    const unsigned at = Products::key_at(16 * part + row + i, chunk);
                    cp_async_16(to + at, keys + i * key_bytes, valid);
                    cp_async_16(to + STAGE_BYTES / 2 + at, values + i * key_bytes, valid);
                }
            }
        }
        cp_async_commit();
    };
    load(item.key_begin, RING);
    load_queries<T, KV, D, Products>(shared, call, item, kv_head, group);
    if (threadIdx.x < PREFILL_ROWS)
        seen[threadIdx.x] = seen_by(item, (item.row_begin + threadIdx.x) / group);
    if (lane == 0) {
        // Both ends grow with the rows. Some row sees the keys from x on and before w, all rows those from y on and before z.
        constexpr unsigned TOGETHER = Products::ROWS_TOGETHER;
        const unsigned first_row = item.row_begin + warp / TEAM * 16 * ROW_TILES / TOGETHER * TOGETHER;
        const unsigned last_row = min(first_row + TOGETHER, item.row_end) - 1;
        const Seen first = seen_by(item, first_row / group);
        const Seen last = seen_by(item, last_row / group);
        warps[warp] = make_uint4(first.first, last.first, first.first + first.count,
                                 first_row < item.row_end ? last.first + last.count : 0);
    }
    float factor_of_keys = call.scale;
    if constexpr (EIGHT_BIT)
        factor_of_keys *= E4M3_FACTOR * call.key_scales[kv_head];
    const Scaling scaling(factor_of_keys, call.softcap);

    const Products products(shared, warp, lane);
    Softmax softmax[ROW_TILES];
    float o[ROW_TILES][D / 8 / TEAM][4] = {};
    unsigned stage = RING;
    for (unsigned key = item.key_begin; key < item.key_end; key += PREFILL_KEYS, stage ^= STAGES_XOR) {
        cp_async_wait<0>();
        Products::publish();
        // Everybody's copies of this tile (and queries) are there, and all have left the tile before, whose stage is next.
        __syncthreads();
        const auto load_next = [&] { load(key + PREFILL_KEYS, stage ^ STAGES_XOR); };
        const uint4 bounds = warps[warp];
        if (key >= bounds.w || key + PREFILL_KEYS <= bounds.x) {
            load_next();
            continue;
        }
        const bool masked = key < bounds.y || key + PREFILL_KEYS > bounds.z;
        const unsigned tile = Products::tile(shared, stage, RING + 2 * STAGE_BYTES);
        products.attend(tile, masked ? seen : nullptr, key, softmax, o, scaling, load_next);
    }
    cp_async_wait<0>();

    // Read again, so that registers are free in the loop.
    const Item ended = read_item(call.plan, call.items + index * 12);
#pragma unroll
    for (int r = 0; r < ROW_TILES; r++) {
        softmax[r].finish();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const unsigned local = Products::first_row(warp, r) + 8 * half + lane / 4;
            const Row row = find_row(ended, call.plan, ended.row_begin + local, kv_head, group);
            if (!row.valid)
                continue;
            const float high = softmax[r].high[half] * scaling.scale;
            const float sum = softmax[r].sum[half];
            // No key seen: output 0, log-sum-exp -inf.
            float factor = sum == 0.0f ? 0.0f : 1.0f / sum;
            if constexpr (EIGHT_BIT)
                factor *= E4M3_FACTOR * call.value_scales[kv_head];
            const float row_lse = sum == 0.0f ? -INFINITY : high + log2f(sum);
            const bool whole = row.slot == NO_SLOT;
            if (whole && call.sinks != nullptr)
                factor *= share_beside_sink(call.sinks[row.head], row_lse);
            const size_t to = static_cast<size_t>(whole ? row.token : row.slot) * call.heads + row.head;
            const unsigned part = warp % TEAM;
            if (lane % 4 == 0 && part == 0) {
                if (whole)
                    call.lse[to] = row_lse * LN_2;
                else
                    call.partial_lse[to] = row_lse;
            }
            each_pair<Products::PERMUTED>(o[r], half, lane, [&](unsigned own, float x, float y) {
                const unsigned column = part * (D / TEAM) + own;
                if (whole)
                    *reinterpret_cast<unsigned*>(call.out + to * D + column) = pack2<T>(x * factor, y * factor);
                else
                    *reinterpret_cast<float2*>(call.partial_out + to * D + column) = make_float2(x * factor, y * factor);
            });
        }
    }
}

/// Scores of tile `r` of a warp that its rows do not see become -inf.
template <typename Products, int N>
static __device__ __forceinline__ void mask_tile(float (&s)[N][4], const Seen* seen, unsigned key, unsigned warp, int r) {
    // The lane from its source: kept for here it would take a register through the loop.
    const unsigned lane = threadIdx.x % 32;
    const Seen* of_lane = seen + Products::first_row(warp, r) + lane / 4;
    const Seen rows[2] = {of_lane[0], of_lane[8]};
    mask(s, key, rows, lane);
}

/// Each warp's own products (mma.sync) of 32 rows. 32, not 16: a warp's read of a 64-key tile from shared memory (32 KiB at 16
/// bits, D = 128, and 8 KiB of queries) then feeds 1 MFLOP, and the tensor cores are the limit, not shared memory.
template <typename T, typename KV, int D> struct WarpProducts {
    using P = typename Types<T, KV>::Product;
    static constexpr int ROW_BYTES = D * sizeof(KV);
    static constexpr int STEPS = Types<T, KV>::EIGHT_BIT ? 2 : 1;
    static constexpr int TILES_PER_LOAD = Types<T, KV>::EIGHT_BIT ? 4 : 2;
    static constexpr bool PERMUTED = Types<T, KV>::EIGHT_BIT;
    static constexpr int PREFILL_KEYS = prefill_keys<D>;
    static constexpr int ROW_TILES = row_tiles<D>;
    static constexpr unsigned TEAM = prefill_team<D>;
    static constexpr int OWN = D / TEAM;
    static constexpr unsigned ROWS_TOGETHER = 16 * ROW_TILES;
    static constexpr unsigned TILE_BYTES = 0;

    unsigned char* shared;
    unsigned queries_at, keys_at, values_at, warp, lane;

    __device__ __forceinline__ WarpProducts(unsigned char* shared, unsigned warp, unsigned lane)
        : shared(shared), queries_at(left_start<2 * D>(first_row(warp, 0), lane)), keys_at(key_start<KV, ROW_BYTES>(lane)),
          values_at(PREFILL_KEYS * ROW_BYTES +
                    further<ROW_BYTES>(value_start<ROW_BYTES>(lane), 0, warp % TEAM * (OWN * sizeof(KV) / 16))),
          warp(warp), lane(lane) {}

    static __device__ __forceinline__ unsigned query_at(unsigned row, unsigned chunk) { return swizzled<2 * D>(row, chunk); }
    static __device__ __forceinline__ unsigned key_at(unsigned row, unsigned chunk) {
        return swizzled<ROW_BYTES>(row, chunk);
    }
    static __device__ __forceinline__ unsigned first_row(unsigned warp, int r) {
        return (warp / TEAM * ROW_TILES + r) * 16;
    }
    static __device__ __forceinline__ void publish() {}
    static __device__ __forceinline__ unsigned tile(unsigned char*, unsigned stage, unsigned) { return stage; }

    template <typename Load>
    __device__ __forceinline__ void attend(unsigned tile, const Seen* seen, unsigned key, Softmax (&softmax)[ROW_TILES],
                                           float (&o)[ROW_TILES][OWN / 8][4], const Scaling& scaling,
                                           const Load& load_next) const {
        load_next();
        float s[ROW_TILES][PREFILL_KEYS / 8][4] = {};
#pragma unroll
        for (int k = 0; k < D / 16; k += STEPS) {
            unsigned a[ROW_TILES][STEPS][4];
#pragma unroll
            for (int r = 0; r < ROW_TILES; r++) {
#pragma unroll
                for (int j = 0; j < STEPS; j++)
                    ldmatrix_x4(a[r][j], shared + further<2 * D>(queries_at, 16 * r, 2 * (k + j)));
            }
#pragma unroll
            for (int n = 0; n < PREFILL_KEYS / 8; n += 2) {
                unsigned b[STEPS][2][2];
                key_fragments(b, shared + further<ROW_BYTES>(tile + keys_at, 8 * n, k / STEPS * 2));
#pragma unroll
                for (int j = 0; j < STEPS; j++) {
#pragma unroll
                    for (int r = 0; r < ROW_TILES; r++) {
                        mma_m16n8k16<P>(s[r][n], a[r][j], b[j][0]);
                        mma_m16n8k16<P>(s[r][n + 1], a[r][j], b[j][1]);
                    }
                }
            }
        }
#pragma unroll
        for (int r = 0; r < ROW_TILES; r++) {
            scaling.bound(s[r]);
            if (seen != nullptr)
                mask_tile<WarpProducts>(s[r], seen, key, warp, r);
        }
        unsigned weights[ROW_TILES][PREFILL_KEYS / 16][4];
#pragma unroll
        for (int r = 0; r < ROW_TILES; r++) {
            softmax[r].update(s[r], o[r], scaling.scale);
            weight_fragments<P>(weights[r], s[r]);
        }
#pragma unroll
        for (int k = 0; k < PREFILL_KEYS / 16; k++) {
#pragma unroll
            for (int n = 0; n < OWN / 8; n += TILES_PER_LOAD) {
                unsigned b[TILES_PER_LOAD][2];
                value_fragments(b, shared + further<ROW_BYTES>(tile + values_at, 16 * k, n / TILES_PER_LOAD * 2));
#pragma unroll
                for (int j = 0; j < TILES_PER_LOAD; j++) {
#pragma unroll
                    for (int r = 0; r < ROW_TILES; r++)
                        mma_m16n8k16<P>(o[r][n + j], weights[r][k], b[j]);
                }
            }
        }
    }
};

} // namespace attention
