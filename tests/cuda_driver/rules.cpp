// That the imitated driver reports what breaks its rules, and takes what does not: each fault runs in a child process that has
// to end with the message named beside it. Its one argument is the seed.
#include "driver.h"

#include "child.h"
#include <thread>

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuStreamCreate(void**, unsigned);
int cuStreamSynchronize(void*);
int cuStreamWaitEvent(void*, void*, unsigned);
int cuEventCreate(void**, unsigned);
int cuEventRecord(void*, void*);
int cuEventSynchronize(void*);
int cuMemAllocAsync(void**, size_t, void*);
int cuMemFreeAsync(void*, void*);
int cuMemHostAlloc(void**, size_t, unsigned);
int cuMemFreeHost(void*);
int cuMemcpyHtoDAsync_v2(void*, const void*, size_t, void*);
int cuMemcpyDtoHAsync_v2(void*, const void*, size_t, void*);
int cuMemcpyDtoDAsync_v2(void*, const void*, size_t, void*);
int cuMemsetD8Async(void*, unsigned char, size_t, void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuFuncSetAttribute(void*, int, int);
int cublasLtCreate(void**);
int cublasLtMatmulDescCreate(void**, int, int);
int cublasLtMatmulDescSetAttribute(void*, int, const void*, size_t);
int cublasLtMatrixLayoutCreate(void**, int, uint64_t, uint64_t, int64_t);
int cublasLtMatmulPreferenceCreate(void**);
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, void*, int*);
int cublasLtMatmul(void*, void*, const float*, const void*, void*, const void*, void*, const float*, const void*, void*, void*,
                   void*, const void*, void*, size_t, void*);
int ncclCommInitAll(void**, int, const int*);
int ncclAllReduce(const void*, void*, size_t, int, int, void*, void*);
int ncclCommDestroy(void*);
int ncclCommAbort(void*);
void cuda_imitation_set(const char*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
}

namespace {

using imitation::add_kernel;

/// Two numbers a block: each thread adds one.
void add_one(float* values, int count) {
    const int i = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
    if (i < count)
        values[i] += 1.0f;
}
[[maybe_unused]] const bool added = add_kernel("add_one", add_one);

constexpr size_t COUNT = 64, BYTES = COUNT * sizeof(float);

/// A device with a stream, memory of 64 floats, and locked memory of as many.
struct World {
    void *contexts[2], *stream, *other, *event, *memory, *host, *module, *function;
    World() {
        cuInit(0);
        for (int device = 1; device >= 0; device--) {
            cuDevicePrimaryCtxRetain(&contexts[device], device);
            cuCtxSetCurrent(contexts[device]);
        }
        cuStreamCreate(&stream, 0);
        cuStreamCreate(&other, 0);
        cuEventCreate(&event, 0);
        cuMemAllocAsync(&memory, BYTES, stream);
        cuMemHostAlloc(&host, BYTES, 0);
        cuModuleLoadData(&module, "");
        cuModuleGetFunction(&function, module, "add_one");
    }
    float* floats() const { return static_cast<float*>(host); }
    void upload() const { cuMemcpyHtoDAsync_v2(memory, host, BYTES, stream); }
    void download(void* in) const { cuMemcpyDtoHAsync_v2(host, memory, BYTES, in); }
    int add(void* values, int count, void* in, unsigned threads = 32, unsigned shared = 0) const {
        void* parameters[] = {&values, &count};
        return cuLaunchKernel(function, 2, 1, 1, threads, 1, 1, shared, in, parameters, nullptr);
    }
    void wait() const {
        cuEventRecord(event, stream);
        cuEventSynchronize(event);
    }
};

/// A product of f32: 4 rows of 4 by the weight at `weight`, into `out`, by an algorithm chosen for `rows` rows.
void multiply(const World& world, const void* weight, void* out, uint64_t rows) {
    constexpr int F32 = 0, COMPUTE_F32 = 68, TRANSPOSE_A = 3;
    const int32_t yes = 1;
    void *handle, *product, *a, *b, *wanted, *d, *preference;
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&product, COMPUTE_F32, F32);
    cublasLtMatmulDescSetAttribute(product, TRANSPOSE_A, &yes, sizeof yes);
    cublasLtMatrixLayoutCreate(&a, F32, 4, 4, 4);
    cublasLtMatrixLayoutCreate(&b, F32, 4, rows, 4);
    cublasLtMatrixLayoutCreate(&wanted, F32, 4, rows, 4);
    cublasLtMatmulPreferenceCreate(&preference);
    unsigned char algorithm[128];
    int found;
    cublasLtMatmulAlgoGetHeuristic(handle, product, a, b, wanted, wanted, preference, 1, algorithm, &found);
    cublasLtMatrixLayoutCreate(&b, F32, 4, 4, 4);
    cublasLtMatrixLayoutCreate(&d, F32, 4, 4, 4);
    const float one = 1.0f, zero = 0.0f;
    cublasLtMatmul(handle, product, &one, weight, a, weight, b, &zero, out, d, out, d, algorithm, world.memory, 16, world.stream);
}

