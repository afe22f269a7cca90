// The weights of a grouped product as they lie in memory: of the activations' type T, in e4m3, in MXFP4, in whole numbers of
// four bits. What is narrower is copied to shared memory as it is, and widened to T where a lane takes its fragments. A format has
//   TILE_BYTES                   what a tile of TILE_N outputs and TILE_K inputs takes in shared memory
//   copy(tile, step)             queues the copy of a tile; all threads of the block
//   fragments(…, part)           B's fragments of a warp's outputs and 16 inputs
//   SCALED, scales(output)       whether two outputs' sums are to be multiplied, and with what
#pragma once

#include "common.cuh"

namespace {

constexpr int TILE_N = 128;
constexpr int TILE_K = 64;
constexpr int CHUNKS = TILE_K / 8; // of eight values of 16 bits in a tile's row
constexpr int WARP_N = 32;         // outputs of a warp
constexpr int NS = WARP_N / 8;

/// Where chunk `chunk` of row `row` is in a tile of 16 bits: eight rows that are read together lie in different banks.
__device__ __forceinline__ int swizzled(int row, int chunk) { return row * TILE_K + ((chunk ^ row) & 7) * 8; }

/// Where a block finds its weights.
struct Place {
    int64_t expert;
    int first_output, outputs, inputs;
};

/// T `[experts, outputs, inputs]`.
template <typename T, int THREADS> struct Plain {
    static constexpr int TILE_BYTES = TILE_N * TILE_K * 2;
    static constexpr bool SCALED = false;
    const T* weights;
    Place at;

    __device__ __forceinline__ Plain(const void* weights, const void*, Place at)
        : weights(static_cast<const T*>(weights) + at.expert * at.outputs * at.inputs), at(at) {}

    __device__ __forceinline__ void copy(unsigned char* tile, int step) const {
        const int chunk = threadIdx.x % CHUNKS;
        const int input = step * TILE_K + chunk * 8;
        const bool inside = input < at.inputs;
#pragma unroll
        for (int i = 0; i < TILE_N * CHUNKS / THREADS; i++) {
            const int row = threadIdx.x / CHUNKS + i * (THREADS / CHUNKS);
            const int output = at.first_output + row;
            const bool valid = output < at.outputs;
            cp_async_16(reinterpret_cast<T*>(tile) + swizzled(row, chunk),
                        weights + static_cast<int64_t>(valid ? output : 0) * at.inputs + (inside ? input : 0),
                        inside && valid);
        }
    }
    __device__ __forceinline__ void fragments(unsigned (&b)[NS][2], const unsigned char* tile, int warp_n,
                                              int part) const {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int j = 0; j < NS; j += 2) {
            unsigned d[4];
            ldmatrix_x4(d, reinterpret_cast<const T*>(tile) +
                               swizzled(warp_n + 8 * j + lane / 16 * 8 + lane % 8, 2 * part + lane / 8 % 2));
            b[j][0] = d[0];
            b[j][1] = d[1];
            b[j + 1][0] = d[2];
            b[j + 1][1] = d[3];
        }
    }
    __device__ __forceinline__ float2 scales(int) const { return make_float2(1.0f, 1.0f); }
};

// Narrower weights lie in fragments, `[experts, outputs / 8, inputs / G, 8, 16]` bytes: 8 outputs by G inputs are 128 bytes,
// which is one matrix of `ldmatrix`, and lane 4 g + t gets the t-th word of output g: what it multiplies.

/// Queues the copy of a tile's fragments, in their order.
template <int G, int THREADS>
__device__ __forceinline__ void copy_fragments(unsigned char* tile, const unsigned char* weights, const Place& at, int step) {
    constexpr int ACROSS = TILE_K / G;
    const int groups = at.inputs / G;
    constexpr int COPIES = TILE_N * ACROSS;
    static_assert(COPIES % THREADS == 0, "every thread copies as much");
#pragma unroll
    for (int i = 0; i < COPIES / THREADS; i++) {
        const int copy = i * THREADS + static_cast<int>(threadIdx.x);
        const int octet = at.first_output / 8 + copy / (8 * ACROSS);
        const int group = step * ACROSS + copy / 8 % ACROSS;
        const bool valid = octet < at.outputs / 8 && group < groups;
        const unsigned from = valid ? static_cast<unsigned>((octet * groups + group) * 8 + copy % 8) : 0;
        cp_async_16(tile + 16 * copy, weights + static_cast<uint64_t>(from) * 16, valid);
    }
}

