#include "join.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "field.hpp"
#include "parallel.hpp"

namespace roughly {

namespace {

using Elements = std::span<const uint64_t>;

// Elements are permuted numbers, but of 40 bits, multiples or small ones only: their bits are mixed
// once more where they are to be spread evenly.
uint64_t mixed(uint64_t element) { return element * 0x9E3779B97F4A7C15u; }

// How many documents have an element, never too small: elements share 2^20 or more counters that
// stop at 255. Any such table gives one order for all documents, which is all that the filter
// needs; a count of 1 is exact.
class Frequency {
   public:
    explicit Frequency(const SketchView& sketches) {
        const auto elements =
            static_cast<size_t>(sketches.offsets[sketches.count] - sketches.offsets[0]);
        const int bits = std::clamp(static_cast<int>(std::bit_width(elements)) + 1, 20, 34);
        shift_ = 64 - bits;
        counters_.resize(size_t{1} << bits);
        for (int64_t i = sketches.offsets[0]; i < sketches.offsets[sketches.count]; ++i) {
            uint8_t& counter = counters_[slot(sketches.values[i])];
            counter = static_cast<uint8_t>(counter + (counter < 255));
        }
    }

    uint8_t operator()(uint64_t element) const { return counters_[slot(element)]; }

   private:
    size_t slot(uint64_t element) const { return mixed(element) >> shift_; }

    int shift_;
    std::vector<uint8_t> counters_;
};

// The smallest overlap with which sketches of n and m elements reach the floor as a ratio of their
// union: o / (n + m - o) >= p / q.
size_t least_overlap(size_t n, size_t m, Ratio floor) {
    const uint128 total = static_cast<uint128>(floor.numerator) * (n + m);
    const uint128 parts = static_cast<uint128>(floor.numerator) + floor.denominator;
    return static_cast<size_t>((total + parts - 1) / parts);
}

// ceil(floor * n): the smallest overlap with any partner at all.
size_t least_share(size_t n, Ratio floor) {
    return static_cast<size_t>((static_cast<uint128>(floor.numerator) * n + floor.denominator - 1) /
                               floor.denominator);
}

// One level's documents with their elements at that level.
struct Participant {
    size_t begin;   // of its elements in Level::elements, ascending
    size_t prefix;  // of its probes in Level::prefix: the elements of its prefix that others have
    uint32_t document;
    uint32_t count;
    uint32_t prefix_count;
};

struct Probe {
    uint64_t element;
    uint32_t position;  // in the document's order, rarest first
};

struct Level {
    std::vector<uint64_t> elements;
    std::vector<Probe> prefix;
    std::vector<Participant> natives;
    std::vector<Participant> visitors;
};

// Appends the probes of a participant: its prefix in the order (frequency, element), without the
// elements that nobody else has.
class PrefixMaker {
   public:
    PrefixMaker(const Frequency& frequency, Ratio floor) : frequency_(frequency), floor_(floor) {}

    void make(Elements elements, std::vector<Probe>& out) {
        const size_t length = elements.size() - least_share(elements.size(), floor_) + 1;
        counts_.fill(0);
        frequencies_.resize(elements.size());
        for (size_t i = 0; i < elements.size(); ++i) {
            frequencies_[i] = frequency_(elements[i]);
            ++counts_[frequencies_[i]];
        }
        uint32_t before = 0;
        for (uint32_t& count : counts_) before += std::exchange(count, before);
        // Elements are ascending, so those of equal frequency stay so.
        const size_t first = out.size();
        for (size_t i = 0; i < elements.size(); ++i) {
            const uint32_t position = counts_[frequencies_[i]]++;
            if (position < length && frequencies_[i] > 1) out.push_back({elements[i], position});
        }
        std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                  [](const Probe& x, const Probe& y) { return x.position < y.position; });
    }