/// Two devices that add up 64 floats of each.
struct Sums {
    const World& world;
    void *handles[2], *streams[2], *memory[2];
    explicit Sums(const World& on, bool connected = true) : world(on) {
        const int ordinals[] = {0, 1};
        ncclCommInitAll(handles, 2, ordinals);
        for (int rank = 0; rank < 2; rank++) {
            cuCtxSetCurrent(world.contexts[rank]);
            cuStreamCreate(&streams[rank], 0);
            cuMemAllocAsync(&memory[rank], BYTES, streams[rank]);
            cuMemsetD8Async(memory[rank], 0, BYTES, streams[rank]);
        }
        if (!connected)
            return;
        // Each waits for the other inside the call.
        std::thread other([this] { add(1); });
        add(0);
        other.join();
        for (void* stream : streams)
            cuStreamSynchronize(stream);
    }
    void add(int rank, size_t count = COUNT) const {
        constexpr int FLOAT32 = 7, SUM = 0;
        cuCtxSetCurrent(world.contexts[rank]);
        ncclAllReduce(memory[rank], memory[rank], count, FLOAT32, SUM, handles[rank], streams[rank]);
    }
};

/// What the driver's rules allow, with the result that they promise.
void a_sound_program() {
    const World world;
    for (size_t i = 0; i < COUNT; i++)
        world.floats()[i] = static_cast<float>(i);
    world.upload();
    world.add(world.memory, COUNT, world.stream);
    // A second stream goes on where the first one is.
    cuEventRecord(world.event, world.stream);
    cuStreamWaitEvent(world.other, world.event, 0);
    world.add(world.memory, COUNT, world.other);
    cuEventRecord(world.event, world.other);
    cuStreamWaitEvent(world.stream, world.event, 0);
    world.download(world.stream);
    world.wait();
    for (size_t i = 0; i < COUNT; i++)
        if (world.floats()[i] != static_cast<float>(i) + 2.0f)
            imitation::broken_rule("number %zu came back as %f", i, static_cast<double>(world.floats()[i]));
    // Memory that is not locked is copied before the call returns.
    float here[COUNT] = {7.0f};
    cuMemcpyHtoDAsync_v2(world.memory, here, BYTES, world.stream);
    here[0] = 8.0f;
    cuMemcpyDtoHAsync_v2(here, world.memory, BYTES, world.stream);
    if (here[0] != 7.0f)
        imitation::broken_rule("a copy of plain memory came late");
    void* product;
    cuMemAllocAsync(&product, BYTES, world.stream);
    cuMemsetD8Async(world.memory, 0, BYTES, world.stream);
    world.add(world.memory, COUNT, world.stream);
    multiply(world, world.memory, product, 4);
    cuMemcpyDtoHAsync_v2(here, product, BYTES, world.stream);
    if (here[15] != 4.0f)
        imitation::broken_rule("a product of ones came back as %f", static_cast<double>(here[15]));
    cuMemFreeAsync(world.memory, world.stream);
    cuMemFreeHost(world.host);
    const Sums sums(world);
    for (int rank = 0; rank < 2; rank++) {
        cuCtxSetCurrent(sums.world.contexts[rank]);
        const std::vector<float> own(COUNT, static_cast<float>(rank + 1));
        cuMemcpyHtoDAsync_v2(sums.memory[rank], own.data(), BYTES, sums.streams[rank]);
        sums.add(rank);
    }
    for (int rank = 0; rank < 2; rank++) {
        cuCtxSetCurrent(sums.world.contexts[rank]);
        cuMemcpyDtoHAsync_v2(here, sums.memory[rank], BYTES, sums.streams[rank]);
        if (here[7] != 3.0f)
            imitation::broken_rule("a sum of 1 and 2 came back as %f", static_cast<double>(here[7]));
    }
    // A rank that others wait for in vain is stopped with them.
    sums.add(0);
    for (void* handle : sums.handles)
        ncclCommAbort(handle);
    cuStreamSynchronize(sums.streams[0]);
    std::printf("a sound program runs\n");
}

struct Fault {
    const char* message;
    void (*run)(const World&);
    /// Where what is queued runs at once there is nothing to see.
    bool only_late = false;
};

