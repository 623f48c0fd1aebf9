// A Hamming index: all stored values within k bits of a query, exactly, from a set of tables or
// from a scan over all values. Positions are those of the values as they were given; tables hold
// distinct values, only the first, which is in the order of values, has repetitions, and beside it
// stands the position of each. Any thread may ask. `build_hamming` makes the arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hamming_table.hpp"

namespace roughly {

inline constexpr unsigned hamming_largest_k = 10;
inline constexpr uint64_t hamming_largest_count = 0x7FFFFFFF;

struct HammingShape {
    unsigned bits = 64;
    unsigned k = 3;
    uint64_t count = 0;
    std::vector<TableShape> tables;  // none: a scan
};

// A match: where it stands, and how far it is.
struct HammingMatch {
    uint64_t position;
    uint64_t simhash;
    uint32_t distance;
};

class HammingIndex {
   public:
    // arrays: those of each table, then one that holds the positions (or, for a scan, the values).
    // The arrays must stay. Throws std::invalid_argument where they are not as the shape says.
    HammingIndex(HammingShape shape, std::vector<TableArrays> arrays,
                 std::span<const uint64_t> positions, Simd level);

    const HammingShape& shape() const { return shape_; }

    // For each query in order take(query number, its matches): positions ascending.
    template <typename Take>
    void find(std::span<const uint64_t> queries, Take&& take) const {
        std::vector<int64_t> positions;
        each(queries, [&](size_t query, const std::vector<FoundValue>& values) {
            positions.clear();
            place(values, positions);
            take(query, std::as_const(positions));
        });
    }

    // For each query in order take(query number, match): the nearest, of these the one with the
    // smallest position. Queries without a match are left out.
    template <typename Take>
    void nearest(std::span<const uint64_t> queries, Take&& take) const {
        each(queries, [&](size_t query, const std::vector<FoundValue>& values) {
            if (!values.empty()) take(query, choose(queries[query], values));
        });
    }

    // All matches of a query, nearest first, then by position.
    std::vector<HammingMatch> matches(uint64_t x) const;

    // All values by position.
    std::vector<uint64_t> values() const;

   private:
    // take(query number, distinct values within k) for each; for a scan, positions instead.
    template <typename Take>
    void each(std::span<const uint64_t> queries, Take&& take) const {
        std::vector<FoundValues> found(std::min(most_together, queries.size()));
        for (size_t begin = 0; begin < queries.size(); begin += most_together) {
            const size_t count = std::min(most_together, queries.size() - begin);
            search(queries.subspan(begin, count), found.data());
            for (size_t i = 0; i < count; ++i) prepare_places(found[i].finish());
            for (size_t i = 0; i < count; ++i) take(begin + i, found[i].finish());
        }
    }

    void search(std::span<const uint64_t> queries, FoundValues* found) const;
    // Asks memory for the positions of what was found.
    void prepare_places(const std::vector<FoundValue>& found) const;
    // The ranks in the first table of all equal to a value.
    std::pair<uint64_t, uint64_t> ranks_of(const FoundValue& found) const;
    void place(const std::vector<FoundValue>& found, std::vector<int64_t>& positions) const;
    HammingMatch choose(uint64_t x, const std::vector<FoundValue>& found) const;
    uint64_t position_at(uint64_t rank) const;

    HammingShape shape_;
    const HammingKernels* kernels_;
    EliasFano first_values_;
    std::unique_ptr<SortedTable> first_;
    std::vector<std::unique_ptr<HammingTable>> others_;
    std::span<const uint64_t> positions_;
    unsigned position_bits_;
};

struct BuiltTable {
    TableShape shape;
    std::vector<std::vector<uint64_t>> arrays;
};

struct BuiltHamming {
    std::vector<BuiltTable> tables;
    std::vector<uint64_t> positions;
};

// Makes the tables of which leading bits, radius and coding are given; the first one's leading bits
// must be the highest. Throws std::invalid_argument for values of more bits and for tables that
// cannot be.
BuiltHamming build_hamming(std::span<const uint64_t> values, unsigned bits,
                           const std::vector<TableShape>& wanted, size_t threads);

}  // namespace roughly
