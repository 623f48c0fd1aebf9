// The loop of bit_count.cpp and its SIMD variants, written once over a type Vector of 64-bit lanes
// that each of them defines with `parity` and `majority` of three. A value is one number of one bit
// in each of its 64 positions; carry-save adders turn sixteen vectors into five planes, of which
// only the last has to be carried on.

struct Sum {
    Vector low, high;
};

inline Sum add(Vector a, Vector b, Vector c) { return {parity(a, b, c), majority(a, b, c)}; }

class Planes {
   public:
    explicit Planes(BitPlanes& planes)
        : planes_(planes),
          ones_(Vector::load(planes.word[0])),
          twos_(Vector::load(planes.word[1])),
          fours_(Vector::load(planes.word[2])),
          eights_(Vector::load(planes.word[3])) {}

    void add_block(const uint64_t* values) {
        const Sum a = add_pair(values, 0), b = add_pair(values, 2);
        const Sum two_a = add_two(a.high, b.high);
        const Sum c = add_pair(values, 4), d = add_pair(values, 6);
        const Sum two_b = add_two(c.high, d.high);
        const Sum four_a = add_four(two_a.high, two_b.high);
        const Sum e = add_pair(values, 8), f = add_pair(values, 10);
        const Sum two_c = add_two(e.high, f.high);
        const Sum g = add_pair(values, 12), h = add_pair(values, 14);
        const Sum two_d = add_two(g.high, h.high);
        const Sum four_b = add_four(two_c.high, two_d.high);
        const Sum eight = add(eights_, four_a.high, four_b.high);
        eights_ = eight.low;
        carry(eight.high);
    }

    void store() const {
        ones_.store(planes_.word[0]);
        twos_.store(planes_.word[1]);
        fours_.store(planes_.word[2]);
        eights_.store(planes_.word[3]);
    }

   private:
    Sum add_pair(const uint64_t* values, size_t first) {
        const Sum sum = add(ones_, Vector::load(values + first * Vector::lanes),
                            Vector::load(values + (first + 1) * Vector::lanes));
        ones_ = sum.low;
        return sum;
    }
    Sum add_two(Vector a, Vector b) {
        const Sum sum = add(twos_, a, b);
        twos_ = sum.low;
        return sum;
    }
    Sum add_four(Vector a, Vector b) {
        const Sum sum = add(fours_, a, b);
        fours_ = sum.low;
        return sum;
    }
    // A carry ends at the latest where the count itself does, far below the last plane.
    void carry(Vector carried) {
        for (size_t plane = 4; any(carried); ++plane) {
            const Vector before = Vector::load(planes_.word[plane]);
            (before ^ carried).store(planes_.word[plane]);
            carried = before & carried;
        }
    }

    BitPlanes& planes_;
    Vector ones_, twos_, fours_, eights_;
};

inline void count_bits(const uint64_t* values, size_t count, BitPlanes& words) {
    constexpr size_t block = 16 * Vector::lanes;
    Planes planes(words);
    for (; count >= block; count -= block, values += block) planes.add_block(values);
    if (count) {
        // What is missing of the last block is zeros, which count for nothing.
        uint64_t last[block] = {};
        __builtin_memcpy(last, values, count * sizeof(uint64_t));
        planes.add_block(last);
    }
    planes.store();
}
