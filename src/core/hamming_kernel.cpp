#include "hamming_kernel.hpp"

#include "packed.hpp"

namespace roughly {

namespace {

// The baseline CPU has no instruction for either.
inline unsigned popcount(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
    return static_cast<unsigned>(word * 0x0101010101010101 >> 56);
}

inline unsigned select(uint64_t word, unsigned ones) {
    while (ones--) word &= word - 1;
    return static_cast<unsigned>(__builtin_ctzll(word));
}

inline uint64_t from_one(uint64_t word, unsigned ones) {
    while (ones--) word &= word - 1;
    return word;
}

inline unsigned near_eight(const uint32_t* signatures, uint32_t wanted, unsigned limit) {
    unsigned near = 0;
    for (unsigned i = 0; i < 8; ++i)
        near |= (popcount(signatures[i] ^ wanted) <= limit ? 1u : 0u) << i;
    return near;
}

#include "hamming_kernel.inl"

}  // namespace

const HammingKernels& hamming_kernels(Simd level) {
#if defined(__x86_64__)
    if (level >= Simd::avx2) return hamming_kernels_avx2();
#else
    (void)level;
#endif
    return kernels;
}

}  // namespace roughly
