// The emulated arithmetic: matrix operations of a warp, and floats of 16 and 8 bits. Part of cuda_emulation.cpp.
#pragma once

namespace emulation {
namespace {

float register_value(unsigned bits, int part, bool bf16) {
    const auto value = static_cast<uint16_t>(bits >> (16 * part));
    return bf16 ? bf16_to_float(value) : half_to_float(value);
}

} // namespace

// ---- tensor cores ---------------------------------------------------------------------------------------------------------

namespace {
struct Tile {
    const void* row;
    unsigned d[4];
    bool transposed;
};
} // namespace

void ldmatrix_x4(const char* file, int line, unsigned* d, const void* row, bool transposed) {
    if (reinterpret_cast<uintptr_t>(row) % 16 != 0)
        fail("ldmatrix of a row at an address that is no multiple of 16");
    const char* region = nullptr;
    size_t offset = 0;
    if (shadow_of(reinterpret_cast<uintptr_t>(row), 16, region, offset) == nullptr)
        fail("ldmatrix of a row that is not in shared memory");
    touch(row, 16, false);
    Tile mine{row, {}, transposed};
    meet(file, line, 0xffffffffu, &mine, [](void* const* lanes, unsigned) {
        for (int matrix = 0; matrix < 4; matrix++) {
            uint16_t value[8][8];
            for (int row = 0; row < 8; row++)
                std::memcpy(value[row], static_cast<Tile*>(lanes[8 * matrix + row])->row, 16);
            for (int lane = 0; lane < 32; lane++) {
                auto& tile = *static_cast<Tile*>(lanes[lane]);
                const int row = lane / 4;
                const int column = lane % 4 * 2;
                const unsigned low = tile.transposed ? value[column][row] : value[row][column];
                const unsigned high = tile.transposed ? value[column + 1][row] : value[row][column + 1];
                tile.d[matrix] = low | high << 16;
            }
        }
    });
    std::memcpy(d, mine.d, sizeof mine.d);
}

namespace {
struct Fragments {
    float* c;
    const unsigned* a;
    const unsigned* b;
    bool bf16;
};
// Both shapes share their layout in units of a register: A is 16 rows by 8 registers, B 8 columns by 8 registers. Register
// `r` of lane `4 g + t` is A's row `g` (`g + 8` for r = 1, 3) at `t` (`t + 4` for r = 2, 3); B's column `g` at `t`, `t + 4`.
template <int VALUES> void multiply(void* const* lanes, float (*value)(unsigned, int, bool)) {
    constexpr int DEPTH = 8 * VALUES;
    float a[16][DEPTH], b[8][DEPTH];
    const bool bf16 = static_cast<Fragments*>(lanes[0])->bf16;
    for (int lane = 0; lane < 32; lane++) {
        const auto& mine = *static_cast<Fragments*>(lanes[lane]);
        const int g = lane / 4;
        const int t = lane % 4;
        for (int part = 0; part < VALUES; part++) {
            for (int r = 0; r < 4; r++)
                a[g + 8 * (r & 1)][(t + 4 * (r >> 1)) * VALUES + part] = value(mine.a[r], part, bf16);
            for (int r = 0; r < 2; r++)
                b[g][(t + 4 * r) * VALUES + part] = value(mine.b[r], part, bf16);
        }
    }
    for (int lane = 0; lane < 32; lane++) {
        float* c = static_cast<Fragments*>(lanes[lane])->c;
        for (int r = 0; r < 4; r++) {
            const int row = lane / 4 + 8 * (r >> 1);
            const int column = lane % 4 * 2 + (r & 1);
            float sum = c[r];
            for (int k = 0; k < DEPTH; k++)
                sum += a[row][k] * b[column][k];
            c[r] = sum;
        }
    }
}
} // namespace

void mma_16816(const char* file, int line, float* c, const unsigned* a, const unsigned* b, bool bf16) {
    Fragments mine{c, a, b, bf16};
    meet(file, line, 0xffffffffu, &mine,
         [](void* const* lanes, unsigned) { multiply<2>(lanes, register_value); });
}

void mma_16832_e4m3(const char* file, int line, float* c, const unsigned* a, const unsigned* b) {
    Fragments mine{c, a, b, false};
    meet(file, line, 0xffffffffu, &mine, [](void* const* lanes, unsigned) {
        multiply<4>(lanes, [](unsigned bits, int part, bool) { return e4m3_to_float(static_cast<uint8_t>(bits >> (8 * part))); });
    });
}

// ---- products of a warpgroup ------------------------------------------------------------------------------------------------

namespace {

/// Byte of an operand's value in shared memory. `row` counts along what is multiplied, `column` along what is summed over; by
/// columns these lie beside each other, otherwise the rows do, 64 to a panel.
size_t operand_byte(uint64_t operand, int row, int column, bool by_columns) {
    if (operand >> 62 != 1)
        fail("an operand of wgmma without 128-byte swizzling");
    const size_t begin = (operand & 0x3fff) << 4, panels = (operand >> 16 & 0x3fff) << 4, eights = (operand >> 32 & 0x3fff) << 4;
    const size_t at = by_columns ? begin + row / 8 * eights + row % 8 * 128 + column * 2
                                 : begin + row / 64 * panels + column / 8 * eights + column % 8 * 128 + row % 64 * 2;
    return at ^ (at >> 7 & 7) << 4;
}

/// Calls `use(row, column, address)` for each value of so many rows of an operand from `first` on.
template <typename Use> void each_value(uint64_t operand, int first, int rows, bool by_columns, Use use) {
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < 16; k++)
            use(i, k, machine.dynamic + operand_byte(operand, first + i, k, by_columns));
}

void run_product(const char* file, int line, Product& product) {
    // The lanes of a warp take turns to touch what it reads; the last to come multiplies.
    const auto touch_mine = [](int row, int column, const unsigned char* from) {
        if ((row * 8 + column / 2) % 32 == static_cast<int>(lane()) && column % 2 == 0)
            touch(from, 2, false);
    };
    if (product.a == nullptr)
        each_value(product.left, machine.current->rank / 32 % 4 * 16, 16, true, touch_mine);
    each_value(product.right, 0, product.width, product.a == nullptr, touch_mine);
    meet(file, line, 0xffffffffu, &product, [](void* const* lanes, unsigned) {
        static float left[16][16], right[128][16];
        const auto& any = *static_cast<Product*>(lanes[0]);
        const auto read_into = [&](float (*values)[16]) {
            return [&any, values](int row, int column, const unsigned char* from) {
                uint16_t bits;
                std::memcpy(&bits, from, 2);
                values[row][column] = any.bf16 ? bf16_to_float(bits) : half_to_float(bits);
            };
        };
        each_value(any.right, 0, any.width, any.a == nullptr, read_into(right));
        if (any.a == nullptr)
            each_value(any.left, machine.current->rank / 32 % 4 * 16, 16, true, read_into(left));
        // Registers as m16n8k16 has them.
        for (int lane = 0; any.a != nullptr && lane < 32; lane++)
            for (int r = 0; r < 4; r++)
                for (int part = 0; part < 2; part++)
                    left[lane / 4 + 8 * (r & 1)][(lane % 4 + 4 * (r >> 1)) * 2 + part] =
                        register_value(static_cast<Product*>(lanes[lane])->a[r], part, any.bf16);
        for (int lane = 0; lane < 32; lane++)
            for (int i = 0; i < any.width / 2; i++) {
                float& c = static_cast<Product*>(lanes[lane])->c[i];
                const int row = lane / 4 + 8 * (i >> 1 & 1), column = i / 4 * 8 + lane % 4 * 2 + (i & 1);
                float sum = any.add ? c : 0.0f;
                for (int k = 0; k < 16; k++)
                    sum += left[row][k] * right[column][k];
                c = sum;
            }
    });
}

} // namespace

