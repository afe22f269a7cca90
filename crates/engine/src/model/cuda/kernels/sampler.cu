// From logits to tokens: a block to a row. The semantics are those of `crates/engine/src/engine/sampler.rs`: greedy, or temperature, top-k,
// top-p over what is left, min-p, and a draw that inverts the cumulative sum, likeliest first, ties by token. A token that is not
// allowed counts as one with a logit of minus infinity.
//
// Nothing is sorted. Each truncation, and the draw, is a place in the order of the logits, found digit by digit: the logits'
// bits, made to order as integers, are counted and weighed by their highest four bits, the sixteen sums say in which sixteenth
// the place is, and the next four bits are looked at there. Every thread has counters of its own, so equal logits cost nothing
// extra and the order of every addition is fixed: the same row gives the same token, always.
#include "common.cuh"

namespace {

constexpr int THREADS = 512;
constexpr int WARPS = THREADS / 32;
constexpr int DIGIT_BITS = 4;
constexpr int DIGITS = 1 << DIGIT_BITS;
static_assert(DIGITS == WARPS, "a warp adds up a digit's counters");

constexpr unsigned FAILED = 1;
constexpr unsigned HAS_EXPECTED = 2;
constexpr unsigned NO_MASK = 0xffffffffu;
constexpr unsigned NO_TOKEN = 0xffffffffu;
/// The most tokens whose log-probabilities a row can ask for beside that of its own, and the words that all take.
constexpr unsigned MOST_LOGPROBS = 20;
constexpr unsigned LOGPROB_WORDS = 1 + 2 * MOST_LOGPROBS;

/// How a row is to be sampled; 48 bytes, made by the host.
struct Request {
    double draw;
    double temperature;
    double top_p;
    double min_p;
    unsigned top_k;
    /// Where in the lists its choices begin: so many tokens, then so many numbers (f32).
    unsigned choices;
    unsigned count;
    /// Where in the lists the mask of allowed tokens begins, a bit for each of the vocabulary; or NO_MASK.
    unsigned mask;
};
static_assert(sizeof(Request) == 48, "the host lays out 48 bytes");

// ---- logits and their order ---------------------------------------------------------------------------------------------

/// Bits of a logit to an integer of the same order, in which both zeros are one.
__device__ __forceinline__ unsigned key_of(unsigned bits) {
    constexpr unsigned SIGN = 0x80000000u;
    if (bits == SIGN)
        bits = 0;
    return bits & SIGN ? ~bits : bits | SIGN;
}
constexpr int KEY_BITS = 32;
/// Minus infinity.
constexpr unsigned LOWEST = 0xff800000u;
/// Logits that are read at once.
constexpr int VECTOR = 4;

/// A row, and what its logits weigh.
struct Row {
    const float* logits;
    const unsigned* mask; // of the tokens that are allowed; null: all are
    int vocab;
    int vectors;
    float highest;
    float sharpness; // log2(e) / temperature

