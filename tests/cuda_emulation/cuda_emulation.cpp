// The machine behind cuda_emulation.h. Compiled without sanitizers: it defines what `-fsanitize=thread` calls.
#include "cuda_emulation.h"

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace emulation {
namespace {

constexpr size_t PAGE = 4096;
constexpr size_t STACK = 64 * 1024;
constexpr size_t MAX_THREADS = 1024;
constexpr size_t MAX_SHARED = 256 * 1024;

// ---- fibers -------------------------------------------------------------------------------------------------------

#if defined(__x86_64__)
// Saves what the calling convention lets a function keep, changes stacks, restores. `swapcontext` would make a system call.
extern "C" void emulation_switch(void** from, void* to);
asm(R"(
.text
.type emulation_switch, @function
emulation_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emulation_switch, .-emulation_switch
)");
struct Context {
    void* stack_pointer = nullptr;
    void make(unsigned char* stack_end, void (*entry)()) {
        auto* top = reinterpret_cast<void**>(stack_end);
        *--top = nullptr; // where a return address would be: the alignment is that behind a call
        *--top = reinterpret_cast<void*>(entry);
        for (int i = 0; i < 6; i++)
            *--top = nullptr;
        stack_pointer = top;
    }
    static void change(Context& from, Context& to) { emulation_switch(&from.stack_pointer, to.stack_pointer); }
};
#else
struct Context {
    ucontext_t context;
    void make(unsigned char* stack_end, void (*entry)()) {
        getcontext(&context);
        context.uc_stack.ss_sp = stack_end - STACK;
        context.uc_stack.ss_size = STACK;
        context.uc_link = nullptr;
        makecontext(&context, entry, 0);
    }
    static void change(Context& from, Context& to) { swapcontext(&from.context, &to.context); }
};
#endif

struct Copy {
    unsigned char* shared;
    const unsigned char* global;
    bool valid;
};

enum class State { ready, waiting, done };

struct Thread {
    Context context;
    State state;
    uint3 index;
    int rank;
    const char* file; // where it waits
    int line;
    int barrier_result;
    std::vector<std::vector<Copy>> groups; // committed cp.async groups, oldest first
    std::vector<Copy> open;                // copies issued since
};

/// A meeting of some lanes of a warp, kept under its lowest lane.
struct Meeting {
    unsigned mask = 0;
    unsigned arrived = 0;
    const char* file = nullptr;
    int line = 0;
    bool orders_memory = false;
    void* brought[32];
    WarpWork work = nullptr;
};

struct Warp {
    uint32_t epoch; // grows with each __syncwarp of all its lanes
    Meeting meetings[32];
};

struct NamedBarrier {
    int threads = 0;
    std::vector<int> arrived;
};

struct Machine {
    const char* kernel = nullptr;
    const std::function<void()>* body = nullptr;
    dim3 grid, block;
    uint3 block_at{};
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    NamedBarrier named[16];
    Context scheduler;
    Thread* current = nullptr;
    unsigned char* stacks = nullptr;
    // The block's barrier.
    int arrived = 0;
    int exited = 0;
    const char* barrier_file = nullptr;
    int barrier_line = 0;
    Vote barrier_vote = Vote::none;
    int barrier_count = 0;
    // Shared memory: the thread-local segment, and a mapping.
    unsigned char* fixed = nullptr;
    size_t fixed_bytes = 0;
    unsigned char* dynamic_map = nullptr;
    unsigned char* dynamic = nullptr;
    size_t dynamic_bytes = 0;
    uint32_t epoch = 1;       // grows with each barrier and each block
    uint32_t block_epoch = 1; // of the block's begin
};
Machine machine;

// ---- what was touched, by byte ----------------------------------------------------------------------------------------

struct Touch {
    uint32_t epoch = 0;
    uint32_t warp_epoch = 0;
    int16_t thread = -1;
    bool atomic = false;
};
struct Shadow {
    Touch write;
    Touch read;
    Touch other_read; // the last read by another thread than `read`'s
    bool pending = false;
};
/// Four bytes. Mostly they are touched together: then the first one's shadow stands for all.
struct Word {
    Shadow bytes[4];
    bool together = true;
};
Word* fixed_shadow;
Word* dynamic_shadow;

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
        if (whole && word.together) {
            visit(word.bytes[0], at);
            at += 4;
            continue;
        }
        if (word.together) {
            word.bytes[1] = word.bytes[2] = word.bytes[3] = word.bytes[0];
            word.together = false;
        }
        const size_t stop = std::min(end, at / 4 * 4 + 4);
        for (; at < stop; at++)
            visit(word.bytes[at % 4], at);
        word.together = whole && joins;
    }
}

