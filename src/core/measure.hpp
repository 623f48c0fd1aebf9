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
    explicit Place(size_t slots = size_t{1} << 12) : read(slots) {}

    SketchBuffer read;
    std::vector<uint64_t> reduced{};
};

// The elements of a sketch at a level no finer than its own: in place, or in `place`.
Elements at_level(const SketchSet& sketches, size_t document, uint8_t level, Place& place);

// The same for whoever goes through all documents in the order of SketchSet::visit: never read.
Elements at_level_in_place(const SketchSet& sketches, size_t document, uint8_t level,
                           std::vector<uint64_t>& place);

// Elements that both have; may stop, with a smaller count, once `needed` is out of reach.
size_t count_common(Elements a, Elements b, size_t needed = 0);

// One document's elements in a small table, to count which of others' it has: several times as fast
// as merging two lists, of which every step waits for the one before.
class ElementTable {
   public:
    void assign(Elements elements);

    // As count_common.
    size_t count_common(Elements others, size_t needed) const;

   private:
    static constexpr size_t places = 2;  // in a slot

    size_t slot(uint64_t element) const { return places * (mixed(element) >> shift_); }
    bool fill(Elements elements);

    std::vector<uint64_t> slots_;
    int shift_ = 63;
};

// common and sampled of a pair whose elements at their common level are given, and `common`, how
// many both have.
void measure(const SketchSet& sketches, Measure measure, Elements a, Elements b, size_t common,
             Pair& pair);

// The same for pairs that are named by their documents, in place.
void measure(const SketchSet& sketches, Measure measure, size_t threads, std::span<Pair> pairs);

}  // namespace roughly
