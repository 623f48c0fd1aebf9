// ASCII text to canonical form, 64 bytes at a time with AVX2: classify, lower the case, then
// squeeze the kept bytes together eight at a time with a shuffle table. Nothing here may have
// external linkage but the kernel, and nothing from the standard library may be instantiated: its
// weak symbols would carry AVX2 code into the baseline.
#include <immintrin.h>

#include "token.hpp"

namespace roughly {

namespace {

// For each of 256 masks, the positions of its set bits, ascending.
struct SqueezeTable {
    alignas(64) uint8_t positions[256][8];
};

constexpr SqueezeTable make_squeeze_table() {
    SqueezeTable table{};
    for (int mask = 0; mask < 256; ++mask) {
        int count = 0;
        for (uint8_t bit = 0; bit < 8; ++bit)
            if (mask >> bit & 1) table.positions[mask][count++] = bit;
    }
    return table;
}

constexpr SqueezeTable squeeze = make_squeeze_table();

struct Half {
    __m256i folded;  // letters in lower case, digits, and spaces for everything else
    uint32_t letters_and_digits;
};

inline Half classify(__m256i bytes) {
    // Setting bit 5 folds A-Z onto a-z and leaves 0-9 in place; what else it moves stays outside
    // both ranges, which is checked on the bytes themselves for the digits.
    const __m256i lowered = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
    const __m256i letter = _mm256_sub_epi8(lowered, _mm256_set1_epi8('a'));
    const __m256i is_letter =
        _mm256_cmpeq_epi8(_mm256_min_epu8(letter, _mm256_set1_epi8(25)), letter);
    const __m256i digit = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));
    const __m256i is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(digit, _mm256_set1_epi8(9)), digit);
    const __m256i kept = _mm256_or_si256(is_letter, is_digit);
    const __m256i folded = _mm256_blendv_epi8(_mm256_set1_epi8(' '), lowered, kept);
    return {folded, static_cast<uint32_t>(_mm256_movemask_epi8(kept))};
}

}  // namespace

size_t tokenize_ascii_avx2(const uint8_t* text, size_t size, TokenCursor& cursor) {
    uint32_t position = cursor.position;
    uint32_t* next_end = cursor.next_end;
    uint64_t in_word = cursor.in_word;
    size_t at = 0;
    for (; at + 64 <= size; at += 64) {
        const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at));
        const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at + 32));
        const uint64_t not_ascii = uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(second))}
                                       << 32 |
                                   static_cast<uint32_t>(_mm256_movemask_epi8(first));
        // What stands before the first byte that is not ASCII is taken all the same.
        const uint64_t valid = ~not_ascii & (not_ascii - 1);
        const Half low = classify(first);
        const Half high = classify(second);
        const uint64_t word =
            (uint64_t{high.letters_and_digits} << 32 | low.letters_and_digits) & valid;
        // A token is closed by the first separator behind it, which is kept as the space.
        const uint64_t was_in_word = in_word;
        const uint64_t end = ~word & (word << 1 | in_word) & valid;
        const uint64_t kept = word | end;
        in_word = word >> 63;

        alignas(32) uint8_t bytes[64];
        _mm256_store_si256(reinterpret_cast<__m256i*>(bytes), low.folded);
        _mm256_store_si256(reinterpret_cast<__m256i*>(bytes + 32), high.folded);
        uint8_t* out = cursor.canonical + position;
        for (int i = 0; i < 8; ++i) {
            const uint8_t mask = static_cast<uint8_t>(kept >> (8 * i));
            const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + 8 * i));
            const __m128i order =
                _mm_loadl_epi64(reinterpret_cast<const __m128i*>(squeeze.positions[mask]));
            _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_shuffle_epi8(eight, order));
            out += _mm_popcnt_u32(mask);
        }
        // Eight ends at a time, needed or not: their number cannot be predicted.
        uint64_t bits = end;
        const auto count = static_cast<size_t>(_mm_popcnt_u64(end));
        for (size_t done = 0; done < count; done += 8) {
            for (size_t i = 0; i < 8; ++i, bits = _blsr_u64(bits)) {
                const auto through =
                    static_cast<uint32_t>(_mm_popcnt_u64(kept & _blsmsk_u64(bits)));
                next_end[done + i] = position + through - 1;
            }
        }
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