/// The words of a lane in the group `group` of a tile's inputs, for the four times 8 outputs of its warp.
template <int G>
__device__ __forceinline__ void lane_words(unsigned (&words)[NS], const unsigned char* tile, int warp_n, int group) {
    static_assert(NS == 4, "one ldmatrix has the outputs of a warp");
    const int lane = threadIdx.x % 32;
    ldmatrix_x4(words, tile + ((warp_n / 8 + lane / 8) * (TILE_K / G) + group) * 128 + lane % 8 * 16);
}

/// e4m3 in fragments of 16 inputs, the bytes of word t being inputs 2t, 2t+1, 2t+8, 2t+9; and what each output's sum is to be
/// multiplied by, f32 `[experts, outputs]`.
template <typename T, int THREADS> struct E4m3 {
    static constexpr int TILE_BYTES = TILE_N * TILE_K;
    static constexpr bool SCALED = true;
    const unsigned char* weights;
    const float* of_outputs;
    Place at;

    __device__ __forceinline__ E4m3(const void* weights, const void* scales, Place at)
        : weights(static_cast<const unsigned char*>(weights) + at.expert * at.outputs * at.inputs),
          of_outputs(static_cast<const float*>(scales) + at.expert * at.outputs), at(at) {}

    __device__ __forceinline__ void copy(unsigned char* tile, int step) const {
        copy_fragments<16, THREADS>(tile, weights, at, step);
    }
    __device__ __forceinline__ void fragments(unsigned (&b)[NS][2], const unsigned char* tile, int warp_n,
                                              int part) const {
        unsigned words[NS];
        lane_words<16>(words, tile, warp_n, part);
#pragma unroll
        for (int j = 0; j < NS; j++) {
            b[j][0] = from_e4m3x2_as<T>(words[j]);
            b[j][1] = from_e4m3x2_as<T>(words[j] >> 16);
        }
    }
    __device__ __forceinline__ float2 scales(int output) const {
        return *reinterpret_cast<const float2*>(of_outputs + output);
    }
};

// MXFP4 (OCP Microscaling Formats 1.0): 32 values share a power of two. A value has a sign, two exponent bits with 1 added, and
// one bit after the point. Put where T has its own, these bits are the value times 2^(1 − T's bias), subnormal ones too: one
// exact multiplication makes it what it is. Exponents are such that the factor is a T (the README says which).

/// The lowest of the three bits of a magnitude in T.
template <typename T> constexpr int E2M1_AT = 6;
template <> constexpr int E2M1_AT<f16> = 9;

/// What values of an exponent are to be multiplied by, twice.
template <typename T> __device__ __forceinline__ unsigned e2m1_factor(unsigned exponent);
template <> __device__ __forceinline__ unsigned e2m1_factor<bf16>(unsigned exponent) { // 2^(exponent − 1)
    return exponent * 0x00800080u + 0x3f003f00u;
}
template <> __device__ __forceinline__ unsigned e2m1_factor<f16>(unsigned exponent) { // 2^(exponent − 113)
    return (exponent - 98) * 0x04000400u;
}

/// Pair `p` of a word. The halves of a word hold the firsts and the seconds of four pairs: their signs from bit 15 down, then
/// their magnitudes from bit 11 down.
template <typename T> __device__ __forceinline__ unsigned e2m1_pair(unsigned word, int p) {
    const int left = E2M1_AT<T> - (9 - 3 * p);
    const unsigned moved = left >= 0 ? word << (left & 31) : word >> (-left & 31);
    return (moved & 0x00070007u << E2M1_AT<T>) | (word << p & 0x80008000u);
}

