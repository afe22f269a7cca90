// The machine behind cuda_emulation.h: threads as fibers, barriers, warps. Compiled without sanitizers: together with
// emulated_memory.h it defines what `-fsanitize=thread` calls. One program has one machine, hence one source file.
#include "cuda_emulation.h"

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <link.h>
#include <map>
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

struct Product {
    float* c;
    int width;
    const unsigned* a;
    uint64_t left, right;
    bool add, bf16;
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
    std::vector<std::vector<Product>> product_groups; // committed wgmma groups, oldest first
    std::vector<Product> open_products;               // products issued since
    bool unpublished; // it wrote shared memory that wgmma may not read yet
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

struct Machine {
    const char* kernel = nullptr;
    const std::function<void()>* body = nullptr;
    dim3 grid, block;
    uint3 block_at{};
    std::vector<Thread> threads;
    std::vector<Warp> warps;
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
    uint32_t launch_epoch = 1; // of the launch's
};
Machine machine;

} // namespace
void (*explain_fault)(const void* address) = nullptr;
} // namespace emulation

#include "emulated_memory.h"
#include "emulated_numbers.h"

namespace emulation {
namespace {

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
    if (!self.open_products.empty() || !self.product_groups.empty())
        fail("the thread ends with wgmma products that were never waited for");
    if (machine.arrived > 0)
        fail("the thread ends while %d threads wait at the barrier in %s:%d", machine.arrived, machine.barrier_file,
             machine.barrier_line);
    machine.exited++;
    self.state = State::done;
    Context::change(self.context, machine.scheduler);
    std::abort();
}

void on_fault(int, siginfo_t* info, void*) {
    if (explain_fault != nullptr)
        explain_fault(info->si_addr);
    if (machine.current == nullptr) {
        constexpr char message[] = "the driver itself touched memory that is not there\n";
        (void)!write(2, message, sizeof message - 1);
        _exit(1);
    }
    fail("access to %p, outside every buffer", info->si_addr);
}

} // namespace

void catch_faults() {
    stack_t alternative{};
    alternative.ss_size = STACK;
    alternative.ss_sp = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaltstack(&alternative, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
}

namespace {

/// The thread-local segment of the program or library that holds the kernels: their static shared memory. Each thread of the
/// host has its own.
void find_static_shared() {
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void*) {
            const auto here = reinterpret_cast<uintptr_t>(&machine) - info->dlpi_addr;
            bool ours = false;
            for (int i = 0; i < info->dlpi_phnum; i++) {
                const auto& segment = info->dlpi_phdr[i];
                ours |= segment.p_type == PT_LOAD && here >= segment.p_vaddr && here - segment.p_vaddr < segment.p_memsz;
            }
            for (int i = 0; ours && i < info->dlpi_phnum; i++) {
                if (info->dlpi_phdr[i].p_type == PT_TLS) {
                    machine.fixed = static_cast<unsigned char*>(info->dlpi_tls_data);
                    machine.fixed_bytes = info->dlpi_phdr[i].p_memsz;
                }
            }
            return ours ? 1 : 0;
        },
        nullptr);
}

void start() {
    find_static_shared();
    if (machine.stacks != nullptr)
        return;
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
    fixed_shadow = untouched(machine.fixed_bytes);
    dynamic_shadow = untouched(MAX_SHARED);
    catch_faults();
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
        thread.unpublished = false;
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
    machine.launch_epoch = machine.epoch + 1;
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

} // namespace emulation
