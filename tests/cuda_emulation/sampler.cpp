// The sampler: against the semantics of crates/engine/src/engine/sampler.rs, sorted and in double precision.
#include "compare.h"
#include "sampler.cu"

#include <numeric>

namespace {

struct Expected {
    bool failed;
    unsigned token;
    /// Tokens whose place in the cumulative sum is within the tolerance of the draw.
    std::vector<unsigned> near;
};

/// What `draw` and `top_p` may be off by, relative to the sum.
constexpr double TOLERANCE = 1e-5;

/// As `choose_row` does it.
Expected choose(std::vector<float> logits, const Request& request, const std::vector<unsigned>& lists) {
    if (request.mask != NO_MASK)
        for (size_t token = 0; token < logits.size(); token++)
            if (!(lists[request.mask + token / 32] >> (token % 32) & 1) && !std::isnan(logits[token]))
                logits[token] = -INFINITY;
    unsigned likeliest = 0;
    float highest = -INFINITY;
    bool unordered = false;
    for (size_t token = 0; token < logits.size(); token++) {
        unordered |= std::isnan(logits[token]);
        if (logits[token] > highest) {
            highest = logits[token];
            likeliest = static_cast<unsigned>(token);
        }
    }
    if (unordered || !std::isfinite(highest))
        return {true, 0, {}};
    Expected expected{false, likeliest, {}};
    if (request.temperature > 0.0) {
        std::vector<std::pair<double, unsigned>> candidates;
        for (size_t i = 0; i < logits.size(); i++) {
            const double weight = std::exp(static_cast<double>(logits[i] - highest) / request.temperature);
            if (weight > 0.0)
                candidates.push_back({weight, static_cast<unsigned>(i)});
        }
        std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        if (request.top_k > 0 && request.top_k < candidates.size())
            candidates.resize(request.top_k);
        const auto total = [&] {
            double sum = 0.0;
            for (const auto& candidate : candidates)
                sum += candidate.first;
            return sum;
        };
        if (request.top_p < 1.0) {
            const double target = request.top_p * total();
            double sum = 0.0;
            for (size_t i = 0; i < candidates.size(); i++) {
                sum += candidates[i].first;
                if (sum >= target) {
                    candidates.resize(i + 1);
                    break;
                }
            }
        }
        while (candidates.size() > 1 && candidates.back().first < request.min_p)
            candidates.pop_back();
        const double whole = total(), target = request.draw * whole;
        double sum = 0.0;
        bool found = false;
        expected.token = candidates.back().second;
        for (const auto& [weight, id] : candidates) {
            if (target + TOLERANCE * whole >= sum && target - TOLERANCE * whole < sum + weight)
                expected.near.push_back(id);
            sum += weight;
            if (target < sum && !found) {
                expected.token = id;
                found = true;
            }
        }
    }
    return expected;
}

/// The expected number, or NaN where the token is no choice.
double number_of(const std::vector<float>& logits, const Request& request, const std::vector<unsigned>& lists, unsigned token) {
    double highest = -INFINITY, sum = 0.0, all = 0.0;
    bool chosen = false;
    for (const bool weigh : {false, true})
        for (unsigned i = 0; i < request.count; i++) {
            const unsigned choice = lists[request.choices + i];
            chosen |= choice == token;
            if (choice >= logits.size())
                continue;
            if (!weigh) {
                highest = std::max(highest, static_cast<double>(logits[choice]));
                continue;
            }
            const double mass = std::exp(static_cast<double>(logits[choice]) - highest);
            sum += mass * static_cast<double>(__uint_as_float(lists[request.choices + request.count + i]));
            all += mass;
        }
    return chosen && all > 0.0 ? sum / all : NAN;
}

struct Tally {
    size_t rows = 0, exact = 0;
};

/// Log-probabilities of tokens that `sample` chose, as `TokenLogprobs::of` has them; of every other row, with another count each.
void compare_logprobs(Comparison& comparison, const Buffer<float>& logits, const Buffer<unsigned>& chosen, int rows, int vocab,
                      int stride) {
    std::vector<unsigned> wanted;
    for (int row = 0; row < rows; row++)
        if (!(chosen[rows + row] & FAILED) && row % 2 == 0) {
            wanted.push_back(row);
            wanted.push_back(row * 3 % (MOST_LOGPROBS + 1));
        }
    const int count = static_cast<int>(wanted.size() / 2);
    if (count == 0)
        return;
    const Buffer<unsigned> sent(wanted);
    Buffer<unsigned> out(count * LOGPROB_WORDS);
    launch("logprobs_of", count, 512, 0, [&] {
        logprobs_of(out.data(), logits.data(), chosen.data(), sent.data(), vocab, stride);
    });
    for (int i = 0; i < count; i++) {
        const float* row = logits.data() + static_cast<size_t>(wanted[2 * i]) * stride;
        const unsigned* got = out.data() + i * LOGPROB_WORDS;
        const double highest = *std::max_element(row, row + vocab);
        double mass = 0.0;
        for (int token = 0; token < vocab; token++)
            mass += std::exp(row[token] - highest);
        const double total = highest + std::log(mass);
        std::vector<unsigned> order(vocab);
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return row[a] > row[b]; });
        comparison.close(i, __uint_as_float(got[0]), row[chosen[wanted[2 * i]]] - total, 1e-6);
        for (unsigned place = 0; place < MOST_LOGPROBS; place++) {
            const bool is_any = place < wanted[2 * i + 1] && place < order.size() && row[order[place]] > -INFINITY;
            comparison.equal(i, got[1 + 2 * place], is_any ? order[place] : NO_TOKEN);
            if (is_any)
                comparison.close(i, __uint_as_float(got[2 + 2 * place]), row[order[place]] - total, 1e-6);
        }
    }
}

