// Norms, activation, quantisation, gathers: against references in double precision.
#include "compare.h"

namespace norm_kernels {
#include "norm.cu"
}
namespace activation_kernels {
#include "activation.cu"
}
namespace fp8_kernels {
#include "fp8.cu"
}
namespace rows_kernels {
#include "rows.cu"
}

namespace {

/// The kernels of one type.
template <typename T> struct Kernels;
#define KERNELS(T)                                                                                                     \
    template <> struct Kernels<T> {                                                                                    \
        static constexpr const char* name = #T;                                                                        \
        static constexpr auto rms_norm = norm_kernels::rms_norm_##T;                                                   \
        static constexpr auto add_rms_norm = norm_kernels::add_rms_norm_##T;                                           \
        static constexpr auto rms_norm_fp8 = norm_kernels::rms_norm_fp8_##T;                                           \
        static constexpr auto add_rms_norm_fp8 = norm_kernels::add_rms_norm_fp8_##T;                                   \
        static constexpr auto norm_add_rms_norm = norm_kernels::norm_add_rms_norm_##T;                                 \
        static constexpr auto norm_add_rms_norm_fp8 = norm_kernels::norm_add_rms_norm_fp8_##T;                         \
        static constexpr auto silu_mul = activation_kernels::silu_mul_##T;                                             \
        static constexpr auto silu_mul_fp8 = activation_kernels::silu_mul_fp8_##T;                                     \
        static constexpr auto gelu_mul = activation_kernels::gelu_mul_##T;                                             \
        static constexpr auto gelu_mul_fp8 = activation_kernels::gelu_mul_fp8_##T;                                     \
        static constexpr auto clamped_swiglu = activation_kernels::clamped_swiglu_##T;                                 \
        static constexpr auto clamped_swiglu_fp8 = activation_kernels::clamped_swiglu_fp8_##T;                         \
        static constexpr auto quantize_rows_fp8 = fp8_kernels::quantize_rows_fp8_##T;                                  \
        static constexpr auto scale_rows_columns = fp8_kernels::scale_rows_columns_##T;                                \
        static constexpr auto gather_rows = rows_kernels::gather_rows_##T;                                             \
    };
KERNELS(bf16)
KERNELS(f16)

std::string label(const char* kernel, const char* type, int rows, int width) {
    return std::string(kernel) + "_" + type + " [" + std::to_string(rows) + ", " + std::to_string(width) + "]";
}

/// `out` and `scales` must be what quantising `x` gives, to the bit.
template <typename T>
void quantized_equal(const std::string& name, const Buffer<uint8_t>& out, const Buffer<float>& scales, const Buffer<T>& x,
                     int rows, int width) {
    Comparison same(name);
    for (int row = 0; row < rows; row++) {
        const T* values = x.data() + static_cast<size_t>(row) * width;
        float amax = 0.0f;
        bool nan = false;
        for (int i = 0; i < width; i++) {
            amax = std::max(amax, std::fabs(to_float(values[i])));
            nan |= std::isnan(to_float(values[i]));
        }
        if (nan) {
            same.is_nan(row, scales[row]);
            same.is_nan(row, emulation::e4m3_to_float(out[static_cast<size_t>(row) * width]));
            continue;
        }
        const float scale = amax == 0.0f ? 1.0f : amax / 448.0f;
        same.equal(row, scales[row], scale);
        for (int i = 0; i < width; i++) {
            const size_t at = static_cast<size_t>(row) * width + i;
            same.equal(at, out[at], emulation::float_to_e4m3(to_float(values[i]) / scale));
        }
    }
}

template <typename T> void norms(int rows, int width) {
    using K = Kernels<T>;
    Random random(width);
    const auto x = random.normals<T>(rows * width), added = random.normals<T>(rows * width, 3.0f);
    const auto weight = random.normals<float>(width);
    const float eps = 1e-6f;
    const bool by_warp = width <= 512;
    const dim3 block = by_warp ? dim3(32, 8) : dim3(threads_for(width, 512, 64, 1024));
    const unsigned grid = by_warp ? up(rows, 8) : rows;
    const auto reference = [&](Comparison& comparison, const Buffer<T>& out, const Buffer<T>& input) {
        for (int row = 0; row < rows; row++) {
            double squares = 0.0;
            for (int i = 0; i < width; i++)
                squares += std::pow(to_float(input[row * width + i]), 2);
            for (int i = 0; i < width; i++) {
                const size_t at = row * width + i;
                comparison.close(at, to_float(out[at]),
                                 to_float(input[at]) / std::sqrt(squares / width + eps) * weight[i],
                                 ROUNDING<T>);
            }
        }
    };

    Buffer<T> out(rows * width);
    launch("rms_norm", grid, block, 0, [&] { K::rms_norm(out.data(), x.data(), weight.data(), rows, width, width, eps); });
    {
        Comparison comparison(label("rms_norm", K::name, rows, width));
        reference(comparison, out, x);
    }
    Buffer<uint8_t> quantized(rows * width);
    Buffer<float> scales(rows);
    launch("rms_norm_fp8", grid, block, 0, [&] {
        K::rms_norm_fp8(quantized.data(), scales.data(), x.data(), weight.data(), rows, width, eps);
    });
    quantized_equal(label("rms_norm_fp8", K::name, rows, width), quantized, scales, out, rows, width);

    Buffer<T> sum(rows * width), residual(rows * width), residual_fp8(rows * width), added_out(rows * width);
    for (size_t i = 0; i < sum.size(); i++) {
        residual[i] = residual_fp8[i] = x[i];
        sum[i] = from_float<T>(to_float(x[i]) + to_float(added[i]));
    }
    launch("add_rms_norm", grid, block, 0, [&] {
        K::add_rms_norm(added_out.data(), residual.data(), added.data(), weight.data(), rows, width, eps, 1.0f, 1.0f);
    });
    {
        Comparison comparison(label("add_rms_norm", K::name, rows, width));
        for (size_t i = 0; i < sum.size(); i++)
            comparison.equal(i, to_float(residual[i]), to_float(sum[i]));
        reference(comparison, added_out, sum);
    }
    launch("add_rms_norm_fp8", grid, block, 0, [&] {
        K::add_rms_norm_fp8(quantized.data(), scales.data(), residual_fp8.data(), added.data(), weight.data(), rows,
                            width, eps, 1.0f, 1.0f);
    });
    quantized_equal(label("add_rms_norm_fp8", K::name, rows, width), quantized, scales, added_out, rows, width);
    Comparison comparison(label("add_rms_norm_fp8's residual", K::name, rows, width));
    for (size_t i = 0; i < sum.size(); i++)
        comparison.equal(i, to_float(residual_fp8[i]), to_float(sum[i]));

    // The norm of the added is rounded, as if it were a kernel of its own: to the bit the same as two.
    const auto added_weight = random.normals<float>(width);
    Buffer<T> normed(rows * width), apart(rows * width), residual_apart(rows * width);
    for (size_t i = 0; i < sum.size(); i++)
        residual[i] = residual_fp8[i] = residual_apart[i] = x[i];
    launch("rms_norm", grid, block, 0,
           [&] { K::rms_norm(normed.data(), added.data(), added_weight.data(), rows, width, width, eps); });
    launch("add_rms_norm", grid, block, 0, [&] {
        K::add_rms_norm(apart.data(), residual_apart.data(), normed.data(), weight.data(), rows, width, eps, 1.0f, 1.0f);
    });
    launch("norm_add_rms_norm", grid, block, 0, [&] {
        K::norm_add_rms_norm(added_out.data(), residual.data(), added.data(), added_weight.data(), weight.data(), rows,
                             width, eps, 1.0f, 1.0f);
    });
    launch("norm_add_rms_norm_fp8", grid, block, 0, [&] {
        K::norm_add_rms_norm_fp8(quantized.data(), scales.data(), residual_fp8.data(), added.data(),
                                 added_weight.data(), weight.data(), rows, width, eps, 1.0f, 1.0f);
    });
    {
        Comparison fused(label("norm_add_rms_norm", K::name, rows, width));
        reference(fused, added_out, residual);
        for (size_t i = 0; i < sum.size(); i++) {
            fused.equal(i, to_float(added_out[i]), to_float(apart[i]));
            fused.equal(i, to_float(residual[i]), to_float(residual_apart[i]));
            fused.equal(i, to_float(residual_fp8[i]), to_float(residual_apart[i]));
        }
    }
    quantized_equal(label("norm_add_rms_norm_fp8", K::name, rows, width), quantized, scales, added_out, rows, width);
}

/// Rows that lie in wider ones, in place; what is added and the sum are scaled; without a weight the sum stays as it is.
template <typename T> void norms_otherwise(int rows, int width) {
    using K = Kernels<T>;
    Random random(width + 3);
    const int stride = width + 24;
    const float eps = 1e-6f;
    const bool by_warp = width <= 512;
    const dim3 block = by_warp ? dim3(32, 8) : dim3(threads_for(width, 512, 64, 1024));
    const unsigned grid = by_warp ? up(rows, 8) : rows;
    const auto wide = random.normals<T>(rows * stride);
    const auto weight = random.normals<float>(width);
    Buffer<T> x(rows * width), whole(rows * width), in_place(rows * stride);
    for (int i = 0; i < rows * stride; i++)
        in_place[i] = wide[i];
    for (int i = 0; i < rows * width; i++)
        x[i] = wide[i / width * stride + i % width];
    launch("rms_norm", grid, block, 0,
           [&] { K::rms_norm(whole.data(), x.data(), weight.data(), rows, width, width, eps); });
    launch("rms_norm in place", grid, block, 0,
           [&] { K::rms_norm(in_place.data(), in_place.data(), weight.data(), rows, width, stride, eps); });
    Comparison same(label("rms_norm in wider rows", K::name, rows, width));
    for (int i = 0; i < rows * stride; i++) {
        const int column = i % stride;
        same.equal(i, to_float(in_place[i]), to_float(column < width ? whole[i / stride * width + column] : wide[i]));
    }

    const float added_scale = 0.22f, sum_scale = 1.75f;
    const auto added = random.normals<T>(rows * width, 3.0f);
    Buffer<T> residual(rows * width), residual_fp8(rows * width), out(rows * width);
    Buffer<uint8_t> quantized(rows * width);
    Buffer<float> scales(rows);
    for (int i = 0; i < rows * width; i++)
        residual[i] = residual_fp8[i] = x[i];
    launch("add_rms_norm", grid, block, 0, [&] {
        K::add_rms_norm(out.data(), residual.data(), added.data(), nullptr, rows, width, eps, added_scale, sum_scale);
    });
    launch("add_rms_norm_fp8", grid, block, 0, [&] {
        K::add_rms_norm_fp8(quantized.data(), scales.data(), residual_fp8.data(), added.data(), nullptr, rows, width, eps,
                            added_scale, sum_scale);
    });
    Comparison sums(label("add_rms_norm, scaled and without a weight", K::name, rows, width));
    for (int i = 0; i < rows * width; i++) {
        const double expected = (to_float(added[i]) * 0.22 + to_float(x[i])) * 1.75;
        sums.close(i, to_float(out[i]), expected, ROUNDING<T>, 1e-6);
        sums.equal(i, to_float(residual[i]), to_float(out[i]));
        sums.equal(i, to_float(residual_fp8[i]), to_float(out[i]));
    }
    quantized_equal(label("add_rms_norm_fp8 without a weight", K::name, rows, width), quantized, scales, out, rows, width);
    // The norm of the added comes before its scale.
    Buffer<T> normed(rows * width), apart(rows * width);
    for (int i = 0; i < rows * width; i++)
        residual[i] = residual_fp8[i] = x[i];
    launch("rms_norm", grid, block, 0,
           [&] { K::rms_norm(normed.data(), added.data(), weight.data(), rows, width, width, eps); });
    launch("add_rms_norm", grid, block, 0, [&] {
        K::add_rms_norm(apart.data(), residual.data(), normed.data(), weight.data(), rows, width, eps, added_scale,
                        sum_scale);
    });
    launch("norm_add_rms_norm", grid, block, 0, [&] {
        K::norm_add_rms_norm(out.data(), residual_fp8.data(), added.data(), weight.data(), weight.data(), rows, width, eps,
                             added_scale, sum_scale);
    });
    for (int i = 0; i < rows * width; i++) {
        sums.equal(i, to_float(out[i]), to_float(apart[i]));
        sums.equal(i, to_float(residual_fp8[i]), to_float(residual[i]));
    }
}

template <typename T> void activations(int rows, int width) {
    using K = Kernels<T>;
    Random random(width + 1);
    auto gate_up = random.normals<T>(rows * 2 * width, 4.0f);
    gate_up[0] = from_float<T>(-300.0f); // exp overflows
    gate_up[1] = from_float<T>(300.0f);
    Buffer<T> out(rows * width);
    launch("silu_mul", dim3(rows, up(width, 2048)), 256, 0,
           [&] { K::silu_mul(out.data(), gate_up.data(), rows, width); });
    {
        Comparison comparison(label("silu_mul", K::name, rows, width));
        for (int row = 0; row < rows; row++)
            for (int i = 0; i < width; i++) {
                const double gate = to_float(gate_up[row * 2 * width + i]);
                const double expected = gate / (1.0 + std::exp(-gate)) * to_float(gate_up[row * 2 * width + width + i]);
                comparison.close(row * width + i, to_float(out[row * width + i]), expected, ROUNDING<T>);
            }
    }
    Buffer<uint8_t> quantized(rows * width);
    Buffer<float> scales(rows);
    launch("silu_mul_fp8", rows, threads_for(width, 512, 64, 1024), 0,
           [&] { K::silu_mul_fp8(quantized.data(), scales.data(), gate_up.data(), rows, width); });
    quantized_equal(label("silu_mul_fp8", K::name, rows, width), quantized, scales, out, rows, width);

    launch("gelu_mul", dim3(rows, up(width, 2048)), 256, 0,
           [&] { K::gelu_mul(out.data(), gate_up.data(), rows, width); });
    {
        Comparison comparison(label("gelu_mul", K::name, rows, width));
        for (int row = 0; row < rows; row++)
            for (int i = 0; i < width; i++) {
                const double gate = to_float(gate_up[row * 2 * width + i]);
                const double u = std::sqrt(2.0 / 3.14159265358979323846) * (gate + 0.044715 * gate * gate * gate);
                const double expected = 0.5 * gate * (1.0 + std::tanh(u)) * to_float(gate_up[row * 2 * width + width + i]);
                comparison.close(row * width + i, to_float(out[row * width + i]), expected, ROUNDING<T>, 1e-5);
            }
    }
    launch("gelu_mul_fp8", rows, threads_for(width, 512, 64, 1024), 0,
           [&] { K::gelu_mul_fp8(quantized.data(), scales.data(), gate_up.data(), rows, width); });
    quantized_equal(label("gelu_mul_fp8", K::name, rows, width), quantized, scales, out, rows, width);

    const float alpha = 1.702f, limit = 7.0f;
    gate_up[2] = gate_up[width + 3] = from_float<T>(NAN); // not taken for the limit
    launch("clamped_swiglu", dim3(rows, up(width, 2048)), 256, 0,
           [&] { K::clamped_swiglu(out.data(), gate_up.data(), rows, width, alpha, limit); });
    {
        Comparison comparison(label("clamped_swiglu", K::name, rows, width));
        int limited = 0;
        for (int row = 0; row < rows; row++)
            for (int i = 0; i < width; i++) {
                const double gate = to_float(gate_up[row * 2 * width + i]);
                const double up = to_float(gate_up[row * 2 * width + width + i]);
                const double got = to_float(out[row * width + i]);
                if (std::isnan(gate) || std::isnan(up)) {
                    comparison.is_nan(row * width + i, got);
                    continue;
                }
                limited += gate > limit || std::fabs(up) > limit;
                const double most = std::min<double>(gate, limit);
                const double expected =
                    most / (1.0 + std::exp(-alpha * most)) * (std::clamp<double>(up, -limit, limit) + 1.0);
                comparison.close(row * width + i, got, expected, ROUNDING<T>);
            }
        comparison.equal(0, limited > 0, true);
    }
    launch("clamped_swiglu_fp8", rows, threads_for(width, 512, 64, 1024), 0,
           [&] { K::clamped_swiglu_fp8(quantized.data(), scales.data(), gate_up.data(), rows, width, alpha, limit); });
    quantized_equal(label("clamped_swiglu_fp8", K::name, rows, width), quantized, scales, out, rows, width);
}

template <typename T> void quantisation(int rows, int width) {
    using K = Kernels<T>;
    Random random(width + 2);
    auto x = random.normals<T>(rows * width, 10.0f);
    for (int i = 0; i < width; i++)
        x[i] = from_float<T>(0.0f); // the first row
    x[width + width / 2] = from_float<T>(NAN);
    Buffer<uint8_t> quantized(rows * width);
    Buffer<float> scales(rows);
    launch("quantize_rows_fp8", rows, threads_for(width, 512, 64, 1024), 0,
           [&] { K::quantize_rows_fp8(quantized.data(), scales.data(), x.data(), rows, width); });
    quantized_equal(label("quantize_rows_fp8", K::name, rows, width), quantized, scales, x, rows, width);

    const auto sums = random.normals<float>(rows * width), row_scale = random.normals<float>(rows),
               column_scale = random.normals<float>(width);
    const auto bias = random.normals<T>(width);
    for (const T* added : {static_cast<const T*>(nullptr), bias.data()}) {
        Buffer<T> out(rows * width);
        launch("scale_rows_columns", dim3(rows, up(width, 2048)), 256, 0, [&] {
            K::scale_rows_columns(out.data(), sums.data(), row_scale.data(), column_scale.data(), added, rows, width);
        });
        Comparison comparison(label(added ? "scale_rows_columns with bias" : "scale_rows_columns", K::name, rows, width));
        for (int i = 0; i < rows * width; i++) {
            const double scaled = static_cast<double>(sums[i]) * row_scale[i / width] * column_scale[i % width];
            comparison.close(i, to_float(out[i]), scaled + (added ? to_float(added[i % width]) : 0.0), ROUNDING<T>,
                             1e-6 * (1.0 + std::fabs(scaled)));
        }
    }
}

template <typename T> void gathers(int rows, int width) {
    using K = Kernels<T>;
    Random random(width + 3);
    const unsigned table_rows = 13;
    const auto table = random.normals<T>(table_rows * width);
    Buffer<unsigned> ids(rows);
    for (int row = 0; row < rows; row++)
        ids[row] = random.below(table_rows);
    ids[rows - 1] = table_rows;
    Buffer<T> out(rows * width);
    for (const float scale : {1.0f, 25.3f}) {
        launch("gather_rows", rows, threads_for(width, 256, 32, 256), 0,
               [&] { K::gather_rows(out.data(), table.data(), ids.data(), table_rows, rows, width, scale); });
        Comparison comparison(label("gather_rows", K::name, rows, width));
        for (int row = 0; row < rows; row++)
            for (int i = 0; i < width; i++) {
                const float got = to_float(out[row * width + i]);
                if (ids[row] < table_rows)
                    // Rounded once; times 1 it is what stands there.
                    comparison.equal(row * width + i, got,
                                     to_float(from_float<T>(to_float(table[ids[row] * width + i]) * scale)));
                else
                    comparison.is_nan(row * width + i, got);
            }
    }
}

void bounds() {
    const int count = 1300;
    Random random(9);
    auto values = random.normals<float>(count, 40.0f);
    values[0] = INFINITY;
    values[1] = -INFINITY;
    values[2] = NAN;
    for (const float bound : {30.0f, 0.0f}) {
        Buffer<float> out(count);
        for (int i = 0; i < count; i++)
            out[i] = values[i];
        launch("scale_and_bound", up(count, 1024), 256, 0,
               [&] { activation_kernels::scale_and_bound(out.data(), count, 0.25f, bound); });
        Comparison comparison("scale_and_bound");
        comparison.is_nan(2, out[2]);
        for (int i = 0; i < count; i++) {
            const double scaled = 0.25 * values[i];
            if (i > 2 || (i < 2 && bound > 0.0f))
                comparison.close(i, out[i], bound > 0.0f ? bound * std::tanh(scaled / bound) : scaled, 1e-6);
        }
    }
}

void previous_tokens() {
    const int n = 300;
    Buffer<unsigned> ids(n), previous(7);
    Buffer<int> source(n);
    Random random(4);
    for (int i = 0; i < 7; i++)
        previous[i] = 1000 + i;
    for (int i = 0; i < n; i++) {
        ids[i] = i;
        source[i] = static_cast<int>(random.below(8)) - 1;
    }
    launch("token_from_previous", up(n, 256), 256, 0,
           [&] { rows_kernels::token_from_previous(ids.data(), source.data(), previous.data(), n); });
    Comparison comparison("token_from_previous");
    for (int i = 0; i < n; i++)
        comparison.equal(i, ids[i], source[i] < 0 ? i : 1000 + source[i]);
}

template <typename T> void all() {
    for (const auto& [rows, width] : {std::pair(9, 8), {17, 96}, {3, 512}, {2, 520}, {3, 2560}, {1, 20480}}) {
        norms<T>(rows, width);
        norms_otherwise<T>(rows, width);
    }
    for (const auto& [rows, width] : {std::pair(3, 16), {2, 3072}, {1, 18944}}) {
        activations<T>(rows, width);
        quantisation<T>(rows + 1, width);
        gathers<T>(rows + 1, width);
    }
}

} // namespace

int main() {
    all<bf16>();
    all<f16>();
    previous_tokens();
    bounds();
    return finish("norms, activation, quantisation, gathers");
}
