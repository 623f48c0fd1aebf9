// The sums of a hash block with AVX2. The linkage rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "hash.hpp"

namespace roughly {

void hash_block_avx2(const uint8_t* data, size_t size, const uint32_t* keys, uint64_t* sums) {
    static_assert(hash_sums == 4);
    __m256i sum[hash_sums] = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                              _mm256_setzero_si256(), _mm256_setzero_si256()};
    for (size_t i = 0; i < size; i += 32) {
        const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + i));
        for (size_t j = 0; j < hash_sums; ++j) {
            const auto* key = reinterpret_cast<const __m256i*>(keys + i / 4 + 2 * j);
            const __m256i keyed = _mm256_add_epi32(words, _mm256_loadu_si256(key));
            sum[j] =
                _mm256_add_epi64(sum[j], _mm256_mul_epu32(keyed, _mm256_srli_epi64(keyed, 32)));
        }
    }
    for (size_t j = 0; j < hash_sums; ++j) {
        const __m128i two =
            _mm_add_epi64(_mm256_castsi256_si128(sum[j]), _mm256_extracti128_si256(sum[j], 1));
        sums[j] = static_cast<uint64_t>(_mm_cvtsi128_si64(two)) +
                  static_cast<uint64_t>(_mm_extract_epi64(two, 1));
    }
}

}  // namespace roughly
