// Fingerprints eight at a time with AVX-512. The linkage rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "shingle.hpp"

namespace roughly {

namespace {

struct Vector {
    static constexpr size_t lanes = 8;
    __m512i v;

    static Vector all(uint64_t x) { return {_mm512_set1_epi64(static_cast<long long>(x))}; }
    static Vector load(const uint64_t* p) { return {_mm512_loadu_si512(p)}; }
    void store(uint64_t* p) const { _mm512_storeu_si512(p, v); }
};

inline Vector operator+(Vector a, Vector b) { return {_mm512_add_epi64(a.v, b.v)}; }
inline Vector operator&(Vector a, Vector b) { return {_mm512_and_si512(a.v, b.v)}; }
inline Vector operator^(Vector a, Vector b) { return {_mm512_xor_si512(a.v, b.v)}; }
inline Vector operator>>(Vector a, unsigned bits) { return {_mm512_srli_epi64(a.v, bits)}; }
inline Vector operator<<(Vector a, unsigned bits) { return {_mm512_slli_epi64(a.v, bits)}; }
// Product of the low halves.
inline Vector multiply32(Vector a, Vector b) { return {_mm512_mul_epu32(a.v, b.v)}; }
// Low half of the product.
inline Vector multiply64(Vector a, Vector b) { return {_mm512_mullo_epi64(a.v, b.v)}; }
// x, or x minus the prime if that is not negative: the other of the two wraps to a larger number.
inline Vector less_prime(Vector x) {
    return {_mm512_min_epu64(x.v, _mm512_sub_epi64(x.v, Vector::all(field_prime).v))};
}

#include "shingle_vector.inl"

}  // namespace

void fingerprints_avx512(const ShingleChunk& chunk) { fingerprints(chunk); }

}  // namespace roughly
