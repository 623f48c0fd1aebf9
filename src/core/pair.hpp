// Two documents and how many elements they have in common.
#pragma once

#include <cstdint>

#include "field.hpp"

namespace roughly {

// A number from 0 to 1 without rounding: pairs are compared by cross-multiplication.
struct Ratio {
    uint64_t numerator;
    uint64_t denominator;
};

// common / sampled is the estimate: of the resemblance where `sampled` counts the elements of
// either document, of the larger containment where it counts those of the smaller one.
struct Pair {
    uint32_t a;  // a < b, positions in document order
    uint32_t b;
    uint32_t common;  // sampled elements that both have
    uint32_t sampled;
};

inline bool reaches(const Pair& pair, Ratio threshold) {
    return uint128{pair.common} * threshold.denominator >=
           uint128{threshold.numerator} * pair.sampled;
}

}  // namespace roughly
