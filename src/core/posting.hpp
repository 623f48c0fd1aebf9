// Which elements of which documents a join has to look at: the second phase of the 1997 paper,
// <fingerprint, document>, after prefix filtering.
//
// With the elements of all documents in one order, rarest first, two sketches of n and m elements
// that have o in common share an element among the first n - o + 1 of one and the first m - o + 1
// of the other. Of two documents the *prober* looks the other one up, which is *indexed*:
//   resemblance at t: the larger one probes. It has ceil(t n) in common with any partner, and the
//     smaller one, of m elements, ceil(2 t m / (1 + t)) with any that is not smaller.
//   containment at t: the smaller one probes. It has ceil(t n) in common, and the larger one is
//     indexed whole.
// Two documents meet at the coarser of their levels. So there is a join for every level, of the
// documents that are native to it and of those that visit it from finer levels, with their sketches
// reduced; at least one of a pair is native.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "buffer.hpp"
#include "measure.hpp"
#include "pair.hpp"
#include "signature.hpp"
#include "sketch_set.hpp"

namespace roughly {

// What a join looks for.
struct JoinRule {
    Measure measure;
    Ratio floor;                 // 0 < floor <= 1
    uint64_t smallest;           // the K of min:K sketches, else 0
    size_t least_contained = 0;  // elements that a document must have to be called contained

    // Elements of the prefix with which a document of n elements probes, and is found. n > 0.
    size_t probe_length(size_t n) const;
    size_t index_length(size_t n) const;

    // The least overlap with which a prober of n and a partner of m elements reach the floor.
    size_t needed(size_t n, size_t m) const;

    // Whether an overlap is as large as that.
    bool suffices(size_t overlap, size_t n, size_t m) const {
        if (measure == Measure::containment || smallest) {
            const size_t whole = measure == Measure::containment ? n : std::max(n, m);
            return uint128{overlap} * floor.denominator >= uint128{floor.numerator} * whole;
        }
        return uint128{overlap} * (floor.numerator + floor.denominator) >=
               uint128{floor.numerator} * (n + m);
    }

    // The most elements of a prober with which that overlap reaches the floor; its partner has m.
    uint32_t most_prober(size_t overlap, size_t m) const;

    // Whether a document's elements at a level say enough of its containment: a few of them may all
    // be somewhere by chance. A document that has all its shingles there is no sample.
    bool enough(const SketchSet& sketches, size_t document, size_t count) const {
        return measure != Measure::containment || count >= least_contained ||
               count == sketches.size_of(document);
    }

    // Partners' element counts that may do, if no more than `left` of the prober's n elements can
    // be common.
    struct Range {
        size_t least, most;
    };
    Range partners(size_t n, size_t left) const;
};

// An element of a document, as the key under which documents meet.
struct KeyedPosting {
    uint64_t key;  // the element in its document's category, mixed
    uint32_t document;
    uint32_t position;  // of the element among those of its document, rarest first
};

// Leading bits of a key.
inline constexpr int bucket_bits = 8;
inline constexpr size_t buckets = size_t{1} << bucket_bits;

inline size_t bucket_of(uint64_t key) { return key >> (64 - bucket_bits); }

// The same in its bucket: of the rest of the key it has as many bits as make two elements of a join
// the same hardly ever. Documents that meet under two such are looked at once more, nothing else.
struct Posting {
    uint32_t key;
    uint32_t document;
    uint32_t position;

    Posting() = default;
    explicit Posting(const KeyedPosting& keyed)
        : key(static_cast<uint32_t>(keyed.key << bucket_bits >> 32)),
          document(keyed.document),
          position(keyed.position) {}
};

// The postings of some documents at one level, by bucket.
template <typename Entry>
struct Postings {
    Sequence<Entry> entries;            // Posting or KeyedPosting
    std::vector<uint64_t> bucket_ends;  // of entries; `buckets` of them
};

// Documents from `begin` to `end`. Elements that nobody else has are left out. `counts` has a place
// for each of all documents and takes how many elements each has at the level; those that do not
// take part are left alone (at 0). `bounds` has no fewer than each document has at the level, and
// takes what it has: joins of finer levels make those of coarser ones faster. `signatures` takes
// those of the elements at the level, of documents that have postings and of no others, or is
// empty. `smallest_native` is the least count of a native; `visited` says whether there are
// documents of finer levels.
template <typename Entry>
Postings<Entry> make_postings(const SketchSet& sketches, const JoinRule& rule, uint8_t level,
                              size_t begin, size_t end, size_t smallest_native, bool visited,
                              size_t threads, std::span<uint32_t> counts,
                              std::span<uint32_t> bounds, std::span<Signature> signatures);

}  // namespace roughly
