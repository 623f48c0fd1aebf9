// The loop of weighted_bit.cpp and its SIMD variants over `Sums`, 64 counts of 32 bits that each of
// them keeps in its own way: masks of the bits of a value choose the counts that its weight goes
// to.
inline void add_weighted(const uint64_t* values, const uint32_t* weights, size_t count,
                         uint64_t* sums) {
    Sums chunk;
    for (size_t i = 0; i < count; ++i) chunk.add(values[i], weights[i]);
    uint32_t made[64];
    chunk.store(made);
    for (size_t bit = 0; bit < 64; ++bit) sums[bit] += made[bit];
}
