// Maximum spanning forests of the resemblance graph, and the clusters they give at any threshold.
// Weights are common / sampled, compared by cross-multiplication; ties go to the pair that comes
// first in document order, so a forest depends on its pairs alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pair.hpp"

namespace roughly {

// Disjoint sets of documents whose root is their first member.
class DocumentSets {
   public:
    explicit DocumentSets(size_t count);

    size_t size() const { return parent_.size(); }
    uint32_t root(uint32_t member);
    // Whether they were apart.
    bool unite(uint32_t a, uint32_t b);
    // Every document's root.
    std::vector<uint32_t> first();

   private:
    std::vector<uint32_t> parent_;
};

// Those of the pairs, heaviest first, that unite sets. Pairs that come in several calls give the
// forest's links if none is heavier than one of an earlier call.
std::vector<Pair> spanning_links(std::span<const Pair> pairs, DocumentSets& sets);

// The forest's links, heaviest first. Pairs name documents below `documents`.
std::vector<Pair> spanning_forest(std::span<const Pair> pairs, size_t documents);

// For every document the first document of its cluster: of those it is linked to, directly or
// through others, by links of at least the threshold.
std::vector<uint32_t> components(std::span<const Pair> links, size_t documents, Ratio threshold);

// Stars instead of components: documents are taken in order; one that reaches the threshold with
// the centre of an earlier star joins the star whose centre it resembles most (the first such), any
// other one is the centre of a new star. For every document its centre.
std::vector<uint32_t> stars(std::span<const Pair> pairs, size_t documents, Ratio threshold);

}  // namespace roughly
