// Recurrent layers: Gated DeltaNet (https://arxiv.org/abs/2412.06464). A causal convolution over each channel, the delta rule on a head's
// state, the gated norm of what it reads; and the gates of attention's heads and of the shared expert, which such models have too.
//
// A slot of a layer holds a sequence's state: `heads`, f32 [value_heads, key_dim, value_dim], and `inputs`, the convolution's last
// taps - 1 inputs, f32 [taps - 1, channels]. A row of a step is 5 words: first token, tokens, the slot it begins with (NONE: with zeros),
// the slot it ends in, a slot for a copy (NONE: no copy). No slot is written by two rows, or written by one and read by another.
//
// Every number is one chain of operations over the sequence's tokens in their order: however they are divided among steps, and whatever
// else is in a step, it comes out the same to the bit.
#include "common.cuh"

namespace {

constexpr unsigned NONE = 0xffffffffu;
constexpr int ROW_WORDS = 5;
/// Added to the sum of squares of queries and keys before they are divided by its root.
constexpr float EPSILON = 1e-6f;
/// Numbers of a head that a lane holds at most.
constexpr int HELD = 8;

struct Row {
    unsigned first, tokens, source, slot, save;
};
__device__ __forceinline__ Row read_row(const unsigned* rows, unsigned row) {
    const unsigned* words = rows + row * ROW_WORDS;
    return {words[0], words[1], words[2], words[3], words[4]};
}

// ---- convolution ------------------------------------------------------------------------------------------------------------

/// A warp to a head of a token: query heads, key heads, value heads. The convolution is a chain from the oldest input to the token's own;
/// then SiLU; queries and keys are brought to unit length, queries also divided by the root of their width.
template <typename T>
__device__ __forceinline__ void convolve(float* out, const T* x, int x_stride, const float* inputs, const float* weight,
                                         const unsigned* rows, const unsigned* row_of, int n, int key_heads,
                                         int value_heads, int key_dim, int value_dim, int taps) {
    const int lane = threadIdx.x % 32;
    const int heads = 2 * key_heads + value_heads;
    const int item = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    const int token = item / heads;
    const int head = item % heads;
    if (token >= n)
        return;
    const bool is_value = head >= 2 * key_heads;
    const int width = is_value ? value_dim : key_dim;
    const int begin = is_value ? 2 * key_heads * key_dim + (head - 2 * key_heads) * value_dim : head * key_dim;
    const int channels = 2 * key_heads * key_dim + value_heads * value_dim;
    const Row row = read_row(rows, row_of[token]);
    const int place = token - static_cast<int>(row.first);
    float held[HELD];
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int at = 32 * i + lane;
        if (at >= width)
            break;
        const int channel = begin + at;
        float sum = 0.0f;
        for (int tap = 0; tap < taps; tap++) {
            const int back = taps - 1 - tap;
            float input = 0.0f;
            if (back <= place)
                input = to_float(x[static_cast<int64_t>(token - back) * x_stride + channel]);
            else if (row.source != NONE)
                input = inputs[(static_cast<int64_t>(row.source) * (taps - 1) + taps - 1 + place - back) * channels + channel];
            sum = fmaf(input, weight[tap * channels + channel], sum);
        }
        held[i] = sum * sigmoid(sum);
        squares += held[i] * held[i];
    }
    float scale = 1.0f;
    if (!is_value) {
        scale = 1.0f / sqrtf(warp_sum(squares) + EPSILON);
        if (head < key_heads)
            scale /= sqrtf(static_cast<float>(key_dim));
    }
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int at = 32 * i + lane;
        if (at >= width)
            break;
        out[static_cast<int64_t>(token) * channels + begin + at] = held[i] * scale;
    }
}