const Fault FAULTS[] = {
    {"the host uses locked memory while a copy to it is queued",
     [](const World& world) {
         world.download(world.stream);
         // An event that was never recorded is waited for in no time: what cudarc does when event tracking is off.
         cuEventSynchronize(world.event);
         std::printf("%f", static_cast<double>(world.floats()[0]));
     },
     true},
    {"the host writes locked memory while a copy from it is queued",
     [](const World& world) {
         world.upload();
         world.floats()[0] = 1.0f;
     },
     true},
    {"locked memory is freed while a copy from it is queued",
     [](const World& world) {
         world.upload();
         cuMemFreeHost(world.host);
     },
     true},
    {"is in device memory that was freed",
     [](const World& world) {
         cuMemFreeAsync(world.memory, world.stream);
         world.add(world.memory, 1, world.stream);
     }},
    {"outside every buffer",
     [](const World& world) {
         // Freed in one stream while another one's work on it is queued, behind much else: the free comes first.
         void* more;
         cuMemAllocAsync(&more, BYTES, world.stream);
         for (int i = 0; i < 32; i++)
             cuMemsetD8Async(more, 0, BYTES, world.other);
         world.add(world.memory, COUNT, world.other);
         cuMemFreeAsync(world.memory, world.stream);
         cuStreamSynchronize(world.stream);
         cuStreamSynchronize(world.other);
     },
     true},
    {"its allocation ends after 256", [](const World& world) { cuMemsetD8Async(world.memory, 0, BYTES + 1, world.stream); }},
    {"outside every buffer",
     [](const World& world) {
         world.add(world.memory, COUNT + 1, world.stream, 64);
         cuStreamSynchronize(world.stream);
     }},
    {"parameter 0 of kernel add_one: 0x40 is not in device memory",
     [](const World& world) { world.add(reinterpret_cast<void*>(64), COUNT, world.stream); }},
    {"is not aligned to 4 bytes",
     [](const World& world) { world.add(static_cast<char*>(world.memory) + 2, 1, world.stream); }},
    {"is in memory of device 0, used on device 1",
     [](const World& world) {
         cuCtxSetCurrent(world.contexts[1]);
         void* stream;
         cuStreamCreate(&stream, 0);
         world.add(world.memory, COUNT, stream);
     }},
    {"the current context is of device 1, and this is of device 0",
     [](const World& world) {
         cuCtxSetCurrent(world.contexts[1]);
         world.add(world.memory, COUNT, world.stream);
     }},
    {"no context is current to this thread",
     [](const World& world) {
         cuCtxSetCurrent(nullptr);
         world.add(world.memory, COUNT, world.stream);
     }},
    {"blocks of 2048 threads", [](const World& world) { world.add(world.memory, COUNT, world.stream, 2048); }},
    {"a product by an algorithm that was chosen for another one",
     [](const World& world) { multiply(world, world.memory, world.memory, 8); }},
    {"was chosen for pointers aligned to 256 bytes, and the result",
     [](const World& world) { multiply(world, world.memory, static_cast<char*>(world.memory) + 64, 4); }},
    {"the result of a product: 64 bytes",
     [](const World& world) {
         void* small;
         cuMemAllocAsync(&small, 60, world.stream);
         multiply(world, world.memory, small, 4);
     }},
    {"1 of 2 ranks connect for sums of 256 bytes, and rank 0 waits for the others inside ncclAllReduce",
     [](const World& world) {
         const Sums sums(world, false);
         cuda_imitation_set("patience=10");
         sums.add(0);
     }},
    {"rank 1 of 2 never came to sum 1 of 64 numbers, which rank 0 waits for",
     [](const World& world) {
         const Sums sums(world);
         cuda_imitation_set("patience=10");
         sums.add(0);
         cuStreamSynchronize(sums.streams[0]);
     }},
    {"sum 1: rank 1 has 32 numbers of type 7, and another rank 64 of type 7",
     [](const World& world) {
         const Sums sums(world);
         sums.add(0);
         sums.add(1, COUNT / 2);
     }},
    {"a sum, its source: 260 bytes",
     [](const World& world) { Sums(world).add(0, COUNT + 1); }},
    {"ncclAllReduce: the current context is of device 0, and this is of device 1",
     [](const World& world) {
         const Sums sums(world);
         cuCtxSetCurrent(world.contexts[0]);
         ncclAllReduce(sums.memory[1], sums.memory[1], COUNT, 7, 0, sums.handles[1], sums.streams[1]);
     }},
    {"rank 0 is destroyed while its sum 1 is queued",
     [](const World& world) {
         const Sums sums(world);
         sums.add(0);
         ncclCommDestroy(sums.handles[0]);
     }},
    {"has no kernel subtract_one",
     [](const World& world) {
         void* function;
         _exit(cuModuleGetFunction(&function, world.module, "subtract_one"));
     }},
    {"65536 bytes of dynamic shared memory, and 49152 are allowed",
     [](const World& world) { world.add(world.memory, COUNT, world.stream, 32, 65536); }},
};

} // namespace

int main() {
    a_sound_program();
    int missed = 0;
    const bool late = imitation::settings().seed % 3 == 0;
    for (const Fault& fault : FAULTS) {
        if (fault.only_late && !late)
            continue;
        const Ended ended = run_in_child([&] { fault.run(World()); });
        if (ended.status == 0 || ended.said.find(fault.message) == std::string::npos) {
            std::printf("MISSED: \"%s\" was expected, and came: \"%s\" (status %d)\n", fault.message, ended.said.c_str(), ended.status);
            missed++;
        }
    }
    std::printf("%d faults were missed\n", missed);
    return missed != 0;
}
