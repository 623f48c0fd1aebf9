// All pairs of documents whose estimated resemblance reaches a floor: an exact set-similarity join
// of their sketches by prefix filtering. No pair is lost: every pair whose estimate reaches the
// floor is found, and only those.
//
// A pair is judged at the coarser level of its two sketches. So the join runs once for every level
// L over the documents that are native to it (level L) and those that visit it from finer levels,
// their sketches reduced to L; at least one of a pair is native. With elements in one order for all
// documents, rarest first, two sketches of n and m elements with resemblance t share an element
// among the first n - ceil(t n) + 1 and m - ceil(t m) + 1. Elements that only one document has are
// never looked up, which leaves little of most prefixes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pair.hpp"

namespace roughly {

// Sketches as columns, in document order: set sketches (`all`, `mod`, `min`, `adaptive`), not
// `perm`.
struct SketchView {
    const uint64_t* values;
    const int64_t* offsets;  // one more than documents
    const uint32_t* size;    // distinct shingles of the document
    const uint8_t* level;
    size_t count;
};

// Ascending by (a, b). `smallest` is the K of min:K sketches, of which only the K smallest elements
// of a union are a sample (unless both are whole), and 0 for the others. 0 < floor <= 1.
// Throws std::invalid_argument if the floor is out of range or there are 2^32 documents or more.
std::vector<Pair> join(const SketchView& sketches, Ratio floor, uint64_t smallest, size_t threads);

// common and sampled of pairs that are named by their documents, in place.
void measure(const SketchView& sketches, uint64_t smallest, size_t threads, std::span<Pair> pairs);

}  // namespace roughly
