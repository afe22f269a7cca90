// Experts in MXFP4, as the loader packs them, against the same weights as plain numbers: equal to the bit. The weights come from
// a file (tests/kernels/numbers.rs): i32 1 for f16 or 0 for bf16, experts, outputs, inputs; the packed weights; their exponents;
// the plain numbers `[experts, outputs, inputs]`, 16 bits each.
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

template <typename T> struct Kernels;
#define KERNELS(T)                                                                                                     \
    template <> struct Kernels<T> {                                                                                    \
        static constexpr const char* name = #T;                                                                        \
        static constexpr auto tile32 = moe_gemm_tile32_##T;                                                            \
        static constexpr auto mxfp4_tile32 = moe_gemm_mxfp4_tile32_##T;                                                \
        static constexpr auto mxfp4_tile128 = moe_gemm_mxfp4_tile128_##T;                                              \
    };
KERNELS(bf16)
KERNELS(f16)

template <typename T> void products(std::FILE* file, int experts, int outputs, int inputs) {
    const int rows = experts * outputs;
    const auto packed = read<uint8_t>(file, static_cast<size_t>(rows) * inputs / 2);
    const auto exponents = read<uint8_t>(file, static_cast<size_t>(rows) * up(inputs, 64) * 2);
    const auto plain = read<T>(file, static_cast<size_t>(rows) * inputs);
    // Expert 0 has one row, the others ever more.
    Buffer<unsigned> offsets(experts + 1);
    offsets[0] = 0;
    for (int expert = 0; expert < experts; expert++)
        offsets[expert + 1] = offsets[expert] + 1 + 40 * expert;
    const int pairs = offsets[experts];
    Random random(inputs);
    const auto x = random.normals<T>(pairs * inputs), bias = random.normals<T>(rows);
    Buffer<T> expected(pairs * outputs), small(pairs * outputs), large(pairs * outputs);
    launch("moe_gemm_tile32", dim3(up(outputs, 128), up(pairs, 32) + experts), 128, 81920, [&] {
        Kernels<T>::tile32(expected.data(), x.data(), plain.data(), nullptr, bias.data(), offsets.data(), nullptr, 1,
                           experts, outputs, inputs);
    });
    launch("moe_gemm_mxfp4_tile32", dim3(up(outputs, 128), up(pairs, 32) + experts), 128, 33792, [&] {
        Kernels<T>::mxfp4_tile32(small.data(), x.data(), packed.data(), exponents.data(), bias.data(), offsets.data(),
                                 nullptr, 1, experts, outputs, inputs);
    });
    launch("moe_gemm_mxfp4_tile128", dim3(up(outputs, 128), up(pairs, 128) + experts), 256, 62208, [&] {
        Kernels<T>::mxfp4_tile128(large.data(), x.data(), packed.data(), exponents.data(), bias.data(), offsets.data(),
                                  nullptr, 1, experts, outputs, inputs);
    });
    Comparison comparison(std::string("moe_gemm_mxfp4_") + Kernels<T>::name + " of " + std::to_string(inputs) + " inputs");
    bool numbers = true;
    for (int i = 0; i < pairs * outputs; i++) {
        comparison.equal(i, small[i].bits, expected[i].bits);
        comparison.equal(i, large[i].bits, expected[i].bits);
        numbers &= std::isfinite(to_float(expected[i]));
    }
    comparison.equal(0, numbers, true);
}

} // namespace

int main(int count, char** arguments) {
    for (int i = 1; i < count; i++) {
        std::FILE* file = std::fopen(arguments[i], "rb");
        if (file == nullptr) {
            std::printf("FAILED: no file %s\n", arguments[i]);
            return 1;
        }
        const auto shape = read<int>(file, 4);
        if (shape[0] == 1)
            products<f16>(file, shape[1], shape[2], shape[3]);
        else
            products<bf16>(file, shape[1], shape[2], shape[3]);
        std::fclose(file);
    }
    return finish(count > 1 ? "experts in MXFP4" : "nothing");
}
