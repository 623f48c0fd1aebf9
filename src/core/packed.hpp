// Whole numbers of the same few bits, one after the other without gaps, the first in the lowest
// bits. Whoever reads may read a word beyond the last one: `PackedWriter::finish` leaves it there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace roughly {

// static and always inlined: SIMD files include this, and may not share code with others.
[[gnu::always_inline]] static inline uint64_t packed_at(const uint64_t* words, size_t index,
                                                        unsigned width) {
    if (width == 0) return 0;
    const size_t bit = index * width;
    const size_t word = bit / 64;
    const unsigned shift = bit % 64;
    uint64_t value = words[word] >> shift;
    if (shift + width > 64) value |= words[word + 1] << (64 - shift);
    return value & (~uint64_t{0} >> (64 - width));
}

class PackedWriter {
   public:
    void reserve(size_t bits) { words_.reserve(bits / 64 + 3); }

    // The lowest `width` <= 64 bits of a value that has no others.
    void append(uint64_t value, unsigned width) {
        if (width == 0) return;
        pending_ |= value << filled_;
        if (filled_ + width >= 64) {
            words_.push_back(pending_);
            pending_ = filled_ ? value >> (64 - filled_) : 0;
            filled_ = filled_ + width - 64;
        } else {
            filled_ += width;
        }
    }

    size_t bits() const { return words_.size() * 64 + filled_; }

    std::vector<uint64_t> finish() {
        words_.push_back(pending_);
        words_.push_back(0);
        pending_ = 0;
        filled_ = 0;
        return std::move(words_);
    }

   private:
    std::vector<uint64_t> words_;
    uint64_t pending_ = 0;
    unsigned filled_ = 0;  // bits of `pending_`, below 64
};

}  // namespace roughly
