// candle's kernels, as far as loading and testing what our own kernels run on uses them: copies and conversions. Each is called
// once for the whole grid.
#include "driver.h"

using imitation::add_kernel;

namespace {

struct E4m3 {
    uint8_t bits;
};

template <typename T> float to_number(T value) { return static_cast<float>(value); }
template <> float to_number(__nv_bfloat16 value) { return emulation::bf16_to_float(value.bits); }
template <> float to_number(__half value) { return emulation::half_to_float(value.bits); }
template <> float to_number(E4m3 value) { return emulation::e4m3_to_float(value.bits); }

template <typename T> T from_number(float value) { return static_cast<T>(value); }
template <> __nv_bfloat16 from_number(float value) { return {emulation::float_to_bf16(value)}; }
template <> __half from_number(float value) { return {emulation::float_to_half(value)}; }
template <> E4m3 from_number(float value) { return {emulation::float_to_e4m3(value)}; }

/// Where the element `index` of a tensor lies: `info` holds its sizes, then its strides; null where it is contiguous.
size_t place(size_t index, size_t dimensions, const size_t* info) {
    if (info == nullptr)
        return index;
    size_t at = 0;
    for (size_t d = dimensions; d-- > 0; index /= info[d])
        at += index % info[d] * info[dimensions + d];
    return at;
}

template <typename T> void copy(size_t count, size_t dimensions, const size_t* info, const T* from, T* to) {
    for (size_t i = 0; i < count; i++)
        to[i] = from[place(i, dimensions, info)];
}

template <typename S, typename T> void cast(size_t count, size_t dimensions, const size_t* info, const S* from, T* to) {
    for (size_t i = 0; i < count; i++)
        to[i] = from_number<T>(to_number(from[place(i, dimensions, info)]));
}

template <typename T> void set(size_t count, size_t dimensions, const size_t* info, T value, T* to) {
    for (size_t i = 0; i < count; i++)
        to[place(i, dimensions, info)] = value;
}

template <typename T>
void copy_2d(const T* from, T* to, uint32_t rows, uint32_t columns, uint32_t from_stride, uint32_t to_stride) {
    for (size_t row = 0; row < rows; row++)
        std::copy_n(from + row * from_stride, columns, to + row * to_stride);
}

/// Rows by number, along a dimension of `count_from` that becomes one of `chosen`; of a contiguous tensor.
template <typename T>
void select_rows(size_t count, size_t, const size_t*, const uint32_t* rows, const T* from, T* to, size_t, size_t count_from,
                 size_t chosen, size_t width) {
    for (size_t i = 0; i < count; i++) {
        const size_t row = rows[i / width % chosen];
        if (row >= count_from)
            imitation::broken_rule("row %zu of %zu is selected", row, count_from);
        to[i] = from[(i / (width * chosen) * count_from + row) * width + i % width];
    }
}

void affine(size_t count, size_t dimensions, const size_t* info, const float* from, float* to, float factor, float term) {
    for (size_t i = 0; i < count; i++)
        to[i] = from[place(i, dimensions, info)] * factor + term;
}

template <typename S> void add_casts(const std::string& from) {
    add_kernel(("cast_" + from + "_f32").c_str(), cast<S, float>, true);
    add_kernel(("cast_" + from + "_bf16").c_str(), cast<S, __nv_bfloat16>, true);
    add_kernel(("cast_" + from + "_f16").c_str(), cast<S, __half>, true);
    add_kernel(("cast_" + from + "_f8e4m3").c_str(), cast<S, E4m3>, true);
}

template <typename T> void add_copies(const std::string& type) {
    add_kernel(("ucopy_" + type).c_str(), copy<T>, true);
    add_kernel(("copy2d_" + type).c_str(), copy_2d<T>, true);
    add_kernel(("const_set_" + type).c_str(), set<T>, true);
    add_kernel(("is_u32_" + type).c_str(), select_rows<T>, true);
}

template <typename T> void add_all(const std::string& type) {
    add_casts<T>(type);
    add_copies<T>(type);
}

[[maybe_unused]] const bool added = [] {
    add_all<float>("f32");
    add_all<__nv_bfloat16>("bf16");
    add_all<__half>("f16");
    add_all<E4m3>("f8e4m3");
    add_kernel("affine_f32", affine, true);
    add_copies<uint8_t>("u8");
    add_copies<uint32_t>("u32");
    return true;
}();

} // namespace
