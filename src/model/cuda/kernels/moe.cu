// Mixture of experts: which experts a token goes to, the pairs of token and expert in the experts' order, one matrix product
// of every expert with its rows, and the weighted sum back (as in Qwen3-MoE, https://arxiv.org/abs/2505.09388).
//
// A pair is `token · k + j`: the j-th expert of a token. A row is a place in the experts' order. Nothing is added atomically,
// and a row's result does not depend on its place: a token gets the same result whoever is in the step with it.
#include "common.cuh"

namespace {

// ---- the router -------------------------------------------------------------------------------------------------------------

constexpr int MAX_EXPERTS = 512;
constexpr int ROUTE_HELD = MAX_EXPERTS / 32;

/// An integer of the same order; both zeros are one.
__device__ __forceinline__ unsigned order_of(float x) {
    const unsigned bits = __float_as_uint(x + 0.0f);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
/// The number of that order.
__device__ __forceinline__ float in_order(unsigned order) {
    return __uint_as_float(order & 0x80000000u ? order & 0x7fffffffu : ~order);
}

/// Softmax over the experts, then the k likeliest, likeliest first, ties by number. A warp to a token.
template <typename T>
__device__ __forceinline__ void route(unsigned* chosen, float* weights, const T* logits, int n, int experts, int k,
                                      int renormalise) {
    const int lane = threadIdx.x % 32;
    const int token = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    if (token >= n)
        return;
    const T* row = logits + static_cast<int64_t>(token) * experts;
    // Orders of what is not chosen yet; 0 otherwise. Also with NaN among the logits an expert is one that there is.
    unsigned order[ROUTE_HELD];
    unsigned highest_order = 0;
#pragma unroll
    for (int i = 0; i < ROUTE_HELD; i++) {
        const int expert = 32 * i + lane;
        order[i] = expert < experts ? order_of(to_float(row[expert])) : 0;
        highest_order = max(highest_order, order[i]);
    }
    const float highest = in_order(__reduce_max_sync(ALL_LANES, highest_order));
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < ROUTE_HELD; i++)
        sum += 32 * i + lane < experts ? expf(in_order(order[i]) - highest) : 0.0f;
    sum = warp_sum(sum);
    float mine = 0.0f; // lane j keeps the j-th choice
    unsigned my_expert = 0;
    float chosen_sum = 0.0f;
    for (int j = 0; j < k; j++) {
        unsigned best_order = 0;
        int best = 0;
#pragma unroll
        for (int i = 0; i < ROUTE_HELD; i++)
            if (order[i] > best_order) {
                best_order = order[i];
                best = i;
            }
        const unsigned top = __reduce_max_sync(ALL_LANES, best_order);
        const unsigned candidate = best_order == top ? static_cast<unsigned>(32 * best + lane) : ~0u;
        const unsigned expert = __reduce_min_sync(ALL_LANES, candidate);
#pragma unroll
        for (int i = 0; i < ROUTE_HELD; i++)
            order[i] = static_cast<unsigned>(32 * i + lane) == expert ? 0 : order[i];
        const float share = expf(in_order(top) - highest) / sum;
        chosen_sum += share;
        if (lane == j) {
            mine = share;
            my_expert = expert;
        }
    }
    if (lane < k) {
        chosen[static_cast<int64_t>(token) * k + lane] = my_expert;
        weights[static_cast<int64_t>(token) * k + lane] = renormalise ? mine / chosen_sum : mine;
    }
}

// ---- the experts' order -----------------------------------------------------------------------------------------------------------

constexpr int SORT_THREADS = 512;

/// Four pairs' experts; those beyond the end are none's.
__device__ __forceinline__ void four_experts(const unsigned* chosen, int pairs, int at, unsigned (&experts)[4]) {
    if (at + 4 <= pairs) {
        const uint4 raw = *reinterpret_cast<const uint4*>(chosen + at);
        experts[0] = raw.x;
        experts[1] = raw.y;
        experts[2] = raw.z;
        experts[3] = raw.w;
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        experts[i] = at + i < pairs ? chosen[at + i] : ~0u;
}

// ---- the products ---------------------------------------------------------------------------------------------------------------------

constexpr int TILE_N = 128;
constexpr int TILE_K = 64;
constexpr int CHUNKS = TILE_K / 8; // of eight values in a tile's row
constexpr int OUT_STRIDE = TILE_N + 8; // staged results: rows begin in different banks

template <int TILE_M> struct Shape {
    static constexpr int THREADS = TILE_M == 32 ? 128 : 256;
    static constexpr int STAGES = TILE_M == 32 ? 4 : 3;
    static constexpr int WARPS_N = 4;
    static constexpr int WARPS_M = THREADS / 32 / WARPS_N;
    static constexpr int WARP_M = TILE_M / WARPS_M;
    static constexpr int WARP_N = TILE_N / WARPS_N;
    static constexpr int STAGE = (TILE_M + TILE_N) * TILE_K; // values
    static constexpr int SHARED = STAGES * STAGE * 2;        // bytes
    static_assert(TILE_M * OUT_STRIDE <= STAGES * STAGE, "results are staged where the operands were");
};
static_assert(Shape<32>::SHARED == 81920 && Shape<128>::SHARED == 98304, "the README and the launcher say so");

/// Where chunk `chunk` of row `row` is in a tile: eight rows that are read together lie in different banks.
__device__ __forceinline__ int swizzled(int row, int chunk) { return row * TILE_K + ((chunk ^ row) & 7) * 8; }

/// One tile of `out[rows of an expert] = x · weights[expert]ᵀ + bias[expert]`.
template <typename T, int TILE_M>
__device__ __forceinline__ void multiply(T* out, const T* x, const T* weights, const T* bias, const unsigned* offsets,
                                         const unsigned* permutation, int k, int experts, int outputs, int inputs) {
    using S = Shape<TILE_M>;
    DYNAMIC_SHARED(dynamic);
    T* const shared = reinterpret_cast<T*>(dynamic);
    const int thread = threadIdx.x;
    const int lane = thread % 32;
    const int warp = thread / 32;

    // The grid has room for the worst case; each warp looks up whose tile this is.
    int tile = blockIdx.y;
    int expert = -1;
    int begin = 0, end = 0;
    for (int base = 0; base < experts; base += 32) {
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
        const unsigned behind = __ballot_sync(ALL_LANES, tile < up_to);
        if (behind != 0) {
            const int at = __ffs(static_cast<int>(behind)) - 1;
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
    const T* const expert_weights = weights + static_cast<int64_t>(expert) * outputs * inputs;

    // What this thread copies: chunk `thread % CHUNKS` of some rows of both operands.
    constexpr int ROWS_AT_ONCE = S::THREADS / CHUNKS;
    constexpr int A_COPIES = TILE_M / ROWS_AT_ONCE;
    constexpr int B_COPIES = TILE_N / ROWS_AT_ONCE;
    const int chunk = thread % CHUNKS;
    int a_sources[A_COPIES];
    bool a_valid[A_COPIES];
#pragma unroll
    for (int i = 0; i < A_COPIES; i++) {
        const int row = begin + thread / CHUNKS + i * ROWS_AT_ONCE;
        a_valid[i] = row < end;
        int source = a_valid[i] ? row : begin;
        if (permutation != nullptr)
            source = static_cast<int>(permutation[source] / static_cast<unsigned>(k));
        a_sources[i] = source;
    }
    const auto copy = [&](int stage, int step) {
        T* const a = shared + stage * S::STAGE;
        T* const b = a + TILE_M * TILE_K;
        const int at = step * TILE_K + chunk * 8;
        const bool inside = at < inputs;
        const int from = inside ? at : 0;
#pragma unroll
        for (int i = 0; i < A_COPIES; i++)
            cp_async_16(a + swizzled(thread / CHUNKS + i * ROWS_AT_ONCE, chunk),
                        x + static_cast<int64_t>(a_sources[i]) * inputs + from, inside && a_valid[i]);
#pragma unroll
        for (int i = 0; i < B_COPIES; i++) {
            const int row = thread / CHUNKS + i * ROWS_AT_ONCE;
            const int output = first_output + row;
            const bool valid = inside && output < outputs;
            cp_async_16(b + swizzled(row, chunk),
                        expert_weights + static_cast<int64_t>(output < outputs ? output : 0) * inputs + from, valid);
        }
    };

    constexpr int MS = S::WARP_M / 16;
    constexpr int NS = S::WARP_N / 8;
    const int warp_m = warp / S::WARPS_N * S::WARP_M;
    const int warp_n = warp % S::WARPS_N * S::WARP_N;
    float sums[MS][NS][4] = {};
    const int steps = (inputs + TILE_K - 1) / TILE_K;
#pragma unroll
    for (int stage = 0; stage < S::STAGES - 1; stage++) {
        if (stage < steps)
            copy(stage, stage);
        cp_async_commit();
    }
    for (int step = 0; step < steps; step++) {
        cp_async_wait<S::STAGES - 2>();
        // This step's operands are here, and everyone is done with those of the step before.
        __syncthreads();
        if (step + S::STAGES - 1 < steps)
            copy((step + S::STAGES - 1) % S::STAGES, step + S::STAGES - 1);
        cp_async_commit();
        const T* const a = shared + step % S::STAGES * S::STAGE;
        const T* const b = a + TILE_M * TILE_K;
#pragma unroll
        for (int part = 0; part < TILE_K / 16; part++) {
            unsigned left[MS][4], right[NS / 2][4];
#pragma unroll
            for (int m = 0; m < MS; m++)
                ldmatrix_x4(left[m], a + swizzled(warp_m + 16 * m + lane % 16, 2 * part + lane / 16));
#pragma unroll
            for (int j = 0; j < NS / 2; j++)
                ldmatrix_x4(right[j],
                            b + swizzled(warp_n + 16 * j + lane / 16 * 8 + lane % 8, 2 * part + lane / 8 % 2));
#pragma unroll
            for (int m = 0; m < MS; m++)
#pragma unroll
                for (int j = 0; j < NS; j++) {
                    const unsigned columns[2] = {right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]};
                    mma_m16n8k16<T>(sums[m][j], left[m], columns);
                }
        }
    }
    cp_async_wait<0>();
    __syncthreads();

    // Through shared memory, so that whole vectors are written.
#pragma unroll
    for (int j = 0; j < NS; j++) {
        const int column = warp_n + 8 * j + lane % 4 * 2;
        float2 added = make_float2(0.0f, 0.0f);
        if (bias != nullptr && first_output + column < outputs)
            added = unpack2<T>(*reinterpret_cast<const unsigned*>(bias + static_cast<int64_t>(expert) * outputs +
                                                                  first_output + column));
#pragma unroll
        for (int m = 0; m < MS; m++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                *reinterpret_cast<unsigned*>(shared + (warp_m + 16 * m + 8 * half + lane / 4) * OUT_STRIDE + column) =
                    pack2<T>(sums[m][j][2 * half] + added.x, sums[m][j][2 * half + 1] + added.y);
    }
    __syncthreads();
    for (int i = thread; i < TILE_M * (TILE_N / 8); i += S::THREADS) {
        const int row = i / (TILE_N / 8);
        const int column = i % (TILE_N / 8) * 8;
        if (begin + row < end && first_output + column < outputs)
            store_raw8(out + static_cast<int64_t>(begin + row) * outputs + first_output + column,
                       load_raw8(shared + row * OUT_STRIDE + column));
    }
}

// ---- back to the tokens ---------------------------------------------------------------------------------------------------------------

/// The weighted sum of a token's rows, in the order of its choices.
template <typename T>
__device__ __forceinline__ void combine(T* out, const T* y, const float* weights, const unsigned* inverse, int n, int width,
                                        int k) {
    const int vector = blockIdx.y * blockDim.x + threadIdx.x;
    const int token = blockIdx.x;
    if (token >= n || vector >= width / 8)
        return;
    float sums[8] = {};
    for (int j = 0; j < k; j++) {
        const int64_t pair = static_cast<int64_t>(token) * k + j;
        float values[8];
        unpack8<T>(load_raw8(y + static_cast<int64_t>(inverse[pair]) * width + 8 * vector), values);
        const float weight = weights[pair];
#pragma unroll
        for (int i = 0; i < 8; i++)
            sums[i] += weight * values[i];
    }
    store_raw8(out + static_cast<int64_t>(token) * width + 8 * vector, pack8<T>(sums));
}

} // namespace

/// A stable counting sort; a block to an expert, which counts the pairs of the experts before it.
extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    moe_sort(unsigned* offsets, unsigned* permutation, unsigned* inverse, const unsigned* chosen, int pairs, int experts) {
    __shared__ unsigned before_by_warp[SORT_THREADS / 32];
    __shared__ unsigned own_by_warp[SORT_THREADS / 32];
    const unsigned expert = blockIdx.x;
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    // A thread has a stretch of pairs of its own, of whole vectors.
    const int stretch = ((pairs + SORT_THREADS - 1) / SORT_THREADS + 3) / 4 * 4;
    const int begin = min(static_cast<int>(threadIdx.x) * stretch, pairs);
    const int end = min(begin + stretch, pairs);
    unsigned before = 0, own = 0;
    for (int at = begin; at < end; at += 4) {
        unsigned four[4];
        four_experts(chosen, pairs, at, four);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            before += four[i] < expert ? 1 : 0;
            own += four[i] == expert ? 1 : 0;
        }
    }
    unsigned up_to = own;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        const unsigned other = __shfl_up_sync(ALL_LANES, up_to, by);
        up_to += lane >= by ? other : 0;
    }
    before = __reduce_add_sync(ALL_LANES, before);
    if (lane == 31) {
        before_by_warp[warp] = before;
        own_by_warp[warp] = up_to;
    }
    __syncthreads();
    unsigned first = 0; // the expert's first row
    unsigned all = 0;
    unsigned row = up_to - own;
    for (int i = 0; i < SORT_THREADS / 32; i++) {
        first += before_by_warp[i];
        all += own_by_warp[i];
        row += i < warp ? own_by_warp[i] : 0;
    }
    if (threadIdx.x == 0) {
        offsets[expert] = first;
        if (static_cast<int>(expert) == experts - 1)
            offsets[experts] = first + all;
    }
    if (own == 0)
        return;
    row += first;
    for (int at = begin; at < end; at += 4) {
        unsigned four[4];
        four_experts(chosen, pairs, at, four);
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (four[i] == expert) {
                permutation[row] = static_cast<unsigned>(at + i);
                inverse[at + i] = row;
                row++;
            }
    }
}

#define MOE(T)                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        moe_route_##T(unsigned* experts_of, float* weights, const T* logits, int n, int experts, int k,                \
                      int renormalise) {                                                                               \
        route<T>(experts_of, weights, logits, n, experts, k, renormalise);                                             \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128, 2)                                                               \
        moe_gemm_tile32_##T(T* out, const T* x, const T* weights, const T* bias, const unsigned* offsets,              \
                            const unsigned* permutation, int k, int experts, int outputs, int inputs) {                \
        multiply<T, 32>(out, x, weights, bias, offsets, permutation, k, experts, outputs, inputs);                     \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                               \
        moe_gemm_tile128_##T(T* out, const T* x, const T* weights, const T* bias, const unsigned* offsets,             \
                             const unsigned* permutation, int k, int experts, int outputs, int inputs) {               \
        multiply<T, 128>(out, x, weights, bias, offsets, permutation, k, experts, outputs, inputs);                    \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        moe_combine_##T(T* out, const T* y, const float* weights, const unsigned* inverse, int n, int width, int k) {  \
        combine<T>(out, y, weights, inverse, n, width, k);                                                             \
    }
MOE(bf16)
MOE(f16)
