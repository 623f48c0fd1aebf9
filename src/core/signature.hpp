// A set of elements folded into 512 bits, to tell at a glance that two sets have too little in
// common: each element turns one bit over. Where the bits of two sets differ, so do the sets, hence
// they differ in at least as many elements as bits. Sets of some hundred elements that are far
// below a threshold mostly show it, and the sets themselves need not be fetched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sketch_set.hpp"

namespace roughly {

struct Signature {
    static constexpr size_t words = 8;

    std::array<uint64_t, words> bits{};

    void add(uint64_t element) {
        const uint64_t place = mixed(element) >> 55;
        bits[place >> 6] ^= uint64_t{1} << (place & 63);
    }

    // Bits that differ.
    size_t distance(const Signature& other) const {
        // In parallel in the bytes of a word; eight of them count up to 64 there.
        uint64_t in_bytes = 0;
        for (size_t i = 0; i < words; ++i) {
            uint64_t x = bits[i] ^ other.bits[i];
            x -= (x >> 1) & 0x5555555555555555u;
            x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
            in_bytes += (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
        }
        constexpr uint64_t even = 0x00FF00FF00FF00FFu;
        return ((in_bytes & even) + ((in_bytes >> 8) & even)) * 0x0001000100010001u >> 48;
    }

    // At most so many of a set's n elements and of another's m are common.
    size_t most_common(const Signature& other, size_t n, size_t m) const {
        return (n + m - distance(other)) / 2;
    }
};

}  // namespace roughly
