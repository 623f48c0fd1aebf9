#include "elias_fano.hpp"

#include <algorithm>
#include <bit>

namespace roughly {

EliasFanoWriter::EliasFanoWriter(size_t count, unsigned head, unsigned width)
    : head_(head), width_(width) {
    upper_.assign((count + (size_t{1} << head)) / 64 + 4, 0);
    samples_.reserve((size_t{1} << head) / ef_sample + 2);
    lower_.reserve(count * width);
}

void EliasFanoWriter::close_buckets(uint64_t until) {
    for (uint64_t next = (bucket_ + ef_sample - 1) / ef_sample * ef_sample; next < until;
         next += ef_sample)
        samples_.push_back(static_cast<uint32_t>(count_ + next));
    bucket_ = until;
}

void EliasFanoWriter::append(uint64_t bucket, uint64_t entry) {
    if (bucket != bucket_) close_buckets(bucket);
    const size_t bit = count_++ + bucket;
    upper_[bit / 64] |= uint64_t{1} << bit % 64;
    lower_.append(entry, width_);
}

EliasFanoWriter::Arrays EliasFanoWriter::finish() {
    close_buckets(uint64_t{1} << head_);
    std::vector<uint64_t> samples((samples_.size() + 1) / 2);
    for (size_t i = 0; i < samples_.size(); ++i)
        samples[i / 2] |= uint64_t{samples_[i]} << i % 2 * 32;
    return {std::move(upper_), std::move(samples), lower_.finish()};
}

uint64_t EliasFano::at(size_t index) const {
    // Before the s-th sampled zero there are samples[s] - s * ef_sample entries. Where values are
    // spread evenly the place is near to what their share of all says: from there in growing steps.
    const size_t samples = ((size_t{1} << view_.head) + ef_sample - 1) / ef_sample;
    const auto before = [&](size_t sample) {
        return view_.samples[sample] - sample * ef_sample <= index;
    };
    size_t low = index * samples / count_;
    size_t high = low;
    for (size_t step = 1; low > 0 && !before(low - 1); step *= 2) {
        high = low - 1;
        low -= std::min(low, step);
    }
    for (size_t step = 1; high < samples && before(high); step *= 2) {
        low = high + 1;
        high = std::min(samples, high + step);
    }
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (before(middle))
            low = middle + 1;
        else
            high = middle;
    }
    size_t bit = low ? view_.samples[low - 1] : 0;
    size_t left = index - (low ? bit - (low - 1) * ef_sample : 0);
    size_t word = bit / 64;
    uint64_t ones = view_.upper[word] & ~uint64_t{0} << bit % 64;
    for (size_t here; left >= (here = static_cast<size_t>(std::popcount(ones))); left -= here)
        ones = view_.upper[++word];
    while (left--) ones &= ones - 1;
    bit = word * 64 + static_cast<size_t>(std::countr_zero(ones));
    return (bit - index) << view_.width % 64 | packed_at(view_.lower, index, view_.width);
}

std::pair<size_t, size_t> EliasFano::equal_range(uint64_t value,
                                                 const HammingKernels& kernels) const {
    const uint64_t bucket = view_.width == 64 ? 0 : value >> view_.width;
    const uint64_t wanted = view_.width == 64 ? value : value - (bucket << view_.width);
    const EliasFanoBucket found = kernels.locate(view_, bucket);
    const auto first_not = [&](auto before) {
        size_t low = found.begin;
        for (size_t high = found.begin + found.count; low < high;) {
            const size_t middle = (low + high) / 2;
            if (before(packed_at(view_.lower, middle, view_.width)))
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    };
    return {first_not([&](uint64_t entry) { return entry < wanted; }),
            first_not([&](uint64_t entry) { return entry <= wanted; })};
}

}  // namespace roughly
