// Runs the attention kernels on steps and plans that tests/kernels/attention.rs writes to standard input, and compares
// with attention in double precision, computed from the step's rows and not from the plan.
//
// The cache, outputs and scratch are NaN wherever nothing was written, so a key that should not be seen shows in the result.
#include "../../crates/engine/src/model/cuda/kernels/attention.cu"

#include <algorithm>
#include <iostream>
#include <random>
#include <string>

namespace {

struct StepRow {
    size_t query_start, query_len, context_len;
    std::vector<size_t> blocks;
};

struct Section {
    unsigned offset, count;
};

struct Case {
    std::string name, type, cache;
    size_t head_dim, heads, kv_heads, block_shift, blocks, tokens, slots, prefill_shared, warpgroup_shared, decode_shared;
    /// Keys that a query sees at most, or 0 for all.
    size_t window;
    bool sinks;
    /// Of scores; and their bound, or 0 for none.
    double scale, softcap;
    std::vector<StepRow> rows;
    Section prefill, decode, merges;
    std::vector<unsigned> words;
};

bool read_case(std::istream& in, Case& c) {
    size_t rows, words;
    if (!(in >> c.name >> c.type >> c.cache >> c.head_dim >> c.heads >> c.kv_heads >> c.block_shift >> c.blocks >> c.tokens >>
          c.slots >> c.prefill_shared >> c.warpgroup_shared >> c.decode_shared >> c.window >> c.sinks >> c.scale >>
          c.softcap >> rows))
        return false;
    c.rows.resize(rows);
    for (auto& row : c.rows) {
        size_t blocks;
        in >> row.query_start >> row.query_len >> row.context_len >> blocks;
        row.blocks.resize(blocks);
        for (auto& block : row.blocks)
            in >> block;
    }
    for (Section* section : {&c.prefill, &c.decode, &c.merges})
        in >> section->offset >> section->count;
    in >> words;
    c.words.resize(words);
    for (auto& word : c.words)
        in >> word;
    if (!in) {
        std::fprintf(stderr, "the case %s is cut off\n", c.name.c_str());
        std::exit(2);
    }
    return true;
}

template <typename KV> KV stored(float x) {
    if constexpr (sizeof(KV) == 1)
        return emulation::float_to_e4m3(x);
    else
        return from_float<KV>(x);
}
template <typename KV> double value_of(KV x) {
    if constexpr (sizeof(KV) == 1)
        return emulation::e4m3_to_float(x);
    else
        return to_float(x);
}

/// Relative to the sum of the weighted magnitudes: weights and outputs are each rounded once, by at most 2^-8 of themselves in
/// bf16 and 2^-11 in f16 (weights of 8-bit values are f16); and 2^-14 for all f32 work. Absolute: below f16's normal numbers
/// rounding is by 2^-25; and no difference is divided by nothing.
struct Error {
    double relative, absolute;
};

Error error_of(const Case& c) {
    const double half_unit = c.type == "bf16" ? 0x1p-8 : 0x1p-11;
    const double weights = c.cache == "e4m3" ? 0x1p-11 : half_unit;
    return {half_unit + weights + 0x1p-14, c.type == "bf16" ? 1e-30 : 0x1p-25};
}

/// The largest difference from the reference as a multiple of what is allowed.
struct Worst {
    double output = 0.0, lse = 0.0;
    /// Of the bits of the first row's results (FNV-1a): equal for equal rows, whatever else is in the step.
    uint64_t first_row = 0xcbf29ce484222325u;
    static void take(double& worst, double ratio) {
        // NaN is as bad as it gets.
        worst = ratio <= worst ? worst : std::isnan(ratio) ? INFINITY : ratio;
    }
};

template <typename T, typename KV> using Kernel = void (*)(const T*, unsigned, const KV*, const KV*, const float*, const float*,
                                                           const float*, const unsigned*, unsigned, unsigned, T*, float*, float*,
                                                           float*, unsigned, unsigned, unsigned, float, float);
template <typename T>
using Merge = void (*)(const unsigned*, unsigned, unsigned, const float*, const float*, const float*, T*, float*, unsigned);

template <typename T, typename KV>
Worst run(const Case& c, Kernel<T, KV> prefill, size_t prefill_shared, Kernel<T, KV> decode, Merge<T> merge, Error allowed) {
    const size_t d = c.head_dim;
    const size_t group = c.heads / c.kv_heads;
    const size_t block_size = size_t{1} << c.block_shift;
    const size_t q_stride = c.heads * d + 24;
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    emulation::Buffer<T> q(c.tokens * q_stride);
    emulation::Buffer<KV> keys(c.blocks * block_size * c.kv_heads * d), values(keys.size());
    emulation::Buffer<float> key_scales(c.kv_heads), value_scales(c.kv_heads);
    const bool scaled = sizeof(KV) == 1;
    for (size_t h = 0; h < c.kv_heads; h++) {
        key_scales[h] = scaled ? 0.02f + 0.01f * static_cast<float>(h) : NAN;
        value_scales[h] = scaled ? 0.5f - 0.1f * static_cast<float>(h % 4) : NAN;
    }
    auto key_scale = [&](size_t h) { return scaled ? key_scales[h] : 1.0f; };
    auto value_scale = [&](size_t h) { return scaled ? value_scales[h] : 1.0f; };
    auto entry = [&](const StepRow& row, size_t position, size_t kv_head) {
        return ((row.blocks[position / block_size] * block_size + position % block_size) * c.kv_heads + kv_head) * d;
    };
    // From so small that nobody notices to so large that little is left for the keys.
    emulation::Buffer<float> sinks(c.heads);
    for (size_t h = 0; h < c.heads; h++)
        sinks[h] = c.sinks ? -6.0f + 5.0f * static_cast<float>(h % 4) : NAN;
    std::vector<bool> filled(c.blocks * block_size);
    // Row by row, so that a row which comes first is the same in every step.
    for (const auto& row : c.rows) {
        for (size_t token = row.query_start; token < row.query_start + row.query_len; token++)
            for (size_t i = 0; i < c.heads * d; i++)
                q[token * q_stride + i] = from_float<T>(1.5f * normal(random));
        // What lies before the window of the row's first query, but for what is read along with its first key, is NaN.
        const size_t end = row.context_len - row.query_len + 1;
        for (size_t position = c.window > 0 && end > c.window ? (end - c.window) / 16 * 16 : 0; position < row.context_len;
             position++) {
            const size_t slot = entry(row, position, 0) / d / c.kv_heads;
            if (filled[slot])
                continue;
            filled[slot] = true;
            for (size_t h = 0; h < c.kv_heads; h++)
                for (size_t i = 0; i < d; i++) {
                    keys[entry(row, position, h) + i] = stored<KV>(normal(random) / key_scale(h));
                    // Not centred, so that wrong weights show in the sum.
                    values[entry(row, position, h) + i] = stored<KV>((normal(random) + 0.5f) / value_scale(h));
                }
        }
    }
    const emulation::Buffer<unsigned> plan(c.words);
    emulation::Buffer<T> out(c.tokens * c.heads * d);
    emulation::Buffer<float> lse(c.tokens * c.heads);
    emulation::Buffer<float> partial_out(c.slots * c.heads * d), partial_lse(c.slots * c.heads);

    const auto kv_heads = static_cast<unsigned>(c.kv_heads);
    const auto heads = static_cast<unsigned>(c.heads);
    auto attend = [&](const char* name, Kernel<T, KV> kernel, Section section, size_t shared) {
        if (section.count == 0)
            return;
        // One item's blocks more than there are: they must find nothing to do.
        emulation::launch(name, dim3((section.count + 1) * kv_heads), dim3(128), shared, [&] {
            kernel(q.data(), static_cast<unsigned>(q_stride), keys.data(), values.data(), scaled ? key_scales.data() : nullptr,
                   scaled ? value_scales.data() : nullptr, c.sinks ? sinks.data() : nullptr, plan.data(), section.offset,
                   section.count, out.data(), lse.data(), partial_out.data(), partial_lse.data(), heads, kv_heads,
                   static_cast<unsigned>(c.block_shift), static_cast<float>(c.scale), static_cast<float>(c.softcap));
        });
    };
    attend("prefill", prefill, c.prefill, prefill_shared);
    attend("decode", decode, c.decode, c.decode_shared);
    // A block for every four heads of a token, or fewer blocks that go round.
    const unsigned merge_blocks = c.merges.count * (d == 64 ? (heads + 3) / 4 : 1);
    if (c.merges.count > 0)
        emulation::launch("merge", dim3(merge_blocks), dim3(128), 0, [&] {
            merge(plan.data(), c.merges.offset, c.merges.count, partial_out.data(), partial_lse.data(),
                  c.sinks ? sinks.data() : nullptr, out.data(), lse.data(), heads);
        });

    Worst worst;
    std::vector<double> scores, sum(d), magnitude(d);
    for (const auto& row : c.rows)
        for (size_t i = 0; i < row.query_len; i++)
            for (size_t head = 0; head < c.heads; head++) {
                const size_t token = row.query_start + i;
                const size_t kv_head = head / group;
                const size_t end = row.context_len - row.query_len + i + 1;
                const size_t begin = c.window > 0 && end > c.window ? end - c.window : 0;
                scores.assign(end - begin, 0.0);
                double high = -INFINITY;
                for (size_t position = 0; position < scores.size(); position++) {
                    const size_t at = entry(row, begin + position, kv_head);
                    for (size_t j = 0; j < d; j++)
                        scores[position] += double(to_float(q[token * q_stride + head * d + j])) * value_of(keys[at + j]);
                    scores[position] *= key_scale(kv_head) * c.scale;
                    if (c.softcap > 0.0)
                        scores[position] = c.softcap * std::tanh(scores[position] / c.softcap);
                    high = std::max(high, scores[position]);
                }
                double total = 0.0;
                std::fill(sum.begin(), sum.end(), 0.0);
                std::fill(magnitude.begin(), magnitude.end(), 0.0);
                for (size_t position = 0; position < scores.size(); position++) {
                    const double weight = std::exp(scores[position] - high);
                    total += weight;
                    for (size_t j = 0; j < d; j++) {
                        const double value = value_of(values[entry(row, begin + position, kv_head) + j]) * value_scale(kv_head);
                        sum[j] += weight * value;
                        magnitude[j] += weight * std::fabs(value);
                    }
                }
                // The sink is one more score, of a key without a value; the log-sum-exp is that of the keys.
                const double all = c.sinks ? total + std::exp(sinks[head] - high) : total;
                for (size_t j = 0; j < d; j++) {
                    const double got = to_float(out[(token * c.heads + head) * d + j]);
                    const double error = allowed.relative * magnitude[j] / all + allowed.absolute;
                    Worst::take(worst.output, std::fabs(got - sum[j] / all) / error);
                }
                Worst::take(worst.lse, std::fabs(lse[token * c.heads + head] - (high + std::log(total))) / 2e-5);
            }
    auto add = [&](const void* bytes, size_t count) {
        for (size_t i = 0; i < count; i++)
            worst.first_row = (worst.first_row ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3u;
    };
    const size_t first = c.rows[0].query_len * c.heads;
    add(out.data(), first * d * sizeof(T));
    add(lse.data(), first * sizeof(float));
    return worst;
}

#define RUN(prefill, shared, stored, T, KV, D)                                                                           \
    run<T, KV>(c, attention_##prefill##_##T##stored##_d##D, shared, attention_decode_##T##stored##_d##D,                \
               attention_merge_##T##_d##D, error_of(c))
#define RUN_NARROW(cache_type, stored, T, KV, D)                                                                           \
    if (c.type == #T && c.cache == #cache_type && c.head_dim == D)                                                     \
        return RUN(prefill, c.prefill_shared, stored, T, KV, D);
#define RUN_WIDE(cache_type, stored, T, KV, D)                                                                             \
    if (c.type == #T && c.cache == #cache_type && c.head_dim == D)                                                     \
        return both(RUN(prefill, c.prefill_shared, stored, T, KV, D),                                                  \
                    RUN(prefill_warpgroup, c.warpgroup_shared, stored, T, KV, D));

/// Of the prefill by each warp and by the warpgroup.
Worst both(const Worst& a, const Worst& b) {
    return {std::max(a.output, b.output), std::max(a.lse, b.lse), a.first_row ^ b.first_row << 1};
}

Worst dispatch(const Case& c) {
    RUN_NARROW(same, , bf16, bf16, 32)
    RUN_NARROW(same, , f16, f16, 32)
    RUN_WIDE(same, , bf16, bf16, 64)
    RUN_WIDE(same, , bf16, bf16, 128)
    RUN_WIDE(same, , f16, f16, 64)
    RUN_WIDE(same, , f16, f16, 128)
    RUN_WIDE(e4m3, _e4m3, bf16, attention::E4m3, 64)
    RUN_WIDE(e4m3, _e4m3, bf16, attention::E4m3, 128)
    RUN_WIDE(e4m3, _e4m3, f16, attention::E4m3, 64)
    RUN_WIDE(e4m3, _e4m3, f16, attention::E4m3, 128)
    RUN_NARROW(same, , bf16, bf16, 256)
    RUN_NARROW(same, , f16, f16, 256)
    RUN_NARROW(same, , bf16, bf16, 512)
    RUN_NARROW(same, , f16, f16, 512)
    RUN_NARROW(e4m3, _e4m3, bf16, attention::E4m3, 256)
    RUN_NARROW(e4m3, _e4m3, f16, attention::E4m3, 256)
    std::fprintf(stderr, "no kernel for %s, cache %s, with heads of %zu\n", c.type.c_str(),
                 c.cache.c_str(), c.head_dim);
    std::exit(2);
}

} // namespace

int main() {
    std::ios::sync_with_stdio(false);
    int bad = 0, cases = 0;
    for (Case c; read_case(std::cin, c); cases++) {
        const Worst worst = dispatch(c);
        const bool fits = worst.output <= 1.0 && worst.lse <= 1.0;
        bad += !fits;
        std::printf("%-40s %s: output %.3f, lse %.3f of what is allowed; first row %016llx\n", c.name.c_str(),
                    fits ? "right" : "WRONG", worst.output, worst.lse, static_cast<unsigned long long>(worst.first_row));
        std::fflush(stdout);
    }
    std::printf("%d cases\n", cases);
    return bad != 0;
}
