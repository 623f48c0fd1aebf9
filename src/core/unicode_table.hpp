// Fold and class of every code point of Unicode 15.0.0 (docs/algorithm.md, 1.2), as a two-stage
// table written by tools/unicode_table.py. Read-only, safe from any thread.
#pragma once

#include <cstdint>

namespace roughly {

extern const uint16_t unicode_block[];             // code point / 128 -> block
extern const uint16_t unicode_entry[];             // block * 128 + code point % 128 -> entry
extern const uint32_t unicode_expansion_offset[];  // entry - first_expansion -> offset in bytes
extern const uint8_t unicode_expansion[];          // pieces, then of each: class, length, bytes

// Entries 0 to 2 are also the classes of an expansion's pieces: the code point folds to itself.
enum UnicodeEntry : uint16_t {
    separator = 0,
    word = 1,
    solo = 2,
    transparent = 3,
    hangul = 4,  // a syllable: decomposed by arithmetic
    first_expansion = 5,
};

inline uint16_t unicode_lookup(uint32_t code_point) {
    return unicode_entry[unicode_block[code_point >> 7] * 128u + (code_point & 127)];
}

}  // namespace roughly