   private:
    const Frequency& frequency_;
    Ratio floor_;
    std::array<uint32_t, 256> counts_;
    std::vector<uint8_t> frequencies_;
};

Level make_level(const SketchView& sketches, uint8_t level, const Frequency& frequency,
                 Ratio floor) {
    Level made;
    PrefixMaker prefix_maker(frequency, floor);
    const uint64_t mask = (uint64_t{1} << level) - 1;
    size_t smallest_native = std::numeric_limits<size_t>::max();
    const auto add = [&](size_t document, std::vector<Participant>& to) {
        const size_t begin = made.elements.size();
        const uint64_t* const last = sketches.values + sketches.offsets[document + 1];
        for (const uint64_t* p = sketches.values + sketches.offsets[document]; p < last; ++p)
            if ((*p & mask) == 0) made.elements.push_back(*p);
        const size_t count = made.elements.size() - begin;
        const bool native = &to == &made.natives;
        // A visitor must be large enough for the smallest native at least.
        if (count == 0 || (!native && count < least_share(smallest_native, floor))) {
            made.elements.resize(begin);
            return;
        }
        if (native) smallest_native = std::min(smallest_native, count);
        const size_t prefix = made.prefix.size();
        prefix_maker.make({made.elements.data() + begin, count}, made.prefix);
        to.push_back({begin, prefix, static_cast<uint32_t>(document), static_cast<uint32_t>(count),
                      static_cast<uint32_t>(made.prefix.size() - prefix)});
    };
    for (size_t i = 0; i < sketches.count; ++i)
        if (sketches.level[i] == level) add(i, made.natives);
    if (made.natives.empty()) return made;
    for (size_t i = 0; i < sketches.count; ++i)
        if (sketches.level[i] < level) add(i, made.visitors);
    return made;
}

// The natives' prefixes by element: where each stands, ascending by native.
class PrefixIndex {
   public:
    struct Entry {
        uint64_t key;  // the element, mixed; a bijection
        uint32_t native;
        uint32_t position;
    };

    explicit PrefixIndex(const Level& level) {
        size_t count = 0;
        for (const Participant& native : level.natives) count += native.prefix_count;
        entries_.reserve(count);
        for (uint32_t n = 0; n < level.natives.size(); ++n) {
            const Participant& native = level.natives[n];
            for (uint32_t i = 0; i < native.prefix_count; ++i) {
                const Probe& probe = level.prefix[native.prefix + i];
                entries_.push_back({mixed(probe.element), n, probe.position});
            }
        }
        std::sort(entries_.begin(), entries_.end(), [](const Entry& x, const Entry& y) {
            return x.key != y.key ? x.key < y.key : x.native < y.native;
        });
        // The leading bits of a key lead to a short stretch of the sorted entries.
        shift_ = 64 - std::max(static_cast<int>(std::bit_width(entries_.size())), 1);
        starts_.assign((size_t{1} << (64 - shift_)) + 1, 0);
        for (const Entry& entry : entries_) ++starts_[(entry.key >> shift_) + 1];
        for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    }

    std::span<const Entry> find(uint64_t element) const {
        const uint64_t key = mixed(element);
        const Entry* first = entries_.data() + starts_[key >> shift_];
        const Entry* last = entries_.data() + starts_[(key >> shift_) + 1];
        while (first < last && first->key < key) ++first;
        const Entry* end = first;
        while (end < last && end->key == key) ++end;
        return {first, end};
    }

