#include "inverted.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "parallel.hpp"

namespace roughly {

namespace {

size_t partition_of(uint64_t key) { return key >> (64 - partition_bits); }

// Of a list of so many rows: their number before them, filled up.
size_t list_words(size_t rows) { return (rows + list_unit) / list_unit * list_unit; }

// The rows of one element, of small documents or of others, in its bucket or in a list.
void add_run(const InvertedShape& shape, std::span<const uint64_t> run, Inverted& made) {
    const uint64_t rest = shape.rest_in(run[0]);
    if (run.size() <= most_inline) {
        for (const uint64_t each : run)
            made.entries.push_back(shape.entry(rest, false, shape.value_in(each)));
        return;
    }
    const uint32_t mark = shape.is_list(run[0]) ? small_mark : 0;
    const size_t begin = made.lists.size();
    made.entries.push_back(shape.entry(rest, true, begin / list_unit));
    made.lists.push_back(static_cast<uint32_t>(run.size()) | mark);
    for (const uint64_t each : run)
        made.lists.push_back(static_cast<uint32_t>(shape.value_in(each)));
    made.lists.resize(begin + list_words(run.size()));
}

// One partition: its postings to their buckets, each bucket sorted, long runs to lists. The values
// of lists count from 0.
Inverted invert_one(const InvertedShape& shape, std::span<const ScatteredView> runs,
                    size_t partition) {
    const size_t first_bucket = partition << (shape.bucket_bits - partition_bits);
    const size_t count = size_t{1} << (shape.bucket_bits - partition_bits);
    const auto slice = [&](const ScatteredView& run) {
        return std::pair(partition ? run.ends[partition - 1] : 0, run.ends[partition]);
    };
    Inverted made;
    std::vector<uint64_t> next(count + 1);
    for (const ScatteredView& run : runs) {
        const auto [begin, end] = slice(run);
        for (uint64_t i = begin; i < end; ++i)
            ++next[shape.bucket_of(run.keys[i]) - first_bucket + 1];
    }
    for (size_t i = 0; i < count; ++i) next[i + 1] += next[i];
    std::vector<uint64_t> sorted(next[count]);
    for (const ScatteredView& run : runs) {
        const auto [begin, end] = slice(run);
        for (uint64_t i = begin; i < end; ++i)
            sorted[next[shape.bucket_of(run.keys[i]) - first_bucket]++] = shape.entry(
                shape.rest_of(run.keys[i]), run.rows[i] & small_mark, run.rows[i] & ~small_mark);
    }
    // Now next[i] is where bucket i ends. While entries are sorted the bit of lists marks small
    // documents: each kind is a run.
    const auto each_run = [&](size_t bucket, auto&& take) {
        const size_t end = next[bucket];
        for (size_t i = bucket ? next[bucket - 1] : 0; i < end;) {
            const uint64_t kind = sorted[i] >> shape.value_bits;
            size_t stop = i + 1;
            while (stop < end && sorted[stop] >> shape.value_bits == kind) ++stop;
            take(std::span<const uint64_t>(sorted.data() + i, stop - i));
            i = stop;
        }
    };
    // Counted first: an array that grows is there twice for a while.
    size_t entries = 0, words = 0;
    for (size_t bucket = 0; bucket < count; ++bucket) {
        std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(bucket ? next[bucket - 1] : 0),
                  sorted.begin() + static_cast<std::ptrdiff_t>(next[bucket]));
        each_run(bucket, [&](std::span<const uint64_t> run) {
            entries += run.size() <= most_inline ? run.size() : 1;
            words += run.size() <= most_inline ? 0 : list_words(run.size());
        });
    }
    made.entries.reserve(entries);
    made.lists.reserve(words);
    made.bucket_ends.resize(count);
    for (size_t bucket = 0; bucket < count; ++bucket) {
        each_run(bucket, [&](std::span<const uint64_t> run) { add_run(shape, run, made); });
        made.bucket_ends[bucket] = made.entries.size();
    }
    return made;
}

}  // namespace

InvertedShape inverted_shape(uint64_t rows, uint64_t postings) {
    // A list has more than most_inline rows and, with its length, less than twice as many words as
    // rows once it is filled up.
    const uint64_t units = 2 * (postings / most_inline) + 1;  // and one that is left free
    const int value_bits = static_cast<int>(std::bit_width(std::max(rows, units)));
    // Enough buckets for an entry to have room for the rest of the key, and some 100 postings each:
    // a bucket is read at once, and the directory of all stays small.
    const int spread = static_cast<int>(std::bit_width(postings / 128));
    return {std::max({partition_bits, value_bits + 1, spread}), value_bits};
}

Scattered scatter(const SketchChunk& chunk, size_t rows, uint32_t first_row,
                  const uint8_t* left_out, const uint32_t* kept) {
    std::array<uint64_t, partitions> next{};
    const auto each = [&](auto&& take) {
        for (size_t row = 0; row < rows; ++row) {
            if (left_out && left_out[row]) continue;
            for (int64_t i = chunk.offsets[row]; i < chunk.offsets[row + 1]; ++i)
                take(mixed(chunk.values[i]), row);
        }
    };
    each([&](uint64_t key, size_t) { ++next[partition_of(key)]; });
    Scattered made;
    uint64_t total = 0;
    for (uint64_t& place : next) {
        const uint64_t size = place;
        place = total;
        total += size;
        made.ends.push_back(total);
    }
    made.keys.resize(total);
    made.rows.resize(total);
    each([&](uint64_t key, size_t row) {
        const uint64_t place = next[partition_of(key)]++;
        made.keys[place] = key;
        const bool small = kept[row] < least_large;
        made.rows[place] = (first_row + static_cast<uint32_t>(row)) | (small ? small_mark : 0);
    });
    return made;
}

Inverted invert(const InvertedShape& shape, std::span<const ScatteredView> runs, size_t first,
                size_t last, uint64_t first_unit, size_t threads) {
    std::vector<Inverted> pieces(last - first);
    in_parallel(pieces.size(), threads, [&] {
        return [&](size_t piece) { pieces[piece] = invert_one(shape, runs, first + piece); };
    });
    Inverted made;
    for (Inverted& piece : pieces) {
        const uint64_t entries = made.entries.size();
        const uint64_t units = first_unit + made.lists.size() / list_unit;
        for (uint64_t& entry : piece.entries)
            if (shape.is_list(entry)) entry += units;
        for (uint64_t& end : piece.bucket_ends) end += entries;
        if (&piece == &pieces.front()) {
            made = std::move(piece);  // A large one comes alone, and is not there twice.
            continue;
        }
        made.entries.insert(made.entries.end(), piece.entries.begin(), piece.entries.end());
        made.bucket_ends.insert(made.bucket_ends.end(), piece.bucket_ends.begin(),
                                piece.bucket_ends.end());
        made.lists.insert(made.lists.end(), piece.lists.begin(), piece.lists.end());
        piece = {};
    }
    return made;
}

}  // namespace roughly