void touch(const void* pointer, size_t bytes, bool write, bool atomic = false) {
    if (machine.current == nullptr)
        return;
    const char* region = nullptr;
    size_t offset = 0;
    Word* words = shadow_of(reinterpret_cast<uintptr_t>(pointer), bytes, region, offset);
    if (words == nullptr)
        return;
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

// ---- running ------------------------------------------------------------------------------------------------------------

void wait(const char* file, int line) {
    Thread& self = *machine.current;
    self.state = State::waiting;
    self.file = file;
    self.line = line;
    Context::change(self.context, machine.scheduler);
}

void fiber() {
    (*machine.body)();
    Thread& self = *machine.current;
    if (!self.open.empty() || !self.groups.empty())
        fail("the thread ends with cp.async copies that were never waited for");
    if (machine.arrived > 0)
        fail("the thread ends while %d threads wait at the barrier in %s:%d", machine.arrived, machine.barrier_file,
             machine.barrier_line);
    machine.exited++;
    self.state = State::done;
    Context::change(self.context, machine.scheduler);
    std::abort();
}

void on_fault(int, siginfo_t* info, void*) {
    if (machine.current == nullptr) {
        constexpr char message[] = "the driver itself touched memory that is not there\n";
        (void)!write(2, message, sizeof message - 1);
        _exit(1);
    }
    fail("access to %p, outside every buffer", info->si_addr);
}

void start() {
    if (machine.stacks != nullptr)
        return;
    // Only the program's own segment: libraries keep theirs.
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void*) {
            for (int i = 0; i < info->dlpi_phnum; i++) {
                if (info->dlpi_phdr[i].p_type == PT_TLS) {
                    machine.fixed = static_cast<unsigned char*>(info->dlpi_tls_data);
                    machine.fixed_bytes = info->dlpi_phdr[i].p_memsz;
                }
            }
            return 1; // the first is the program
        },
        nullptr);
    auto map = [](size_t bytes) {
        void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            fail("no memory for the emulation");
        return static_cast<unsigned char*>(memory);
    };
    machine.stacks = map(MAX_THREADS * STACK);
    for (size_t i = 0; i < MAX_THREADS; i++)
        mprotect(machine.stacks + i * STACK, PAGE, PROT_NONE);
    machine.dynamic_map = map(MAX_SHARED + PAGE);
    machine.dynamic = machine.dynamic_map;
    fixed_shadow = new Word[machine.fixed_bytes / 4 + 1];
    dynamic_shadow = new Word[MAX_SHARED / 4];
    static unsigned char signal_stack[64 * 1024];
    stack_t alternative{};
    alternative.ss_sp = signal_stack;
    alternative.ss_size = sizeof signal_stack;
    sigaltstack(&alternative, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
}

void run_block() {
    machine.epoch++;
    machine.block_epoch = machine.epoch;
    // NaN in every float format: what is wrongly read shows in results too.
    std::memset(machine.fixed, 0xff, machine.fixed_bytes);
    std::memset(machine.dynamic, 0xff, machine.dynamic_bytes);
    for (size_t rank = 0; rank < machine.threads.size(); rank++) {
        Thread& thread = machine.threads[rank];
        thread.state = State::ready;
        thread.context.make(machine.stacks + (rank + 1) * STACK, fiber);
    }
    for (Warp& warp : machine.warps)
        warp.epoch++;
    machine.exited = 0;
    const int count = static_cast<int>(machine.threads.size());
    while (machine.exited < count) {
        bool progress = false;
        for (Thread& thread : machine.threads) {
            if (thread.state != State::ready)
                continue;
            progress = true;
            machine.current = &thread;
            Context::change(machine.scheduler, thread.context);
            machine.current = nullptr;
        }
        if (!progress) {
            for (Thread& thread : machine.threads) {
                if (thread.state == State::waiting) {
                    machine.current = &thread;
                    fail("it waits at %s:%d for threads that ended or wait elsewhere", thread.file, thread.line);
                }
            }
        }
    }
}

