// Fused kernels of the tiny judge's training on CPUs with AMX, or with AVX-512 for bf16 alone: attention behind a shared prefix, norms, SwiGLU.
// Shapes: head_dim 32, 4 query heads, 2 key heads. All activations bf16, all sums f32.
#include <immintrin.h>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

typedef uint16_t bf;
constexpr int D = 32, H = 4, KV = 2, G = H / KV, N = (H + 2 * KV) * D;
constexpr float LOG2E = 1.4426950408889634f;

static inline __m512 load(const bf* p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p)), 16));
}
static inline void store(bf* p, __m512 x) { _mm256_storeu_si256((__m256i*)p, (__m256i)_mm512_cvtneps_pbh(x)); }
static inline __m512 exp2(__m512 x) {
    x = _mm512_max_ps(x, _mm512_set1_ps(-126.f));
    __m512 n = _mm512_roundscale_ps(x, 8), f = _mm512_sub_ps(x, n);
    __m512 p = _mm512_set1_ps(0.0096181291f);
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.0555041087f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.2402265070f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.6931471806f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.f));
    return _mm512_scalef_ps(p, n);
}
#ifdef __AMX_BF16__
struct Config { uint8_t palette = 1, start = 0, reserved[14] = {}; uint16_t bytes[16] = {}; uint8_t rows[16] = {}; };
static void tiles() {
    static thread_local bool asked = false;
    if (!asked) { syscall(SYS_arch_prctl, 0x1023, 18); asked = true; }
    Config c;
    for (int i = 0; i < 8; i++) { c.bytes[i] = 64; c.rows[i] = 16; }
    _tile_loadconfig(&c);
}
#else
// Without AMX the same tiles lie in the first-level cache, and AVX-512's bf16 products work on them.
struct alignas(64) Tile { uint32_t rows[16][16]; };
static thread_local Tile T[8];
static inline void tiles() {}
static inline void tile_load(Tile& t, const void* from, size_t stride) {
    for (int i = 0; i < 16; i++) _mm512_store_si512(t.rows[i], _mm512_loadu_si512((const char*)from + i * stride));
}
static inline void tile_store(const Tile& t, void* to, size_t stride) {
    for (int i = 0; i < 16; i++) _mm512_storeu_si512((char*)to + i * stride, _mm512_load_si512(t.rows[i]));
}
static inline void tile_clear(Tile& t) {
    for (int i = 0; i < 16; i++) _mm512_store_si512(t.rows[i], _mm512_setzero_si512());
}
static inline void tile_multiply(Tile& c, const Tile& a, const Tile& b) {
    for (int from = 0; from < 16; from += 8) {
        __m512 sum[8];
        for (int i = 0; i < 8; i++) sum[i] = _mm512_load_ps(c.rows[from + i]);
        for (int k = 0; k < 16; k++) {
            __m512bh right = (__m512bh)_mm512_load_si512(b.rows[k]);
            for (int i = 0; i < 8; i++) sum[i] = _mm512_dpbf16_ps(sum[i], (__m512bh)_mm512_set1_epi32(a.rows[from + i][k]), right);
        }
        for (int i = 0; i < 8; i++) _mm512_store_ps(c.rows[from + i], sum[i]);
    }
}
#define _tile_loadd(n, from, stride) tile_load(T[n], from, stride)
#define _tile_stored(n, to, stride) tile_store(T[n], to, stride)
#define _tile_zero(n) tile_clear(T[n])
#define _tile_dpbf16ps(c, a, b) tile_multiply(T[c], T[a], T[b])
#define _tile_release()
#endif
// [16 keys, 32] -> 16 rows of pairs of dims by key
static void transpose(const bf* x, int stride, bf* out) {
    const __m512i lanes = _mm512_mullo_epi32(_mm512_set1_epi32(stride / 2), _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    for (int i = 0; i < 16; i++)
        _mm512_storeu_si512(out + 32 * i, _mm512_i32gather_epi32(lanes, (const int*)x + i, 4));
}
// [32 keys, 32] -> two tiles (halves of the dims), rows of pairs of keys by dim
static void interleave(const bf* x, int stride, bf* out) {
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 16; i++) {
            __m512i a = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)(x + 2 * i * stride + 16 * half)));
            __m512i b = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)(x + (2 * i + 1) * stride + 16 * half)));
            _mm512_storeu_si512(out + 512 * half + 32 * i, _mm512_or_si512(a, _mm512_slli_epi32(b, 16)));
        }
}
static inline void pair(bf* p, __m512 lo, __m512 hi) { _mm512_storeu_si512(p, (__m512i)_mm512_cvtne2ps_pbh(hi, lo)); }
static const __m512i LANES = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

