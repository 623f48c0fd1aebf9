// The partners of a few documents, by looking at all others once: where there are few, that is less
// work than a join.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pair.hpp"
#include "posting.hpp"
#include "sketch_set.hpp"

namespace roughly {

// Every pair that reaches the rule's floor, at the coarser of its levels, of two of `documents`, or
// of one of them and another one that has a mark (a byte a document); of these the pairs that are
// found by looking at documents from `begin` to `end`. Ascending by (a, b), each once.
std::vector<Pair> find_partners(const SketchSet& sketches, const JoinRule& rule,
                                std::span<const uint32_t> documents, std::span<const uint8_t> marks,
                                size_t begin, size_t end, size_t threads);

}  // namespace roughly
