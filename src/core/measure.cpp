#include "measure.hpp"

#include <algorithm>

#include "intersection.hpp"
#include "parallel.hpp"

namespace roughly {

namespace {

// Of the `smallest` smallest elements of the union, those in both.
size_t count_common_among_smallest(Elements a, Elements b, uint64_t smallest) {
    size_t i = 0, j = 0, common = 0;
    for (uint64_t taken = 0; taken < smallest; ++taken) {
        const bool from_a = j == b.size() || (i < a.size() && a[i] <= b[j]);
        const bool from_b = i == a.size() || (j < b.size() && b[j] <= a[i]);
        common += from_a && from_b;
        i += from_a;
        j += from_b;
    }
    return common;
}

void count_agreeing(Elements a, Elements b, Pair& pair) {
    const size_t places = std::min(a.size(), b.size());
    pair.common = 0;
    pair.sampled = static_cast<uint32_t>(places);
    for (size_t i = 0; i < places; ++i) pair.common += a[i] == b[i];
}

// The elements that are there at a coarser level.
Elements reduced(Elements all, uint8_t level, std::vector<uint64_t>& to) {
    const uint64_t mask = (uint64_t{1} << level) - 1;
    to.resize(all.size());
    size_t kept = 0;
    for (const uint64_t element : all) {
        to[kept] = element;
        kept += (element & mask) == 0;
    }
    return {to.data(), kept};
}

}  // namespace

Elements at_level(const SketchSet& sketches, size_t document, uint8_t level, Place& place) {
    const Elements all = sketches.fetch(document, place.read);
    return sketches.level_of(document) == level ? all : reduced(all, level, place.reduced);
}

Elements at_one_level(const SketchSet& sketches, size_t document, uint8_t level, Place& place) {
    if (!sketches.reader || sketches.level_of(document) == level)
        return at_level(sketches, document, level, place);
    return place.read.get(sketches.rows[document], [&](std::vector<uint64_t>& to) {
        sketches.read(document, place.reduced);
        const Elements kept = reduced(place.reduced, level, place.reduced);
        to.assign(kept.begin(), kept.end());
    });
}

void measure(Measure measure, size_t n, size_t m, size_t common, Pair& pair) {
    size_t sampled = measure == Measure::contained ? m : std::min(n, m);
    if (measure == Measure::resemblance) sampled = n + m - common;
    pair.common = static_cast<uint32_t>(common);
    pair.sampled = static_cast<uint32_t>(sampled);
}

void measure(const SketchSet& sketches, Measure measure, Elements a, Elements b, size_t common,
             Pair& pair) {
    roughly::measure(measure, a.size(), b.size(), common, pair);
    if (!sketches.smallest || measure != Measure::resemblance) return;
    const uint32_t larger = std::max(sketches.size_of(pair.a), sketches.size_of(pair.b));
    if (pair.sampled > sketches.smallest && larger > sketches.smallest) {
        pair.common = static_cast<uint32_t>(count_common_among_smallest(a, b, sketches.smallest));
        pair.sampled = static_cast<uint32_t>(sketches.smallest);
    }
}

void measure(const SketchSet& sketches, Measure measure, size_t threads, std::span<Pair> pairs) {
    constexpr size_t block = 1024;
    in_parallel((pairs.size() + block - 1) / block, threads, [&] {
        return [&, a_place = Place(), b_place = Place()](size_t piece) mutable {
            for (Pair& pair :
                 pairs.subspan(piece * block, std::min(block, pairs.size() - piece * block))) {
                const uint8_t level =
                    std::max(sketches.level_of(pair.a), sketches.level_of(pair.b));
                const Elements a = at_level(sketches, pair.a, level, a_place);
                const Elements b = at_level(sketches, pair.b, level, b_place);
                if (measure == Measure::agreement)
                    count_agreeing(a, b, pair);
                else
                    roughly::measure(sketches, measure, a, b, count_common(sketches.simd, a, b),
                                     pair);
            }
        };
    });
}

}  // namespace roughly
