// CRC32C by the processor's own instruction, which every CPU with AVX2 has. It takes three cycles
// but can begin in each, so three lanes are run side by side and put together. The linkage rule of
// token_avx2.cpp holds here too.
#include <immintrin.h>

#include "checksum.hpp"

namespace roughly {

namespace {

uint64_t next(uint64_t state, const uint8_t* data) {
    uint64_t word;
    __builtin_memcpy(&word, data, 8);
    return _mm_crc32_u64(state, word);
}

// Takes in as many bytes as three lanes have, as often as they are there.
uint32_t run_lanes(uint32_t state, const uint8_t*& data, size_t& size, size_t lane,
                   const uint32_t (&zeros)[4][256]) {
    const auto after_lane = [&zeros](uint64_t before) {
        return zeros[0][before & 0xFF] ^ zeros[1][before >> 8 & 0xFF] ^
               zeros[2][before >> 16 & 0xFF] ^ zeros[3][before >> 24 & 0xFF];
    };
    for (; size >= 3 * lane; data += 3 * lane, size -= 3 * lane) {
        uint64_t first = state;
        uint64_t second = 0;
        uint64_t third = 0;
        for (size_t i = 0; i < lane; i += 8) {
            first = next(first, data + i);
            second = next(second, data + lane + i);
            third = next(third, data + 2 * lane + i);
        }
        state = static_cast<uint32_t>(after_lane(after_lane(first) ^ second) ^ third);
    }
    return state;
}

}  // namespace

uint32_t crc32c_avx2(uint32_t state, const uint8_t* data, size_t size, const ZeroBytes& long_lane,
                     const ZeroBytes& short_lane) {
    state = run_lanes(state, data, size, checksum_long_lane, long_lane.table);
    state = run_lanes(state, data, size, checksum_short_lane, short_lane.table);
    for (; size >= 8; data += 8, size -= 8) state = static_cast<uint32_t>(next(state, data));
    for (; size; ++data, --size) state = _mm_crc32_u8(state, *data);
    return state;
}

}  // namespace roughly
