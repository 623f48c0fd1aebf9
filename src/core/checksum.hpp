// CRC32C (Castagnoli: reflected polynomial 0x82F63B78, all ones before and after), the checksum of
// the blocks of every file on disk. It finds any error burst of up to 32 bits, so every flipped
// byte; it is no defence against somebody who means harm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd.hpp"

namespace roughly {

// The checksum of `before`'s bytes followed by these, if `before` is the checksum of those.
uint32_t crc32c(Simd level, const uint8_t* data, size_t size, uint32_t before = 0);

// One checksum for each `block_bytes` >= 1; the last block may be shorter.
std::vector<uint32_t> crc32c_blocks(Simd level, const uint8_t* data, size_t size,
                                    size_t block_bytes, size_t threads);

// What a number of zero bytes makes of a state, byte by byte of the state: the map is linear.
struct ZeroBytes {
    uint32_t table[4][256];
};

// The kernel's three lanes have either length; 65,536 = 5 * 3 * 4,096 + 10 * 3 * 128 + 256, so
// little of a block is left to a single lane.
inline constexpr size_t checksum_long_lane = 4096;
inline constexpr size_t checksum_short_lane = 128;
uint32_t crc32c_avx2(uint32_t state, const uint8_t* data, size_t size, const ZeroBytes& long_lane,
                     const ZeroBytes& short_lane);

}  // namespace roughly
