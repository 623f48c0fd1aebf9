#include "neighbour.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "intersection.hpp"
#include "measure.hpp"
#include "parallel.hpp"

namespace roughly {

namespace {

constexpr size_t levels = 64;
// Rows of lists that are sorted; more are counted, in windows of so many rows.
constexpr uint64_t sorted_rows = 1 << 15;
constexpr uint64_t window = 1 << 17;
// Words of a list that are read at once where it is searched.
constexpr uint64_t page = 1024;
// Entries of a bucket that are read at once, those where an element is expected.
constexpr uint64_t expected_entries = 32;
// Reading a sketch takes as long as so many look-ups.
constexpr size_t sketch_lookups = 8;

bool asked(Ratio floor) { return floor.denominator != 0; }

// The least whole number that is at least floor * count.
uint64_t at_least(Ratio floor, uint64_t count) {
    const uint128 product = uint128{floor.numerator} * count + floor.denominator - 1;
    return static_cast<uint64_t>(product / floor.denominator);
}

bool reaches(uint64_t part, uint64_t whole, Ratio floor) {
    return uint128{part} * floor.denominator >= uint128{floor.numerator} * whole;
}

// Ascending, in two or three passes over 11 bits.
void sort_rows(std::vector<uint32_t>& rows, std::vector<uint32_t>& spare, uint32_t largest) {
    constexpr int digit = 11;
    if (rows.size() < 256) return std::sort(rows.begin(), rows.end());
    spare.resize(rows.size());
    for (int shift = 0; shift < static_cast<int>(std::bit_width(largest)); shift += digit) {
        std::array<uint32_t, 1 << digit> place{};
        for (const uint32_t row : rows) ++place[row >> shift & ((1 << digit) - 1)];
        uint32_t total = 0;
        for (uint32_t& each : place) total += std::exchange(each, total);
        for (const uint32_t row : rows) spare[place[row >> shift & ((1 << digit) - 1)]++] = row;
        rows.swap(spare);
    }
}

}  // namespace

class NeighbourProbe::Work {
   public:
    Work(const InvertedIndex& index, const NeighbourRule& rule) : index_(index), rule_(rule) {}

    void find(uint32_t number, const Query& query, std::vector<Neighbour>& found) {
        if (query.elements.empty() || index_.rows == 0) return;
        number_ = number;
        query_ = query;
        count_levels();
        look_up();
        choose_unread();
        collect_candidates();
        if (!resolve_by_sketches()) {
            resolve_skipped();
            resolve_unread();
        }
        for (const Candidate& candidate : candidates_) judge(candidate, found);
    }

    // Rows under one element; their number if it is a list.
    uint32_t count(uint64_t element) {
        lists_.clear();
        rows_.clear();
        look_up_one(element);
        uint64_t total = rows_.size();
        for (const List& list : lists_) total += list.count;
        return static_cast<uint32_t>(total);
    }

   private:
    struct List {
        uint64_t element;
        uint64_t place;  // word of its first row
        uint64_t count;
        uint64_t next;  // row that is read next, of the rows it has
        bool small;     // of small documents
        bool unread;
    };

    struct Candidate {
        uint32_t row;
        uint32_t common;
        RowRecord record;
    };

    // How many of the query's elements there are at each level from its own on, and how many a
    // document must have in common to count at all.
    void count_levels() {
        elements_at_.fill(0);
        needed_.fill(no_limit);
        of_small_.fill(no_limit);
        may_skip_.fill(no_limit);
        unread_at_.fill(0);
        last_level_ = std::max<size_t>(query_.level, index_.least_kept.size() - 1);
        for (const uint64_t element : query_.elements)
            ++elements_at_[std::min(static_cast<size_t>(std::countr_zero(element)), levels - 1)];
        for (size_t level = levels - 1; level > 0; --level)
            elements_at_[level - 1] += elements_at_[level];
        // Whatever the fingerprints are, all of the query's are at its own level.
        std::fill_n(elements_at_.begin(), query_.level + 1, query_.elements.size());
        for (size_t level = query_.level; level <= last_level_; ++level) {
            needed_[level] = needed_at(level);
            const uint64_t of_small = needed_with(elements_at_[level], 1, 1);
            if (index_.has_small && of_small < most_in_small()) of_small_[level] = of_small;
            const uint64_t needed = std::min(needed_[level], of_small_[level]);
            if (needed != no_limit) may_skip_[level] = needed - 1 - (needed - 1) / seen_share;
        }
    }

