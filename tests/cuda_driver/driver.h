// An imitation of NVIDIA's driver and of the cuBLAS calls that the product makes, loaded in place of them: a program built with
// the feature `cuda` then runs whole on a machine without a GPU. Memory of the device is memory of the process, kernels run by
// the emulation in tests/cuda_emulation, matrix products and candle's kernels by plain loops.
//
// Work is as asynchronous as the real driver may make it. A call only queues; what is queued runs when something waits for it,
// and not before (or at once, or a few operations at a call: the seed chooses). Of several streams a seed chooses which goes
// on. So what is read too early is not there, and what is overwritten too early is used wrongly.
//
// Every call is checked, and a broken rule ends the program with a message:
//   - device memory that was never allocated, was freed (a free is queued like everything else), belongs to another device, or
//     ends too soon; a kernel's access outside every allocation
//   - locked host memory that the host reads or writes while a copy to it is queued, or writes or frees while a copy from it is
//   - a call without the current context that it needs, a stream, event or kernel of another device
//   - launches with more threads than a device has, or more shared memory than the function was given; parameters that are no pointers
//     where the kernel takes pointers
//   - products whose algorithm was chosen for another shape, or for pointers of another alignment
//   - sums over devices (NCCL): other numbers on one rank than on another, a rank that never comes, a communicator that is given back
//     while a sum is queued
//   - calls, kernels and attributes that the imitation does not know
// Not seen: reads by a kernel less than 256 bytes beyond the end of an allocation, or less than a page before it (writes there are
// seen when it is freed); launch bounds and registers.
//
// CUDA_IMITATION in the environment says how it behaves; see `Settings`.
#pragma once

// The standard library's headers come first: the emulation defines words of theirs.
#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include "cuda_emulation.h"

