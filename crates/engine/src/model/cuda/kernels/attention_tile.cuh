// What the attention kernels share: items, the cache's layout in shared memory, fragments, online softmax.
//
// A tile of 16 query rows is one side of mma.m16n8k16. In its layout lane `4 g + c` holds rows `g` and `g + 8`; of a row of
// scores or outputs it holds the columns `2 c` and `2 c + 1` of every 8.
#pragma once

#include "common.cuh"

namespace attention {

constexpr unsigned NO_SLOT = 0xffffffffu;
constexpr unsigned WARPS = 4;
constexpr float LOG2_E = 1.4426950408889634f;
constexpr float LN_2 = 0.6931471805599453f;

/// 2^x to about 2 units in the last place; results below the normal numbers are 0.
static __device__ __forceinline__ float exp2_approx(float x) {
#ifdef JUROR_EMULATION
    return exp2f(x);
#else
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
}

/// e4m3 numbers as bytes.
using E4m3 = unsigned char;

/// The arguments of the decode and prefill kernels, see attention.md. `T` is the type of q and out, `KV` of the cache.
template <typename T, typename KV> struct Call {
    const T* q;
    unsigned q_stride;
    const KV* keys;
    const KV* values;
    const float* key_scales;
    const float* value_scales;
    const float* sinks;
    const unsigned* plan;
    unsigned items;
    unsigned item_count;
    T* out;
    float* lse;
    float* partial_out;
    float* partial_lse;
    unsigned heads;
    unsigned kv_heads;
    unsigned block_shift;
    float scale;
    /// The bound of scores, or 0 for none.
    float softcap;
};

/// The hyperbolic tangent to about 1e-7, by one exponential: `tanh.approx` is good to 2^-11, which a bound of 50 makes 0.02 of a
/// score. Of infinities it is 1 and -1, and NaN stays.
static __device__ __forceinline__ float tanh_by_exp2(float x) {
    return 1.0f - __fdividef(2.0f, 1.0f + exp2_approx(x * (2.0f * LOG2_E)));
}

/// From products of queries and keys to logarithms to base 2: times `scale`, and bounded before that if the model has a bound.
struct Scaling {
    /// What products are multiplied with before the hyperbolic tangent.
    float inner;
    float scale;
    bool bounded;

    __device__ __forceinline__ Scaling(float factor, float softcap)
        : inner(factor / softcap), scale((softcap > 0.0f ? softcap : factor) * LOG2_E), bounded(softcap > 0.0f) {}

    template <int N> __device__ __forceinline__ void bound(float (&s)[N][4]) const {
        if (!bounded)
            return;
#pragma unroll
        for (int n = 0; n < N; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++)
                s[n][e] = tanh_by_exp2(s[n][e] * inner);
        }
    }
};

/// What 8-bit caches change. They are multiplied in f16, which holds every e4m3 number exactly; a bf16 query is rounded to
/// f16, which has more fraction bits, and is cut at the largest f16.
template <typename T, typename KV> struct Types {
    using Product = T;
    static constexpr bool EIGHT_BIT = false;
};
template <typename T> struct Types<T, E4m3> {
    using Product = f16;
    static constexpr bool EIGHT_BIT = true;
};

/// The e4m3 numbers in the high bytes of both halves, as two f16 that are 1/256 of them: sign stays, exponent and fraction
/// move one bit down, and the exponents' biases differ by 8. Subnormals come out right too. NaN becomes 480 / 256.
static __device__ __forceinline__ unsigned e4m3_to_half2(unsigned high_bytes) {
    return (high_bytes & 0x80008000u) | ((high_bytes & 0x7f007f00u) >> 1);
}
constexpr float E4M3_FACTOR = 256.0f;

struct Item {
    unsigned query, row_begin, row_end, seen;
    unsigned key_begin, key_end, table, slot;
    unsigned slot_stride, gathered, window;
};

static __device__ __forceinline__ Item read_item(const unsigned* plan, unsigned word) {
    const uint4* words = reinterpret_cast<const uint4*>(plan + word);
    const uint4 a = words[0];
    const uint4 b = words[1];
    const uint4 c = words[2];
    return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z};
}