struct Packed {  // one key head's keys and values, in the forms that tiles want
    std::vector<bf> kt, vt, kn, vn;
    void pack(const bf* k, const bf* v, int stride, int length, bool backward) {
        int size = length * D;
        kt.resize(size); vn.resize(size);
        if (backward) { vt.resize(size); kn.resize(size); }
        for (int j = 0; j < length; j += 16) {
            transpose(k + j * stride, stride, &kt[j * D]);
            if (backward) transpose(v + j * stride, stride, &vt[j * D]);
        }
        for (int j = 0; j < length; j += 32) {
            interleave(v + j * stride, stride, &vn[j * D]);
            if (backward) interleave(k + j * stride, stride, &kn[j * D]);
        }
    }
};
struct Prefix { int length, padded; Packed heads[KV]; };

// 32 keys before or among the own ones, as 16 queries from `query` on see them.
struct Keys {
    const Packed& packed;
    int at, last, step;  // the last key that the first query sees, and how many more each further one
    Keys(const Prefix& prefix, const Packed& own, int head, int j, int query)
        : packed(j < prefix.padded ? prefix.heads[head] : own), at(j < prefix.padded ? j : j - prefix.padded),
          last(j < prefix.padded ? prefix.length - 1 - at : query - at), step(j < prefix.padded ? 0 : 1) {}
    bool edge() const { return last < 31; }
    // Sets to zero what query `n` does not see of keys `from` and 15 more.
    __m512 seen(__m512 x, int from, int n) const {
        return _mm512_maskz_mov_ps(_mm512_cmple_epi32_mask(_mm512_add_epi32(LANES, _mm512_set1_epi32(from)), _mm512_set1_epi32(last + step * n)), x);
    }
};

