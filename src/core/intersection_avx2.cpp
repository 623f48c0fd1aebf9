// Blocks of four elements with AVX2. The linkage rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "intersection.hpp"

namespace roughly {

size_t count_common_blocks_avx2(CommonBlocks& blocks) {
    constexpr std::ptrdiff_t block = 4;
    static_assert(block <= largest_block);
    const uint64_t *x = blocks.x, *y = blocks.y;
    __m256i counts = _mm256_setzero_si256();
    for (size_t n = 0; n < blocks_at_once && blocks.x_end - x >= block && blocks.y_end - y >= block;
         ++n) {
        const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
        const auto equal = [&](int i) {
            return _mm256_cmpeq_epi64(four, _mm256_set1_epi64x(static_cast<long long>(y[i])));
        };
        // All bits of an element that is found, so what is taken away is -1.
        const __m256i found = _mm256_or_si256(_mm256_or_si256(equal(0), equal(1)),
                                              _mm256_or_si256(equal(2), equal(3)));
        counts = _mm256_sub_epi64(counts, found);
        const uint64_t x_last = x[block - 1], y_last = y[block - 1];
        x += x_last <= y_last ? block : 0;
        y += y_last <= x_last ? block : 0;
    }
    blocks.x = x;
    blocks.y = y;
    alignas(32) uint64_t count[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(count), counts);
    return count[0] + count[1] + count[2] + count[3];
}

}  // namespace roughly
