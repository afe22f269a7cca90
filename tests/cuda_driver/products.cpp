// The calls of cuBLASLt: matrix products, summed in f32, in plain loops. And of cuBLAS and cuRAND what candle calls to open them.
#include "driver.h"

using namespace imitation;

namespace {

constexpr int NOT_SUPPORTED = 15;
constexpr int INVALID_ARGUMENT = 7;
/// The heuristic's attributes of pointers' alignments, of A, B, C and D, begin here; it assumes 256 where none is set.
constexpr int MIN_ALIGNMENT = 5;

enum Type { F32 = 0, F16 = 2, BF16 = 14, E4M3 = 28 };

size_t size_of(int type) { return type == F32 ? 4 : type == E4M3 ? 1 : 2; }

float load(int type, const void* from, size_t at) {
    switch (type) {
    case F32:
        return static_cast<const float*>(from)[at];
    case F16:
        return emulation::half_to_float(static_cast<const uint16_t*>(from)[at]);
    case BF16:
        return emulation::bf16_to_float(static_cast<const uint16_t*>(from)[at]);
    case E4M3:
        return emulation::e4m3_to_float(static_cast<const uint8_t*>(from)[at]);
    default:
        broken_rule("a matrix of type %d is not imitated", type);
    }
}

void store(int type, void* to, size_t at, float value) {
    switch (type) {
    case F32:
        static_cast<float*>(to)[at] = value;
        break;
    case F16:
        static_cast<uint16_t*>(to)[at] = emulation::float_to_half(value);
        break;
    case BF16:
        static_cast<uint16_t*>(to)[at] = emulation::float_to_bf16(value);
        break;
    default:
        broken_rule("a result of type %d is not imitated", type);
    }
}

/// A matrix, columns one after the other.
struct Layout {
    int type;
    uint64_t rows, columns;
    int64_t stride;
};

/// Attributes by number.
struct Attributes {
    std::map<int, uint64_t> values;
    uint64_t get(int attribute, uint64_t otherwise = 0) const {
        const auto found = values.find(attribute);
        return found == values.end() ? otherwise : found->second;
    }
    int set(int attribute, const void* value, size_t bytes) {
        uint64_t number = 0;
        if (bytes > sizeof number)
            return INVALID_ARGUMENT;
        std::memcpy(&number, value, bytes);
        values[attribute] = number;
        return SUCCESS;
    }
};

/// What describes a product.
struct Product : Attributes {
    enum { TRANSPOSE_A = 3, TRANSPOSE_B = 4, EPILOGUE = 7, BIAS = 8, A_SCALE = 17, B_SCALE = 18, A_SCALE_MODE = 31, B_SCALE_MODE = 32 };
    enum { EPILOGUE_BIAS = 4, SCALES_BY_ROW = 3 };
    bool has_bias() const { return get(EPILOGUE) == EPILOGUE_BIAS; }
    bool has_scales() const { return get(A_SCALE_MODE) == SCALES_BY_ROW; }
};

/// What an algorithm was chosen for.
struct Algorithm {
    uint64_t m, n, k;
    uint32_t type, out, epilogue, scaled;
    uint64_t stride;
    uint64_t alignment;
    uint64_t workspace;
};
static_assert(sizeof(Algorithm) == 64, "cublasLtMatmulAlgo_t has 8 words");

struct Heuristic {
    Algorithm algorithm;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

Algorithm describe(const Product& product, const Layout& a, const Layout& b, const Layout& d) {
    if (product.get(Product::TRANSPOSE_A) != 1 || product.get(Product::TRANSPOSE_B) != 0)
        broken_rule("only products of a transposed and a plain matrix are imitated");
    if (a.rows != b.rows || a.columns != d.rows || b.columns != d.columns || a.type != b.type)
        broken_rule("a product of %llu x %llu and %llu x %llu into %llu x %llu", static_cast<unsigned long long>(a.columns),
                    static_cast<unsigned long long>(a.rows), static_cast<unsigned long long>(b.rows),
                    static_cast<unsigned long long>(b.columns), static_cast<unsigned long long>(d.rows),
                    static_cast<unsigned long long>(d.columns));
    return {d.rows,
            d.columns,
            a.rows,
            static_cast<uint32_t>(a.type),
            static_cast<uint32_t>(d.type),
            static_cast<uint32_t>(product.get(Product::EPILOGUE)),
            product.has_scales(),
            static_cast<uint64_t>(d.stride),
            0,
            0};
}

/// `d[j][i] = a[i] . b[j] * scale_a[i] * scale_b[j] + bias[i]`
void multiply(const Layout& a_layout, const void* a, const Layout& b_layout, const void* b, const Layout& d_layout, void* d,
              const void* bias, const float* scale_a, const float* scale_b) {
    const auto widen = [](const Layout& layout, const void* from) {
        std::vector<float> values(layout.rows * layout.columns);
        for (size_t column = 0; column < layout.columns; column++)
            for (size_t row = 0; row < layout.rows; row++)
                values[column * layout.rows + row] = load(layout.type, from, column * static_cast<size_t>(layout.stride) + row);
        return values;
    };
    const std::vector<float> left = widen(a_layout, a), right = widen(b_layout, b);
    const size_t k = a_layout.rows;
    for (size_t j = 0; j < d_layout.columns; j++) {
        for (size_t i = 0; i < d_layout.rows; i++) {
            const float *x = left.data() + i * k, *y = right.data() + j * k;
            float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
            for (size_t l = 0; l < k; l++)
                sum += x[l] * y[l];
            if (scale_a != nullptr)
                sum *= scale_a[i] * scale_b[j];
            if (bias != nullptr)
                sum += load(d_layout.type, bias, i);
            store(d_layout.type, d, j * static_cast<size_t>(d_layout.stride) + i, sum);
        }
    }
}

int handle_of(void** handle) {
    *handle = new char;
    return SUCCESS;
}

} // namespace

extern "C" {

int cublasLtCreate(void** handle) {
    need_current("cublasLtCreate");
    return handle_of(handle);
}
int cublasLtDestroy(void* handle) {
    delete static_cast<char*>(handle);
    return SUCCESS;
}
int cublasLtMatmulDescCreate(void** product, int, int) {
    *product = new Product;
    return SUCCESS;
}
int cublasLtMatmulDescDestroy(void* product) {
    delete static_cast<Product*>(product);
    return SUCCESS;
}
int cublasLtMatmulDescSetAttribute(void* product, int attribute, const void* value, size_t bytes) {
    return static_cast<Product*>(product)->set(attribute, value, bytes);
}
int cublasLtMatrixLayoutCreate(void** layout, int type, uint64_t rows, uint64_t columns, int64_t stride) {
    *layout = new Layout{type, rows, columns, stride};
    return SUCCESS;
}
int cublasLtMatrixLayoutDestroy(void* layout) {
    delete static_cast<Layout*>(layout);
    return SUCCESS;
}
int cublasLtMatmulPreferenceCreate(void** preference) {
    *preference = new Attributes;
    return SUCCESS;
}
int cublasLtMatmulPreferenceDestroy(void* preference) {
    delete static_cast<Attributes*>(preference);
    return SUCCESS;
}
int cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* value, size_t bytes) {
    return static_cast<Attributes*>(preference)->set(attribute, value, bytes);
}
int cublasLtMatmulAlgoGetHeuristic(void*, void* product, void* a, void* b, void*, void* d, void* preference, int, void* result,
                                   int* found) {
    Lock lock(mutex());
    need_current("cublasLtMatmulAlgoGetHeuristic");
    counts()["choice of an algorithm"]++;
    auto* heuristic = static_cast<Heuristic*>(result);
    *heuristic = {};
    const auto& wanted = *static_cast<Product*>(product);
    heuristic->algorithm =
        describe(wanted, *static_cast<Layout*>(a), *static_cast<Layout*>(b), *static_cast<Layout*>(d));
    const auto& limits = *static_cast<Attributes*>(preference);
    heuristic->algorithm.alignment = 256;
    for (int matrix = 0; matrix < 4; matrix++)
        heuristic->algorithm.alignment = std::min(heuristic->algorithm.alignment, limits.get(MIN_ALIGNMENT + matrix, 256));
    heuristic->algorithm.workspace = limits.get(1);
    const bool eight_bit = heuristic->algorithm.type == E4M3;
    const bool scaled = heuristic->algorithm.scaled != 0;
    const bool fits = (!scaled || settings().scales) && (!eight_bit || (heuristic->algorithm.m % 16 == 0 && heuristic->algorithm.k % 16 == 0));
    *found = fits ? 1 : 0;
    return fits ? SUCCESS : NOT_SUPPORTED;
}
int cublasLtMatmul(void*, void* product_handle, const float* alpha, const void* a, void* a_handle, const void* b, void* b_handle,
                   const float* beta, const void*, void*, void* d, void* d_handle, const void* algorithm_handle, void* workspace,
                   size_t workspace_bytes, void* stream_handle) {
    Lock lock(mutex());
    Stream& stream = stream_of(stream_handle, "cublasLtMatmul");
    need_current("cublasLtMatmul", stream.device);
    const auto& product = *static_cast<Product*>(product_handle);
    const Layout a_layout = *static_cast<Layout*>(a_handle), b_layout = *static_cast<Layout*>(b_handle),
                 d_layout = *static_cast<Layout*>(d_handle);
    Algorithm algorithm;
    std::memcpy(&algorithm, algorithm_handle, sizeof algorithm);
    Algorithm expected = describe(product, a_layout, b_layout, d_layout);
    expected.alignment = algorithm.alignment;
    expected.workspace = algorithm.workspace;
    if (std::memcmp(&algorithm, &expected, sizeof algorithm) != 0)
        broken_rule("a product by an algorithm that was chosen for another one");
    if (*alpha != 1.0f || *beta != 0.0f)
        broken_rule("a product with other factors than 1 and 0 is not imitated");
    const auto check = [&](const char* what, const void* address, size_t elements, int type, bool aligned) {
        if (aligned && reinterpret_cast<uintptr_t>(address) % algorithm.alignment != 0)
            broken_rule("a product whose algorithm was chosen for pointers aligned to %llu bytes, and %s is at %p",
                        static_cast<unsigned long long>(algorithm.alignment), what, address);
        check_memory(what, address, elements * size_of(type), *stream.device);
    };
    const auto extent = [](const Layout& layout) {
        return (layout.columns - 1) * static_cast<size_t>(layout.stride) + layout.rows;
    };
    check("the first matrix of a product", a, extent(a_layout), a_layout.type, true);
    check("the second matrix of a product", b, extent(b_layout), b_layout.type, true);
    check("the result of a product", d, extent(d_layout), d_layout.type, true);
    check("the workspace of a product", workspace, workspace_bytes, E4M3, true);
    if (workspace_bytes < algorithm.workspace)
        broken_rule("a product with a workspace smaller than its algorithm was given");
    const auto* bias = reinterpret_cast<const void*>(product.has_bias() ? product.get(Product::BIAS) : 0);
    if (product.has_bias())
        check("the bias of a product", bias, d_layout.rows, d_layout.type, false);
    const float *scale_a = nullptr, *scale_b = nullptr;
    if (product.has_scales()) {
        scale_a = reinterpret_cast<const float*>(product.get(Product::A_SCALE));
        scale_b = reinterpret_cast<const float*>(product.get(Product::B_SCALE));
        check("the scales of a product's first matrix", scale_a, a_layout.columns, F32, false);
        check("the scales of a product's second matrix", scale_b, b_layout.columns, F32, false);
    }
    // The workspace is the library's until the product is done: what was kept there is lost.
    counts()["launch"]++;
    if (settings().compute)
        enqueue(stream, "product", [=] {
            std::memset(workspace, 0xff, std::min<size_t>(workspace_bytes, 4096));
            multiply(a_layout, a, b_layout, b, d_layout, d, bias, scale_a, scale_b);
        });
    return SUCCESS;
}

// ---- cuBLAS and cuRAND: opened by candle, and used by nothing but the bench when it measures what the device can do at best --

int cublasCreate_v2(void** handle) { return handle_of(handle); }
int cublasDestroy_v2(void* handle) { return cublasLtDestroy(handle); }
int cublasSetStream_v2(void*, void*) { return SUCCESS; }
int curandCreateGenerator(void** generator, int) { return handle_of(generator); }
int curandDestroyGenerator(void* generator) { return cublasLtDestroy(generator); }
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long) { return SUCCESS; }
/// The stream of the only generator that is in use at a time.
static void* generator_stream = nullptr;
int curandSetStream(void*, void* stream) {
    generator_stream = stream;
    return SUCCESS;
}
int curandGenerateUniform(void*, float* to, size_t count) {
    Lock lock(mutex());
    Stream& stream = stream_of(generator_stream, "curandGenerateUniform");
    check_memory("random numbers", to, count * sizeof(float), *stream.device);
    enqueue(stream, "random numbers", [=] {
        uint32_t state = 1;
        for (size_t i = 0; i < count; i++) {
            state = state * 1664525u + 1013904223u;
            to[i] = static_cast<float>((state >> 8) + 1) * 0x1p-24f;
        }
    });
    return SUCCESS;
}
// Nobody reads what comes of it, and it would take long.
int cublasGemmStridedBatchedEx() { return SUCCESS; }

} // extern "C"
