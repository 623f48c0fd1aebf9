// The kernels of hamming_kernel.hpp, for files that define `popcount` and `select` (the place of
// the n-th one of a word, n from 0). Everything is in their unnamed namespace.

// All ones, or none. Whatever depends on the values cannot be foretold, and a branch that is not
// costs more than the rest of a probe; compilers keep arithmetic as it is.
inline uint64_t mask_if(bool holds) { return 0 - static_cast<uint64_t>(holds); }

[[gnu::always_inline]] inline EliasFanoBucket locate_bucket(const EliasFanoView& view,
                                                            uint64_t bucket) {
    size_t bit = 0;  // behind the zero that ends the bucket before
    if (bucket) {
        const uint64_t zero = bucket - 1;
        bit = view.samples[zero / ef_sample];
        unsigned left = zero % ef_sample;
        size_t word = bit / 64;
        uint64_t zeros = ~view.upper[word] & ~uint64_t{0} << bit % 64;
        // A word has some 27 to 43 zeros, so it is as a rule one of these three. There are three
        // words behind the last zero.
        for (unsigned step = 0; step < 2; ++step) {
            const unsigned here = popcount(zeros);
            const uint64_t beyond = mask_if(left >= here);
            left -= here & static_cast<unsigned>(beyond);
            word += beyond & 1;
            zeros ^= (zeros ^ ~view.upper[word]) & beyond;
        }
        for (unsigned here; left >= (here = popcount(zeros)); left -= here)
            zeros = ~view.upper[++word];
        bit = word * 64 + select(zeros, left) + 1;
    }
    size_t word = bit / 64;
    uint64_t zeros = ~view.upper[word] & ~uint64_t{0} << bit % 64;
    while (zeros == 0) zeros = ~view.upper[++word];
    const size_t end = word * 64 + static_cast<unsigned>(__builtin_ctzll(zeros));
    return {bit - bucket, end - bit};
}

EliasFanoBucket locate(const EliasFanoView& view, uint64_t bucket) {
    return locate_bucket(view, bucket);
}

// How many probes are under way together, and for how many queries.
constexpr size_t slice_probes = 256;
constexpr size_t slice_flips = 64;

// step(probe, query, bucket, flip) for each probe of a slice, numbered from 0.
template <typename Step>
[[gnu::always_inline]] inline void each_probe(const BucketProbes& wanted, size_t query,
                                              size_t queries, size_t first, size_t flips,
                                              Step&& step) {
    size_t probe = 0;
    for (size_t q = query; q < query + queries; ++q)
        for (size_t i = first; i < first + flips; ++i, ++probe)
            step(probe, q, wanted.heads[q] ^ wanted.flips[i], wanted.flips[i]);
}

// run(query, queries, first flip, flips) for all slices.
template <typename Run>
[[gnu::always_inline]] inline void each_slice(const BucketProbes& wanted, Run&& run) {
    const size_t most = wanted.flip_count < slice_flips ? wanted.flip_count : slice_flips;
    const size_t together = slice_probes / (most ? most : 1);
    for (size_t query = 0; query < wanted.count; query += together) {
        const size_t left = wanted.count - query;
        for (size_t first = 0; first < wanted.flip_count; first += most) {
            const size_t flips = wanted.flip_count - first;
            run(query, left < together ? left : together, first, flips < most ? flips : most);
        }
    }
}

inline void prefetch_bucket(const EliasFanoView& view, uint64_t bucket) {
    const uint64_t* from = &view.upper[view.samples[bucket / ef_sample] / 64];
    __builtin_prefetch(from);
    // Two bits a bucket, as a rule.
    __builtin_prefetch(from + 2);
}

void prepare(const EliasFanoView& view, const BucketProbes& wanted) {
    for (size_t q = 0; q < wanted.count; ++q)
        for (size_t i = 0; i < wanted.flip_count && i < slice_flips; ++i)
            prefetch_bucket(view, wanted.heads[q] ^ wanted.flips[i]);
}

// Memory answers late, but many questions at once: every step first asks for what the next needs.
template <bool narrow>
void probe_entries(const EliasFanoView& view, const BucketProbes& wanted, ProbeSink sink,
                   void* context) {
    const unsigned width = view.width;
    EliasFanoBucket found[slice_probes];
    each_slice(wanted, [&](size_t query, size_t queries, size_t first, size_t flips) {
        const auto each = [&](auto&& step) {
            each_probe(wanted, query, queries, first, flips, step);
        };
        each([&](size_t, size_t, uint64_t bucket, uint64_t) { prefetch_bucket(view, bucket); });
        each([&](size_t probe, size_t, uint64_t bucket, uint64_t) {
            found[probe] = locate_bucket(view, bucket);
            // Of an empty bucket nothing is read.
            const size_t begin = found[probe].begin & mask_if(found[probe].count > 0);
            const uint64_t* from = view.lower + begin * view.width / 64;
            __builtin_prefetch(from);
            const size_t words = found[probe].count * view.width / 64 + 1;
            for (size_t word = 8; word <= words && word < 48; word += 8)
                __builtin_prefetch(from + word);
        });
        each([&](size_t probe, size_t q, uint64_t bucket, uint64_t flip) {
            const uint64_t* lower = view.lower;
            const uint64_t value = wanted.values[q];
            const uint64_t compared = wanted.compared;
            const unsigned left = wanted.limit + 64 - popcount(flip);
            const size_t begin = found[probe].begin;
            const size_t count = found[probe].count;
            const auto entry_at = [&](size_t index) {
                return packed_value<narrow>(lower, index, width);
            };
            const auto distance = [&](uint64_t entry) {
                return popcount((entry ^ value) & compared) + 64;
            };
            // Most buckets have two at most. One that is not there is the first of all, and far.
            const uint64_t one = mask_if(count > 0);
            const uint64_t two = mask_if(count > 1);
            const uint64_t a = entry_at(begin & one);
            const uint64_t b = entry_at((begin + 1) & two);
            const bool near_a = distance(a) + (64 & ~one) <= left;
            const bool near_b = distance(b) + (64 & ~two) <= left;
            if (near_a | near_b) {
                if (near_a) sink(context, q, begin, bucket, a);
                if (near_b) sink(context, q, begin + 1, bucket, b);
            }
            for (size_t i = 2; i < count; ++i) {
                const uint64_t entry = entry_at(begin + i);
                if (distance(entry) <= left) sink(context, q, begin + i, bucket, entry);
            }
        });
    });
}

