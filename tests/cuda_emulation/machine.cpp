// The emulation itself: what it computes, and that it sees what it must. Each fault runs in a child process that has to end
// with the message named beside it.
#include "common.cuh"

#include "child.h"

using emulation::Buffer;
using emulation::launch;

namespace {

int failures = 0;

void expect(bool ok, const char* what) {
    if (!ok) {
        std::printf("FAILED: %s\n", what);
        failures++;
    }
}

/// `run` must end the program, with a message that contains `message`.
void expect_fault(const char* message, void (*run)()) {
    const Ended ended = run_in_child(run);
    if (ended.status != 1 || ended.said.find(message) == std::string::npos) {
        std::printf("FAILED: \"%s\" was expected, and came: \"%s\" (status %d)\n", message, ended.said.c_str(), ended.status);
        failures++;
    }
}

// ---- faults -------------------------------------------------------------------------------------------------------------

enum class Fault {
    none,
    missing_barrier,
    missing_second_barrier,
    warp_race,
    unwritten,
    divergent_barrier,
    early_exit,
    lanes_apart,
    global_race,
    block_race,
    overrun,
    underrun,
    unaligned,
    dynamic_overrun,
    cp_async_unwaited,
    cp_async_unsynced,
    cp_async_too_early,
    cp_async_left,
};

template <Fault fault> __global__ void faulty(float* out, const float* in) {
    __shared__ float values[64];
    DYNAMIC_SHARED(dynamic);
    auto* more = reinterpret_cast<float*>(dynamic);
    const int i = threadIdx.x;
    if constexpr (fault == Fault::missing_barrier || fault == Fault::none || fault == Fault::missing_second_barrier) {
        for (int round = 0; round < 2; round++) {
            values[i] = in[i] + static_cast<float>(round);
            if constexpr (fault != Fault::missing_barrier)
                __syncthreads();
            out[i] = values[63 - i];
            if constexpr (fault != Fault::missing_second_barrier)
                __syncthreads();
        }
    } else if constexpr (fault == Fault::warp_race) {
        values[i] = in[i];
        const float other = __shfl_xor_sync(ALL_LANES, in[i], 1); // orders nothing
        out[i] = values[i ^ 1] + other;
    } else if constexpr (fault == Fault::unwritten) {
        if (i < 63)
            values[i] = in[i];
        __syncthreads();
        out[i] = values[63 - i];
    } else if constexpr (fault == Fault::divergent_barrier) {
        if (i < 32)
            __syncthreads();
        else
            __syncthreads();
    } else if constexpr (fault == Fault::early_exit) {
        if (i == 5)
            return;
        __syncthreads();
    } else if constexpr (fault == Fault::lanes_apart) {
        if (i != 7)
            out[i] = __shfl_xor_sync(ALL_LANES, in[i], 1);
    } else if constexpr (fault == Fault::global_race) {
        out[i] = out[63 - i];
    } else if constexpr (fault == Fault::block_race) {
        out[i] = static_cast<float>(blockIdx.x);
    } else if constexpr (fault == Fault::overrun) {
        out[i] = in[i + 1];
    } else if constexpr (fault == Fault::underrun) {
        out[i - 1] = in[i];
    } else if constexpr (fault == Fault::unaligned) {
        if (i == 0)
            *reinterpret_cast<float4*>(out) = *reinterpret_cast<const float4*>(in + 1);
    } else if constexpr (fault == Fault::dynamic_overrun) {
        more[i + 1] = in[i];
    } else {
        const bool first = i < 16;
        if (first) {
            cp_async_16(&more[4 * i], &in[4 * i]);
            cp_async_commit();
        }
        if constexpr (fault == Fault::cp_async_left)
            return;
        if constexpr (fault == Fault::cp_async_unwaited)
            __syncthreads();
        if constexpr (fault != Fault::cp_async_unwaited)
            cp_async_wait<0>();
        if constexpr (fault != Fault::cp_async_unsynced)
            __syncthreads();
        out[i] = more[63 - i];
        if constexpr (fault == Fault::cp_async_too_early) {
            if (first) {
                cp_async_16(&more[4 * i], &in[4 * i]);
                cp_async_commit();
            }
            cp_async_wait<0>();
        }
        cp_async_wait<0>();
    }
}

template <Fault fault> void run_faulty() {
    const Buffer<float> in(std::vector<float>(64, 1.0f));
    Buffer<float> out(64);
    launch("faulty", fault == Fault::block_race ? 2 : 1, 64, 256, [&] { faulty<fault>(out.data(), in.data()); });
}

void faults() {
    run_faulty<Fault::none>();
    // Threads run in order: what a later one should have written is not there yet.
    expect_fault("nobody wrote it", run_faulty<Fault::missing_barrier>);
    expect_fault("a race in static shared memory", run_faulty<Fault::missing_second_barrier>);
    expect_fault("a race in static shared memory", run_faulty<Fault::warp_race>);
    expect_fault("nobody wrote it", run_faulty<Fault::unwritten>);
    expect_fault("while others wait at the one in", run_faulty<Fault::divergent_barrier>);
    expect_fault("the thread ends while 5 threads wait", run_faulty<Fault::early_exit>);
    expect_fault("thread (0, 0, 0): it waits at", run_faulty<Fault::lanes_apart>);
    expect_fault("a race in global memory at byte 124 of a buffer: read after a write by another thread",
                 run_faulty<Fault::global_race>);
    expect_fault("a race in global memory at byte 0 of a buffer: written after a write by another block",
                 run_faulty<Fault::block_race>);
    expect_fault("outside every buffer", run_faulty<Fault::overrun>);
    expect_fault("was written -4 bytes from its begin", run_faulty<Fault::underrun>);
    expect_fault("no multiple of 16", run_faulty<Fault::unaligned>);
    expect_fault("of dynamic shared memory is touched", run_faulty<Fault::dynamic_overrun>);
    expect_fault("is not waited for", run_faulty<Fault::cp_async_unwaited>);
    expect_fault("nobody wrote it", run_faulty<Fault::cp_async_unsynced>);
    expect_fault("written after a read by thread", run_faulty<Fault::cp_async_too_early>);
    expect_fault("never waited for", run_faulty<Fault::cp_async_left>);
}

// ---- warp operations ------------------------------------------------------------------------------------------------------

__global__ void warp_operations(int* out) {
    const int lane = threadIdx.x;
    int* row = out + lane * 8;
    row[0] = __shfl_sync(ALL_LANES, lane, 5);
    row[1] = __shfl_up_sync(ALL_LANES, lane, 3);
    row[2] = __shfl_down_sync(ALL_LANES, lane, 3, 8);
    row[3] = __shfl_xor_sync(ALL_LANES, lane, 16);
    row[4] = static_cast<int>(__ballot_sync(ALL_LANES, lane % 3 == 0));
    row[5] = __reduce_max_sync(ALL_LANES, lane % 7 - 3);
    row[6] = static_cast<int>(__match_any_sync(ALL_LANES, lane % 4));
    if (lane < 12)
        row[7] = static_cast<int>(__reduce_add_sync(0xfffu, static_cast<unsigned>(lane)));
    else
        row[7] = __any_sync(0xfffff000u, lane == 12);
}

void warps() {
    Buffer<int> out(32 * 8);
    launch("warp_operations", 1, 32, 0, [&] { warp_operations(out.data()); });
    for (int lane = 0; lane < 32; lane++) {
        unsigned thirds = 0, fourths = 0;
        for (int i = 0; i < 32; i++) {
            thirds |= static_cast<unsigned>(i % 3 == 0) << i;
            fourths |= static_cast<unsigned>(i % 4 == lane % 4) << i;
        }
        const int expected[8] = {5,
                                 lane < 3 ? lane : lane - 3,
                                 lane % 8 + 3 < 8 ? lane + 3 : lane,
                                 lane ^ 16,
                                 static_cast<int>(thirds),
                                 3,
                                 static_cast<int>(fourths),
                                 lane < 12 ? 66 : 1};
        for (int i = 0; i < 8; i++)
            expect(out[lane * 8 + i] == expected[i], "warp operations");
    }
}

// ---- the block ----------------------------------------------------------------------------------------------------------------

__global__ void block_operations(int* out) {
    __shared__ int sum;
    __shared__ int highest;
    __shared__ unsigned owner;
    const int i = threadIdx.x + blockDim.x * threadIdx.y;
    if (i == 0) {
        sum = 0;
        highest = -1;
        owner = ~0u;
    }
    __syncthreads();
    atomicAdd(&sum, i);
    atomicMax(&highest, i);
    if (i == 40)
        atomicCAS(&owner, ~0u, threadIdx.y);
    const int thirds = __syncthreads_count(i % 3 == 0);
    const int any = __syncthreads_or(i == 65);
    const int all = __syncthreads_and(i < 65);
    if (i == 0) {
        int* row = out + 8 * (blockIdx.x + gridDim.x * blockIdx.y);
        row[0] = sum;
        row[1] = highest;
        row[2] = static_cast<int>(owner);
        row[3] = thirds;
        row[4] = any;
        row[5] = all;
        row[6] = static_cast<int>(blockIdx.x);
        row[7] = static_cast<int>(blockIdx.y);
    }
}

void blocks() {
    Buffer<int> out(6 * 8);
    launch("block_operations", dim3(3, 2), dim3(22, 3), 0, [&] { block_operations(out.data()); });
    for (int block = 0; block < 6; block++) {
        const int expected[8] = {65 * 66 / 2, 65, 1, 22, 1, 0, block % 3, block / 3};
        for (int i = 0; i < 8; i++)
            expect(out[block * 8 + i] == expected[i], "block operations");
    }
}

// ---- matrices: element by element as in the PTX manual ---------------------------------------------------------------------

template <typename T> __global__ void multiply_16(float* out, const T* a, const T* b) {
    __shared__ __align__(16) T tile_a[16 * 16];
    __shared__ __align__(16) T tile_b[16 * 8];
    const int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32)
        tile_a[i] = a[i];
    for (int i = lane; i < 128; i += 32)
        tile_b[i] = b[i]; // rows of k: to be transposed on the way
    __syncwarp();
    unsigned left[4], right[4];
    ldmatrix_x4(left, &tile_a[lane % 16 * 16 + lane / 16 * 8]);
    ldmatrix_x4_trans(right, &tile_b[lane % 16 * 8]);
    float c[4] = {};
    const unsigned columns[2] = {right[0], right[1]};
    mma_m16n8k16<T>(c, left, columns);
    for (int r = 0; r < 4; r++)
        out[(lane / 4 + 8 * (r / 2)) * 8 + lane % 4 * 2 + r % 2] = c[r];
}

