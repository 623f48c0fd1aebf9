// Chosen bits of a value to the front, in their order, and the others behind them: the permutations
// of the 2007 paper's tables. Distances are the same before and after, and so is equality.
#pragma once

#include <array>
#include <cstdint>

namespace roughly {

// The lowest `count` bits, 0 <= count <= 64.
constexpr uint64_t low_bits(unsigned count) {
    return count == 0 ? 0 : ~uint64_t{0} >> (64 - count);
}

class BitPermutation {
   public:
    BitPermutation() : BitPermutation(64, 0) {}

    // Of values of `bits` <= 64 bits; `leading` has the bits that go to the front.
    BitPermutation(unsigned bits, uint64_t leading) {
        unsigned to = bits;
        for (const uint64_t part : {leading, ~leading}) {
            for (unsigned bit = bits; bit-- > 0;) {
                if ((part >> bit & 1) == 0) continue;
                --to;
                Move* last = count_ ? &moves_[count_ - 1] : nullptr;
                if (last && last->from == bit + 1 && last->to == to + 1)
                    *last = {last->mask << 1 | 1, bit, to};
                else
                    moves_[count_++] = {1, bit, to};
            }
        }
    }

    uint64_t forward(uint64_t value) const {
        uint64_t made = 0;
        for (unsigned i = 0; i < count_; ++i)
            made |= (value >> moves_[i].from & moves_[i].mask) << moves_[i].to;
        return made;
    }

    uint64_t inverse(uint64_t value) const {
        uint64_t made = 0;
        for (unsigned i = 0; i < count_; ++i)
            made |= (value >> moves_[i].to & moves_[i].mask) << moves_[i].from;
        return made;
    }

   private:
    // A run of bits that stay together.
    struct Move {
        uint64_t mask;
        unsigned from, to;
    };
    std::array<Move, 64> moves_;
    unsigned count_ = 0;
};

}  // namespace roughly
