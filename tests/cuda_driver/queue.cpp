// Streams and events: what was queued, and what of it runs when.
#include "driver.h"

#include <unistd.h>

namespace imitation {
namespace {

std::set<Stream*>& streams() {
    static std::set<Stream*> all;
    return all;
}

std::mt19937_64& random() {
    static std::mt19937_64 numbers(settings().seed);
    return numbers;
}

bool can_run(const Stream* stream) {
    if (stream->queued.empty())
        return false;
    const Operation& next = stream->queued.front();
    return next.awaited == nullptr || next.awaited->done >= next.record;
}

/// Runs the next operation of one of the streams that can go on; false if none can.
bool run_one() {
    std::vector<Stream*> ready;
    std::copy_if(streams().begin(), streams().end(), std::back_inserter(ready), can_run);
    if (ready.empty())
        return false;
    Stream* stream = ready[random()() % ready.size()];
    const Operation operation = std::move(stream->queued.front());
    stream->queued.pop_front();
    if (operation.run)
        operation.run();
    return true;
}

template <typename Done> void run_until(Done done) {
    for (long waited = 0; !done();) {
        if (run_one())
            continue;
        const std::string late = late_rank();
        if (late.empty())
            broken_rule("waiting for work that waits for an event that nobody will record");
        if (waited++ >= settings().patience)
            broken_rule("%s", late.c_str());
        // Another thread may yet queue it.
        mutex().unlock();
        usleep(1000);
        mutex().lock();
    }
}

/// The device may have gone on by itself.
void let_run() {
    switch (settings().seed % 3) {
    case 1:
        while (run_one()) {
        }
        break;
    case 2:
        while (random()() % 4 == 0 && run_one()) {
        }
        break;
    default:
        break;
    }
}

} // namespace

Stream& stream_of(void* handle, const char* call) {
    const auto per_thread = reinterpret_cast<void*>(2), legacy = reinterpret_cast<void*>(1);
    if (handle == nullptr || handle == legacy || handle == per_thread)
        return *need_current(call).default_stream;
    auto* stream = static_cast<Stream*>(handle);
    if (streams().count(stream) == 0)
        broken_rule("%s: no such stream", call);
    return *stream;
}

Stream* new_stream(Device& device) {
    auto* stream = new Stream{&device, {}};
    streams().insert(stream);
    return stream;
}

void end_stream(Stream* stream) {
    finish(*stream);
    streams().erase(stream);
    delete stream;
}

void enqueue(Stream& stream, std::string name, std::function<void()> run) {
    counts()[name]++;
    stream.queued.push_back({std::move(name), std::move(run), nullptr, 0});
    let_run();
}

void record(Stream& stream, const std::shared_ptr<Event>& event) {
    if (event->device != stream.device)
        broken_rule("an event of device %d is recorded in a stream of device %d", event->device->ordinal, stream.device->ordinal);
    const uint64_t number = ++event->recorded;
    enqueue(stream, "event", [event, number] {
        event->done = number;
        event->time = static_cast<double>(clock()) / CLOCKS_PER_SEC;
    });
}

void wait_for(Stream& stream, const std::shared_ptr<Event>& event) {
    stream.queued.push_back({"wait for an event", {}, event, event->recorded});
    let_run();
}

void finish(Stream& stream) {
    run_until([&] { return stream.queued.empty(); });
}

// Of an event that was never recorded nothing is waited for: so does the real driver.
void finish(Event& event) {
    const uint64_t number = event.recorded;
    run_until([&] { return event.done >= number; });
}

void finish(Device& device) {
    run_until([&] {
        return std::all_of(streams().begin(), streams().end(),
                           [&](Stream* stream) { return stream->device != &device || stream->queued.empty(); });
    });
}

} // namespace imitation
