// An inverted index of sketches: for every element the rows of the documents that have it, in a few
// flat arrays that are made once and then read in place, wherever they lie.
//
// An element is known by its key, its bits mixed. The first bits of a key are its *bucket*; a
// bucket's entries stand together, ascending:
//     the other bits of the key | 1 bit: a list? | value
// where the value is a row, or the place of a *list* of rows for elements that many documents have.
// So nothing of a key is lost, 8 bytes are a posting, and boilerplate takes 4. A list begins at a
// multiple of `list_unit` words (its place counts these): the number of its rows, then the rows.
//
// Documents with few elements have lists of their own, marked by the highest bit of that number: a
// search that leaves the longest lists unread, because nobody is in so few lists only, would have
// to read them all for the sake of a document of three shingles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sketch_set.hpp"

namespace roughly {

// Rows of an element that stand in its bucket; more become a list.
inline constexpr size_t most_inline = 512;
// A list of more than most_inline rows fills half of its last unit on average.
inline constexpr size_t list_unit = 512;

struct InvertedShape {
    int bucket_bits;
    int value_bits;

    size_t buckets() const { return size_t{1} << bucket_bits; }
    size_t bucket_of(uint64_t key) const { return key >> (64 - bucket_bits); }
    uint64_t rest_of(uint64_t key) const { return key & (~uint64_t{0} >> bucket_bits); }
    uint64_t entry(uint64_t rest, bool list, uint64_t value) const {
        return rest << (value_bits + 1) | uint64_t{list} << value_bits | value;
    }
    uint64_t rest_in(uint64_t entry) const { return entry >> (value_bits + 1); }
    bool is_list(uint64_t entry) const { return entry >> value_bits & 1; }
    uint64_t value_in(uint64_t entry) const { return entry & ((uint64_t{1} << value_bits) - 1); }
};

// A document with fewer elements, but words, is small.
inline constexpr size_t least_large = 64;
inline constexpr uint32_t small_mark = uint32_t{1} << 31;

// For so many rows (below 2^31) with so many elements together.
InvertedShape inverted_shape(uint64_t rows, uint64_t postings);

inline constexpr int partition_bits = 8;
inline constexpr size_t partitions = size_t{1} << partition_bits;

// Postings of some rows by the first bits of their keys: the keys and rows of each partition, in
// the order of the rows, and where it ends.
struct Scattered {
    std::vector<uint64_t> keys;
    std::vector<uint32_t> rows;  // with small_mark
    std::vector<uint64_t> ends;  // `partitions` of them
};

// The sketches of `rows` rows, the first of which is numbered `first_row`. Those for which `left
// out` is not 0 (null for none) are. `kept` has their elements but words, which say who is small.
Scattered scatter(const SketchChunk& chunk, size_t rows, uint32_t first_row,
                  const uint8_t* left_out, const uint32_t* kept);

// The same, wherever it lies.
struct ScatteredView {
    const uint64_t* keys;
    const uint32_t* rows;
    const uint64_t* ends;
};

// The arrays of some partitions. Their lists begin at unit `first_unit` of all lists.
struct Inverted {
    std::vector<uint64_t> entries;
    std::vector<uint64_t> bucket_ends;  // of the partitions' buckets, into `entries`
    std::vector<uint32_t> lists;        // a multiple of list_unit
};

// Of partitions from `first` to `last`. `runs` come in the order of their rows.
Inverted invert(const InvertedShape& shape, std::span<const ScatteredView> runs, size_t first,
                size_t last, uint64_t first_unit, size_t threads);

}  // namespace roughly
