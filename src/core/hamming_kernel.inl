// The kernels of hamming_kernel.hpp, for files that define `popcount` and `select` (the place of
// the n-th one of a word, n from 0). Everything is in their unnamed namespace.

EliasFanoBucket locate(const EliasFanoView& view, uint64_t bucket) {
    size_t bit = 0;  // behind the zero that ends the bucket before
    if (bucket) {
        const uint64_t zero = bucket - 1;
        bit = view.samples[zero / ef_sample];
        unsigned left = zero % ef_sample;
        size_t word = bit / 64;
        uint64_t zeros = ~view.upper[word] & ~uint64_t{0} << bit % 64;
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

// Memory answers late, but many questions at once: every step first asks for what the next needs.
void probe(const EliasFanoView& view, const BucketProbe& wanted, HammingSink sink, void* context) {
    constexpr size_t slice = 64;
    EliasFanoBucket found[slice];
    for (size_t first = 0; first < wanted.flip_count; first += slice) {
        const uint64_t* flips = wanted.flips + first;
        const size_t count = wanted.flip_count - first < slice ? wanted.flip_count - first : slice;
        for (size_t i = 0; i < count; ++i)
            __builtin_prefetch(&view.samples[(wanted.head ^ flips[i]) / ef_sample]);
        for (size_t i = 0; i < count; ++i) {
            const uint64_t bucket = wanted.head ^ flips[i];
            const uint64_t* from = &view.upper[view.samples[bucket / ef_sample] / 64];
            // Two bits a bucket, as a rule.
            __builtin_prefetch(from + bucket % ef_sample / 64);
            __builtin_prefetch(from + bucket % ef_sample / 32);
        }
        for (size_t i = 0; i < count; ++i) {
            found[i] = locate(view, wanted.head ^ flips[i]);
            if (found[i].count == 0) continue;
            const uint64_t* from = view.lower + found[i].begin * view.width / 64;
            const size_t words = found[i].count * view.width / 64 + 1;
            for (size_t word = 0; word <= words && word < 48; word += 8)
                __builtin_prefetch(from + word);
        }
        for (size_t i = 0; i < count; ++i) {
            const unsigned differing = popcount(flips[i]);
            const size_t end = found[i].begin + found[i].count;
            for (size_t index = found[i].begin; index < end; ++index) {
                const uint64_t entry = packed_at(view.lower, index, view.width);
                if (differing + popcount((entry ^ wanted.value) & wanted.compared) <= wanted.limit)
                    sink(context, index, wanted.head ^ flips[i], entry);
            }
        }
    }
}

void scan_packed(const uint64_t* words, unsigned width, size_t begin, size_t end, uint64_t value,
                 unsigned limit, HammingSink sink, void* context) {
    for (size_t index = begin; index < end; ++index) {
        const uint64_t entry = packed_at(words, index, width);
        if (popcount(entry ^ value) <= limit) sink(context, index, 0, entry);
    }
}

void scan_values(const uint64_t* values, size_t begin, size_t end, uint64_t value, unsigned limit,
                 HammingSink sink, void* context) {
    // Eight at a time, since hardly any is near.
    size_t index = begin;
    for (; index + 8 <= end; index += 8) {
        unsigned near = 0;
        for (unsigned i = 0; i < 8; ++i)
            near |= (popcount(values[index + i] ^ value) <= limit ? 1u : 0u) << i;
        for (; near; near &= near - 1) {
            const size_t at = index + static_cast<unsigned>(__builtin_ctz(near));
            sink(context, at, 0, values[at]);
        }
    }
    for (; index < end; ++index)
        if (popcount(values[index] ^ value) <= limit) sink(context, index, 0, values[index]);
}

void probe_chain(const ChainView& view, const BucketProbe& wanted, HammingSink sink,
                 void* context) {
    constexpr size_t slice = 64;
    uint32_t found[slice];
    for (size_t first = 0; first < wanted.flip_count; first += slice) {
        const uint64_t* flips = wanted.flips + first;
        const size_t count = wanted.flip_count - first < slice ? wanted.flip_count - first : slice;
        for (size_t i = 0; i < count; ++i) __builtin_prefetch(&view.heads[wanted.head ^ flips[i]]);
        for (size_t i = 0; i < count; ++i) {
            found[i] = view.heads[wanted.head ^ flips[i]];
            if (found[i] == 0) continue;
            __builtin_prefetch(&view.values[found[i] - 1]);
            __builtin_prefetch(&view.next[found[i] - 1]);
        }
        for (size_t i = 0; i < count; ++i) {
            for (uint32_t at = found[i]; at; at = view.next[at - 1]) {
                const uint64_t value = view.values[at - 1];
                if (popcount(value ^ wanted.value) <= wanted.limit)
                    sink(context, at - 1, wanted.head ^ flips[i], value);
            }
        }
    }
}

// All values of one key near `value`, which is the `index`-th asked for.
inline void scan_bucket(const BucketView& view, uint64_t key, uint64_t value, size_t index,
                        unsigned limit, HammingSink sink, void* context) {
    const uint32_t end = view.starts[key + 1];
    for (uint32_t at = view.starts[key]; at < end; ++at)
        if (popcount(view.values[at] ^ value) <= limit) sink(context, index, at, 0);
}

void probe_buckets(const BucketView& view, const uint64_t* values, size_t count,
                   const uint64_t* flips, size_t flip_count, unsigned limit, HammingSink sink,
                   void* context) {
    constexpr size_t ahead = 16;
    for (size_t i = 0; i < count; ++i) {
        const uint64_t key = values[i] >> view.shift & view.mask;
        if (flip_count == 1) {
            if (i + 2 * ahead < count)
                __builtin_prefetch(&view.starts[values[i + 2 * ahead] >> view.shift & view.mask]);
            if (i + ahead < count) {
                const uint64_t soon = values[i + ahead] >> view.shift & view.mask;
                const uint64_t* from = &view.values[view.starts[soon]];
                __builtin_prefetch(from);
                __builtin_prefetch(from + 8);
                __builtin_prefetch(from + 16);
            }
        }
        for (size_t flip = 0; flip < flip_count; ++flip)
            scan_bucket(view, key ^ flips[flip], values[i], i, limit, sink, context);
    }
}

const HammingKernels kernels{locate, probe, scan_packed, scan_values, probe_chain, probe_buckets};
