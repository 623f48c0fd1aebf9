#include "feature_table.hpp"

#include <algorithm>
#include <bit>

namespace roughly {

FeatureTable::FeatureTable(size_t expected) {
    // At most half full, so that looking for what is not there ends soon.
    allocate(std::max(10, static_cast<int>(std::bit_width(2 * expected))));
}

void FeatureTable::allocate(int log_slots) {
    slots_.assign(size_t{1} << log_slots, Slot{0, 0});
    mask_ = slots_.size() - 1;
    shift_ = 64 - log_slots;
    size_ = 0;
}

void FeatureTable::grow() {
    const std::vector<Slot> before = std::move(slots_);
    allocate(64 - shift_ + 1);
    for (const Slot& slot : before)
        if (slot.feature) (*this)[slot.feature] = slot.number;
}

uint32_t& FeatureTable::operator[](uint64_t feature) {
    if (feature == 0) {
        has_zero_ = true;
        return zero_;
    }
    if (2 * (size_ + 1) > slots_.size()) grow();
    for (size_t at = place(feature);; at = (at + 1) & mask_) {
        Slot& slot = slots_[at];
        if (slot.feature == 0) {
            slot.feature = feature;
            ++size_;
        }
        if (slot.feature == feature) return slot.number;
    }
}

std::vector<std::pair<uint64_t, uint32_t>> FeatureTable::sorted() const {
    std::vector<std::pair<uint64_t, uint32_t>> all;
    all.reserve(size());
    if (has_zero_) all.emplace_back(0, zero_);
    for (const Slot& slot : slots_)
        if (slot.feature) all.emplace_back(slot.feature, slot.number);
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace roughly
