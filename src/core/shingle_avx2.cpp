// Fingerprints four at a time with AVX2. The linkage rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "shingle.hpp"

namespace roughly {

namespace {

struct Vector {
    static constexpr size_t lanes = 4;
    __m256i v;

    static Vector all(uint64_t x) { return {_mm256_set1_epi64x(static_cast<long long>(x))}; }
    static Vector load(const uint64_t* p) {
        return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
    }
    void store(uint64_t* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
};

inline Vector operator+(Vector a, Vector b) { return {_mm256_add_epi64(a.v, b.v)}; }
inline Vector operator&(Vector a, Vector b) { return {_mm256_and_si256(a.v, b.v)}; }
inline Vector operator^(Vector a, Vector b) { return {_mm256_xor_si256(a.v, b.v)}; }
inline Vector operator>>(Vector a, int bits) { return {_mm256_srli_epi64(a.v, bits)}; }
inline Vector operator<<(Vector a, int bits) { return {_mm256_slli_epi64(a.v, bits)}; }
// Product of the low halves.
inline Vector multiply32(Vector a, Vector b) { return {_mm256_mul_epu32(a.v, b.v)}; }
// Low half of the product.
inline Vector multiply64(Vector a, Vector b) {
    return multiply32(a, b) + ((multiply32(a >> 32, b) + multiply32(a, b >> 32)) << 32);
}
// x, or x minus the prime if that is not negative; x < 2^63.
inline Vector less_prime(Vector x) {
    const __m256i prime = Vector::all(field_prime).v;
    const __m256i smaller = _mm256_cmpgt_epi64(prime, x.v);
    return {_mm256_sub_epi64(x.v, _mm256_andnot_si256(smaller, prime))};
}

#include "shingle_vector.inl"

}  // namespace

void fingerprints_avx2(const ShingleChunk& chunk) { fingerprints(chunk); }

}  // namespace roughly
