// What several kernels need: 16-bit and 8-bit floats in vectors, sums over warps and blocks, copies into shared memory,
// matrix operations of a warp. The device's instructions are wrapped here and nowhere else, so that a host compiler can take
// the kernels too (tests/cuda_emulation).
#pragma once

#ifdef JUROR_EMULATION
#include "cuda_emulation.h"
#define DYNAMIC_SHARED(name) unsigned char* name = emulation::dynamic_shared()
#else
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
// One array for all kernels of a file; 1,024 bytes is the largest alignment any of them needs.
#define DYNAMIC_SHARED(name) extern __shared__ __align__(1024) unsigned char name[]
#endif

using bf16 = __nv_bfloat16;
using f16 = __half;

constexpr unsigned ALL_LANES = 0xffffffffu;

// ---- numbers ----------------------------------------------------------------------------------------------------------

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(bf16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float to_float(f16 x) { return __half2float(x); }

__device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

template <typename T> __device__ __forceinline__ T from_float(float x);
template <> __device__ __forceinline__ float from_float<float>(float x) { return x; }
template <> __device__ __forceinline__ bf16 from_float<bf16>(float x) { return __float2bfloat16_rn(x); }
template <> __device__ __forceinline__ f16 from_float<f16>(float x) { return __float2half_rn(x); }

/// Two values of 16 bits in a register, the first one in the low half.
template <typename T> __device__ __forceinline__ float2 unpack2(unsigned bits);
template <> __device__ __forceinline__ float2 unpack2<bf16>(unsigned bits) {
    return make_float2(__uint_as_float(bits << 16), __uint_as_float(bits & 0xffff0000u));
}
template <> __device__ __forceinline__ float2 unpack2<f16>(unsigned bits) {
#ifdef JUROR_EMULATION
    return make_float2(emulation::half_to_float(static_cast<uint16_t>(bits)),
                       emulation::half_to_float(static_cast<uint16_t>(bits >> 16)));
#else
    return __half22float2(*reinterpret_cast<const __half2*>(&bits));
#endif
}

template <typename T> __device__ __forceinline__ unsigned pack2(float low, float high);
template <> __device__ __forceinline__ unsigned pack2<bf16>(float low, float high) {
#ifdef JUROR_EMULATION
    return emulation::float_to_bf16(low) | static_cast<unsigned>(emulation::float_to_bf16(high)) << 16;
#else
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const unsigned*>(&both);
#endif
}
template <> __device__ __forceinline__ unsigned pack2<f16>(float low, float high) {
#ifdef JUROR_EMULATION
    return emulation::float_to_half(low) | static_cast<unsigned>(emulation::float_to_half(high)) << 16;
#else
    const __half2 both = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned*>(&both);
#endif
}

/// Two products, rounded to T.
template <typename T> __device__ __forceinline__ unsigned multiply2(unsigned a, unsigned b);
template <> __device__ __forceinline__ unsigned multiply2<bf16>(unsigned a, unsigned b) {
#ifdef JUROR_EMULATION
    const float2 x = unpack2<bf16>(a), y = unpack2<bf16>(b);
    return pack2<bf16>(x.x * y.x, x.y * y.y);
#else
    const __nv_bfloat162 both =
        __hmul2(*reinterpret_cast<const __nv_bfloat162*>(&a), *reinterpret_cast<const __nv_bfloat162*>(&b));
    return *reinterpret_cast<const unsigned*>(&both);
#endif
}
template <> __device__ __forceinline__ unsigned multiply2<f16>(unsigned a, unsigned b) {
#ifdef JUROR_EMULATION
    const float2 x = unpack2<f16>(a), y = unpack2<f16>(b);
    return pack2<f16>(x.x * y.x, x.y * y.y);
#else
    const __half2 both = __hmul2(*reinterpret_cast<const __half2*>(&a), *reinterpret_cast<const __half2*>(&b));
    return *reinterpret_cast<const unsigned*>(&both);
#endif
}

/// `(bits & mask) | more` in one instruction: the compiler takes two where both are constants.
__device__ __forceinline__ unsigned and_or(unsigned bits, unsigned mask, unsigned more) {
#ifdef JUROR_EMULATION
    return (bits & mask) | more;
#else
    unsigned both;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(both) : "r"(bits), "r"(mask), "r"(more));
    return both;
#endif
}