float register_value(unsigned bits, int part, bool bf16) {
    const auto value = static_cast<uint16_t>(bits >> (16 * part));
    return bf16 ? bf16_to_float(value) : half_to_float(value);
}

} // namespace

void fail(const char* format, ...) {
    std::fflush(stdout);
    std::fprintf(stderr, "kernel %s", machine.kernel == nullptr ? "(none)" : machine.kernel);
    if (machine.current != nullptr) {
        const uint3 thread = machine.current->index;
        std::fprintf(stderr, ", block (%u, %u, %u), thread (%u, %u, %u)", machine.block_at.x, machine.block_at.y,
                     machine.block_at.z, thread.x, thread.y, thread.z);
    }
    std::fprintf(stderr, ": ");
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "\n");
    std::fflush(stderr);
    _exit(1);
}

void launch(const char* name, dim3 grid, dim3 block, size_t shared, const std::function<void()>& kernel) {
    start();
    machine.kernel = name;
    const size_t count = static_cast<size_t>(block.x) * block.y * block.z;
    const size_t blocks = static_cast<size_t>(grid.x) * grid.y * grid.z;
    if (count == 0 || count > MAX_THREADS || blocks == 0 || grid.y > 65535 || grid.z > 65535)
        fail("no device takes blocks of %zu threads in a grid of (%u, %u, %u)", count, grid.x, grid.y, grid.z);
    if (shared + machine.fixed_bytes > MAX_SHARED || shared > 227 * 1024)
        fail("%zu bytes of dynamic shared memory are too many", shared);
    machine.body = &kernel;
    machine.grid = grid;
    machine.block = block;
    machine.dynamic_bytes = shared;
    machine.threads.resize(count);
    machine.warps.resize((count + 31) / 32);
    for (size_t rank = 0; rank < count; rank++) {
        Thread& thread = machine.threads[rank];
        thread.rank = static_cast<int>(rank);
        const auto r = static_cast<unsigned>(rank);
        thread.index = {r % block.x, r / block.x % block.y, r / block.x / block.y};
    }
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                machine.block_at = {x, y, z};
                run_block();
            }
    machine.kernel = nullptr;
}

uint3 thread_index() { return machine.current->index; }
uint3 block_index() { return machine.block_at; }
dim3 block_size() { return machine.block; }
dim3 grid_size() { return machine.grid; }
unsigned char* dynamic_shared() { return machine.dynamic; }
unsigned lane() { return static_cast<unsigned>(machine.current->rank) % 32; }

int barrier(const char* file, int line, Vote vote, int predicate) {
    Thread& self = *machine.current;
    if (machine.exited > 0)
        fail("it comes to the barrier in %s:%d, but %d threads have ended", file, line, machine.exited);
    if (machine.arrived == 0) {
        machine.barrier_file = file;
        machine.barrier_line = line;
        machine.barrier_vote = vote;
        machine.barrier_count = 0;
    } else if (machine.barrier_line != line || std::strcmp(machine.barrier_file, file) != 0 || machine.barrier_vote != vote) {
        fail("it comes to the barrier in %s:%d while others wait at the one in %s:%d", file, line, machine.barrier_file,
             machine.barrier_line);
    }
    machine.arrived++;
    machine.barrier_count += predicate != 0;
    if (machine.arrived < static_cast<int>(machine.threads.size())) {
        wait(file, line);
        return self.barrier_result;
    }
    const int all = static_cast<int>(machine.threads.size());
    const int result = vote == Vote::count ? machine.barrier_count
                       : vote == Vote::any ? machine.barrier_count > 0
                                           : machine.barrier_count == all;
    machine.arrived = 0;
    machine.epoch++;
    for (Thread& thread : machine.threads) {
        thread.barrier_result = result;
        thread.state = State::ready;
    }
    return result;
}

