// Canonical form to fingerprints (docs/algorithm.md, section 3, which derives the bounds).
// Two tokens of at most 14m bytes collide with probability at most (m + 1) / (p - 1) over the keys:
// a pair of chunks (c + k1)(d + k2) is linear in k1 and k2, the pairs a polynomial in k of degree <
// m. Two shingles are polynomials in r of degree at most w: w / (p - 1) more. p = 2^61 - 1; at 40
// bits about w / 2^39. Fingerprints come in document order with their repeats, in chunks that stay
// in the first-level cache; memory does not grow with the document. One Shingler per thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "buffer.hpp"
#include "field.hpp"
#include "key.hpp"
#include "token.hpp"

namespace roughly {

// The keyed bijection of b-bit numbers that stands for the random permutation.
template <int bits>
inline uint64_t permute(uint64_t shingle_hash, const uint64_t keys[2]) {
    static_assert(bits == 64 || bits == 40);
    constexpr uint64_t mask = ~uint64_t{0} >> (64 - bits);
    constexpr uint64_t multiplier = 0xD6E8FEB86659FD93u;
    constexpr int half = bits / 2;
    uint64_t x = (shingle_hash ^ keys[0]) & mask;
    x ^= x >> half;
    x = (x * multiplier + keys[1]) & mask;
    x ^= x >> half;
    x = (x * multiplier) & mask;
    return x ^ (x >> half);
}

// The work of a kernel: `count` fingerprints from count + width - 1 token hashes. All arrays may be
// read and written one vector beyond their ends.
struct ShingleChunk {
    const uint64_t* hashes;
    size_t count;
    size_t width;
    int bits;
    uint64_t key;      // shingle key
    uint64_t leading;  // its power `width`
    uint64_t permutation[2];
    uint64_t* scratch[2];  // count + width elements each
    uint64_t* out;
};

void fingerprints_avx2(const ShingleChunk& chunk);
void fingerprints_avx512(const ShingleChunk& chunk);

// The keys of token hashes.
struct TokenKeys {
    uint64_t weight;         // of a pair of chunks
    uint64_t first, second;  // added to the chunks of a pair
};

// Hashes of `count` tokens, a multiple of 8, of which the first begins one byte behind `ends[-1]`;
// of a token of more than 14 bytes these are its first 14 alone, and its number goes to `longer`,
// which has room for one vector more than `count`. Returns how many of those there are.
size_t hash_tokens_avx512(const uint8_t* canonical, const uint32_t* ends, size_t count,
                          const TokenKeys& keys, uint64_t* out, uint32_t* longer);

// The hash of a token, below 2^61 + 8; 15 bytes are read whatever its size.
uint64_t hash_token(const uint8_t* token, size_t size, const Keys& keys);

class Shingler {
   public:
    // width >= 1; bits 64 or 40.
    Shingler(size_t width, int bits, const Keys& keys, Simd level);

    size_t shingle_count(size_t tokens) const {
        return tokens >= width_ ? tokens - width_ + 1 : tokens ? 1 : 0;
    }

    // Calls take(uint64_t* fingerprints, size_t count) for successive chunks, which it may change.
    template <typename Take>
    void fingerprints(const Tokens& tokens, Take&& take) {
        const auto hash = [&](size_t first, size_t last, uint64_t* out) {
            hash_tokens(tokens, first, last, out);
        };
        in_chunks(tokens.count, hash, take);
    }

    // The same from the hashes of tokens, as `hash_tokens` makes them.
    template <typename Take>
    void fingerprints(const uint64_t* hashes, size_t count, Take&& take) {
        const auto copy = [&](size_t first, size_t last, uint64_t* out) {
            for (size_t i = first; i < last; ++i) *out++ = hashes[i];
        };
        in_chunks(count, copy, take);
    }

    // The hashes of the tokens from `first` to `last`.
    void hash_tokens(const Tokens& tokens, size_t first, size_t last, uint64_t* out) const;

   private:
    // hash(first, last, out) gives the hashes of those tokens.
    template <typename Hash, typename Take>
    void in_chunks(size_t tokens, const Hash& hash, Take& take) {
        if (tokens < width_) {
            if (tokens == 0) return;
            hash(0, tokens, hashes_.data());
            uint64_t fingerprint = short_fingerprint(tokens);
            take(&fingerprint, size_t{1});
            return;
        }
        // The last width - 1 token hashes of a chunk begin the next one.
        const size_t carried = width_ - 1;
        hash(0, carried, hashes_.data());
        for (size_t done = carried; done < tokens;) {
            const size_t count = tokens - done < chunk_ ? tokens - done : chunk_;
            hash(done, done + count, hashes_.data() + carried);
            fingerprint_chunk(count);
            take(fingerprints_.data(), count);
            for (size_t i = 0; i < carried; ++i) hashes_[i] = hashes_[count + i];
            done += count;
        }
    }

    uint64_t short_fingerprint(size_t count) const;
    // `count` fingerprints from the count + width - 1 token hashes.
    void fingerprint_chunk(size_t count);
    template <int bits>
    void roll(size_t count);

    size_t width_;
    size_t chunk_;  // shingles at a time: in the cache, and many beside the width, which each
                    // begins with
    int bits_;
    Simd level_;
    Keys keys_;
    uint64_t leading_;  // shingle key to the power width
    uint64_t leaving_;  // its negative: removes the token that leaves the shingle
    Buffer<uint64_t> hashes_;
    Buffer<uint64_t> fingerprints_;
    Buffer<uint64_t> scratch_[2];
};

}  // namespace roughly