void publish_to_wgmma() { machine.current->unpublished = false; }

void wgmma(float* c, int width, const unsigned* a, uint64_t left, uint64_t right, bool add, bool bf16) {
    for (const Thread& thread : machine.threads)
        if (thread.unpublished)
            fail("wgmma after thread %d wrote shared memory and did not publish it", thread.rank);
    machine.current->open_products.push_back({c, width, a, left, right, add, bf16});
}

void wgmma_commit() {
    Thread& self = *machine.current;
    self.product_groups.push_back(std::move(self.open_products));
    self.open_products.clear();
}

void wgmma_wait(const char* file, int line, int groups_left) {
    Thread& self = *machine.current;
    while (static_cast<int>(self.product_groups.size()) > groups_left) {
        for (Product& product : self.product_groups.front())
            run_product(file, line, product);
        self.product_groups.erase(self.product_groups.begin());
    }
}

// ---- numbers --------------------------------------------------------------------------------------------------------------

namespace {
/// Rounds to nearest even at a spacing of `2^exponent`.
double round_to(double value, int exponent) { return std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent); }
} // namespace

float bf16_to_float(uint16_t bits) { return __uint_as_float(static_cast<unsigned>(bits) << 16); }

uint16_t float_to_bf16(float value) {
    if (std::isnan(value))
        return 0x7fff;
    const unsigned bits = __float_as_uint(value);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float half_to_float(uint16_t bits) {
    const int exponent = bits >> 10 & 0x1f;
    const int fraction = bits & 0x3ff;
    float value;
    if (exponent == 31)
        value = fraction == 0 ? INFINITY : NAN;
    else
        value = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                              : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return bits & 0x8000 ? -value : value;
}

uint16_t float_to_half(float value) {
    if (std::isnan(value))
        return 0x7fff;
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(static_cast<double>(value));
    if (magnitude >= 65520.0)
        return sign | 0x7c00;
    int exponent = magnitude == 0.0 ? -14 : std::max(std::ilogb(magnitude), -14);
    const double rounded = round_to(magnitude, exponent - 10);
    if (rounded >= std::ldexp(2.0, exponent))
        exponent++;
    const int fraction = static_cast<int>(std::ldexp(rounded, 10 - exponent));
    // Subnormals have no hidden bit, and are counted up into the normal numbers by the addition.
    return static_cast<uint16_t>(sign | (((exponent + 14) << 10) + fraction));
}

float e4m3_to_float(uint8_t bits) {
    const int exponent = bits >> 3 & 0xf;
    const int fraction = bits & 7;
    float value;
    if (exponent == 15 && fraction == 7)
        value = NAN;
    else
        value = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                              : std::ldexp(static_cast<float>(fraction + 8), exponent - 10);
    return bits & 0x80 ? -value : value;
}

uint8_t float_to_e4m3(float value) {
    const uint8_t sign = std::signbit(value) ? 0x80 : 0;
    if (std::isnan(value))
        return sign | 0x7f;
    const double magnitude = std::min(std::fabs(static_cast<double>(value)), 448.0);
    int exponent = magnitude == 0.0 ? -6 : std::max(std::ilogb(magnitude), -6);
    const double rounded = std::min(round_to(magnitude, exponent - 3), 448.0);
    if (rounded >= std::ldexp(2.0, exponent))
        exponent++;
    const int fraction = static_cast<int>(std::ldexp(rounded, 3 - exponent));
    return static_cast<uint8_t>(sign | (((exponent + 6) << 3) + fraction));
}

} // namespace emulation