    /// Relative to the likeliest token's, which is 1.
    __device__ __forceinline__ float weight(unsigned bits) const {
        return exp2f((__uint_as_float(bits) - highest) * sharpness);
    }
};

/// Calls `visit(token, bits)` for the tokens of the vectors from `begin` to `end`, those of `threads` threads side by side. A
/// thread's tokens come in ascending order.
template <typename VISIT>
__device__ __forceinline__ void walk(const Row& row, int thread, int threads, int begin, int end, VISIT visit) {
    constexpr int AT_ONCE = 4;
    for (int vector = begin + thread; vector < end; vector += AT_ONCE * threads) {
        uint4 raw[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (vector + i * threads < end)
                raw[i] = __ldg(reinterpret_cast<const uint4*>(row.logits + static_cast<int64_t>(vector + i * threads) * VECTOR));
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            if (vector + i * threads >= end)
                break;
            const int first = (vector + i * threads) * VECTOR;
            const unsigned allowed = row.mask ? row.mask[first / 32] >> (first % 32) : ~0u;
#pragma unroll
            for (int j = 0; j < VECTOR; j++)
                if (first + j < row.vocab) {
                    const unsigned words[VECTOR] = {raw[i].x, raw[i].y, raw[i].z, raw[i].w};
                    const unsigned bits = words[j];
                    // What is not a number stays so.
                    const bool hidden = !(allowed >> j & 1u) && __uint_as_float(bits) == __uint_as_float(bits);
                    visit(first + j, hidden ? LOWEST : bits);
                }
        }
    }
}

// ---- the block's memory ---------------------------------------------------------------------------------------------------

struct Sums {
    double mass[DIGITS];
    unsigned count[DIGITS];
};
struct Scratch {
    Sums first; // of the first digit: the same for every search
    Sums next;
    double mass[WARPS];
    unsigned count[WARPS];
    unsigned long long best[WARPS];
    unsigned token;
};

/// The block's, wherever it is asked for: the compiler then knows that it is shared memory.
__device__ __forceinline__ Scratch& scratch() {
    __shared__ Scratch block;
    return block;
}
/// A thread's counters by digit: masses, then counts, each `[DIGITS, THREADS]`.
__device__ __forceinline__ float& mass_at(int digit, int thread) {
    DYNAMIC_SHARED(counters);
    return reinterpret_cast<float*>(counters)[digit * THREADS + thread];
}
__device__ __forceinline__ unsigned& count_at(int digit, int thread) {
    DYNAMIC_SHARED(counters);
    return reinterpret_cast<unsigned*>(counters)[(DIGITS + digit) * THREADS + thread];
}

__device__ __forceinline__ double warp_sum_double(double x) {
#pragma unroll
    for (int by = 16; by > 0; by /= 2)
        x += __shfl_xor_sync(ALL_LANES, x, by);
    return x;
}

// A place in the order, likeliest last: `key << 32 | ~token`, so that of equal logits the lowest token is the likeliest.
using Ranked = unsigned long long;
__device__ __forceinline__ unsigned token_of(Ranked place) { return ~static_cast<unsigned>(place); }

/// The likeliest of this thread's tokens that comes before `limit`; `nan` if one of them is NaN.
__device__ __forceinline__ Ranked likeliest_before(const Row& row, Ranked limit, bool& nan) {
    Ranked best = ~0u;
    walk(row, threadIdx.x, THREADS, 0, row.vectors, [&](int token, unsigned bits) {
        nan |= __uint_as_float(bits) != __uint_as_float(bits);
        const Ranked place = static_cast<Ranked>(key_of(bits)) << 32 | ~static_cast<unsigned>(token);
        if (place > best && place < limit)
            best = place;
    });
    return best;
}

/// The highest of all threads' places, for every thread.
__device__ __forceinline__ Ranked block_highest(Ranked place) {
#pragma unroll
    for (int by = 16; by > 0; by /= 2) {
        const Ranked other = __shfl_xor_sync(ALL_LANES, place, by);
        place = other > place ? other : place;
    }
    if (threadIdx.x % 32 == 0)
        scratch().best[threadIdx.x / 32] = place;
    __syncthreads();
    for (int i = 0; i < WARPS; i++)
        place = scratch().best[i] > place ? scratch().best[i] : place;
    // It is used again.
    __syncthreads();
    return place;
}

// ---- places in the order ------------------------------------------------------------------------------------------------------

/// What to look for: the `rank`-th likeliest token (from 1), or the first at which the cumulative mass reaches `mass`.
struct Place {
    unsigned rank;  // 0: by mass
    double mass;
    bool inclusive; // the sum may be equal to `mass`, or must be above
    __device__ __forceinline__ bool reached(unsigned count, double sum) const {
        return rank > 0 ? count >= rank : inclusive ? sum >= mass : sum > mass;
    }
};

/// Tokens whose keys agree with `prefix` where `mask` has bits: one token, or several with the same logit.
struct Ties {
    unsigned prefix, mask;
    unsigned count;
    unsigned before; // likelier tokens
    double mass;
    double mass_before;
    __device__ __forceinline__ double each() const { return mass / static_cast<double>(count); }
    /// Which of them is at the place, from 0.
    __device__ __forceinline__ unsigned index(const Place& place) const {
        if (place.rank > 0)
            return place.rank - 1 - before;
        const double steps = (place.mass - mass_before) / each();
        const double index = place.inclusive ? ceil(steps) - 1.0 : floor(steps);
        return static_cast<unsigned>(fmin(fmax(index, 0.0), static_cast<double>(count - 1)));
    }
};

/// Counts and masses by the digit at `shift` of the tokens that agree with `prefix`.
__device__ __forceinline__ void sum_digits(const Row& row, unsigned prefix, unsigned mask, int shift, Sums& sums) {
    const int thread = threadIdx.x;
#pragma unroll
    for (int digit = 0; digit < DIGITS; digit++) {
        mass_at(digit, thread) = 0.0f;
        count_at(digit, thread) = 0;
    }
    walk(row, thread, THREADS, 0, row.vectors, [&](int, unsigned bits) {
        const unsigned key = key_of(bits);
        if (((key ^ prefix) & mask) == 0) {
            const int digit = static_cast<int>(key >> shift & (DIGITS - 1));
            mass_at(digit, thread) += row.weight(bits);
            count_at(digit, thread)++;
        }
    });
    __syncthreads();
    const int digit = thread / 32;
    double mass = 0.0;
    unsigned count = 0;
    for (int i = thread % 32; i < THREADS; i += 32) {
        mass += mass_at(digit, i);
        count += count_at(digit, i);
    }
    mass = warp_sum_double(mass);
    count = __reduce_add_sync(ALL_LANES, count);
    if (thread % 32 == 0) {
        sums.mass[digit] = mass;
        sums.count[digit] = count;
    }
    __syncthreads();
}

/// Finds the ties that hold a place. The first digit's sums must be there.
__device__ __noinline__ Ties find(const Row row, const Place place) {
    constexpr int FIRST = KEY_BITS - DIGIT_BITS;
    Ties ties{0, 0, 0, 0, 0.0, 0.0};
    for (int shift = FIRST; shift >= 0; shift -= DIGIT_BITS) {
        if (shift != FIRST)
            sum_digits(row, ties.prefix, ties.mask, shift, scratch().next);
        const Sums& sums = shift == FIRST ? scratch().first : scratch().next;
        unsigned count = ties.before;
        double mass = ties.mass_before;
        int chosen = 0;
#pragma unroll 1
        for (int digit = DIGITS - 1; digit >= 0; digit--) {
            // Sums of the parts may stay a hair below the sum they are parts of: then it is the last with any mass.
            if (place.rank > 0 ? sums.count[digit] > 0 : sums.mass[digit] > 0.0) {
                chosen = digit;
                ties.before = count;
                ties.mass_before = mass;
            }
            count += sums.count[digit];
            mass += sums.mass[digit];
            if (chosen == digit && place.reached(count, mass))
                break;
        }
        ties.count = sums.count[chosen];
        ties.mass = sums.mass[chosen];
        ties.prefix |= static_cast<unsigned>(chosen) << shift;
        ties.mask |= static_cast<unsigned>(DIGITS - 1) << shift;
        if (ties.count == 1)
            break;
    }
    return ties;
}

/// The token that is the `index`-th of the ties by number.
__device__ __forceinline__ unsigned token_of(const Row& row, const Ties& ties, unsigned index) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    // A warp looks at a stretch of its own.
    const int stretch = (row.vectors + WARPS - 1) / WARPS;
    const int begin = min(warp * stretch, row.vectors);
    const int end = min(begin + stretch, row.vectors);
    const auto is_tie = [&](unsigned bits) { return ((key_of(bits) ^ ties.prefix) & ties.mask) == 0; };
    unsigned count = 0;
    walk(row, lane, 32, begin, end, [&](int, unsigned bits) { count += is_tie(bits) ? 1 : 0; });
    count = __reduce_add_sync(ALL_LANES, count);
    if (lane == 0)
        scratch().count[warp] = count;
    __syncthreads();
    unsigned before = 0;
    for (int i = 0; i < warp; i++)
        before += scratch().count[i];
    if (index >= before && index < before + count) {
        // The one warp that has it goes through its stretch in order.
        for (int at = begin; at < end; at += 32) {
            unsigned found = 0;
            walk(row, lane, 32, at, min(at + 32, end),
                 [&](int, unsigned bits) { found += is_tie(bits) ? 1 : 0; });
            unsigned up_to = found;
#pragma unroll
            for (int by = 1; by < 32; by *= 2) {
                const unsigned other = __shfl_up_sync(ALL_LANES, up_to, by);
                up_to += lane >= by ? other : 0;
            }
            unsigned skip = before + up_to - found;
            walk(row, lane, 32, at, min(at + 32, end), [&](int token, unsigned bits) {
                if (is_tie(bits) && skip++ == index)
                    scratch().token = static_cast<unsigned>(token);
            });
            before += __shfl_sync(ALL_LANES, up_to, 31);
            if (index < before)
                break;
        }
    }
    __syncthreads();
    return scratch().token;
}

