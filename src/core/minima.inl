// The loop behind perm:K, compiled once for every instruction set; sketch.hpp says what it
// computes. Fingerprints are taken four at a time so that a minimum is loaded and stored once for
// four of them.
inline void lower_each(const uint64_t* fingerprints, size_t count, const uint64_t* __restrict mask,
                       const uint64_t* __restrict multiplier, uint64_t* __restrict minima,
                       size_t minima_count) {
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const uint64_t a = fingerprints[i], b = fingerprints[i + 1];
        const uint64_t c = fingerprints[i + 2], d = fingerprints[i + 3];
        for (size_t j = 0; j < minima_count; ++j) {
            const uint64_t p = (a ^ mask[j]) * multiplier[j], q = (b ^ mask[j]) * multiplier[j];
            const uint64_t r = (c ^ mask[j]) * multiplier[j], s = (d ^ mask[j]) * multiplier[j];
            const uint64_t low = p < q ? p : q, other = r < s ? r : s;
            const uint64_t least = low < other ? low : other;
            minima[j] = least < minima[j] ? least : minima[j];
        }
    }
    for (; i < count; ++i) {
        for (size_t j = 0; j < minima_count; ++j) {
            const uint64_t p = (fingerprints[i] ^ mask[j]) * multiplier[j];
            minima[j] = p < minima[j] ? p : minima[j];
        }
    }
}
