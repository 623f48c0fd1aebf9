#include "bit_count.hpp"

#include <bit>
#include <cstring>

namespace roughly {

namespace {

struct Vector {
    static constexpr size_t lanes = 1;
    uint64_t v;

    static Vector load(const uint64_t* p) { return {*p}; }
    void store(uint64_t* p) const { *p = v; }
};

inline Vector operator&(Vector a, Vector b) { return {a.v & b.v}; }
inline Vector operator^(Vector a, Vector b) { return {a.v ^ b.v}; }
inline Vector parity(Vector a, Vector b, Vector c) { return {a.v ^ b.v ^ c.v}; }
inline Vector majority(Vector a, Vector b, Vector c) { return {(a.v & b.v) | ((a.v ^ b.v) & c.v)}; }
inline bool any(Vector a) { return a.v != 0; }

#include "bit_count.inl"

}  // namespace

BitCounter::BitCounter(Simd level) : add_(count_bits), lanes_(1) {
#if defined(__x86_64__)
    if (level == Simd::avx512) {
        add_ = count_bits_avx512;
        lanes_ = 8;
    } else if (level == Simd::avx2) {
        add_ = count_bits_avx2;
        lanes_ = 4;
    }
#else
    (void)level;
#endif
}

void BitCounter::clear() {
    const auto used = static_cast<size_t>(std::bit_width(count_));
    std::memset(planes_.word, 0, (used < 4 ? 4 : used + 1) * sizeof planes_.word[0]);
    count_ = 0;
}

void BitCounter::add(const uint64_t* values, size_t count) {
    add_(values, count, planes_);
    count_ += count;
}

uint64_t BitCounter::majority() const {
    // No count exceeds count_, so its digits are enough.
    const auto used = static_cast<size_t>(std::bit_width(count_));
    uint64_t sum[BitPlanes::planes] = {};
    for (size_t lane = 0; lane < lanes_; ++lane) {
        uint64_t carry = 0;
        for (size_t plane = 0; plane < used; ++plane) {
            const uint64_t a = sum[plane], b = planes_.word[plane][lane];
            sum[plane] = a ^ b ^ carry;
            carry = (a & b) | ((a ^ b) & carry);
        }
    }
    // Greater than the half, digit by digit from the highest.
    const size_t half = count_ / 2;
    uint64_t greater = 0, equal = ~uint64_t{0};
    for (size_t plane = used; plane-- > 0;) {
        const uint64_t digit = half >> plane & 1 ? ~uint64_t{0} : 0;
        greater |= equal & sum[plane] & ~digit;
        equal &= ~(sum[plane] ^ digit);
    }
    return greater;
}

}  // namespace roughly
