// Weights of few bits, as the loader packs them, against the same weights as plain numbers: equal to the bit. They come from a file
// (tests/kernels/numbers.rs): i32 1 for f16 or 0 for bf16, the format (0 MXFP4, 1 e4m3, 2 whole numbers of four bits), experts,
// outputs, inputs; the packed weights; their exponents or factors; the plain numbers `[experts, outputs, inputs]`, 16 bits each.
#include "compare.h"
#include "moe_gemm.cu"

namespace {

template <typename T> Buffer<T> read(std::FILE* file, size_t count) {
    Buffer<T> values(count);
    if (std::fread(values.data(), sizeof(T), count, file) != count) {
        std::printf("FAILED: the file is too short\n");
        std::exit(1);
    }
    return values;
}

template <typename T> using Kernel = void (*)(T*, const T*, const void*, const void*, const T*, const unsigned*,
                                              const unsigned*, int, int, int, int, int);

/// The kernels of a format, and bytes of a weight's codes and of its exponents or factors.
template <typename T> struct Format {
    const char* name;
    Kernel<T> tile32, tile64, tile128;
    int shared32, shared64, shared128;
    size_t codes, factors;
    void (*widen)(T*, const void*, const float*, int, int);
};

template <typename T> Format<T> format(int which, int outputs, int inputs);
template <typename T> constexpr Kernel<T> plain = nullptr;
#define FORMATS(T)                                                                                                     \
    template <> Format<T> format<T>(int which, int outputs, int inputs) {                                              \
        const size_t rows = outputs, steps = up(inputs, 64);                                                           \
        switch (which) {                                                                                               \
        case 0:                                                                                                        \
            return {"mxfp4_" #T, moe_gemm_mxfp4_tile32_##T, nullptr, moe_gemm_mxfp4_tile128_##T, 33792, 0, 62208,      \
                    rows * inputs / 2, rows * steps * 2, nullptr};                                                        \
        case 1:                                                                                                        \
            return {"scaled_e4m3_" #T, moe_gemm_scaled_e4m3_tile32_##T, moe_gemm_scaled_e4m3_tile64_##T,               \
                    moe_gemm_scaled_e4m3_tile128_##T, 51200, 50688, 75264, rows * inputs, rows * steps * 4,                \
                    widen_scaled_e4m3_##T};                                                                                \
        default:                                                                                                       \
            return {"int4_" #T, moe_gemm_int4_tile32_##T, moe_gemm_int4_tile64_##T, moe_gemm_int4_tile128_##T, 36864,  \
                    39936, 64512, rows * inputs / 2, rows * steps * 8, widen_int4_##T};                                    \
        }                                                                                                              \
    }                                                                                                                  \
    template <> constexpr Kernel<T> plain<T> = moe_gemm_tile32_##T;
FORMATS(bf16)
FORMATS(f16)

template <typename T> void products(std::FILE* file, int which, int experts, int outputs, int inputs) {
    const int rows = experts * outputs;
    const auto kernels = format<T>(which, outputs, inputs);
    const auto packed = read<uint8_t>(file, kernels.codes * experts);
    const auto factors = read<uint8_t>(file, kernels.factors * experts);
    const auto numbers = read<T>(file, static_cast<size_t>(rows) * inputs);
    // Expert 0 has one row, the others ever more.
    Buffer<unsigned> offsets(experts + 1);
    offsets[0] = 0;
    for (int expert = 0; expert < experts; expert++)
        offsets[expert + 1] = offsets[expert] + 1 + 40 * expert;
    const int pairs = offsets[experts];
    Random random(inputs);
    const auto x = random.normals<T>(pairs * inputs), bias = random.normals<T>(rows);
    Buffer<T> expected(pairs * outputs), small(pairs * outputs), large(pairs * outputs), all(pairs * outputs),
        all_small(pairs * outputs);
    if (kernels.widen != nullptr) {
        Comparison widened(std::string("widen_") + kernels.name);
        Buffer<T> wide(outputs * inputs);
        for (int expert = 0; expert < experts; expert++) {
            const auto* codes = packed.data() + kernels.codes * expert;
            const auto* of_codes = reinterpret_cast<const float*>(factors.data() + kernels.factors * expert);
            launch("widen", up(outputs * inputs / (which == 1 ? 16 : 32), 256), 256, 0,
                   [&] { kernels.widen(wide.data(), codes, of_codes, outputs, inputs); });
            for (int i = 0; i < outputs * inputs; i++)
                widened.equal(i, wide[i].bits, numbers[expert * outputs * inputs + i].bits);
        }
    }
    const auto run = [&](Kernel<T> kernel, const char* name, int tile, int shared, Buffer<T>& out, const void* weights,
                         const void* scales, bool in_order) {
        // In order: the rows of the experts. Otherwise all rows go through the first expert's weight.
        launch(name, dim3(up(outputs, 128), up(pairs, tile) + (in_order ? experts : 0)), tile == 128 ? 256 : 128, shared, [&] {
            kernel(out.data(), x.data(), weights, scales, bias.data(), in_order ? offsets.data() : nullptr, nullptr, 1,
                   experts, outputs, inputs, pairs);
        });
    };
    run(plain<T>, "moe_gemm_tile32", 32, 81920, expected, numbers.data(), nullptr, true);
    run(kernels.tile32, "tile32", 32, kernels.shared32, small, packed.data(), factors.data(), true);
    run(kernels.tile128, "tile128", 128, kernels.shared128, large, packed.data(), factors.data(), true);
    Comparison comparison(std::string("moe_gemm_") + kernels.name + " of " + std::to_string(inputs) + " inputs");
    bool finite = true;
    const auto equal = [&](const Buffer<T>& got) {
        for (int i = 0; i < pairs * outputs; i++) {
            comparison.equal(i, got[i].bits, expected[i].bits);
            finite &= std::isfinite(to_float(expected[i]));
        }
    };
    equal(small);
    equal(large);
    const auto run64 = [&](bool in_order) {
        if (kernels.tile64 == nullptr) // experts alone are in MXFP4
            return;
        Buffer<T> out(pairs * outputs);
        run(kernels.tile64, "tile64", 64, kernels.shared64, out, packed.data(), factors.data(), in_order);
        equal(out);
    };
    run64(true);
    run(plain<T>, "moe_gemm_tile32", 32, 81920, expected, numbers.data(), nullptr, false);
    run(kernels.tile32, "tile32 of all rows", 32, kernels.shared32, all_small, packed.data(), factors.data(), false);
    run(kernels.tile128, "tile128 of all rows", 128, kernels.shared128, all, packed.data(), factors.data(), false);
    equal(all_small);
    equal(all);
    run64(false);
    comparison.equal(0, finite, true);
}

} // namespace

int main(int count, char** arguments) {
    for (int i = 1; i < count; i++) {
        std::FILE* file = std::fopen(arguments[i], "rb");
        if (file == nullptr) {
            std::printf("FAILED: no file %s\n", arguments[i]);
            return 1;
        }
        const auto shape = read<int>(file, 5);
        if (shape[0] == 1)
            products<f16>(file, shape[1], shape[2], shape[3], shape[4]);
        else
            products<bf16>(file, shape[1], shape[2], shape[3], shape[4]);
        std::fclose(file);
    }
    return finish(count > 1 ? "weights of few bits" : "nothing");
}
