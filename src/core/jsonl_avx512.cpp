// Strings of JSON without their escapes, 64 bytes at a time with AVX-512 VBMI2: what stands for a
// byte is looked up for a whole vector, then the backslashes are squeezed out of it. The linkage
// rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "jsonl.hpp"

namespace roughly {

const char* unescape_avx512(const char* p, const char* end, const uint8_t* escapes, uint8_t*& out) {
    const __m512i low = _mm512_loadu_si512(escapes), high = _mm512_loadu_si512(escapes + 64);
    uint8_t* to = out;
    while (end - p >= 64) {
        const __m512i bytes = _mm512_loadu_si512(p);
        const uint64_t backslash = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\'));
        const uint64_t quote = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"'));
        // Of a run of backslashes every second one is escaped, and what follows a run of odd
        // length. The subtraction carries from the first to the end of each run: where the bits
        // behind it then differ from those of odd places, the run's parity shows.
        constexpr uint64_t odd = 0xAAAAAAAAAAAAAAAA;
        const uint64_t pairs = (((backslash << 1) | odd) - backslash) ^ odd;
        const uint64_t escaped = pairs ^ backslash;
        const uint64_t escape = pairs & backslash;
        const __m512i meant = _mm512_permutex2var_epi8(low, bytes, high);
        const uint64_t unknown =
            escaped & (_mm512_testn_epi8_mask(meant, meant) | _mm512_movepi8_mask(bytes));
        // It ends before what is left to the caller; an escape that the block cuts waits for the
        // next one.
        const uint64_t last = (quote & ~escaped) | unknown >> 1;
        const uint64_t stop = last | (escape & uint64_t{1} << 63);
        const __m512i plain = _mm512_mask_mov_epi8(bytes, escaped, meant);
        // Nearly always: where the next block begins does not wait for what is in this one.
        if (!stop) [[likely]] {
            _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(~escape, plain));
            to += 64 - _mm_popcnt_u64(escape);
            p += 64;
            continue;
        }
        const size_t taken = _tzcnt_u64(stop);
        const uint64_t kept = ~escape & _bzhi_u64(~uint64_t{0}, static_cast<uint32_t>(taken));
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(kept, plain));
        to += _mm_popcnt_u64(kept);
        p += taken;
        if (last) break;
    }
    out = to;
    return p;
}

}  // namespace roughly
