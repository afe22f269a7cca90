// CUDA C++ for a host compiler: what the kernels in crates/engine/src/model/cuda/kernels use, run thread by thread on the CPU.
//
// `common.cuh` includes this file instead of CUDA's headers when JUROR_EMULATION is defined. A kernel is compiled unchanged;
// `emulation::launch` runs its grid block by block, the threads of a block as fibers. What is checked, and ends the program
// with the kernel's name, block and thread:
//   - a barrier or a warp operation that some of its threads never reach, or reach elsewhere in the source;
//   - two threads that touch the same byte of shared memory, one of them writing, with no barrier in between
//     (`__syncwarp` orders the threads of a warp; shuffles, votes and matrix operations order nothing);
//   - two threads that touch the same byte of a `emulation::Buffer`, one of them writing, in different blocks of a launch, or
//     in one with no barrier in between;
//   - shared memory read before it is written, in the same block;
//   - an access outside a `emulation::Buffer` (guard pages, and canaries before it), or beyond dynamic shared memory;
//   - a vector access that is not aligned;
//   - `cp.async` copies are held back until they are waited for, and what they will overwrite reads as unwritten before.
// Accesses are seen through the calls that `-fsanitize=thread` makes the compiler insert; `cuda_emulation.cpp` defines them.
// Compiled with EMULATION_UNCHECKED it looks at no single access (guard pages remain) and is some ten times faster.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

// ---- the language -------------------------------------------------------------------------------------------------

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
// The thread-local segment of the program holds nothing else, so its bounds are those of static shared memory.
#define __shared__ static thread_local

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

#define EMULATION_VECTORS(type, name, align2, align4)                                                                  \
    struct alignas(align2) name##2 {                                                                                   \
        type x, y;                                                                                                     \
    };                                                                                                                 \
    struct alignas(align4) name##4 {                                                                                   \
        type x, y, z, w;                                                                                               \
    };                                                                                                                 \
    static inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                            \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
EMULATION_VECTORS(float, float, 8, 16)
EMULATION_VECTORS(int, int, 8, 16)
EMULATION_VECTORS(unsigned, uint, 8, 16)
EMULATION_VECTORS(unsigned short, ushort, 4, 8)
EMULATION_VECTORS(unsigned char, uchar, 2, 4)
EMULATION_VECTORS(short, short, 4, 8)
#undef EMULATION_VECTORS
struct alignas(16) double2 {
    double x, y;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};

namespace emulation {

// ---- the machine ----------------------------------------------------------------------------------------------------

/// Runs `kernel` once for each thread of the grid. `shared` is the dynamic shared memory in bytes. `name` is for messages.
void launch(const char* name, dim3 grid, dim3 block, size_t shared, const std::function<void()>& kernel);

// A thread's indices never change while it runs, whatever is called: `const`.
__attribute__((const)) uint3 thread_index();
__attribute__((const)) uint3 block_index();
__attribute__((const)) dim3 block_size();
__attribute__((const)) dim3 grid_size();
__attribute__((const)) unsigned char* dynamic_shared();

/// Called with an address that was touched and must not be, before the program ends; it may end it with a better message.
extern void (*explain_fault)(const void* address);
/// Has such an access by this thread end the program with a message. The first `launch` calls it.
void catch_faults();

/// Says what went wrong and where, and ends the program.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

enum class Vote { none, count, any, all };
/// A barrier of the block.
int barrier(const char* file, int line, Vote vote = Vote::none, int predicate = 0);
/// A barrier of the lanes of `mask` that orders their memory accesses.
void warp_barrier(const char* file, int line, unsigned mask);
/// Lets the lanes of `mask` meet: the last to come calls `work` with what each lane brought.
using WarpWork = void (*)(void* const* lanes, unsigned mask);
void meet(const char* file, int line, unsigned mask, void* mine, WarpWork work);
/// As an atomic operation is seen by the checks.
void touch_atomically(void* address, size_t bytes);

void cp_async_16(void* shared, const void* global, bool valid);
void cp_async_commit();
void cp_async_wait(int groups_left);
void ldmatrix_x4(const char* file, int line, unsigned* d, const void* row, bool transposed);
/// `a` 4, `b` 2 registers; `c` 4 sums, updated.
void mma_16816(const char* file, int line, float* c, const unsigned* a, const unsigned* b, bool bf16);
void mma_16832_e4m3(const char* file, int line, float* c, const unsigned* a, const unsigned* b);

/// A product of a warpgroup, `width` columns, done when it is waited for and not before: `c` and `a` are read then. The left
/// operand is `a`, 4 registers, with the right one by rows; or where `a` is null, `left`, with the right one by columns.
/// Operands are in panels with 128-byte swizzling.
void wgmma(float* c, int width, const unsigned* a, uint64_t left, uint64_t right, bool add, bool bf16);
void wgmma_commit();
void wgmma_wait(const char* file, int line, int groups_left);
/// What the thread wrote to shared memory since may not be read by such a product.
void publish_to_wgmma();

unsigned lane();

// ---- numbers --------------------------------------------------------------------------------------------------------

float bf16_to_float(uint16_t bits);
uint16_t float_to_bf16(float value);
float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);
float e4m3_to_float(uint8_t bits);
/// To nearest even, saturating to 448; NaN stays NaN.
uint8_t float_to_e4m3(float value);