    // Small documents have fewer elements, words included where these count.
    uint64_t most_in_small() const {
        return least_large + (rule_.with_words ? std::numeric_limits<uint8_t>::max() : 0);
    }

    uint64_t needed_at(size_t level) const {
        const uint64_t own = elements_at_[level];
        // Elements of a partner at this level, and of one that may be called contained. Small
        // documents do not count: their lists are always read.
        uint64_t least = 1, contained = 1;
        if (level > query_.level || level == 0) {
            if (least_kept(level) == no_document) return no_limit;
            least = contained = least_kept(level);
        } else {
            const uint64_t met =
                level < index_.least_met.size() ? index_.least_met[level] : no_document;
            if (met == no_document) return no_limit;
            // What has all its shingles here, and so is contained by however few, is not small.
            contained = std::min<uint64_t>(std::max(met, rule_.least_contained), least_large);
        }
        return needed_with(own, least, contained);
    }

    // Common elements without which no floor is reached, if the query has `own` elements, the other
    // one `least` or more, and `contained` or more if it may be called contained.
    uint64_t needed_with(uint64_t own, uint64_t least, uint64_t contained) const {
        uint64_t needed = no_limit;
        if (asked(rule_.resemblance)) needed = std::min(needed, resembling(own, least));
        if (asked(rule_.contained) && enough(own, query_.size))
            needed = std::min(needed, at_least(rule_.contained, own));
        if (asked(rule_.contains)) needed = std::min(needed, at_least(rule_.contains, contained));
        return std::max<uint64_t>(needed, 1);
    }

    uint32_t least_kept(size_t level) const {
        return level < index_.least_kept.size() ? index_.least_kept[level] : no_document;
    }

    // Common elements without which two sketches, of this many elements and of as many as `others`
    // or more, do not reach the floor of resemblance.
    uint64_t resembling(uint64_t own, uint64_t others) const {
        const Ratio floor = rule_.resemblance;
        // The fewer the others are, the fewer must be common; but no fewer than these.
        const uint64_t least = at_least(floor, std::max(own, others));
        if (rule_.smallest) return least;
        return at_least({floor.numerator, floor.numerator + floor.denominator},
                        own + std::max(others, least));
    }

    bool enough(uint64_t elements, uint64_t size) const {
        return elements >= rule_.least_contained || elements == size;
    }

    // Whoever has enough in common is met although some elements are not looked up at all, as long
    // as these, with the lists that will be left unread, are fewer than must be common. Each
    // element whose levels can do without all that is left is skipped.
    void look_up() {
        lists_.clear();
        rows_.clear();
        skipped_.clear();
        // By level: elements that are left, that were skipped, or that have lists.
        std::array<uint64_t, levels> open = elements_at_;
        for (const uint64_t element : query_.elements) {
            const size_t last = last_level_of(element);
            bool skip = true;
            for (size_t level = query_.level; skip && level <= last; ++level)
                skip = open[level] <= may_skip_[level];
            if (skip) {
                skipped_.push_back(element);
                for (size_t level = query_.level; level <= last; ++level) ++unread_at_[level];
                continue;
            }
            const size_t before = lists_.size();
            look_up_one(element);
            if (lists_.size() != before) continue;
            for (size_t level = query_.level; level <= last; ++level) --open[level];
        }
        skipped_at_ = unread_at_;
    }

    // Entries of the bucket from `begin` to `end` among which are all of an element.
    void read_entries(uint64_t begin, uint64_t end, uint64_t rest) {
        const auto read = [&](uint64_t from, uint64_t to) {
            entries_.resize(to - from);
            index_.source.read(IndexFile::entries, 8 * from, 8 * entries_.size(), entries_.data());
        };
        const uint64_t size = end - begin;
        if (size > expected_entries) {
            // Keys are spread evenly.
            const int rest_bits = 64 - index_.shape.bucket_bits;
            const auto middle = static_cast<uint64_t>(uint128{rest} * size >> rest_bits);
            const uint64_t first =
                std::min(middle - std::min(middle, expected_entries / 2), size - expected_entries);
            read(begin + first, begin + first + expected_entries);
            if ((first == 0 || index_.shape.rest_in(entries_.front()) < rest) &&
                (first + expected_entries == size || index_.shape.rest_in(entries_.back()) > rest))
                return;
        }
        read(begin, end);
    }