/// The keys of an item's range that a query sees: so many positions from `first` on. `key - first < count` is true of these
/// alone, since the difference wraps around below `first`.
struct Seen {
    unsigned first, count;
};

static __device__ __forceinline__ Seen seen_by(const Item& item, unsigned query) {
    const unsigned end = item.seen + query;
    const unsigned first = end > item.window ? end - item.window : 0;
    const unsigned limit = min(end, item.key_end);
    return {first, limit > first ? limit - first : 0};
}

/// A query row of an item.
struct Row {
    bool valid;
    unsigned token;
    /// Query head among all.
    unsigned head;
    /// All other keys are masked.
    Seen seen;
    /// Partial slot, or `NO_SLOT`.
    unsigned slot;
};

static __device__ __forceinline__ Row find_row(const Item& item, const unsigned* plan, unsigned row, unsigned kv_head,
                                               unsigned group) {
    if (row >= item.row_end)
        return {false, 0, 0, {0, 0}, NO_SLOT};
    const unsigned query = row / group;
    const unsigned head = kv_head * group + row % group;
    const Seen seen = seen_by(item, query);
    if (item.gathered) {
        const uint2 pair = *reinterpret_cast<const uint2*>(plan + item.query + 2 * query);
        return {true, pair.x, head, seen, pair.y + item.slot};
    }
    const unsigned slot = item.slot == NO_SLOT ? NO_SLOT : item.slot + query * item.slot_stride;
    return {true, item.query + query, head, seen, slot};
}

/// Byte offset of a 16-byte chunk of a row in shared memory. Chunks are permuted such that any 8 rows' chunks of one column,
/// as ldmatrix reads them, lie in different banks.
template <int ROW_BYTES> static __device__ __forceinline__ unsigned swizzled(unsigned row, unsigned chunk) {
    static_assert(ROW_BYTES >= 64 && ROW_BYTES <= 1024 && (ROW_BYTES & (ROW_BYTES - 1)) == 0, "rows of 4 to 64 chunks");
    if (ROW_BYTES == 64)
        return row * ROW_BYTES + ((chunk ^ (row >> 1 & 3)) << 4);
    return row * ROW_BYTES + ((chunk ^ (row & 7)) << 4);
}

/// Queries as products take them: as stored, or f16 in the order of `key_fragments` of 8-bit keys.
static __device__ __forceinline__ unsigned pack_clamped(float x, float y) {
    constexpr float MAX_HALF = 65504.0f;
    // Comparisons, not fmin: NaN stays NaN.
    x = x > MAX_HALF ? MAX_HALF : x < -MAX_HALF ? -MAX_HALF : x;
    y = y > MAX_HALF ? MAX_HALF : y < -MAX_HALF ? -MAX_HALF : y;
    return pack2<f16>(x, y);
}
template <typename T> static __device__ __forceinline__ unsigned to_half2(unsigned pair) {
    const float2 values = unpack2<T>(pair);
    return pack_clamped(values.x, values.y);
}
template <> __device__ __forceinline__ unsigned to_half2<f16>(unsigned pair) { return pair; }

/// Offset of the chunk `chunk` (even) and row `row` (a multiple of 8) further than `start`, an offset by `swizzled` of a chunk 0
/// or 1. So a lane keeps one offset for each matrix, and the rest is constants.
template <int ROW_BYTES>
static __device__ __forceinline__ unsigned further(unsigned start, unsigned row, unsigned chunk) {
    return (start ^ (chunk << 4)) + row * ROW_BYTES;
}

/// A lane's row and chunk for ldmatrix, as an offset: of left-hand fragments (16 rows of 16 numbers, 2 chunks) ..
template <int ROW_BYTES> static __device__ __forceinline__ unsigned left_start(unsigned row, unsigned lane) {
    return swizzled<ROW_BYTES>(row + (lane & 15), lane >> 4);
}
/// .. of keys: 16 keys and 2 chunks, the matrices in the order that `key_fragments` wants ..
template <typename KV, int ROW_BYTES> static __device__ __forceinline__ unsigned key_start(unsigned lane) {
    if constexpr (sizeof(KV) == 1)
        return swizzled<ROW_BYTES>((lane >> 3 & 1) * 8 + (lane & 7), lane >> 4);
    else
        return swizzled<ROW_BYTES>((lane >> 4) * 8 + (lane & 7), lane >> 3 & 1);
}
/// .. of values: 16 keys and 2 chunks, for `value_fragments`.
template <int ROW_BYTES> static __device__ __forceinline__ unsigned value_start(unsigned lane) {
    return swizzled<ROW_BYTES>((lane >> 3 & 1) * 8 + (lane & 7), lane >> 4);
}

