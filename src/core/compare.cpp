#include "compare.hpp"

#include <algorithm>
#include <cstring>

#include "sketch.hpp"

namespace roughly {

namespace {

constexpr size_t most_places = 64;  // keeps documents that repeat themselves linear
constexpr int bits = 64;
constexpr uint64_t seed = 0;

struct Place {
    uint64_t fingerprint;
    uint32_t shingle;  // position in document order
    bool operator<(const Place& other) const {
        return fingerprint != other.fingerprint ? fingerprint < other.fingerprint
                                                : shingle < other.shingle;
    }
};

std::vector<Place> places_of(const Tokens& tokens, size_t width, Simd level) {
    std::vector<Place> places;
    for (const uint64_t fingerprint : fingerprints(tokens, width, bits, seed, level))
        places.push_back({fingerprint, static_cast<uint32_t>(places.size())});
    std::sort(places.begin(), places.end());
    return places;
}

bool equal_tokens(const Tokens& a, size_t i, const Tokens& b, size_t j) {
    const uint32_t size = a.ends[i] - a.begin(i);
    return size == b.ends[j] - b.begin(j) &&
           std::memcmp(a.canonical.data() + a.begin(i), b.canonical.data() + b.begin(j), size) == 0;
}

uint32_t agreeing(const Tokens& a, size_t i, const Tokens& b, size_t j) {
    const size_t most = std::min(a.count - i, b.count - j);
    uint32_t count = 0;
    while (count < most && equal_tokens(a, i + count, b, j + count)) ++count;
    return count;
}

}  // namespace

std::vector<Passage> passages(const Tokens& a, const Tokens& b, size_t width, Simd level) {
    std::vector<Passage> found;
    const std::vector<uint64_t> shingles = fingerprints(a, width, bits, seed, level);
    const std::vector<Place> places = places_of(b, width, level);
    const size_t shingle_tokens = std::min(width, a.count);
    uint32_t behind = 0;  // where the last passage ends in b
    for (size_t i = 0; i < shingles.size();) {
        auto place = std::lower_bound(places.begin(), places.end(), Place{shingles[i], 0});
        Passage best{static_cast<uint32_t>(i), 0, 0};
        for (size_t tried = 0;
             tried < most_places && place != places.end() && place->fingerprint == shingles[i];
             ++tried, ++place) {
            const uint32_t count = agreeing(a, i, b, place->shingle);
            const bool first_behind =
                count == best.tokens && best.b < behind && place->shingle >= behind;
            if (count > best.tokens || first_behind) best = {best.a, place->shingle, count};
        }
        if (best.tokens < shingle_tokens) {  // nothing there, or a collision of fingerprints
            ++i;
            continue;
        }
        found.push_back(best);
        behind = best.b + best.tokens;
        i += best.tokens - shingle_tokens + 1;
    }
    return found;
}

std::vector<uint8_t> common_tokens(const Tokens& a, const Tokens& b, size_t width, Simd level) {
    std::vector<uint8_t> common(a.count, 0);
    const size_t shingle_tokens = std::min(width, a.count);
    for (const Passage& passage : passages(a, b, width, level))
        std::fill_n(common.begin() + passage.a, std::max<size_t>(passage.tokens, shingle_tokens),
                    uint8_t{1});
    return common;
}

}  // namespace roughly
