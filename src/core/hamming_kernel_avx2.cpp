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

#include "hamming_kernel.inl"

}  // namespace

const HammingKernels& hamming_kernels_avx2() { return kernels; }

}  // namespace roughly
