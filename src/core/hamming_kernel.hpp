// The inner loops of searching by Hamming distance, over views of arrays. `.inl` has them once, and
// each level compiles them with its own popcount and select; all levels call the sink with the same
// values in the same order.
//
// A sequence in Elias-Fano's manner: sorted values, cut into `head` leading bits and `width`
// others. `upper` has for each of the 2^head buckets a one for every entry and then a zero;
// `samples` has the place of every `ef_sample`-th zero; `lower` has the other bits, packed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd.hpp"

namespace roughly {

inline constexpr size_t ef_sample = 64;

struct EliasFanoView {
    const uint64_t* upper;
    const uint32_t* samples;
    const uint64_t* lower;
    unsigned head;
    unsigned width;  // of an entry of `lower`
};

// Up to 256 queries of one table. Of query q: bucket = heads[q] ^ flip, for each flip, and of its
// entries those for which bits(flip) + bits((entry ^ values[q]) & compared) <= limit.
struct BucketProbes {
    const uint64_t* flips;
    size_t flip_count;
    uint64_t compared;
    unsigned limit;
    const uint64_t* heads;
    const uint64_t* values;
    size_t count;
};

// Called for every entry found: of which query, its index, its bucket, and the entry.
using ProbeSink = void (*)(void* context, size_t query, uint64_t index, uint64_t bucket,
                           uint64_t entry);
// Its index and the entry.
using ScanSink = void (*)(void* context, uint64_t index, uint64_t entry);

// Values under a key of some of their bits, behind one another in a list: `heads` has the first of
// each key plus 1, `next` that which follows plus 1.
struct ChainView {
    const uint32_t* heads;
    const uint32_t* next;
    const uint64_t* values;
};

// Values sorted by a key, bits `shift` and up under `mask`; those of key b are from starts[b] on.
// Values that differ in few bits differ in no more of any 32, so these are looked at first: the
// lowest 32 after turning a value right by `turn`. Eight signatures more than there are can be
// read.
struct BucketView {
    const uint32_t* starts;
    const uint32_t* signatures;
    const uint64_t* values;
    unsigned shift;
    unsigned turn;
    uint64_t mask;

    [[gnu::always_inline]] uint32_t signature(uint64_t value) const {
        return static_cast<uint32_t>(turn % 64 ? value >> turn % 64 | value << (64 - turn % 64)
                                               : value);
    }
};

// Where a bucket's entries begin, and how many they are.
struct EliasFanoBucket {
    size_t begin, count;
};

struct HammingKernels {
    EliasFanoBucket (*locate)(const EliasFanoView&, uint64_t bucket);
    // Asks memory for what `probe` needs first.
    void (*prepare)(const EliasFanoView&, const BucketProbes&);
    void (*probe)(const EliasFanoView&, const BucketProbes&, ProbeSink, void* context);
    // Entries begin <= i < end of a packed array.
    void (*scan_packed)(const uint64_t* words, unsigned width, size_t begin, size_t end,
                        uint64_t value, unsigned limit, ScanSink, void* context);
    // Values begin <= i < end.
    void (*scan_values)(const uint64_t* values, size_t begin, size_t end, uint64_t value,
                        unsigned limit, ScanSink, void* context);
    // The values under each key near heads[q] that are within `limit` of values[q].
    void (*probe_chain)(const ChainView&, const BucketProbes&, ProbeSink, void* context);
    // For each of `count` values all in the table within `limit`: sink(index of the value, place in
    // the table).
    void (*probe_buckets)(const BucketView&, const uint64_t* values, size_t count,
                          const uint64_t* flips, size_t flip_count, unsigned limit, ScanSink,
                          void* context);
};

// Levels without kernels of their own have those of the next lower one.
const HammingKernels& hamming_kernels(Simd level);

const HammingKernels& hamming_kernels_avx2();

}  // namespace roughly
