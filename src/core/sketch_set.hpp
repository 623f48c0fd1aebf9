// Sketches of many documents as they lie in memory or in mapped files, and the documents of them
// that take part in a join, in document order. Nothing is copied: the arrays must outlive the view.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pair.hpp"
#include "simd.hpp"

namespace roughly {

using Elements = std::span<const uint64_t>;

// The highest bit marks the words of a short document in its sketch (docs/algorithm.md, section 4),
// which therefore come last; where sketches have none it means nothing.
inline constexpr uint64_t word_mark = uint64_t{1} << 63;

// The elements without the words among them.
inline Elements shingles_in(Elements elements) {
    if (elements.empty() || !(elements.back() & word_mark)) return elements;
    const auto first = std::lower_bound(elements.begin(), elements.end(), word_mark);
    return elements.first(static_cast<size_t>(first - elements.begin()));
}

// Sketches of consecutive rows.
struct SketchChunk {
    const uint64_t* values;
    const int64_t* offsets;    // of its rows and one more, into values
    const uint8_t* frequency;  // of each value, see frequency.hpp; null until counted
};

// Copies sketches out of files, for those that are wanted here and there: touching them in place
// would bring the whole of a large file into memory. Any thread may use it.
class SketchReader {
   public:
    virtual ~SketchReader() = default;
    // `count` values of a chunk, from the one numbered `first` on.
    virtual void read(size_t chunk, size_t first, size_t count, uint64_t* to) const = 0;
    // Lets the pages go that the same values, and their frequencies, were touched in.
    virtual void release(size_t chunk, size_t first, size_t count) const = 0;
};

// One worker's sketches that were read last: documents that are compared with one are soon compared
// with its neighbours too. They lie in a ring, so that many small ones are kept, or few large ones;
// those of more than a quarter of it are read each time.
class SketchBuffer {
   public:
    // A worker that never comes back to another row than the last needs no ring: 0.
    explicit SketchBuffer(size_t bytes = size_t{1} << 21)
        : size_(bytes / sizeof(uint64_t)),
          ring_(std::make_unique_for_overwrite<uint64_t[]>(size_)),
          slots_(std::bit_ceil(bytes / bytes_a_slot)) {}

    // What `read` (a function that fills a vector) makes for a row, or made the last time. Valid
    // until another row is asked for.
    template <typename Read>
    Elements get(uint32_t row, Read&& read) {
        if (row == last_row_) return last_;
        last_row_ = no_row;
        Slot& slot = slots_[row & (slots_.size() - 1)];
        if (slot.row == row && slot.count && end_ - slot.begin <= size_) {
            last_ = {&ring_[slot.begin % size_], slot.count};
        } else {
            read(fresh_);
            last_ = fresh_;
            keep(row, slot);
        }
        last_row_ = row;
        return last_;
    }

   private:
    static constexpr uint64_t no_row = ~uint64_t{0};
    static constexpr size_t bytes_a_slot = 512;  // small sketches have slots enough, too

    struct Slot {
        // Counted from the first element that ever was in the ring; overwritten when the end of
        // what was put there is more than the ring's size further.
        uint64_t begin = 0;
        uint32_t row = 0;
        uint32_t count = 0;  // of its elements, or nothing is here
    };

    void keep(uint32_t row, Slot& slot) {
        const size_t count = fresh_.size();
        if (count == 0 || count > size_ / 4) return;
        if (end_ % size_ + count > size_) end_ += size_ - end_ % size_;
        std::copy(fresh_.begin(), fresh_.end(), &ring_[end_ % size_]);
        slot = {end_, row, static_cast<uint32_t>(count)};
        end_ += count;
    }

    size_t size_;  // of the ring, in elements
    std::unique_ptr<uint64_t[]> ring_;
    std::vector<Slot> slots_;
    uint64_t end_ = 0;  // of what was put into the ring, counted as `begin`
    std::vector<uint64_t> fresh_;
    Elements last_;
    uint64_t last_row_ = no_row;
};

// What two documents must meet to be a pair; the arrays are of every row.
struct PairCondition {
    const uint64_t* category = nullptr;  // a hash of it, the same in both; null: it may be any
    const uint64_t* simhash = nullptr;   // at most `distance` bits differ; null: any may
    int distance = 0;
    Ratio least_size{0, 1};  // of the smaller size to the larger
};

// Set sketches (`all`, `mod`, `min`, `adaptive`), not `perm`. A document is known by its position
// in `rows`.
struct SketchSet {
    std::span<const SketchChunk> chunks;
    int chunk_bits;        // a chunk has 2^chunk_bits rows, the last one may have fewer
    const uint32_t* rows;  // the documents that take part, in document order
    size_t count;
    const uint32_t* size;  // of every row: distinct shingles of the document
    const uint8_t* level;  // of every row
    uint64_t smallest;     // the K of min:K sketches, else 0
    const SketchReader* reader = nullptr;
    const uint32_t* visits = nullptr;  // documents in the order of their rows; null: they are in it
    PairCondition condition{};
    Simd simd = Simd::plain;     // of the kernels that count
    bool shingles_only = false;  // whether words are left out, as for containment