// ---- sampling -------------------------------------------------------------------------------------------------------------------

/// Draws from the tempered, truncated distribution.
__device__ __forceinline__ unsigned draw(const Row& row, const Request& request) {
    sum_digits(row, 0, 0, KEY_BITS - DIGIT_BITS, scratch().first);
    // What truncation keeps: so many tokens of this mass, the last of which weighs `last`.
    bool truncated = false;
    unsigned kept = static_cast<unsigned>(row.vocab);
    double kept_mass = 0.0;
    for (int digit = DIGITS - 1; digit >= 0; digit--)
        kept_mass += scratch().first.mass[digit];
    double last = 0.0;
    if (request.top_k > 0 && request.top_k < kept) {
        const Place place{request.top_k, 0.0, false};
        const Ties ties = find(row, place);
        truncated = true;
        kept = request.top_k;
        last = ties.each();
        kept_mass = ties.mass_before + static_cast<double>(kept - ties.before) * last;
    }
    if (request.top_p < 1.0) {
        const Place place{0, request.top_p * kept_mass, true};
        const Ties ties = find(row, place);
        const unsigned count = ties.before + ties.index(place) + 1;
        if (count < kept) {
            truncated = true;
            kept = count;
            last = ties.each();
            kept_mass = ties.mass_before + static_cast<double>(kept - ties.before) * last;
        }
    }
    if (request.min_p > 0.0 && (!truncated || last < request.min_p)) {
        const float floor = static_cast<float>(request.min_p);
        float mass = 0.0f;
        unsigned count = 0;
        walk(row, threadIdx.x, THREADS, 0, row.vectors, [&](int, unsigned bits) {
            const float weight = row.weight(bits);
            if (weight >= floor) {
                mass += weight;
                count++;
            }
        });
        const double warp_mass = warp_sum_double(mass);
        count = __reduce_add_sync(ALL_LANES, count);
        if (threadIdx.x % 32 == 0) {
            scratch().mass[threadIdx.x / 32] = warp_mass;
            scratch().count[threadIdx.x / 32] = count;
        }
        __syncthreads();
        unsigned all = 0;
        double all_mass = 0.0;
        for (int i = 0; i < WARPS; i++) {
            all += scratch().count[i];
            all_mass += scratch().mass[i];
        }
        // The counters are used again.
        __syncthreads();
        // At the edge of rounding the ties at the last place may weigh the floor here and less there.
        if (all < kept) {
            truncated = true;
            kept = all;
            kept_mass = all_mass;
        }
    }
    Place place{0, request.draw * kept_mass, false};
    Ties ties = find(row, place);
    unsigned index = ties.index(place);
    if (truncated && ties.before + index >= kept) {
        // Rounding carried the draw past the end: the last token that is kept.
        place = Place{kept, 0.0, false};
        ties = find(row, place);
        index = ties.index(place);
    }
    return token_of(row, ties, index);
}

