// Candidates for many documents at once, from an inverted index that lies in memory.
//
// If two documents reach a floor, one of them has in common with the other at least one of its
// elements even when the lists of some of its commonest elements are left unread (posting.hpp says
// of how many). All rows of the other lists are candidates: whoever asks measures them. What is
// left unread are the longest lists, so that boilerplate costs next to nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "inverted.hpp"
#include "neighbour.hpp"
#include "pair.hpp"

namespace roughly {

inline constexpr uint32_t no_group = ~uint32_t{0};

// The files of an index, which were checked.
struct MappedIndex {
    InvertedShape shape;
    std::span<const uint64_t> directory;
    std::span<const uint64_t> entries;
    std::span<const uint32_t> lists;
    std::span<const RowRecord> rows;
    std::span<const uint32_t> copies;
};

struct Candidate {
    uint32_t query;
    uint32_t group;
};

struct FoundCandidates {
    std::vector<Candidate> found;  // by query; each once
    bool complete = true;          // whether no more rows were read than allowed
};

// Groups of rows that may resemble a query at the floor. `group_of` has the group of every row,
// no_group for those that do not count; a query's own group is `own`. At most `most_rows` rows are
// read from lists, over all queries. Throws std::out_of_range if the files do not fit each other.
FoundCandidates probe_index(const MappedIndex& index, Ratio floor, uint64_t smallest,
                            std::span<const Query> queries, std::span<const uint32_t> own,
                            std::span<const uint32_t> group_of, uint64_t most_rows, size_t threads);

}  // namespace roughly