/// Runs the rows and compares; rows of `logits` are `stride` apart.
void compare(const std::string& name, const Buffer<float>& logits, const std::vector<Request>& requests,
             const std::vector<unsigned>& lists, int vocab, int stride, Tally& tally) {
    const int rows = static_cast<int>(requests.size());
    const Buffer<Request> sent(requests);
    const Buffer<unsigned> sent_lists(lists);
    Buffer<unsigned> out(3 * rows);
    launch(name.c_str(), rows, 512, 65536, [&] {
        sample(out.data(), logits.data(), sent.data(), lists.empty() ? nullptr : sent_lists.data(), rows, vocab,
               stride);
    });
    Comparison comparison(name + ", vocabulary of " + std::to_string(vocab));
    for (int row = 0; row < rows; row++) {
        std::vector<float> values(vocab);
        for (int i = 0; i < vocab; i++)
            values[i] = logits[static_cast<size_t>(row) * stride + i];
        const Expected expected = choose(values, requests[row], lists);
        const unsigned token = out[row], flags = out[rows + row];
        bool within = token == expected.token;
        tally.rows++;
        tally.exact += within;
        for (int i = -1; i <= 1 && !within; i++) {
            Request near = requests[row];
            if (near.top_p < 1.0)
                near.top_p += i * TOLERANCE;
            const std::vector<unsigned> tokens = choose(values, near, lists).near;
            within = std::find(tokens.begin(), tokens.end(), token) != tokens.end();
        }
        comparison.equal(row, within ? expected.token : token, expected.token);
        const double number = expected.failed ? NAN : number_of(values, requests[row], lists, token);
        comparison.equal(row, flags, (expected.failed ? FAILED : 0) | (std::isnan(number) ? 0 : HAS_EXPECTED));
        if (std::isnan(number))
            comparison.is_nan(row, __uint_as_float(out[2 * rows + row]));
        else
            comparison.close(row, __uint_as_float(out[2 * rows + row]), number, 1e-6);
    }
    compare_logprobs(comparison, logits, out, rows, vocab, stride);
}

void random_rows(const char* name, Tally& tally) {
    for (const auto& [vocab, rows] : {std::pair(1, 6), {131, 12}, {3001, 30}}) {
        const int stride = (vocab + 15) / 8 * 8;
        Random random(vocab);
        Buffer<float> logits(static_cast<size_t>(rows) * stride); // NaN behind the vocabulary: it must not be seen
        std::vector<Request> requests(rows);
        std::vector<unsigned> lists;
        for (int row = 0; row < rows; row++) {
            const float spread = std::pow(2.0f, static_cast<float>(random.below(6)) - 1.0f);
            const float middle = 10.0f * random.normal();
            for (int i = 0; i < vocab; i++)
                logits[static_cast<size_t>(row) * stride + i] = middle + spread * random.normal();
            Request& request = requests[row];
            request.draw = row % 10 == 0 ? 1.0 - 0x1p-53 : row % 10 == 1 ? 0.0 : random.uniform();
            request.temperature = row % 6 == 5 ? 0.0 : 0.2 + 1.5 * random.uniform();
            request.top_k = row % 3 == 0 ? 0 : 1 + random.below(vocab + 3);
            request.top_p = row % 4 < 2 ? 1.0 : 0.05 + 0.95 * random.uniform();
            request.min_p = row % 5 < 3 ? 0.0 : std::pow(random.uniform(), 3);
            request.choices = static_cast<unsigned>(lists.size());
            request.count = row % 7 == 0 ? 0 : random.below(80);
            for (unsigned i = 0; i < request.count; i++)
                lists.push_back(random.below(vocab + 1));
            for (unsigned i = 0; i < request.count; i++)
                lists.push_back(__float_as_uint(static_cast<float>(random.below(11))));
            request.mask = NO_MASK;
            if (row % 3 == 1) {
                // From one word of tokens to nearly all.
                request.mask = static_cast<unsigned>(lists.size());
                const unsigned share = 1 + random.below(32);
                for (int word = 0; word < (vocab + 31) / 32; word++) {
                    unsigned bits = 0;
                    for (int bit = 0; bit < 32; bit++)
                        bits |= (random.below(32) < share ? 1u : 0u) << bit;
                    lists.push_back(word == 0 ? bits | 1u : bits);
                }
            }
        }
        compare(name, logits, requests, lists, vocab, stride, tally);
    }
}

