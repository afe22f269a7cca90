// Mixture of experts: the router, the experts' order, the products and the sum, against references in double precision.
#include "compare.h"
#include "fp8.cu"
#include "moe.cu"
#include "moe_gemm.cu"

#include <numeric>

namespace {

template <typename T> struct Kernels;
#define KERNELS(T)                                                                                                     \
    template <> struct Kernels<T> {                                                                                    \
        static constexpr const char* name = #T;                                                                        \
        static constexpr auto tile32 = moe_gemm_tile32_##T;                                                            \
        static constexpr auto tile128 = moe_gemm_tile128_##T;                                                          \
        static constexpr auto e4m3_tile32 = moe_gemm_e4m3_tile32_##T;                                                  \
        static constexpr auto e4m3_tile128 = moe_gemm_e4m3_tile128_##T;                                                \
        static constexpr auto quantize_rows = quantize_rows_fp8_##T;                                                   \
        static constexpr auto quantize_fragments = quantize_fragments_fp8_##T;                                         \
        static constexpr auto combine = moe_combine_##T;                                                               \
    };
KERNELS(bf16)
KERNELS(f16)

/// With `sigmoid` also a correction, a scale, and a scale of each expert. From two parts on each logit is theirs, with a bias; they are far
/// smaller one than the other, so that experts which a logit in 16 bits would not tell apart are in their order.
void routing(int n, int experts, int k, bool renormalise, bool sigmoid = false, int parts = 1) {
    Random random(experts);
    auto logits = random.normals<float>(n * parts * experts, 2.0f);
    const auto bias = random.normals<float>(experts);
    for (int i = 0; i < experts; i++) // equal logits: the lowest numbers are taken
        logits[i] = i % 2 == 0 ? 0.0f : -0.0f;
    for (int i = 0; parts > 1 && i < n * parts * experts; i++) {
        const int part = i / experts % parts;
        logits[i] = part == 0 ? -bias[i % experts] : std::ldexp(logits[i], -10 * part);
    }
    Buffer<unsigned> chosen(n * k);
    Buffer<float> weights(n * k), correction(experts), scales(experts);
    for (int i = 0; i < experts; i++) {
        correction[i] = 0.5f * static_cast<float>(i % 7);
        scales[i] = 1.0f + 0.125f * static_cast<float>(i % 5);
    }
    const float scale = sigmoid ? 2.5f : 1.0f;
    launch("moe_route", up(n, 8), 256, 0, [&] {
        moe_route(chosen.data(), weights.data(), logits.data(), parts > 1 ? bias.data() : nullptr,
                  sigmoid ? correction.data() : nullptr, sigmoid ? scales.data() : nullptr, n, parts, experts, k, renormalise,
                  sigmoid, scale);
    });
    Comparison comparison("moe_route of " + std::to_string(experts) + " in " + std::to_string(parts));
    for (int token = 0; token < n; token++) {
        std::vector<double> p(experts), rank(experts);
        std::vector<int> order(experts);
        std::iota(order.begin(), order.end(), 0);
        double sum = 0.0, chosen_sum = 0.0;
        for (int i = 0; i < experts; i++) {
            double logit = parts > 1 ? bias[i] : 0.0;
            for (int part = 0; part < parts; part++)
                logit += logits[(token * parts + part) * experts + i];
            sum += p[i] = sigmoid ? 1.0 / (1.0 + std::exp(-logit)) : std::exp(logit);
            rank[i] = p[i] + (sigmoid ? correction[i] : 0.0);
        }
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] > rank[b]; });
        for (int j = 0; j < k; j++)
            chosen_sum += p[order[j]];
        for (int j = 0; j < k; j++) {
            const double total = renormalise ? chosen_sum : sigmoid ? 1.0 : sum;
            const double own = sigmoid ? 2.5 * scales[order[j]] : 1.0;
            comparison.equal(token, chosen[token * k + j], order[j]);
            comparison.close(token, weights[token * k + j], p[order[j]] / total * own, 1e-5);
        }
    }
}

