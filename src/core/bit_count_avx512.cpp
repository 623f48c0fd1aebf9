// Positional popcounts eight values at a time with AVX-512, whose instruction for any function of
// three bits makes an adder of two. The linkage rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "bit_count.hpp"

namespace roughly {

namespace {

struct Vector {
    static constexpr size_t lanes = 8;
    __m512i v;

    static Vector load(const uint64_t* p) { return {_mm512_loadu_si512(p)}; }
    void store(uint64_t* p) const { _mm512_storeu_si512(p, v); }
};

inline Vector operator&(Vector a, Vector b) { return {_mm512_and_si512(a.v, b.v)}; }
inline Vector operator^(Vector a, Vector b) { return {_mm512_xor_si512(a.v, b.v)}; }
inline Vector parity(Vector a, Vector b, Vector c) {
    return {_mm512_ternarylogic_epi64(a.v, b.v, c.v, 0x96)};
}
inline Vector majority(Vector a, Vector b, Vector c) {
    return {_mm512_ternarylogic_epi64(a.v, b.v, c.v, 0xE8)};
}
inline bool any(Vector a) { return _mm512_test_epi64_mask(a.v, a.v) != 0; }

#include "bit_count.inl"

}  // namespace

void count_bits_avx512(const uint64_t* values, size_t count, BitPlanes& planes) {
    count_bits(values, count, planes);
}

}  // namespace roughly
