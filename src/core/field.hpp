// Arithmetic modulo the prime 2^61 - 1. Elements are kept in [0, prime).
#pragma once

#include <cstddef>
#include <cstdint>

namespace roughly {

__extension__ using uint128 = unsigned __int128;

inline constexpr uint64_t field_prime = (uint64_t{1} << 61) - 1;

// Congruent to x and below 2^61 + 8; x < 2^124.
inline uint64_t field_fold(uint128 x) {
    // Not x >> 61: the double shift that it becomes is slow on many CPUs.
    const uint64_t low = static_cast<uint64_t>(x), high = static_cast<uint64_t>(x >> 64);
    const uint64_t once = (low & field_prime) + (high << 3) + (low >> 61);
    return (once & field_prime) + (once >> 61);
}

// Of a value below 2 * prime.
inline uint64_t field_canonical(uint64_t x) { return x >= field_prime ? x - field_prime : x; }

inline uint64_t field_reduce(uint128 x) { return field_canonical(field_fold(x)); }

inline uint64_t field_multiply(uint64_t a, uint64_t b) {
    return field_reduce(static_cast<uint128>(a) * b);
}

inline uint64_t field_power(uint64_t base, size_t exponent) {
    uint64_t result = 1;
    for (; exponent; exponent >>= 1, base = field_multiply(base, base))
        if (exponent & 1) result = field_multiply(result, base);
    return result;
}

// Bytes are hashed in chunks of 7, so that every chunk is an element of the field.
inline constexpr size_t chunk_bytes = 7;
inline constexpr uint64_t chunk_mask = (uint64_t{1} << 56) - 1;

}  // namespace roughly
