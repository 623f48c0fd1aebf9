#include "shingle.hpp"

#include <algorithm>
#include <cstring>

namespace roughly {

namespace {

inline uint64_t load(const uint8_t* p) {
    uint64_t value;
    std::memcpy(&value, p, 8);
    return value;
}

// Masks of the first and the second chunk of a token of up to 14 bytes.
struct ChunkMasks {
    uint64_t first[15];
    uint64_t second[15];
};

constexpr ChunkMasks masks = [] {
    ChunkMasks made{};
    for (int size = 0; size <= 14; ++size) {
        made.first[size] = size >= 7 ? chunk_mask : (uint64_t{1} << (8 * size)) - 1;
        made.second[size] = size <= 7 ? 0 : (uint64_t{1} << (8 * (size - 7))) - 1;
    }
    return made;
}();

// A token of up to 14 bytes, or such a part of a longer one.
inline uint64_t hash_pair(const uint8_t* token, size_t size, const TokenKeys& keys) {
    const uint64_t first = load(token) & masks.first[size];
    const uint64_t second = load(token + chunk_bytes) & masks.second[size];
    return field_fold(static_cast<uint128>(first + keys.first) * (second + keys.second));
}

uint64_t hash_long_token(const uint8_t* token, size_t size, const TokenKeys& keys) {
    constexpr size_t pair_bytes = 2 * chunk_bytes;
    uint64_t hash = 0;
    for (size_t at = 0; at < size; at += pair_bytes) {
        const size_t left = size - at < pair_bytes ? size - at : pair_bytes;
        hash = field_fold(static_cast<uint128>(hash) * keys.weight +
                          hash_pair(token + at, left, keys));
    }
    return hash;
}

}  // namespace

uint64_t hash_token(const uint8_t* token, size_t size, const Keys& keys) {
    const TokenKeys chosen{keys.token, keys.token_pair[0], keys.token_pair[1]};
    return size <= 14 ? hash_pair(token, size, chosen) : hash_long_token(token, size, chosen);
}

Shingler::Shingler(size_t width, int bits, const Keys& keys, Simd level)
    : width_(width),
      chunk_(width > 256 ? 4 * width : 1024),
      bits_(bits),
      level_(level),
      keys_(keys) {
    leading_ = field_power(keys.shingle, width);
    leaving_ = field_prime - leading_;
    hashes_.reserve(width + chunk_);
    fingerprints_.reserve(chunk_);
    for (Buffer<uint64_t>& scratch : scratch_) scratch.reserve(width + chunk_);
}

// Token hashes are left below 2^61 + 8; what is made of them is reduced at the end.
void Shingler::hash_tokens(const Tokens& tokens, size_t first, size_t last, uint64_t* out) const {
    const TokenKeys keys{keys_.token, keys_.token_pair[0], keys_.token_pair[1]};
    const uint8_t* canonical = tokens.canonical.data();
#if defined(__x86_64__)
    if (level_ == Simd::avx512) {
        // No token ends before the first one.
        if (first == 0 && last > 0) *out++ = hash_token(canonical, tokens.ends[first++], keys_);
        constexpr size_t most = 256;
        uint32_t longer[most + 8];
        while (last - first >= 8) {
            const size_t count = std::min(most, (last - first) / 8 * 8);
            const uint32_t* ends = tokens.ends.data() + first;
            const size_t left = hash_tokens_avx512(canonical, ends, count, keys, out, longer);
            for (size_t i = 0; i < left; ++i) {
                const size_t token = first + longer[i];
                const uint32_t begin = tokens.begin(token);
                out[longer[i]] =
                    hash_long_token(canonical + begin, tokens.ends[token] - begin, keys);
            }
            first += count;
            out += count;
        }
    }
#endif
    uint32_t begin = tokens.begin(first);
    for (size_t i = first; i < last; ++i) {
        const uint32_t end = tokens.ends[i];
        const size_t size = end - begin;
        const uint8_t* token = canonical + begin;
        if (size <= 14) [[likely]] {
            *out++ = hash_pair(token, size, keys);
        } else {
            *out++ = hash_long_token(token, size, keys);
        }
        begin = end + 1;
    }
}

uint64_t Shingler::short_fingerprint(size_t count) const {
    uint64_t hash = 1;
    for (size_t i = 0; i < count; ++i)
        hash = field_reduce(static_cast<uint128>(hash) * keys_.shingle + hashes_[i]);
    return bits_ == 64 ? permute<64>(hash, keys_.permutation)
                       : permute<40>(hash, keys_.permutation);
}

// Every step waits for the last, so the chunk is rolled as `lanes` independent stretches.
template <int bits>
void Shingler::roll(size_t count) {
    constexpr size_t lanes = 4;
    const uint64_t key = keys_.shingle;
    const uint64_t leaving = leaving_;
    const uint64_t leading = leading_;
    const uint64_t permutation[2] = {keys_.permutation[0], keys_.permutation[1]};
    const size_t width = width_;
    const uint64_t* const hashes = hashes_.data();
    uint64_t* const out = fingerprints_.data();
    const auto begin = [&](size_t at) {
        uint64_t sum = 0;
        for (size_t i = 0; i < width; ++i)
            sum = field_fold(static_cast<uint128>(sum) * key + hashes[at + i]);
        return sum;
    };
    // From the sum of the shingle at `at` to the next one's; sums stay below 2^61 + 8.
    const auto step = [&](uint64_t sum, size_t at) {
        return field_fold(static_cast<uint128>(sum) * key +
                          static_cast<uint128>(hashes[at]) * leaving + hashes[at + width]);
    };
    const auto finish = [&](uint64_t sum) {
        return permute<bits>(field_canonical(field_canonical(sum) + leading), permutation);
    };

    const size_t stretch = count / lanes;
    size_t done = 0;
    if (stretch > width) {
        uint64_t sum[lanes];
        for (size_t lane = 0; lane < lanes; ++lane) {
            sum[lane] = begin(lane * stretch);
            out[lane * stretch] = finish(sum[lane]);
        }
        for (size_t i = 0; i + 1 < stretch; ++i) {
            for (size_t lane = 0; lane < lanes; ++lane) {
                sum[lane] = step(sum[lane], lane * stretch + i);
                out[lane * stretch + i + 1] = finish(sum[lane]);
            }
        }
        done = lanes * stretch;
    }
    if (done == count) return;
    uint64_t sum = begin(done);
    out[done] = finish(sum);
    for (size_t i = done; i + 1 < count; ++i) {
        sum = step(sum, i);
        out[i + 1] = finish(sum);
    }
}

void Shingler::fingerprint_chunk(size_t count) {
#if defined(__x86_64__)
    if (level_ != Simd::plain) {
        const ShingleChunk chunk{hashes_.data(),
                                 count,
                                 width_,
                                 bits_,
                                 keys_.shingle,
                                 leading_,
                                 {keys_.permutation[0], keys_.permutation[1]},
                                 {scratch_[0].data(), scratch_[1].data()},
                                 fingerprints_.data()};
        if (level_ == Simd::avx512)
            fingerprints_avx512(chunk);
        else
            fingerprints_avx2(chunk);
        return;
    }
#endif
    if (bits_ == 64)
        roll<64>(count);
    else
        roll<40>(count);
}

}  // namespace roughly
