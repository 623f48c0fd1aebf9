// The minima of perm:K with AVX-512 vectors, which the compiler makes of the shared loop. The
// linkage rule of token_avx2.cpp holds here too.
#include "sketch.hpp"

namespace roughly {

namespace {
#include "minima.inl"
}

void lower_minima_avx512(const uint64_t* fingerprints, size_t count, const uint64_t* mask,
                         const uint64_t* multiplier, uint64_t* minima, size_t minima_count) {
    lower_each(fingerprints, count, mask, multiplier, minima, minima_count);
}

}  // namespace roughly
