// Attention of at most 16 query rows against a range of keys: the query heads of one key head, for one token or a few.
//
// Decode is bound by reading keys and values once from memory. So each of the four warps has its own keys (16 at a time,
// every fourth 16) and its own ring of three stages in shared memory, filled by cp.async: no barrier of the block in the
// loop, and two stages of each warp in flight while the third is worked on. At 16 bits and D = 128 a stage is 8 KiB, a block
// has 64 KiB in flight, and two blocks share a multiprocessor: 128 KiB, where 4.8 TB/s over 132 multiprocessors at 1 µs of
// latency need 36 KiB. A stage is 452 instructions of a warp at 16 bits and 579 in e4m3 (D = 128, counted in the machine code
// for sm_90a). At that bandwidth a multiprocessor reads a stage of 16 bits in 390 cycles of 1.75 GHz and one of e4m3 in 195, in
// which its four schedulers issue up to 1,560 and 780 instructions: reading is the limit at 16 bits, and hardly so in e4m3.
// At the end the warps' results are put together in shared memory.
//
// Wider heads have more outputs than a thread has registers for. There warps work in teams on the same keys: each computes all their
// scores, and 128 columns of the outputs. Two of D = 256 keep three stages in the same 96 KiB; four of D = 512 are one team, with a
// barrier of the block for every 16 keys, and as many stages.
#pragma once

#include "attention_tile.cuh"

namespace attention {

constexpr int DECODE_ROWS = 16;
constexpr int DECODE_KEYS = 16;
constexpr int DECODE_STAGES = 3;
/// Warps that share keys.
template <int D> constexpr unsigned decode_team = D <= 128 ? 1 : D / 128;

/// The left-hand fragments of an item's queries; lane `4 g + c` has rows `g` and `g + 8`. Rows beyond the item are 0.
template <typename T, typename KV, int D>
static __device__ __forceinline__ void load_query_fragments(unsigned (&a)[D / 16][4], const Call<T, KV>& call,
                                                            const Row (&rows)[2], unsigned lane) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const T* query =
            call.q + static_cast<size_t>(rows[half].token) * call.q_stride + static_cast<size_t>(rows[half].head) * D;
#pragma unroll
        for (int k = 0; k < D / 16; k++) {
            a[k][half] = 0;
            a[k][half + 2] = 0;
            if (!rows[half].valid)
                continue;
            if constexpr (Types<T, KV>::EIGHT_BIT) {
                const uint2 four = *reinterpret_cast<const uint2*>(query + 16 * k + 4 * (lane & 3));
                a[k][half] = to_half2<T>(four.x);
                a[k][half + 2] = to_half2<T>(four.y);
            } else {
                const unsigned* pairs = reinterpret_cast<const unsigned*>(query + 16 * k + 2 * (lane & 3));
                a[k][half] = pairs[0];
                a[k][half + 2] = pairs[4];
            }
        }
    }
}

