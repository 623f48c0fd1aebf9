// The kernels with the processor's own popcount and bit deposit, which every CPU with AVX2 has. The
// linkage rule of token_avx2.cpp holds here too.
#include <immintrin.h>

#include "hamming_kernel.hpp"
#include "packed.hpp"

namespace roughly {

namespace {

inline unsigned popcount(uint64_t word) {
    return static_cast<unsigned>(__builtin_popcountll(word));
}

inline unsigned select(uint64_t word, unsigned ones) {
    return static_cast<unsigned>(_tzcnt_u64(_pdep_u64(uint64_t{1} << ones, word)));
}

// Without its lowest `ones` ones.
inline uint64_t from_one(uint64_t word, unsigned ones) {
    return _pdep_u64(~uint64_t{0} << ones, word);
}

// Ones of each half byte from a table, summed up over the four bytes of a signature.
inline unsigned near_eight(const uint32_t* signatures, uint32_t wanted, unsigned limit) {
    const __m256i ones =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m256i low = _mm256_set1_epi8(0x0F);
    const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(signatures));
    const __m256i differing = _mm256_xor_si256(all, _mm256_set1_epi32(static_cast<int>(wanted)));
    const __m256i bytes = _mm256_add_epi8(
        _mm256_shuffle_epi8(ones, _mm256_and_si256(differing, low)),
        _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16(differing, 4), low)));
    const __m256i sums =
        _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
    const __m256i near = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(limit) + 1), sums);
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(near)));
}

#include "hamming_kernel.inl"

}  // namespace

const HammingKernels& hamming_kernels_avx2() { return kernels; }

}  // namespace roughly
