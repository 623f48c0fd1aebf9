#include "mass_key.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace roughly {

namespace {

// The bits of a number, read backwards.
uint64_t backwards(uint64_t x) {
    x = ((x >> 1) & 0x5555555555555555u) | ((x & 0x5555555555555555u) << 1);
    x = ((x >> 2) & 0x3333333333333333u) | ((x & 0x3333333333333333u) << 2);
    x = ((x >> 4) & 0x0F0F0F0F0F0F0F0Fu) | ((x & 0x0F0F0F0F0F0F0F0Fu) << 4);
    return __builtin_bswap64(x);
}

void append_keys(const SketchSet& sketches, const MassRule& rule, size_t document,
                 std::vector<uint64_t>& work, Lists<uint64_t>& to) {
    const Elements elements = sketches.elements(document);
    const uint8_t* const frequency = sketches.frequencies(document);
    work.clear();
    for (size_t i = 0; i < elements.size(); ++i)
        if (frequency[i] >= rule.least_frequency) work.push_back(backwards(elements[i]));
    const size_t count = std::min(rule.keys, work.size());
    const auto middle = work.begin() + static_cast<std::ptrdiff_t>(count);
    std::partial_sort(work.begin(), middle, work.end());
    for (size_t i = 0; i < count; ++i) to.values.push_back(backwards(work[i]));
    to.offsets.push_back(static_cast<int64_t>(to.values.size()));
}

}  // namespace

Lists<uint64_t> mass_keys(const SketchSet& sketches, const MassRule& rule, size_t begin, size_t end,
                          size_t threads) {
    constexpr size_t block = 256;
    std::vector<Lists<uint64_t>> pieces((end - begin + block - 1) / block);
    in_parallel(pieces.size(), threads, [&] {
        return [&, work = std::vector<uint64_t>()](size_t piece) mutable {
            const size_t first = begin + piece * block;
            for (size_t i = first; i < std::min(end, first + block); ++i)
                append_keys(sketches, rule, i, work, pieces[piece]);
        };
    });
    Lists<uint64_t> all;
    for (const Lists<uint64_t>& piece : pieces) {
        const auto base = static_cast<int64_t>(all.values.size());
        all.values.insert(all.values.end(), piece.values.begin(), piece.values.end());
        for (size_t i = 1; i < piece.offsets.size(); ++i)
            all.offsets.push_back(base + piece.offsets[i]);
    }
    return all;
}

}  // namespace roughly
