// Attention of 128 query rows against a range of keys: query tokens × the query heads of one key head, so that a group
// reads its keys once. Also the queries of all members of a shared-prefix group, gathered.
//
// The scheme of FlashAttention-2 (https://arxiv.org/abs/2307.08691): four warps, each with 32 of the rows and all keys; scores,
// weights and outputs stay in registers. 32 rows, not 16: a warp's read of a 64-key tile from shared memory (32 KiB at 16 bits,
// D = 128, and 8 KiB of queries) then feeds 1 MFLOP, and the tensor cores are the limit, not shared memory.
// Two stages of 64 keys and values: while one is worked on, cp.async fills the other. 96 KiB, two blocks share a
// multiprocessor. Only tiles of which some row of a warp does not see all are masked; those that none of its rows sees are
// skipped.
#pragma once

#include "attention_tile.cuh"

namespace attention {

constexpr int PREFILL_ROWS = 128;
constexpr int PREFILL_KEYS = 64;
constexpr int THREADS = 32 * WARPS;

/// The item's queries into shared memory, as products take them. Rows beyond the item are 0.
template <typename T, typename KV, int D>
static __device__ __forceinline__ void load_queries(unsigned char* to, const Call<T, KV>& call, const Item& item,
                                                    unsigned kv_head, unsigned group) {
    constexpr int ROW_BYTES = 2 * D;
    constexpr int CHUNKS = ROW_BYTES / 16;
#pragma unroll 4
    for (int i = 0; i < PREFILL_ROWS * CHUNKS / THREADS; i++) {
        const unsigned chunk = (i * THREADS + threadIdx.x) % CHUNKS;
        const unsigned local = (i * THREADS + threadIdx.x) / CHUNKS;
        const Row row = find_row(item, call.plan, item.row_begin + local, kv_head, group);
        uint4 eight = make_uint4(0, 0, 0, 0);
        if (row.valid)
            eight = load_raw8(call.q + static_cast<size_t>(row.token) * call.q_stride + static_cast<size_t>(row.head) * D +
                              8 * chunk);
        if constexpr (Types<T, KV>::EIGHT_BIT) {
            // Of 16 columns, `4 c, 4 c + 1` go to `2 c, 2 c + 1` and `4 c + 2, 4 c + 3` to 8 further: see `key_fragments`.
            const unsigned first = chunk & ~1u;
            const unsigned at = (chunk & 1) * 8;
            unsigned char* low = to + swizzled<ROW_BYTES>(local, first) + at;
            unsigned char* high = to + swizzled<ROW_BYTES>(local, first + 1) + at;
            *reinterpret_cast<uint2*>(low) = make_uint2(to_half2<T>(eight.x), to_half2<T>(eight.z));
            *reinterpret_cast<uint2*>(high) = make_uint2(to_half2<T>(eight.y), to_half2<T>(eight.w));
        } else {
            *reinterpret_cast<uint4*>(to + swizzled<ROW_BYTES>(local, chunk)) = eight;
        }
    }
}

template <typename T, typename KV, int D> static __device__ __forceinline__ void prefill(const Call<T, KV>& call) {
    using P = typename Types<T, KV>::Product;
    constexpr bool EIGHT_BIT = Types<T, KV>::EIGHT_BIT;
    constexpr int ROW_BYTES = D * sizeof(KV);
    constexpr int CHUNKS = ROW_BYTES / 16;
    constexpr int STAGE_BYTES = 2 * PREFILL_KEYS * ROW_BYTES;
    constexpr int STEPS = EIGHT_BIT ? 2 : 1;
    constexpr int TILES_PER_LOAD = EIGHT_BIT ? 4 : 2;
    constexpr int ROW_TILES = PREFILL_ROWS / 16 / WARPS;

    const unsigned kv_head = blockIdx.x % call.kv_heads;
    const unsigned index = blockIdx.x / call.kv_heads;
    if (index >= call.item_count)
        return;
    const unsigned group = call.heads / call.kv_heads;
    const Item item = read_item(call.plan, call.items + index * 12);
    const unsigned warp = threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    DYNAMIC_SHARED(shared);
    // Queries, two stages of keys and values, and which keys each row and each warp sees (in registers it would cost the loop
    // too many).
    constexpr unsigned RING = PREFILL_ROWS * D * 2;
    constexpr unsigned STAGES_XOR = RING ^ (RING + STAGE_BYTES);
    Seen* seen = reinterpret_cast<Seen*>(shared + RING + 2 * STAGE_BYTES);
    uint4* warps = reinterpret_cast<uint4*>(seen + PREFILL_ROWS);

    // Copies the keys and values from `key` on into the stage at offset `stage`.
    auto load = [&](unsigned key, unsigned stage) {
        if (key < item.key_end) {
            const unsigned char* keys = reinterpret_cast<const unsigned char*>(call.keys);
            const unsigned char* values = reinterpret_cast<const unsigned char*>(call.values);
            unsigned char* to = shared + stage;
            // Every 16 keys lie in one block. Their numbers come from the first-level cache nearly always.
#pragma unroll
            for (int part = 0; part < PREFILL_KEYS / 16; part++) {
                const unsigned first = key + 16 * part;
                const unsigned block = first < item.key_end ? call.plan[item.table + (first >> call.block_shift)] : 0;
                const size_t slot =
                    (static_cast<size_t>(block) << call.block_shift) + (first & ((1u << call.block_shift) - 1));
#pragma unroll
                for (int i = 0; i < (16 * CHUNKS + THREADS - 1) / THREADS; i++) {
                    const unsigned chunk = (i * THREADS + threadIdx.x) % CHUNKS;
                    const unsigned row = (i * THREADS + threadIdx.x) / CHUNKS;
                    // 8-bit rows of 64 take half of the threads.
                    if (16 * CHUNKS < THREADS && row >= 16)
                        continue;
                    // Keys beyond the end become 0 and are never read: a weight of 0 must not meet a NaN.
                    const bool valid = first + row < item.key_end;
                    const size_t offset =
                        ((slot + (valid ? row : 0)) * call.kv_heads + kv_head) * ROW_BYTES + chunk * 16;
                    const unsigned at = swizzled<ROW_BYTES>(16 * part + row, chunk);
                    cp_async_16(to + at, keys + offset, valid);
                    cp_async_16(to + STAGE_BYTES / 2 + at, values + offset, valid);
                }
            }
        }
        cp_async_commit();
    };
    load(item.key_begin, RING);
    load_queries<T, KV, D>(shared, call, item, kv_head, group);
    seen[threadIdx.x] = seen_by(item, (item.row_begin + threadIdx.x) / group);
    if (lane == 0) {
        // Both ends grow with the rows. Some row sees the keys from x on and before w, all rows those from y on and before z.
        const unsigned first_row = item.row_begin + warp * 16 * ROW_TILES;
        const unsigned last_row = min(first_row + 16 * ROW_TILES, item.row_end) - 1;
        const Seen first = seen_by(item, first_row / group);
        const Seen last = seen_by(item, last_row / group);
        warps[warp] = make_uint4(first.first, last.first, first.first + first.count,
                                 first_row < item.row_end ? last.first + last.count : 0);
    }
    float scale = call.scale * LOG2_E;
    if constexpr (EIGHT_BIT)
        scale *= E4M3_FACTOR * call.key_scales[kv_head];

    const unsigned queries_at = left_start<2 * D>(warp * ROW_TILES * 16, lane);
    const unsigned keys_at = key_start<KV, ROW_BYTES>(lane);
    const unsigned values_at = STAGE_BYTES / 2 + value_start<ROW_BYTES>(lane);
    Softmax softmax[ROW_TILES];
    float o[ROW_TILES][D / 8][4] = {};
    unsigned stage = RING;
    for (unsigned key = item.key_begin; key < item.key_end; key += PREFILL_KEYS, stage ^= STAGES_XOR) {
        cp_async_wait<0>();
        // Everybody's copies of this tile (and queries) are there, and all have left the tile before, whose stage is next.
        __syncthreads();
        load(key + PREFILL_KEYS, stage ^ STAGES_XOR);
        const uint4 bounds = warps[warp];
        if (key >= bounds.w || key + PREFILL_KEYS <= bounds.x)
            continue;
        const bool masked = key < bounds.y || key + PREFILL_KEYS > bounds.z;
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
                key_fragments(b, shared + further<ROW_BYTES>(stage + keys_at, 8 * n, k / STEPS * 2));
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
        if (masked) {
#pragma unroll
            for (int r = 0; r < ROW_TILES; r++) {
                // The lane from its source: kept for here it would take a register through the loop.
                const Seen* of_lane = seen + (warp * ROW_TILES + r) * 16 + threadIdx.x % 32 / 4;
                const Seen rows[2] = {of_lane[0], of_lane[8]};
                mask(s[r], key, rows, lane);
            }
        }
        unsigned weights[ROW_TILES][PREFILL_KEYS / 16][4];
#pragma unroll
        for (int r = 0; r < ROW_TILES; r++) {
            softmax[r].update(s[r], o[r], scale);
#pragma unroll
            for (int k = 0; k < PREFILL_KEYS / 16; k++)
                weight_fragment<P>(weights[r][k], s[r][2 * k], s[r][2 * k + 1]);
        }
#pragma unroll
        for (int k = 0; k < PREFILL_KEYS / 16; k++) {
#pragma unroll
            for (int n = 0; n < D / 8; n += TILES_PER_LOAD) {
                unsigned b[TILES_PER_LOAD][2];
                value_fragments(b, shared + further<ROW_BYTES>(stage + values_at, 16 * k, n / TILES_PER_LOAD * 2));
#pragma unroll
                for (int j = 0; j < TILES_PER_LOAD; j++) {
#pragma unroll
                    for (int r = 0; r < ROW_TILES; r++)
                        mma_m16n8k16<P>(o[r][n + j], weights[r][k], b[j]);
                }
            }
        }
    }
    cp_async_wait<0>();

    // Read again, so that registers are free in the loop.
    const Item ended = read_item(call.plan, call.items + index * 12);
#pragma unroll
    for (int r = 0; r < ROW_TILES; r++) {
        softmax[r].finish();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const Row row =
                find_row(ended, call.plan, ended.row_begin + (warp * ROW_TILES + r) * 16 + 8 * half + lane / 4, kv_head, group);
            if (!row.valid)
                continue;
            const float high = softmax[r].high[half] * scale;
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
            if (lane % 4 == 0) {
                if (whole)
                    call.lse[to] = row_lse * LN_2;
                else
                    call.partial_lse[to] = row_lse;
            }
            each_pair<EIGHT_BIT>(o[r], half, lane, [&](unsigned column, float x, float y) {
                if (whole)
                    *reinterpret_cast<unsigned*>(call.out + to * D + column) = pack2<T>(x * factor, y * factor);
                else
                    *reinterpret_cast<float2*>(call.partial_out + to * D + column) = make_float2(x * factor, y * factor);
            });
        }
    }
}

} // namespace attention
