// Gate and up joined, quantised or not: SiLU(gate) · up and GELU(gate) · up (https://arxiv.org/abs/2002.05202), and gpt-oss' clamped
// form (https://arxiv.org/abs/2508.10925). Gate and up lie side by side in a row. Also the bound of logits.
#include "common.cuh"

namespace {

/// Vectors of eight values that a thread holds at most.
constexpr int HELD = 4;

struct Silu {
    __device__ __forceinline__ float operator()(float gate, float up) const {
        return __fdividef(gate, 1.0f + __expf(-gate)) * up;
    }
};

/// GELU in the form with a hyperbolic tangent: `0.5 (1 + tanh(u)) = 1 / (1 + e^-2u)`.
struct Gelu {
    __device__ __forceinline__ float operator()(float gate, float up) const {
        const float two_u = 1.5957691216057308f * (gate + 0.044715f * gate * gate * gate);
        return __fdividef(gate, 1.0f + __expf(-two_u)) * up;
    }
};

/// `gate · sigmoid(alpha · gate) · (up + 1)`, the gate limited from above and `up` on both sides. Written so that a NaN stays.
struct Clamped {
    float alpha, limit;
    __device__ __forceinline__ float operator()(float gate, float up) const {
        gate = gate > limit ? limit : gate;
        up = up > limit ? limit : up < -limit ? -limit : up;
        return __fdividef(gate, 1.0f + __expf(-alpha * gate)) * (up + 1.0f);
    }
};

template <typename T, typename JOIN>
__device__ __forceinline__ uint4 join8(const T* gate_up, int64_t row, int width, int vector, JOIN join) {
    const T* from = gate_up + row * 2 * width + 8 * vector;
    float gate[8], up[8];
    unpack8<T>(load_raw8(from), gate);
    unpack8<T>(load_raw8(from + width), up);
#pragma unroll
    for (int i = 0; i < 8; i++)
        gate[i] = join(gate[i], up[i]);
    return pack8<T>(gate);
}

template <typename T, typename JOIN>
__device__ __forceinline__ void joined(T* out, const T* gate_up, int width, JOIN join) {
    const int vector = blockIdx.y * blockDim.x + threadIdx.x;
    if (vector >= width / 8)
        return;
    const int64_t row = blockIdx.x;
    store_raw8(out + row * width + 8 * vector, join8(gate_up, row, width, vector, join));
}

template <typename T, typename JOIN>
__device__ __forceinline__ void joined_fp8(uint8_t* out, float* scales, const T* gate_up, int width, JOIN join) {
    __shared__ float maxima[32];
    const int64_t row = blockIdx.x;
    uint4 held[HELD];
    float amax = 0.0f;
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int vector = i * blockDim.x + threadIdx.x;
        if (vector >= width / 8)
            break;
        held[i] = join8(gate_up, row, width, vector, join);
        float values[8];
        unpack8<T>(held[i], values);
#pragma unroll
        for (int j = 0; j < 8; j++)
            amax = max_magnitude(amax, values[j]);
    }
    const float scale = e4m3_scale(block_max_magnitude(amax, maxima));
    if (threadIdx.x == 0)
        scales[row] = scale;
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int vector = i * blockDim.x + threadIdx.x;
        if (vector >= width / 8)
            break;
        float values[8];
        unpack8<T>(held[i], values);
        store_e4m3x8(out + row * width + 8 * vector, values, scale);
    }
}

} // namespace

// `rows` is the grid's: it is there so that every kernel is told all its shapes.
#define ACTIVATION(T)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256) silu_mul_##T(T* out, const T* gate_up, int rows, int width) {    \
        if (static_cast<int>(blockIdx.x) < rows)                                                                       \
            joined<T>(out, gate_up, width, Silu{});                                                                    \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(1024)                                                                 \
        silu_mul_fp8_##T(uint8_t* out, float* scales, const T* gate_up, int rows, int width) {                         \
        if (static_cast<int>(blockIdx.x) < rows)                                                                       \
            joined_fp8<T>(out, scales, gate_up, width, Silu{});                                                        \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256) gelu_mul_##T(T* out, const T* gate_up, int rows, int width) {    \
        if (static_cast<int>(blockIdx.x) < rows)                                                                       \
            joined<T>(out, gate_up, width, Gelu{});                                                                    \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(1024)                                                                 \
        gelu_mul_fp8_##T(uint8_t* out, float* scales, const T* gate_up, int rows, int width) {                         \
        if (static_cast<int>(blockIdx.x) < rows)                                                                       \
            joined_fp8<T>(out, scales, gate_up, width, Gelu{});                                                        \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        clamped_swiglu_##T(T* out, const T* gate_up, int rows, int width, float alpha, float limit) {                  \
        if (static_cast<int>(blockIdx.x) < rows)                                                                       \
            joined<T>(out, gate_up, width, Clamped{alpha, limit});                                                     \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(1024) clamped_swiglu_fp8_##T(                                         \
        uint8_t* out, float* scales, const T* gate_up, int rows, int width, float alpha, float limit) {                \
        if (static_cast<int>(blockIdx.x) < rows)                                                                       \
            joined_fp8<T>(out, scales, gate_up, width, Clamped{alpha, limit});                                         \
    }
ACTIVATION(bf16)
ACTIVATION(f16)

/// Each number times `factor`, and then `bound · tanh(x / bound)` of it, unless the bound is 0; in place, `count` is a multiple of 4.
extern "C" __global__ void __launch_bounds__(256) scale_and_bound(float* values, int count, float factor, float bound) {
    const int at = 4 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (at >= count)
        return;
    float4 four = *reinterpret_cast<const float4*>(values + at);
    const auto of = [&](float x) { return bound > 0.0f ? bound * tanhf(x * factor / bound) : x * factor; };
    *reinterpret_cast<float4*>(values + at) = make_float4(of(four.x), of(four.y), of(four.z), of(four.w));
}