__global__ void multiply_8(float* out, const uint8_t* a, const uint8_t* b) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    const auto at = [](const uint8_t* p) { return *reinterpret_cast<const unsigned*>(p); };
    const unsigned left[4] = {at(a + g * 32 + 4 * t), at(a + (g + 8) * 32 + 4 * t), at(a + g * 32 + 4 * t + 16),
                              at(a + (g + 8) * 32 + 4 * t + 16)};
    const unsigned right[2] = {at(b + g * 32 + 4 * t), at(b + g * 32 + 4 * t + 16)};
    float c[4] = {};
    mma_m16n8k32_e4m3(c, left, right);
    for (int r = 0; r < 4; r++)
        out[(g + 8 * (r / 2)) * 8 + t * 2 + r % 2] = c[r];
}

template <typename T> void matrices_16() {
    Buffer<T> a(256), b(128);
    Buffer<float> out(128);
    for (int i = 0; i < 256; i++)
        a[i] = from_float<T>(static_cast<float>(i * 7 % 23 - 11));
    for (int i = 0; i < 128; i++)
        b[i] = from_float<T>(static_cast<float>(i * 5 % 19 - 9));
    launch("multiply_16", 1, 32, 0, [&] { multiply_16<T>(out.data(), a.data(), b.data()); });
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            float sum = 0.0f;
            for (int k = 0; k < 16; k++)
                sum += to_float(a[row * 16 + k]) * to_float(b[k * 8 + column]);
            expect(out[row * 8 + column] == sum, "a product of 16-bit matrices");
        }
}