/// The inputs that each row leaves to the next step, after `convolve` has read those it found. A thread to a channel of a row.
template <typename T>
__device__ __forceinline__ void keep_inputs(float* inputs, const T* x, int x_stride, const unsigned* rows, int channels,
                                            int taps) {
    constexpr int MOST_KEPT = 15;
    const Row row = read_row(rows, blockIdx.x);
    const int channel = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
    if (channel >= channels)
        return;
    const int kept = taps - 1;
    const auto place = [&](unsigned slot, int i) { return (static_cast<int64_t>(slot) * kept + i) * channels + channel; };
    float numbers[MOST_KEPT];
    for (int i = 0; i < kept; i++) {
        const int from = static_cast<int>(row.tokens) - kept + i;
        numbers[i] = from >= 0 ? to_float(x[static_cast<int64_t>(row.first + from) * x_stride + channel])
                     : row.source == NONE ? 0.0f
                                          : inputs[place(row.source, kept + from)];
    }
    for (int i = 0; i < kept; i++) {
        inputs[place(row.slot, i)] = numbers[i];
        if (row.save != NONE)
            inputs[place(row.save, i)] = numbers[i];
    }
}

// ---- the delta rule ------------------------------------------------------------------------------------------------------------

/// Tokens whose queries, keys, values and gates are copied together.
constexpr int STAGE_TOKENS = 8;
/// Columns of a head's state that a block has.
constexpr int MOST_COLUMNS = 128;

/// Token by token: the state decays; what it returns for the key is replaced, by the share beta, by the value; what it then returns for
/// the query is the output, written over the value. A block to a row, a value head, and up to 128 columns of its state, which do not
/// depend on each other: two neighbouring threads hold a column in registers, each the half of its keys, and sum over it in four chains.
template <int KEYS>
__device__ __forceinline__ void delta(float* x, float* heads, const float* step_beta, const float* rate,
                                      const float* step_bias, const unsigned* rows, int key_heads, int value_heads,
                                      int value_dim, int converted) {
    constexpr int OWN = KEYS / 2;
    constexpr int STAGE = STAGE_TOKENS * (2 * KEYS + MOST_COLUMNS);
    __shared__ __align__(16) float stages[2][STAGE];
    __shared__ float2 gates[2][STAGE_TOKENS];
    const Row row = read_row(rows, blockIdx.y);
    const int thread = static_cast<int>(threadIdx.x);
    const int threads = static_cast<int>(blockDim.x);
    const int columns = threads / 2;
    const int column = thread / 2;
    const int first_key = thread % 2 * OWN;
    const int panels = value_dim / columns;
    const int head = static_cast<int>(blockIdx.x) / panels;
    const int first_column = static_cast<int>(blockIdx.x) % panels * columns;
    const int key_head = converted ? head % key_heads : head / (value_heads / key_heads);
    const int channels = 2 * key_heads * KEYS + value_heads * value_dim;
    const int query_at = key_head * KEYS;
    const int key_at = (key_heads + key_head) * KEYS;
    const int value_at = 2 * key_heads * KEYS + head * value_dim + first_column;
    const int token_floats = 2 * KEYS + columns;
    const int tokens = static_cast<int>(row.tokens);
    float* own = x + static_cast<int64_t>(row.first) * channels;
    const float own_rate = rate[head];
    const float own_bias = step_bias[head];

    const auto load = [&](int token, int stage) {
        const int count = min(STAGE_TOKENS, tokens - token);
        const int vectors = token_floats / 4;
        for (int i = thread; i < count * vectors; i += threads) {
            const int of = i / vectors, at = 4 * (i % vectors);
            const float* from = own + static_cast<int64_t>(token + of) * channels +
                                (at < KEYS ? query_at + at : at < 2 * KEYS ? key_at + at - KEYS : value_at + at - 2 * KEYS);
            cp_async_16(stages[stage] + of * token_floats + at, from);
        }
        cp_async_commit();
    };
    // What the state decays by, and the share of the correction.
    const auto gate = [&](int token, int stage) {
        if (thread >= min(STAGE_TOKENS, tokens - token))
            return;
        const float* both = step_beta + static_cast<int64_t>(row.first + token + thread) * 2 * value_heads;
        const float step = both[head] + own_bias;
        const float softplus = step > 20.0f ? step : log1pf(expf(step));
        gates[stage][thread] = make_float2(expf(own_rate * softplus), sigmoid(both[value_heads + head]));
    };
    load(0, 0);
    gate(0, 0);

    const auto place = [&](unsigned slot) {
        return ((static_cast<int64_t>(slot) * value_heads + head) * KEYS + first_key) * value_dim + first_column + column;
    };
    float state[OWN];
    const float* from = heads + (row.source == NONE ? 0 : place(row.source));
#pragma unroll
    for (int i = 0; i < OWN; i++)
        state[i] = row.source == NONE ? 0.0f : from[static_cast<int64_t>(i) * value_dim];

    for (int token = 0, stage = 0; token < tokens; token += STAGE_TOKENS, stage ^= 1) {
        cp_async_wait<0>();
        // Everybody's copies are there, and all have left the stage that is filled next.
        __syncthreads();
        if (token + STAGE_TOKENS < tokens) {
            load(token + STAGE_TOKENS, stage ^ 1);
            gate(token + STAGE_TOKENS, stage ^ 1);
        }
        const int count = min(STAGE_TOKENS, tokens - token);
        for (int i = 0; i < count; i++) {
            const float* query = stages[stage] + i * token_floats;
            const float* key = query + KEYS;
            const float decay = gates[stage][i].x;
            const float beta = gates[stage][i].y;
            float read[4] = {};
#pragma unroll
            for (int k = 0; k < OWN; k += 4) {
                const float4 keys = *reinterpret_cast<const float4*>(key + first_key + k);
                state[k] *= decay;
                state[k + 1] *= decay;
                state[k + 2] *= decay;
                state[k + 3] *= decay;
                read[0] = fmaf(state[k], keys.x, read[0]);
                read[1] = fmaf(state[k + 1], keys.y, read[1]);
                read[2] = fmaf(state[k + 2], keys.z, read[2]);
                read[3] = fmaf(state[k + 3], keys.w, read[3]);
            }
            float known = (read[0] + read[1]) + (read[2] + read[3]);
            known += __shfl_xor_sync(ALL_LANES, known, 1);
            const float written = (key[KEYS + column] - known) * beta;
            float sum[4] = {};
#pragma unroll
            for (int k = 0; k < OWN; k += 4) {
                const float4 keys = load_shared_anew(key + first_key + k);
                const float4 queries = load_shared_anew(query + first_key + k);
                state[k] = fmaf(written, keys.x, state[k]);
                state[k + 1] = fmaf(written, keys.y, state[k + 1]);
                state[k + 2] = fmaf(written, keys.z, state[k + 2]);
                state[k + 3] = fmaf(written, keys.w, state[k + 3]);
                sum[0] = fmaf(state[k], queries.x, sum[0]);
                sum[1] = fmaf(state[k + 1], queries.y, sum[1]);
                sum[2] = fmaf(state[k + 2], queries.z, sum[2]);
                sum[3] = fmaf(state[k + 3], queries.w, sum[3]);
            }
            float out = (sum[0] + sum[1]) + (sum[2] + sum[3]);
            out += __shfl_xor_sync(ALL_LANES, out, 1);
            if (first_key == 0)
                own[static_cast<int64_t>(token + i) * channels + value_at + column] = out;
        }
    }
    float* to = heads + place(row.slot);
    float* copy = heads + (row.save == NONE ? 0 : place(row.save));
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        to[static_cast<int64_t>(i) * value_dim] = state[i];
        if (row.save != NONE)
            copy[static_cast<int64_t>(i) * value_dim] = state[i];
    }
}

