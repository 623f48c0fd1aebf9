// Blocks of bits that stand together, each with the number of bits in which two near values may
// differ there: the compact design, for tables in memory that are looked up by a block's leading
// bits. Two values within k of each other differ in at most `radius` bits of one of the blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "bit_permutation.hpp"
#include "hamming_table.hpp"

namespace roughly {

struct HammingBlock {
    unsigned shift;   // of the lowest bit of the key
    unsigned bits;    // of the key: the leading bits of the block
    unsigned radius;  // bits of the key that may differ
    std::vector<uint64_t> flips;

    uint64_t key(uint64_t value) const { return value >> shift & low_bits(bits); }
};

// `blocks` blocks of values of `bits` bits for distances up to k, with keys of at most `key_bits`.
inline std::vector<HammingBlock> hamming_blocks(unsigned bits, unsigned k, unsigned blocks,
                                                unsigned key_bits) {
    if (blocks < 1 || blocks > std::min(k + 1, bits) || bits > 64)
        throw std::invalid_argument("hamming blocks: out of range");
    std::vector<HammingBlock> made;
    unsigned top = bits;
    for (unsigned i = 0; i < blocks; ++i) {
        const unsigned width = bits / blocks + (i < bits % blocks ? 1 : 0);
        const unsigned radius = (k + 1) / blocks - (i < (k + 1) % blocks ? 0 : 1);
        const unsigned key = std::min(width, key_bits);
        made.push_back({top - key, key, radius, flips_within(key, radius)});
        top -= width;
    }
    return made;
}

}  // namespace roughly
