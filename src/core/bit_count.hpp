// How often each of the 64 bits is set in many values (a positional popcount), kept bit-sliced:
// plane j holds digit j of all 64 counts at once, so that adding a value costs about two
// instructions and the question asked in the end - which bits are set in more than half of the
// values - is answered for all bits together, without a single count being made.
// One BitCounter per thread; every level gives the same answer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd.hpp"

namespace roughly {

struct BitPlanes {
    // Each lane counts values of its own. 2^40 values are more than a document can have.
    static constexpr size_t planes = 40;
    static constexpr size_t lanes = 8;
    alignas(64) uint64_t word[planes + 1][lanes];
};

void count_bits_avx2(const uint64_t* values, size_t count, BitPlanes& planes);
void count_bits_avx512(const uint64_t* values, size_t count, BitPlanes& planes);

class BitCounter {
   public:
    explicit BitCounter(Simd level);

    void clear();
    void add(const uint64_t* values, size_t count);
    size_t count() const { return count_; }

    // Every bit that is set in more than half of the values.
    uint64_t majority() const;

   private:
    void (*add_)(const uint64_t*, size_t, BitPlanes&);
    size_t lanes_;  // that are used
    size_t count_ = 0;
    BitPlanes planes_{};
};

}  // namespace roughly
