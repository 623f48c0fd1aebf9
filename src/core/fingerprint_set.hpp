// The set of a document's fingerprints: counts them and gives them back in ascending order.
//
// Fingerprints are permuted, hence uniform, so their leading bits are a hash that keeps their
// order: in an open-addressing table indexed by them, a scan meets the values almost sorted and a
// short insertion sort does the rest. Counting and sorting cost one pass together. Whoever crafts
// fingerprints that crowd one place (possible under a known seed) only fills the spill, which is
// sorted the usual way; the answer is the same and the time is bounded by n log n.
// One set per thread, reused from document to document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "simd.hpp"

namespace roughly {

class FingerprintSet {
   public:
    explicit FingerprintSet(Simd level) : level_(level) {}

    // Empties the set, with room for about `expected` distinct fingerprints of so many bits.
    void clear(size_t expected, int bits);

    void add(const uint64_t* fingerprints, size_t count);

    // Number of distinct fingerprints.
    size_t size();

    // Appends the multiples of m >= 1 among them, ascending, at most `limit`. Call size() first.
    void append_multiples(uint64_t m, size_t limit, Sequence<uint64_t>& out);

   private:
    size_t farthest() const;
    size_t slot_count() const { return (size_t{1} << log_slots_) + farthest(); }
    void allocate(int log_slots);
    void add_displaced(uint64_t value);
    void grow(size_t more);

    int bits_ = 64;
    Simd level_;
    int log_slots_ = 0;
    size_t count_ = 0;       // in the slots
    bool has_zero_ = false;  // 0 marks an empty slot, so the fingerprint 0 is kept apart
    Buffer<uint64_t> slots_;
    Buffer<uint64_t> displaced_;
    std::vector<uint64_t> spill_;
};

// Copies the values that are not 0 and have no bit in common with `mask`; returns how many. Values
// may be read and written up to one vector beyond what is asked for and kept.
size_t squeeze_values_avx2(const uint64_t* values, size_t count, uint64_t mask, uint64_t* out);
size_t squeeze_values_avx512(const uint64_t* values, size_t count, uint64_t mask, uint64_t* out);

}  // namespace roughly