template <typename T, typename KV, int D> static __device__ __forceinline__ void decode(const Call<T, KV>& call) {
    using P = typename Types<T, KV>::Product;
    constexpr bool EIGHT_BIT = Types<T, KV>::EIGHT_BIT;
    constexpr int ROW_BYTES = D * sizeof(KV);
    constexpr int CHUNKS = ROW_BYTES / 16;
    constexpr int STAGE_BYTES = 2 * DECODE_KEYS * ROW_BYTES;
    constexpr int STEPS = EIGHT_BIT ? 2 : 1;
    constexpr int TILES_PER_LOAD = EIGHT_BIT ? 4 : 2;
    constexpr unsigned TEAM = decode_team<D>;
    constexpr unsigned TEAMS = WARPS / TEAM;
    // Columns of the outputs that a warp computes.
    constexpr int OWN = D / TEAM;

    const unsigned kv_head = blockIdx.x % call.kv_heads;
    const unsigned index = blockIdx.x / call.kv_heads;
    if (index >= call.item_count)
        return;
    const unsigned group = call.heads / call.kv_heads;
    const Item item = read_item(call.plan, call.items + index * 12);
    const unsigned warp = threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    const unsigned team = warp / TEAM;
    const unsigned part = warp % TEAM;
    DYNAMIC_SHARED(shared);
    const unsigned ring = team * DECODE_STAGES * STAGE_BYTES;

    // This team's tiles: the keys from `key_begin + 16 (team + TEAMS t)`.
    const unsigned all_tiles = (item.key_end - item.key_begin + DECODE_KEYS - 1) / DECODE_KEYS;
    const unsigned tiles = all_tiles > team ? (all_tiles - team + TEAMS - 1) / TEAMS : 0;
    // Where barriers are the block's, all come as often as the team with the most tiles.
    const unsigned rounds = TEAM == 1 ? tiles : (all_tiles + TEAMS - 1) / TEAMS;
    const unsigned first_key = item.key_begin + DECODE_KEYS * team;
    const unsigned block_mask = (1u << call.block_shift) - 1;
    const size_t token_bytes = static_cast<size_t>(call.kv_heads) * ROW_BYTES;
    const unsigned char* keys = reinterpret_cast<const unsigned char*>(call.keys) + kv_head * ROW_BYTES;
    const unsigned char* values = reinterpret_cast<const unsigned char*>(call.values) + kv_head * ROW_BYTES;
    const unsigned* table = call.plan + item.table;

    // A tile lies in one block. Its number is read a tile ahead, so that no copy waits for it.
    unsigned upcoming = tiles > 0 ? table[first_key >> call.block_shift] : 0;
    auto load = [&](unsigned t) {
        if (t < tiles) {
            const unsigned key = first_key + TEAMS * DECODE_KEYS * t;
            const size_t slot = (static_cast<size_t>(upcoming) << call.block_shift) + (key & block_mask);
            const size_t from = slot * token_bytes;
            unsigned char* to = shared + ring + t % DECODE_STAGES * STAGE_BYTES;
#pragma unroll
            for (unsigned i = part * 32 + lane; i < DECODE_KEYS * CHUNKS; i += 32 * TEAM) {
                const unsigned chunk = i % CHUNKS;
                const unsigned row = i / CHUNKS;
                // Keys beyond the end become 0 and are never read: a weight of 0 must not meet a NaN.
                const bool valid = key + row < item.key_end;
                const size_t offset = from + (valid ? row : 0) * token_bytes + chunk * 16;
                const unsigned at = swizzled<ROW_BYTES>(row, chunk);
                cp_async_16(to + at, keys + offset, valid);
                cp_async_16(to + STAGE_BYTES / 2 + at, values + offset, valid);
            }
            if (t + 1 < tiles)
                upcoming = table[(key + TEAMS * DECODE_KEYS) >> call.block_shift];
        }
        cp_async_commit();
    };
#pragma unroll
    for (unsigned t = 0; t < DECODE_STAGES - 1; t++)
        load(t);

    const Row rows[2] = {find_row(item, call.plan, item.row_begin + lane / 4, kv_head, group),
                         find_row(item, call.plan, item.row_begin + lane / 4 + 8, kv_head, group)};
    const Seen seen[2] = {rows[0].seen, rows[1].seen};
    unsigned a[D / 16][4];
    load_query_fragments<T, KV, D>(a, call, rows, lane);
    float factor_of_keys = call.scale;
    if constexpr (EIGHT_BIT)
        factor_of_keys *= E4M3_FACTOR * call.key_scales[kv_head];
    const Scaling scaling(factor_of_keys, call.softcap);

    const unsigned keys_at = key_start<KV, ROW_BYTES>(lane);
    const unsigned values_at =
        STAGE_BYTES / 2 + further<ROW_BYTES>(value_start<ROW_BYTES>(lane), 0, part * (OWN * sizeof(KV) / 16));
    Softmax softmax;
    float o[OWN / 8][4] = {};
    for (unsigned t = 0; t < rounds; t++) {
        cp_async_wait<DECODE_STAGES - 2>();
        // All lanes' copies of this tile are there, and all have left the tile before, whose stage is filled next.
        if constexpr (TEAM == 1)
            __syncwarp();
        else
            __syncthreads();
        load(t + DECODE_STAGES - 1);
        if (TEAM > 1 && t >= tiles)
            continue;
        const unsigned stage = ring + t % DECODE_STAGES * STAGE_BYTES;
        float s[2][4] = {};
#pragma unroll
        for (int k = 0; k < D / 16; k += STEPS) {
            unsigned b[STEPS][2][2];
            key_fragments(b, shared + further<ROW_BYTES>(stage + keys_at, 0, k / STEPS * 2));
#pragma unroll
            for (int j = 0; j < STEPS; j++) {
                mma_m16n8k16<P>(s[0], a[k + j], b[j][0]);
                mma_m16n8k16<P>(s[1], a[k + j], b[j][1]);
            }
        }
        scaling.bound(s);
        mask(s, first_key + TEAMS * DECODE_KEYS * t, seen, lane);
        softmax.update(s, o, scaling.scale);
        unsigned weights[4];
        weight_fragment<P>(weights, s[0], s[1]);
#pragma unroll
        for (int n = 0; n < OWN / 8; n += TILES_PER_LOAD) {
            unsigned b[TILES_PER_LOAD][2];
            value_fragments(b, shared + further<ROW_BYTES>(stage + values_at, 0, n / TILES_PER_LOAD * 2));
#pragma unroll
            for (int j = 0; j < TILES_PER_LOAD; j++)
                mma_m16n8k16<P>(o[n + j], weights, b[j]);
        }
    }
    cp_async_wait<0>();
    softmax.finish();
    __syncthreads();

    // The stages' memory now carries the teams' results: rows of floats, padded against bank conflicts.
    constexpr int STRIDE = D + 8;
    float* results = reinterpret_cast<float*>(shared);
    float* maxima = results + TEAMS * DECODE_ROWS * STRIDE;
    float* sums = maxima + TEAMS * DECODE_ROWS;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const unsigned row = team * DECODE_ROWS + lane / 4 + 8 * half;
        if (lane % 4 == 0 && part == 0) {
            maxima[row] = softmax.high[half] * scaling.scale;
            sums[row] = softmax.sum[half];
        }
        each_pair<EIGHT_BIT>(o, half, lane, [&](unsigned column, float x, float y) {
            *reinterpret_cast<float2*>(results + row * STRIDE + part * OWN + column) = make_float2(x, y);
        });
    }
    __syncthreads();

    // Eight threads to a row.
    const unsigned local = threadIdx.x / 8;
    const Row row = find_row(item, call.plan, item.row_begin + local, kv_head, group);
    if (!row.valid)
        return;
    float high = -INFINITY;
