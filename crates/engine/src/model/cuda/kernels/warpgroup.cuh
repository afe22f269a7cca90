// Matrices of a warpgroup: wgmma of sm_90a, 64 rows by four neighbouring warps, operands from shared memory without a detour
// over registers, and not waited for.
//
// Operands lie in panels: rows of 64 values (128 bytes) whose 16-byte chunks are permuted by the row, `panel_offset`. A panel
// begins at a multiple of 1,024 bytes. A wider matrix is panels side by side. (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Shared Memory Layout", 128-byte swizzling.)
//
// The order of things: all threads write shared memory, `publish_to_wgmma`, barrier; `wgmma_begin`, products, `wgmma_commit`;
// `wgmma_wait`, and `wgmma_result` of every register that a product wrote.
#pragma once

#include "common.cuh"

/// Byte offset of a 16-byte chunk of a row in panels of `ROWS` rows.
template <int ROWS> static __device__ __forceinline__ unsigned panel_offset(unsigned row, unsigned chunk) {
    return (chunk / 8 * ROWS + row) * 128 + ((chunk % 8 ^ (row & 7)) << 4);
}

/// Where an operand begins, and how far apart its parts are: 8 rows are 1,024 bytes; `panel_bytes` is read only where an
/// operand spans panels, which is when its 64 columns are not the ones summed over.
static __device__ __forceinline__ uint64_t wgmma_operand(const void* shared, unsigned panel_bytes) {
#ifdef JUROR_EMULATION
    const auto at = static_cast<uint64_t>(static_cast<const unsigned char*>(shared) - emulation::dynamic_shared());
#else
    const auto at = static_cast<uint64_t>(__cvta_generic_to_shared(shared));
#endif
    constexpr uint64_t EIGHT_ROWS = 1024 >> 4, SWIZZLE_128 = 1;
    return (at & 0x3ffff) >> 4 | static_cast<uint64_t>(panel_bytes >> 4) << 16 | EIGHT_ROWS << 32 | SWIZZLE_128 << 62;
}
/// The operand that begins so many bytes further.
static __device__ __forceinline__ uint64_t wgmma_further(uint64_t operand, unsigned bytes) { return operand + (bytes >> 4); }

/// Makes this thread's writes to shared memory visible to products after the next barrier.
static __device__ __forceinline__ void publish_to_wgmma() {
#ifdef JUROR_EMULATION
    emulation::publish_to_wgmma();
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
/// Registers that products take or change are ready.
static __device__ __forceinline__ void wgmma_begin() {
#if !defined(JUROR_EMULATION) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
/// Closes a group of products.
static __device__ __forceinline__ void wgmma_commit() {
#ifdef JUROR_EMULATION
    emulation::wgmma_commit();
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Waits until at most `LEFT` groups are under way.
template <int LEFT> static __device__ __forceinline__ void wgmma_wait() {
#ifdef JUROR_EMULATION
    emulation::wgmma_wait(__FILE__, __LINE__, LEFT);
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
#endif
}
/// Keeps the compiler from reading registers before the wait above it, or writing them before it.
template <int N> static __device__ __forceinline__ void wgmma_result([[maybe_unused]] float (&c)[N][4]) {
#ifndef JUROR_EMULATION
#pragma unroll
    for (int n = 0; n < N; n++)
        asm volatile("" : "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])::"memory");
#endif
}

#define WGMMA_4(c, n) "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
#define WGMMA_32(c, n)                                                                                                 \
    WGMMA_4(c, n), WGMMA_4(c, n + 1), WGMMA_4(c, n + 2), WGMMA_4(c, n + 3), WGMMA_4(c, n + 4), WGMMA_4(c, n + 5),      \
        WGMMA_4(c, n + 6), WGMMA_4(c, n + 7)
#define WGMMA_NAMES_32                                                                                                 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "   \
    "%24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_NAMES_64                                                                                                 \
    WGMMA_NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, " \
                   "%51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// A fragment of rows and sums have the layout of m16n8k16's, warp `w` those of the rows from `16 w` on.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(JUROR_EMULATION)
#define WGMMA(T, type)                                                                                                 \
    /* c = a · bᵀ or c += a · bᵀ: `[64, 16] · [64, 16]ᵀ`, both from shared memory, summed over their columns. */       \
    static __device__ __forceinline__ void wgmma_m64n64k16(T, float (&c)[8][4], uint64_t a, uint64_t b, bool add) {    \
        asm volatile("{.reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type \
                     " {" WGMMA_NAMES_32 "}, %32, %33, p, 1, 1, 0, 0;}"                                                \
                     : WGMMA_32(c, 0)                                                                                  \
                     : "l"(a), "l"(b), "r"(static_cast<int>(add)));                                                    \
    }                                                                                                                  \
    /* c += a · b: `[64, 16]` from registers, `[16, 64]` or `[16, 128]` from shared memory, summed over b's rows. */   \
    static __device__ __forceinline__ void wgmma_rows(T, float (&c)[8][4], const unsigned (&a)[4], uint64_t b) {       \
        asm volatile("{.reg .pred p; setp.ne.b32 p, %37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type \
                     " {" WGMMA_NAMES_32 "}, {%32, %33, %34, %35}, %36, p, 1, 1, 1;}"                                  \
                     : WGMMA_32(c, 0)                                                                                  \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(1));                                    \
    }                                                                                                                  \
    static __device__ __forceinline__ void wgmma_rows(T, float (&c)[16][4], const unsigned (&a)[4], uint64_t b) {      \
        asm volatile("{.reg .pred p; setp.ne.b32 p, %69, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32." type         \
                     "." type " {" WGMMA_NAMES_64 "}, {%64, %65, %66, %67}, %68, p, 1, 1, 1;}"                         \
                     : WGMMA_32(c, 0), WGMMA_32(c, 8)                                                                  \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(1));                                    \
    }
WGMMA(bf16, "bf16")
WGMMA(f16, "f16")
#undef WGMMA
#else
template <typename T>
static __device__ __forceinline__ void wgmma_m64n64k16(T, float (&c)[8][4], uint64_t a, uint64_t b, bool add) {
#ifdef JUROR_EMULATION
    emulation::wgmma(&c[0][0], 64, nullptr, a, b, add, std::is_same_v<T, bf16>);
#endif
}
template <typename T, int N>
static __device__ __forceinline__ void wgmma_rows(T, float (&c)[N][4], const unsigned (&a)[4], uint64_t b) {
#ifdef JUROR_EMULATION
    emulation::wgmma(&c[0][0], 8 * N, a, 0, b, true, std::is_same_v<T, bf16>);
#endif
}
#endif