void not_a_number() {
    Buffer<float> logits(40);
    for (int i = 0; i < 40; i++)
        logits[i] = i == 7 ? NAN : 1.0f;
    Buffer<unsigned> chosen(8);
    Buffer<float> weights(8);
    launch("moe_route", 1, 256, 0, [&] { 
        moe_route(chosen.data(), weights.data(), logits.data(), nullptr, nullptr, nullptr, 1, 1, 40, 8, 1, 0, 1.0f);
    });
    Comparison comparison("moe_route of NaN");
    for (int j = 0; j < 8; j++) {
        comparison.equal(j, chosen[j] < 40, true);
        comparison.is_nan(j, weights[j]);
    }
}

struct Order {
    Buffer<unsigned> offsets, permutation, inverse;
    int expert_of(int row) const {
        int expert = 0;
        while (static_cast<unsigned>(row) >= offsets[expert + 1])
            expert++;
        return expert;
    }
};

Order sorted(const Buffer<unsigned>& chosen, int experts) {
    const int pairs = static_cast<int>(chosen.size());
    Order order{Buffer<unsigned>(experts + 1), Buffer<unsigned>(pairs), Buffer<unsigned>(pairs)};
    launch("moe_sort", experts, 512, 0, [&] {
        moe_sort(order.offsets.data(), order.permutation.data(), order.inverse.data(), chosen.data(), pairs, experts);
    });
    std::vector<unsigned> expected(pairs);
    std::iota(expected.begin(), expected.end(), 0u);
    std::stable_sort(expected.begin(), expected.end(), [&](unsigned a, unsigned b) { return chosen[a] < chosen[b]; });
    Comparison comparison("moe_sort of " + std::to_string(pairs));
    for (int row = 0; row < pairs; row++) {
        comparison.equal(row, order.permutation[row], expected[row]);
        comparison.equal(row, order.inverse[expected[row]], row);
    }
    for (int expert = 0; expert <= experts; expert++)
        comparison.equal(expert, order.offsets[expert],
                         std::count_if(chosen.data(), chosen.data() + pairs,
                                       [&](unsigned e) { return static_cast<int>(e) < expert; }));
    return order;
}

Buffer<unsigned> choices(Random& random, int pairs, int experts) {
    Buffer<unsigned> chosen(pairs);
    for (int i = 0; i < pairs; i++) // expert 1 gets none, the last one most
        chosen[i] = i % 3 == 0 ? experts - 1 : random.below(experts);
    for (int i = 0; i < pairs; i++)
        chosen[i] = chosen[i] == 1 ? 0 : chosen[i];
    return chosen;
}

