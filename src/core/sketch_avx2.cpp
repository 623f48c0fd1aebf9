// The minima of perm:K with AVX2 vectors, which the compiler makes of the shared loop. The linkage
// rule of token_avx2.cpp holds here too.
#include "sketch.hpp"

namespace roughly {

void lower_minima_avx2(const uint64_t* fingerprints, size_t count, const uint64_t* __restrict mask,
                       const uint64_t* __restrict multiplier, uint64_t* __restrict minima,
                       size_t minima_count)
#include "minima.inl"

}  // namespace roughly
