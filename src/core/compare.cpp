#include "compare.hpp"

#include <algorithm>
#include <cstring>
#include <span>

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

std::vector<Place> places_of(std::span<const uint64_t> shingles) {
    std::vector<Place> places;
    places.reserve(shingles.size());
    for (const uint64_t fingerprint : shingles)
        places.push_back({fingerprint, static_cast<uint32_t>(places.size())});
    std::sort(places.begin(), places.end());
    return places;
}

bool equal_tokens(const Tokens& a, size_t i, const Tokens& b, size_t j) {
    const uint32_t size = a.ends[i] - a.begin(i);
    return size == b.ends[j] - b.begin(j) &&
           std::memcmp(a.canonical.data() + a.begin(i), b.canonical.data() + b.begin(j), size) == 0;
}

// How many shingles from there on have equal fingerprints.
size_t agreeing(std::span<const uint64_t> a, std::span<const uint64_t> b) {
    const size_t most = std::min(a.size(), b.size());
    size_t count = 0;
    while (count < most && a[count] == b[count]) ++count;
    return count;
}

}  // namespace

std::vector<Passage> passages(const Tokens& a, const Tokens& b, size_t width, Simd level) {
    std::vector<Passage> found;
    const std::vector<uint64_t> shingles_a = fingerprints(a, width, bits, seed, level);
    const std::vector<uint64_t> shingles_b = fingerprints(b, width, bits, seed, level);
    const std::vector<Place> places = places_of(shingles_b);
    const size_t shingle_tokens = std::min(width, a.count);
    uint32_t behind = 0;  // where the last passage ends in b
    for (size_t i = 0; i < shingles_a.size();) {
        auto place = std::lower_bound(places.begin(), places.end(), Place{shingles_a[i], 0});
        size_t longest = 0;
        uint32_t at = 0;
        for (size_t tried = 0;
             tried < most_places && place != places.end() && place->fingerprint == shingles_a[i];
             ++tried, ++place) {
            const size_t count = agreeing(std::span(shingles_a).subspan(i),
                                          std::span(shingles_b).subspan(place->shingle));
            const bool first_behind = count == longest && at < behind && place->shingle >= behind;
            if (count > longest || first_behind) {
                longest = count;
                at = place->shingle;
            }
        }
        if (longest == 0) {
            ++i;
            continue;
        }
        const Passage passage{static_cast<uint32_t>(i), at,
                              static_cast<uint32_t>(longest + shingle_tokens - 1)};
        // A collision of fingerprints would show here; its shingles are no passage.
        bool equal = a.count >= i + passage.tokens && b.count >= at + passage.tokens;
        for (uint32_t k = 0; equal && k < passage.tokens; ++k)
            equal = equal_tokens(a, i + k, b, at + k);
        if (equal) {
            found.push_back(passage);
            behind = at + passage.tokens;
        }
        i += longest;
    }
    return found;
}

std::vector<uint8_t> common_tokens(const Tokens& a, const Tokens& b, size_t width, Simd level) {
    std::vector<uint8_t> common(a.count, 0);
    for (const Passage& passage : passages(a, b, width, level))
        std::fill_n(common.begin() + passage.a, passage.tokens, uint8_t{1});
    return common;
}

}  // namespace roughly
