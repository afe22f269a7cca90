// Queries, keys and values to their places: against a reference in double precision.
#include "compare.h"
#include "heads.cu"

namespace {

struct Shape {
    int n, heads, kv_heads, head_dim;
    bool norms;
    unsigned form = 0;
    bool scales = false;
};

constexpr float EPS = 1e-6f;
constexpr int SLOTS = 40;
/// Rows of the tables of cosines and sines.
constexpr int ANGLES = 50;

template <typename T, typename CACHE, typename KERNEL>
void split(const char* name, KERNEL* kernel, const Shape& shape) {
    const auto [n, heads, kv_heads, head_dim, norms, form, scales] = shape;
    const int half = head_dim / 2, all = heads + 2 * kv_heads;
    const bool keys_are_values = form & 1, norms_values = form & 2, norms_last = form & 4;
    const int stored = keys_are_values ? heads + kv_heads : all;
    Random random(head_dim + n);
    const auto qkv = random.normals<T>(static_cast<size_t>(n) * stored * head_dim, 2.0f);
    const auto q_norm = random.normals<float>(head_dim), k_norm = random.normals<float>(head_dim);
    Buffer<float> cos(ANGLES * half), sin(ANGLES * half), k_scale(kv_heads), v_scale(kv_heads);
    for (int i = 0; i < ANGLES * half; i++) {
        const double angle = (i / half) * std::pow(10000.0, -static_cast<double>(i % half) / half);
        cos[i] = static_cast<float>(std::cos(angle));
        sin[i] = static_cast<float>(std::sin(angle));
    }
    for (int i = 0; i < kv_heads; i++) {
        k_scale[i] = 0.01f * static_cast<float>(i + 1);
        v_scale[i] = 0.03f * static_cast<float>(i + 2);
    }
    Buffer<unsigned> angles(n), slots(n);
    Buffer<float> q_scales(n);
    for (int i = 0; i < n; i++) {
        angles[i] = random.below(ANGLES);
        slots[i] = (i * 7 + 3) % SLOTS; // all different: n is below SLOTS
        q_scales[i] = 1.0f + 0.3f * static_cast<float>(i);
    }
    if (n > 2)
        slots[1] = 0xffffffffu;
    Buffer<T> q(static_cast<size_t>(n) * heads * head_dim);
    Buffer<CACHE> k_cache(SLOTS * kv_heads * head_dim), v_cache(SLOTS * kv_heads * head_dim);
    int group = 1;
    while (group < head_dim / 16)
        group *= 2;
    const bool quantized = sizeof(CACHE) == 1;
    launch(name, up(n * all * group, 256), 256, 0, [&] {
        kernel(q.data(), k_cache.data(), v_cache.data(), qkv.data(), norms ? q_norm.data() : nullptr,
               norms ? k_norm.data() : nullptr, cos.data(), sin.data(), angles.data(), slots.data(),
               quantized ? k_scale.data() : nullptr, quantized ? v_scale.data() : nullptr,
               scales ? q_scales.data() : nullptr, n, heads, kv_heads, head_dim, form, EPS);
    });

    Comparison comparison(std::string(name) + ", heads of " + std::to_string(head_dim) + ", form " + std::to_string(form));
    std::vector<bool> filled(SLOTS);
    const auto decode = [](CACHE value) -> double {
        if constexpr (sizeof(CACHE) == 1)
            return emulation::e4m3_to_float(value);
        else
            return to_float(value);
    };
    for (int token = 0; token < n; token++) {
        if (slots[token] != 0xffffffffu)
            filled[slots[token]] = true;
        for (int head = 0; head < all; head++) {
            const bool is_value = head >= heads + kv_heads;
            const int row = keys_are_values && is_value ? head - kv_heads : head;
            const T* x = qkv.data() + (static_cast<size_t>(token) * stored + row) * head_dim;
            std::vector<double> expected(head_dim), values(head_dim);
            for (int i = 0; i < head_dim; i++)
                values[i] = to_float(x[i]);
            const auto norm = [&](std::vector<double>& numbers) {
                double squares = 0.0;
                for (const double number : numbers)
                    squares += number * number;
                for (int i = 0; i < head_dim; i++) {
                    const double weight = is_value ? 1.0 : (head < heads ? q_norm : k_norm)[i];
                    numbers[i] *= weight / std::sqrt(squares / head_dim + EPS);
                }
            };
            const bool normed = is_value ? norms_values : norms;
            if (normed && !norms_last)
                norm(values);
            for (int i = 0; i < head_dim; i++) {
                const size_t angle = angles[token] * half + i % half;
                expected[i] = is_value ? values[i]
                              : i < half
                                  ? values[i] * cos[angle] - values[i + half] * static_cast<double>(sin[angle])
                                  : values[i] * cos[angle] + values[i - half] * static_cast<double>(sin[angle]);
            }
            if (normed && norms_last)
                norm(expected);
            if (head < heads && scales)
                for (double& number : expected)
                    number *= q_scales[token];
            for (int i = 0; i < head_dim; i++) {
                if (head < heads) {
                    const size_t at = (static_cast<size_t>(token) * heads + head) * head_dim + i;
                    comparison.close(at, to_float(q[at]), expected[i], ROUNDING<T>, 1e-5);
                } else if (slots[token] != 0xffffffffu) {
                    const int kv_head = (head - heads) % kv_heads;
                    const size_t at = (static_cast<size_t>(slots[token]) * kv_heads + kv_head) * head_dim + i;
                    const double got = decode((is_value ? v_cache : k_cache)[at]);
                    if (quantized) {
                        // Half a unit in the last place: a sixteenth, relative; 2^-10 among the subnormals.
                        const double scale = (is_value ? v_scale : k_scale)[kv_head];
                        const double kept = std::clamp(expected[i] / scale, -448.0, 448.0);
                        comparison.close(at, got, kept, 0x1p-4 + 1e-5, 0x1p-10 + 1e-4);
                    } else {
                        comparison.close(at, got, expected[i], ROUNDING<T>, 1e-5);
                    }
                }
            }
        }
    }
    // What is not this step's is not touched: it is NaN still.
    for (int slot = 0; slot < SLOTS; slot++)
        for (int i = 0; !filled[slot] && i < kv_heads * head_dim; i++) {
            comparison.is_nan(slot, decode(k_cache[slot * kv_heads * head_dim + i]));
            comparison.is_nan(slot, decode(v_cache[slot * kv_heads * head_dim + i]));
        }
}

} // namespace

int main() {
    for (const Shape& shape : {Shape{5, 4, 2, 128, true}, {3, 3, 1, 64, false}, {2, 2, 2, 80, true}, {1, 1, 1, 16, true},
                               {2, 2, 1, 96, false}, {7, 2, 1, 256, true}, {2, 1, 1, 512, true},
                               {3, 4, 2, 64, true, 1}, {4, 4, 1, 256, true, 2}, {5, 4, 2, 512, true, 3}, {3, 2, 1, 64, false, 2},
                               {5, 4, 2, 128, true, 4, true}, {3, 2, 1, 32, false, 0, true}}) {
        split<bf16, bf16>("split_heads_write_kv_bf16", split_heads_write_kv_bf16, shape);
        split<f16, f16>("split_heads_write_kv_f16", split_heads_write_kv_f16, shape);
        split<bf16, uint8_t>("split_heads_write_kv_fp8_bf16", split_heads_write_kv_fp8_bf16, shape);
        split<f16, uint8_t>("split_heads_write_kv_fp8_f16", split_heads_write_kv_fp8_f16, shape);
    }
    return finish("heads");
}
