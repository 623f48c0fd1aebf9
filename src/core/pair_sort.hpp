// Pairs by their documents, the first and then the second, digit by digit: less work than to
// compare them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pair.hpp"
#include "radix_sort.hpp"

namespace roughly {

// No two have both documents in common.
inline void sort_pairs(std::vector<Pair>& pairs, size_t threads) {
    uint32_t last = 0;
    for (const Pair& pair : pairs) last = std::max(last, pair.b);  // a < b
    const auto bits = static_cast<unsigned>(std::bit_width(last));
    std::vector<Pair> scratch(pairs.size());
    const auto key = [bits](const Pair& pair) { return uint64_t{pair.a} << bits | pair.b; };
    radix_sort(pairs.data(), scratch.data(), pairs.size(), 2 * bits, key, threads);
}

}  // namespace roughly