#pragma unroll
    for (unsigned w = 0; w < TEAMS; w++)
        high = fmaxf(high, maxima[w * DECODE_ROWS + local]);
    const float base = high == -INFINITY ? 0.0f : high;
    float weight[TEAMS];
    float sum = 0.0f;
#pragma unroll
    for (unsigned w = 0; w < TEAMS; w++) {
        weight[w] = exp2_approx(maxima[w * DECODE_ROWS + local] - base);
        sum += sums[w * DECODE_ROWS + local] * weight[w];
    }
    // No key seen: output 0, log-sum-exp -inf.
    float factor = sum == 0.0f ? 0.0f : 1.0f / sum;
    if constexpr (EIGHT_BIT)
        factor *= E4M3_FACTOR * call.value_scales[kv_head];
    const float row_lse = base + log2f(sum);
    const bool whole = row.slot == NO_SLOT;
    if (whole && call.sinks != nullptr)
        factor *= share_beside_sink(call.sinks[row.head], row_lse);
    const size_t to = static_cast<size_t>(whole ? row.token : row.slot) * call.heads + row.head;
    if (threadIdx.x % 8 == 0) {
        if (whole)
            call.lse[to] = row_lse * LN_2;
        else
            call.partial_lse[to] = row_lse;
    }
#pragma unroll
    for (int i = 0; i < D / 32; i++) {
        const unsigned column = i * 32 + threadIdx.x % 8 * 4;
        float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
        for (unsigned w = 0; w < TEAMS; w++) {
            const float4 own = *reinterpret_cast<const float4*>(results + (w * DECODE_ROWS + local) * STRIDE + column);
            total.x += own.x * weight[w];
            total.y += own.y * weight[w];
            total.z += own.z * weight[w];
            total.w += own.w * weight[w];
        }
        total = make_float4(total.x * factor, total.y * factor, total.z * factor, total.w * factor);
        if (whole)
            *reinterpret_cast<uint2*>(call.out + to * D + column) =
                make_uint2(pack2<T>(total.x, total.y), pack2<T>(total.z, total.w));
        else
            *reinterpret_cast<float4*>(call.partial_out + to * D + column) = total;
    }
}

} // namespace attention
