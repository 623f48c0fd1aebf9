// The loops of shingle_avx2.cpp and shingle_avx512.cpp, written once over a type Vector of 64-bit
// lanes that each of them defines. Sums grow by doubling instead of rolling: the sum of 2m tokens
// is that of the first m times key^m plus that of the next m, for every position at once, so no
// lane waits for another. Arrays may be read and written up to one vector beyond their ends.

// Elements of the field, ready to be multiplied by: their low 32 bits, whatever is above these, and
// the others.
struct Multiplier {
    Vector low, high;
    explicit Multiplier(Vector elements) : low(elements), high(elements >> 32) {}
    explicit Multiplier(uint64_t element) : Multiplier(Vector::all(element)) {}
};

// Congruent to x and below 2^61 + 8.
inline Vector fold(Vector x) { return (x & Vector::all(field_prime)) + (x >> 61); }

// a * b + c below 2^61 + 8, for a and b below 2^61 + 2^57 and c below 2^61 + 8. The four partial
// products are weighted with 1, 2^32, 2^32 and 2^64 = 8; no sum reaches 2^64.
inline Vector multiply_add(Vector a, const Multiplier& b, Vector c) {
    const Vector a_high = a >> 32;
    const Vector low = multiply32(a, b.low);
    const Vector middle = multiply32(a, b.high) + multiply32(a_high, b.low);
    const Vector high = multiply32(a_high, b.high);
    const Vector upper = (high << 3) + (middle >> 29) + (low >> 61);
    const Vector lower = ((middle << 35) >> 3) + (low & Vector::all(field_prime));
    return fold(upper + lower + c);
}

template <int bits>
inline Vector permuted(Vector x, const uint64_t keys[2]) {
    constexpr int half = bits / 2;
    const Vector mask = Vector::all(~uint64_t{0} >> (64 - bits));
    const Vector multiplier = Vector::all(0xD6E8FEB86659FD93u);
    x = (x ^ Vector::all(keys[0])) & mask;
    x = x ^ (x >> half);
    x = (multiply64(x, multiplier) + Vector::all(keys[1])) & mask;
    x = x ^ (x >> half);
    x = multiply64(x, multiplier) & mask;
    return x ^ (x >> half);
}

template <int bits>
inline void finish(const ShingleChunk& chunk, const uint64_t* sums) {
    const Vector leading = Vector::all(chunk.leading);
    for (size_t i = 0; i < chunk.count; i += Vector::lanes) {
        const Vector sum = fold(Vector::load(sums + i) + leading);
        permuted<bits>(less_prime(sum), chunk.permutation).store(chunk.out + i);
    }
}

inline void fingerprints(const ShingleChunk& chunk) {
    const uint64_t* sums = chunk.hashes;  // of `width` tokens each
    uint64_t* free_buffer = chunk.scratch[0];
    uint64_t* next_buffer = chunk.scratch[1];
    size_t width = 1;
    uint64_t power = chunk.key;  // key^width
    const Multiplier key(chunk.key);
    size_t bit = chunk.width;
    for (size_t top = 1; top <= chunk.width; top <<= 1) bit = top;
    for (bit >>= 1; bit; bit >>= 1) {
        const bool odd = chunk.width & bit;
        const size_t doubled = 2 * width + odd;
        const size_t needed = chunk.count + chunk.width - doubled;
        const Multiplier weight(power);
        for (size_t i = 0; i < needed; i += Vector::lanes) {
            Vector sum =
                multiply_add(Vector::load(sums + i), weight, Vector::load(sums + i + width));
            if (odd) sum = multiply_add(sum, key, Vector::load(chunk.hashes + i + 2 * width));
            sum.store(free_buffer + i);
        }
        power = field_multiply(power, power);
        if (odd) power = field_multiply(power, chunk.key);
        width = doubled;
        sums = free_buffer;
        free_buffer = next_buffer;
        next_buffer = const_cast<uint64_t*>(sums);
    }
    if (chunk.bits == 64)
        finish<64>(chunk, sums);
    else
        finish<40>(chunk, sums);
}