/// Eight values of 16 bits, or four of f32: what one access moves.
template <typename T> __device__ __forceinline__ void unpack8(uint4 raw, float (&values)[8]) {
    const unsigned words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 pair = unpack2<T>(words[i]);
        values[2 * i] = pair.x;
        values[2 * i + 1] = pair.y;
    }
}
template <typename T> __device__ __forceinline__ uint4 pack8(const float (&values)[8]) {
    return make_uint4(pack2<T>(values[0], values[1]), pack2<T>(values[2], values[3]), pack2<T>(values[4], values[5]),
                      pack2<T>(values[6], values[7]));
}
template <typename T> __device__ __forceinline__ uint4 load_raw8(const T* from) {
    return *reinterpret_cast<const uint4*>(from);
}
template <typename T> __device__ __forceinline__ void store_raw8(T* to, uint4 raw) { *reinterpret_cast<uint4*>(to) = raw; }
__device__ __forceinline__ void load8(const float* from, float (&values)[8]) {
    const float4 a = reinterpret_cast<const float4*>(from)[0], b = reinterpret_cast<const float4*>(from)[1];
    const float both[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
    for (int i = 0; i < 8; i++)
        values[i] = both[i];
}

// e4m3: 1 sign, 4 exponent and 3 fraction bits, largest value 448, no infinities (OCP 8-bit floating point, 2023).

constexpr float E4M3_MAX = 448.0f;

/// Two values, the first one in the low byte; to nearest even, saturating, NaN stays NaN.
__device__ __forceinline__ unsigned to_e4m3x2(float low, float high) {
#ifdef JUROR_EMULATION
    return emulation::float_to_e4m3(low) | static_cast<unsigned>(emulation::float_to_e4m3(high)) << 8;
#else
    return __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE, __NV_E4M3);
#endif
}
__device__ __forceinline__ unsigned to_e4m3x4(float a, float b, float c, float d) {
    return to_e4m3x2(a, b) | to_e4m3x2(c, d) << 16;
}
/// The values of the two low bytes.
__device__ __forceinline__ float2 from_e4m3x2(unsigned bits) {
#ifdef JUROR_EMULATION
    return make_float2(emulation::e4m3_to_float(static_cast<uint8_t>(bits)),
                       emulation::e4m3_to_float(static_cast<uint8_t>(bits >> 8)));
#else
    const __half2_raw both = __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(bits & 0xffff), __NV_E4M3);
    return __half22float2(*reinterpret_cast<const __half2*>(&both));
#endif
}
/// The two low bytes as two values of `T` in a register: exact, every e4m3 is an f16 and a bf16.
template <typename T> __device__ __forceinline__ unsigned from_e4m3x2_as(unsigned bits) {
    const float2 both = from_e4m3x2(bits);
    return pack2<T>(both.x, both.y);
}
#ifndef JUROR_EMULATION
template <> __device__ __forceinline__ unsigned from_e4m3x2_as<f16>(unsigned bits) {
    const __half2_raw both = __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(bits & 0xffff), __NV_E4M3);
    return *reinterpret_cast<const unsigned*>(&both);
}
#endif

/// Four numbers of shared memory, read here and now: a compiler that keeps them since an earlier read may run out of registers.
__device__ __forceinline__ float4 load_shared_anew(const float* from) {
#ifdef JUROR_EMULATION
    return *reinterpret_cast<const float4*>(from);
#else
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(from));
    float4 four;
    asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
                 : "r"(at)
                 : "memory");
    return four;
#endif
}

// ---- sums over threads --------------------------------------------------------------------------------------------------

/// Over groups of `WIDTH` neighbouring lanes; every lane gets the result. All 32 lanes must come.
template <int WIDTH = 32> __device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
    for (int by = WIDTH / 2; by > 0; by /= 2)
        x += __shfl_xor_sync(ALL_LANES, x, by);
    return x;
}
template <int WIDTH = 32> __device__ __forceinline__ float warp_max(float x) {
#pragma unroll
    for (int by = WIDTH / 2; by > 0; by /= 2)
        x = fmaxf(x, __shfl_xor_sync(ALL_LANES, x, by));
    return x;
}

/// Over the block's first dimension, whole warps; every thread gets the result. `scratch` holds 32 floats, not used again
/// before the next barrier of the caller. The order of the additions is fixed.
__device__ __forceinline__ float block_sum(float x, float* scratch) {
    x = warp_sum(x);
    if (blockDim.x == 32)
        return x;
    const int lane = threadIdx.x % 32;
    if (lane == 0)
        scratch[threadIdx.x / 32] = x;
    __syncthreads();
    return warp_sum(lane < static_cast<int>(blockDim.x / 32) ? scratch[lane] : 0.0f);
}
/// The same for the greatest of values that are not negative; a NaN is kept, as the greatest of all.
__device__ __forceinline__ float block_max_magnitude(float x, float* scratch) {
    // Among floats that are not negative, NaN included, the order is that of their bits.
    unsigned bits = __reduce_max_sync(ALL_LANES, __float_as_uint(x));
    if (blockDim.x > 32) {
        const int lane = threadIdx.x % 32;
        if (lane == 0)
            scratch[threadIdx.x / 32] = __uint_as_float(bits);
        __syncthreads();
        bits = __reduce_max_sync(ALL_LANES,
                                 lane < static_cast<int>(blockDim.x / 32) ? __float_as_uint(scratch[lane]) : 0u);
    }
    return __uint_as_float(bits);
}

