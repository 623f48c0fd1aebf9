// Which values stay by the dedup rule, where values are alike that differ in at most k bits: they
// are taken in order, and one goes if and only if one that stays is within k bits of it, and of
// like size where that counts. Only those that stay are held, so a mass of alike values costs no
// more than any others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hamming_memory.hpp"
#include "pair.hpp"

namespace roughly {

class HammingGreedy {
   public:
    // For about `capacity` values of 64 bits; of two sizes the smaller must be at least
    // `size_ratio` times the larger (denominator 0: sizes do not count).
    HammingGreedy(unsigned k, unsigned blocks, size_t capacity, Ratio size_ratio, Simd level);

    // Values that stay in any case. Sizes are one a value wherever they are given.
    void keep(std::span<const uint64_t> values, std::span<const uint32_t> sizes);

    // Decides about values in order: the nearest that stays, of these the first, with its number
    // among all that were ever given; a distance over 64 says that there is none, so it stays.
    std::vector<HammingMatch> take(std::span<const uint64_t> values,
                                   std::span<const uint32_t> sizes);

   private:
    HammingMatch nearest(uint64_t value, uint32_t size);
    void stay(uint64_t value, uint32_t size);

    HammingMemory memory_;
    Ratio size_ratio_;
    uint64_t given_ = 0;
    std::vector<uint64_t> number_;  // of each value that stays
    std::vector<uint32_t> size_;
    std::vector<int64_t> near_;  // of the value in hand
};

}  // namespace roughly
