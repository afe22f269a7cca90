// NCCL, as far as programs here call it: sums over the devices of one process. A rank's part of a sum is work of its stream: it
// arrives, waits until all ranks have, and goes on with the result. The first sum of each range of sizes also connects the ranks: its
// call takes memory, and returns on none before all ranks have made it.
#include "driver.h"

#include <unistd.h>

namespace {

using namespace imitation;

/// As in nccl.h.
enum NcclResult { OK = 0, UNHANDLED_CUDA_ERROR = 1, INTERNAL_ERROR = 3, INVALID_ARGUMENT = 4, INVALID_USAGE = 5 };
enum NcclType { FLOAT16 = 6, FLOAT32 = 7, BFLOAT16 = 9 };

float read(int type, const void* numbers, size_t i) {
    switch (type) {
    case FLOAT16:
        return emulation::half_to_float(static_cast<const uint16_t*>(numbers)[i]);
    case FLOAT32:
        return static_cast<const float*>(numbers)[i];
    default:
        return emulation::bf16_to_float(static_cast<const uint16_t*>(numbers)[i]);
    }
}

void write(int type, void* numbers, size_t i, float value) {
    switch (type) {
    case FLOAT16:
        static_cast<uint16_t*>(numbers)[i] = emulation::float_to_half(value);
        break;
    case FLOAT32:
        static_cast<float*>(numbers)[i] = value;
        break;
    default:
        static_cast<uint16_t*>(numbers)[i] = emulation::float_to_bf16(value);
    }
}

float rounded(int type, float value) {
    uint32_t room = 0;
    write(type, &room, 0, value);
    return read(type, &room, 0);
}

/// One rank's part of a sum.
struct Part {
    bool queued = false, arrived = false, aborted = false, done = false;
    const void* from = nullptr;
    std::shared_ptr<Event> gate;
};

struct Sum {
    uint64_t number;
    size_t count;
    int type;
    std::vector<Part> parts;
    std::vector<float> result;

    bool is_complete() const {
        return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.arrived && !part.aborted; });
    }
    bool is_over() const {
        return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.done || part.aborted; });
    }

    /// Rank after rank, rounded each time, as numbers go from one device to the next.
    void add_up() {
        result.resize(count);
        for (size_t i = 0; i < count; i++) {
            result[i] = read(type, parts[0].from, i);
            for (size_t rank = 1; rank < parts.size(); rank++)
                result[i] = rounded(type, result[i] + read(type, parts[rank].from, i));
        }
        for (Part& part : parts)
            part.gate->done = 1;
    }
};

struct Communicators {
    int ranks;
    /// By range of sizes the ranks that connected, or wait for the others.
    std::map<int, std::set<int>> connected;
    std::map<uint64_t, std::shared_ptr<Sum>> sums;
};

struct Communicator {
    std::shared_ptr<Communicators> all;
    int rank;
    Device* device;
    /// What the real one takes of its device.
    std::vector<void*> memory;
    uint64_t next = 0;
};

std::set<Communicator*>& communicators() {
    static std::set<Communicator*> all;
    return all;
}

Communicator& communicator(void* handle, const char* call) {
    auto* found = static_cast<Communicator*>(handle);
    if (communicators().count(found) == 0)
        broken_rule("%s: no such communicator", call);
    return *found;
}

void end(Communicator& one) {
    for (void* memory : one.memory)
        release(*one.device->default_stream, memory);
    communicators().erase(&one);
    delete &one;
}

/// Waits for the other ranks where that has not been done for sums of so many bytes; false without memory.
bool connect(void* handle, size_t bytes) {
    const std::shared_ptr<Communicators> all = communicator(handle, "ncclAllReduce").all;
    const int rank = communicator(handle, "ncclAllReduce").rank, range = bytes < 1 << 10 ? 0 : bytes < 1 << 16 ? 1 : 2;
    std::set<int>& came = all->connected[range];
    if (!came.insert(rank).second)
        return true;
    for (long waited = 0; came.size() < static_cast<size_t>(all->ranks); waited++) {
        if (waited >= settings().patience)
            broken_rule("%zu of %d ranks connect for sums of %zu bytes, and rank %d waits for the others inside ncclAllReduce", came.size(),
                        all->ranks, bytes, rank);
        // Another thread may yet come.
        mutex().unlock();
        usleep(1000);
        mutex().lock();
    }
    counts()["connection"]++;
    Communicator& own = communicator(handle, "ncclAllReduce");
    void* memory = allocate(*own.device, 1 << 16);
    if (memory != nullptr)
        own.memory.push_back(memory);
    return memory != nullptr;
}

} // namespace

std::string imitation::late_rank() {
    for (const Communicator* one : communicators())
        for (const auto& [number, sum] : one->all->sums) {
            const Part& own = sum->parts[static_cast<size_t>(one->rank)];
            if (own.queued && !own.done && !own.aborted)
                for (size_t rank = 0; rank < sum->parts.size(); rank++)
                    if (!sum->parts[rank].queued)
                        return "rank " + std::to_string(rank) + " of " + std::to_string(sum->parts.size()) + " never came to sum " +
                               std::to_string(number) + " of " + std::to_string(sum->count) + " numbers, which rank " +
                               std::to_string(one->rank) + " waits for";
        }
    return "";
}