extern "C" {
// keys and values [KV, length, 32] of the prefix
void* prefix_new(const bf* k, const bf* v, int length) {
    auto* p = new Prefix;
    p->length = length; p->padded = (length + 31) / 32 * 32;
    std::vector<bf> a(p->padded * D), b(p->padded * D);
    for (int h = 0; h < KV; h++) {
        std::fill(a.begin(), a.end(), 0); std::fill(b.begin(), b.end(), 0);
        memcpy(a.data(), k + h * length * D, length * D * 2);
        memcpy(b.data(), v + h * length * D, length * D * 2);
        p->heads[h].pack(a.data(), b.data(), D, p->padded, true);
    }
    return p;
}
void prefix_free(void* p) { delete (Prefix*)p; }

// qkv [R, L, 256] -> q [R, H, L, 32] normed, rotated, scaled by log2(e)/sqrt(32); k [R, KV, L, 32]; rms [R, L, H + KV]
void prepare(const bf* qkv, const float* qw, const float* kw, const float* cos, const float* sin, float eps, int R, int L, bf* q, bf* k, float* rms) {
    for (int r = 0; r < R; r++)
        for (int l = 0; l < L; l++) {
            const bf* x = qkv + (size_t)(r * L + l) * N;
            __m512 c = _mm512_loadu_ps(cos + 16 * l), s = _mm512_loadu_ps(sin + 16 * l);
            for (int h = 0; h < H + KV; h++) {
                __m512 a = load(x + h * D), b = load(x + h * D + 16);
                float scale = 1.f / std::sqrt(_mm512_reduce_add_ps(_mm512_fmadd_ps(a, a, _mm512_mul_ps(b, b))) / D + eps);
                rms[(r * L + l) * (H + KV) + h] = scale;
                const float* w = h < H ? qw : kw;
                __m512 m = _mm512_set1_ps(h < H ? scale * LOG2E * 0.17677669529663687f : scale);
                a = _mm512_mul_ps(_mm512_mul_ps(a, m), _mm512_loadu_ps(w));
                b = _mm512_mul_ps(_mm512_mul_ps(b, m), _mm512_loadu_ps(w + 16));
                bf* out = h < H ? q + ((size_t)(r * H + h) * L + l) * D : k + ((size_t)(r * KV + h - H) * L + l) * D;
                store(out, _mm512_fmsub_ps(a, c, _mm512_mul_ps(b, s)));
                store(out + 16, _mm512_fmadd_ps(b, c, _mm512_mul_ps(a, s)));
            }
        }
}

// o [R, L, H * 32], lse [R, H, L] in powers of two
void forward(const bf* q, const bf* k, const bf* qkv, void* before, int R, int L, bf* o, float* lse) {
    tiles();
    static thread_local Packed own;
    alignas(64) float s[2][256];
    alignas(64) bf p[512];
    alignas(64) float out[2][256];
    auto* prefix = (Prefix*)before;
    int P = prefix->padded;
    for (int r = 0; r < R; r++)
        for (int g = 0; g < KV; g++) {
            std::vector<bf> vs(L * D);
            for (int l = 0; l < L; l++) memcpy(&vs[l * D], qkv + (size_t)(r * L + l) * N + (H + KV + g) * D, D * 2);
            own.pack(k + (size_t)(r * KV + g) * L * D, vs.data(), D, L, false);
            for (int h = g * G; h < (g + 1) * G; h++)
                for (int i = 0; i < L; i += 16) {
                    _tile_loadd(0, q + ((size_t)(r * H + h) * L + i) * D, 64);
                    _tile_zero(6); _tile_zero(7);
                    __m512 sums[16];
                    for (int n = 0; n < 16; n++) sums[n] = _mm512_setzero_ps();
                    int end = P + i + 16;
                    for (int j = 0; j < end; j += 32) {
                        Keys keys(*prefix, own, g, j, i);
                        _tile_loadd(1, &keys.packed.kt[keys.at * D], 64); _tile_zero(2); _tile_dpbf16ps(2, 0, 1); _tile_stored(2, s[0], 64);
                        _tile_loadd(4, &keys.packed.kt[(keys.at + 16) * D], 64); _tile_zero(3); _tile_dpbf16ps(3, 0, 4); _tile_stored(3, s[1], 64);
                        bool edge = keys.edge();
                        for (int n = 0; n < 16; n++) {
                            __m512 a = exp2(_mm512_load_ps(s[0] + 16 * n)), b = exp2(_mm512_load_ps(s[1] + 16 * n));
                            if (edge) { a = keys.seen(a, 0, n); b = keys.seen(b, 16, n); }
                            sums[n] = _mm512_add_ps(sums[n], _mm512_add_ps(a, b));
                            pair(p + 32 * n, a, b);
                        }
                        _tile_loadd(5, p, 64);
                        _tile_loadd(1, &keys.packed.vn[keys.at * D], 64); _tile_dpbf16ps(6, 5, 1);
                        _tile_loadd(4, &keys.packed.vn[keys.at * D + 512], 64); _tile_dpbf16ps(7, 5, 4);
                    }
                    _tile_stored(6, out[0], 64); _tile_stored(7, out[1], 64);
                    for (int n = 0; n < 16; n++) {
                        float sum = _mm512_reduce_add_ps(sums[n]);
                        lse[(size_t)(r * H + h) * L + i + n] = std::log2(sum);
                        __m512 inverse = _mm512_set1_ps(1.f / sum);
                        bf* to = o + (size_t)(r * L + i + n) * H * D + h * D;
                        store(to, _mm512_mul_ps(_mm512_load_ps(out[0] + 16 * n), inverse));
                        store(to + 16, _mm512_mul_ps(_mm512_load_ps(out[1] + 16 * n), inverse));
                    }
                }
        }
    _tile_release();
}

static void back(const float* dy0, const float* dy1, const bf* x, const float* w, float scale, float rms, const float* cos, const float* sin, bf* dx, __m512* dw) {
    // rotation, then the norm
    __m512 c = _mm512_loadu_ps(cos), s = _mm512_loadu_ps(sin), m = _mm512_set1_ps(scale), t = _mm512_set1_ps(rms);
    __m512 f = _mm512_mul_ps(_mm512_load_ps(dy0), m), e = _mm512_mul_ps(_mm512_load_ps(dy1), m);
    __m512 a = _mm512_fmadd_ps(f, c, _mm512_mul_ps(e, s)), b = _mm512_fmsub_ps(e, c, _mm512_mul_ps(f, s));
    __m512 xa = _mm512_mul_ps(load(x), t), xb = _mm512_mul_ps(load(x + 16), t);
    dw[0] = _mm512_fmadd_ps(a, xa, dw[0]); dw[1] = _mm512_fmadd_ps(b, xb, dw[1]);
    a = _mm512_mul_ps(a, _mm512_loadu_ps(w)); b = _mm512_mul_ps(b, _mm512_loadu_ps(w + 16));
    __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(_mm512_fmadd_ps(a, xa, _mm512_mul_ps(b, xb))) / D);
    store(dx, _mm512_mul_ps(t, _mm512_fnmadd_ps(xa, mean, a)));
    store(dx + 16, _mm512_mul_ps(t, _mm512_fnmadd_ps(xb, mean, b)));
}

