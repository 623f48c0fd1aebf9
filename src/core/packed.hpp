// Whole numbers of the same few bits, one after the other without gaps, the first in the lowest
// bits. Whoever reads may read a word beyond the last one: `PackedWriter::finish` leaves it there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace roughly {

// The widest value that 8 bytes have in them, wherever it begins.
inline constexpr unsigned packed_narrow = 57;

// static and always inlined: SIMD files include this, and may not share code with others. Where no
// value is wider than `packed_narrow` there is no branch.
template <bool narrow>
[[gnu::always_inline]] static inline uint64_t packed_value(const uint64_t* words, size_t index,
                                                           unsigned width) {
    const size_t bit = index * width;
    const unsigned shift = bit % 8;
    const auto* bytes = reinterpret_cast<const uint8_t*>(words) + bit / 8;
    uint64_t value;
    __builtin_memcpy(&value, bytes, 8);
    value >>= shift;
    if (!narrow && shift) value |= uint64_t{bytes[8]} << (64 - shift);
    return value & ((uint64_t{1} << (width % 64)) - 1 + (uint64_t{0} - (width / 64)));
}

[[gnu::always_inline]] static inline uint64_t packed_at(const uint64_t* words, size_t index,
                                                        unsigned width) {
    return width <= packed_narrow ? packed_value<true>(words, index, width)
                                  : packed_value<false>(words, index, width);
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
