// How many elements two sketches have in common. Blocks of both are compared each with each, and
// the one that ends first is passed: a merge of single elements would wait at every step for the
// one before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd.hpp"
#include "sketch_set.hpp"

namespace roughly {

// Elements that both have; may stop, with a smaller count, once `needed` is out of reach.
size_t count_common(Simd level, Elements a, Elements b, size_t needed = 0);

// Some blocks from x and y on, whose ends are there too; moves both behind what was counted. A
// block of either is left for the caller if there is less than eight of it.
struct CommonBlocks {
    const uint64_t *x, *x_end, *y, *y_end;
};

inline constexpr size_t common_blocks_at_once = 16;

size_t count_common_blocks_avx2(CommonBlocks& blocks);
size_t count_common_blocks_avx512(CommonBlocks& blocks);

}  // namespace roughly
