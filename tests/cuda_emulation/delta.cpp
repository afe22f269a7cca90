// Recurrent layers: against a reference in double precision that knows whole sequences alone; and to the bit the same however a sequence
// is divided among steps, whatever else is in them, and from a snapshot. Gates of heads and of the shared expert.
#include "compare.h"
#include "delta.cu"

#include <numeric>

namespace {

constexpr unsigned NO_SLOT = 0xffffffffu;

struct Shape {
    int key_heads, value_heads, key_dim, value_dim, taps;
    bool converted;
    int channels() const { return 2 * key_heads * key_dim + value_heads * value_dim; }
    int values() const { return value_heads * value_dim; }
    int key_head(int head) const { return converted ? head % key_heads : head / (value_heads / key_heads); }
};

template <typename T> struct Kernels;
#define KERNELS(T)                                                                                                     \
    template <> struct Kernels<T> {                                                                                    \
        static constexpr const char* name = #T;                                                                        \
        static constexpr auto convolve = delta_convolve_##T;                                                           \
        static constexpr auto inputs = delta_inputs_##T;                                                               \
        static constexpr auto norm = delta_norm_##T;                                                                   \
        static constexpr auto gate_heads = gate_heads_##T;                                                             \
        static constexpr auto add_shared = add_shared_##T;                                                             \
    };
KERNELS(bf16)
KERNELS(f16)

/// A sequence's projections: channels and gate side by side, and step and beta.
template <typename T> struct Sequence {
    int tokens;
    Buffer<T> projected;
    Buffer<float> step_beta;
    Sequence(const Shape& shape, int tokens, uint64_t seed)
        : tokens(tokens), projected(static_cast<size_t>(tokens) * (shape.channels() + shape.values())),
          step_beta(static_cast<size_t>(tokens) * 2 * shape.value_heads) {
        Random random(seed);
        for (size_t i = 0; i < projected.size(); i++)
            projected[i] = from_float<T>(random.normal());
        for (size_t i = 0; i < step_beta.size(); i++)
            step_beta[i] = 2.0f * random.normal();
        // A step so long that its exponential is none.
        step_beta[0] = 90.0f;
    }
};

struct Part {
    int sequence, first, tokens;
    unsigned source, slot, save;
};

template <typename T> class Layer {
  public:
    Layer(const Shape& shape, int slots)
        : shape_(shape), heads_(static_cast<size_t>(slots) * shape.values() * shape.key_dim),
          inputs_(static_cast<size_t>(slots) * (shape.taps - 1) * shape.channels()),
          convolution_(static_cast<size_t>(shape.taps) * shape.channels()), rate_(shape.value_heads),
          step_bias_(shape.value_heads), norm_(shape.value_dim) {
        Random random(5);
        for (size_t i = 0; i < convolution_.size(); i++)
            convolution_[i] = 0.5f * random.normal();
        for (int i = 0; i < shape.value_heads; i++) {
            rate_[i] = -0.02f - 0.3f * static_cast<float>(random.uniform());
            step_bias_[i] = random.normal();
        }
        for (int i = 0; i < shape.value_dim; i++)
            norm_[i] = 1.0f + 0.3f * random.normal();
    }

    /// What the parts of a step read, one after the other.
    std::vector<T> step(const std::vector<Sequence<T>*>& sequences, const std::vector<Part>& parts) {
        const int channels = shape_.channels(), values = shape_.values(), stride = channels + values;
        int n = 0;
        for (const Part& part : parts)
            n += part.tokens;
        Buffer<T> x(static_cast<size_t>(n) * stride);
        Buffer<float> step_beta(static_cast<size_t>(n) * 2 * shape_.value_heads), mixed(static_cast<size_t>(n) * channels);
        Buffer<unsigned> rows(parts.size() * 5), row_of(n);
        int token = 0;
        for (size_t i = 0; i < parts.size(); i++) {
            const Part& part = parts[i];
            const Sequence<T>& from = *sequences[part.sequence];
            for (int t = 0; t < part.tokens; t++, token++) {
                row_of[token] = static_cast<unsigned>(i);
                for (int c = 0; c < stride; c++)
                    x[static_cast<size_t>(token) * stride + c] = from.projected[static_cast<size_t>(part.first + t) * stride + c];
                for (int h = 0; h < 2 * shape_.value_heads; h++)
                    step_beta[token * 2 * shape_.value_heads + h] =
                        from.step_beta[(part.first + t) * 2 * shape_.value_heads + h];
            }
            const unsigned words[5] = {static_cast<unsigned>(token - part.tokens), static_cast<unsigned>(part.tokens),
                                       part.source, part.slot, part.save};
            for (int w = 0; w < 5; w++)
                rows[i * 5 + w] = words[w];
        }
        launch("delta_convolve", up(n * (2 * shape_.key_heads + shape_.value_heads), 8), 256, 0, [&] {
            Kernels<T>::convolve(mixed.data(), x.data(), stride, inputs_.data(), convolution_.data(), rows.data(),
                                 row_of.data(), n, shape_.key_heads, shape_.value_heads, shape_.key_dim, shape_.value_dim,
                                 shape_.taps);
        });
        const int columns = std::min(shape_.value_dim, 128);
        const auto delta = shape_.key_dim == 32 ? delta_k32 : shape_.key_dim == 64 ? delta_k64 : delta_k128;
        launch("delta", dim3(values / columns, static_cast<unsigned>(parts.size())), 2 * columns, 0, [&] {
            delta(mixed.data(), heads_.data(), step_beta.data(), rate_.data(), step_bias_.data(), rows.data(),
                  shape_.key_heads, shape_.value_heads, shape_.value_dim, shape_.converted);
        });
        launch("delta_inputs", dim3(static_cast<unsigned>(parts.size()), up(channels, 256)), 256, 0,
               [&] { Kernels<T>::inputs(inputs_.data(), x.data(), stride, rows.data(), channels, shape_.taps); });
        Buffer<T> out(static_cast<size_t>(n) * values);
        launch("delta_norm", up(n * shape_.value_heads, 8), 256, 0, [&] {
            Kernels<T>::norm(out.data(), mixed.data(), channels, channels - values, x.data() + channels, stride, norm_.data(),
                             n, shape_.value_heads, shape_.value_dim, EPS);
        });
        return std::vector<T>(out.data(), out.data() + out.size());
    }

    /// What a whole sequence reads, by the definition.
    std::vector<double> expected(const Sequence<T>& sequence) const {
        const int channels = shape_.channels(), values = shape_.values(), stride = channels + values;
        const int kd = shape_.key_dim, vd = shape_.value_dim;
        std::vector<double> out(static_cast<size_t>(sequence.tokens) * values), x(channels);
        std::vector<double> state(static_cast<size_t>(values) * kd);
        for (int t = 0; t < sequence.tokens; t++) {
            for (int c = 0; c < channels; c++) {
                double sum = 0.0;
                for (int tap = 0; tap < shape_.taps; tap++)
                    if (const int at = t - (shape_.taps - 1) + tap; at >= 0)
                        sum += to_float(sequence.projected[static_cast<size_t>(at) * stride + c]) *
                               static_cast<double>(convolution_[tap * channels + c]);
                x[c] = sum / (1.0 + std::exp(-sum));
            }
            for (int head = 0; head < 2 * shape_.key_heads; head++) {
                double squares = 1e-6;
                for (int i = 0; i < kd; i++)
                    squares += x[head * kd + i] * x[head * kd + i];
                for (int i = 0; i < kd; i++)
                    x[head * kd + i] /= std::sqrt(squares) * (head < shape_.key_heads ? std::sqrt(kd) : 1.0);
            }
            for (int head = 0; head < shape_.value_heads; head++) {
                const double* query = &x[shape_.key_head(head) * kd];
                const double* key = &x[(shape_.key_heads + shape_.key_head(head)) * kd];
                const double* value = &x[2 * shape_.key_heads * kd + head * vd];
                const float* both = &sequence.step_beta[static_cast<size_t>(t) * 2 * shape_.value_heads];
                const double decay = std::exp(rate_[head] * std::log1p(std::exp(double(both[head]) + step_bias_[head])));
                const double beta = 1.0 / (1.0 + std::exp(-double(both[shape_.value_heads + head])));
                std::vector<double> read(vd);
                double squares = 0.0;
                for (int j = 0; j < vd; j++) {
                    double* column = &state[(static_cast<size_t>(head) * vd + j) * kd];
                    double known = 0.0;
                    for (int i = 0; i < kd; i++)
                        known += (column[i] *= decay) * key[i];
                    for (int i = 0; i < kd; i++) {
                        column[i] += (value[j] - known) * beta * key[i];
                        read[j] += column[i] * query[i];
                    }
                    squares += read[j] * read[j];
                }
                for (int j = 0; j < vd; j++) {
                    const double z = to_float(sequence.projected[static_cast<size_t>(t) * stride + channels + head * vd + j]);
                    out[static_cast<size_t>(t) * values + head * vd + j] =
                        read[j] / std::sqrt(squares / vd + EPS) * norm_[j] * z / (1.0 + std::exp(-z));
                }
            }
        }
        return out;
    }

  private:
    static constexpr float EPS = 1e-6f;
    Shape shape_;
    Buffer<float> heads_, inputs_, convolution_, rate_, step_bias_, norm_;
};

template <typename T> void sequences(const Shape& shape) {
    Sequence<T> first(shape, 27, 1), second(shape, 19, 2);
    const std::vector<Sequence<T>*> both = {&first, &second};
    const std::string name = std::string("states, ") + Kernels<T>::name + ", keys of " + std::to_string(shape.key_dim);
    // Whole, alone.
    std::vector<T> whole[2];
    for (int i = 0; i < 2; i++) {
        Layer<T> layer(shape, 1);
        whole[i] = layer.step(both, {{i, 0, both[i]->tokens, NO_SLOT, 0, NO_SLOT}});
        Comparison comparison(name);
        const auto expected = layer.expected(*both[i]);
        for (size_t at = 0; at < expected.size(); at++)
            comparison.close(at, to_float(whole[i][at]), expected[at], ROUNDING<T>, 2e-4);
    }
    // Side by side, in parts of all lengths, each in its slot; a snapshot, from which a third goes on as the first does, in a slot that was
    // another's.
    Layer<T> layer(shape, 6);
    const int cuts[] = {0, 1, 2, 9, 17, 18, 27};
    const int others[] = {0, 8, 9, 10, 11, 16, 19};
    Comparison same(name + " in parts");
    const auto compare = [&](const std::vector<T>& got, size_t from, int sequence, int begin, int end) {
        for (size_t i = 0; i < static_cast<size_t>(end - begin) * shape.values(); i++)
            same.equal(i, to_float(got[from * shape.values() + i]),
                       to_float(whole[sequence][static_cast<size_t>(begin) * shape.values() + i]));
    };
    for (int step = 0; step < 6; step++) {
        const int a = cuts[step], b = cuts[step + 1], c = others[step], d = others[step + 1];
        const auto got = layer.step(both, {{1, c, d - c, step == 0 ? NO_SLOT : 3u, 3, NO_SLOT},
                                           {0, a, b - a, step == 0 ? NO_SLOT : 1u, 1, step == 3 ? 4u : NO_SLOT}});
        compare(got, 0, 1, c, d);
        compare(got, static_cast<size_t>(d - c), 0, a, b);
    }
    const auto went_on = layer.step(both, {{0, 17, 3, 4, 3, 2}, {1, 0, 5, NO_SLOT, 1, NO_SLOT}});
    compare(went_on, 0, 0, 17, 20);
    compare(went_on, 3, 1, 0, 5);
    compare(layer.step(both, {{0, 20, 7, 2, 2, NO_SLOT}}), 0, 0, 20, 27);
    compare(layer.step(both, {{0, 17, 10, 4, 0, NO_SLOT}}), 0, 0, 17, 27);
}

template <typename T> void gates(int rows, int width) {
    Random random(width);
    auto x = random.normals<T>(rows * width);
    const auto gate = random.normals<T>(rows * width, 3.0f), weight = random.normals<T>(width);
    Buffer<T> before(rows * width);
    for (size_t i = 0; i < before.size(); i++)
        before[i] = x[i];
    launch("gate_heads", up(rows * width / 8, 256), 256, 0,
           [&] { Kernels<T>::gate_heads(x.data(), gate.data(), rows * width / 8); });
    {
        Comparison comparison(std::string("gate_heads_") + Kernels<T>::name);
        for (size_t i = 0; i < before.size(); i++)
            comparison.close(i, to_float(x[i]), to_float(before[i]) / (1.0 + std::exp(-double(to_float(gate[i])))), ROUNDING<T>);
    }
    // Without a weight the share is 1.
    for (const bool weighed : {true, false}) {
        auto out = random.normals<T>(rows * width);
        Buffer<T> sum(rows * width);
        for (size_t i = 0; i < sum.size(); i++)
            sum[i] = out[i];
        launch("add_shared", rows, threads_for(width, 512, 64, 256), 0, [&] {
            Kernels<T>::add_shared(out.data(), gate.data(), before.data(), weighed ? weight.data() : nullptr, rows, width);
        });
        Comparison comparison(std::string("add_shared_") + Kernels<T>::name);
        for (int row = 0; row < rows; row++) {
            double product = 0.0;
            for (int i = 0; i < width; i++)
                product += double(to_float(before[row * width + i])) * to_float(weight[i]);
            const double share = weighed ? 1.0 / (1.0 + std::exp(-product)) : 1.0;
            for (int i = row * width; i < (row + 1) * width; i++)
                comparison.close(i, to_float(out[i]), to_float(sum[i]) + share * to_float(gate[i]), ROUNDING<T>,
                                 3e-2 * ROUNDING<T> + 1e-4);
        }
    }
}

template <typename T> void all() {
    sequences<T>({2, 4, 32, 32, 4, false});
    sequences<T>({2, 4, 64, 96, 3, true});
    sequences<T>({1, 4, 128, 256, 4, false});
    gates<T>(3, 64);
    gates<T>(2, 2056);
}

} // namespace

int main() {
    all<bf16>();
    all<f16>();
    return finish("recurrent layers");
}
