// The 2007 paper's compression of a sorted table (3.2): blocks of 1,024 bytes, each with its first
// value whole and then, for every value, the place of the leading one of its XOR with the one
// before in a Huffman code over the whole table, and the bits to the right of that one. A block's
// key is its last value. Two bytes of each block count its values, and equal neighbours, for which
// the paper has no code, have a symbol of their own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "interpolation.hpp"

namespace roughly {

inline constexpr size_t xor_block_words = 128;
inline constexpr size_t xor_symbols = 65;  // places 0 to 63, and 64: equal to the one before

// Bits of each symbol's code, 0 where it does not occur; the codes follow by the canonical rule.
using XorCodeLengths = std::array<uint8_t, xor_symbols>;

struct XorBlocks {
    std::vector<uint64_t> blocks;  // xor_block_words each
    std::vector<uint64_t> keys;    // the last value of each block
    std::vector<uint64_t> ranks;   // how many values there are before each block, and in all
    XorCodeLengths lengths{};
};

XorBlocks encode_xor_blocks(std::span<const uint64_t> sorted, unsigned bits);

// Lengths of a Huffman code, none over 24 bits.
XorCodeLengths huffman_lengths(const std::array<uint64_t, xor_symbols>& counts);

// Reads one block after the other; belongs to one thread.
class XorBlockDecoder {
   public:
    // Throws std::invalid_argument if the lengths are not those of a code.
    XorBlockDecoder(const XorCodeLengths& lengths, unsigned bits);

    // Appends the values of a block of `xor_block_words` words. Throws std::invalid_argument for a
    // block that ends before its values do.
    void decode(const uint64_t* block, std::vector<uint64_t>& values) const;

   private:
    static constexpr unsigned table_bits = 12;
    struct Entry {
        uint8_t symbol, length;  // length 0: a longer code
    };
    struct LongCode {
        uint64_t code;
        uint8_t symbol, length;
    };
    std::vector<Entry> table_;
    std::vector<LongCode> long_;
    unsigned bits_;
};

}  // namespace roughly
