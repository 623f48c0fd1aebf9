// Squeezing a table of fingerprints with AVX-512. The linkage rule of token_avx2.cpp holds here
// too.
#include <immintrin.h>

#include "fingerprint_set.hpp"

namespace roughly {

size_t squeeze_values_avx512(const uint64_t* values, size_t count, uint64_t mask, uint64_t* out) {
    const __m512i masks = _mm512_set1_epi64(static_cast<long long>(mask));
    uint64_t* next = out;
    for (size_t i = 0; i < count; i += 8) {
        const __m512i eight = _mm512_loadu_si512(values + i);
        const __mmask8 kept =
            _mm512_test_epi64_mask(eight, eight) & _mm512_testn_epi64_mask(eight, masks);
        _mm512_storeu_si512(next, _mm512_maskz_compress_epi64(kept, eight));
        next += _mm_popcnt_u32(kept);
    }
    return static_cast<size_t>(next - out);
}

}  // namespace roughly
