// What two documents have in common, shown in their tokens. Both answers are exact: a fingerprint
// only proposes, the tokens decide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "token.hpp"

namespace roughly {

struct Passage {
    uint32_t a;       // first token in a
    uint32_t b;       // first token in b
    uint32_t tokens;  // how many agree
};

// Runs of common shingles, ascending in a; every shingle of a that b has lies in exactly one. From
// its first shingle a passage extends as far as the shingles agree, at the place in b (among the
// first 64 places of that shingle) that lets it extend farthest; the earliest place behind the
// passage before, if several do.
std::vector<Passage> passages(const Tokens& a, const Tokens& b, size_t width, Simd level);

// For every token of a, whether it lies in a shingle that b has too (1) or not (0).
std::vector<uint8_t> common_tokens(const Tokens& a, const Tokens& b, size_t width, Simd level);

}  // namespace roughly
