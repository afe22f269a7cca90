// Paged causal attention for packed steps: the entry points. What they take is in attention.md.
#include "attention_decode.cuh"
#include "attention_merge.cuh"
#include "attention_prefill.cuh"
#include "attention_prefill_warpgroup.cuh"

namespace attention {
template <typename T, typename KV, int D> static __device__ __forceinline__ void prefill(const Call<T, KV>& call) {
    prefill_by<T, KV, D, WarpProducts<T, KV, D>>(call);
}
template <typename T, typename KV, int D>
static __device__ __forceinline__ void prefill_warpgroup(const Call<T, KV>& call) {
    prefill_by<T, KV, D, WarpgroupProducts<T, KV, D>>(call);
}
} // namespace attention

// Two blocks on a multiprocessor, as the plan counts on.
#define ATTENTION(work, name, T, KV, D)                                                                                \
    extern "C" __global__ void __launch_bounds__(128, 2)                                                               \
        name(const T* q, unsigned q_stride, const KV* keys, const KV* values, const float* key_scales,                 \
             const float* value_scales, const float* sinks, const unsigned* plan, unsigned items, unsigned item_count, \
             T* out, float* lse, float* partial_out, float* partial_lse, unsigned heads, unsigned kv_heads,            \
             unsigned block_shift, float scale, float softcap) {                                                       \
        attention::work<T, KV, D>({q,     q_stride,   keys, values, key_scales,  value_scales, sinks, plan,            \
                                   items, item_count, out,  lse,    partial_out, partial_lse,  heads, kv_heads,        \
                                   block_shift, scale, softcap});                                                      \
    }
#define MERGE(name, T, D)                                                                                              \
    extern "C" __global__ void __launch_bounds__(128)                                                                  \
        name(const unsigned* plan, unsigned merges, unsigned merge_count, const float* partial_out,                    \
             const float* partial_lse, const float* sinks, T* out, float* lse, unsigned heads) {                       \
        attention::merge<T, D>(plan, merges, merge_count, partial_out, partial_lse, sinks, out, lse, heads);           \
    }
// Prefill of whole panels (64 numbers and more) by the warpgroup where that has products; the emulation takes both.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define PREFILL(suffix, T, KV, D) ATTENTION(prefill_warpgroup, attention_prefill_warpgroup_##suffix##_d##D, T, KV, D)
#elif defined(JUROR_EMULATION)
#define PREFILL(suffix, T, KV, D)                                                                                      \
    ATTENTION(prefill, attention_prefill_##suffix##_d##D, T, KV, D)                                                    \
    ATTENTION(prefill_warpgroup, attention_prefill_warpgroup_##suffix##_d##D, T, KV, D)
#else
#define PREFILL(suffix, T, KV, D) ATTENTION(prefill, attention_prefill_##suffix##_d##D, T, KV, D)
#endif
#define BY_EACH_WARP(suffix, T, KV, D)                                                                                 \
    ATTENTION(decode, attention_decode_##suffix##_d##D, T, KV, D)                                                      \
    ATTENTION(prefill, attention_prefill_##suffix##_d##D, T, KV, D)
#define BY_WARPGROUP(suffix, T, KV, D)                                                                                 \
    ATTENTION(decode, attention_decode_##suffix##_d##D, T, KV, D)                                                      \
    PREFILL(suffix, T, KV, D)
#define NARROW(suffix, T, D) BY_EACH_WARP(suffix, T, T, D) MERGE(attention_merge_##suffix##_d##D, T, D)
#define WIDE(suffix, T, D) BY_WARPGROUP(suffix, T, T, D) MERGE(attention_merge_##suffix##_d##D, T, D)
#define NARROW_EIGHT_BIT(suffix, T, D) BY_EACH_WARP(suffix##_e4m3, T, attention::E4m3, D)
#define EIGHT_BIT(suffix, T, D) BY_WARPGROUP(suffix##_e4m3, T, attention::E4m3, D)
#define BOTH(FORM, D) FORM(bf16, bf16, D) FORM(f16, f16, D)
// Heads of 32 in e4m3 would be rows of two 16-byte chunks, which `swizzled` cannot spread over the banks; of those with
// heads of 512 (Gemma 4) a cache in e4m3 is refused.
BOTH(NARROW, 32)
BOTH(WIDE, 64)
BOTH(WIDE, 128)
BOTH(EIGHT_BIT, 64)
BOTH(EIGHT_BIT, 128)
// A warpgroup's outputs of 256 columns leave no registers for two tiles of rows that take turns.
BOTH(NARROW, 256)
BOTH(NARROW_EIGHT_BIT, 256)
BOTH(NARROW, 512)