// ---- gates -----------------------------------------------------------------------------------------------------------------------

/// RMS norm by head of what the states returned, times SiLU of the gate. A warp to a head of a token.
template <typename T>
__device__ __forceinline__ void gated_norm(T* out, const float* x, int x_stride, int x_begin, const T* gate, int gate_stride,
                                           const float* weight, int n, int heads, int width, float eps) {
    const int lane = threadIdx.x % 32;
    const int item = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    const int token = item / heads;
    const int head = item % heads;
    if (token >= n)
        return;
    const float* from = x + static_cast<int64_t>(token) * x_stride + x_begin + head * width;
    const T* own_gate = gate + static_cast<int64_t>(token) * gate_stride + head * width;
    T* to = out + (static_cast<int64_t>(token) * heads + head) * width;
    float held[HELD];
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        if (32 * i + lane >= width)
            break;
        held[i] = from[32 * i + lane];
        squares += held[i] * held[i];
    }
    const float factor = rsqrtf(warp_sum(squares) / static_cast<float>(width) + eps);
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int at = 32 * i + lane;
        if (at >= width)
            break;
        const float z = to_float(own_gate[at]);
        to[at] = from_float<T>(held[i] * factor * weight[at] * (z * sigmoid(z)));
    }
}

/// `x · sigmoid(gate)`, in place.
template <typename T> __device__ __forceinline__ void gate_heads(T* x, const T* gate, int vectors) {
    const int vector = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (vector >= vectors)
        return;
    float values[8], gates[8];
    unpack8<T>(load_raw8(x + 8 * static_cast<int64_t>(vector)), values);
    unpack8<T>(load_raw8(gate + 8 * static_cast<int64_t>(vector)), gates);
#pragma unroll
    for (int i = 0; i < 8; i++)
        values[i] *= sigmoid(gates[i]);
    store_raw8(x + 8 * static_cast<int64_t>(vector), pack8<T>(values));
}

