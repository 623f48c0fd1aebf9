#include "intersection.hpp"

#include <algorithm>

namespace roughly {

namespace {

size_t count_common_blocks_plain(CommonBlocks& blocks) {
    constexpr std::ptrdiff_t block = 4;
    static_assert(block <= largest_block);
    auto [x, x_end, y, y_end] = blocks;
    size_t common = 0;
    for (size_t n = 0; n < blocks_at_once && x_end - x >= block && y_end - y >= block; ++n) {
        for (std::ptrdiff_t i = 0; i < block; ++i)
            for (std::ptrdiff_t j = 0; j < block; ++j) common += x[i] == y[j];
        const uint64_t x_last = x[block - 1], y_last = y[block - 1];
        x += x_last <= y_last ? block : 0;
        y += y_last <= x_last ? block : 0;
    }
    blocks.x = x;
    blocks.y = y;
    return common;
}

auto count_common_blocks(Simd level) {
#if defined(__x86_64__)
    if (level == Simd::avx512) return count_common_blocks_avx512;
    if (level == Simd::avx2) return count_common_blocks_avx2;
#else
    (void)level;
#endif
    return count_common_blocks_plain;
}

}  // namespace

size_t count_common(Simd level, Elements a, Elements b, size_t needed) {
    const auto count_blocks = count_common_blocks(level);
    CommonBlocks left{a.data(), a.data() + a.size(), b.data(), b.data() + b.size()};
    size_t common = 0;
    for (;;) {
        const std::ptrdiff_t most = std::min(left.x_end - left.x, left.y_end - left.y);
        if (common + static_cast<size_t>(most) < needed) return common;
        if (most < largest_block) break;
        common += count_blocks(left);
    }
    while (left.x < left.x_end && left.y < left.y_end) {
        const uint64_t x = *left.x, y = *left.y;
        common += x == y;
        left.x += x <= y;
        left.y += y <= x;
    }
    return common;
}

}  // namespace roughly
