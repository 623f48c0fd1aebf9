// All keys of a sketch, derived from one 64-bit seed (docs/algorithm.md, section 2).
#pragma once

#include <cstdint>
#include <vector>

#include "field.hpp"

namespace roughly {

class KeyStream {
   public:
    explicit KeyStream(uint64_t seed) : state_(seed) {}

    uint64_t word() {
        state_ += 0x9E3779B97F4A7C15u;
        uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }

    // A non-zero element of the field.
    uint64_t element() {
        for (;;) {
            const uint64_t value = word() >> 3;
            if (value != 0 && value != field_prime) return value;
        }
    }

   private:
    uint64_t state_;
};

struct Keys {
    uint64_t token;          // weighs the pairs of a token's chunks
    uint64_t token_pair[2];  // added to the chunks of a pair
    uint64_t shingle;
    uint64_t super_shingle;
    uint64_t permutation[2];
    std::vector<uint64_t> minima_xor;       // of perm:K, one a minimum
    std::vector<uint64_t> minima_multiply;  // odd

    explicit Keys(uint64_t seed, size_t minima = 0) {
        KeyStream stream(seed);
        token = stream.element();
        token_pair[0] = stream.element();
        token_pair[1] = stream.element();
        shingle = stream.element();
        super_shingle = stream.element();
        permutation[0] = stream.word();
        permutation[1] = stream.word();
        for (size_t j = 0; j < minima; ++j) {
            minima_xor.push_back(stream.word());
            minima_multiply.push_back(stream.word() | 1);
        }
    }
};

}  // namespace roughly