   private:
    std::vector<Entry> entries_;
    int shift_;
    std::vector<size_t> starts_;
};

size_t count_common(Elements a, Elements b) {
    size_t i = 0, j = 0, common = 0;
    while (i < a.size() && j < b.size()) {
        const uint64_t x = a[i], y = b[j];
        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    return common;
}

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

// The counts of a pair whose elements at their common level are given; `larger` is the size of the
// larger document.
void count(Elements a, Elements b, uint32_t larger, uint64_t smallest, Pair& pair) {
    size_t common = count_common(a, b);
    size_t sampled = a.size() + b.size() - common;
    if (smallest && sampled > smallest && larger > smallest) {
        common = count_common_among_smallest(a, b, smallest);
        sampled = smallest;
    }
    pair.common = static_cast<uint32_t>(common);
    pair.sampled = static_cast<uint32_t>(sampled);
}

// Finds the partners of one participant after the other among the natives of a level.
class Prober {
   public:
    Prober(const Level& level, const PrefixIndex& index, Ratio floor, const SketchView& sketches,
           uint64_t smallest)
        : level_(level),
          index_(index),
          floor_(floor),
          sketches_(sketches),
          smallest_(smallest),
          overlap_(level.natives.size(), 0) {}

    // Natives before `limit` only.
    void probe(const Participant& probing, uint32_t limit, std::vector<Pair>& out) {
        touched_.clear();
        for (uint32_t i = 0; i < probing.prefix_count; ++i) {
            const Probe& probe = level_.prefix[probing.prefix + i];
            for (const PrefixIndex::Entry& entry : index_.find(probe.element)) {
                if (entry.native >= limit) break;
                candidate(probing, probe.position, entry);
            }
        }
        for (const uint32_t native : touched_) {
            const bool pruned = overlap_[native] == pruned_mark;
            overlap_[native] = 0;
            if (!pruned) verify(probing, level_.natives[native], out);
        }
    }

   private:
    static constexpr uint32_t pruned_mark = std::numeric_limits<uint32_t>::max();

    void candidate(const Participant& probing, uint32_t position, const PrefixIndex::Entry& entry) {
        uint32_t& overlap = overlap_[entry.native];
        if (overlap == pruned_mark) return;
        const Participant& native = level_.natives[entry.native];
        if (overlap == 0) touched_.push_back(entry.native);
        // Behind this common element lie at most so many more.
        const uint32_t left = std::min(probing.count - position, native.count - entry.position);
        if (overlap + left < needed_overlap(probing.count, native.count))
            overlap = pruned_mark;
        else
            ++overlap;
    }

    size_t needed_overlap(size_t n, size_t m) const {
        // Of a union of which only the smallest are a sample, the overlap outside may be anything.
        return smallest_ ? least_share(std::max(n, m), floor_) : least_overlap(n, m, floor_);
    }

    Elements elements(const Participant& participant) const {
        return {level_.elements.data() + participant.begin, participant.count};
    }

    void verify(const Participant& x, const Participant& y, std::vector<Pair>& out) const {
        Pair pair{std::min(x.document, y.document), std::max(x.document, y.document), 0, 0};
        const uint32_t larger = std::max(sketches_.size[x.document], sketches_.size[y.document]);
        count(elements(x), elements(y), larger, smallest_, pair);
        if (reaches(pair, floor_)) out.push_back(pair);
    }

    const Level& level_;
    const PrefixIndex& index_;
    Ratio floor_;
    const SketchView& sketches_;
    uint64_t smallest_;
    std::vector<uint32_t> overlap_;  // a native; 0 for those not touched
    std::vector<uint32_t> touched_;
};

void join_level(const Level& level, Ratio floor, const SketchView& sketches, uint64_t smallest,
                size_t threads, std::vector<Pair>& pairs) {
    const PrefixIndex index(level);
    const size_t natives = level.natives.size();
    const size_t all = natives + level.visitors.size();
    constexpr size_t block = 256;
    std::vector<std::vector<Pair>> parts((all + block - 1) / block);
    in_parallel(parts.size(), threads, [&] {
        return [&, prober = Prober(level, index, floor, sketches, smallest)](size_t part) mutable {
            for (size_t i = part * block; i < std::min(all, (part + 1) * block); ++i) {
                if (i < natives)
                    prober.probe(level.natives[i], static_cast<uint32_t>(i), parts[part]);
                else
                    prober.probe(level.visitors[i - natives], static_cast<uint32_t>(natives),
                                 parts[part]);
            }
        };
    });
    for (const std::vector<Pair>& part : parts) pairs.insert(pairs.end(), part.begin(), part.end());
}

}  // namespace

void measure(const SketchView& sketches, uint64_t smallest, size_t threads, std::span<Pair> pairs) {
    constexpr size_t block = 1024;
    in_parallel((pairs.size() + block - 1) / block, threads, [&] {
        return [&, reduced = std::vector<uint64_t>()](size_t piece) mutable {
            // The elements of a document at a level no finer than its own.
            const auto at_level = [&](uint32_t document, uint8_t level) -> Elements {
                const uint64_t* const first = sketches.values + sketches.offsets[document];
                const uint64_t* const last = sketches.values + sketches.offsets[document + 1];
                if (sketches.level[document] == level) return {first, last};
                const uint64_t mask = (uint64_t{1} << level) - 1;
                reduced.clear();
                std::copy_if(first, last, std::back_inserter(reduced),
                             [&](uint64_t f) { return (f & mask) == 0; });
                return reduced;
            };
            for (Pair& pair :
                 pairs.subspan(piece * block, std::min(block, pairs.size() - piece * block))) {
                // Only one of the two is reduced, so one buffer is enough.
                const uint8_t level = std::max(sketches.level[pair.a], sketches.level[pair.b]);
                const uint32_t larger = std::max(sketches.size[pair.a], sketches.size[pair.b]);
                count(at_level(pair.a, level), at_level(pair.b, level), larger, smallest, pair);
            }
        };
    });
}

std::vector<Pair> join(const SketchView& sketches, Ratio floor, uint64_t smallest, size_t threads) {
    if (floor.numerator == 0 || floor.numerator > floor.denominator)
        throw std::invalid_argument("floor: out of range: want more than 0 and at most 1");
    if (sketches.count >= std::numeric_limits<uint32_t>::max())
        throw std::invalid_argument("sketches: too many: want fewer than 2^32");
    std::vector<Pair> pairs;
    const Frequency frequency(sketches);
    std::array<bool, 256> present{};
    for (size_t i = 0; i < sketches.count; ++i) present[sketches.level[i]] = true;
    for (size_t level = 0; level < present.size(); ++level)
        if (present[level])
            join_level(make_level(sketches, static_cast<uint8_t>(level), frequency, floor), floor,
                       sketches, smallest, threads, pairs);
    std::sort(pairs.begin(), pairs.end(),
              [](const Pair& x, const Pair& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
    return pairs;
}

}  // namespace roughly