// ---- quantisation of a row to e4m3 ---------------------------------------------------------------------------------------------

/// The greatest magnitude, by bits: unlike `fmaxf` it keeps a NaN.
__device__ __forceinline__ float max_magnitude(float so_far, float x) {
    return __uint_as_float(max(__float_as_uint(so_far), __float_as_uint(x) & 0x7fffffffu));
}
/// What a row is divided by: its greatest magnitude becomes the greatest e4m3.
__device__ __forceinline__ float e4m3_scale(float amax) { return amax == 0.0f ? 1.0f : amax / E4M3_MAX; }
__device__ __forceinline__ void store_e4m3x8(uint8_t* to, const float (&values)[8], float scale) {
    *reinterpret_cast<uint2*>(to) =
        make_uint2(to_e4m3x4(values[0] / scale, values[1] / scale, values[2] / scale, values[3] / scale),
                   to_e4m3x4(values[4] / scale, values[5] / scale, values[6] / scale, values[7] / scale));
}

// ---- copies into shared memory that the thread does not wait for (sm_80) ---------------------------------------------------

/// 16 bytes, or zeros where not `valid` (then nothing is read, but the address must still be 16-byte aligned).
__device__ __forceinline__ void cp_async_16(void* shared, const void* global, bool valid = true) {
#ifdef JUROR_EMULATION
    emulation::cp_async_16(shared, global, valid);
#else
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    const int bytes = valid ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(global), "r"(bytes) : "memory");
#endif
}
/// Closes a group of copies.
__device__ __forceinline__ void cp_async_commit() {
#ifdef JUROR_EMULATION
    emulation::cp_async_commit();
#else
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits until at most `LEFT` of this thread's groups are under way. Other threads' need a barrier after this.
template <int LEFT> __device__ __forceinline__ void cp_async_wait() {
#ifdef JUROR_EMULATION
    emulation::cp_async_wait(LEFT);
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
}

// ---- matrices of a warp ------------------------------------------------------------------------------------------------------
//
// Fragments (PTX ISA, "Matrix Fragments for mma.m16n8k16"), with g = lane / 4 and t = lane % 4:
//   a[0], a[1], a[2], a[3]: A's rows g, g + 8, g, g + 8, columns 2t, 2t+1 (and + 8 for a[2], a[3])
//   b[0], b[1]: B's column g, rows 2t, 2t+1 (and + 8 for b[1])
//   c[0..1], c[2..3]: C's rows g, g + 8, columns 2t, 2t+1

/// Four 8×8 matrices of 16-bit values. Lane `8 i + j` gives the address of row `j` (16 bytes, aligned) of matrix `i`;
/// `d[i]` becomes row `lane / 4`, columns `2 (lane % 4)` and the next, of matrix `i`.
__device__ __forceinline__ void ldmatrix_x4(unsigned (&d)[4], const void* row) {
#ifdef JUROR_EMULATION
    emulation::ldmatrix_x4(__FILE__, __LINE__, d, row, false);
#else
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(at)
                 : "memory");
#endif
}
/// The same, each matrix transposed on the way.
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned (&d)[4], const void* row) {
#ifdef JUROR_EMULATION
    emulation::ldmatrix_x4(__FILE__, __LINE__, d, row, true);
#else
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(at)
                 : "memory");
#endif
}

/// `c += a · b`, `[16, 16] · [16, 8]`, summed in f32.
__device__ __forceinline__ void mma_m16n8k16_bf16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#ifdef JUROR_EMULATION
    emulation::mma_16816(__FILE__, __LINE__, c, a, b, true);
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
__device__ __forceinline__ void mma_m16n8k16_f16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#ifdef JUROR_EMULATION
    emulation::mma_16816(__FILE__, __LINE__, c, a, b, false);
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
template <typename T>
__device__ __forceinline__ void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]);
template <>
__device__ __forceinline__ void mma_m16n8k16<bf16>(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    mma_m16n8k16_bf16(c, a, b);
}
template <>
__device__ __forceinline__ void mma_m16n8k16<f16>(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    mma_m16n8k16_f16(c, a, b);
}

/// `c += a · b`, `[16, 32] · [32, 8]` in e4m3, summed in f32. A register holds four values where m16n8k16 has two: columns
/// `4t .. 4t+3` (and + 16). Needs sm_89.
__device__ __forceinline__ void mma_m16n8k32_e4m3(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#ifdef JUROR_EMULATION
    emulation::mma_16832_e4m3(__FILE__, __LINE__, c, a, b);
#elif __CUDA_ARCH__ >= 890
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    __trap();
#endif
}
