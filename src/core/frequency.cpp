#include "frequency.hpp"

#include <algorithm>
#include <bit>

#include "parallel.hpp"

namespace roughly {

int frequency_bits(uint64_t elements) {
    return std::clamp(static_cast<int>(std::bit_width(elements)) + 1, 16, 40);
}

FrequencyTable::FrequencyTable(int bits, uint64_t bytes)
    : bits_(bits),
      counters_(std::min(uint64_t{1} << bits, std::bit_floor(std::max<uint64_t>(bytes, 1 << 16)))) {
}

void FrequencyTable::clear(uint64_t pass) {
    first_ = pass * counters_.size();
    std::fill(counters_.begin(), counters_.end(), uint8_t{0});
}

void FrequencyTable::count(const SketchSet& sketches, size_t begin, size_t end, size_t threads) {
    // Every thread looks at every element and counts those of its own stretch of counters. Of two
    // threads each would take as long as one that counts all: it could not foresee which to count.
    const size_t stretches = threads < 4 ? 1 : std::bit_floor(threads);
    const uint64_t length = std::max<uint64_t>(counters_.size() / stretches, 1);
    in_parallel(stretches, threads, [&] {
        return [&](size_t stretch) {
            const uint64_t first = first_ + stretch * length;
            uint8_t* const counters = counters_.data() + stretch * length;
            for (size_t i = begin; i < end; ++i)
                for (const uint64_t element : sketches.elements(sketches.visit(i))) {
                    const uint64_t slot = (mixed(element) >> (64 - bits_)) - first;
                    if (slot >= length) [[unlikely]]
                        continue;
                    counters[slot] = static_cast<uint8_t>(counters[slot] + (counters[slot] < 255));
                }
        };
    });
}

void FrequencyTable::write(const SketchSet& sketches, size_t begin, size_t end, size_t threads,
                           std::span<uint8_t* const> out) const {
    constexpr size_t block = 1024;
    in_parallel((end - begin + block - 1) / block, threads, [&] {
        return [&](size_t piece) {
            const size_t first = begin + piece * block;
            for (size_t i = first; i < std::min(end, first + block); ++i) {
                const size_t document = sketches.visit(i);
                const Elements elements = sketches.elements(document);
                const size_t chunk = sketches.rows[document] >> sketches.chunk_bits;
                uint8_t* to = out[chunk] + (elements.data() - sketches.chunks[chunk].values);
                for (const uint64_t element : elements) {
                    const uint64_t slot = (mixed(element) >> (64 - bits_)) - first_;
                    if (slot < counters_.size()) *to = counters_[slot];
                    ++to;
                }
            }
        };
    });
}

}  // namespace roughly
