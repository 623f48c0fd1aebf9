// Sorted values in Elias-Fano's manner, for the views of hamming_kernel.hpp: 2 bits and the bits
// below the leading log2(n) for each, and any bucket found in constant time as a rule. A run of n
// values in one bucket costs its neighbours n / 64 steps. Places are of 32 bits, so there are less
// than 2^31 values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hamming_kernel.hpp"
#include "packed.hpp"

namespace roughly {

// The arrays of a view, made from its entries in order.
class EliasFanoWriter {
   public:
    EliasFanoWriter(size_t count, unsigned head, unsigned width);

    // The bucket is not below the one before.
    void append(uint64_t bucket, uint64_t entry);

    struct Arrays {
        // Two samples are in a word, the first one lower.
        std::vector<uint64_t> upper, samples, lower;
    };
    Arrays finish();

   private:
    void close_buckets(uint64_t until);

    unsigned head_, width_;
    size_t count_ = 0;
    uint64_t bucket_ = 0;  // the one being filled
    std::vector<uint64_t> upper_;
    std::vector<uint32_t> samples_;
    PackedWriter lower_;
};

// Values whose view has all their bits, the first bits in the bucket's number.
class EliasFano {
   public:
    EliasFano() = default;
    EliasFano(const EliasFanoView& view, size_t count) : view_(view), count_(count) {}

    const EliasFanoView& view() const { return view_; }
    size_t size() const { return count_; }

    uint64_t at(size_t index) const;

    // Whether no neighbour can be equal to the value at an index: its lower bits are others.
    bool alone(size_t index) const {
        const uint64_t here = packed_at(view_.lower, index, view_.width);
        return (index == 0 || packed_at(view_.lower, index - 1, view_.width) != here) &&
               (index + 1 == count_ || packed_at(view_.lower, index + 1, view_.width) != here);
    }

    // The indices of all values equal to this one, from first to beyond the last.
    std::pair<size_t, size_t> equal_range(uint64_t value, const HammingKernels& kernels) const;

    // take(value) for all in order.
    template <typename Take>
    void each(Take&& take) const {
        size_t bit = 0;
        for (size_t index = 0; index < count_; ++index, ++bit) {
            while ((view_.upper[bit / 64] >> bit % 64 & 1) == 0) ++bit;
            take((bit - index) << view_.width % 64 | packed_at(view_.lower, index, view_.width));
        }
    }

   private:
    EliasFanoView view_{};
    size_t count_ = 0;
};

}  // namespace roughly