void probe(const EliasFanoView& view, const BucketProbes& wanted, ProbeSink sink, void* context) {
    if (view.width <= packed_narrow)
        probe_entries<true>(view, wanted, sink, context);
    else
        probe_entries<false>(view, wanted, sink, context);
}

void scan_packed(const uint64_t* words, unsigned width, size_t begin, size_t end, uint64_t value,
                 unsigned limit, ScanSink sink, void* context) {
    const auto scan = [&](auto entry_at) {
        for (size_t index = begin; index < end; ++index) {
            const uint64_t entry = entry_at(index);
            if (popcount(entry ^ value) <= limit) sink(context, index, entry);
        }
    };
    if (width <= packed_narrow)
        scan([&](size_t index) { return packed_value<true>(words, index, width); });
    else
        scan([&](size_t index) { return packed_value<false>(words, index, width); });
}

void scan_values(const uint64_t* values, size_t begin, size_t end, uint64_t value, unsigned limit,
                 ScanSink sink, void* context) {
    // Eight at a time, since hardly any is near.
    size_t index = begin;
    for (; index + 8 <= end; index += 8) {
        unsigned near = 0;
        for (unsigned i = 0; i < 8; ++i)
            near |= (popcount(values[index + i] ^ value) <= limit ? 1u : 0u) << i;
        for (; near; near &= near - 1) {
            const size_t at = index + static_cast<unsigned>(__builtin_ctz(near));
            sink(context, at, values[at]);
        }
    }
    for (; index < end; ++index)
        if (popcount(values[index] ^ value) <= limit) sink(context, index, values[index]);
}

void probe_chain(const ChainView& view, const BucketProbes& wanted, ProbeSink sink, void* context) {
    uint32_t found[slice_probes];
    each_slice(wanted, [&](size_t query, size_t queries, size_t first, size_t flips) {
        const auto each = [&](auto&& step) {
            each_probe(wanted, query, queries, first, flips, step);
        };
        each([&](size_t, size_t, uint64_t bucket, uint64_t) {
            __builtin_prefetch(&view.heads[bucket]);
        });
        each([&](size_t probe, size_t, uint64_t bucket, uint64_t) {
            found[probe] = view.heads[bucket];
            if (found[probe] == 0) return;
            __builtin_prefetch(&view.values[found[probe] - 1]);
            __builtin_prefetch(&view.next[found[probe] - 1]);
        });
        each([&](size_t probe, size_t q, uint64_t bucket, uint64_t) {
            for (uint32_t at = found[probe]; at; at = view.next[at - 1]) {
                const uint64_t value = view.values[at - 1];
                if (popcount(value ^ wanted.values[q]) <= wanted.limit)
                    sink(context, q, at - 1, bucket, value);
            }
        });
    });
}

// All values of one key near `value`, which is the `index`-th asked for.
[[gnu::always_inline]] inline void scan_bucket(const BucketView& view, uint64_t key, uint64_t value,
                                               uint32_t signature, size_t index, unsigned limit,
                                               ScanSink sink, void* context) {
    const uint32_t end = view.starts[key + 1];
    for (uint32_t at = view.starts[key]; at < end; at += 8) {
        unsigned near = near_eight(view.signatures + at, signature, limit);
        if (near == 0) continue;
        if (end - at < 8) near &= (1u << (end - at)) - 1;
        for (; near; near &= near - 1) {
            const uint32_t found = at + static_cast<unsigned>(__builtin_ctz(near));
            if (popcount(view.values[found] ^ value) <= limit) sink(context, index, found);
        }
    }
}

void probe_buckets(const BucketView& view, const uint64_t* values, size_t count,
                   const uint64_t* flips, size_t flip_count, unsigned limit, ScanSink sink,
                   void* context) {
    constexpr size_t ahead = 16;
    for (size_t i = 0; i < count; ++i) {
        const uint64_t key = values[i] >> view.shift & view.mask;
        if (flip_count == 1) {
            if (i + 2 * ahead < count)
                __builtin_prefetch(&view.starts[values[i + 2 * ahead] >> view.shift & view.mask]);
            if (i + ahead < count) {
                const uint64_t soon = values[i + ahead] >> view.shift & view.mask;
                const uint32_t* from = &view.signatures[view.starts[soon]];
                __builtin_prefetch(from);
                __builtin_prefetch(from + 16);
            }
        }
        const uint32_t signature = view.signature(values[i]);
        for (size_t flip = 0; flip < flip_count; ++flip)
            scan_bucket(view, key ^ flips[flip], values[i], signature, i, limit, sink, context);
    }
}

const HammingKernels kernels{locate,      prepare,     probe,        scan_packed,
                             scan_values, probe_chain, probe_buckets};
