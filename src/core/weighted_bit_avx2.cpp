// Weights of bits with AVX2: eight counts a vector, chosen by comparing the bits of a byte. The
// linkage rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "weighted_bit.hpp"

namespace roughly {

namespace {

struct Sums {
    __m256i sum[8];

    Sums() {
        for (__m256i& each : sum) each = _mm256_setzero_si256();
    }
    void add(uint64_t value, uint32_t weight) {
        const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        const __m256i all = _mm256_set1_epi32(static_cast<int>(weight));
        for (int byte = 0; byte < 8; ++byte) {
            const __m256i spread = _mm256_set1_epi32(static_cast<int>(value >> (8 * byte) & 255));
            const __m256i set = _mm256_cmpeq_epi32(_mm256_and_si256(spread, bits), bits);
            sum[byte] = _mm256_add_epi32(sum[byte], _mm256_and_si256(set, all));
        }
    }
    void store(uint32_t* out) const {
        for (int byte = 0; byte < 8; ++byte)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * byte), sum[byte]);
    }
};

#include "weighted_bit.inl"

}  // namespace

void add_weighted_avx2(const uint64_t* values, const uint32_t* weights, size_t count,
                       uint64_t* sums) {
    add_weighted(values, weights, count, sums);
}

}  // namespace roughly