// dqkv [R, L, 256], dqw and dkw [32] (added to)
void backward(const bf* dout, const bf* o, const bf* q, const bf* k, const bf* qkv, const float* rms, const float* lse, void* before,
              const float* qw, const float* kw, const float* cos, const float* sin, int R, int L, bf* dqkv, float* dqw, float* dkw) {
    tiles();
    static thread_local Packed own;
    alignas(64) float s[2][256], t[2][256], z[4][256];
    alignas(64) bf p[512], ds[512];
    auto* prefix = (Prefix*)before;
    int P = prefix->padded;
    std::vector<float> delta(G * L);
    std::vector<bf> vs(L * D), qt[G], dt[G], qn[G], dn[G];
    __m512 gq[2] = {}, gk[2] = {};
    const int S = H * D;
    for (int r = 0; r < R; r++)
        for (int g = 0; g < KV; g++) {
            const bf* keys = k + (size_t)(r * KV + g) * L * D;
            for (int l = 0; l < L; l++) memcpy(&vs[l * D], qkv + (size_t)(r * L + l) * N + (H + KV + g) * D, D * 2);
            own.pack(keys, vs.data(), D, L, true);
            for (int c = 0; c < G; c++) {
                int h = g * G + c;
                const bf* queries = q + (size_t)(r * H + h) * L * D;
                const bf* gradients = dout + (size_t)r * L * S + h * D;
                const bf* outs = o + (size_t)r * L * S + h * D;
                const float* logs = lse + (size_t)(r * H + h) * L;
                for (auto* x : {&qt[c], &dt[c], &qn[c], &dn[c]}) x->resize(L * D);
                for (int i = 0; i < L; i += 16) { transpose(queries + i * D, D, &qt[c][i * D]); transpose(gradients + i * S, S, &dt[c][i * D]); }
                for (int i = 0; i < L; i += 32) { interleave(queries + i * D, D, &qn[c][i * D]); interleave(gradients + i * S, S, &dn[c][i * D]); }
                for (int l = 0; l < L; l++)
                    delta[c * L + l] = _mm512_reduce_add_ps(_mm512_fmadd_ps(load(outs + l * S), load(gradients + l * S), _mm512_mul_ps(load(outs + l * S + 16), load(gradients + l * S + 16))));
                for (int i = 0; i < L; i += 16) {  // gradients of the queries
                    _tile_loadd(0, queries + i * D, 64);
                    _tile_loadd(1, gradients + i * S, S * 2);
                    _tile_zero(6); _tile_zero(7);
                    int end = P + i + 16;
                    for (int j = 0; j < end; j += 32) {
                        Keys block(*prefix, own, g, j, i);
                        _tile_loadd(2, &block.packed.kt[block.at * D], 64); _tile_zero(3); _tile_dpbf16ps(3, 0, 2); _tile_stored(3, s[0], 64);
                        _tile_loadd(5, &block.packed.kt[(block.at + 16) * D], 64); _tile_zero(4); _tile_dpbf16ps(4, 0, 5); _tile_stored(4, s[1], 64);
                        _tile_loadd(2, &block.packed.vt[block.at * D], 64); _tile_zero(3); _tile_dpbf16ps(3, 1, 2); _tile_stored(3, t[0], 64);
                        _tile_loadd(5, &block.packed.vt[(block.at + 16) * D], 64); _tile_zero(4); _tile_dpbf16ps(4, 1, 5); _tile_stored(4, t[1], 64);
                        bool edge = block.edge();
                        for (int n = 0; n < 16; n++) {
                            __m512 log = _mm512_set1_ps(logs[i + n]), d = _mm512_set1_ps(delta[c * L + i + n]);
                            __m512 a = exp2(_mm512_sub_ps(_mm512_load_ps(s[0] + 16 * n), log)), b = exp2(_mm512_sub_ps(_mm512_load_ps(s[1] + 16 * n), log));
                            a = _mm512_mul_ps(a, _mm512_sub_ps(_mm512_load_ps(t[0] + 16 * n), d));
                            b = _mm512_mul_ps(b, _mm512_sub_ps(_mm512_load_ps(t[1] + 16 * n), d));
                            if (edge) { a = block.seen(a, 0, n); b = block.seen(b, 16, n); }
                            pair(ds + 32 * n, a, b);
                        }
                        _tile_loadd(5, ds, 64);
                        _tile_loadd(2, &block.packed.kn[block.at * D], 64); _tile_dpbf16ps(6, 5, 2);
                        _tile_loadd(3, &block.packed.kn[block.at * D + 512], 64); _tile_dpbf16ps(7, 5, 3);
                    }
                    _tile_stored(6, s[0], 64); _tile_stored(7, s[1], 64);
                    for (int n = 0; n < 16; n++) {
                        size_t at = (size_t)(r * L + i + n);
                        back(s[0] + 16 * n, s[1] + 16 * n, qkv + at * N + h * D, qw, 0.17677669529663687f, rms[at * (H + KV) + h], cos + 16 * (i + n), sin + 16 * (i + n), dqkv + at * N + h * D, gq);
                    }
                }
            }
            for (int j = 0; j < L; j += 16) {  // gradients of 16 own keys and values
                _tile_zero(0); _tile_zero(1); _tile_zero(2); _tile_zero(3);
                for (int c = 0; c < G; c++) {
                    const float* logs = lse + (size_t)(r * H + g * G + c) * L;
                    for (int i = j / 32 * 32; i < L; i += 32) {
                        _tile_loadd(4, keys + j * D, 64);
                        _tile_loadd(5, &qt[c][i * D], 64); _tile_zero(6); _tile_dpbf16ps(6, 4, 5); _tile_stored(6, s[0], 64);
                        _tile_loadd(5, &qt[c][(i + 16) * D], 64); _tile_zero(7); _tile_dpbf16ps(7, 4, 5); _tile_stored(7, s[1], 64);
                        _tile_loadd(4, &vs[j * D], 64);
                        _tile_loadd(5, &dt[c][i * D], 64); _tile_zero(6); _tile_dpbf16ps(6, 4, 5); _tile_stored(6, t[0], 64);
                        _tile_loadd(5, &dt[c][(i + 16) * D], 64); _tile_zero(7); _tile_dpbf16ps(7, 4, 5); _tile_stored(7, t[1], 64);
                        __m512 log[2], d[2];
                        for (int x = 0; x < 2; x++) { log[x] = _mm512_loadu_ps(logs + i + 16 * x); d[x] = _mm512_loadu_ps(&delta[c * L + i + 16 * x]); }
                        bool edge = j + 15 > i;
                        for (int n = 0; n < 16; n++) {
                            __m512 e[2], f[2];
                            for (int x = 0; x < 2; x++) {
                                e[x] = exp2(_mm512_sub_ps(_mm512_load_ps(s[x] + 16 * n), log[x]));
                                if (edge) e[x] = _mm512_maskz_mov_ps(_mm512_cmpge_epi32_mask(_mm512_add_epi32(LANES, _mm512_set1_epi32(i + 16 * x)), _mm512_set1_epi32(j + n)), e[x]);
                                f[x] = _mm512_mul_ps(e[x], _mm512_sub_ps(_mm512_load_ps(t[x] + 16 * n), d[x]));
                            }
                            pair(p + 32 * n, e[0], e[1]);
                            pair(ds + 32 * n, f[0], f[1]);
                        }
                        _tile_loadd(4, p, 64);
                        _tile_loadd(5, &dn[c][i * D], 64); _tile_dpbf16ps(0, 4, 5);
                        _tile_loadd(6, &dn[c][i * D + 512], 64); _tile_dpbf16ps(1, 4, 6);
                        _tile_loadd(7, ds, 64);
                        _tile_loadd(5, &qn[c][i * D], 64); _tile_dpbf16ps(2, 7, 5);
                        _tile_loadd(6, &qn[c][i * D + 512], 64); _tile_dpbf16ps(3, 7, 6);
                    }
                }
                _tile_stored(0, z[0], 64); _tile_stored(1, z[1], 64); _tile_stored(2, z[2], 64); _tile_stored(3, z[3], 64);
                for (int n = 0; n < 16; n++) {
                    size_t at = (size_t)(r * L + j + n);
                    bf* dv = dqkv + at * N + (H + KV + g) * D;
                    store(dv, _mm512_load_ps(z[0] + 16 * n)); store(dv + 16, _mm512_load_ps(z[1] + 16 * n));
                    back(z[2] + 16 * n, z[3] + 16 * n, qkv + at * N + (H + g) * D, kw, 1.f / LOG2E, rms[at * (H + KV) + H + g], cos + 16 * (j + n), sin + 16 * (j + n), dqkv + at * N + (H + g) * D, gk);
                }
            }
        }
    _tile_release();
    for (int x = 0; x < 2; x++) {
        _mm512_storeu_ps(dqw + 16 * x, _mm512_add_ps(_mm512_loadu_ps(dqw + 16 * x), gq[x]));
        _mm512_storeu_ps(dkw + 16 * x, _mm512_add_ps(_mm512_loadu_ps(dkw + 16 * x), gk[x]));
    }
}

