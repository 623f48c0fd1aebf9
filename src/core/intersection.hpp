// How many elements two sketches have in common. Blocks of both are compared each with each, and
// the one that ends first is passed: a merge of single elements would wait at every step for the
// one before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd.hpp"
#include "sketch_set.hpp"

namespace roughly {

// Elements that both have; may stop, with a smaller count, once `needed` is out of reach. Both
// ascend, and have no element twice.
size_t count_common(Simd level, Elements a, Elements b, size_t needed = 0);

// What is left of two lists.
struct CommonBlocks {
    const uint64_t *x, *x_end, *y, *y_end;
};

// The kernels pass some blocks of one list or the other, one at least, and return how many elements
// of them are common. There are `largest_block` elements or more of both.
inline constexpr std::ptrdiff_t largest_block = 8;
inline constexpr size_t blocks_at_once = 16;

size_t count_common_blocks_avx2(CommonBlocks& blocks);
size_t count_common_blocks_avx512(CommonBlocks& blocks);

}  // namespace roughly
