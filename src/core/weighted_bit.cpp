#include "weighted_bit.hpp"

#include <cstring>

namespace roughly {

namespace {

struct Sums {
    uint32_t sum[64] = {};

    void add(uint64_t value, uint32_t weight) {
        for (int bit = 0; bit < 64; ++bit)
            sum[bit] += weight & (0u - static_cast<uint32_t>(value >> bit & 1));
    }
    void store(uint32_t* out) const { std::memcpy(out, sum, sizeof sum); }
};

#include "weighted_bit.inl"

}  // namespace

WeightedBits::WeightedBits(Simd level) : add_(add_weighted) {
#if defined(__x86_64__)
    if (level == Simd::avx512)
        add_ = add_weighted_avx512;
    else if (level == Simd::avx2)
        add_ = add_weighted_avx2;
#else
    (void)level;
#endif
}

void WeightedBits::clear() {
    std::memset(sums_, 0, sizeof sums_);
    total_ = 0;
}

void WeightedBits::add(const uint64_t* values, const uint32_t* weights, size_t count) {
    while (count) {
        const size_t taken = count < count_limit ? count : count_limit - 1;
        add_(values, weights, taken, sums_);
        for (size_t i = 0; i < taken; ++i) total_ += weights[i];
        values += taken;
        weights += taken;
        count -= taken;
    }
}

uint64_t WeightedBits::majority() const {
    uint64_t found = 0;
    for (int bit = 0; bit < 64; ++bit) found |= uint64_t{2 * sums_[bit] > total_} << bit;
    return found;
}

}  // namespace roughly