extern "C" {

int ncclGetVersion(int* version) {
    *version = 22703;
    return OK;
}

const char* ncclGetErrorString(int code) {
    switch (code) {
    case OK:
        return "no error";
    case UNHANDLED_CUDA_ERROR:
        return "unhandled cuda error";
    case INTERNAL_ERROR:
        return "internal error";
    case INVALID_ARGUMENT:
        return "invalid argument";
    case INVALID_USAGE:
        return "invalid usage";
    default:
        return "unknown result code";
    }
}

int ncclCommInitAll(void** handles, int count, const int* ordinals) {
    Lock lock(mutex());
    if (count < 1 || std::any_of(ordinals, ordinals + count, [](int at) { return at < 0 || at >= settings().devices; }))
        return INVALID_ARGUMENT;
    if (std::set<int>(ordinals, ordinals + count).size() != static_cast<size_t>(count))
        return INVALID_USAGE;
    auto all = std::make_shared<Communicators>();
    all->ranks = count;
    std::vector<Communicator*> made;
    for (int rank = 0; rank < count; rank++) {
        Device& on = device(ordinals[rank]);
        void* memory = allocate(on, 1 << 16);
        if (memory == nullptr) {
            std::for_each(made.begin(), made.end(), [](Communicator* one) { end(*one); });
            return UNHANDLED_CUDA_ERROR;
        }
        made.push_back(new Communicator{all, rank, &on, {memory}});
        communicators().insert(made.back());
    }
    std::copy(made.begin(), made.end(), handles);
    return OK;
}

int ncclAllReduce(const void* from, void* to, size_t count, int type, int operation, void* handle, void* on) {
    Lock lock(mutex());
    Communicator& own = communicator(handle, "ncclAllReduce");
    need_current("ncclAllReduce", own.device);
    Stream& stream = stream_of(on, "ncclAllReduce");
    if (stream.device != own.device)
        broken_rule("ncclAllReduce: rank %d is on device %d, and the stream on device %d", own.rank, own.device->ordinal,
                    stream.device->ordinal);
    if (operation != 0 || (type != FLOAT16 && type != FLOAT32 && type != BFLOAT16))
        broken_rule("ncclAllReduce: operation %d on numbers of type %d is not imitated", operation, type);
    const size_t bytes = count * (type == FLOAT32 ? 4 : 2);
    if (!connect(handle, bytes))
        return UNHANDLED_CUDA_ERROR;
    if (++counts()["call of a sum"] == static_cast<uint64_t>(settings().fail_sum))
        return INTERNAL_ERROR;
    const bool is_wrong = counts()["call of a sum"] == static_cast<uint64_t>(settings().wrong_sum);
    check_memory("a sum, its source", from, bytes, *own.device);
    check_memory("a sum, its target", to, bytes, *own.device);
    const uint64_t number = own.next++;
    std::shared_ptr<Sum>& there = own.all->sums[number];
    if (there == nullptr) {
        there = std::make_shared<Sum>(Sum{number, count, type, {}, {}});
        there->parts.resize(static_cast<size_t>(own.all->ranks));
    } else if (there->count != count || there->type != type) {
        broken_rule("sum %" PRIu64 ": rank %d has %zu numbers of type %d, and another rank %zu of type %d", number, own.rank, count, type,
                    there->count, there->type);
    }
    const std::shared_ptr<Sum> sum = there;
    const std::shared_ptr<Communicators> all = own.all;
    const auto rank = static_cast<size_t>(own.rank);
    Part& part = sum->parts[rank];
    part.queued = true;
    part.from = from;
    part.gate = std::make_shared<Event>(Event{own.device, false});
    part.gate->recorded = 1;
    enqueue(stream, "arrival at a sum", [sum, rank] {
        sum->parts[rank].arrived = true;
        if (sum->is_complete())
            sum->add_up();
    });
    wait_for(stream, part.gate);
    enqueue(stream, "sum", [=] {
        const bool has_result = !sum->result.empty() || count == 0;
        for (size_t i = 0; i < count && settings().compute; i++)
            write(type, to, i, has_result ? sum->result[i] + (is_wrong ? 100.0f * static_cast<float>(i % 7) : 0.0f) : NAN);
        sum->parts[rank].done = true;
        if (sum->is_over())
            all->sums.erase(number);
    });
    return OK;
}

/// Nothing of it may be queued any more.
int ncclCommDestroy(void* handle) {
    Lock lock(mutex());
    Communicator& own = communicator(handle, "ncclCommDestroy");
    for (const auto& [number, sum] : own.all->sums) {
        const Part& part = sum->parts[static_cast<size_t>(own.rank)];
        if (part.queued && !part.done)
            broken_rule("rank %d is destroyed while its sum %" PRIu64 " is queued", own.rank, number);
    }
    end(own);
    return OK;
}

/// What is queued of it ends without a result; other ranks go on waiting.
int ncclCommAbort(void* handle) {
    Lock lock(mutex());
    Communicator& own = communicator(handle, "ncclCommAbort");
    for (const auto& [number, sum] : own.all->sums) {
        Part& part = sum->parts[static_cast<size_t>(own.rank)];
        part.aborted = true;
        if (part.gate != nullptr)
            part.gate->done = 1;
    }
    end(own);
    return OK;
}

} // extern "C"
