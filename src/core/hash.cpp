#include "hash.hpp"

#include <cstring>

#include "field.hpp"
#include "key.hpp"

namespace roughly {

namespace {

struct EquivalenceKeys {
    uint32_t word[hash_block_keys];
    uint64_t high;
    uint64_t low;

    EquivalenceKeys() {
        KeyStream stream(0x726F7567686C7931u);
        high = stream.element();
        low = stream.element();
        for (uint32_t& key : word) key = static_cast<uint32_t>(stream.word() >> 32);
    }

    static const EquivalenceKeys& get() {
        static const EquivalenceKeys keys;
        return keys;
    }
};

void hash_block_plain(const uint8_t* data, size_t size, const uint32_t* keys, uint64_t* sums) {
    for (size_t j = 0; j < hash_sums; ++j) sums[j] = 0;
    for (size_t i = 0; i < size / 4; i += 2) {
        uint32_t word[2];
        std::memcpy(word, data + 4 * i, 8);
        for (size_t j = 0; j < hash_sums; ++j) {
            const uint32_t first = word[0] + keys[i + 2 * j];
            const uint32_t second = word[1] + keys[i + 2 * j + 1];
            sums[j] += uint64_t{first} * second;
        }
    }
}

auto hash_block(Simd level) {
#if defined(__x86_64__)
    if (level == Simd::avx512) return hash_block_avx512;
    if (level == Simd::avx2) return hash_block_avx2;
#else
    (void)level;
#endif
    return hash_block_plain;
}

}  // namespace

Hash128 hash_bytes(Simd level, const uint8_t* data, size_t size) {
    const EquivalenceKeys& keys = EquivalenceKeys::get();
    const auto block_sums = hash_block(level);
    uint64_t high = size % field_prime;
    uint64_t low = high;
    uint64_t sums[hash_sums];
    const auto add_sum = [](uint64_t& half, uint64_t key, uint64_t sum) {
        half = field_reduce(static_cast<uint128>(half) * key + sum);
    };
    const auto add_block = [&](const uint8_t* block, size_t block_size) {
        block_sums(block, block_size, keys.word, sums);
        add_sum(high, keys.high, sums[0]);
        add_sum(high, keys.high, sums[1]);
        add_sum(low, keys.low, sums[2]);
        add_sum(low, keys.low, sums[3]);
    };
    size_t at = 0;
    for (; size - at >= hash_block_bytes; at += hash_block_bytes)
        add_block(data + at, hash_block_bytes);
    const size_t rest = (size - at) / 64 * 64;
    if (rest == size - at) {
        if (rest) add_block(data + at, rest);
    } else {
        uint8_t last[hash_block_bytes];
        std::memcpy(last, data + at, size - at);
        std::memset(last + (size - at), 0, rest + 64 - (size - at));
        add_block(last, rest + 64);
    }
    return {high, low};
}

}  // namespace roughly
