#include "measure.hpp"

#include <algorithm>
#include <bit>

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

Elements at_level_in_place(const SketchSet& sketches, size_t document, uint8_t level,
                           std::vector<uint64_t>& place) {
    const Elements all = sketches.elements(document);
    return sketches.level_of(document) == level ? all : reduced(all, level, place);
}

size_t count_common(Elements a, Elements b, size_t needed) {
    const uint64_t *x = a.data(), *y = b.data();
    const uint64_t *const x_end = x + a.size(), *const y_end = y + b.size();
    size_t common = 0;
    // Each step passes one element at least of one side, so 32 of them need no look at the ends
    // while both sides have as many left.
    constexpr std::ptrdiff_t steps = 32;
    while (x_end - x >= steps && y_end - y >= steps) {
        if (common + static_cast<size_t>(std::min(x_end - x, y_end - y)) < needed) return common;
        for (std::ptrdiff_t i = 0; i < steps; ++i) {
            const uint64_t p = *x, q = *y;
            common += p == q;
            x += p <= q;
            y += q <= p;
        }
    }
    while (x < x_end && y < y_end) {
        const uint64_t p = *x, q = *y;
        common += p == q;
        x += p <= q;
        y += q <= p;
    }
    return common;
}

void ElementTable::assign(Elements elements) {
    // Four to eight slots an element: a third one in a slot, which calls for a larger table, is
    // rare.
    const int bits = static_cast<int>(std::bit_width(elements.size())) + 2;
    for (shift_ = 64 - bits; !fill(elements); --shift_) {
    }
}

bool ElementTable::fill(Elements elements) {
    // An empty place holds an element that belongs to another slot.
    slots_.assign(places << (64 - shift_), 0);
    std::fill_n(slots_.begin(), places, ~uint64_t{0});
    for (const uint64_t element : elements) {
        uint64_t* place = slots_.data() + slot(element);
        const uint64_t empty = place == slots_.data() ? ~uint64_t{0} : 0;
        size_t used = 0;
        while (used < places && place[used] != empty) ++used;
        if (used == places) return false;
        place[used] = element;
    }
    return true;
}

size_t ElementTable::count_common(Elements others, size_t needed) const {
    size_t common = 0;
    constexpr size_t block = 64;
    for (size_t begin = 0; begin < others.size(); begin += block) {
        const size_t left = others.size() - begin;
        if (common + left < needed) return common;
        const Elements some = others.subspan(begin, std::min(block, left));
        for (const uint64_t element : some) {
            const uint64_t* const place = slots_.data() + slot(element);
            common +=
                static_cast<size_t>(place[0] == element) + static_cast<size_t>(place[1] == element);
        }
    }
    return common;
}

void measure(const SketchSet& sketches, Measure measure, Elements a, Elements b, size_t common,
             Pair& pair) {
    size_t sampled = measure == Measure::contained ? b.size() : std::min(a.size(), b.size());
    if (measure == Measure::resemblance) {
        sampled = a.size() + b.size() - common;
        const uint32_t larger = std::max(sketches.size_of(pair.a), sketches.size_of(pair.b));
        if (sketches.smallest && sampled > sketches.smallest && larger > sketches.smallest) {
            common = count_common_among_smallest(a, b, sketches.smallest);
            sampled = sketches.smallest;
        }
    }
    pair.common = static_cast<uint32_t>(common);
    pair.sampled = static_cast<uint32_t>(sampled);
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
                    roughly::measure(sketches, measure, a, b, count_common(a, b), pair);
            }
        };
    });
}

}  // namespace roughly
