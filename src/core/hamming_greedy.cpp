#include "hamming_greedy.hpp"

#include <algorithm>
#include <bit>

namespace roughly {

namespace {

constexpr uint32_t none = 65;

bool alike(uint32_t a, uint32_t b, Ratio ratio) {
    return uint128{std::min(a, b)} * ratio.denominator >= uint128{std::max(a, b)} * ratio.numerator;
}

}  // namespace

HammingGreedy::HammingGreedy(unsigned k, unsigned blocks, size_t capacity, Ratio size_ratio,
                             Simd level)
    : memory_(64, k, blocks, capacity, level), size_ratio_(size_ratio) {}

void HammingGreedy::keep(std::span<const uint64_t> values, std::span<const uint32_t> sizes) {
    for (size_t i = 0; i < values.size(); ++i) stay(values[i], sizes[i]);
}

std::vector<HammingMatch> HammingGreedy::take(std::span<const uint64_t> values,
                                              std::span<const uint32_t> sizes) {
    std::vector<HammingMatch> found;
    found.reserve(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        found.push_back(nearest(values[i], sizes[i]));
        if (found.back().distance < none)
            ++given_;
        else
            stay(values[i], sizes[i]);
    }
    return found;
}

HammingMatch HammingGreedy::nearest(uint64_t value, uint32_t size) {
    HammingMatch best{0, 0, none};
    if (size_ratio_.denominator == 0) {
        best = memory_.nearest(value);
    } else {
        near_.clear();
        memory_.find(value, near_);
        for (const int64_t index : near_) {
            const uint64_t other = memory_.values()[static_cast<size_t>(index)];
            const auto far = static_cast<uint32_t>(std::popcount(value ^ other));
            if (far < best.distance && alike(size, size_[static_cast<size_t>(index)], size_ratio_))
                best = {static_cast<uint64_t>(index), other, far};
        }
    }
    if (best.distance < none) best.position = number_[best.position];
    return best;
}

void HammingGreedy::stay(uint64_t value, uint32_t size) {
    memory_.add(value);
    number_.push_back(given_++);
    if (size_ratio_.denominator != 0) size_.push_back(size);
}

}  // namespace roughly