    void look_up_one(uint64_t element) {
        const InvertedShape& shape = index_.shape;
        const uint64_t key = mixed(element), rest = shape.rest_of(key);
        uint64_t ends[2];
        index_.source.read(IndexFile::directory, 8 * shape.bucket_of(key), sizeof ends, ends);
        if (ends[0] >= ends[1]) return;
        read_entries(ends[0], ends[1], rest);
        auto entry = std::partition_point(entries_.begin(), entries_.end(), [&](uint64_t each) {
            return shape.rest_in(each) < rest;
        });
        for (; entry != entries_.end() && shape.rest_in(*entry) == rest; ++entry) {
            const uint64_t value = shape.value_in(*entry);
            if (!shape.is_list(*entry)) {
                rows_.push_back(static_cast<uint32_t>(value));
                continue;
            }
            uint32_t count;
            index_.source.read(IndexFile::lists, 4 * list_unit * value, sizeof count, &count);
            lists_.push_back({element, list_unit * value + 1, count & ~small_mark, 0,
                              (count & small_mark) != 0, false});
        }
    }

    // Leaves the longest lists unread, as long as whoever is in no other list has too few in
    // common.
    void choose_unread() {
        std::sort(lists_.begin(), lists_.end(),
                  [](const List& a, const List& b) { return a.count > b.count; });
        for (List& list : lists_) {
            const size_t last = last_level_of(list.element);
            list.unread = !list.small;
            for (size_t level = query_.level; level <= last; ++level)
                list.unread = list.unread && unread_at_[level] + 1 < needed_[level];
            for (size_t level = query_.level; list.unread && level <= last; ++level)
                ++unread_at_[level];
        }
    }

    size_t last_level_of(uint64_t element) const {
        const auto zeros = static_cast<size_t>(std::countr_zero(element));
        return std::max<size_t>(query_.level, std::min(zeros, last_level_));
    }

    // Rows that may be neighbours, with the common elements that were seen so far. Few rows are
    // sorted, many are counted.
    void collect_candidates() {
        candidates_.clear();
        least_seen_ = no_limit;  // common elements seen of a row that has enough
        for (size_t level = query_.level; level <= last_level_; ++level)
            if (needed_[level] != no_limit)
                least_seen_ = std::min(least_seen_, needed_[level] - unread_at_[level]);
        // Of small documents everything is seen that was looked up.
        for (size_t level = query_.level; level <= last_level_; ++level)
            if (of_small_[level] != no_limit)
                least_seen_ = std::min(least_seen_, of_small_[level] - skipped_at_[level]);
        if (least_seen_ == no_limit) return;
        uint64_t listed = 0;
        for (const List& list : lists_) listed += list.unread ? 0 : list.count;
        if (listed > sorted_rows)
            count_rows();
        else
            sort_and_count_rows();
    }

    void sort_and_count_rows() {
        for (List& list : lists_) {
            if (list.unread) continue;
            const size_t before = rows_.size();
            rows_.resize(before + list.count);
            read_list(list, 0, list.count, rows_.data() + before);
        }
        sort_rows(rows_, spare_, index_.rows);
        for (size_t i = 0; i < rows_.size();) {
            size_t stop = i + 1;
            while (stop < rows_.size() && rows_[stop] == rows_[i]) ++stop;
            if (stop - i >= least_seen_) consider(rows_[i], static_cast<uint32_t>(stop - i));
            i = stop;
        }
    }

    // A window of rows at a time, as large as the processor's cache allows.
    void count_rows() {
        sort_rows(rows_, spare_, index_.rows);
        counts_.resize(window);
        auto row = rows_.begin();
        for (uint64_t begin = 0; begin < index_.rows; begin += window) {
            const uint64_t end = std::min<uint64_t>(begin + window, index_.rows);
            std::fill(counts_.begin(), counts_.end(), 0);
            for (; row != rows_.end() && *row < end; ++row) ++counts_[*row - begin];
            for (List& list : lists_)
                if (!list.unread) count_until(list, begin, end);
            const auto least = static_cast<uint32_t>(std::min<uint64_t>(least_seen_, no_document));
            for (uint64_t i = 0; i < end - begin; ++i)
                if (counts_[i] >= least) consider(static_cast<uint32_t>(begin + i), counts_[i]);
        }
    }

