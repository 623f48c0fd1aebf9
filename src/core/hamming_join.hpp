// The batch version of the Hamming distance problem (2007 paper, 3.3): tables on the queries, and
// stored values that pass by, chunk after chunk, in any order and on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hamming_block.hpp"
#include "hamming_kernel.hpp"

namespace roughly {

// A stored value and a query within k bits, as positions.
struct HammingPair {
    uint64_t stored;
    uint64_t query;
    friend auto operator<=>(const HammingPair&, const HammingPair&) = default;
};

class HammingJoin {
   public:
    HammingJoin(std::span<const uint64_t> queries, unsigned bits, unsigned k, unsigned blocks,
                Simd level, size_t threads);

    // Every pair of a query and one of these values, which stand from position `first` on, exactly
    // once; sorted by stored value, then by query, so that the pairs of chunks need no merging.
    std::vector<HammingPair> probe(std::span<const uint64_t> stored, uint64_t first,
                                   size_t threads) const;

   private:
    struct Table {
        HammingBlock block;
        std::vector<uint32_t> starts;
        std::vector<uint32_t> signatures;
        std::vector<uint64_t> values;
        std::vector<uint32_t> queries;  // which query each of the values is

        BucketView view() const {
            return {starts.data(), signatures.data(),        values.data(),
                    block.shift,   block.shift + block.bits, low_bits(block.bits)};
        }
    };
    // Whether a table before this one finds the pair as well.
    bool found_before(size_t table, uint64_t difference) const;

    unsigned bits_, k_;
    const HammingKernels* kernels_;
    std::vector<Table> tables_;
};

}  // namespace roughly