/// Memory of the device as the kernels see it: it begins at a multiple of `alignment` and ends before a page that nobody may
/// touch, as close as that lets it. Freshly made it holds NaN (all bits set).
class Memory {
  public:
    explicit Memory(size_t bytes, size_t alignment = 16);
    ~Memory();
    Memory(Memory&& other) noexcept;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    void* data() const { return data_; }
    /// Whoever touches it from now on ends the program. Its addresses are not used again before it is destroyed.
    void close();

  private:
    unsigned char* map_;
    size_t map_bytes_;
    unsigned char* data_;
    size_t bytes_;
    bool closed_ = false;
};

template <typename T> class Buffer {
  public:
    explicit Buffer(size_t count) : memory_(count * sizeof(T)), count_(count) {}
    explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
        for (size_t i = 0; i < count_; i++)
            data()[i] = values[i];
    }
    T* data() { return static_cast<T*>(memory_.data()); }
    const T* data() const { return static_cast<const T*>(memory_.data()); }
    size_t size() const { return count_; }
    T& operator[](size_t i) { return data()[i]; }
    const T& operator[](size_t i) const { return data()[i]; }

  private:
    Memory memory_;
    size_t count_;
};

} // namespace emulation

#define threadIdx (emulation::thread_index())
#define blockIdx (emulation::block_index())
#define blockDim (emulation::block_size())
#define gridDim (emulation::grid_size())
constexpr int warpSize = 32;

// ---- 16-bit and 8-bit floats ------------------------------------------------------------------------------------------

struct alignas(2) __nv_bfloat16 {
    uint16_t bits;
};
struct alignas(2) __half {
    uint16_t bits;
};
struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};
struct alignas(4) __half2 {
    __half x, y;
};
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
struct alignas(1) __nv_fp8_e4m3 {
    uint8_t __x;
};

static inline float __bfloat162float(__nv_bfloat16 x) { return emulation::bf16_to_float(x.bits); }
static inline __nv_bfloat16 __float2bfloat16_rn(float x) { return {emulation::float_to_bf16(x)}; }
static inline __nv_bfloat16 __float2bfloat16(float x) { return __float2bfloat16_rn(x); }
static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
    return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
static inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {__bfloat162float(v.x), __bfloat162float(v.y)}; }
static inline float __half2float(__half x) { return emulation::half_to_float(x.bits); }
static inline __half __float2half_rn(float x) { return {emulation::float_to_half(x)}; }
static inline __half __float2half(float x) { return __float2half_rn(x); }
static inline __half2 __floats2half2_rn(float x, float y) { return {__float2half_rn(x), __float2half_rn(y)}; }
static inline float2 __half22float2(__half2 v) { return {__half2float(v.x), __half2float(v.y)}; }

// ---- arithmetic -------------------------------------------------------------------------------------------------------