template <typename T> void products(int n, int experts, int k, int outputs, int inputs, bool biased) {
    const int pairs = n * k;
    Random random(inputs);
    const Order order = sorted(choices(random, pairs, experts), experts);
    const auto x = random.normals<T>(n * inputs), weights = random.normals<T>(experts * outputs * inputs),
               biases = random.normals<T>(experts * outputs, 3.0f);
    const T* bias = biased ? biases.data() : nullptr;
    Buffer<T> small(pairs * outputs), large(pairs * outputs);
    launch("moe_gemm_tile32", dim3(up(outputs, 128), up(pairs, 32) + experts), 128, 81920, [&] {
        Kernels<T>::tile32(small.data(), x.data(), weights.data(), nullptr, bias, order.offsets.data(),
                           order.permutation.data(), k, experts, outputs, inputs, pairs);
    });
    launch("moe_gemm_tile128", dim3(up(outputs, 128), up(pairs, 128) + experts), 256, 98304, [&] {
        Kernels<T>::tile128(large.data(), x.data(), weights.data(), nullptr, bias, order.offsets.data(),
                            order.permutation.data(), k, experts, outputs, inputs, pairs);
    });
    const auto shape = " [" + std::to_string(pairs) + ", " + std::to_string(inputs) + "] to " + std::to_string(outputs);
    Comparison comparison(std::string("moe_gemm_") + Kernels<T>::name + shape);
    const auto expert_of = [&](int row) { return order.expert_of(row); };
    for (int row = 0; row < pairs; row++) {
        const T* left = x.data() + order.permutation[row] / k * inputs;
        const T* matrix = weights.data() + static_cast<size_t>(expert_of(row)) * outputs * inputs;
        for (int i = 0; i < outputs; i++) {
            double sum = bias ? to_float(bias[expert_of(row) * outputs + i]) : 0.0, magnitude = std::fabs(sum);
            for (int j = 0; j < inputs; j++) {
                const double product = static_cast<double>(to_float(left[j])) * to_float(matrix[i * inputs + j]);
                sum += product;
                magnitude += std::fabs(product);
            }
            const size_t at = static_cast<size_t>(row) * outputs + i;
            comparison.close(at, to_float(small[at]), sum, ROUNDING<T>, 1e-6 * magnitude);
            comparison.equal(at, to_float(large[at]), to_float(small[at]));
        }
    }

    // The second product of a layer reads rows as they lie; here with the first one's result.
    if (outputs % 8 != 0)
        return;
    const auto back = random.normals<T>(experts * 8 * outputs);
    Buffer<T> y(pairs * 8);
    launch("moe_gemm_tile32", dim3(1, up(pairs, 32) + experts), 128, 81920, [&] {
        Kernels<T>::tile32(y.data(), small.data(), back.data(), nullptr, nullptr, order.offsets.data(), nullptr, k,
                           experts, 8, outputs, pairs);
    });
    const auto shares = random.normals<float>(pairs);
    Buffer<T> out(n * 8);
    launch("moe_combine", dim3(n, 1), 256, 0,
           [&] { Kernels<T>::combine(out.data(), y.data(), shares.data(), order.inverse.data(), n, 8, k); });
    Comparison second(std::string("moe_gemm_") + Kernels<T>::name + " without a permutation, moe_combine" + shape);
    for (int row = 0; row < pairs; row++)
        for (int i = 0; i < 8; i++) {
            double sum = 0.0, magnitude = 0.0;
            for (int j = 0; j < outputs; j++) {
                const double product = static_cast<double>(to_float(small[row * outputs + j])) *
                                       to_float(back[(expert_of(row) * 8 + i) * outputs + j]);
                sum += product;
                magnitude += std::fabs(product);
            }
            second.close(row * 8 + i, to_float(y[row * 8 + i]), sum, ROUNDING<T>, 1e-6 * magnitude);
        }
    for (int token = 0; token < n; token++)
        for (int i = 0; i < 8; i++) {
            double sum = 0.0, magnitude = 0.0;
            for (int j = 0; j < k; j++) {
                const double part =
                    static_cast<double>(shares[token * k + j]) * to_float(y[order.inverse[token * k + j] * 8 + i]);
                sum += part;
                magnitude += std::fabs(part);
            }
            second.close(token * 8 + i, to_float(out[token * 8 + i]), sum, ROUNDING<T>, 1e-6 * magnitude);
        }
}

