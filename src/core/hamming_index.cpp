#include "hamming_index.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "packed.hpp"

namespace roughly {

namespace {

unsigned distance(uint64_t a, uint64_t b) { return static_cast<unsigned>(std::popcount(a ^ b)); }

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

}  // namespace

HammingIndex::HammingIndex(HammingShape shape, std::vector<TableArrays> arrays,
                           std::span<const uint64_t> positions, Simd level)
    : shape_(std::move(shape)), kernels_(&hamming_kernels(level)), positions_(positions) {
    require(shape_.bits >= 1 && shape_.bits <= 64 && shape_.k <= hamming_largest_k &&
                shape_.count <= hamming_largest_count,
            "hamming index: bits, k or count out of range");
    require(arrays.size() == shape_.tables.size(), "hamming index: a table lacks its arrays");
    position_bits_ = shape_.count > 1 ? static_cast<unsigned>(std::bit_width(shape_.count - 1)) : 0;
    if (shape_.tables.empty()) {
        require(positions.size() == shape_.count, "hamming index: not as many values as it says");
        return;
    }
    require(positions.size() == shape_.count * position_bits_ / 64 + 2,
            "hamming index: not as many positions as it says");
    require(shape_.tables[0].entries == shape_.count,
            "hamming index: the first table has not all values");
    TableContext context{shape_.bits, shape_.k, kernels_, nullptr, true};
    if (shape_.tables[0].coding == Coding::elias_fano) {
        first_values_ = elias_fano_of(shape_.tables[0], arrays[0], shape_.bits);
        context.first = &first_values_;
    }
    first_ = make_sorted_table(shape_.tables[0], arrays[0], context);
    context.is_first = false;
    for (size_t i = 1; i < arrays.size(); ++i) {
        if (shape_.tables[i].coding == Coding::pointer)
            others_.push_back(make_pointer_table(shape_.tables[i], arrays[i], context));
        else
            others_.push_back(make_sorted_table(shape_.tables[i], arrays[i], context));
    }
}

uint64_t HammingIndex::position_at(uint64_t rank) const {
    return packed_at(positions_.data(), rank, position_bits_);
}

void HammingIndex::search(std::span<const uint64_t> queries, FoundValues* found) const {
    for (size_t i = 0; i < queries.size(); ++i) found[i].clear();
    if (!first_) {
        const auto take = [](void* context, uint64_t index, uint64_t) {
            static_cast<FoundValues*>(context)->add(index);
        };
        for (size_t i = 0; i < queries.size(); ++i)
            kernels_->scan_values(positions_.data(), 0, positions_.size(), queries[i], shape_.k,
                                  take, &found[i]);
        return;
    }
    // Several queries hide one another's waits.
    if (queries.size() == 1)
        for (const auto& table : others_) table->prepare(queries);
    first_->probe(queries, found);
    for (const auto& table : others_) table->probe(queries, found);
}

void HammingIndex::prepare_places(const std::vector<FoundValue>& found) const {
    for (const FoundValue& one : found)
        if (one.rank != FoundValue::unknown)
            __builtin_prefetch(&positions_[one.rank * position_bits_ / 64]);
}

std::pair<uint64_t, uint64_t> HammingIndex::ranks_of(const FoundValue& found) const {
    if (found.rank != FoundValue::unknown && first_values_.alone(found.rank))
        return {found.rank, found.rank + 1};
    return first_->equal_range(found.value);
}

void HammingIndex::place(const std::vector<FoundValue>& found,
                         std::vector<int64_t>& positions) const {
    if (!first_) {
        for (const FoundValue& one : found) positions.push_back(static_cast<int64_t>(one.value));
        return;
    }
    for (const FoundValue& one : found) {
        const auto [from, to] = ranks_of(one);
        for (uint64_t rank = from; rank < to; ++rank)
            positions.push_back(static_cast<int64_t>(position_at(rank)));
    }
    std::sort(positions.begin(), positions.end());
}

HammingMatch HammingIndex::choose(uint64_t x, const std::vector<FoundValue>& found) const {
    HammingMatch best{~uint64_t{0}, 0, 65};
    for (const FoundValue& one : found) {
        const uint64_t value = first_ ? one.value : positions_[one.value];
        const unsigned far = distance(value, x);
        if (far > best.distance) continue;
        // Equal values are in the order of their positions.
        const uint64_t position = first_ ? position_at(ranks_of(one).first) : one.value;
        if (far < best.distance || position < best.position) best = {position, value, far};
    }
    return best;
}

std::vector<HammingMatch> HammingIndex::matches(uint64_t x) const {
    std::vector<HammingMatch> made;
    each({&x, 1}, [&](size_t, const std::vector<FoundValue>& found) {
        for (const FoundValue& one : found) {
            const uint64_t value = first_ ? one.value : positions_[one.value];
            std::vector<int64_t> positions;
            place({one}, positions);
            for (const int64_t position : positions)
                made.push_back({static_cast<uint64_t>(position), value, distance(value, x)});
        }
    });
    std::sort(made.begin(), made.end(), [](const HammingMatch& a, const HammingMatch& b) {
        return std::pair(a.distance, a.position) < std::pair(b.distance, b.position);
    });
    return made;
}

std::vector<uint64_t> HammingIndex::values() const {
    if (!first_) return {positions_.begin(), positions_.end()};
    std::vector<uint64_t> sorted;
    sorted.reserve(shape_.count);
    first_->decode(sorted);
    std::vector<uint64_t> values(shape_.count);
    for (uint64_t rank = 0; rank < shape_.count; ++rank) {
        const uint64_t position = position_at(rank);
        require(position < shape_.count, "hamming index: a position is beyond the last");
        values[position] = sorted[rank];
    }
    return values;
}

}  // namespace roughly