    void count_until(List& list, uint64_t begin, uint64_t end) {
        while (list.next < list.count) {
            // About as many as there are in the window.
            const uint64_t expected = list.count * window / index_.rows + list.count / 64 + 64;
            page_.resize(std::min(expected, list.count - list.next));
            read_list(list, list.next, page_.size(), page_.data());
            const auto stop = std::lower_bound(page_.begin(), page_.end(), end);
            for (auto row = page_.begin(); row != stop; ++row) ++counts_[*row - begin];
            list.next += static_cast<uint64_t>(stop - page_.begin());
            if (stop != page_.end()) return;
        }
    }

    void consider(uint32_t row, uint32_t seen) {
        const Candidate candidate{row, seen, record(row)};
        if (possible(candidate, seen + unread_at_[meeting(candidate.record)]))
            candidates_.push_back(candidate);
    }

    // The level where the query meets a document.
    size_t meeting(const RowRecord& record) const {
        return std::max<size_t>(query_.level, record.level);
    }

    // Records of rows that are near each other are read together.
    const RowRecord& record(uint32_t row) {
        if (row < records_begin_ || row >= records_begin_ + records_.size()) {
            records_begin_ = row;
            records_.resize(std::min<size_t>(records_.capacity(), index_.rows - row));
            index_.source.read(IndexFile::rows, sizeof(RowRecord) * uint64_t{row},
                               sizeof(RowRecord) * records_.size(), records_.data());
        }
        return records_[row - records_begin_];
    }

    // Whether a row with so many elements in common at most can reach a floor.
    bool possible(const Candidate& candidate, uint64_t common) const {
        const RowRecord& record = candidate.record;
        const uint64_t own = elements_at_[meeting(record)];
        const uint32_t others = elements_of(record);
        const bool known = others != unknown;
        common = std::min<uint64_t>({common, own, known ? others : elements_in(record)});
        if (asked(rule_.resemblance) && common >= resembling(own, known ? others : 0)) return true;
        if (asked(rule_.contained) && enough(own, query_.size) &&
            reaches(common, own, rule_.contained))
            return true;
        if (!asked(rule_.contains)) return false;
        if (known) return reaches(common, others, rule_.contains) && enough(others, record.size);
        return reaches(common, std::max<uint64_t>(rule_.least_contained, 1), rule_.contains) ||
               (reaches(common, record.kept, rule_.contains) && enough(record.kept, record.size));
    }

    // How many elements a document has where it meets the query.
    uint32_t elements_of(const RowRecord& record) const {
        if (record.level >= query_.level) return elements_in(record);
        if (rule_.with_words && record.words) return unknown;
        const size_t above = query_.level - size_t{1} - record.level;
        if (above >= RowRecord::coarser_levels) return unknown;
        return record.coarser[above] == uint16_t(-1) ? unknown : record.coarser[above];
    }

    uint32_t elements_in(const RowRecord& record) const {
        return record.kept + (rule_.with_words ? record.words : 0u);
    }

    // If there are few candidates, their sketches tell everything.
    bool resolve_by_sketches() {
        const auto unread = static_cast<size_t>(std::count_if(
            lists_.begin(), lists_.end(), [](const List& list) { return list.unread; }));
        if (candidates_.size() * sketch_lookups > skipped_.size() + unread) return false;
        for (Candidate& candidate : candidates_) {
            index_.source.sketch(candidate.row, sketch_);
            candidate.common =
                static_cast<uint32_t>(count_common(rule_.simd, query_.elements, sketch_));
        }
        return true;
    }

    // Looks up what was skipped, for the candidates; lists are left unread.
    void resolve_skipped() {
        if (candidates_.empty()) return;
        const size_t known = lists_.size();
        for (const uint64_t element : skipped_) {
            rows_.clear();
            const size_t before = lists_.size();
            look_up_one(element);
            for (const uint32_t row : rows_) count_for(row);
            // Until now it counted for one list.
            for (size_t level = query_.level; level <= last_level_of(element); ++level)
                unread_at_[level] = unread_at_[level] + (lists_.size() - before) - 1;
        }
        for (size_t i = known; i < lists_.size(); ++i) lists_[i].unread = true;
        std::sort(lists_.begin(), lists_.end(),
                  [](const List& a, const List& b) { return a.count > b.count; });
    }

    void count_for(uint32_t row) {
        const auto found =
            std::lower_bound(candidates_.begin(), candidates_.end(), row,
                             [](const Candidate& each, uint32_t it) { return each.row < it; });
        if (found != candidates_.end() && found->row == row) ++found->common;
    }

