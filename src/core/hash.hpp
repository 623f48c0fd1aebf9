// The 128-bit hash of a byte string that decides equivalence (docs/algorithm.md, section 6), under
// fixed keys. Two strings of g KiB agree by chance with probability below (2^-55 + 2g / 2^61)^2:
// each half holds two sums that are 2^-32-almost-universal, then a polynomial of degree 2g. It is
// not a cryptographic hash: whoever acts on equal hashes of untrusted documents compares the bytes
// first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd.hpp"

namespace roughly {

struct Hash128 {
    uint64_t high;
    uint64_t low;
};

Hash128 hash_bytes(Simd level, const uint8_t* data, size_t size);

// A block's four sums of products; `size` is a multiple of 64, at most hash_block_bytes. Sum j adds
// keys[2j], keys[2j + 1], ... to the block's 32-bit words.
inline constexpr size_t hash_block_bytes = 1024;
inline constexpr size_t hash_sums = 4;
inline constexpr size_t hash_block_keys = hash_block_bytes / 4 + 2 * (hash_sums - 1);
void hash_block_avx2(const uint8_t* data, size_t size, const uint32_t* keys, uint64_t* sums);
void hash_block_avx512(const uint8_t* data, size_t size, const uint32_t* keys, uint64_t* sums);

}  // namespace roughly
