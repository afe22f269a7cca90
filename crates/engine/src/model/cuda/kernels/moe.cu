// Mixture of experts: which experts a token goes to, the pairs of token and expert in the experts' order, and the weighted sum
// of the experts' results back (as in Qwen3-MoE, https://arxiv.org/abs/2505.09388). Their products are in moe_gemm.cu.
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

} // namespace

/// The k best experts, best first, ties by number, and their weights. A logit is the sum of its `parts`, each a product with a part of the
/// router's weight, and the `bias`. Scores are a softmax over the experts, or with `sigmoid` each is the logit's own, to which `correction`
/// is added to choose, and not to weigh. Weights are times `scale`, and times the expert's own scale where there are `scales`. A warp to a
/// token.
extern "C" __global__ void __launch_bounds__(256)
    moe_route(unsigned* chosen, float* weights, const float* logits, const float* bias, const float* correction,
              const float* scales, int n, int parts, int experts, int k, int renormalise, int sigmoid, float scale) {
    const int lane = threadIdx.x % 32;
    const int token = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    if (token >= n)
        return;
    const float* row = logits + static_cast<int64_t>(token) * parts * experts;
    const auto logit = [&](unsigned expert) {
        float sum = 0.0f; // the smallest part first
        for (int part = parts - 1; part >= 0; part--)
            sum += row[part * experts + expert];
        return bias == nullptr ? sum : sum + bias[expert];
    };
    // Orders of what is not chosen yet; 0 otherwise. Also with NaN among the logits an expert is one that there is.
    unsigned order[ROUTE_HELD];
    unsigned highest_order = 0;
#pragma unroll
    for (int i = 0; i < ROUTE_HELD; i++) {
        const int expert = 32 * i + lane;
        order[i] = 0;
        if (expert < experts) {
            float score = logit(expert);
            if (sigmoid)
                score = ::sigmoid(score) + (correction == nullptr ? 0.0f : correction[expert]);
            order[i] = order_of(score);
        }
        highest_order = max(highest_order, order[i]);
    }
    const float highest = in_order(__reduce_max_sync(ALL_LANES, highest_order));
    float sum = 0.0f;
    if (!sigmoid) {
#pragma unroll
        for (int i = 0; i < ROUTE_HELD; i++)
            sum += 32 * i + lane < experts ? expf(in_order(order[i]) - highest) : 0.0f;
        sum = warp_sum(sum);
    }
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
        const float share = sigmoid ? ::sigmoid(logit(expert)) : expf(in_order(top) - highest) / sum;
        chosen_sum += share;
        if (lane == j) {
            mine = share;
            my_expert = expert;
        }
    }
    if (lane < k) {
        // Sigmoids may all be zero.
        const float share = renormalise ? mine / (chosen_sum == 0.0f ? 1.0f : chosen_sum) : mine;
        chosen[static_cast<int64_t>(token) * k + lane] = my_expert;
        weights[static_cast<int64_t>(token) * k + lane] = share * scale * (scales == nullptr ? 1.0f : scales[my_expert]);
    }
}

// ---- the experts' order -----------------------------------------------------------------------------------------------------------

namespace {

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
        moe_combine_##T(T* out, const T* y, const float* weights, const unsigned* inverse, int n, int width, int k) {  \
        combine<T>(out, y, weights, inverse, n, width, k);                                                             \
    }
MOE(bf16)
MOE(f16)
