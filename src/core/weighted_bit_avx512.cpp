// Weights of bits with AVX-512, where sixteen bits of a value are the mask of an addition as they
// are. The linkage rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "weighted_bit.hpp"

namespace roughly {

namespace {

struct Sums {
    __m512i sum[4];

    Sums() {
        for (__m512i& each : sum) each = _mm512_setzero_si512();
    }
    void add(uint64_t value, uint32_t weight) {
        const __m512i all = _mm512_set1_epi32(static_cast<int>(weight));
        for (int part = 0; part < 4; ++part)
            sum[part] = _mm512_mask_add_epi32(
                sum[part], static_cast<__mmask16>(value >> (16 * part)), sum[part], all);
    }
    void store(uint32_t* out) const {
        for (int part = 0; part < 4; ++part) _mm512_storeu_si512(out + 16 * part, sum[part]);
    }
};

#include "weighted_bit.inl"

}  // namespace

void add_weighted_avx512(const uint64_t* values, const uint32_t* weights, size_t count,
                         uint64_t* sums) {
    add_weighted(values, weights, count, sums);
}

}  // namespace roughly
