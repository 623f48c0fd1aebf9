// The kernels of hamming_kernel.hpp, for files that define `popcount`, `select` (the place of the
// n-th one of a word, n from 0) and `from_one` (a word without its lowest n ones). Everything is in
// their unnamed namespace.

// All ones, or none. Whatever depends on the values cannot be foretold, and a branch that is not
// costs more than the rest of a probe; compilers keep arithmetic as it is.
inline uint64_t mask_if(bool holds) { return 0 - static_cast<uint64_t>(holds); }

// 64 bits from any place on; the last of a bit string has as many behind it.
[[gnu::always_inline]] inline uint64_t bits_from(const uint64_t* words, size_t bit) {
    const uint64_t low = words[bit / 64] >> bit % 64;
    return low | words[bit / 64 + 1] << 1 << (63 - bit % 64);
}

// The zero that is `left` zeros behind the first one from `bit` on, wherever it is.
[[gnu::noinline]] size_t far_zero(const uint64_t* words, size_t bit, size_t left) {
    size_t word = bit / 64;
    uint64_t zeros = ~words[word] & ~uint64_t{0} << bit % 64;
    for (unsigned here; left >= (here = popcount(zeros)); left -= here) zeros = ~words[++word];
    return word * 64 + select(zeros, static_cast<unsigned>(left));
}

// A bucket that is not the first, given the place of the sampled zero before it.
[[gnu::always_inline]] inline EliasFanoBucket bucket_behind(const EliasFanoView& view,
                                                            size_t sample, uint64_t bucket) {
    // The 64 buckets of a sample take some 100 to 130 bits, so it is in one of two words as a rule.
    const unsigned left = (bucket - 1) % ef_sample;
    const uint64_t low = ~bits_from(view.upper, sample);
    const uint64_t high = ~bits_from(view.upper, sample + 64);
    const unsigned here = popcount(low);
    const uint64_t beyond = mask_if(left >= here);
    const uint64_t zeros = low ^ ((low ^ high) & beyond);
    const uint64_t from = from_one(zeros, left - (here & static_cast<unsigned>(beyond)));
    const uint64_t behind = from & (from - 1);
    if (behind == 0) {
        const size_t begin = far_zero(view.upper, sample, left) + 1;
        return {begin - bucket, far_zero(view.upper, begin, 0) - begin};
    }
    const auto zero = static_cast<unsigned>(__builtin_ctzll(from));
    const size_t begin = sample + (64 & beyond) + zero + 1;
    return {begin - bucket, static_cast<unsigned>(__builtin_ctzll(behind)) - zero - 1};
}

