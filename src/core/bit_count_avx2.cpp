// Positional popcounts four values at a time with AVX2. The linkage rule of token_avx2.cpp holds
// here too.
#include <immintrin.h>

#include "bit_count.hpp"

namespace roughly {

namespace {

struct Vector {
    static constexpr size_t lanes = 4;
    __m256i v;

    static Vector load(const uint64_t* p) {
        return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
    }
    void store(uint64_t* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
};

inline Vector operator&(Vector a, Vector b) { return {_mm256_and_si256(a.v, b.v)}; }
inline Vector operator^(Vector a, Vector b) { return {_mm256_xor_si256(a.v, b.v)}; }
inline Vector parity(Vector a, Vector b, Vector c) { return a ^ b ^ c; }
inline Vector majority(Vector a, Vector b, Vector c) {
    return {_mm256_or_si256((a & b).v, ((a ^ b) & c).v)};
}
inline bool any(Vector a) { return !_mm256_testz_si256(a.v, a.v); }

#include "bit_count.inl"

}  // namespace

void count_bits_avx2(const uint64_t* values, size_t count, BitPlanes& planes) {
    count_bits(values, count, planes);
}

}  // namespace roughly
