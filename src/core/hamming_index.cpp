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
    TableContext context{shape_.bits, shape_.k, kernels_, nullptr};
    if (shape_.tables[0].coding == Coding::elias_fano) {
        first_values_ = elias_fano_of(shape_.tables[0], arrays[0], shape_.bits);
        context.first = &first_values_;
    }
    first_ = make_sorted_table(shape_.tables[0], arrays[0], context);
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

const std::vector<uint64_t>& HammingIndex::search(uint64_t x, FoundValues& found) const {
    found.clear();
    first_->probe(x, found);
    for (const auto& table : others_) table->probe(x, found);
    return found.finish();
}

void HammingIndex::find(uint64_t x, std::vector<int64_t>& positions) const {
    if (!first_) {
        const auto take = [](void* context, uint64_t index, uint64_t, uint64_t) {
            static_cast<std::vector<int64_t>*>(context)->push_back(static_cast<int64_t>(index));
        };
        kernels_->scan_values(positions_.data(), 0, positions_.size(), x, shape_.k, take,
                              &positions);
        return;
    }
    static thread_local FoundValues found;
    const size_t begin = positions.size();
    for (const uint64_t value : search(x, found)) {
        const auto [from, to] = first_->equal_range(value);
        for (uint64_t rank = from; rank < to; ++rank)
            positions.push_back(static_cast<int64_t>(position_at(rank)));
    }
    std::sort(positions.begin() + static_cast<ptrdiff_t>(begin), positions.end());
}

bool HammingIndex::nearest(uint64_t x, HammingMatch& match) const {
    if (!first_) {
        struct Best {
            uint64_t x;
            HammingMatch* match;
            bool found;
        } best{x, &match, false};
        const auto take = [](void* context, uint64_t index, uint64_t, uint64_t value) {
            auto* self = static_cast<Best*>(context);
            const unsigned far = distance(value, self->x);
            if (self->found && far >= self->match->distance) return;
            *self->match = {index, value, far};
            self->found = true;
        };
        kernels_->scan_values(positions_.data(), 0, positions_.size(), x, shape_.k, take, &best);
        return best.found;
    }
    static thread_local FoundValues found;
    bool any = false;
    for (const uint64_t value : search(x, found)) {
        const unsigned far = distance(value, x);
        if (any && far > match.distance) continue;
        // Equal values are in the order of their positions.
        const uint64_t position = position_at(first_->equal_range(value).first);
        if (any && far == match.distance && position > match.position) continue;
        match = {position, value, far};
        any = true;
    }
    return any;
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
