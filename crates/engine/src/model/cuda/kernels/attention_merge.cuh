// Putting a token's parts together: outputs are weighted by 2^(lse - lse of all). A warp to a query head, so that few tokens
// still make many warps; parts are added in the order of their slots.
#pragma once

#include "attention_tile.cuh"

namespace attention {

/// One query head of the token that the words `merge` name; a warp.
template <typename T, int D>
static __device__ __forceinline__ void merge_head(const unsigned* merge, const float* partial_out, const float* partial_lse,
                                                  const float* sinks, T* out, float* lse, unsigned heads, unsigned head) {
    // Outputs are written in pairs, so heads of 32 take half of the lanes.
    constexpr int VALUES = D >= 64 ? D / 32 : 2;
    const uint4 work = *reinterpret_cast<const uint4*>(merge);
    const unsigned lane = threadIdx.x % 32;
    const unsigned token = work.x;
    const unsigned slot = work.y;
    const unsigned parts = work.z;

    float high = -INFINITY;
    for (unsigned part = lane; part < parts; part += 32)
        high = fmaxf(high, partial_lse[static_cast<size_t>(slot + part) * heads + head]);
    high = warp_max(high);
    if (lane * VALUES >= D)
        return;
    float sum = 0.0f;
    float total[VALUES] = {};
#pragma unroll 4
    for (unsigned part = 0; part < parts; part++) {
        const size_t from = static_cast<size_t>(slot + part) * heads + head;
        const float weight = exp2_approx(partial_lse[from] - high);
        sum += weight;
        const float* values = partial_out + from * D + lane * VALUES;
        if constexpr (VALUES >= 4) {
#pragma unroll
            for (int i = 0; i < VALUES; i += 4) {
                const float4 four = *reinterpret_cast<const float4*>(values + i);
                total[i] += four.x * weight;
                total[i + 1] += four.y * weight;
                total[i + 2] += four.z * weight;
                total[i + 3] += four.w * weight;
            }
        } else {
            const float2 two = *reinterpret_cast<const float2*>(values);
            total[0] += two.x * weight;
            total[1] += two.y * weight;
        }
    }
    const size_t to = static_cast<size_t>(token) * heads + head;
    const float all = high + log2f(sum);
    float factor = 1.0f / sum;
    if (sinks != nullptr)
        factor *= share_beside_sink(sinks[head], all);
    T* row = out + to * D + lane * VALUES;
#pragma unroll
    for (int i = 0; i < VALUES; i += 2)
        *reinterpret_cast<unsigned*>(row + i) = pack2<T>(total[i] * factor, total[i + 1] * factor);
    if (lane == 0)
        lse[to] = all * LN_2;
}

template <typename T, int D>
static __device__ __forceinline__ void merge(const unsigned* plan, unsigned merges, unsigned merge_count,
                                             const float* partial_out, const float* partial_lse, const float* sinks, T* out,
                                             float* lse, unsigned heads) {
    const unsigned head_blocks = (heads + WARPS - 1) / WARPS;
    // One round where the grid has a block for each; right with any grid.
    for (unsigned block = blockIdx.x; block < merge_count * head_blocks; block += gridDim.x) {
        const unsigned head = block % head_blocks * WARPS + threadIdx.x / 32;
        if (head < heads)
            merge_head<T, D>(plan + merges + block / head_blocks * 4, partial_out, partial_lse, sinks, out, lse, heads,
                             head);
    }
}

} // namespace attention
