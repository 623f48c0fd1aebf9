#include "frequency.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "parallel.hpp"

namespace roughly {

namespace {

constexpr size_t most_stretches = 64;

void count_one(uint8_t& counter) { counter = static_cast<uint8_t>(counter + (counter < 255)); }

}  // namespace

int frequency_bits(uint64_t elements) {
    return std::clamp(static_cast<int>(std::bit_width(elements)) + 1, 16, 40);
}

FrequencyTable::FrequencyTable(int bits, uint64_t bytes)
    : bits_(bits),
      size_(std::min(uint64_t{1} << bits, std::bit_floor(std::max<uint64_t>(bytes, 1 << 16)))),
      counters_(size_) {}

void FrequencyTable::clear(uint64_t pass) {
    first_ = pass * size_;
    std::memset(counters_.data(), 0, size_);
}

void FrequencyTable::count(const SketchSet& sketches, size_t begin, size_t end, size_t threads) {
    const size_t stretches = std::min(std::bit_floor(std::max<size_t>(threads, 1)), most_stretches);
    if (stretches == 1) {
        for (size_t i = begin; i < end; ++i) {
            for (const uint64_t element : sketches.elements(sketches.visit(i))) {
                const uint64_t slot = (mixed(element) >> (64 - bits_)) - first_;
                if (slot < size_) [[likely]]
                    count_one(counters_.data()[slot]);
            }
            sketches.leave(i, i + 1);
        }
        return;
    }
    // Every thread has its own stretch of the counters. First the elements are divided among them.
    const uint64_t length = size_ / stretches;
    const int shift = std::countr_zero(length);
    constexpr size_t block = 256, blocks = 16;
    std::array<std::array<std::vector<uint64_t>, most_stretches>, blocks> slots;
    for (; begin < end; begin = std::min(end, begin + block * blocks)) {
        in_parallel(blocks, threads, [&] {
            return [&](size_t piece) {
                for (auto& own : slots[piece]) own.clear();
                const size_t first = std::min(end, begin + piece * block);
                for (size_t i = first; i < std::min(end, first + block); ++i)
                    for (const uint64_t element : sketches.elements(sketches.visit(i))) {
                        const uint64_t slot = (mixed(element) >> (64 - bits_)) - first_;
                        if (slot < size_) slots[piece][slot >> shift].push_back(slot);
                    }
                sketches.leave(first, std::min(end, first + block));
            };
        });
        in_parallel(stretches, threads, [&] {
            return [&](size_t stretch) {
                for (const auto& piece : slots)
                    for (const uint64_t slot : piece[stretch]) count_one(counters_.data()[slot]);
            };
        });
    }
}

void FrequencyTable::write(const SketchSet& sketches, size_t begin, size_t end, size_t threads,
                           std::span<uint8_t* const> out) const {
    constexpr size_t block = 128;
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
                    if (slot < size_) *to = counters_.data()[slot];
                    ++to;
                }
            }
            sketches.leave(first, std::min(end, first + block));
        };
    });
}

}  // namespace roughly
