// The driver's entry points, as far as programs here call them. Types are NVIDIA's in size; names of handles are left out.
#include "driver.h"

#include <pthread.h>
#include <unistd.h>

namespace imitation {

void broken_rule(const char* format, ...) {
    std::fflush(stdout);
    std::fprintf(stderr, "the imitated CUDA driver: ");
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "\n");
    std::fflush(stderr);
    _exit(86);
}

static void read_settings(Settings& all, const char* text) {
    std::istringstream words(text == nullptr ? "" : text);
    for (std::string word; words >> word;) {
        const size_t equals = word.find('=');
        const std::string key = word.substr(0, equals);
        const long value = equals == std::string::npos ? 0 : std::atol(word.c_str() + equals + 1);
        if (key == "seed")
            all.seed = static_cast<uint64_t>(value);
        else if (key == "devices")
            all.devices = static_cast<int>(value);
        else if (key == "memory")
            all.memory = static_cast<size_t>(value);
        else if (key == "fail")
            all.fail = value;
        else if (key == "scales")
            all.scales = value != 0;
        else if (key == "compute")
            all.compute = value != 0;
        else if (key == "patience")
            all.patience = value;
        else if (key == "fail_sum")
            all.fail_sum = value;
        else if (key == "wrong_sum")
            all.wrong_sum = value;
        else
            broken_rule("CUDA_IMITATION has no setting %s", key.c_str());
    }
}

Settings& settings() {
    static Settings all = [] {
        Settings read;
        read_settings(read, std::getenv("CUDA_IMITATION"));
        return read;
    }();
    return all;
}

std::map<std::string, uint64_t>& counts() {
    static std::map<std::string, uint64_t> all;
    return all;
}

std::recursive_mutex& mutex() {
    static std::recursive_mutex all;
    return all;
}

Device& device(int ordinal) {
    static std::map<int, Device> devices;
    Device& found = devices[ordinal];
    if (!found.default_stream) {
        found.ordinal = ordinal;
        found.default_stream.reset(new_stream(found));
    }
    return found;
}

// Not thread_local: the thread-local segment of this library is the kernels' shared memory.
static pthread_key_t current_key() {
    static const pthread_key_t key = [] {
        pthread_key_t made;
        pthread_key_create(&made, nullptr);
        return made;
    }();
    return key;
}
Device* current() { return static_cast<Device*>(pthread_getspecific(current_key())); }
void make_current(Device* device) {
    if (current() == nullptr)
        emulation::catch_faults();
    pthread_setspecific(current_key(), device);
}

Device& need_current(const char* call, const Device* needed) {
    Device* found = current();
    if (found == nullptr)
        broken_rule("%s: no context is current to this thread", call);
    if (needed != nullptr && found != needed)
        broken_rule("%s: the current context is of device %d, and this is of device %d", call, found->ordinal, needed->ordinal);
    return *found;
}

std::map<std::string, Kernel>& kernels() {
    static std::map<std::string, Kernel> all;
    return all;
}

namespace {

/// The stream, whose device's context has to be current.
Stream& current_stream(void* handle, const char* call) {
    Stream& stream = stream_of(handle, call);
    need_current(call, stream.device);
    return stream;
}

int allocated(void** result, void* memory) {
    *result = memory;
    return memory == nullptr ? OUT_OF_MEMORY : SUCCESS;
}

struct Module {};

/// What a handle to an event points to.
using EventHandle = std::shared_ptr<Event>;

template <typename T> void fill(void* to, T value, size_t count) {
    for (size_t i = 0; i < count; i++)
        static_cast<T*>(to)[i] = value;
}

} // namespace
} // namespace imitation

using namespace imitation;

