// The keys of documents by which masses are found (mass.hpp), to be kept: with them, and with which
// elements are frequent, documents that come later can be told the masses they belong to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "batch.hpp"
#include "mass.hpp"
#include "sketch_set.hpp"

namespace roughly {

// Of each document from `begin` to `end` its first `rule.keys` elements of frequency
// `rule.least_frequency` or more, in the order of their bits read backwards. Frequencies have been
// counted.
Lists<uint64_t> mass_keys(const SketchSet& sketches, const MassRule& rule, size_t begin, size_t end,
                          size_t threads);

}  // namespace roughly
