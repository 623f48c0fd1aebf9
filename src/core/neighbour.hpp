// Documents of an inverted index that resemble a given one, contain it, or are contained in it, by
// the estimates of their sketches. None is lost: every row that reaches a floor is found, and only
// those.
//
// Two sketches meet at the coarser of their levels, and what they have in common is at that level
// anyway: counting the lists in which a row appears counts common elements. If a row needs `a` of
// them, it appears in a list even when a - 1 lists are left unread. So the elements that very many
// documents have are looked at only for rows that have enough of the others, and some elements are
// not even looked up: few rows are left then, and these are measured by their sketches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "inverted.hpp"
#include "pair.hpp"
#include "sketch_set.hpp"

namespace roughly {

enum class IndexFile { directory, entries, lists, rows, copies };

// What the index has of every row. 32 bytes, as they are on disk.
struct RowRecord {
    static constexpr size_t coarser_levels = 9;

    uint32_t size;    // distinct shingles
    uint32_t kept;    // elements of its sketch, but words
    uint32_t copies;  // rows with the same sketch that are not in the lists: the word of the file
                      // of copies where their number stands, then they; 0 for none
    uint8_t level;
    uint8_t words;                     // of a short document, in its sketch
    uint16_t coarser[coarser_levels];  // as kept, at the levels above its own; 2^16 - 1: or more
};
static_assert(sizeof(RowRecord) == 32);

// For every row of a chunk its `coarser`.
void count_coarser(const SketchChunk& chunk, const uint8_t* level, size_t rows, uint16_t* out);

// Where an index lies. Any thread may read; what cannot be read, or is damaged, is thrown.
class IndexSource {
   public:
    virtual ~IndexSource() = default;
    virtual void read(IndexFile file, uint64_t offset, size_t bytes, void* to) const = 0;
    // The elements of a row's sketch.
    virtual void sketch(uint32_t row, std::vector<uint64_t>& to) const = 0;
};

struct NeighbourRule {
    Ratio resemblance;         // from 0 < floor <= 1 on; a denominator of 0: not asked for
    Ratio contained;           // the query in the document, likewise
    Ratio contains;            // the document in the query, likewise
    uint64_t least_contained;  // elements without which nothing is called contained, unless they
                               // are all there are
    uint64_t smallest;         // the K of min:K sketches, else 0
    bool with_words;           // whether the queries have words: those of documents count as well
    Simd simd;                 // of the kernel that counts
};

struct InvertedIndex {
    const IndexSource& source;
    InvertedShape shape;
    uint32_t rows;
    // By level, without small documents: the least number of elements of the documents there, and
    // that of documents there and of finer levels which have any at this level; 2^32 - 1 for none.
    std::span<const uint32_t> least_kept, least_met;  // least_kept has a place for every level
    bool has_small;                                   // whether there are small documents
    const uint8_t* removed;  // a bit a row, the lowest first; null for none
};

struct Query {
    Elements elements;
    uint32_t size;  // distinct shingles
    uint8_t level;
};

struct Neighbour {
    uint32_t query;
    uint32_t row;
    uint32_t common;  // common / sampled estimates the resemblance, as in Pair
    uint32_t sampled;
    uint32_t of_query;  // elements at the level where the two meet
    uint32_t of_found;
};

// One thread's way through an index.
class NeighbourProbe {
   public:
    NeighbourProbe(const InvertedIndex& index, const NeighbourRule& rule);
    ~NeighbourProbe();

    // Appends the query's neighbours, ascending by row.
    void find(uint32_t number, const Query& query, std::vector<Neighbour>& found);

    // For each element how many rows have it, copies not counted.
    std::vector<uint32_t> count(Elements elements);

   private:
    class Work;
    std::unique_ptr<Work> work_;
};

// All queries' neighbours, by query, then by row.
std::vector<Neighbour> find_neighbours(const InvertedIndex& index, const NeighbourRule& rule,
                                       std::span<const Query> queries, size_t threads);

}  // namespace roughly