/// The mean of the choices' numbers, each weighed by its token's probability, if the token is one of them: for one warp. The mask
/// makes no difference.
__device__ __forceinline__ bool expected_number(const Row& row, const Request& request, const unsigned* lists,
                                                unsigned token, float& result) {
    const int lane = threadIdx.x % 32;
    const unsigned* choices = lists + request.choices;
    const unsigned* numbers = choices + request.count;
    bool chosen = false;
    float highest = __uint_as_float(LOWEST);
    for (unsigned i = lane; i < request.count; i += 32) {
        chosen |= choices[i] == token;
        if (choices[i] < static_cast<unsigned>(row.vocab))
            highest = fmaxf(highest, row.logits[choices[i]]);
    }
#pragma unroll
    for (int by = 16; by > 0; by /= 2)
        highest = fmaxf(highest, __shfl_xor_sync(ALL_LANES, highest, by));
    double sum = 0.0, all = 0.0;
    for (unsigned i = lane; i < request.count; i += 32) {
        if (choices[i] < static_cast<unsigned>(row.vocab)) {
            const double mass = exp(static_cast<double>(row.logits[choices[i]] - highest));
            sum += mass * static_cast<double>(__uint_as_float(numbers[i]));
            all += mass;
        }
    }
    sum = warp_sum_double(sum);
    all = warp_sum_double(all);
    result = static_cast<float>(sum / all);
    return __any_sync(ALL_LANES, chosen) && all > 0.0;
}

