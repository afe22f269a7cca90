// For the drivers: random values, and comparisons that count what they find.
#pragma once

#include "common.cuh"

#include <algorithm>
#include <string>

using emulation::Buffer;
using emulation::launch;

/// SplitMix64 (https://prng.di.unimi.it/splitmix64.c): the same values on every machine.
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t bits() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    unsigned below(unsigned bound) { return static_cast<unsigned>(bits() % bound); }
    /// In [0, 1).
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    float normal() {
        return static_cast<float>(std::sqrt(-2.0 * std::log(1.0 - uniform())) * std::cos(6.283185307179586 * uniform()));
    }
    template <typename T> Buffer<T> normals(size_t count, float scale = 1.0f) {
        Buffer<T> values(count);
        for (size_t i = 0; i < count; i++)
            values[i] = from_float<T>(scale * normal());
        return values;
    }

  private:
    uint64_t state_;
};

/// What rounding to `T` may cost, relative, and the sums in f32 before it.
template <typename T> constexpr double ROUNDING = 0x1p-8 + 1e-5;
template <> constexpr double ROUNDING<f16> = 0x1p-11 + 1e-5;
template <> constexpr double ROUNDING<float> = 1e-5;

/// A comparison of many values under one name; the destructor reports.
class Comparison {
  public:
    static int failures;
    explicit Comparison(std::string name) : name_(std::move(name)) {}
    ~Comparison() {
        if (bad_ > 0) {
            std::printf("FAILED: %s: %zu of %zu values, first %s\n", name_.c_str(), bad_, seen_, first_.c_str());
            failures++;
        }
        if (seen_ == 0) {
            std::printf("FAILED: %s compares nothing\n", name_.c_str());
            failures++;
        }
    }
    void close(size_t at, double got, double expected, double relative, double absolute = 1e-6) {
        // Written so that a NaN fails.
        note(std::fabs(got - expected) <= relative * std::fabs(expected) + absolute, at, got, expected);
    }
    void equal(size_t at, double got, double expected) { note(got == expected, at, got, expected); }
    void is_nan(size_t at, double got) { note(std::isnan(got), at, got, NAN); }

  private:
    void note(bool ok, size_t at, double got, double expected) {
        seen_++;
        if (ok)
            return;
        if (bad_++ == 0)
            first_ = "at " + std::to_string(at) + ": " + std::to_string(got) + " instead of " + std::to_string(expected);
    }
    std::string name_, first_;
    size_t seen_ = 0, bad_ = 0;
};
int Comparison::failures = 0;

inline unsigned up(size_t a, size_t b) { return static_cast<unsigned>((a + b - 1) / b); }
/// What the README gives as block size.
inline unsigned threads_for(size_t width, size_t per_warp, unsigned least, unsigned most) {
    return std::clamp(32 * up(width, per_warp), least, most);
}

inline int finish(const char* what) {
    if (Comparison::failures == 0)
        std::printf("%s: as the references\n", what);
    return Comparison::failures == 0 ? 0 : 1;
}
