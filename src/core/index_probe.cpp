#include "index_probe.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <stdexcept>

#include "parallel.hpp"
#include "posting.hpp"

namespace roughly {

namespace {

constexpr int levels = 64;

// Small documents have lists of their own: what is left unread for the others need not be for them.
constexpr size_t large = 0, small = 1, classes = 2;

// Rows that have one element of a query: a list of documents of one class, or entries of both.
struct Found {
    uint64_t element;
    const uint32_t* list;
    std::span<const uint64_t> in;
    uint64_t count;
    size_t first_class, last_class;
};

// One thread's way through an index.
class Probe {
   public:
    Probe(const MappedIndex& index, const JoinRule& rule, std::span<const uint32_t> group_of,
          std::atomic<uint64_t>& budget)
        : index_(index), rule_(rule), group_of_(group_of), budget_(budget) {
        for (const RowRecord& row : index.rows) {
            last_level_ = std::max<int>(last_level_, static_cast<int>(row.level));
        }
        if (last_level_ >= levels) throw std::out_of_range("index: a level beyond the last one");
    }

    // False when too many rows would have to be read.
    bool find(uint32_t number, const Query& query, uint32_t own, std::vector<Candidate>& to) {
        if (query.elements.empty()) return true;
        query_ = &query;
        look_up();
        leave_unread();
        uint64_t total = 0;
        for (const Found& each : found_) total += each.count;
        if (budget_.fetch_sub(total) < total || budget_.load() > (uint64_t{1} << 63)) return false;
        rows_.clear();
        for (const Found& each : found_) {
            if (each.list)
                rows_.insert(rows_.end(), each.list, each.list + each.count);
            else
                for (const uint64_t entry : each.in)
                    rows_.push_back(static_cast<uint32_t>(index_.shape.value_in(entry)));
        }
        std::sort(rows_.begin(), rows_.end());
        rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
        groups_.clear();
        for (const uint32_t row : rows_) add_groups(row);
        std::sort(groups_.begin(), groups_.end());
        groups_.erase(std::unique(groups_.begin(), groups_.end()), groups_.end());
        for (const uint32_t group : groups_)
            if (group != own && group != no_group) to.push_back({number, group});
        return true;
    }

   private:
    // In three rounds, so that the memory that all elements need is on its way together.
    void look_up() {
        const InvertedShape& shape = index_.shape;
        const Elements elements = query_->elements;
        for (const uint64_t element : elements)
            __builtin_prefetch(index_.directory.data() + shape.bucket_of(mixed(element)));
        buckets_.clear();
        for (const uint64_t element : elements) {
            const size_t bucket = shape.bucket_of(mixed(element));
            const uint64_t begin = index_.directory[bucket], end = index_.directory[bucket + 1];
            if (begin > end || end > index_.entries.size())
                throw std::out_of_range("index: a bucket beyond the last entry");
            buckets_.push_back(index_.entries.subspan(begin, end - begin));
            __builtin_prefetch(index_.entries.data() + begin + (end - begin) / 2);
        }
        found_.clear();
        for (size_t i = 0; i < elements.size(); ++i) {
            const std::span<const uint64_t> entries = buckets_[i];
            const uint64_t rest = shape.rest_of(mixed(elements[i]));
            const auto less = [&](uint64_t each) { return shape.rest_in(each) < rest; };
            const auto first = std::partition_point(entries.begin(), entries.end(), less);
            auto last = first;
            while (last != entries.end() && shape.rest_in(*last) == rest) ++last;
            if (first != last) add({first, last}, elements[i]);
        }
    }

    // The entries of one element: lists, and stretches of rows.
    void add(std::span<const uint64_t> entries, uint64_t element) {
        const InvertedShape& shape = index_.shape;
        for (size_t i = 0; i < entries.size();) {
            if (!shape.is_list(entries[i])) {
                const size_t begin = i;
                while (i < entries.size() && !shape.is_list(entries[i])) ++i;
                found_.push_back(
                    {element, nullptr, entries.subspan(begin, i - begin), i - begin, large, small});
                continue;
            }
            const uint64_t place = list_unit * shape.value_in(entries[i++]);
            if (place >= index_.lists.size())
                throw std::out_of_range("index: a list beyond the last one");
            const uint32_t word = index_.lists[place], count = word & ~small_mark;
            if (count > index_.lists.size() - place - 1)
                throw std::out_of_range("index: a list beyond the last one");
            const size_t own = word & small_mark ? small : large;
            found_.push_back({element, index_.lists.data() + place + 1, {}, count, own, own});
        }
    }

