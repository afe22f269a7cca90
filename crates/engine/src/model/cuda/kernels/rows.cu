// Rows picked by number: embeddings by token, last hidden states by row; and the tokens themselves from the step before.
#include "common.cuh"

namespace {

template <typename T>
__device__ __forceinline__ void gather_row(T* out, const T* table, const unsigned* ids, unsigned table_rows, int rows,
                                           int width, float scale) {
    const int64_t row = blockIdx.x;
    if (row >= rows)
        return;
    const unsigned id = ids[row];
    const bool known = id < table_rows;
    for (int vector = threadIdx.x; vector < width / 8; vector += blockDim.x) {
        // All bits set is NaN in every format: an id that is none is not taken for some other token in silence.
        uint4 raw = known ? load_raw8(table + static_cast<int64_t>(id) * width + 8 * vector)
                          : make_uint4(~0u, ~0u, ~0u, ~0u);
        if (scale != 1.0f) {
            float values[8];
            unpack8<T>(raw, values);
#pragma unroll
            for (int i = 0; i < 8; i++)
                values[i] *= scale;
            raw = pack8<T>(values);
        }
        store_raw8(out + row * width + 8 * vector, raw);
    }
}

} // namespace

#define GATHER_ROWS(T)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        gather_rows_##T(T* out, const T* table, const unsigned* ids, unsigned table_rows, int rows, int width,         \
                        float scale) {                                                                                 \
        gather_row<T>(out, table, ids, table_rows, rows, width, scale);                                                \
    }
GATHER_ROWS(bf16)
GATHER_ROWS(f16)

extern "C" __global__ void __launch_bounds__(256)
    token_from_previous(unsigned* ids, const int* source, const unsigned* previous, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && source[i] >= 0)
        ids[i] = previous[source[i]];
}
