// What two sketches have in common, at the coarser of their two levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pair.hpp"
#include "sketch_set.hpp"

namespace roughly {

// containment: the larger of the two, that of the smaller set; contained: that of b in a;
// agreement: of perm:K sketches, the elements that are the same at the same place.
enum class Measure { resemblance, containment, contained, agreement };

// Where a worker puts a sketch that cannot be used in place.
struct Place {
    SketchBuffer read{};
    std::vector<uint64_t> reduced{};
};

// The elements of a sketch at a level no finer than its own: in place, or in `place`.
Elements at_level(const SketchSet& sketches, size_t document, uint8_t level, Place& place);

// The same for whoever asks for one level only, with the same place: what was read is kept as it is
// at that level.
Elements at_one_level(const SketchSet& sketches, size_t document, uint8_t level, Place& place);

// common and sampled of a pair of which a has n elements at their common level, b has m, and both
// have `common`; not for min:K sketches, of which more has to be known.
void measure(Measure measure, size_t n, size_t m, size_t common, Pair& pair);

// The same for all sketches, whose elements at that level are given.
void measure(const SketchSet& sketches, Measure measure, Elements a, Elements b, size_t common,
             Pair& pair);

// The same for pairs that are named by their documents, in place.
void measure(const SketchSet& sketches, Measure measure, size_t threads, std::span<Pair> pairs);

}  // namespace roughly
