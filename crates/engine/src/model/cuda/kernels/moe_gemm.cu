// One matrix product of every expert with its rows, which lie in the experts' order (`moe_sort`), or of one weight with all rows. A
// row's result does not depend on its place nor on the tile's size. The weights' format is a parameter (weight_formats.cuh).
#include "weight_formats.cuh"

namespace {

constexpr int OUT_STRIDE = TILE_N + 8; // staged results: rows begin in different banks

template <int TILE_M> struct Rows {
    static constexpr int THREADS = TILE_M == 128 ? 256 : 128;
    /// As many threads to a multiprocessor with either of the larger tiles, whose warps do the same.
    static constexpr int BLOCKS = TILE_M == 64 ? 4 : 2;
    static constexpr int STAGES = TILE_M == 32 ? 4 : 3;
    static constexpr int WARPS_N = TILE_N / WARP_N;
    static constexpr int WARPS_M = THREADS / 32 / WARPS_N;
    static constexpr int WARP_M = TILE_M / WARPS_M;
    static constexpr int X_BYTES = TILE_M * TILE_K * 2;
};

/// Bytes of shared memory.
template <int TILE_M, typename WEIGHTS> constexpr int shared_bytes() {
    constexpr int bytes = Rows<TILE_M>::STAGES * (Rows<TILE_M>::X_BYTES + WEIGHTS::TILE_BYTES);
    static_assert(TILE_M * OUT_STRIDE * 2 <= bytes, "results are staged where the operands were");
    return bytes;
}
#define EXPECT_SHARED(FORMAT, TILE_M, BYTES)                                                                           \
    static_assert(shared_bytes<TILE_M, FORMAT<bf16, Rows<TILE_M>::THREADS>>() == BYTES,                                \
                  "the README and the launcher say so")
EXPECT_SHARED(Plain, 32, 81920);
EXPECT_SHARED(Plain, 128, 98304);
EXPECT_SHARED(E4m3, 32, 49152);
EXPECT_SHARED(E4m3, 128, 73728);
EXPECT_SHARED(Mxfp4, 32, 33792);
EXPECT_SHARED(Mxfp4, 128, 62208);
EXPECT_SHARED(ScaledE4m3, 32, 51200);
EXPECT_SHARED(ScaledE4m3, 64, 50688);
EXPECT_SHARED(ScaledE4m3, 128, 75264);
EXPECT_SHARED(Int4, 32, 36864);
EXPECT_SHARED(Int4, 64, 39936);
EXPECT_SHARED(Int4, 128, 64512);

/// One tile of `out[rows of an expert] = x · weights[expert]ᵀ + bias[expert]`.
template <typename T, int TILE_M, typename WEIGHTS>
__device__ __forceinline__ void multiply(T* out, const T* x, const void* all_weights, const void* scales, const T* bias,
                                         const unsigned* offsets, const unsigned* permutation, int k, int experts,
                                         int outputs, int inputs, int rows) {
    using R = Rows<TILE_M>;
    constexpr int STAGE = R::X_BYTES + WEIGHTS::TILE_BYTES;
    DYNAMIC_SHARED(dynamic);
    const int thread = threadIdx.x;
    const int lane = thread % 32;
    const int warp = thread / 32;

    // The grid has room for the worst case; each warp looks up whose tile this is.
    int tile = blockIdx.y;
    int expert = -1;
    int begin = 0, end = 0;
    if (offsets == nullptr) { // one weight, all rows
        expert = 0;
        begin = tile * TILE_M;
        end = min(begin + TILE_M, rows);
    }
    for (int base = 0; expert < 0 && base < experts; base += 32) {
        const int candidate = base + lane;
        const int from = candidate < experts ? static_cast<int>(offsets[candidate]) : 0;
        const int to = candidate < experts ? static_cast<int>(offsets[candidate + 1]) : 0;
        const int tiles = (to - from + TILE_M - 1) / TILE_M;
        int up_to = tiles;
#pragma unroll
        for (int by = 1; by < 32; by *= 2) {
            const int other = __shfl_up_sync(ALL_LANES, up_to, by);
            up_to += lane >= by ? other : 0;
        }
        const unsigned found = __ballot_sync(ALL_LANES, tile < up_to);
        if (found != 0) {
            const int at = __ffs(static_cast<int>(found)) - 1;
            expert = base + at;
            tile -= __shfl_sync(ALL_LANES, up_to - tiles, at);
            begin = __shfl_sync(ALL_LANES, from, at) + tile * TILE_M;
            end = min(begin + TILE_M, __shfl_sync(ALL_LANES, to, at));
            break;
        }
        tile -= __shfl_sync(ALL_LANES, up_to, 31);
    }
    if (expert < 0)
        return;
    const int first_output = blockIdx.x * TILE_N;
    const WEIGHTS weights(all_weights, scales, Place{expert, first_output, outputs, inputs});

    // What this thread copies of `x`: chunk `thread % CHUNKS` of some rows.
    constexpr int ROWS_AT_ONCE = R::THREADS / CHUNKS;
    constexpr int COPIES = TILE_M / ROWS_AT_ONCE;
    const int chunk = thread % CHUNKS;
    unsigned sources[COPIES]; // in vectors of eight values
#pragma unroll
    for (int i = 0; i < COPIES; i++) {
        // Rows do not mix: behind the last one there may be anything, such as it again.
        int source = min(begin + thread / CHUNKS + i * ROWS_AT_ONCE, end - 1);
        if (permutation != nullptr)
            source = static_cast<int>(permutation[source] / static_cast<unsigned>(k));
        sources[i] = static_cast<unsigned>(source) * static_cast<unsigned>(inputs / 8);
    }
    const auto copy = [&](int stage, int step) {
        unsigned char* const to = dynamic + stage * STAGE;
        const int vector = step * CHUNKS + chunk;
        const bool inside = vector < inputs / 8;
#pragma unroll
        for (int i = 0; i < COPIES; i++)
            cp_async_16(reinterpret_cast<T*>(to) + swizzled(thread / CHUNKS + i * ROWS_AT_ONCE, chunk),
                        x + static_cast<uint64_t>(sources[i] + (inside ? vector : 0)) * 8, inside);
        weights.copy(to + R::X_BYTES, step);
    };

    constexpr int MS = R::WARP_M / 16;
    const int warp_m = warp / R::WARPS_N * R::WARP_M;
    const int warp_n = warp % R::WARPS_N * WARP_N;
    float sums[MS][NS][4] = {};
    const int steps = (inputs + TILE_K - 1) / TILE_K;
#pragma unroll
    for (int stage = 0; stage < R::STAGES - 1; stage++) {
        if (stage < steps)
            copy(stage, stage);
        cp_async_commit();
    }
    for (int step = 0; step < steps; step++) {
        cp_async_wait<R::STAGES - 2>();
        // This step's operands are here, and everyone is done with those of the step before.
        __syncthreads();
        if (step + R::STAGES - 1 < steps)
            copy((step + R::STAGES - 1) % R::STAGES, step + R::STAGES - 1);
        cp_async_commit();
        const unsigned char* const stage = dynamic + step % R::STAGES * STAGE;
        const unsigned char* const tile_n = stage + R::X_BYTES;
#pragma unroll
        for (int part = 0; part < TILE_K / 16; part++) {
            unsigned left[MS][4], right[NS][2];
            // Rows that are 16 apart are swizzled alike.
            const T* const x_rows =
                reinterpret_cast<const T*>(stage) + swizzled(warp_m + lane % 16, 2 * part + lane / 16);
#pragma unroll
            for (int m = 0; m < MS; m++)
                ldmatrix_x4(left[m], x_rows + 16 * m * TILE_K);
            weights.fragments(right, tile_n, warp_n, part);
#pragma unroll
            for (int m = 0; m < MS; m++)
#pragma unroll
                for (int j = 0; j < NS; j++)
                    mma_m16n8k16<T>(sums[m][j], left[m], right[j]);
        }
    }
    cp_async_wait<0>();
    __syncthreads();

    // Through shared memory, so that whole vectors are written.
    T* const shared = reinterpret_cast<T*>(dynamic);
#pragma unroll
    for (int j = 0; j < NS; j++) {
        const int column = warp_n + 8 * j + lane % 4 * 2;
        const int output = first_output + column;
        float2 scale = make_float2(1.0f, 1.0f), added = make_float2(0.0f, 0.0f);
        if (WEIGHTS::SCALED && output < outputs)
            scale = weights.scales(output);
        if (bias != nullptr && output < outputs)
            added = unpack2<T>(
                *reinterpret_cast<const unsigned*>(bias + static_cast<int64_t>(expert) * outputs + output));
#pragma unroll
        for (int m = 0; m < MS; m++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                *reinterpret_cast<unsigned*>(shared + (warp_m + 16 * m + 8 * half + lane / 4) * OUT_STRIDE + column) =
                    pack2<T>(sums[m][j][2 * half] * scale.x + added.x, sums[m][j][2 * half + 1] * scale.y + added.y);
    }
    __syncthreads();
    for (int i = thread; i < TILE_M * (TILE_N / 8); i += R::THREADS) {
        const int row = i / (TILE_N / 8);
        const int column = i % (TILE_N / 8) * 8;
        if (begin + row < end && first_output + column < outputs)
            store_raw8(out + static_cast<int64_t>(begin + row) * outputs + first_output + column,
                       load_raw8(shared + row * OUT_STRIDE + column));
    }
}

/// Codes and factors as numbers, `out` `[outputs, inputs]`. A thread has a group of inputs of an output: pair `p` of its word `t` is
/// of inputs `8p + 2t` and the one after.
template <typename T, typename CODE>
__device__ __forceinline__ void widen(T* out, const void* codes, const float* factors, int outputs, int inputs) {
    constexpr int G = CODE::GROUP, PER = CODE::PER;
    const int groups = inputs / G;
    const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (index >= outputs * groups)
        return;
    const int output = index % 8, group = index / 8 % groups, octet = index / (8 * groups);
    const int steps = (inputs + TILE_K - 1) / TILE_K;
    const int step = octet * steps + group * G / TILE_K;
    const float factor = factors[(step * PER + group * G % TILE_K * PER / TILE_K) * 8 + output];
    const uint4 words = static_cast<const uint4*>(codes)[index];
    T* const to = out + static_cast<int64_t>(octet * 8 + output) * inputs + group * G;
#pragma unroll
    for (int p = 0; p < G / 8; p++)
        store_raw8(to + 8 * p, make_uint4(CODE::pair(words.x, p, factor), CODE::pair(words.y, p, factor),
                                          CODE::pair(words.z, p, factor), CODE::pair(words.w, p, factor)));
}

} // namespace

#define WIDEN(T, FORMAT, NAME)                                                                                         \
    extern "C" __global__ void __launch_bounds__(256) widen_##NAME##_##T(T* out, const void* codes,                    \
                                                                         const float* factors, int outputs,            \
                                                                         int inputs) {                                 \
        widen<T, FORMAT<T>>(out, codes, factors, outputs, inputs);                                                     \
    }
