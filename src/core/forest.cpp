#include "forest.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace roughly {

namespace {

// Disjoint sets whose root is their first member.
class Sets {
   public:
    explicit Sets(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0u); }

    uint32_t root(uint32_t member) {
        while (parent_[member] != member) {
            parent_[member] = parent_[parent_[member]];  // halves the way for the next one
            member = parent_[member];
        }
        return member;
    }

    // Whether they were apart.
    bool unite(uint32_t a, uint32_t b) {
        a = root(a);
        b = root(b);
        if (a == b) return false;
        parent_[std::max(a, b)] = std::min(a, b);
        return true;
    }

   private:
    std::vector<uint32_t> parent_;
};

bool heavier(const Pair& x, const Pair& y) {
    const uint64_t left = uint64_t{x.common} * y.sampled;
    const uint64_t right = uint64_t{y.common} * x.sampled;
    if (left != right) return left > right;
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
}

}  // namespace

std::vector<Pair> spanning_forest(std::span<const Pair> pairs, size_t documents) {
    std::vector<Pair> ordered(pairs.begin(), pairs.end());
    std::sort(ordered.begin(), ordered.end(), heavier);
    Sets sets(documents);
    std::erase_if(ordered, [&](const Pair& pair) { return !sets.unite(pair.a, pair.b); });
    return ordered;
}

std::vector<uint32_t> components(std::span<const Pair> links, size_t documents, Ratio threshold) {
    Sets sets(documents);
    for (const Pair& link : links)
        if (reaches(link, threshold)) sets.unite(link.a, link.b);
    std::vector<uint32_t> first(documents);
    for (uint32_t i = 0; i < documents; ++i) first[i] = sets.root(i);
    return first;
}

std::vector<uint32_t> stars(std::span<const Pair> pairs, size_t documents, Ratio threshold) {
    std::vector<Pair> strong;
    std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(strong),
                 [&](const Pair& pair) { return reaches(pair, threshold); });
    std::sort(strong.begin(), strong.end(),
              [](const Pair& x, const Pair& y) { return x.b != y.b ? x.b < y.b : heavier(x, y); });
    std::vector<uint32_t> centre(documents);
    std::iota(centre.begin(), centre.end(), 0u);
    // By the time a document comes up it is known which ones before it are centres.
    for (size_t i = 0; i < strong.size(); ++i) {
        const Pair& pair = strong[i];
        if (centre[pair.b] == pair.b && centre[pair.a] == pair.a) centre[pair.b] = pair.a;
    }
    return centre;
}

}  // namespace roughly