extern "C" {

// ---- for tests of what a program asks of the driver -----------------------------------------------------------------

/// Changes settings; `fail` and those of sums count from here on.
void cuda_imitation_set(const char* words) {
    Lock lock(mutex());
    read_settings(settings(), words);
    counts()["allocation"] = 0;
    counts()["call of a sum"] = 0;
}
/// How often an operation or a kernel was queued, or memory asked for (`allocation`).
uint64_t cuda_imitation_count(const char* name) {
    Lock lock(mutex());
    return counts()[name];
}
/// Bytes of a device's memory that are in use once everything queued has run.
uint64_t cuda_imitation_bytes(int ordinal) {
    Lock lock(mutex());
    finish(device(ordinal));
    return device(ordinal).bytes_in_use;
}

// ---- devices and contexts -------------------------------------------------------------------------------------------

int cuInit(unsigned) { return settings().devices > 0 ? SUCCESS : NO_DEVICE; }
int cuDriverGetVersion(int* version) {
    *version = 13000;
    return SUCCESS;
}
int cuDeviceGetCount(int* count) {
    *count = settings().devices;
    return SUCCESS;
}
int cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return ordinal >= 0 && ordinal < settings().devices ? SUCCESS : INVALID_DEVICE;
}
int cuDeviceGetName(char* name, int length, int) {
    std::snprintf(name, static_cast<size_t>(length), "imitation");
    return SUCCESS;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
    *bytes = settings().memory << 20;
    return SUCCESS;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    // Those of an H200, with fewer multiprocessors: what is planned for them is run by one processor.
    static const std::map<int, int> values = {
        {1, 1024}, {8, 49152}, {10, 32}, {16, 8}, {39, 2048}, {75, 9}, {76, 0}, {81, 233472}, {97, 232448}, {115, 1},
    };
    const auto found = values.find(attribute);
    if (found == values.end())
        broken_rule("cuDeviceGetAttribute: attribute %d is not imitated", attribute);
    *value = found->second;
    return SUCCESS;
}
int cuDevicePrimaryCtxRetain(void** context, int ordinal) {
    Lock lock(mutex());
    *context = &device(ordinal);
    return SUCCESS;
}
int cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
int cuCtxSetCurrent(void* context) {
    make_current(static_cast<Device*>(context));
    return SUCCESS;
}
int cuCtxGetCurrent(void** context) {
    *context = current();
    return SUCCESS;
}
int cuCtxSynchronize() {
    Lock lock(mutex());
    finish(need_current("cuCtxSynchronize"));
    return SUCCESS;
}
int cuGetErrorName(int error, const char** name) {
    static const std::map<int, const char*> names = {
        {SUCCESS, "CUDA_SUCCESS"},
        {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
        {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
        {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
        {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
        {NOT_READY, "CUDA_ERROR_NOT_READY"},
    };
    const auto found = names.find(error);
    *name = found == names.end() ? "CUDA_ERROR_UNKNOWN" : found->second;
    return SUCCESS;
}
int cuGetErrorString(int error, const char** text) { return cuGetErrorName(error, text); }

// ---- memory ---------------------------------------------------------------------------------------------------------

int cuDeviceGetDefaultMemPool(void** pool, int ordinal) {
    *pool = &device(ordinal);
    return SUCCESS;
}
int cuDeviceGetMemPool(void** pool, int ordinal) { return cuDeviceGetDefaultMemPool(pool, ordinal); }
int cuMemPoolSetAttribute(void*, int, void*) { return SUCCESS; }
int cuMemPoolTrimTo(void*, size_t) { return SUCCESS; }
int cuMemGetInfo_v2(size_t* free, size_t* total) {
    Lock lock(mutex());
    *free = free_bytes(need_current("cuMemGetInfo"));
    *total = settings().memory << 20;
    return SUCCESS;
}
int cuMemAllocAsync(void** memory, size_t bytes, void* stream) {
    Lock lock(mutex());
    return allocated(memory, allocate(*current_stream(stream, "cuMemAllocAsync").device, bytes));
}
int cuMemAlloc_v2(void** memory, size_t bytes) {
    Lock lock(mutex());
    return allocated(memory, allocate(need_current("cuMemAlloc"), bytes));
}
int cuMemFreeAsync(void* memory, void* stream) {
    Lock lock(mutex());
    release(current_stream(stream, "cuMemFreeAsync"), memory);
    return SUCCESS;
}
int cuMemFree_v2(void* memory) {
    Lock lock(mutex());
    Device& device = need_current("cuMemFree");
    finish(device);
    release(*device.default_stream, memory);
    return SUCCESS;
}
int cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
    Lock lock(mutex());
    need_current("cuMemHostAlloc");
    return allocated(memory, allocate_host(bytes));
}
int cuMemFreeHost(void* memory) {
    Lock lock(mutex());
    release_host(memory);
    return SUCCESS;
}
int cuMemcpyHtoDAsync_v2(void* to, const void* from, size_t bytes, void* stream) {
    Lock lock(mutex());
    copy_to_device(current_stream(stream, "cuMemcpyHtoDAsync"), to, from, bytes);
    return SUCCESS;
}
int cuMemcpyDtoHAsync_v2(void* to, const void* from, size_t bytes, void* stream) {
    Lock lock(mutex());
    copy_to_host(current_stream(stream, "cuMemcpyDtoHAsync"), to, from, bytes);
    return SUCCESS;
}
int cuMemcpyDtoDAsync_v2(void* to, const void* from, size_t bytes, void* handle) {
    Lock lock(mutex());
    Stream& stream = current_stream(handle, "cuMemcpyDtoDAsync");
    check_memory("a copy on the device, its target", to, bytes, *stream.device);
    check_memory("a copy on the device, its source", from, bytes, *stream.device);
    enqueue(stream, "copy on the device", [=] { std::memmove(to, from, bytes); });
    return SUCCESS;
}
int cuMemsetD8Async(void* to, unsigned char value, size_t count, void* handle) {
    Lock lock(mutex());
    Stream& stream = current_stream(handle, "cuMemsetD8Async");
    check_memory("a fill", to, count, *stream.device);
    enqueue(stream, "fill", [=] { fill(to, value, count); });
    return SUCCESS;
}

// ---- streams and events -----------------------------------------------------------------------------------------------

int cuStreamCreate(void** stream, unsigned) {
    Lock lock(mutex());
    *stream = new_stream(need_current("cuStreamCreate"));
    return SUCCESS;
}
int cuStreamDestroy_v2(void* stream) {
    Lock lock(mutex());
    end_stream(&stream_of(stream, "cuStreamDestroy"));
    return SUCCESS;
}
int cuStreamSynchronize(void* stream) {
    Lock lock(mutex());
    finish(stream_of(stream, "cuStreamSynchronize"));
    return SUCCESS;
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
    Lock lock(mutex());
    wait_for(stream_of(stream, "cuStreamWaitEvent"), *static_cast<EventHandle*>(event));
    return SUCCESS;
}
int cuStreamIsCapturing(void*, int* status) {
    *status = 0;
    return SUCCESS;
}
int cuEventCreate(void** event, unsigned flags) {
    Lock lock(mutex());
    constexpr unsigned DISABLE_TIMING = 2;
    *event = new EventHandle(new Event{&need_current("cuEventCreate"), (flags & DISABLE_TIMING) == 0});
    return SUCCESS;
}
int cuEventDestroy_v2(void* event) {
    Lock lock(mutex());
    delete static_cast<EventHandle*>(event);
    return SUCCESS;
}
int cuEventRecord(void* event, void* stream) {
    Lock lock(mutex());
    record(stream_of(stream, "cuEventRecord"), *static_cast<EventHandle*>(event));
    return SUCCESS;
}
int cuEventSynchronize(void* event) {
    Lock lock(mutex());
    finish(**static_cast<EventHandle*>(event));
    return SUCCESS;
}
int cuEventQuery(void* handle) {
    Lock lock(mutex());
    const auto& event = *static_cast<EventHandle*>(handle);
    return event->done >= event->recorded ? SUCCESS : NOT_READY;
}
int cuEventElapsedTime_v2(float* milliseconds, void* from, void* to) {
    Lock lock(mutex());
    const auto &start = *static_cast<EventHandle*>(from), &end = *static_cast<EventHandle*>(to);
    for (const auto* event : {&start, &end})
        if (!(*event)->timed || (*event)->recorded == 0 || (*event)->done < (*event)->recorded)
            broken_rule("cuEventElapsedTime of an event that is not timed, or has not run");
    *milliseconds = static_cast<float>((end->time - start->time) * 1e3);
    return SUCCESS;
}

// ---- kernels ----------------------------------------------------------------------------------------------------------

int cuModuleLoadData(void** module, const void*) {
    Lock lock(mutex());
    need_current("cuModuleLoadData");
    *module = new Module;
    return SUCCESS;
}
int cuModuleUnload(void* module) {
    delete static_cast<Module*>(module);
    return SUCCESS;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
    Lock lock(mutex());
    need_current("cuModuleGetFunction");
    const auto found = kernels().find(name);
    if (found == kernels().end()) {
        std::fprintf(stderr, "the imitated CUDA driver has no kernel %s\n", name);
        return NOT_FOUND;
    }
    *function = &found->second;
    return SUCCESS;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
    Lock lock(mutex());
    constexpr int MAX_DYNAMIC_SHARED_SIZE_BYTES = 8;
    if (attribute == MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        if (value > 227 * 1024)
            return INVALID_VALUE;
        static_cast<Kernel*>(function)->shared_allowed[&need_current("cuFuncSetAttribute")] = static_cast<size_t>(value);
    }
    return SUCCESS;
}
int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads_x, unsigned threads_y, unsigned threads_z,
                   unsigned shared, void* handle, void** parameters, void**) {
    Lock lock(mutex());
    Stream& stream = current_stream(handle, "cuLaunchKernel");
    const auto& kernel = *static_cast<Kernel*>(function);
    const uint64_t threads = uint64_t{threads_x} * threads_y * threads_z;
    if (uint64_t{x} * y * z == 0 || y > 65535 || z > 65535 || threads == 0 || threads > 1024)
        broken_rule("kernel %s in %u x %u x %u blocks of %" PRIu64 " threads", kernel.name.c_str(), x, y, z, threads);
    const auto set = kernel.shared_allowed.find(stream.device);
    const size_t allowed = set == kernel.shared_allowed.end() ? 48 * 1024 : set->second;
    if (shared > allowed)
        broken_rule("kernel %s with %u bytes of dynamic shared memory, and %zu are allowed", kernel.name.c_str(), shared, allowed);
    auto work = kernel.prepare(kernel, *stream.device, {{x, y, z}, {threads_x, threads_y, threads_z}, shared}, parameters);
    counts()["launch"]++;
    counts()[kernel.name]++;
    if (settings().compute)
        enqueue(stream, kernel.name, std::move(work));
    return SUCCESS;
}

} // extern "C"

// ---- what candle links to, and nobody here calls --------------------------------------------------------------------------

#define NOT_IMITATED(name)                                                                                             \
    extern "C" int name() { broken_rule(#name " is not imitated"); }
NOT_IMITATED(cublasDgemmStridedBatched)
NOT_IMITATED(cuCtxDestroy_v2)
NOT_IMITATED(cuMemcpyPeerAsync)
NOT_IMITATED(cuModuleLoad)
NOT_IMITATED(curandGenerateUniformDouble)
