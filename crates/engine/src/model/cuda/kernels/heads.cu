// A fused projection of queries, keys and values, to where attention wants them: norm by head, rotary embedding
// (https://arxiv.org/abs/2104.09864), queries packed, keys and values straight into their cache slots.
//
// A group of lanes takes one head of one token. A lane holds eight values of the head's first half and the eight they are
// rotated with, `head_dim / 2` further on.
//
// `form` says what a family does otherwise: values may be the projected keys, and may be normed, without a weight (both Gemma 4);
// norms may follow the rotation (Hunyuan).
#include "common.cuh"

namespace {

constexpr unsigned NO_SLOT = 0xffffffffu;
constexpr unsigned KEYS_ARE_VALUES = 1;
constexpr unsigned NORMS_VALUES = 2;
constexpr unsigned NORMS_LAST = 4;

template <typename T>
__device__ __forceinline__ void store_cached(T* cache, int64_t at, const float (&values)[8], float) {
    store_raw8(cache + at, pack8<T>(values));
}
template <typename T>
__device__ __forceinline__ void store_cached(uint8_t* cache, int64_t at, const float (&values)[8], float scale) {
    store_e4m3x8(cache + at, values, scale);
}

template <typename T, typename CACHE>
__device__ __forceinline__ void split_heads(T* q, CACHE* k_cache, CACHE* v_cache, const T* qkv,
                                            const float* q_norm, const float* k_norm, const float* cos, const float* sin,
                                            const unsigned* angles, const unsigned* slots, const float* k_scale,
                                            const float* v_scale, const float* q_scales, int n, int heads, int kv_heads,
                                            int head_dim, unsigned form, float eps) {
    const int lanes = head_dim / 16;
    int group = 1;
    while (group < lanes)
        group *= 2;
    const int all = heads + 2 * kv_heads;
    const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int item = index / group;
    const int lane = index % group;
    const int token = item / all;
    const int head = item % all;
    const bool is_value = head >= heads + kv_heads;
    // Every lane stays to the last shuffle, with or without a head.
    const bool active = token < n && lane < lanes;
    const int half = head_dim / 2;
    float low[8] = {}, high[8] = {};
    if (active) {
        const bool shared = (form & KEYS_ARE_VALUES) != 0;
        const int row = shared && is_value ? head - kv_heads : head;
        const int64_t first = static_cast<int64_t>(token) * (shared ? all - kv_heads : all) + row;
        const T* from = qkv + first * head_dim + 8 * lane;
        unpack8<T>(load_raw8(from), low);
        unpack8<T>(load_raw8(from + half), high);
    }
    const float* weight = is_value ? nullptr : head < heads ? q_norm : k_norm;
    const auto norm = [&] {
        float squares = 0.0f;
#pragma unroll
        for (int i = 0; i < 8; i++)
            squares += low[i] * low[i] + high[i] * high[i];
        for (int by = group / 2; by > 0; by /= 2)
            squares += __shfl_xor_sync(ALL_LANES, squares, by);
        if (!active || (is_value ? (form & NORMS_VALUES) == 0 : weight == nullptr))
            return;
        const float factor = rsqrtf(squares / static_cast<float>(head_dim) + eps);
        float low_weight[8], high_weight[8];
#pragma unroll
        for (int i = 0; i < 8; i++)
            low_weight[i] = high_weight[i] = 1.0f;
        if (weight != nullptr) {
            load8(weight + 8 * lane, low_weight);
            load8(weight + half + 8 * lane, high_weight);
        }
#pragma unroll
        for (int i = 0; i < 8; i++) {
            low[i] *= factor * low_weight[i];
            high[i] *= factor * high_weight[i];
        }
    };
    const bool normed = q_norm != nullptr || k_norm != nullptr || (form & NORMS_VALUES) != 0;
    if (normed && (form & NORMS_LAST) == 0)
        norm();
    if (active && !is_value) {
        const int64_t angle = static_cast<int64_t>(angles[token]) * half + 8 * lane;
        float cosines[8], sines[8];
        load8(cos + angle, cosines);
        load8(sin + angle, sines);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const float x = low[i], y = high[i];
            low[i] = x * cosines[i] - y * sines[i];
            high[i] = y * cosines[i] + x * sines[i];
        }
    }
    if (normed && (form & NORMS_LAST) != 0)
        norm();
    if (!active)
        return;
    if (head < heads && q_scales != nullptr) {
        const float scale = q_scales[token];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            low[i] *= scale;
            high[i] *= scale;
        }
    }
    if (head < heads) {
        T* to = q + (static_cast<int64_t>(token) * heads + head) * head_dim + 8 * lane;
        store_raw8(to, pack8<T>(low));
        store_raw8(to + half, pack8<T>(high));
        return;
    }
    const unsigned slot = slots[token];
    if (slot == NO_SLOT)
        return;
    const int kv_head = (head - heads) % kv_heads;
    const int64_t at = (static_cast<int64_t>(slot) * kv_heads + kv_head) * head_dim + 8 * lane;
    float scale = 1.0f;
    if constexpr (sizeof(CACHE) == 1)
        scale = (is_value ? v_scale : k_scale)[kv_head];
    CACHE* cache = is_value ? v_cache : k_cache;
    store_cached<T>(cache, at, low, scale);
    store_cached<T>(cache, at + half, high, scale);
}

} // namespace

#define SPLIT_HEADS(T)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(256) split_heads_write_kv_##T(                                        \
        T* q, T* k_cache, T* v_cache, const T* qkv, const float* q_norm, const float* k_norm, const float* cos,        \
        const float* sin, const unsigned* angles, const unsigned* slots, const float* k_scale,                         \
        const float* v_scale, const float* q_scales, int n, int heads, int kv_heads, int head_dim, unsigned form,      \
        float eps) {                                                                                                   \
        split_heads<T, T>(q, k_cache, v_cache, qkv, q_norm, k_norm, cos, sin, angles, slots, k_scale, v_scale,         \
                          q_scales, n, heads, kv_heads, head_dim, form, eps);                                          \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256) split_heads_write_kv_fp8_##T(                                    \
        T* q, uint8_t* k_cache, uint8_t* v_cache, const T* qkv, const float* q_norm, const float* k_norm,              \
        const float* cos, const float* sin, const unsigned* angles, const unsigned* slots, const float* k_scale,       \
        const float* v_scale, const float* q_scales, int n, int heads, int kv_heads, int head_dim, unsigned form,      \
        float eps) {                                                                                                   \
        split_heads<T, uint8_t>(q, k_cache, v_cache, qkv, q_norm, k_norm, cos, sin, angles, slots, k_scale,            \
                                v_scale, q_scales, n, heads, kv_heads, head_dim, form, eps);                           \
    }
SPLIT_HEADS(bf16)
SPLIT_HEADS(f16)