/// MXFP4 in fragments of 32 inputs, pairs 0 to 3 of word t being inputs 2t, 2t+8, 2t+16, 2t+24 and the ones after them; and
/// exponents with 127 added, `[experts, outputs / 8, up(inputs, 64), 8, 2]` bytes.
template <typename T, int THREADS> struct Mxfp4 {
    static constexpr int WEIGHT_BYTES = TILE_N * TILE_K / 2;
    static constexpr int TILE_BYTES = WEIGHT_BYTES + TILE_N * 2;
    static constexpr bool SCALED = false;
    const unsigned char* weights;
    const unsigned char* exponents;
    Place at;

    __device__ __forceinline__ Mxfp4(const void* weights, const void* scales, Place at)
        : weights(static_cast<const unsigned char*>(weights) + at.expert * at.outputs * at.inputs / 2),
          exponents(static_cast<const unsigned char*>(scales) + at.expert * at.outputs * 2 * steps(at)), at(at) {}

    static __device__ __forceinline__ int steps(const Place& at) { return (at.inputs + TILE_K - 1) / TILE_K; }

    __device__ __forceinline__ void copy(unsigned char* tile, int step) const {
        copy_fragments<32, THREADS>(tile, weights, at, step);
        if (threadIdx.x < TILE_N / 8) {
            // Of outputs that there are, also where the tile goes beyond: a factor of anything might be no number.
            const int octet = min(at.first_output / 8 + static_cast<int>(threadIdx.x), at.outputs / 8 - 1);
            cp_async_16(tile + WEIGHT_BYTES + 16 * threadIdx.x,
                        exponents + static_cast<uint64_t>(octet * steps(at) + step) * 16);
        }
    }
    __device__ __forceinline__ void fragments(unsigned (&b)[NS][2], const unsigned char* tile, int warp_n,
                                              int part) const {
        unsigned words[NS];
        lane_words<32>(words, tile, warp_n, part / 2);
        const unsigned char* const exponent =
            tile + WEIGHT_BYTES + 2 * (warp_n + static_cast<int>(threadIdx.x % 32) / 4) + part / 2;
#pragma unroll
        for (int j = 0; j < NS; j++) {
            const unsigned factor = e2m1_factor<T>(exponent[16 * j]);
            b[j][0] = multiply2<T>(e2m1_pair<T>(words[j], part % 2 * 2), factor);
            b[j][1] = multiply2<T>(e2m1_pair<T>(words[j], part % 2 * 2 + 1), factor);
        }
    }
    __device__ __forceinline__ float2 scales(int) const { return make_float2(1.0f, 1.0f); }
};

// Codes and factors, as checkpoints in FP8, GPTQ and AWQ have them: a weight is code times factor, rounded to T once, which is
// what the loader makes of it where it widens weights. Each output has PER factors for a tile's inputs: f32
// `[experts, outputs / 8, up(inputs, 64), PER, 8]`.

/// A tile's factors, in shared memory after its codes.
template <int PER> struct Factors {
    static constexpr int BYTES = TILE_N * PER * 4;
    const float* factors;
    Place at;

    __device__ __forceinline__ Factors(const void* factors, Place at)
        : factors(static_cast<const float*>(factors) + at.expert * at.outputs * PER * steps(at)), at(at) {}

    static __device__ __forceinline__ int steps(const Place& at) { return (at.inputs + TILE_K - 1) / TILE_K; }

    __device__ __forceinline__ void copy(unsigned char* to, int step) const {
        const int copy = static_cast<int>(threadIdx.x);
        if (copy < BYTES / 16) {
            // Of outputs that there are, also where the tile goes beyond: a factor of anything might be no number.
            const int octet = min(at.first_output / 8 + copy / (2 * PER), at.outputs / 8 - 1);
            cp_async_16(to + 16 * copy,
                        factors + static_cast<uint64_t>(octet * steps(at) + step) * (8 * PER) + copy % (2 * PER) * 4);
        }
    }
    /// That of the output which a lane has in its warp's eight outputs `j`, and of the 16 inputs `part`.
    static __device__ __forceinline__ float of_lane(const unsigned char* from, int warp_n, int j, int part) {
        const int row = (warp_n / 8 + j) * PER + part * PER / (TILE_K / 16);
        return reinterpret_cast<const float*>(from)[row * 8 + static_cast<int>(threadIdx.x % 32) / 4];
    }
};

