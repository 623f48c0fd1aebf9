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

inline __m128i load_token(const uint8_t* canonical, uint32_t end_before) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(canonical + end_before + 1));
}

// The first 16 bytes of four tokens that follow those which end there.
inline __m512i load_tokens(const uint8_t* canonical, const uint32_t* ends_before) {
    const __m256i low =
        _mm256_inserti128_si256(_mm256_castsi128_si256(load_token(canonical, ends_before[0])),
                                load_token(canonical, ends_before[1]), 1);
    const __m256i high =
        _mm256_inserti128_si256(_mm256_castsi128_si256(load_token(canonical, ends_before[2])),
                                load_token(canonical, ends_before[3]), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

// Masks of that many bytes, at most seven.
inline __m512i byte_masks(__m256i sizes) {
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i bits = _mm512_slli_epi64(_mm512_cvtepu32_epi64(sizes), 3);
    return _mm512_sub_epi64(_mm512_sllv_epi64(one, bits), one);
}

// In lane i the eight bytes of token i of eight that begin with byte `from`.
inline __m512i chunk_places(size_t from) {
    alignas(64) uint8_t places[64];
    for (size_t i = 0; i < 64; ++i) places[i] = static_cast<uint8_t>(i / 8 * 16 + from + i % 8);
    return _mm512_load_si512(places);
}

}  // namespace

size_t hash_tokens_avx512(const uint8_t* canonical, const uint32_t* ends, size_t count,
                          const TokenKeys& keys, uint64_t* out, uint32_t* longer) {
    const __m512i first_places = chunk_places(0), second_places = chunk_places(chunk_bytes);
    const __m256i seven = _mm256_set1_epi32(chunk_bytes);
    const __m256i fourteen = _mm256_set1_epi32(2 * chunk_bytes);
    const Vector first_key = Vector::all(keys.first), second_key = Vector::all(keys.second);
    __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    uint32_t* next_longer = longer;
    for (size_t i = 0; i < count; i += 8) {
        const uint32_t* before = ends + i - 1;
        const __m512i low = load_tokens(canonical, before);
        const __m512i high = load_tokens(canonical, before + 4);
        const __m256i begins = _mm256_sub_epi32(
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(before)), _mm256_set1_epi32(-1));
        const __m256i sizes = _mm256_sub_epi32(
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ends + i)), begins);
        const __m256i in_first = _mm256_min_epu32(sizes, seven);
        const __m256i in_both = _mm256_min_epu32(sizes, fourteen);
        const __m512i first_masks = byte_masks(in_first);
        const __m512i second_masks = byte_masks(_mm256_sub_epi32(in_both, in_first));
        const Vector first{
            _mm512_and_si512(_mm512_permutex2var_epi8(low, first_places, high), first_masks)};
        const Vector second{
            _mm512_and_si512(_mm512_permutex2var_epi8(low, second_places, high), second_masks)};
        multiply_add(first + first_key, Multiplier(second + second_key), Vector::all(0))
            .store(out + i);
        // Which tokens are long cannot be predicted: no branch.
        const __mmask8 is_longer = _mm256_cmpgt_epu32_mask(sizes, fourteen);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(next_longer),
                            _mm256_maskz_compress_epi32(is_longer, number));
        next_longer += _mm_popcnt_u32(is_longer);
        number = _mm256_add_epi32(number, _mm256_set1_epi32(8));
    }
    return static_cast<size_t>(next_longer - longer);
}

void fingerprints_avx512(const ShingleChunk& chunk) { fingerprints(chunk); }

}  // namespace roughly
