// Rows in e4m3 with a scale each: activations by token, weights `[out, in]` by output channel; and what a product of two
// such matrices is multiplied with.
#include "common.cuh"

namespace {

/// Block by row; in order, or in the fragments of weight_formats.cuh.
template <typename T, bool FRAGMENTS>
__device__ __forceinline__ void quantize_row(uint8_t* out, float* scales, const T* x, int width) {
    __shared__ float maxima[32];
    const int64_t begin = static_cast<int64_t>(blockIdx.x) * width;
    float amax = 0.0f;
    for (int vector = threadIdx.x; vector < width / 8; vector += blockDim.x) {
        float values[8];
        unpack8<T>(load_raw8(x + begin + 8 * vector), values);
#pragma unroll
        for (int i = 0; i < 8; i++)
            amax = max_magnitude(amax, values[i]);
    }
    const float scale = e4m3_scale(block_max_magnitude(amax, maxima));
    if (threadIdx.x == 0)
        scales[blockIdx.x] = scale;
    if constexpr (FRAGMENTS) {
        const int groups = width / 16;
        uint8_t* const first = out + (static_cast<int64_t>(blockIdx.x / 8) * groups * 8 + blockIdx.x % 8) * 16;
        for (int group = threadIdx.x; group < groups; group += blockDim.x) {
            float low[8], high[8];
            unpack8<T>(load_raw8(x + begin + 16 * group), low);
            unpack8<T>(load_raw8(x + begin + 16 * group + 8), high);
            unsigned words[4];
#pragma unroll
            for (int t = 0; t < 4; t++)
                words[t] = to_e4m3x4(low[2 * t] / scale, low[2 * t + 1] / scale, high[2 * t] / scale,
                                     high[2 * t + 1] / scale);
            *reinterpret_cast<uint4*>(first + static_cast<int64_t>(group) * 128) =
                make_uint4(words[0], words[1], words[2], words[3]);
        }
    } else {
        for (int vector = threadIdx.x; vector < width / 8; vector += blockDim.x) {
            float values[8];
            unpack8<T>(load_raw8(x + begin + 8 * vector), values);
            store_e4m3x8(out + begin + 8 * vector, values, scale);
        }
    }
}

template <typename T>
__device__ __forceinline__ void scale_row(T* out, const float* x, const float* row_scale, const float* column_scale,
                                          const T* bias, int width) {
    const int vector = blockIdx.y * blockDim.x + threadIdx.x;
    if (vector >= width / 8)
        return;
    const int64_t at = static_cast<int64_t>(blockIdx.x) * width + 8 * vector;
    const float by = row_scale[blockIdx.x];
    float values[8];
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
        const float4 sums = *reinterpret_cast<const float4*>(x + at + i);
        const float4 scales = *reinterpret_cast<const float4*>(column_scale + 8 * vector + i);
        values[i] = sums.x * by * scales.x;
        values[i + 1] = sums.y * by * scales.y;
        values[i + 2] = sums.z * by * scales.z;
        values[i + 3] = sums.w * by * scales.w;
    }
    if (bias != nullptr) {
        float added[8];
        unpack8<T>(load_raw8(bias + 8 * vector), added);
#pragma unroll
        for (int i = 0; i < 8; i++)
            values[i] += added[i];
    }
    store_raw8(out + at, pack8<T>(values));
}

} // namespace

#define FP8(T)                                                                                                         \
    extern "C" __global__ void __launch_bounds__(1024)                                                                 \
        quantize_rows_fp8_##T(uint8_t* out, float* scales, const T* x, int rows, int width) {                          \
        if (static_cast<int>(blockIdx.x) < rows)                                                                       \
            quantize_row<T, false>(out, scales, x, width);                                                             \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(1024)                                                                 \
        quantize_fragments_fp8_##T(uint8_t* out, float* scales, const T* x, int rows, int width) {                     \
        if (static_cast<int>(blockIdx.x) < rows)                                                                       \
            quantize_row<T, true>(out, scales, x, width);                                                              \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        scale_rows_columns_##T(T* out, const float* x, const float* row_scale, const float* column_scale,              \
                               const T* bias, int rows, int width) {                                                   \
        if (static_cast<int>(blockIdx.x) < rows)                                                                       \
            scale_row<T>(out, x, row_scale, column_scale, bias, width);                                                \
    }
FP8(bf16)
FP8(f16)