    // Whoever goes through all documents takes this one as the i-th: those that lie together follow
    // each other, so that few pages of a file are in use at a time.
    size_t visit(size_t i) const { return visits ? visits[i] : i; }

    // All that a document has, in place and not looked at.
    Elements whole(size_t document) const {
        const size_t row = rows[document];
        const SketchChunk& chunk = chunks[row >> chunk_bits];
        const int64_t* offset = chunk.offsets + (row & ((size_t{1} << chunk_bits) - 1));
        return {chunk.values + offset[0], static_cast<size_t>(offset[1] - offset[0])};
    }

    Elements elements(size_t document) const {
        const Elements all = whole(document);
        return shingles_only ? shingles_in(all) : all;
    }

    // The same for a document that is wanted by itself: in place, or read into `buffer`.
    Elements fetch(size_t document, SketchBuffer& buffer) const {
        if (!reader) return elements(document);
        return buffer.get(rows[document], [&](std::vector<uint64_t>& to) { read(document, to); });
    }

    // The same, if there is a reader. No page of the file is touched.
    void read(size_t document, std::vector<uint64_t>& to) const {
        const Elements in_place = whole(document);
        to.resize(in_place.size());
        const size_t chunk = rows[document] >> chunk_bits;
        const auto first = static_cast<size_t>(in_place.data() - chunks[chunk].values);
        reader->read(chunk, first, to.size(), to.data());
        if (shingles_only) to.resize(shingles_in(to).size());
    }

    // If there is a reader, lets the pages of files go that the sketches of these documents lie in,
    // and those of all between them. Whoever is still there gets them back from the file.
    void release(size_t first, size_t last) const {
        if (!reader) return;
        const size_t end = rows[last] + size_t{1};
        for (size_t row = rows[first], next; row < end; row = next) {
            const size_t chunk = row >> chunk_bits, begin = chunk << chunk_bits;
            next = std::min(end, begin + (size_t{1} << chunk_bits));
            const int64_t* const offsets = chunks[chunk].offsets;
            const auto value = static_cast<size_t>(offsets[row - begin]);
            reader->release(chunk, value, static_cast<size_t>(offsets[next - begin]) - value);
        }
    }

    // The same for threads that go through all documents, in the order of `visit`: one has done
    // those from `begin` to `end`. What lies further back goes, some megabytes at a time; others
    // have hardly anything to do there any more.
    void leave(size_t begin, size_t end) const {
        constexpr size_t stretch = 1024;
        const size_t own = begin / stretch;
        if (!reader || end / stretch == own || own == 0) return;
        release(visit((own - 1) * stretch), visit(own * stretch - 1));
    }

    // Of the same elements, one by one.
    const uint8_t* frequencies(size_t document) const {
        const size_t row = rows[document];
        const SketchChunk& chunk = chunks[row >> chunk_bits];
        return chunk.frequency + chunk.offsets[row & ((size_t{1} << chunk_bits) - 1)];
    }

    // An element as a key under which only documents of one category meet (others hardly ever).
    uint64_t in_category(size_t document, uint64_t element) const {
        return condition.category ? element ^ condition.category[rows[document]] : element;
    }

    // Whether two documents are looked at as a pair at all.
    bool comparable(size_t a, size_t b) const {
        const size_t x = rows[a], y = rows[b];
        const PairCondition& c = condition;
        if (c.category && c.category[x] != c.category[y]) return false;
        if (c.simhash && std::popcount(c.simhash[x] ^ c.simhash[y]) > c.distance) return false;
        if (c.least_size.numerator == 0) return true;
        const auto [less, more] = std::minmax(size[x], size[y]);
        // Sizes and both parts of the ratio are below 2^32.
        return less * c.least_size.denominator >= more * c.least_size.numerator;
    }

    uint8_t level_of(size_t document) const { return level[rows[document]]; }
    uint32_t size_of(size_t document) const { return size[rows[document]]; }
};

// Elements are permuted numbers, but of 40 bits, multiples or small ones only: where they are to be
// spread evenly their bits are mixed once more, by a bijection.
inline uint64_t mixed(uint64_t element) { return element * 0x9E3779B97F4A7C15u; }

}  // namespace roughly