/// Right-hand fragments of scores, for 16 keys and a width of 32 (8-bit) or 16, two chunks: `b[j][n]` multiplies the `j`-th 16
/// of the width with the `n`-th 8 keys.
///
/// 8-bit: of 16 numbers a lane gets 4 neighbours, `4 c ..`, where the product's layout wants `2 c, 2 c + 1, 2 c + 8, 2 c + 9`. A
/// sum may be taken in any order, so queries are given in the same permuted one.
template <int STEPS>
static __device__ __forceinline__ void key_fragments(unsigned (&b)[STEPS][2][2], const unsigned char* keys) {
    unsigned r[4];
    ldmatrix_x4(r, keys);
    if constexpr (STEPS == 2) {
#pragma unroll
        for (int j = 0; j < 2; j++) {
#pragma unroll
            for (int n = 0; n < 2; n++) {
                b[j][n][0] = e4m3_to_half2(__byte_perm(r[2 * j + n], 0, 0x1404));
                b[j][n][1] = e4m3_to_half2(__byte_perm(r[2 * j + n], 0, 0x3424));
            }
        }
    } else {
        b[0][0][0] = r[0];
        b[0][0][1] = r[1];
        b[0][1][0] = r[2];
        b[0][1][1] = r[3];
    }
}

/// Right-hand fragments of outputs, for 16 keys and two chunks: `b[n]` gives the `n`-th output tile of these chunks.
///
/// 8-bit: a chunk of 16 columns makes two tiles, of its even and of its odd columns.
template <int TILES>
static __device__ __forceinline__ void value_fragments(unsigned (&b)[TILES][2], const unsigned char* values) {
    unsigned r[4];
    ldmatrix_x4_trans(r, values);
    if constexpr (TILES == 4) {
#pragma unroll
        for (int j = 0; j < 2; j++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                b[2 * j][half] = e4m3_to_half2(r[2 * j + half] << 8);
                b[2 * j + 1][half] = e4m3_to_half2(r[2 * j + half]);
            }
        }
    } else {
        b[0][0] = r[0];
        b[0][1] = r[1];
        b[1][0] = r[2];
        b[1][1] = r[3];
    }
}

/// Calls `use(column, x, y)` for each two neighbouring columns of the lane's row `half` in output tiles `o`.
template <bool EIGHT_BIT, int TILES, typename Use>
static __device__ __forceinline__ void each_pair(const float (&o)[TILES][4], int half, unsigned lane, Use use) {
    const unsigned c = lane & 3;
    if constexpr (EIGHT_BIT) {
#pragma unroll
        for (int t = 0; t < TILES; t += 2) {
            use(8 * t + 4 * c, o[t][2 * half], o[t + 1][2 * half]);
            use(8 * t + 4 * c + 2, o[t][2 * half + 1], o[t + 1][2 * half + 1]);
        }
    } else {
#pragma unroll
        for (int t = 0; t < TILES; t++)
            use(8 * t + 2 * c, o[t][2 * half], o[t][2 * half + 1]);
    }
}

/// Running maximum and sum of a lane's two rows. The maximum is of all columns, the sum of the lane's own. What is called the
/// maximum may lag behind the true one by `SLACK` in logarithms to base 2: then weights reach 2^SLACK, and outputs need not be
/// scaled with every tile. (FlashAttention-4 does so.) It is decided row by row, so that a row's result is its own.
struct Softmax {
    static constexpr float SLACK = 8.0f;

    float high[2] = {-INFINITY, -INFINITY};
    float sum[2] = {0.0f, 0.0f};