    // Counts what the candidates have in the lists that were left unread, the shortest first; most
    // candidates are out of question after a few of them.
    void resolve_unread() {
        for (auto list = lists_.rbegin(); list != lists_.rend() && !candidates_.empty(); ++list) {
            if (!list->unread) continue;
            if (candidates_.size() > list->count / page)
                merge(*list);
            else
                for (Candidate& candidate : candidates_)
                    candidate.common += has(*list, candidate.row);
            for (size_t level = query_.level; level <= last_level_of(list->element); ++level)
                --unread_at_[level];
            std::erase_if(candidates_, [&](const Candidate& candidate) {
                return !possible(candidate,
                                 candidate.common + unread_at_[meeting(candidate.record)]);
            });
        }
    }

    void merge(const List& list) {
        auto candidate = candidates_.begin();
        for (uint64_t begin = 0; begin < list.count && candidate != candidates_.end();) {
            read_page(list, begin);
            for (const uint32_t row : page_) {
                while (candidate != candidates_.end() && candidate->row < row) ++candidate;
                if (candidate == candidates_.end()) return;
                candidate->common += candidate->row == row;
            }
            begin += page_.size();
        }
    }

    bool has(const List& list, uint32_t row) {
        // Pages whose first row is known to be no larger, and to be larger.
        uint64_t low = 0, high = (list.count + page - 1) / page;
        while (high - low > 1) {
            const uint64_t middle = (low + high) / 2;
            uint32_t first;
            read_list(list, middle * page, 1, &first);
            (first <= row ? low : high) = middle;
        }
        read_page(list, low * page);
        return std::binary_search(page_.begin(), page_.end(), row);
    }

    void read_page(const List& list, uint64_t begin) {
        page_.resize(std::min(page, list.count - begin));
        read_list(list, begin, page_.size(), page_.data());
    }

    void read_list(const List& list, uint64_t begin, uint64_t count, uint32_t* to) const {
        index_.source.read(IndexFile::lists, 4 * (list.place + begin), 4 * count, to);
    }

    void judge(const Candidate& candidate, std::vector<Neighbour>& found) {
        const RowRecord& record = candidate.record;
        if (!possible(candidate, candidate.common)) return;
        const size_t level = meeting(record);
        Neighbour neighbour{number_, candidate.row, candidate.common, 0, 0, elements_of(record)};
        neighbour.of_query = static_cast<uint32_t>(elements_at_[level]);
        if (neighbour.of_found == unknown) {
            index_.source.sketch(candidate.row, sketch_);
            const uint64_t mask = (uint64_t{1} << level) - 1;
            const Elements seen =
                rule_.with_words || !record.words ? sketch_ : shingles_in(sketch_);
            neighbour.of_found = static_cast<uint32_t>(std::count_if(
                seen.begin(), seen.end(), [&](uint64_t each) { return !(each & mask); }));
        }
        neighbour.sampled = neighbour.of_query + neighbour.of_found - neighbour.common;
        if (rule_.smallest && neighbour.sampled > rule_.smallest) among_smallest(neighbour, record);
        if (!reaches_a_floor(neighbour, record)) return;
        if (live(candidate.row)) found.push_back(neighbour);
        if (!record.copies) return;
        const uint64_t place = 4 * uint64_t{record.copies};
        uint32_t count;
        index_.source.read(IndexFile::copies, place, sizeof count, &count);
        copies_.resize(count);
        index_.source.read(IndexFile::copies, place + 4, 4 * uint64_t{count}, copies_.data());
        for (const uint32_t row : copies_) {
            neighbour.row = row;
            if (live(row)) found.push_back(neighbour);
        }
    }

    // Of min:K sketches the union's K smallest are the sample: as the join measures.
    void among_smallest(Neighbour& neighbour, const RowRecord& record) {
        index_.source.sketch(neighbour.row, sketch_);
        const uint32_t sizes[] = {query_.size, record.size};
        const uint32_t rows[] = {0, 1};
        SketchSet both{};
        both.rows = rows;
        both.count = 2;
        both.size = sizes;
        both.smallest = rule_.smallest;
        Pair pair{0, 1, 0, 0};
        measure(both, Measure::resemblance, query_.elements, sketch_, neighbour.common, pair);
        neighbour.common = pair.common;
        neighbour.sampled = pair.sampled;
    }