void matrices_8() {
    Buffer<uint8_t> a(512), b(256);
    Buffer<float> out(128);
    for (int i = 0; i < 512; i++)
        a[i] = emulation::float_to_e4m3(static_cast<float>(i * 7 % 15 - 7));
    for (int i = 0; i < 256; i++)
        b[i] = emulation::float_to_e4m3(static_cast<float>(i * 5 % 13 - 6));
    launch("multiply_8", 1, 32, 0, [&] { multiply_8(out.data(), a.data(), b.data()); });
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            float sum = 0.0f;
            for (int k = 0; k < 32; k++)
                sum += emulation::e4m3_to_float(a[row * 32 + k]) * emulation::e4m3_to_float(b[column * 32 + k]);
            expect(out[row * 8 + column] == sum, "a product of 8-bit matrices");
        }
}

// ---- conversions: every value, and what lies between ---------------------------------------------------------------------------

template <typename Bits>
void conversions(unsigned finite, float (*decode)(Bits), Bits (*encode)(float), const char* what) {
    for (unsigned bits = 0; bits < finite; bits++) {
        const float value = decode(static_cast<Bits>(bits));
        expect(encode(value) == bits, what);
        if (bits + 1 == finite)
            break;
        const float next = decode(static_cast<Bits>(bits + 1));
        const float middle = value + (next - value) / 2.0f;
        if (middle == value || middle == next)
            continue;
        expect(encode(middle) == (bits % 2 == 0 ? bits : bits + 1), what);
        expect(encode(std::nextafter(middle, next)) == bits + 1, what);
        expect(encode(std::nextafter(middle, value)) == bits, what);
    }
}

void numbers() {
    conversions<uint16_t>(0x7f80, emulation::bf16_to_float, emulation::float_to_bf16, "bf16");
    conversions<uint16_t>(0x7c00, emulation::half_to_float, emulation::float_to_half, "f16");
    conversions<uint8_t>(0x7f, emulation::e4m3_to_float, emulation::float_to_e4m3, "e4m3");
    expect(emulation::e4m3_to_float(0x7e) == 448.0f && emulation::float_to_e4m3(1e9f) == 0x7e, "e4m3 saturates");
    expect(emulation::float_to_e4m3(-INFINITY) == 0xfe && emulation::float_to_e4m3(NAN) == 0x7f, "e4m3 saturates");
    expect(emulation::float_to_half(65520.0f) == 0x7c00 && emulation::float_to_half(65519.0f) == 0x7bff, "f16 overflows");
    expect(emulation::float_to_bf16(-1.0f) == 0xbf80 && emulation::float_to_half(-1.0f) == 0xbc00, "signs");
}

} // namespace

int main() {
    faults();
    warps();
    blocks();
    matrices_16<bf16>();
    matrices_16<f16>();
    matrices_8();
    numbers();
    if (failures == 0)
        std::printf("the emulation computes what it should and sees every fault\n");
    return failures == 0 ? 0 : 1;
}
