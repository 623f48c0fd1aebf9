// The loop of distance_sample.cpp and its AVX2 variant, where a population count is an instruction.
// Whether a value is near is seldom true but cannot be predicted within masses: no branch.
inline size_t near_values(uint64_t value, const uint64_t* values, size_t count, uint32_t most,
                          uint32_t* out) {
    size_t found = 0;
    for (size_t i = 0; i < count; ++i) {
        out[found] = static_cast<uint32_t>(i);
        found += static_cast<uint32_t>(bit_count(value ^ values[i])) <= most;
    }
    return found;
}
