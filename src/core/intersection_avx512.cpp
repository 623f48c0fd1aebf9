// Blocks of eight elements with AVX-512. The linkage rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "intersection.hpp"

namespace roughly {

size_t count_common_blocks_avx512(CommonBlocks& blocks) {
    constexpr std::ptrdiff_t block = 8;
    static_assert(block <= largest_block);
    const uint64_t *x = blocks.x, *y = blocks.y;
    size_t common = 0;
    for (size_t n = 0; n < blocks_at_once && blocks.x_end - x >= block && blocks.y_end - y >= block;
         ++n) {
        const __m512i eight = _mm512_loadu_si512(x);
        const auto equal = [&](int i) -> unsigned {
            return _mm512_cmpeq_epi64_mask(eight, _mm512_set1_epi64(static_cast<long long>(y[i])));
        };
        // Elements of a list differ, so each has one bit at most.
        const unsigned found = ((equal(0) | equal(1)) | (equal(2) | equal(3))) |
                               ((equal(4) | equal(5)) | (equal(6) | equal(7)));
        common += static_cast<size_t>(_mm_popcnt_u32(found));
        const uint64_t x_last = x[block - 1], y_last = y[block - 1];
        x += x_last <= y_last ? block : 0;
        y += y_last <= x_last ? block : 0;
    }
    blocks.x = x;
    blocks.y = y;
    return common;
}

}  // namespace roughly