void named_barrier(const char* file, int line, int id, int threads) {
    if (id < 1 || id > 15 || threads % 32 != 0)
        fail("barrier %d of %d threads: numbers are 1 to 15, threads whole warps", id, threads);
    NamedBarrier& named = machine.named[id];
    if (!named.arrived.empty() && named.threads != threads)
        fail("barrier %d is for %d threads here and for %d elsewhere", id, threads, named.threads);
    named.threads = threads;
    named.arrived.push_back(machine.current->rank);
    if (static_cast<int>(named.arrived.size()) < threads) {
        wait(file, line);
        return;
    }
    // Taken as ordering the whole block: races between its threads and others are not seen here.
    machine.epoch++;
    for (const int rank : named.arrived)
        machine.threads[rank].state = State::ready;
    named.arrived.clear();
}

namespace {
void meet_lanes(const char* file, int line, unsigned mask, void* mine, WarpWork work, bool orders_memory) {
    Thread& self = *machine.current;
    Warp& warp = machine.warps[self.rank / 32];
    const unsigned at = lane();
    if (!(mask >> at & 1))
        fail("the mask %08x of the warp operation in %s:%d leaves out the lane that calls it", mask, file, line);
    Meeting& meeting = warp.meetings[__builtin_ctz(mask)];
    if (meeting.arrived == 0) {
        meeting.mask = mask;
        meeting.file = file;
        meeting.line = line;
        meeting.work = work;
        meeting.orders_memory = orders_memory;
    } else if (meeting.mask != mask || meeting.line != line || std::strcmp(meeting.file, file) != 0) {
        fail("the warp operation in %s:%d with mask %08x, while other lanes are at %s:%d with mask %08x", file, line, mask,
             meeting.file, meeting.line, meeting.mask);
    }
    meeting.brought[at] = mine;
    meeting.arrived |= 1u << at;
    if (meeting.arrived != mask) {
        wait(file, line);
        return;
    }
    if (meeting.work != nullptr)
        meeting.work(meeting.brought, mask);
    // Orders the whole warp: with a part of the lanes, races between them and the rest are not seen.
    if (orders_memory)
        warp.epoch++;
    meeting.arrived = 0;
    const size_t first = static_cast<size_t>(self.rank) / 32 * 32;
    for (size_t i = 0; i < 32; i++)
        if (mask >> i & 1)
            machine.threads[first + i].state = State::ready;
}
} // namespace

void meet(const char* file, int line, unsigned mask, void* mine, WarpWork work) {
    meet_lanes(file, line, mask, mine, work, false);
}
void warp_barrier(const char* file, int line, unsigned mask) { meet_lanes(file, line, mask, nullptr, nullptr, true); }

unsigned ballot(const char* file, int line, unsigned mask, int predicate) {
    unsigned mine = predicate != 0;
    meet(file, line, mask, &mine, [](void* const* lanes, unsigned mask) {
        unsigned votes = 0;
        for (int i = 0; i < 32; i++)
            if (mask >> i & 1)
                votes |= *static_cast<unsigned*>(lanes[i]) << i;
        for (int i = 0; i < 32; i++)
            if (mask >> i & 1)
                *static_cast<unsigned*>(lanes[i]) = votes;
    });
    return mine;
}

unsigned match_any(const char* file, int line, unsigned mask, unsigned long long value) {
    struct Match {
        unsigned long long value;
        unsigned same;
    } mine{value, 0};
    meet(file, line, mask, &mine, [](void* const* lanes, unsigned mask) {
        for (int i = 0; i < 32; i++)
            for (int j = 0; j < 32; j++)
                if ((mask >> i & 1) && (mask >> j & 1)) {
                    auto& match = *static_cast<Match*>(lanes[i]);
                    match.same |= static_cast<unsigned>(match.value == static_cast<Match*>(lanes[j])->value) << j;
                }
    });
    return mine.same;
}

