// The partners of a few documents, by looking at all others once: where there are few, that is less
// work than a join.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pair.hpp"
#include "posting.hpp"
#include "sketch_set.hpp"

namespace roughly {

// Every pair that reaches the rule's floor, at the coarser of its levels, of two of `documents`, or
// of one of them and another one that has a mark (a byte a document). What it is made of must
// outlive it.
class PartnerFinder {
   public:
    PartnerFinder(const SketchSet& sketches, const JoinRule& rule,
                  std::span<const uint32_t> documents, std::span<const uint8_t> marks);
    ~PartnerFinder();

    // Those of the pairs that are found by looking at documents from `begin` to `end`. Ascending by
    // (a, b), each once.
    std::vector<Pair> find(size_t begin, size_t end, size_t threads) const;

   private:
    struct Documents;

    SketchSet sketches_;
    JoinRule rule_;
    std::span<const uint32_t> documents_;
    std::span<const uint8_t> marks_;
    std::unique_ptr<const Documents> own_;
};

}  // namespace roughly
