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