namespace imitation {

/// Results of calls, as in NVIDIA's headers.
enum Result { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101, NOT_FOUND = 500, NOT_READY = 600 };

/// The program broke a rule: says which, and ends it.
[[noreturn]] void broken_rule(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// From the environment: `CUDA_IMITATION="seed=3 devices=2 memory=512 fail=17"`.
struct Settings {
    /// What runs when. A multiple of 3: as late as can be. One more: at once. Two more: now and then.
    uint64_t seed = 0;
    int devices = 1;
    /// MiB of each device's memory.
    size_t memory = 1024;
    /// The allocation that fails, counted from 1; 0 for none.
    long fail = 0;
    /// Whether products in FP8 take scales by row, as on Hopper.
    bool scales = true;
    /// Whether the kernels run; if not, what they would write is left as it is, for programs that are only timed.
    bool compute = true;
    /// How many milliseconds a sum waits for a rank that no thread has queued it for.
    long patience = 20000;
    /// The call of a sum that fails, counted from 1; 0 for none.
    long fail_sum = 0;
    /// The sum, counted from 1, of which the last rank gets other numbers; 0 for none.
    long wrong_sum = 0;
};
Settings& settings();

/// How often what was asked for; see `cuda_imitation_count`.
std::map<std::string, uint64_t>& counts();

/// Every entry point holds it.
std::recursive_mutex& mutex();
using Lock = std::lock_guard<std::recursive_mutex>;

struct Stream;

/// A device, and its primary context.
struct Device {
    int ordinal;
    std::unique_ptr<Stream> default_stream;
    size_t bytes_in_use = 0;
};
Device& device(int ordinal);

/// The device whose context is current to this thread, or null.
Device* current();
void make_current(Device* device);
/// `call` needs a current context, of `needed` if that is not null; returns it.
Device& need_current(const char* call, const Device* needed = nullptr);

// ---- queue.cpp ------------------------------------------------------------------------------------------------------

/// Operations that are queued keep it alive: an event may be destroyed at any time.
struct Event {
    Device* device;
    /// Made without CU_EVENT_DISABLE_TIMING.
    bool timed;
    /// How often it was recorded, and how many of these records have run.
    uint64_t recorded = 0, done = 0;
    double time = 0.0;
};

struct Operation {
    std::string name;
    std::function<void()> run;
    /// It waits until this event's record of that number has run.
    std::shared_ptr<Event> awaited;
    uint64_t record = 0;
};

struct Stream {
    Device* device;
    std::deque<Operation> queued;
};
/// The stream behind a handle; null and the per-thread handle are the current device's default stream.
Stream& stream_of(void* handle, const char* call);
Stream* new_stream(Device& device);
void end_stream(Stream* stream);

void enqueue(Stream& stream, std::string name, std::function<void()> run);
void record(Stream& stream, const std::shared_ptr<Event>& event);
void wait_for(Stream& stream, const std::shared_ptr<Event>& event);
/// Runs queued operations until these have run.
void finish(Stream& stream);
void finish(Event& event);
void finish(Device& device);

/// Which rank has not queued a sum that others have; empty if there is none.
std::string late_rank();

// ---- memory.cpp -----------------------------------------------------------------------------------------------------

/// Device memory; null when there is none left, or this allocation is to fail.
void* allocate(Device& device, size_t bytes);
/// The memory cannot be used any more, and is given back when what is queued before has run.
void release(Stream& stream, void* memory);
/// `what` may use `bytes` from `address` on in work of this device.
void check_memory(const char* what, const void* address, size_t bytes, const Device& device);
/// Locked host memory.
void* allocate_host(size_t bytes);
void release_host(void* memory);
size_t free_bytes(Device& device);

/// Queues a copy. Host memory that is not locked is read before the call returns, and written before it returns.
void copy_to_device(Stream& stream, void* to, const void* from, size_t bytes);
void copy_to_host(Stream& stream, void* to, const void* from, size_t bytes);

// ---- kernels --------------------------------------------------------------------------------------------------------

struct Grid {
    dim3 blocks, threads;
    size_t shared;
};

/// A kernel that can be launched.
struct Kernel {
    std::string name;
    /// Checks the parameters behind these pointers, and gives the work.
    std::function<std::function<void()>(const Kernel&, const Device&, const Grid&, void** parameters)> prepare;
    /// What CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES allows on devices where it was set.
    std::map<const Device*, size_t> shared_allowed;
};
/// All kernels by name; each source of kernels adds its own before `main`.
std::map<std::string, Kernel>& kernels();

template <typename T> T parameter(const Kernel& kernel, const Device& device, size_t index, void* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    if constexpr (std::is_pointer_v<T>) {
        if (value != nullptr) {
            using Element = std::remove_pointer_t<T>;
            constexpr size_t alignment = alignof(std::conditional_t<std::is_void_v<Element>, char, Element>);
            const std::string what = "parameter " + std::to_string(index) + " of kernel " + kernel.name;
            if (reinterpret_cast<uintptr_t>(value) % alignment != 0)
                broken_rule("%s: %p is not aligned to %zu bytes", what.c_str(), static_cast<const void*>(value), alignment);
            check_memory(what.c_str(), value, 1, device);
        }
    }
    return value;
}

template <typename... A, size_t... I>
std::tuple<A...> parameters_of(const Kernel& kernel, const Device& device, void** parameters, std::index_sequence<I...>) {
    return {parameter<A>(kernel, device, I, parameters[I])...};
}

/// Adds `function`, which is called once for each thread of the grid, or (`once`) once for all.
template <typename... A> bool add_kernel(const char* name, void (*function)(A...), bool once = false) {
    Kernel kernel;
    kernel.name = name;
    kernel.prepare = [function, once](const Kernel& self, const Device& device, const Grid& grid, void** parameters) {
        const auto arguments = parameters_of<A...>(self, device, parameters, std::index_sequence_for<A...>());
        return std::function<void()>([&self, function, once, grid, arguments] {
            if (once)
                std::apply(function, arguments);
            else
                emulation::launch(self.name.c_str(), grid.blocks, grid.threads, grid.shared,
                                  [&] { std::apply(function, arguments); });
        });
    };
    kernels()[name] = std::move(kernel);
    return true;
}

} // namespace imitation
