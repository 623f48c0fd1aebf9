// Squeezing a table of fingerprints with AVX2. The linkage rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "fingerprint_set.hpp"

namespace roughly {

namespace {

// For each of 16 masks of four 64-bit lanes, the 32-bit lanes that hold its set ones, ascending.
struct SqueezeTable {
    alignas(64) uint32_t lanes[16][8];
};

constexpr SqueezeTable squeeze = [] {
    SqueezeTable table{};
    for (int mask = 0; mask < 16; ++mask) {
        int count = 0;
        for (uint32_t lane = 0; lane < 4; ++lane) {
            if (!(mask >> lane & 1)) continue;
            table.lanes[mask][count++] = 2 * lane;
            table.lanes[mask][count++] = 2 * lane + 1;
        }
    }
    return table;
}();

}  // namespace

size_t squeeze_values_avx2(const uint64_t* values, size_t count, uint64_t mask, uint64_t* out) {
    const __m256i masks = _mm256_set1_epi64x(static_cast<long long>(mask));
    const __m256i zero = _mm256_setzero_si256();
    uint64_t* next = out;
    for (size_t i = 0; i < count; i += 4) {
        const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + i));
        const __m256i empty = _mm256_cmpeq_epi64(four, zero);
        const __m256i multiple = _mm256_cmpeq_epi64(_mm256_and_si256(four, masks), zero);
        const __m256i kept = _mm256_andnot_si256(empty, multiple);
        const auto bits = static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(kept)));
        const __m256i lanes =
            _mm256_load_si256(reinterpret_cast<const __m256i*>(squeeze.lanes[bits]));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(next),
                            _mm256_permutevar8x32_epi32(four, lanes));
        next += _mm_popcnt_u32(bits);
    }
    return static_cast<size_t>(next - out);
}

}  // namespace roughly
