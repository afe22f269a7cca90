// The products of a prefill block by its four warps together (wgmma, sm_90a): 64 rows at a time, two tiles of them. While the
// weights of one are computed, the tensor cores work on the other: scores 0, scores 1 | weights 0 | outputs 0 | weights 1 |
// outputs 1. (FlashAttention-3, https://arxiv.org/abs/2407.08608, overlaps alike.) The multiprocessor's other block fills what is
// left.
//
// 8-bit keys and values are first written out as f16, since values summed over their rows would have to be transposed.
#pragma once

#include "attention_prefill.cuh"
#include "warpgroup.cuh"

namespace attention {

template <typename T, typename KV, int D> struct WarpgroupProducts {
    using P = typename Types<T, KV>::Product;
    static constexpr bool EIGHT_BIT = Types<T, KV>::EIGHT_BIT;
    static constexpr bool PERMUTED = false;
    static constexpr int PREFILL_ROWS = prefill_rows<D>;
    static constexpr int PREFILL_KEYS = prefill_keys<D>;
    static constexpr int ROW_TILES = row_tiles<D>;
    static constexpr unsigned ROWS_TOGETHER = PREFILL_ROWS;
    static constexpr unsigned QUERY_PANEL = PREFILL_ROWS * 128;
    static constexpr unsigned KEY_PANEL = PREFILL_KEYS * 128;
    static constexpr unsigned TILE_BYTES = EIGHT_BIT ? 2 * PREFILL_KEYS * D * 2 : 0;

    const unsigned char* shared;
    unsigned warp;

    __device__ __forceinline__ WarpgroupProducts(unsigned char* shared, unsigned warp, unsigned) : shared(shared), warp(warp) {}

    static __device__ __forceinline__ unsigned query_at(unsigned row, unsigned chunk) {
        return panel_offset<PREFILL_ROWS>(row, chunk);
    }
    static __device__ __forceinline__ unsigned key_at(unsigned row, unsigned chunk) {
        return EIGHT_BIT ? row * D + chunk * 16 : panel_offset<PREFILL_KEYS>(row, chunk);
    }
    static __device__ __forceinline__ unsigned first_row(unsigned warp, int r) { return (r * WARPS + warp) * 16; }
    static __device__ __forceinline__ void publish() { publish_to_wgmma(); }

    static __device__ __forceinline__ unsigned tile(unsigned char* shared, unsigned stage, unsigned beside) {
        if constexpr (!EIGHT_BIT)
            return stage;
        constexpr unsigned CHUNKS = D / 16;
#pragma unroll 4
        for (unsigned i = threadIdx.x; i < 2 * PREFILL_KEYS * CHUNKS; i += THREADS) {
            // Keys and values are alike.
            const unsigned matrix = i / (PREFILL_KEYS * CHUNKS), row = i / CHUNKS % PREFILL_KEYS, chunk = i % CHUNKS;
            const uint4 raw = *reinterpret_cast<const uint4*>(shared + stage + i * 16);
            const unsigned words[4] = {raw.x, raw.y, raw.z, raw.w};
            unsigned half2[8];
#pragma unroll
            for (int w = 0; w < 4; w++) {
                half2[2 * w] = e4m3_to_half2(__byte_perm(words[w], 0, 0x1404));
                half2[2 * w + 1] = e4m3_to_half2(__byte_perm(words[w], 0, 0x3424));
            }
            unsigned char* to = shared + beside + matrix * PREFILL_KEYS * D * 2;
            *reinterpret_cast<uint4*>(to + panel_offset<PREFILL_KEYS>(row, 2 * chunk)) =
                make_uint4(half2[0], half2[1], half2[2], half2[3]);
            *reinterpret_cast<uint4*>(to + panel_offset<PREFILL_KEYS>(row, 2 * chunk + 1)) =
                make_uint4(half2[4], half2[5], half2[6], half2[7]);
        }
        publish();
        __syncthreads();
        return beside;
    }

    /// Scores of 64 rows and keys, summed over 16 columns at a time; four times 16 are a panel.
    __device__ __forceinline__ void scores(float (&s)[PREFILL_KEYS / 8][4], uint64_t queries, uint64_t keys) const {
#pragma unroll
        for (int k = 0; k < D / 16; k++)
            wgmma_m64n64k16(P{}, s, wgmma_further(queries, k / 4 * QUERY_PANEL + k % 4 * 32),
                            wgmma_further(keys, k / 4 * KEY_PANEL + k % 4 * 32), k > 0);
        wgmma_commit();
    }
    __device__ __forceinline__ void outputs(float (&o)[D / 8][4], const unsigned (&weights)[PREFILL_KEYS / 16][4],
                                            uint64_t values) const {
        wgmma_result(o);
        wgmma_begin();
#pragma unroll
        for (int k = 0; k < PREFILL_KEYS / 16; k++)
            wgmma_rows(P{}, o, weights[k], wgmma_further(values, k * 16 * 128));
        wgmma_commit();
    }

    template <typename Load>
    __device__ __forceinline__ void attend(unsigned tile, const Seen* seen, unsigned key, Softmax (&softmax)[ROW_TILES],
                                           float (&o)[ROW_TILES][D / 8][4], const Scaling& scaling,
                                           const Load& load_next) const {
        static_assert(ROW_TILES == 2, "two tiles take turns");
        const uint64_t queries = wgmma_operand(shared, 0);
        const uint64_t keys = wgmma_operand(shared + tile, 0);
        const uint64_t values = wgmma_operand(shared + tile + PREFILL_KEYS * D * 2, KEY_PANEL);
        float s[2][PREFILL_KEYS / 8][4];
        unsigned weights[2][PREFILL_KEYS / 16][4];
        wgmma_begin();
        scores(s[0], queries, keys);
        scores(s[1], wgmma_further(queries, 64 * 128), keys);
        // Its addresses take hundreds of cycles, in which the tensor cores are busy now.
        load_next();
#pragma unroll
        for (int r = 0; r < 2; r++) {
            // The scores of `r`, but for what was begun after them.
            wgmma_wait<1>();
            wgmma_result(s[r]);
            scaling.bound(s[r]);
            if (seen != nullptr)
                mask_tile<WarpgroupProducts>(s[r], seen, key, warp, r);
            softmax[r].update(s[r], o[r], scaling.scale);
            weight_fragments<P>(weights[r], s[r]);
            outputs(o[r], weights[r], values);
        }
        wgmma_wait<0>();
        wgmma_result(o[0]);
        wgmma_result(o[1]);
    }
};

} // namespace attention
