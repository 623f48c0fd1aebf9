// Simhashes near another, with the population count of every CPU that has AVX2. The linkage rule of
// token_avx2.cpp holds here too.
#include <immintrin.h>

#include "distance_sample.hpp"

namespace roughly {

namespace {

inline long long bit_count(uint64_t value) { return _mm_popcnt_u64(value); }

#include "near_value.inl"

}  // namespace

size_t near_values_avx2(uint64_t value, const uint64_t* values, size_t count, uint32_t most,
                        uint32_t* out) {
    return near_values(value, values, count, most, out);
}

}  // namespace roughly