EliasFanoBucket locate(const EliasFanoView& view, uint64_t bucket) {
    if (bucket == 0) return {0, far_zero(view.upper, 0, 0)};
    return bucket_behind(view, view.samples[(bucket - 1) / ef_sample], bucket);
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

// Probes on their way through four steps. Memory answers late, but many questions at once: each
// step asks for what the next one needs, and does so for one block while others are at theirs.
constexpr size_t block_probes = 32;

// Some flips of one query.
struct ProbeBlock {
    size_t count = 0;
    uint64_t head = 0;
    const uint64_t* flips = nullptr;
    uint64_t tag = 0;  // query << 24 | the first flip
    uint32_t samples[block_probes];
};

struct FoundBlock {
    // Most buckets have two at most, and nobody can foretell how many: tag << 32 | index.
    size_t count = 0;
    uint64_t entries[2 * block_probes + 2];
    // The others of a bucket that has more.
    size_t runs = 0;
    struct {
        uint64_t first, count;
    } run[block_probes];
};

// The place of the sampled zero before a bucket; the first bucket has none, and is found without.
[[gnu::always_inline]] inline const uint32_t* sample_of(const EliasFanoView& view, size_t bucket) {
    return &view.samples[(bucket - (bucket > 0)) / ef_sample];
}

[[gnu::always_inline]] inline void find_entries(const EliasFanoView& view, uint64_t bucket,
                                                uint32_t sample, uint64_t tag, FoundBlock& found) {
    const EliasFanoBucket here = bucket ? bucket_behind(view, sample, bucket) : locate(view, 0);
    const uint64_t first = here.begin | tag << 32;
    found.entries[found.count] = first;
    found.entries[found.count + 1] = first + 1;
    found.count += here.count < 2 ? here.count : 2;
    // Of an empty bucket nothing is read.
    const size_t begin = here.begin & mask_if(here.count > 0);
    const auto* lower = reinterpret_cast<const uint8_t*>(view.lower);
    const uint8_t* from = lower + begin * view.width / 8;
    const size_t bytes = here.count * view.width / 8;
    __builtin_prefetch(from);
    __builtin_prefetch(from + bytes + 2);  // the last one may be in the next line, or end there
    if (here.count > 2) {
        found.run[found.runs++] = {first + 2, here.count - 2};
        for (size_t at = 64; at < bytes && at < 384; at += 64) __builtin_prefetch(from + at);
    }
}

template <bool narrow>
[[gnu::always_inline]] inline void compare_entries(const EliasFanoView& view,
                                                   const BucketProbes& wanted, FoundBlock& found,
                                                   ProbeSink sink, void* context) {
    const uint64_t* lower = view.lower;
    const unsigned width = view.width;
    const uint64_t compared = wanted.compared;
    const uint64_t* values = wanted.values;
    const uint64_t* flips = wanted.flips;
    const unsigned limit = wanted.limit;
    const auto entry_at = [&](uint64_t tagged) {
        return packed_value<narrow>(lower, static_cast<uint32_t>(tagged), width);
    };
    const auto near = [&](uint64_t tagged) {
        const uint64_t differing = (entry_at(tagged) ^ values[tagged >> 56]) & compared;
        return popcount(differing) + popcount(flips[tagged >> 32 & 0xFFFFFF]) <= limit;
    };
    const auto report = [&](uint64_t tagged) {
        const uint64_t query = tagged >> 56;
        const uint64_t bucket = wanted.heads[query] ^ flips[tagged >> 32 & 0xFFFFFF];
        sink(context, query, static_cast<uint32_t>(tagged), bucket, entry_at(tagged));
    };
    // The near ones to the front: whether one is near cannot be foretold either.
    size_t kept = 0;
    for (size_t i = 0; i < found.count; ++i) {
        const uint64_t tagged = found.entries[i];
        found.entries[kept] = tagged;
        kept += near(tagged);
    }
    for (size_t i = 0; i < kept; ++i) report(found.entries[i]);
    for (size_t i = 0; i < found.runs; ++i)
        for (uint64_t at = 0; at < found.run[i].count; ++at)
            if (near(found.run[i].first + at)) report(found.run[i].first + at);
    found.count = 0;
    found.runs = 0;
}

// One step of each of three blocks. As a rule they have as many probes, which the compiler may
// know.
template <bool same>
[[gnu::always_inline]] inline void step_blocks(const EliasFanoView& view, const ProbeBlock& first,
                                               ProbeBlock& second, const ProbeBlock& third,
                                               FoundBlock& found) {
    size_t most = first.count > second.count ? first.count : second.count;
    most = most > third.count ? most : third.count;
    for (size_t i = 0; i < most; ++i) {
        if (same || i < first.count)
            __builtin_prefetch(sample_of(view, first.head ^ first.flips[i]));
        if (same || i < second.count) {
            second.samples[i] = *sample_of(view, second.head ^ second.flips[i]);
            const uint64_t* from = &view.upper[second.samples[i] / 64];
            __builtin_prefetch(from);
            __builtin_prefetch(from + 2);  // two bits a bucket, as a rule
        }
        if (same || i < third.count)
            find_entries(view, third.head ^ third.flips[i], third.samples[i], third.tag + i, found);
    }
}

template <bool narrow>
void probe_entries(const EliasFanoView view, const BucketProbes wanted, ProbeSink sink,
                   void* context) {
    ProbeBlock blocks[3];
    FoundBlock found[2];
    size_t query = 0;
    size_t flip = 0;
    for (size_t turn = 0, left = wanted.count * wanted.flip_count; left > 0; ++turn) {
        ProbeBlock& first = blocks[turn % 3];
        ProbeBlock& second = blocks[(turn + 2) % 3];
        const ProbeBlock& third = blocks[(turn + 1) % 3];
        FoundBlock& here = found[turn % 2];
        left -= third.count;
        first.count = 0;
        if (query < wanted.count) {
            const size_t rest = wanted.flip_count - flip;
            const size_t count = rest < block_probes ? rest : block_probes;
            first.count = count;
            first.head = wanted.heads[query];
            first.flips = wanted.flips + flip;
            first.tag = query << 24 | flip;
            flip = count == rest ? 0 : flip + count;
            query += count == rest;
        }
        if (first.count == second.count && second.count == third.count)
            step_blocks<true>(view, first, second, third, here);
        else
            step_blocks<false>(view, first, second, third, here);
        compare_entries<narrow>(view, wanted, found[(turn + 1) % 2], sink, context);
        if (left == 0) compare_entries<narrow>(view, wanted, here, sink, context);
    }
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
