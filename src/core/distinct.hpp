// The distinct ones of very many numbers, how often each is there, and where each number is among
// them: what a block of documents sends and gets back of the counters of its elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace roughly {

struct DistinctNumbers {
    std::vector<uint64_t> numbers;  // ascending
    std::vector<uint32_t> counts;
    std::vector<uint32_t> places;  // of every number that was given
};

// The numbers have up to `bits` bits, and there are fewer than 2^32.
DistinctNumbers distinct(std::span<const uint64_t> numbers, unsigned bits);

}  // namespace roughly
