#include "forest.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace roughly {

namespace {

bool heavier(const Pair& x, const Pair& y) {
    const uint64_t left = uint64_t{x.common} * y.sampled;
    const uint64_t right = uint64_t{y.common} * x.sampled;
    if (left != right) return left > right;
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
}

}  // namespace

DocumentSets::DocumentSets(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0u);
}

uint32_t DocumentSets::root(uint32_t member) {
    while (parent_[member] != member) {
        parent_[member] = parent_[parent_[member]];  // halves the way for the next one
        member = parent_[member];
    }
    return member;
}

bool DocumentSets::unite(uint32_t a, uint32_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return false;
    parent_[std::max(a, b)] = std::min(a, b);
    return true;
}

std::vector<uint32_t> DocumentSets::first() {
    std::vector<uint32_t> first(parent_.size());
    for (uint32_t i = 0; i < first.size(); ++i) first[i] = root(i);
    return first;
}

std::vector<Pair> spanning_links(std::span<const Pair> pairs, DocumentSets& sets) {
    std::vector<Pair> ordered(pairs.begin(), pairs.end());
    std::sort(ordered.begin(), ordered.end(), heavier);
    std::erase_if(ordered, [&](const Pair& pair) { return !sets.unite(pair.a, pair.b); });
    return ordered;
}

std::vector<Pair> spanning_forest(std::span<const Pair> pairs, size_t documents) {
    DocumentSets sets(documents);
    return spanning_links(pairs, sets);
}

std::vector<uint32_t> components(std::span<const Pair> links, size_t documents, Ratio threshold) {
    DocumentSets sets(documents);
    for (const Pair& link : links)
        if (reaches(link, threshold)) sets.unite(link.a, link.b);
    return sets.first();
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
