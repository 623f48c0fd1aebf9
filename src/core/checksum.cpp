#include "checksum.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "parallel.hpp"

namespace roughly {

namespace {

// table[k][b]: the state after byte b and then k zero bytes, so that 8 bytes are taken at a time.
using Table = std::array<std::array<uint32_t, 256>, 8>;

constexpr Table make_table() {
    Table table{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t state = byte;
        for (int bit = 0; bit < 8; ++bit) state = state >> 1 ^ (state & 1 ? 0x82F63B78u : 0);
        table[0][byte] = state;
    }
    for (size_t k = 1; k < table.size(); ++k)
        for (size_t byte = 0; byte < 256; ++byte)
            table[k][byte] = table[k - 1][byte] >> 8 ^ table[0][table[k - 1][byte] & 0xFF];
    return table;
}

constexpr Table table = make_table();

uint32_t crc32c_plain(uint32_t state, const uint8_t* data, size_t size) {
    for (; size >= 8; data += 8, size -= 8) {
        uint64_t word;
        std::memcpy(&word, data, 8);
        word ^= state;
        state = 0;
        for (size_t k = 0; k < 8; ++k) state ^= table[7 - k][word >> 8 * k & 0xFF];
    }
    for (; size; ++data, --size) state = state >> 8 ^ table[0][(state ^ *data) & 0xFF];
    return state;
}

#if defined(__x86_64__)
ZeroBytes zero_bytes(size_t count) {
    uint32_t after_bit[32];
    for (int bit = 0; bit < 32; ++bit) {
        uint32_t state = uint32_t{1} << bit;
        for (size_t i = 0; i < count; ++i) state = state >> 8 ^ table[0][state & 0xFF];
        after_bit[bit] = state;
    }
    ZeroBytes zeros{};
    for (int byte = 0; byte < 4; ++byte)
        for (int value = 0; value < 256; ++value)
            for (int bit = 0; bit < 8; ++bit)
                if (value >> bit & 1) zeros.table[byte][value] ^= after_bit[8 * byte + bit];
    return zeros;
}
#endif

uint32_t next_state(Simd level, uint32_t state, const uint8_t* data, size_t size) {
#if defined(__x86_64__)
    if (level != Simd::plain) {
        static const ZeroBytes long_lane = zero_bytes(checksum_long_lane);
        static const ZeroBytes short_lane = zero_bytes(checksum_short_lane);
        return crc32c_avx2(state, data, size, long_lane, short_lane);
    }
#else
    (void)level;
#endif
    return crc32c_plain(state, data, size);
}

}  // namespace

uint32_t crc32c(Simd level, const uint8_t* data, size_t size, uint32_t before) {
    return ~next_state(level, ~before, data, size);
}

std::vector<uint32_t> crc32c_blocks(Simd level, const uint8_t* data, size_t size,
                                    size_t block_bytes, size_t threads) {
    std::vector<uint32_t> sums(size / block_bytes + (size % block_bytes != 0));
    in_parallel(sums.size(), threads, [&] {
        return [&](size_t block) {
            const size_t begin = block * block_bytes;
            sums[block] = crc32c(level, data + begin, std::min(block_bytes, size - begin));
        };
    });
    return sums;
}

}  // namespace roughly
