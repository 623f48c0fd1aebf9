// Text to canonical form (docs/algorithm.md, 1.1 to 1.3): every token followed by one space.
// `tokenize` takes any bytes; it throws std::length_error only when the canonical form would reach
// 4 GiB. One Tokens per thread, reused from document to document. Tokens hold no byte 0, no space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "simd.hpp"

namespace roughly {

struct Span {
    uint64_t begin;  // bytes of the input
    uint64_t end;
};

struct Tokens {
    Buffer<uint8_t> canonical;
    size_t canonical_size = 0;
    Buffer<uint32_t> ends;  // one past each token's last byte in `canonical`; a space stands there
    size_t count = 0;

    uint32_t begin(size_t token) const { return token ? ends[token - 1] + 1 : 0; }
};

void tokenize(Simd level, const uint8_t* text, size_t size, Tokens& tokens);

// The same tokens, and where each of them came from.
void tokenize_with_spans(const uint8_t* text, size_t size, Tokens& tokens,
                         std::vector<Span>& spans);

// A kernel's place in the output. Room for `size + 1` more canonical bytes and as many ends is the
// caller's promise.
struct TokenCursor {
    uint8_t* canonical;  // start of the canonical form
    uint32_t position;   // where its next byte goes
    uint32_t* next_end;
    bool in_word;  // the last byte written belongs to an open token
};

// Take bytes up to the first that is not ASCII, or until fewer than 64 are left; return how many.
size_t tokenize_ascii_avx2(const uint8_t* text, size_t size, TokenCursor& cursor);
size_t tokenize_ascii_avx512(const uint8_t* text, size_t size, TokenCursor& cursor);

}  // namespace roughly