/// e4m3 in fragments of 16 inputs, as E4m3.
template <typename T> struct E4m3Code {
    static constexpr int GROUP = 16, PER = 1, BITS = 8;
    /// Pair `p` of a word, times its factor.
    static __device__ __forceinline__ unsigned pair(unsigned word, int p, float factor) {
        const float2 both = from_e4m3x2(word >> 16 * p);
        return pack2<T>(both.x * factor, both.y * factor);
    }
};

/// Whole numbers of four bits in fragments of 32 inputs, pairs 0 to 3 of word t being inputs 2t, 2t+8, 2t+16, 2t+24 and the ones
/// after them: the firsts from bit 0 up, the seconds from bit 16 up. The four lowest bits of a factor are what is subtracted
/// from a number before it is multiplied by the rest, which has at most 16 bits.
template <typename T> struct Int4Code {
    static constexpr int GROUP = 32, PER = 2, BITS = 4;
    /// 128 and the number that begins at bit 16.
    static __device__ __forceinline__ float raised(unsigned bits) {
        return __uint_as_float(and_or(bits, 15u << 16, 0x43000000u));
    }

    static __device__ __forceinline__ unsigned pair(unsigned word, int p, float factor) {
        const unsigned both = __float_as_uint(factor);
        const float scale = __uint_as_float(both & ~255u);
        // Numbers of eight bits by one of 16, and their differences, are exact.
        const float less = -raised(both << 16) * scale;
        return pack2<T>(__fmaf_rn(raised(word << (16 - 4 * p)), scale, less), __fmaf_rn(raised(word >> 4 * p), scale, less));
    }
};

template <typename CODE, int THREADS> struct Coded : CODE {
    static constexpr int WEIGHT_BYTES = TILE_N * TILE_K * CODE::BITS / 8;
    static constexpr int TILE_BYTES = WEIGHT_BYTES + Factors<CODE::PER>::BYTES;
    static constexpr bool SCALED = false;
    const unsigned char* weights;
    Factors<CODE::PER> factors;
    Place at;

    __device__ __forceinline__ Coded(const void* weights, const void* scales, Place at)
        : weights(static_cast<const unsigned char*>(weights) + at.expert * at.outputs * at.inputs * CODE::BITS / 8),
          factors(scales, at), at(at) {}

    __device__ __forceinline__ void copy(unsigned char* tile, int step) const {
        copy_fragments<CODE::GROUP, THREADS>(tile, weights, at, step);
        factors.copy(tile + WEIGHT_BYTES, step);
    }
    __device__ __forceinline__ void fragments(unsigned (&b)[NS][2], const unsigned char* tile, int warp_n,
                                              int part) const {
        constexpr int PARTS = CODE::GROUP / 16;
        unsigned words[NS];
        lane_words<CODE::GROUP>(words, tile, warp_n, part / PARTS);
#pragma unroll
        for (int j = 0; j < NS; j++) {
            const float factor = Factors<CODE::PER>::of_lane(tile + WEIGHT_BYTES, warp_n, j, part);
            b[j][0] = CODE::pair(words[j], part % PARTS * 2, factor);
            b[j][1] = CODE::pair(words[j], part % PARTS * 2 + 1, factor);
        }
    }
    __device__ __forceinline__ float2 scales(int) const { return make_float2(1.0f, 1.0f); }
};
template <typename T, int THREADS> using ScaledE4m3 = Coded<E4m3Code<T>, THREADS>;
template <typename T, int THREADS> using Int4 = Coded<Int4Code<T>, THREADS>;

} // namespace