// y = x * rms(x) * w over rows of C (a multiple of 16); keeps 1/rms
void norm_forward(const bf* x, const float* w, float eps, int T, int C, bf* y, float* rms) {
    for (int t = 0; t < T; t++) {
        const bf* row = x + (size_t)t * C;
        __m512 sum = _mm512_setzero_ps();
        for (int c = 0; c < C; c += 16) { __m512 a = load(row + c); sum = _mm512_fmadd_ps(a, a, sum); }
        rms[t] = 1.f / std::sqrt(_mm512_reduce_add_ps(sum) / C + eps);
        __m512 m = _mm512_set1_ps(rms[t]);
        for (int c = 0; c < C; c += 16) store(y + (size_t)t * C + c, _mm512_mul_ps(_mm512_mul_ps(load(row + c), m), _mm512_loadu_ps(w + c)));
    }
}
void norm_backward(const bf* dy, const bf* x, const float* w, const float* rms, int T, int C, bf* dx, float* dw) {
    for (int t = 0; t < T; t++) {
        const bf *row = x + (size_t)t * C, *g = dy + (size_t)t * C;
        __m512 m = _mm512_set1_ps(rms[t]), sum = _mm512_setzero_ps();
        for (int c = 0; c < C; c += 16) {
            __m512 a = _mm512_mul_ps(load(row + c), m), b = load(g + c);
            _mm512_storeu_ps(dw + c, _mm512_fmadd_ps(a, b, _mm512_loadu_ps(dw + c)));
            sum = _mm512_fmadd_ps(a, _mm512_mul_ps(b, _mm512_loadu_ps(w + c)), sum);
        }
        __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / C);
        for (int c = 0; c < C; c += 16) {
            __m512 a = _mm512_mul_ps(load(row + c), m), b = _mm512_mul_ps(load(g + c), _mm512_loadu_ps(w + c));
            store(dx + (size_t)t * C + c, _mm512_mul_ps(m, _mm512_fnmadd_ps(a, mean, b)));
        }
    }
}
static inline __m512 sigmoid(__m512 x) {
    return _mm512_div_ps(_mm512_set1_ps(1.f), _mm512_add_ps(_mm512_set1_ps(1.f), exp2(_mm512_mul_ps(x, _mm512_set1_ps(-LOG2E)))));
}
// both [T, 2 * C]: gate, up -> [T, C]
void swiglu_forward(const bf* both, int T, int C, bf* y) {
    for (int t = 0; t < T; t++)
        for (int c = 0; c < C; c += 16) {
            __m512 a = load(both + (size_t)t * 2 * C + c), b = load(both + (size_t)t * 2 * C + C + c);
            store(y + (size_t)t * C + c, _mm512_mul_ps(_mm512_mul_ps(a, sigmoid(a)), b));
        }
}
void swiglu_backward(const bf* dy, const bf* both, int T, int C, bf* dboth) {
    for (int t = 0; t < T; t++)
        for (int c = 0; c < C; c += 16) {
            __m512 a = load(both + (size_t)t * 2 * C + c), b = load(both + (size_t)t * 2 * C + C + c), g = load(dy + (size_t)t * C + c);
            __m512 s = sigmoid(a), silu = _mm512_mul_ps(a, s);
            __m512 slope = _mm512_fmadd_ps(silu, _mm512_sub_ps(_mm512_set1_ps(1.f), s), s);
            store(dboth + (size_t)t * 2 * C + c, _mm512_mul_ps(_mm512_mul_ps(g, b), slope));
            store(dboth + (size_t)t * 2 * C + C + c, _mm512_mul_ps(g, silu));
        }
}
}