    bool reaches_a_floor(const Neighbour& n, const RowRecord& record) const {
        return (asked(rule_.resemblance) && reaches(n.common, n.sampled, rule_.resemblance)) ||
               (asked(rule_.contained) && enough(n.of_query, query_.size) &&
                reaches(n.common, n.of_query, rule_.contained)) ||
               (asked(rule_.contains) && enough(n.of_found, record.size) &&
                reaches(n.common, n.of_found, rule_.contains));
    }

    bool live(uint32_t row) const {
        return !index_.removed || !(index_.removed[row / 8] >> (row % 8) & 1);
    }

    static constexpr uint64_t no_limit = ~uint64_t{0};
    static constexpr uint32_t no_document = ~uint32_t{0};
    static constexpr uint32_t unknown = ~uint32_t{0};
    static constexpr size_t records_at_once = 64;
    // Of the elements that must be common this part, beyond what is skipped, is met by whoever has
    // them: rows with fewer, as pages of one site have in common, are not looked at.
    static constexpr uint64_t seen_share = 8;

    const InvertedIndex& index_;
    const NeighbourRule rule_;
    uint32_t number_ = 0;
    Query query_{};
    size_t last_level_ = 0;
    std::array<uint64_t, levels> elements_at_{}, needed_{};
    std::array<uint64_t, levels> unread_at_{};  // elements that were skipped, or lists not read
    std::array<uint64_t, levels> skipped_at_{}, may_skip_{};
    std::array<uint64_t, levels> of_small_{};  // as needed_, of small documents that may be found
    std::vector<List> lists_;
    std::vector<uint32_t> rows_;  // that stand in buckets
    std::vector<uint32_t> spare_, counts_, page_, copies_;
    std::vector<uint64_t> entries_, sketch_, skipped_;
    uint64_t least_seen_ = 0;
    std::vector<Candidate> candidates_;
    std::vector<RowRecord> records_ = reserved_records();
    uint64_t records_begin_ = 0;

    static std::vector<RowRecord> reserved_records() {
        std::vector<RowRecord> made;
        made.reserve(records_at_once);
        return made;
    }
};

void count_coarser(const SketchChunk& chunk, const uint8_t* level, size_t rows, uint16_t* out) {
    constexpr size_t most = RowRecord::coarser_levels;
    for (size_t row = 0; row < rows; ++row, out += most) {
        std::array<uint32_t, most + 1> counts{};  // by how many levels above, as far as they go
        for (int64_t i = chunk.offsets[row]; i < chunk.offsets[row + 1]; ++i) {
            const auto zeros = static_cast<size_t>(std::countr_zero(chunk.values[i]));
            ++counts[std::min(zeros - std::min<size_t>(zeros, level[row]), most)];
        }
        uint32_t total = 0;
        for (size_t above = most; above > 0; --above) {
            total += counts[above];
            out[above - 1] = static_cast<uint16_t>(std::min<uint32_t>(total, uint16_t(-1)));
        }
    }
}

NeighbourProbe::NeighbourProbe(const InvertedIndex& index, const NeighbourRule& rule)
    : work_(std::make_unique<Work>(index, rule)) {}

NeighbourProbe::~NeighbourProbe() = default;

void NeighbourProbe::find(uint32_t number, const Query& query, std::vector<Neighbour>& found) {
    const size_t before = found.size();
    work_->find(number, query, found);
    std::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
              [](const Neighbour& a, const Neighbour& b) { return a.row < b.row; });
}

std::vector<uint32_t> NeighbourProbe::count(Elements elements) {
    std::vector<uint32_t> counts;
    for (const uint64_t element : elements) counts.push_back(work_->count(element));
    return counts;
}

std::vector<Neighbour> find_neighbours(const InvertedIndex& index, const NeighbourRule& rule,
                                       std::span<const Query> queries, size_t threads) {
    constexpr size_t block = 16;
    std::vector<std::vector<Neighbour>> pieces((queries.size() + block - 1) / block);
    in_parallel(pieces.size(), threads, [&] {
        return [&, probe = std::make_shared<NeighbourProbe>(index, rule)](size_t piece) {
            const size_t end = std::min(queries.size(), (piece + 1) * block);
            for (size_t i = piece * block; i < end; ++i)
                probe->find(static_cast<uint32_t>(i), queries[i], pieces[piece]);
        };
    });
    std::vector<Neighbour> found;
    for (const std::vector<Neighbour>& piece : pieces)
        found.insert(found.end(), piece.begin(), piece.end());
    return found;
}

}  // namespace roughly
