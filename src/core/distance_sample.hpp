// All pairs of simhashes whose Hamming distance lies between two bounds, counted, and of each
// distance an equal number of them drawn by chance (section 4.1 of the 2007 paper). Every pair is
// looked at: this is for collections that can be compared with themselves, some hundred thousand.
// What is drawn depends on the simhashes and the seed alone: of each distance those pairs whose
// keyed mixture of positions is smallest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simd.hpp"

namespace roughly {

struct DistancePair {
    uint32_t a, b;      // positions, a before b
    uint32_t distance;  // bits
};

struct DistanceSample {
    std::array<uint64_t, 65> pairs{};  // of each distance, 0 outside the bounds
    std::vector<DistancePair> drawn;   // by distance, then position
};

// least <= most <= 64; fewer than 2^32 simhashes. Throws std::invalid_argument otherwise.
DistanceSample sample_distances(std::span<const uint64_t> simhashes, size_t least, size_t most,
                                size_t each, uint64_t seed, size_t threads, Simd level);

// Positions of the values within `most` bits of `value`; returns how many. `out` has room for all.
size_t near_values_avx2(uint64_t value, const uint64_t* values, size_t count, uint32_t most,
                        uint32_t* out);

}  // namespace roughly
