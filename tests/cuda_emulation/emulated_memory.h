// The emulated memory: who touched which byte of shared memory, copies under way, buffers with guard pages. Part of
// cuda_emulation.cpp.
#pragma once

namespace emulation {
namespace {

// ---- what was touched, by byte ----------------------------------------------------------------------------------------

// All zeros: never touched.
struct Touch {
    uint32_t epoch;
    uint32_t warp_epoch;
    int16_t thread;
    bool atomic;
};
struct Shadow {
    Touch write;
    Touch read;
    Touch other_read; // the last read by another thread than `read`'s
    bool pending;
};
/// Four bytes. Mostly they are touched together: then the first one's shadow stands for all.
struct Word {
    Shadow bytes[4];
    bool apart;
};
Word* fixed_shadow;
Word* dynamic_shadow;

#ifdef EMULATION_UNCHECKED
constexpr bool CHECKED = false;
#else
constexpr bool CHECKED = true;
#endif

Word* untouched(size_t bytes) {
    // Pages that nobody touches cost nothing.
    void* words = std::calloc(CHECKED ? bytes / 4 + 1 : 1, sizeof(Word));
    if (words == nullptr)
        fail("no memory for the emulation");
    return static_cast<Word*>(words);
}

/// The device's memory: buffers by the address behind their end.
struct Region {
    uintptr_t begin;
    Word* words;
};
std::map<uintptr_t, Region> regions;

bool ordered(const Touch& before, int thread) {
    if (before.epoch < machine.epoch || before.thread == thread)
        return true;
    return before.thread / 32 == thread / 32 && before.warp_epoch < machine.warps[thread / 32].epoch;
}

[[noreturn]] void race(const char* what, const Touch& before, const char* region, size_t offset) {
    const uint3 other = machine.threads[before.thread].index;
    fail("a race in %s shared memory at byte %zu: %s by thread (%u, %u, %u) with no barrier in between", region, offset, what,
         other.x, other.y, other.z);
}

void check_byte(Shadow& shadow, bool write, bool atomic, const char* region, size_t offset) {
    const int thread = machine.current->rank;
    const bool written = shadow.write.epoch >= machine.block_epoch;
    if (written && !(atomic && shadow.write.atomic) && !ordered(shadow.write, thread))
        race(write ? "written after a write" : "read after a write", shadow.write, region, offset);
    const Touch now{machine.epoch, machine.warps[thread / 32].epoch, static_cast<int16_t>(thread), atomic};
    if (write) {
        if (!atomic) {
            for (const Touch* read : {&shadow.read, &shadow.other_read})
                if (read->epoch >= machine.block_epoch && !ordered(*read, thread))
                    race("written after a read", *read, region, offset);
        }
        shadow.write = now;
        shadow.pending = false;
    } else {
        if (shadow.pending)
            fail("byte %zu of %s shared memory is read while a cp.async to it is not waited for", offset, region);
        if (!written)
            fail("byte %zu of %s shared memory is read, but nobody wrote it", offset, region);
        if (shadow.read.thread != thread) {
            shadow.other_read = shadow.read;
        }
        shadow.read = now;
    }
}

/// Global memory: nobody orders the blocks of a grid.
void check_global(Shadow& shadow, bool write, bool atomic, size_t offset) {
    const int thread = machine.current->rank;
    const auto check = [&](const Touch& before, const char* what) {
        if (before.epoch < machine.launch_epoch || (atomic && before.atomic))
            return;
        const char* who = before.epoch < machine.block_epoch ? "another block" : "another thread of the block";
        if (before.epoch < machine.block_epoch || !ordered(before, thread))
            fail("a race in global memory at byte %zu of a buffer: %s by %s", offset, what, who);
    };
    const Touch now{machine.epoch, machine.warps[thread / 32].epoch, static_cast<int16_t>(thread), atomic};
    check(shadow.write, write ? "written after a write" : "read after a write");
    if (write) {
        check(shadow.read, "written after a read");
        check(shadow.other_read, "written after a read");
        shadow.write = now;
    } else {
        if (shadow.read.thread != thread || shadow.read.epoch < machine.block_epoch)
            shadow.other_read = shadow.read;
        shadow.read = now;
    }
}

/// The shadow that holds an address of shared memory, or null, and the address's offset.
Word* shadow_of(uintptr_t address, size_t bytes, const char*& region, size_t& offset) {
    offset = address - reinterpret_cast<uintptr_t>(machine.fixed);
    if (offset < machine.fixed_bytes) {
        region = "static";
        return fixed_shadow;
    }
    offset = address - reinterpret_cast<uintptr_t>(machine.dynamic);
    if (offset < MAX_SHARED) {
        region = "dynamic";
        if (offset + bytes > machine.dynamic_bytes)
            fail("byte %zu of dynamic shared memory is touched; it has %zu", offset + bytes - 1, machine.dynamic_bytes);
        return dynamic_shadow;
    }
    return nullptr;
}

/// Calls `visit(shadow, offset)` for what stands for these bytes. Where it `joins`, it leaves all it visits alike.
template <typename VISIT> void for_shadows(Word* words, size_t offset, size_t bytes, bool joins, VISIT visit) {
    for (size_t at = offset, end = offset + bytes; at < end;) {
        Word& word = words[at / 4];
        const bool whole = at % 4 == 0 && end - at >= 4;
        if (whole && !word.apart) {
            visit(word.bytes[0], at);
            at += 4;
            continue;
        }
        if (!word.apart) {
            word.bytes[1] = word.bytes[2] = word.bytes[3] = word.bytes[0];
            word.apart = true;
        }
        const size_t stop = std::min(end, at / 4 * 4 + 4);
        for (; at < stop; at++)
            visit(word.bytes[at % 4], at);
        word.apart = !(whole && joins);
    }
}

void touch(const void* pointer, size_t bytes, bool write, bool atomic = false) {
    if (!CHECKED || machine.current == nullptr)
        return;
    const char* region = nullptr;
    size_t offset = 0;
    Word* words = shadow_of(reinterpret_cast<uintptr_t>(pointer), bytes, region, offset);
    if (words == nullptr) {
        const auto address = reinterpret_cast<uintptr_t>(pointer);
        const auto region = regions.upper_bound(address);
        if (region != regions.end() && address >= region->second.begin)
            for_shadows(region->second.words, address - region->second.begin, bytes, write && !atomic,
                        [&](Shadow& shadow, size_t at) { check_global(shadow, write, atomic, at); });
        return;
    }
    machine.current->unpublished |= write;
    // A write leaves the four with the same last write; that they may differ in their reads can only hide what came before
    // and was already checked.
    for_shadows(words, offset, bytes, write && !atomic,
                [&](Shadow& shadow, size_t at) { check_byte(shadow, write, atomic, region, at); });
}

void touch_aligned(const void* pointer, size_t bytes, bool write) {
    if (machine.current != nullptr && reinterpret_cast<uintptr_t>(pointer) % bytes != 0)
        fail("an access of %zu bytes at an address that is no multiple of %zu", bytes, bytes);
    touch(pointer, bytes, write);
}

} // namespace

void touch_atomically(void* address, size_t bytes) { touch(address, bytes, true, true); }

// ---- cp.async -----------------------------------------------------------------------------------------------------------

void cp_async_16(void* shared, const void* global, bool valid) {
    if (reinterpret_cast<uintptr_t>(shared) % 16 != 0 || reinterpret_cast<uintptr_t>(global) % 16 != 0)
        fail("cp.async of 16 bytes with an address that is no multiple of 16");
    // The copy may land at once: from here on nobody may count on the old bytes, nor on the new ones.
    const bool unpublished = machine.current->unpublished;
    touch(shared, 16, true);
    machine.current->unpublished = unpublished; // it is written when it is waited for
    std::memset(shared, 0xff, 16);
    if (CHECKED) {
        const char* region = nullptr;
        size_t offset = 0;
        Word* words = shadow_of(reinterpret_cast<uintptr_t>(shared), 16, region, offset);
        if (words == nullptr)
            fail("cp.async to an address that is not in shared memory");
        for_shadows(words, offset, 16, false, [](Shadow& shadow, size_t) { shadow.pending = true; });
    }
    if (valid)
        touch(global, 16, false);
    machine.current->open.push_back({static_cast<unsigned char*>(shared), static_cast<const unsigned char*>(global), valid});
}

void cp_async_commit() {
    Thread& self = *machine.current;
    self.groups.push_back(std::move(self.open));
    self.open.clear();
}

void cp_async_wait(int groups_left) {
    Thread& self = *machine.current;
    while (static_cast<int>(self.groups.size()) > groups_left) {
        for (const Copy& copy : self.groups.front()) {
            if (copy.valid) {
                touch(copy.global, 16, false);
                std::memcpy(copy.shared, copy.global, 16);
            } else {
                std::memset(copy.shared, 0, 16);
            }
            touch(copy.shared, 16, true);
        }
        self.groups.erase(self.groups.begin());
    }
}

// ---- memory ---------------------------------------------------------------------------------------------------------------

namespace {
constexpr unsigned char CANARY = 0xa5;
}

Memory::Memory(size_t bytes, size_t alignment) : bytes_(bytes) {
    const size_t used = (bytes + PAGE - 1) / PAGE * PAGE;
    map_bytes_ = used + 2 * PAGE;
    void* map = mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        fail("no memory for %zu bytes", bytes);
    map_ = static_cast<unsigned char*>(map);
    // Less than the alignment is left between the end and the guard page, canaries all.
    data_ = map_ + PAGE + used - (bytes + alignment - 1) / alignment * alignment;
    std::memset(map_ + PAGE, CANARY, static_cast<size_t>(data_ - (map_ + PAGE)));
    std::memset(data_, 0xff, bytes);
    std::memset(data_ + bytes, CANARY, static_cast<size_t>(map_ + PAGE + used - (data_ + bytes)));
    regions[reinterpret_cast<uintptr_t>(data_ + bytes)] = {reinterpret_cast<uintptr_t>(data_), untouched(bytes)};
    mprotect(map_, PAGE, PROT_NONE);
    mprotect(map_ + PAGE + used, PAGE, PROT_NONE);
}

Memory::Memory(Memory&& other) noexcept
    : map_(other.map_), map_bytes_(other.map_bytes_), data_(other.data_), bytes_(other.bytes_), closed_(other.closed_) {
    other.map_ = nullptr;
}

void Memory::close() {
    const auto canary = [&](const unsigned char* from, const unsigned char* to) {
        for (const unsigned char* byte = from; byte < to; byte++)
            if (*byte != CANARY)
                fail("a buffer of %zu bytes was written %td bytes from its begin", bytes_, byte - data_);
    };
    canary(map_ + PAGE, data_);
    canary(data_ + bytes_, map_ + map_bytes_ - PAGE);
    const auto region = regions.find(reinterpret_cast<uintptr_t>(data_ + bytes_));
    std::free(region->second.words);
    regions.erase(region);
    madvise(map_, map_bytes_, MADV_DONTNEED);
    mprotect(map_, map_bytes_, PROT_NONE);
    closed_ = true;
}

Memory::~Memory() {
    if (map_ == nullptr)
        return;
    if (!closed_)
        close();
    munmap(map_, map_bytes_);
}

} // namespace emulation

