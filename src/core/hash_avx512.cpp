// The sums of a hash block with AVX-512. The linkage rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "hash.hpp"

namespace roughly {

void hash_block_avx512(const uint8_t* data, size_t size, const uint32_t* keys, uint64_t* sums) {
    static_assert(hash_sums == 4);
    __m512i sum[hash_sums] = {_mm512_setzero_si512(), _mm512_setzero_si512(),
                              _mm512_setzero_si512(), _mm512_setzero_si512()};
    for (size_t i = 0; i < size; i += 64) {
        const __m512i words = _mm512_loadu_si512(data + i);
        for (size_t j = 0; j < hash_sums; ++j) {
            const __m512i keyed = _mm512_add_epi32(words, _mm512_loadu_si512(keys + i / 4 + 2 * j));
            sum[j] =
                _mm512_add_epi64(sum[j], _mm512_mul_epu32(keyed, _mm512_srli_epi64(keyed, 32)));
        }
    }
    for (size_t j = 0; j < hash_sums; ++j) {
        alignas(64) uint64_t lane[8];
        _mm512_store_si512(lane, sum[j]);
        sums[j] = 0;
        for (const uint64_t each : lane) sums[j] += each;
    }
}

}  // namespace roughly