__device__ __forceinline__ void choose(unsigned* out, const float* logits, const Request* requests, const unsigned* lists,
                                       int rows, int vocab, int stride) {
    const int at = blockIdx.x;
    const Request& request = requests[at];
    Row row;
    row.logits = logits + static_cast<int64_t>(at) * stride;
    row.mask = request.mask == NO_MASK ? nullptr : lists + request.mask;
    row.vocab = vocab;
    row.vectors = (vocab + VECTOR - 1) / VECTOR;
    bool nan = false;
    const Ranked best = likeliest_before(row, ~Ranked{0}, nan);
    unsigned token = token_of(block_highest(best));
    unsigned flags = 0;
    float number = __uint_as_float(0x7fffffffu);
    // A token beyond the row cannot be: with nothing above the lowest key the first one stands.
    row.highest = row.logits[token];
    const bool nothing = row.mask && !(row.mask[token / 32] >> (token % 32) & 1u);
    if (__syncthreads_or(nan) || nothing || !(fabsf(row.highest) < __uint_as_float(0x7f800000u))) {
        token = 0;
        flags = FAILED;
    } else {
        if (request.temperature > 0.0) {
            // Not infinite, so that the likeliest token weighs 1 at any temperature.
            row.sharpness = static_cast<float>(fmin(1.4426950408889634 / request.temperature, 3e38));
            token = draw(row, request);
        }
        if (threadIdx.x < 32 && request.count > 0) {
            if (expected_number(row, request, lists, token, number))
                flags |= HAS_EXPECTED;
            else
                number = __uint_as_float(0x7fffffffu);
        }
    }
    if (threadIdx.x == 0) {
        out[at] = token;
        out[rows + at] = flags;
        out[2 * rows + at] = __float_as_uint(number);
    }
}

/// Log-probabilities over the whole vocabulary, whatever may be chosen: of the token that was, and of the likeliest ones.
__device__ __forceinline__ void logprobs(unsigned* out, const Row& row, unsigned token, unsigned count) {
    bool nan = false;
    Ranked mine = likeliest_before(row, ~Ranked{0}, nan);
    const float highest = row.logits[token_of(block_highest(mine))];
    double mass = 0.0;
    walk(row, threadIdx.x, THREADS, 0, row.vectors, [&](int, unsigned bits) {
        mass += exp(static_cast<double>(__uint_as_float(bits) - highest));
    });
    mass = warp_sum_double(mass);
    if (threadIdx.x % 32 == 0)
        scratch().mass[threadIdx.x / 32] = mass;
    __syncthreads();
    double total = 0.0;
    for (int i = 0; i < WARPS; i++)
        total += scratch().mass[i];
    total = static_cast<double>(highest) + log(total);
    const auto write = [&](unsigned* to, unsigned of) {
        *to = __float_as_uint(static_cast<float>(static_cast<double>(row.logits[of]) - total));
    };
    if (threadIdx.x == 0)
        write(out, token);
    for (unsigned i = 0; i < MOST_LOGPROBS; i++) {
        const Ranked next = i < count ? block_highest(mine) : 0;
        // Tokens at minus infinity are left out.
        const bool is_any = next >> 32 > key_of(LOWEST);
        if (threadIdx.x == 0) {
            out[1 + 2 * i] = is_any ? token_of(next) : NO_TOKEN;
            if (is_any)
                write(out + 2 + 2 * i, token_of(next));
        }
        // Only who had it looks for another.
        if (mine == next)
            mine = likeliest_before(row, next, nan);
    }
}

} // namespace

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    sample(unsigned* out, const float* logits, const void* requests, const unsigned* lists, int rows, int vocab, int stride) {
    choose(out, logits, static_cast<const Request*>(requests), lists, rows, vocab, stride);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    logprobs_of(unsigned* out, const float* logits, const unsigned* chosen, const unsigned* wanted, int vocab, int stride) {
    const unsigned at = wanted[2 * blockIdx.x];
    Row row{};
    row.logits = logits + static_cast<int64_t>(at) * stride;
    row.vocab = vocab;
    row.vectors = (vocab + VECTOR - 1) / VECTOR;
    logprobs(out + blockIdx.x * LOGPROB_WORDS, row, chosen[at], wanted[2 * blockIdx.x + 1]);
}