/// Adds the shared expert's result times the sigmoid of the row's product with a vector, or as it is where there is none. A block to a
/// row.
template <typename T>
__device__ __forceinline__ void add_shared(T* out, const T* shared_result, const T* x, const T* weight, int rows, int width) {
    __shared__ float sums[32];
    const int64_t row = blockIdx.x;
    if (row >= rows)
        return;
    float product = 0.0f;
    for (int vector = threadIdx.x; weight != nullptr && vector < width / 8; vector += blockDim.x) {
        float values[8], weights[8];
        unpack8<T>(load_raw8(x + row * width + 8 * vector), values);
        unpack8<T>(load_raw8(weight + 8 * vector), weights);
#pragma unroll
        for (int i = 0; i < 8; i++)
            product = fmaf(values[i], weights[i], product);
    }
    const float share = weight == nullptr ? 1.0f : sigmoid(block_sum(product, sums));
    for (int vector = threadIdx.x; vector < width / 8; vector += blockDim.x) {
        float values[8], added[8];
        unpack8<T>(load_raw8(out + row * width + 8 * vector), values);
        unpack8<T>(load_raw8(shared_result + row * width + 8 * vector), added);
#pragma unroll
        for (int i = 0; i < 8; i++)
            values[i] = fmaf(share, added[i], values[i]);
        store_raw8(out + row * width + 8 * vector, pack8<T>(values));
    }
}

} // namespace

#define DELTA(KEYS)                                                                                                    \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                               \
        delta_k##KEYS(float* x, float* heads, const float* step_beta, const float* rate, const float* step_bias,       \
                      const unsigned* rows, int key_heads, int value_heads, int value_dim, int converted) {            \
        delta<KEYS>(x, heads, step_beta, rate, step_bias, rows, key_heads, value_heads, value_dim, converted);         \
    }
DELTA(32)
DELTA(64)
DELTA(128)

#define AROUND(T)                                                                                                      \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        delta_convolve_##T(float* out, const T* x, int x_stride, const float* inputs, const float* weight,             \
                           const unsigned* rows, const unsigned* row_of, int n, int key_heads, int value_heads,        \
                           int key_dim, int value_dim, int taps) {                                                     \
        convolve<T>(out, x, x_stride, inputs, weight, rows, row_of, n, key_heads, value_heads, key_dim, value_dim,     \
                    taps);                                                                                             \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        delta_inputs_##T(float* inputs, const T* x, int x_stride, const unsigned* rows, int channels, int taps) {      \
        keep_inputs<T>(inputs, x, x_stride, rows, channels, taps);                                                     \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        delta_norm_##T(T* out, const float* x, int x_stride, int x_begin, const T* gate, int gate_stride,              \
                       const float* weight, int n, int heads, int width, float eps) {                                  \
        gated_norm<T>(out, x, x_stride, x_begin, gate, gate_stride, weight, n, heads, width, eps);                     \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256) gate_heads_##T(T* x, const T* gate, int vectors) {               \
        gate_heads<T>(x, gate, vectors);                                                                               \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        add_shared_##T(T* out, const T* shared_result, const T* x, const T* weight, int rows, int width) {             \
        add_shared<T>(out, shared_result, x, weight, rows, width);                                                     \
    }
AROUND(bf16)
AROUND(f16)
