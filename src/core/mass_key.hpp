// The keys of documents by which masses are found (mass.hpp), to be kept: with them, and with which
// elements are frequent, documents that come later can be told the masses they belong to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "batch.hpp"
#include "mass.hpp"
#include "sketch_set.hpp"

namespace roughly {

// Of each document from `begin` to `end` its first `rule.keys` elements of frequency
// `rule.least_frequency` or more, in the order of their bits read backwards. Frequencies have been
// counted.
Lists<uint64_t> mass_keys(const SketchSet& sketches, const MassRule& rule, size_t begin, size_t end,
                          size_t threads);

// The counters (the first `bits` bits of mixed elements) of the elements of these documents that
// have a frequency of `least_frequency` or more, ascending.
std::vector<uint64_t> frequent_counters(const SketchSet& sketches, uint8_t least_frequency,
                                        int bits, size_t begin, size_t end, size_t threads);

}  // namespace roughly
