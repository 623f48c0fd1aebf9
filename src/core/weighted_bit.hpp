// How much weight each of the 64 bits has: the sum of the weights of the values in which it is set.
// Weights are whole numbers, so that no order of adding and no instruction set changes a sum. One
// WeightedBits per thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd.hpp"

namespace roughly {

// Weights are below 2^16 and a call has fewer than 2^16 values: its sums fit 32 bits.
void add_weighted_avx2(const uint64_t* values, const uint32_t* weights, size_t count,
                       uint64_t* sums);
void add_weighted_avx512(const uint64_t* values, const uint32_t* weights, size_t count,
                         uint64_t* sums);

class WeightedBits {
   public:
    static constexpr uint32_t weight_limit = 1u << 16;
    static constexpr size_t count_limit = size_t{1} << 16;

    explicit WeightedBits(Simd level);

    void clear();
    void add(const uint64_t* values, const uint32_t* weights, size_t count);
    uint64_t total() const { return total_; }

    // Every bit that has more than half of the weight.
    uint64_t majority() const;

   private:
    void (*add_)(const uint64_t*, const uint32_t*, size_t, uint64_t*);
    uint64_t total_ = 0;
    uint64_t sums_[64] = {};
};

}  // namespace roughly