template <typename T> static inline T emulation_bits(const void* value) {
    T bits;
    std::memcpy(&bits, value, sizeof bits);
    return bits;
}
static inline unsigned __float_as_uint(float x) { return emulation_bits<unsigned>(&x); }
static inline int __float_as_int(float x) { return emulation_bits<int>(&x); }
static inline float __uint_as_float(unsigned x) { return emulation_bits<float>(&x); }
static inline float __int_as_float(int x) { return emulation_bits<float>(&x); }
static inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
// glibc declares functions of these names for itself.
#define __expf(x) expf(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __exp2f(x) exp2f(x)
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fsqrt_rn(float x) { return std::sqrt(x); }
static inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline int __float2int_rn(float x) { return static_cast<int>(std::nearbyint(x)); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
static inline unsigned __brev(unsigned x) {
    unsigned y = 0;
    for (int i = 0; i < 32; i++)
        y |= (x >> i & 1) << (31 - i);
    return y;
}
static inline unsigned __umulhi(unsigned x, unsigned y) {
    return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned pick = selector >> (4 * i) & 0xf;
        unsigned byte = static_cast<unsigned>(both >> (8 * (pick & 7))) & 0xff;
        if (pick & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (8 * i);
    }
    return result;
}
// CUDA's min and max take mixed integers too.
template <typename A, typename B> static constexpr std::common_type_t<A, B> min(A a, B b) {
    using C = std::common_type_t<A, B>;
    return static_cast<C>(b) < static_cast<C>(a) ? static_cast<C>(b) : static_cast<C>(a);
}
template <typename A, typename B> static constexpr std::common_type_t<A, B> max(A a, B b) {
    using C = std::common_type_t<A, B>;
    return static_cast<C>(a) < static_cast<C>(b) ? static_cast<C>(b) : static_cast<C>(a);
}

template <typename T> static inline T __ldg(const T* address) { return *address; }
template <typename T> static inline T __ldcs(const T* address) { return *address; }
template <typename T> static inline T __ldcg(const T* address) { return *address; }
template <typename T> static inline void __stcs(T* address, T value) { *address = value; }
template <typename T> static inline void __stcg(T* address, T value) { *address = value; }

// ---- atomics: one thread runs at a time ---------------------------------------------------------------------------------

#define EMULATION_ATOMIC(name, expression)                                                                             \
    template <typename T> __attribute__((no_sanitize_thread)) static inline T name(T* address, T operand) {            \
        emulation::touch_atomically(address, sizeof(T));                                                               \
        const T old = *address;                                                                                        \
        *address = static_cast<T>(expression);                                                                         \
        return old;                                                                                                    \
    }
EMULATION_ATOMIC(atomicAdd, old + operand)
EMULATION_ATOMIC(atomicSub, old - operand)
EMULATION_ATOMIC(atomicMax, old < operand ? operand : old)
EMULATION_ATOMIC(atomicMin, operand < old ? operand : old)
EMULATION_ATOMIC(atomicOr, old | operand)
EMULATION_ATOMIC(atomicAnd, old& operand)
EMULATION_ATOMIC(atomicExch, operand)
#undef EMULATION_ATOMIC
template <typename T> __attribute__((no_sanitize_thread)) static inline T atomicCAS(T* address, T expected, T desired) {
    emulation::touch_atomically(address, sizeof(T));
    const T old = *address;
    if (old == expected)
        *address = desired;
    return old;
}
static inline void __threadfence() {}
static inline void __threadfence_block() {}

// ---- the block and the warp -----------------------------------------------------------------------------------------------

#define __syncthreads() emulation::barrier(__FILE__, __LINE__)
#define __syncthreads_count(predicate) emulation::barrier(__FILE__, __LINE__, emulation::Vote::count, (predicate))
#define __syncthreads_or(predicate) emulation::barrier(__FILE__, __LINE__, emulation::Vote::any, (predicate))
#define __syncthreads_and(predicate) emulation::barrier(__FILE__, __LINE__, emulation::Vote::all, (predicate))

namespace emulation {

template <typename T> struct Shuffle {
    T value;
    unsigned source;
    T result;
};
template <typename T>
__attribute__((no_sanitize_thread)) static T shuffle(const char* file, int line, unsigned mask, T value, unsigned source) {
    Shuffle<T> mine{value, source, value};
    meet(file, line, mask, &mine, [](void* const* lanes, unsigned mask) __attribute__((no_sanitize_thread)) {
        for (int i = 0; i < 32; i++) {
            if (!(mask >> i & 1))
                continue;
            auto& lane = *static_cast<Shuffle<T>*>(lanes[i]);
            if (!(mask >> lane.source & 1))
                fail("lane %d shuffles from lane %u, which takes no part", i, lane.source);
            lane.result = static_cast<Shuffle<T>*>(lanes[lane.source])->value;
        }
    });
    return mine.result;
}
template <typename T> static T shuffle_xor(const char* f, int l, unsigned mask, T value, int x, int width = 32) {
    const unsigned other = lane() ^ static_cast<unsigned>(x);
    // Beyond the own segment the own value is kept.
    return shuffle(f, l, mask, value, other / width <= lane() / width ? other : lane());
}
template <typename T> static T shuffle_down(const char* f, int l, unsigned mask, T value, unsigned by, int width = 32) {
    const unsigned other = lane() + by;
    return shuffle(f, l, mask, value, other / width == lane() / width ? other : lane());
}
template <typename T> static T shuffle_up(const char* f, int l, unsigned mask, T value, unsigned by, int width = 32) {
    const unsigned inside = lane() % width;
    return shuffle(f, l, mask, value, inside >= by ? lane() - by : lane());
}
template <typename T> static T shuffle_from(const char* f, int l, unsigned mask, T value, int source, int width = 32) {
    return shuffle(f, l, mask, value, lane() / width * width + static_cast<unsigned>(source) % width);
}
unsigned ballot(const char* file, int line, unsigned mask, int predicate);
unsigned match_any(const char* file, int line, unsigned mask, unsigned long long value);
enum class Reduce { add, min, max, bit_and, bit_or, bit_xor };
unsigned reduce(const char* file, int line, unsigned mask, unsigned value, Reduce how, bool is_signed);

} // namespace emulation

#define EMULATION_HERE __FILE__, __LINE__
#define __shfl_sync(mask, ...) emulation::shuffle_from(EMULATION_HERE, mask, __VA_ARGS__)
#define __shfl_xor_sync(mask, ...) emulation::shuffle_xor(EMULATION_HERE, mask, __VA_ARGS__)
#define __shfl_down_sync(mask, ...) emulation::shuffle_down(EMULATION_HERE, mask, __VA_ARGS__)
#define __shfl_up_sync(mask, ...) emulation::shuffle_up(EMULATION_HERE, mask, __VA_ARGS__)
#define __ballot_sync(mask, predicate) emulation::ballot(EMULATION_HERE, mask, (predicate) ? 1 : 0)
#define __any_sync(mask, predicate) (emulation::ballot(EMULATION_HERE, mask, (predicate) ? 1 : 0) != 0)
#define __all_sync(mask, predicate) (emulation::ballot(EMULATION_HERE, mask, (predicate) ? 0 : 1) == 0)
#define __match_any_sync(mask, value) emulation::match_any(EMULATION_HERE, mask, (value))
#define __reduce_add_sync(mask, value) emulation::reduce_as(EMULATION_HERE, mask, value, emulation::Reduce::add)
#define __reduce_min_sync(mask, value) emulation::reduce_as(EMULATION_HERE, mask, value, emulation::Reduce::min)
#define __reduce_max_sync(mask, value) emulation::reduce_as(EMULATION_HERE, mask, value, emulation::Reduce::max)
#define __reduce_and_sync(mask, value) emulation::reduce_as(EMULATION_HERE, mask, value, emulation::Reduce::bit_and)
#define __reduce_or_sync(mask, value) emulation::reduce_as(EMULATION_HERE, mask, value, emulation::Reduce::bit_or)
#define __reduce_xor_sync(mask, value) emulation::reduce_as(EMULATION_HERE, mask, value, emulation::Reduce::bit_xor)
#define __syncwarp(...) emulation::warp_barrier(EMULATION_HERE, emulation::LaneMask{__VA_ARGS__}.bits)

namespace emulation {
struct LaneMask {
    unsigned bits = 0xffffffffu;
};
template <typename T> static T reduce_as(const char* file, int line, unsigned mask, T value, Reduce how) {
    static_assert(sizeof(T) == 4 && std::is_integral_v<T>, "warp reductions take 32-bit integers");
    return static_cast<T>(reduce(file, line, mask, static_cast<unsigned>(value), how, std::is_signed_v<T>));
}
} // namespace emulation
