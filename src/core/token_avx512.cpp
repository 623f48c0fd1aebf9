// ASCII text to canonical form, 64 bytes at a time with AVX-512 VBMI2, which squeezes a whole
// vector in one instruction. The linkage rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "token.hpp"

namespace roughly {

namespace {

// Places in a block whose canonical form begins at `position`.
inline void store_ends(__m128i places, uint32_t position, uint32_t* to) {
    const __m512i begin = _mm512_set1_epi32(static_cast<int>(position));
    _mm512_storeu_si512(to, _mm512_add_epi32(begin, _mm512_cvtepu8_epi32(places)));
}

}  // namespace

size_t tokenize_ascii_avx512(const uint8_t* text, size_t size, TokenCursor& cursor) {
    uint32_t position = cursor.position;
    uint32_t* next_end = cursor.next_end;
    uint64_t in_word = cursor.in_word;
    const __m512i space = _mm512_set1_epi8(' ');
    const __m512i ordinals = _mm512_set_epi8(
        63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41,
        40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18,
        17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    size_t at = 0;
    for (; at + 64 <= size; at += 64) {
        const __m512i bytes = _mm512_loadu_si512(text + at);
        // What stands before the first byte that is not ASCII is taken all the same.
        const uint64_t not_ascii = _mm512_movepi8_mask(bytes);
        const uint64_t valid = ~not_ascii & (not_ascii - 1);
        const __m512i lowered = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
        const uint64_t letter = _mm512_cmple_epu8_mask(
            _mm512_sub_epi8(lowered, _mm512_set1_epi8('a')), _mm512_set1_epi8(25));
        const uint64_t digit = _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, _mm512_set1_epi8('0')),
                                                      _mm512_set1_epi8(9));
        const uint64_t word = (letter | digit) & valid;
        // A token is closed by the first separator behind it, which is kept as the space.
        const uint64_t was_in_word = in_word;
        const uint64_t end = ~word & (word << 1 | in_word) & valid;
        const uint64_t kept = word | end;
        in_word = word >> 63;

        const __m512i spaced = _mm512_mask_mov_epi8(lowered, end, space);
        _mm512_storeu_si512(cursor.canonical + position, _mm512_maskz_compress_epi8(kept, spaced));
        // Sixteen ends at a time, needed or not: their number cannot be predicted, only that more
        // than that are rare.
        const __m512i places = _mm512_maskz_compress_epi8(_pext_u64(end, kept), ordinals);
        const auto count = static_cast<size_t>(_mm_popcnt_u64(end));
        store_ends(_mm512_castsi512_si128(places), position, next_end);
        if (count > 16) [[unlikely]]
            store_ends(_mm512_extracti32x4_epi32(places, 1), position, next_end + 16);
        next_end += count;
        position += static_cast<uint32_t>(_mm_popcnt_u64(kept));
        if (not_ascii) {
            const size_t taken = _tzcnt_u64(not_ascii);
            in_word = taken ? word >> (taken - 1) & 1 : was_in_word;
            at += taken;
            break;
        }
    }
    cursor.position = position;
    cursor.next_end = next_end;
    cursor.in_word = in_word;
    return at;
}

}  // namespace roughly