#define MOE_GEMM(T, FORMAT, NAME, TILE_M)                                                                              \
    extern "C" __global__ void __launch_bounds__(Rows<TILE_M>::THREADS, Rows<TILE_M>::BLOCKS)                          \
        NAME##_tile##TILE_M##_##T(T* out, const T* x, const void* weights, const void* scales, const T* bias,          \
                                  const unsigned* offsets, const unsigned* permutation, int k, int experts,            \
                                  int outputs, int inputs, int rows) {                                                 \
        multiply<T, TILE_M, FORMAT<T, Rows<TILE_M>::THREADS>>(out, x, weights, scales, bias, offsets, permutation, k,  \
                                                              experts, outputs, inputs, rows);                         \
    }
#define MOE_GEMMS(T)                                                                                                   \
    MOE_GEMM(T, Plain, moe_gemm, 32)                                                                                   \
    MOE_GEMM(T, Plain, moe_gemm, 128)                                                                                  \
    MOE_GEMM(T, E4m3, moe_gemm_e4m3, 32)                                                                               \
    MOE_GEMM(T, E4m3, moe_gemm_e4m3, 128)                                                                              \
    MOE_GEMM(T, Mxfp4, moe_gemm_mxfp4, 32)                                                                             \
    MOE_GEMM(T, Mxfp4, moe_gemm_mxfp4, 128)                                                                            \
    MOE_GEMM(T, ScaledE4m3, moe_gemm_scaled_e4m3, 32)                                                                  \
    MOE_GEMM(T, ScaledE4m3, moe_gemm_scaled_e4m3, 64)                                                                  \
    MOE_GEMM(T, ScaledE4m3, moe_gemm_scaled_e4m3, 128)                                                                 \
    MOE_GEMM(T, Int4, moe_gemm_int4, 32)                                                                               \
    MOE_GEMM(T, Int4, moe_gemm_int4, 64)                                                                               \
    MOE_GEMM(T, Int4, moe_gemm_int4, 128)                                                                              \
    WIDEN(T, E4m3Code, scaled_e4m3)                                                                                    \
    WIDEN(T, Int4Code, int4)
MOE_GEMMS(bf16)
MOE_GEMMS(f16)