/// Weights in e4m3: as quantised by row, in fragments; the sums by their scales, and then the bias.
template <typename T> void products_in_e4m3(int n, int experts, int k, int outputs, int inputs, bool biased) {
    const int pairs = n * k, rows = experts * outputs;
    Random random(inputs + 1);
    const Order order = sorted(choices(random, pairs, experts), experts);
    const auto x = random.normals<T>(n * inputs), weights = random.normals<T>(rows * inputs, 0.1f),
               biases = random.normals<T>(rows);
    const T* bias = biased ? biases.data() : nullptr;
    Buffer<uint8_t> in_order(rows * inputs), fragments(rows * inputs);
    Buffer<float> scales(rows), scales_again(rows);
    const unsigned threads = threads_for(inputs, 512, 64, 1024);
    launch("quantize_rows_fp8", rows, threads, 0,
           [&] { Kernels<T>::quantize_rows(in_order.data(), scales.data(), weights.data(), rows, inputs); });
    launch("quantize_fragments_fp8", rows, threads, 0,
           [&] { Kernels<T>::quantize_fragments(fragments.data(), scales_again.data(), weights.data(), rows, inputs); });
    const auto shape = " [" + std::to_string(pairs) + ", " + std::to_string(inputs) + "] to " + std::to_string(outputs);
    {
        Comparison comparison(std::string("quantize_fragments_fp8_") + Kernels<T>::name + shape);
        for (int row = 0; row < rows; row++) {
            comparison.equal(row, scales_again[row], scales[row]);
            for (int i = 0; i < inputs; i++) {
                // Bytes of a word: inputs 2t, 2t+1, 2t+8, 2t+9 of 16.
                const int within = i % 16, t = within % 8 / 2, byte = within / 8 * 2 + within % 2;
                const size_t at = ((static_cast<size_t>(row / 8) * (inputs / 16) + i / 16) * 8 + row % 8) * 16 + 4 * t + byte;
                comparison.equal(at, fragments[at], in_order[static_cast<size_t>(row) * inputs + i]);
            }
        }
    }
    Buffer<T> small(pairs * outputs), large(pairs * outputs);
    launch("moe_gemm_e4m3_tile32", dim3(up(outputs, 128), up(pairs, 32) + experts), 128, 49152, [&] {
        Kernels<T>::e4m3_tile32(small.data(), x.data(), fragments.data(), scales.data(), bias, order.offsets.data(),
                                order.permutation.data(), k, experts, outputs, inputs, pairs);
    });
    launch("moe_gemm_e4m3_tile128", dim3(up(outputs, 128), up(pairs, 128) + experts), 256, 73728, [&] {
        Kernels<T>::e4m3_tile128(large.data(), x.data(), fragments.data(), scales.data(), bias, order.offsets.data(),
                                 order.permutation.data(), k, experts, outputs, inputs, pairs);
    });
    Comparison comparison(std::string("moe_gemm_e4m3_") + Kernels<T>::name + shape);
    for (int row = 0; row < pairs; row++) {
        const T* left = x.data() + order.permutation[row] / k * inputs;
        for (int i = 0; i < outputs; i++) {
            const size_t output = static_cast<size_t>(order.expert_of(row)) * outputs + i;
            double sum = 0.0, magnitude = 0.0;
            for (int j = 0; j < inputs; j++) {
                const double product =
                    static_cast<double>(to_float(left[j])) * emulation::e4m3_to_float(in_order[output * inputs + j]);
                sum += product;
                magnitude += std::fabs(product);
            }
            const double added = bias ? to_float(bias[output]) : 0.0;
            const size_t at = static_cast<size_t>(row) * outputs + i;
            comparison.close(at, to_float(small[at]), sum * scales[output] + added, ROUNDING<T>,
                             1e-6 * (magnitude * scales[output] + std::fabs(added)));
            comparison.equal(at, to_float(large[at]), to_float(small[at]));
        }
    }
}

} // namespace

int main() {
    routing(9, 128, 8, true);
    routing(3, 32, 4, false);
    routing(2, 500, 32, true);
    routing(1, 5, 5, false);
    routing(9, 128, 8, true, true);
    routing(3, 33, 4, false, true);
    routing(3, 128, 8, true, true, 3);
    routing(2, 60, 4, true, false, 2);
    not_a_number();
    Random random(1);
    for (const auto& [pairs, experts] : {std::pair(1, 2), {511, 40}, {2051, 9}})
        sorted(choices(random, pairs, experts), experts);
    products<bf16>(5, 3, 2, 136, 72, true);
    products<f16>(150, 3, 2, 16, 328, false);
    products<bf16>(1, 35, 4, 8, 8, true);
    products_in_e4m3<bf16>(5, 3, 2, 136, 80, true);
    products_in_e4m3<f16>(70, 3, 2, 16, 336, false);
    products_in_e4m3<bf16>(1, 5, 4, 8, 16, true);
    return finish("mixture of experts");
}