unsigned reduce(const char* file, int line, unsigned mask, unsigned value, Reduce how, bool is_signed) {
    struct Part {
        unsigned value;
        Reduce how;
        bool is_signed;
    } mine{value, how, is_signed};
    meet(file, line, mask, &mine, [](void* const* lanes, unsigned mask) {
        const auto& first = *static_cast<Part*>(lanes[__builtin_ctz(mask)]);
        unsigned total = first.value;
        for (int i = __builtin_ctz(mask) + 1; i < 32; i++) {
            if (!(mask >> i & 1))
                continue;
            const unsigned next = static_cast<Part*>(lanes[i])->value;
            const bool less = first.is_signed ? static_cast<int>(next) < static_cast<int>(total) : next < total;
            switch (first.how) {
            case Reduce::add: total += next; break;
            case Reduce::min: total = less ? next : total; break;
            case Reduce::max: total = less ? total : next; break;
            case Reduce::bit_and: total &= next; break;
            case Reduce::bit_or: total |= next; break;
            case Reduce::bit_xor: total ^= next; break;
            }
        }
        for (int i = 0; i < 32; i++)
            if (mask >> i & 1)
                static_cast<Part*>(lanes[i])->value = total;
    });
    return mine.value;
}

void touch_atomically(void* address, size_t bytes) { touch(address, bytes, true, true); }

// ---- cp.async -----------------------------------------------------------------------------------------------------------

void cp_async_16(void* shared, const void* global, bool valid) {
    if (reinterpret_cast<uintptr_t>(shared) % 16 != 0 || reinterpret_cast<uintptr_t>(global) % 16 != 0)
        fail("cp.async of 16 bytes with an address that is no multiple of 16");
    const char* region = nullptr;
    size_t offset = 0;
    Word* words = shadow_of(reinterpret_cast<uintptr_t>(shared), 16, region, offset);
    if (words == nullptr)
        fail("cp.async to an address that is not in shared memory");
    // The copy may land at once: from here on nobody may count on the old bytes, nor on the new ones.
    touch(shared, 16, true);
    std::memset(shared, 0xff, 16);
    for_shadows(words, offset, 16, false, [](Shadow& shadow, size_t) { shadow.pending = true; });
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
            if (copy.valid)
                std::memcpy(copy.shared, copy.global, 16);
            else
                std::memset(copy.shared, 0, 16);
            touch(copy.shared, 16, true);
        }
        self.groups.erase(self.groups.begin());
    }
}

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

// ---- memory ---------------------------------------------------------------------------------------------------------------

namespace {
constexpr unsigned char CANARY = 0xa5;
}

Memory::Memory(size_t bytes) : bytes_(bytes) {
    const size_t used = (bytes + PAGE - 1) / PAGE * PAGE;
    map_bytes_ = used + 2 * PAGE;
    void* map = mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        fail("no memory for %zu bytes", bytes);
    map_ = static_cast<unsigned char*>(map);
    std::memset(map_ + PAGE, CANARY, used);
    // As far back as 16-byte alignment lets it be: at most 15 bytes are left behind the end, canaries all.
    data_ = map_ + PAGE + used - (bytes + 15) / 16 * 16;
    std::memset(data_, 0xff, bytes);
    mprotect(map_, PAGE, PROT_NONE);
    mprotect(map_ + PAGE + used, PAGE, PROT_NONE);
}

Memory::Memory(Memory&& other) noexcept
    : map_(other.map_), map_bytes_(other.map_bytes_), data_(other.data_), bytes_(other.bytes_) {
    other.map_ = nullptr;
}

Memory::~Memory() {
    if (map_ == nullptr)
        return;
    for (unsigned char* byte = map_ + PAGE; byte < map_ + map_bytes_ - PAGE; byte++)
        if ((byte < data_ || byte >= data_ + bytes_) && *byte != CANARY)
            fail("a buffer of %zu bytes was written %td bytes from its begin", bytes_, byte - data_);
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
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}