    /// Turns scores, `s[n]` those of the `n`-th 8 keys, into weights, and scales `o` to the new maximum.
    /// `scale` makes scores logarithms to base 2.
    template <int N, int TILES>
    __device__ __forceinline__ void update(float (&s)[N][4], float (&o)[TILES][4], float scale) {
        float old[2];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            // Two chains of comparisons and two of additions: they are what a warp waits for.
            float row_high[2] = {s[0][2 * half], s[0][2 * half + 1]};
#pragma unroll
            for (int n = 1; n < N; n++) {
                row_high[0] = fmaxf(row_high[0], s[n][2 * half]);
                row_high[1] = fmaxf(row_high[1], s[n][2 * half + 1]);
            }
            float all = fmaxf(row_high[0], row_high[1]);
            all = fmaxf(all, __shfl_xor_sync(ALL_LANES, all, 1));
            all = fmaxf(all, __shfl_xor_sync(ALL_LANES, all, 2));
            // From -inf it is infinitely far, unless all are: -inf - -inf is more than nothing.
            const float new_high = (all - high[half]) * scale > SLACK ? all : high[half];
            // A row that has seen no key yet: -inf - 0, and never -inf - -inf.
            const float base = new_high == -INFINITY ? 0.0f : new_high * scale;
            // Where it stays, exactly 1: the compiler may fuse the product with the subtraction, and leave its rounding.
            old[half] = new_high == high[half] ? 1.0f : exp2_approx(high[half] * scale - base);
            high[half] = new_high;
            float row_sum[2] = {0.0f, 0.0f};
#pragma unroll
            for (int n = 0; n < N; n++) {
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    float& weight = s[n][2 * half + e];
                    weight = exp2_approx(weight * scale - base);
                    row_sum[e] += weight;
                }
            }
            sum[half] = sum[half] * old[half] + (row_sum[0] + row_sum[1]);
        }
        // By 1 nothing would change.
        if (__any_sync(ALL_LANES, old[0] != 1.0f || old[1] != 1.0f)) {
#pragma unroll
            for (int t = 0; t < TILES; t++) {
#pragma unroll
                for (int e = 0; e < 4; e++)
                    o[t][e] *= old[e >> 1];
            }
        }
    }

    /// Makes the sums those of all columns.
    __device__ __forceinline__ void finish() {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            sum[half] += __shfl_xor_sync(ALL_LANES, sum[half], 1);
            sum[half] += __shfl_xor_sync(ALL_LANES, sum[half], 2);
        }
    }
};

/// Scores of keys that a row does not see become -inf. `s[n]` are the keys from `key + 8 n`.
template <int N>
static __device__ __forceinline__ void mask(float (&s)[N][4], unsigned key, const Seen (&seen)[2], unsigned lane) {
    const unsigned column = key + 2 * (lane & 3);
    const unsigned from[2] = {column - seen[0].first, column - seen[1].first};
#pragma unroll
    for (int n = 0; n < N; n++) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            if (from[e >> 1] + 8 * n + (e & 1) >= seen[e >> 1].count)
                s[n][e] = -INFINITY;
        }
    }
}

/// What a head's sink leaves of the weight to the keys: e^lse of e^lse + e^sink. `lse` is to base 2. A sink is one more
/// score, which has no value; so it is one factor on the output, whatever parts that was made of.
static __device__ __forceinline__ float share_beside_sink(float sink, float lse) {
    return 1.0f / (1.0f + exp2_approx(sink * LOG2_E - lse));
}

/// Weights of two 8-key columns as the left-hand fragment of 16 keys.
template <typename P>
static __device__ __forceinline__ void weight_fragment(unsigned (&a)[4], const float (&low)[4], const float (&high)[4]) {
    a[0] = pack2<P>(low[0], low[1]);
    a[1] = pack2<P>(low[2], low[3]);
    a[2] = pack2<P>(high[0], high[1]);
    a[3] = pack2<P>(high[2], high[3]);
}
template <typename P, int N>
static __device__ __forceinline__ void weight_fragments(unsigned (&a)[N][4], const float (&weights)[2 * N][4]) {
#pragma unroll
    for (int k = 0; k < N; k++)
        weight_fragment<P>(a[k], weights[2 * k], weights[2 * k + 1]);
}

} // namespace attention