void odd_rows(const char* name, Tally& tally) {
    constexpr int VOCAB = 24;
    std::vector<std::vector<float>> rows;
    std::vector<Request> requests;
    // Two for yes and two for no; a mask of tokens 1, 2 and 5; an empty one.
    std::vector<unsigned> lists = {3, 5, 5, 7, __float_as_uint(1.0f), __float_as_uint(1.0f), 0, 0, 0x26, 0};
    const auto add = [&](std::vector<float> row, Request request) {
        row.resize(VOCAB, -INFINITY);
        rows.push_back(row);
        requests.push_back(request);
    };
    const Request greedy{0.0, 0.0, 1.0, 0.0, 0, 0, 4, NO_MASK};
    const auto drawn = [&](double draw, double temperature = 1.0, double top_p = 1.0, double min_p = 0.0, unsigned k = 0) {
        return Request{draw, temperature, top_p, min_p, k, 0, 4, NO_MASK};
    };
    add({1.0f, NAN, 3.0f}, greedy);
    add({}, greedy); // minus infinity all
    add({1.0f, INFINITY}, greedy);
    add({1.0f, INFINITY}, drawn(0.5));
    add({-3.0f, 1.0f, 3.0f, 3.0f}, greedy); // the first of equals
    add({-0.0f, 0.0f, -1.0f}, greedy);      // zeros are equal
    for (const double draw : {0.0, 0.4, 0.999999}) {
        add({-0.0f, 0.0f, -0.0f, 0.0f}, drawn(draw));
        add({0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f}, drawn(draw, 1.0, 0.5));         // ties cut by top-p
        add({0.0f, 1.0f, 0.0f, 1.0f, 1.0f, 1.0f, 0.0f}, drawn(draw, 0.7, 1.0, 0.0, 3)); // and by top-k
        add({0.0f, 1.0f, 0.0f, 1.0f, 1.0f, 1.0f, 0.0f}, drawn(draw, 0.7, 1.0, 1.0));    // and by min-p
        add({5.0f, 4.0f, 3.0f, 2.0f, 1.0f, 0.0f}, drawn(draw, 1e-30));                  // as good as greedy
        add({5.0f, 4.0f, 3.0f, 2.0f, 1.0f, 0.0f}, drawn(draw, 1e30));                   // as good as uniform
        add({5.0f}, drawn(draw));
        add({80.0f, -80.0f, 79.0f}, drawn(draw, 1.0, 1.0, 0.0, 5)); // top-k among minus infinities
        add({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, drawn(draw, 2.0, 0.9, 0.3, 4));
        std::vector<float> ramp(VOCAB);
        std::iota(ramp.begin(), ramp.end(), -12.0f);
        add(ramp, drawn(draw, 5.0, 0.8));
        for (const unsigned mask : {8u, 9u})
            for (Request masked : {greedy, drawn(draw, 5.0), drawn(draw, 5.0, 0.8, 0.0, 2), drawn(draw, 1.0, 1.0, 0.0, 5)}) {
                masked.mask = mask;
                add(ramp, masked);
                add({1.0f, 2.0f, 2.0f, NAN}, masked); // where no token is allowed, too
            }
        // Chosen is a choice, far from the likeliest: its odds underflow.
        add({3000.0f, -INFINITY, -INFINITY, 0.0f, -INFINITY, 0.0f, -INFINITY, 0.0f}, drawn(draw, 1e10));
    }
    Buffer<float> logits(rows.size() * VOCAB);
    for (size_t row = 0; row < rows.size(); row++)
        for (int i = 0; i < VOCAB; i++)
            logits[row * VOCAB + i] = rows[row][i];
    compare(name, logits, requests, lists, VOCAB, VOCAB, tally);
    for (Request& request : requests)
        request.count = 0;
    requests.resize(4);
    compare(name, logits, requests, {}, VOCAB, VOCAB, tally);
}

} // namespace

int main() {
    Tally tally;
    random_rows("sample", tally);
    odd_rows("sample", tally);
    std::printf("%zu of %zu tokens are the reference's, the others within the tolerance\n", tally.exact, tally.rows);
    // The tolerance is for few: draws at the very end of the sum.
    Comparison comparison("exact tokens");
    comparison.close(0, static_cast<double>(tally.exact), static_cast<double>(tally.rows), 0.04);
    return finish("the sampler");
}
