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
    for (size_t j = 0; j < hash_sums; ++j)
        sums[j] = static_cast<uint64_t>(_mm512_reduce_add_epi64(sum[j]));
}

}  // namespace roughly
