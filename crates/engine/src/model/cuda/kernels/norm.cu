// RMS norm (https://arxiv.org/abs/1910.07467), alone or after the addition to the residual stream, and quantised or not.
// What is added may have to go through a norm of its own first (GLM-4 0414), and be scaled (Granite); so may be the sum (Gemma 4).
// Without a weight there is no norm: layers of OLMo 2 take in the sum as it is.
//
// A row is read once and kept in registers as it is stored. A warp takes a narrow row, a block a wide one. Weights are f32, as the CPU
// has them: rounded, Gemma's `1 + w` would lose up to half a step of T at 1.
#include "common.cuh"

namespace {

/// Vectors of eight values that a thread holds at most.
constexpr int HELD = 4;

template <typename T> __device__ __forceinline__ uint4 normed8(uint4 x, float factor, const float* weight) {
    float values[8], weights[8];
    unpack8<T>(x, values);
    load8(weight, weights);
#pragma unroll
    for (int j = 0; j < 8; j++)
        values[j] = values[j] * factor * weights[j];
    return pack8<T>(values);
}

enum class Before { nothing, add, norm_and_add };

template <typename T, Before BEFORE, bool FP8>
__device__ __forceinline__ void norm(T* out, uint8_t* out_fp8, float* scales, T* residual, const T* x,
                                     const float* x_weight, const float* weight, int rows, int width, int stride, float eps, float x_scale,
                                     float sum_scale) {
    constexpr bool ADD = BEFORE != Before::nothing;
    __shared__ float x_sums[32];
    __shared__ float sums[32];
    __shared__ float maxima[32];
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    // Whole warps leave, and only where a warp has a row for itself: nobody waits for them.
    if (row >= rows)
        return;
    const int vectors = width / 8;
    const int64_t begin = static_cast<int64_t>(row) * stride;
    uint4 held[HELD], held_residual[HELD];
    // All loads before the first store, which might be to the same place for all the compiler knows.
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int vector = i * blockDim.x + threadIdx.x;
        if (vector >= vectors)
            break;
        held[i] = load_raw8(x + begin + 8 * vector);
        if constexpr (ADD)
            held_residual[i] = load_raw8(residual + begin + 8 * vector);
    }
    if constexpr (BEFORE == Before::norm_and_add) {
        float x_squares = 0.0f;
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            if (i * blockDim.x + threadIdx.x >= static_cast<unsigned>(vectors))
                break;
            float values[8];
            unpack8<T>(held[i], values);
#pragma unroll
            for (int j = 0; j < 8; j++)
                x_squares += values[j] * values[j];
        }
        const float factor = rsqrtf(block_sum(x_squares, x_sums) / static_cast<float>(width) + eps);
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            const int vector = i * blockDim.x + threadIdx.x;
            if (vector >= vectors)
                break;
            held[i] = normed8<T>(held[i], factor, x_weight + 8 * vector);
        }
    }
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int vector = i * blockDim.x + threadIdx.x;
        if (vector >= vectors)
            break;
        float values[8];
        unpack8<T>(held[i], values);
        if constexpr (ADD) {
            float before[8];
            unpack8<T>(held_residual[i], before);
#pragma unroll
            for (int j = 0; j < 8; j++)
                values[j] = (values[j] * x_scale + before[j]) * sum_scale;
            held[i] = pack8<T>(values);
            store_raw8(residual + begin + 8 * vector, held[i]);
            unpack8<T>(held[i], values);
        }
#pragma unroll
        for (int j = 0; j < 8; j++)
            squares += values[j] * values[j];
    }
    const float factor = rsqrtf(block_sum(squares, sums) / static_cast<float>(width) + eps);
    float amax = 0.0f;
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int vector = i * blockDim.x + threadIdx.x;
        if (vector >= vectors)
            break;
        if (weight != nullptr)
            held[i] = normed8<T>(held[i], factor, weight + 8 * vector);
        if constexpr (FP8) {
            float values[8];
            unpack8<T>(held[i], values);
#pragma unroll
            for (int j = 0; j < 8; j++)
                amax = max_magnitude(amax, values[j]);
        } else {
            store_raw8(out + begin + 8 * vector, held[i]);
        }
    }
    if constexpr (FP8) {
        const float scale = e4m3_scale(block_max_magnitude(amax, maxima));
        if (threadIdx.x == 0)
            scales[row] = scale;
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            const int vector = i * blockDim.x + threadIdx.x;
            if (vector >= vectors)
                break;
            float values[8];
            unpack8<T>(held[i], values);
            store_e4m3x8(out_fp8 + begin + 8 * vector, values, scale);
        }
    }
}

} // namespace

#define NORM(T)                                                                                                        \
    extern "C" __global__ void __launch_bounds__(1024)                                                                 \
        rms_norm_##T(T* out, const T* x, const float* weight, int rows, int width, int stride, float eps) {            \
        norm<T, Before::nothing, false>(out, nullptr, nullptr, nullptr, x, nullptr, weight, rows, width, stride, eps,  \
                                        1.0f, 1.0f);                                                                   \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(1024)                                                                 \
        add_rms_norm_##T(T* out, T* residual, const T* added, const float* weight, int rows, int width, float eps,     \
                         float added_scale, float sum_scale) {                                                         \
        norm<T, Before::add, false>(out, nullptr, nullptr, residual, added, nullptr, weight, rows, width, width, eps,  \
                                    added_scale, sum_scale);                                                           \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(1024)                                                                 \
        norm_add_rms_norm_##T(T* out, T* residual, const T* added, const float* added_weight, const float* weight,     \
                              int rows, int width, float eps, float added_scale, float sum_scale) {                    \
        norm<T, Before::norm_and_add, false>(out, nullptr, nullptr, residual, added, added_weight, weight, rows,       \
                                             width, width, eps, added_scale, sum_scale);                               \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(1024) rms_norm_fp8_##T(uint8_t* out, float* scales, const T* x,       \
                                                                        const float* weight, int rows, int width,      \
                                                                        float eps) {                                   \
        norm<T, Before::nothing, true>(nullptr, out, scales, nullptr, x, nullptr, weight, rows, width, width, eps,     \
                                       1.0f, 1.0f);                                                                    \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(1024)                                                                 \
        add_rms_norm_fp8_##T(uint8_t* out, float* scales, T* residual, const T* added, const float* weight, int rows,  \
                             int width, float eps, float added_scale, float sum_scale) {                               \
        norm<T, Before::add, true>(nullptr, out, scales, residual, added, nullptr, weight, rows, width, width, eps,    \
                                   added_scale, sum_scale);                                                            \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(1024)                                                                 \
        norm_add_rms_norm_fp8_##T(uint8_t* out, float* scales, T* residual, const T* added, const float* added_weight, \
                                  const float* weight, int rows, int width, float eps, float added_scale,              \
                                  float sum_scale) {                                                                   \
        norm<T, Before::norm_and_add, true>(nullptr, out, scales, residual, added, added_weight, weight, rows, width,  \
                                            width, eps, added_scale, sum_scale);                                       \
    }
NORM(bf16)
NORM(f16)
