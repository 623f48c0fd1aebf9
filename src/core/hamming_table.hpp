// One sorted table of a Hamming index (2007 paper, 3.1): values with chosen bits moved to the
// front, so that those which agree with a query in these bits, or nearly, stand together. Four
// codings of the same table; all find the same. Tables are views: the arrays belong to whoever made
// them.
//
//   plain        sorted values, found by interpolation search
//   xor_block    the paper's compression
//   elias_fano   what this library uses
//   pointer      no values at all: the leading bits, in Elias-Fano's manner, and for each value the
//                group of 16 neighbours in the first table, which is elias_fano, where it is
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bit_permutation.hpp"
#include "elias_fano.hpp"
#include "hamming_kernel.hpp"

namespace roughly {

enum class Coding : uint32_t { plain, xor_block, elias_fano, pointer };

inline constexpr unsigned pointer_group_bits = 4;

// What a table is, apart from its arrays.
struct TableShape {
    uint64_t leading = 0;  // the bits that go to the front
    unsigned radius = 0;   // how many of them may differ
    Coding coding = Coding::plain;
    unsigned head = 0;     // elias_fano, pointer: bits in a bucket's number
    unsigned extra = 0;    // pointer: bits of the key beyond these
    unsigned pointer = 0;  // pointer: bits of a group's number
    uint64_t entries = 0;
};

// plain: values. xor_block: blocks, keys, ranks, code lengths (a byte each).
// elias_fano, pointer: upper, samples, lower.
inline constexpr size_t table_arrays = 4;
using TableArrays = std::vector<std::span<const uint64_t>>;

// A value that was found, and the rank in the first table of one that is equal, if it is known.
struct FoundValue {
    uint64_t value, rank;
    static constexpr uint64_t unknown = ~uint64_t{0};
};

// What a search found: distinct values in no order, apart from repetitions across tables.
class FoundValues {
   public:
    void add(uint64_t value, uint64_t rank = FoundValue::unknown) {
        // Equal values stand together in a table.
        if (values_.empty() || values_.back().value != value) values_.push_back({value, rank});
    }
    // Whether it is surely there; nobody looks through many.
    bool has_rank(uint64_t rank) const {
        if (values_.size() > 8) return false;
        for (const FoundValue& found : values_)
            if (found.rank == rank) return true;
        return false;
    }
    void clear() { values_.clear(); }
    // Sorted, each value once, with a rank if any was known.
    const std::vector<FoundValue>& finish();

   private:
    std::vector<FoundValue> values_;
};

// Queries that wait for memory together.
inline constexpr size_t most_together = 64;

// Any thread may ask.
class HammingTable {
   public:
    virtual ~HammingTable() = default;

    // Asks memory for what a probe needs first, while something else is done.
    virtual void prepare(std::span<const uint64_t>) const {}

    // For each of up to `most_together` queries adds every value of the table within `k` of it that
    // differs from it in at most `radius` of the leading bits; it may add others that are within k.
    virtual void probe(std::span<const uint64_t> queries, FoundValues* found) const = 0;
};

// A table that has the values themselves.
class SortedTable : public HammingTable {
   public:
    // The first table is in the order of the values: where those equal to this one are.
    virtual std::pair<uint64_t, uint64_t> equal_range(uint64_t value) const = 0;
    // All values in the order of the table, before they were permuted.
    virtual void decode(std::vector<uint64_t>& values) const = 0;
};

struct TableContext {
    unsigned bits, k;
    const HammingKernels* kernels;
    const EliasFano* first;  // the first table, where that is elias_fano
    bool is_first;           // the table that is made is that one: places in it are ranks
};

// Both throw std::invalid_argument where the arrays are not as long as the shape says.
std::unique_ptr<SortedTable> make_sorted_table(const TableShape& shape, const TableArrays& arrays,
                                               const TableContext& context);
std::unique_ptr<HammingTable> make_pointer_table(const TableShape& shape, const TableArrays& arrays,
                                                 const TableContext& context);
EliasFano elias_fano_of(const TableShape& shape, const TableArrays& arrays, unsigned bits);

// All numbers of `bits` bits with at most `radius` ones, fewest ones first. Throws
// std::invalid_argument if they are more than 2^24.
std::vector<uint64_t> flips_within(unsigned bits, unsigned radius);

}  // namespace roughly