// ---- what `-fsanitize=thread` calls -----------------------------------------------------------------------------------------

#define EMULATION_ACCESS(bytes)                                                                                        \
    void __tsan_read##bytes(void* at) { emulation::touch_aligned(at, bytes, false); }                                  \
    void __tsan_write##bytes(void* at) { emulation::touch_aligned(at, bytes, true); }                                  \
    void __tsan_volatile_read##bytes(void* at) { emulation::touch_aligned(at, bytes, false); }                         \
    void __tsan_volatile_write##bytes(void* at) { emulation::touch_aligned(at, bytes, true); }                         \
    void __tsan_unaligned_read##bytes(void* at) { emulation::touch(at, bytes, false); }                                \
    void __tsan_unaligned_write##bytes(void* at) { emulation::touch(at, bytes, true); }
extern "C" {
EMULATION_ACCESS(1)
EMULATION_ACCESS(2)
EMULATION_ACCESS(4)
EMULATION_ACCESS(8)
EMULATION_ACCESS(16)
void __tsan_read_range(void* at, unsigned long bytes) { emulation::touch(at, bytes, false); }
void __tsan_write_range(void* at, unsigned long bytes) { emulation::touch(at, bytes, true); }
void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
    emulation::touch(from, bytes, false);
    emulation::touch(to, bytes, true);
    return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, size_t bytes) {
    emulation::touch(from, bytes, false);
    emulation::touch(to, bytes, true);
    return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, size_t bytes) {
    emulation::touch(to, bytes, true);
    return std::memset(to, value, bytes);
}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}
