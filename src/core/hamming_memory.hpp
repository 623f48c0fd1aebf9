// The part of a growing Hamming index that is in memory: values can be added, the last ones taken
// back, and what is within k bits of one is found. A value's number is how many came before it.
// One thread at a time, unless all only ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hamming_block.hpp"
#include "hamming_index.hpp"

namespace roughly {

class HammingMemory {
   public:
    // For about `capacity` values; more are slower.
    HammingMemory(unsigned bits, unsigned k, unsigned blocks, size_t capacity, Simd level);

    size_t size() const { return values_.size(); }
    std::span<const uint64_t> values() const { return values_; }

    void add(uint64_t value);

    // Takes the last ones back.
    void forget(size_t count);

    // Appends the numbers of all values within k, ascending.
    void find(uint64_t x, std::vector<int64_t>& numbers) const;

    // The nearest, of these the first; its distance is over 64 if there is none.
    HammingMatch nearest(uint64_t x) const;

    // The crawler's question for each value in order: `known` are matches elsewhere, which come
    // before all here (distance over 64: none). Where neither has a match the value is added. Makes
    // known[i] the match, its position counted from `first` for those here.
    void seen(std::span<const uint64_t> values, std::span<HammingMatch> known, uint64_t first);

   private:
    struct Table {
        HammingBlock block;
        std::vector<uint32_t> heads;
        std::vector<uint32_t> next;
    };
    // Both ask memory for what `nearest` needs, first the one, then the other.
    void prepare_heads(uint64_t x) const;
    void prepare_values(uint64_t x) const;
    template <typename Take>
    void probe(uint64_t x, Take& take) const;

    unsigned bits_, k_;
    const HammingKernels* kernels_;
    std::vector<uint64_t> values_;
    std::vector<Table> tables_;
};

}  // namespace roughly
