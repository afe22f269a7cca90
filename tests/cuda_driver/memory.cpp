// Memory of the devices, and locked memory of the host.
#include "driver.h"

#include <sys/mman.h>
#include <unistd.h>

namespace imitation {
namespace {

/// cudaMalloc's promise.
constexpr size_t ALIGNMENT = 256;
constexpr size_t PAGE = 4096;

/// Device memory by its first address. It stays here after it was freed, so that its addresses are never used again.
struct Allocation {
    emulation::Memory memory;
    size_t bytes;
    Device* device;
    /// A free is queued, or has run.
    bool released = false;
};
std::map<uintptr_t, Allocation>& allocations() {
    static std::map<uintptr_t, Allocation> all;
    return all;
}

/// Locked host memory by its first address.
struct Locked {
    size_t bytes;
    /// Queued copies from it, and to it.
    int reads = 0, writes = 0;
};
std::map<uintptr_t, Locked>& locked() {
    static std::map<uintptr_t, Locked> all;
    return all;
}

size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

template <typename Map> auto containing(Map& map, const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    auto found = map.upper_bound(address);
    if (found == map.begin())
        return map.end();
    --found;
    return address - found->first < found->second.bytes ? found : map.end();
}

/// While a copy to it is queued the host may not touch locked memory; while one from it is, it may read.
void protect(uintptr_t at, const Locked& memory) {
    const int access = memory.writes > 0 ? PROT_NONE : memory.reads > 0 ? PROT_READ : PROT_READ | PROT_WRITE;
    mprotect(reinterpret_cast<void*>(at), pages(memory.bytes), access);
}

void explain(const void* address) {
    const auto found = containing(locked(), address);
    if (found == locked().end())
        return;
    const bool writing = found->second.writes > 0;
    broken_rule("the host %s locked memory while a copy %s it is queued: it has to wait for an event behind the copy",
                writing ? "uses" : "writes", writing ? "to" : "from");
}

bool is_to_fail() { return ++counts()["allocation"] == static_cast<uint64_t>(settings().fail); }

} // namespace

void* allocate(Device& device, size_t bytes) {
    if (bytes == 0)
        broken_rule("an allocation of no bytes");
    if (is_to_fail())
        return nullptr;
    const size_t total = settings().memory << 20;
    if (device.bytes_in_use + bytes > total)
        finish(device); // what was freed may lie in the queue
    if (device.bytes_in_use + bytes > total)
        return nullptr;
    device.bytes_in_use += bytes;
    emulation::Memory memory(bytes, ALIGNMENT);
    void* begin = memory.data();
    allocations().emplace(reinterpret_cast<uintptr_t>(begin), Allocation{std::move(memory), bytes, &device});
    return begin;
}

void release(Stream& stream, void* memory) {
    check_memory("a free", memory, 1, *stream.device);
    const auto found = allocations().find(reinterpret_cast<uintptr_t>(memory));
    if (found == allocations().end())
        broken_rule("a free of %p, which lies inside an allocation", memory);
    Allocation* allocation = &found->second;
    allocation->released = true;
    enqueue(stream, "free", [allocation] {
        allocation->memory.close();
        allocation->device->bytes_in_use -= allocation->bytes;
    });
}

void check_memory(const char* what, const void* address, size_t bytes, const Device& device) {
    const auto found = containing(allocations(), address);
    if (found == allocations().end())
        broken_rule("%s: %p is not in device memory", what, address);
    const Allocation& allocation = found->second;
    if (allocation.released)
        broken_rule("%s: %p is in device memory that was freed", what, address);
    if (allocation.device != &device)
        broken_rule("%s: %p is in memory of device %d, used on device %d", what, address, allocation.device->ordinal,
                    device.ordinal);
    const size_t left = found->first + allocation.bytes - reinterpret_cast<uintptr_t>(address);
    if (bytes > left)
        broken_rule("%s: %zu bytes from %p on, and its allocation ends after %zu", what, bytes, address, left);
}

size_t free_bytes(Device& device) { return (settings().memory << 20) - device.bytes_in_use; }

void* allocate_host(size_t bytes) {
    if (is_to_fail())
        return nullptr;
    emulation::explain_fault = explain;
    void* memory = mmap(nullptr, pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return nullptr;
    // What nobody wrote is nothing to count on.
    std::memset(memory, 0xff, pages(bytes));
    locked()[reinterpret_cast<uintptr_t>(memory)] = {bytes};
    return memory;
}

void release_host(void* memory) {
    const auto found = locked().find(reinterpret_cast<uintptr_t>(memory));
    if (found == locked().end())
        broken_rule("a free of locked memory that was not allocated");
    if (found->second.reads + found->second.writes > 0)
        broken_rule("locked memory is freed while a copy %s it is queued", found->second.reads > 0 ? "from" : "to");
    munmap(memory, pages(found->second.bytes));
    locked().erase(found);
}

void copy_to_device(Stream& stream, void* to, const void* from, size_t bytes) {
    check_memory("a copy to the device", to, bytes, *stream.device);
    const auto found = containing(locked(), from);
    if (found == locked().end()) {
        const auto* first = static_cast<const unsigned char*>(from);
        enqueue(stream, "copy to the device", [to, staged = std::vector<unsigned char>(first, first + bytes)] {
            std::memcpy(to, staged.data(), staged.size());
        });
        return;
    }
    const uintptr_t at = found->first;
    locked()[at].reads++;
    protect(at, locked()[at]);
    enqueue(stream, "copy to the device", [=] {
        Locked& source = locked()[at];
        mprotect(reinterpret_cast<void*>(at), pages(source.bytes), PROT_READ);
        std::memcpy(to, from, bytes);
        source.reads--;
        protect(at, source);
    });
}

void copy_to_host(Stream& stream, void* to, const void* from, size_t bytes) {
    check_memory("a copy to the host", from, bytes, *stream.device);
    const auto found = containing(locked(), to);
    if (found == locked().end()) {
        finish(stream);
        std::memcpy(to, from, bytes);
        return;
    }
    const uintptr_t at = found->first;
    locked()[at].writes++;
    protect(at, locked()[at]);
    enqueue(stream, "copy to the host", [=] {
        Locked& target = locked()[at];
        mprotect(reinterpret_cast<void*>(at), pages(target.bytes), PROT_READ | PROT_WRITE);
        std::memcpy(to, from, bytes);
        target.writes--;
        protect(at, target);
    });
}

} // namespace imitation
