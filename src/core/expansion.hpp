// The 1997 paper's phase 3: every pair of documents that share an element is counted, except under
// elements that more documents have than a cut-off allows. Nothing is filtered, so this is also the
// judge of the join. For sketches of one level only (`all`, `mod`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pair.hpp"
#include "sketch_set.hpp"

namespace roughly {

// How many documents have an element, and the first of them.
struct ElementCount {
    uint64_t element;
    uint32_t documents;
    uint32_t first;
};

// The documents under each element of some buckets (posting.hpp) that two or more have.
struct ElementLists {
    std::vector<uint32_t> documents;      // ascending within a list
    std::vector<uint64_t> ends;           // of the lists in `documents`
    std::vector<ElementCount> commonest;  // most documents first, then by element
    uint64_t elements;                    // of all documents, in these buckets
    uint64_t cut_elements;                // of these, those left out for the cut-off
};

// Collects the lists of buckets [first_bucket, last_bucket), some documents at a time.
class ListCollector {
   public:
    // Lists of more than `cut_off` documents are left out. `commonest` has `most_common` entries at
    // most and knows no cut-off.
    ListCollector(size_t first_bucket, size_t last_bucket, size_t cut_off, size_t most_common);
    ~ListCollector();

    // Takes the elements of the documents from `begin` to `end`.
    void add(const SketchSet& sketches, size_t begin, size_t end, size_t threads);

    // The lists; nothing is left here.
    ElementLists finish(size_t threads);

   private:
    struct Occurrence {
        uint64_t key;  // the element, mixed
        uint32_t document;
    };
    using Buckets = std::vector<std::vector<Occurrence>>;
    class ListMaker;

    size_t first_bucket_;
    size_t width_;
    size_t cut_off_;
    size_t most_common_;
    std::vector<Buckets> gathered_;  // each thread's
};

struct ListView {
    std::span<const uint32_t> documents;
    std::span<const uint64_t> ends;
};

// Adds to each document how often it comes before another one in a list.
void count_expansions(const ListView& lists, std::span<uint64_t> expansions);

// The pairs whose first document is from `begin` to `end` and whose resemblance reaches the floor,
// ascending by (a, b). `counts` has the elements of every document. Takes 4 bytes of memory for
// each of these documents' expansions, and 16 for each of them. `done` is told of every view that
// is not looked at any more.
std::vector<Pair> expand(std::span<const uint32_t> counts, std::span<const ListView> lists,
                         std::span<const uint64_t> expansions, Ratio floor, size_t begin,
                         size_t end, size_t threads, const std::function<void(size_t)>& done);

}  // namespace roughly