    // Takes as many of the longest lists out as can do no harm, at any level a partner may have.
    void leave_unread() {
        std::array<std::array<uint64_t, classes>, levels + 1> left{};
        for (int level = query_->level; level <= std::max<int>(last_level_, query_->level);
             ++level) {
            const uint64_t mask = (uint64_t{1} << level) - 1;
            const auto elements =
                static_cast<size_t>(std::count_if(query_->elements.begin(), query_->elements.end(),
                                                  [&](uint64_t each) { return !(each & mask); }));
            const uint64_t spared = elements ? elements - rule_.probe_length(elements) : 0;
            left[static_cast<size_t>(level)].fill(spared);
        }
        std::sort(found_.begin(), found_.end(),
                  [](const Found& a, const Found& b) { return a.count > b.count; });
        std::erase_if(found_, [&](const Found& each) {
            const int last =
                std::max<int>(query_->level, std::min(std::countr_zero(each.element), last_level_));
            for (int level = query_->level; level <= last; ++level)
                for (size_t own = each.first_class; own <= each.last_class; ++own)
                    if (!left[static_cast<size_t>(level)][own]) return false;
            for (int level = query_->level; level <= last; ++level)
                for (size_t own = each.first_class; own <= each.last_class; ++own)
                    --left[static_cast<size_t>(level)][own];
            return true;
        });
    }

    void add_groups(uint32_t row) {
        if (row >= index_.rows.size()) throw std::out_of_range("index: a row beyond the last one");
        const RowRecord& record = index_.rows[row];
        groups_.push_back(group_of_[row]);
        if (!record.copies) return;
        if (record.copies >= index_.copies.size() ||
            index_.copies[record.copies] > index_.copies.size() - record.copies - 1)
            throw std::out_of_range("index: copies beyond the last one");
        for (const uint32_t copy :
             index_.copies.subspan(record.copies + 1, index_.copies[record.copies])) {
            if (copy >= group_of_.size()) throw std::out_of_range("index: a copy of nobody");
            if (groups_.back() != group_of_[copy]) groups_.push_back(group_of_[copy]);
        }
    }

    const MappedIndex& index_;
    const JoinRule& rule_;
    std::span<const uint32_t> group_of_;
    std::atomic<uint64_t>& budget_;
    int last_level_ = 0;
    const Query* query_ = nullptr;
    std::vector<std::span<const uint64_t>> buckets_;  // of every element
    std::vector<Found> found_;
    std::vector<uint32_t> rows_, groups_;
};

}  // namespace

FoundCandidates probe_index(const MappedIndex& index, Ratio floor, uint64_t smallest,
                            std::span<const Query> queries, std::span<const uint32_t> own,
                            std::span<const uint32_t> group_of, uint64_t most_rows,
                            size_t threads) {
    constexpr size_t block = 64;
    const JoinRule rule{Measure::resemblance, floor, smallest};
    std::vector<std::vector<Candidate>> pieces((queries.size() + block - 1) / block);
    std::atomic<uint64_t> budget{most_rows};
    std::atomic<bool> complete{true};
    in_parallel(pieces.size(), threads, [&] {
        return [&, probe = Probe(index, rule, group_of, budget)](size_t piece) mutable {
            const size_t last = std::min(queries.size(), (piece + 1) * block);
            for (size_t i = piece * block; i < last && complete; ++i)
                if (!probe.find(static_cast<uint32_t>(i), queries[i], own[i], pieces[piece]))
                    complete = false;
        };
    });
    FoundCandidates all;
    all.complete = complete;
    for (const auto& piece : pieces) all.found.insert(all.found.end(), piece.begin(), piece.end());
    return all;
}

}  // namespace roughly
