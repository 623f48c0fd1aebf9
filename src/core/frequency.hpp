// How many documents have an element, roughly: the order "rarest first" of the join and the rule
// for masses go by it.
//
// Elements share counters that stop at 255: element e has counter mixed(e) >> (64 - bits) of
// 2^bits, where bits depends on the number of elements alone. So a frequency is never too small, 1
// is exact, and the same documents give the same frequencies on any machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "huge_buffer.hpp"
#include "sketch_set.hpp"

namespace roughly {

// For so many elements: two to four counters an element, 2^16 at least.
int frequency_bits(uint64_t elements);

// The counters of one stretch of elements: of those whose counter is from `first` on, as many as
// fit in the table. First everything is counted, then everything is written.
class FrequencyTable {
   public:
    // `bytes` of memory: 65,536 at least, rounded down to a power of two, and no more than needed.
    FrequencyTable(int bits, uint64_t bytes);

    // Tables that are needed, one after the other, for all counters.
    uint64_t passes() const { return (uint64_t{1} << bits_) / size_; }

    // Begins with a pass anew.
    void clear(uint64_t pass);

    // Counts the elements of the documents from `begin` to `end`.
    void count(const SketchSet& sketches, size_t begin, size_t end, size_t threads);

    // Writes the frequencies of their elements that this pass counts; `out` has an array for each
    // chunk, as long as its values.
    void write(const SketchSet& sketches, size_t begin, size_t end, size_t threads,
               std::span<uint8_t* const> out) const;

   private:
    int bits_;
    uint64_t first_ = 0;
    uint64_t size_;
    HugeBuffer counters_;
};

}  // namespace roughly
