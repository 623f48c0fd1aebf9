#include "partner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "measure.hpp"
#include "pair_sort.hpp"
#include "parallel.hpp"

namespace roughly {

namespace {

// Who of some documents has each element.
class Holders {
   public:
    // (element, number of the document) of all of them.
    explicit Holders(std::vector<std::pair<uint64_t, uint32_t>> all) {
        std::sort(all.begin(), all.end());
        shift_ = 64 - (static_cast<int>(std::bit_width(all.size())) + 1);
        slots_.assign((size_t{1} << (64 - shift_)), {0, 0, 0});
        mark_shift_ = shift_ - 4;
        marks_.assign(((size_t{1} << (64 - mark_shift_)) + 63) / 64, 0);
        holders_.reserve(all.size());
        for (size_t begin = 0; begin < all.size();) {
            size_t end = begin;
            while (end < all.size() && all[end].first == all[begin].first)
                holders_.push_back(all[end++].second);
            const uint64_t mark = mixed(all[begin].first) >> mark_shift_;
            marks_[mark >> 6] |= uint64_t{1} << (mark & 63);
            Slot& slot = slots_[place(all[begin].first)];
            slot = {all[begin].first, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
            begin = end;
        }
    }

    // Those of some elements that somebody may have, in `found`. Who is one of them cannot be
    // predicted, so nothing branches on it.
    void find(Elements elements, std::vector<uint64_t>& found) const {
        found.resize(elements.size());
        size_t count = 0;
        for (const uint64_t element : elements) {
            const uint64_t mark = mixed(element) >> mark_shift_;
            found[count] = element;
            count += marks_[mark >> 6] >> (mark & 63) & 1;
        }
        found.resize(count);
    }

    // Who has an element; to `prefetch` it some time before spares a wait.
    std::span<const uint32_t> of(uint64_t element) const {
        const Slot& slot = slots_[place(element)];
        return {holders_.data() + slot.begin, holders_.data() + slot.end};
    }

    void prefetch(uint64_t element) const { __builtin_prefetch(&slots_[mixed(element) >> shift_]); }

   private:
    struct Slot {
        uint64_t element;
        uint32_t begin, end;  // the same: nobody is here
    };

    // Where an element is, or would be.
    size_t place(uint64_t element) const {
        size_t at = mixed(element) >> shift_;
        while (slots_[at].begin != slots_[at].end && slots_[at].element != element)
            at = (at + 1) & (slots_.size() - 1);
        return at;
    }

    int shift_;
    std::vector<Slot> slots_;
    // Thirty-two to sixty-four bits an element: nobody has most elements that are asked for, and
    // those of a few thousand documents fit in the cache.
    int mark_shift_;
    std::vector<uint64_t> marks_;
    std::vector<uint32_t> holders_;
};

// How many elements of a sketch there are at each level.
class LevelCounts {
   public:
    explicit LevelCounts(Elements elements) {
        for (const uint64_t element : elements)
            ++counts_[static_cast<size_t>(std::countr_zero(element | uint64_t{1} << 63))];
        for (size_t level = levels - 1; level > 0; --level) counts_[level - 1] += counts_[level];
    }

    size_t at(uint8_t level) const { return counts_[level]; }

   private:
    static constexpr size_t levels = 64;
    std::array<uint32_t, levels> counts_{};
};

// Compares one document after the other with all that were asked for.
class Comparer {
   public:
    Comparer(const SketchSet& sketches, const JoinRule& rule, std::span<const uint32_t> documents,
             std::span<const uint8_t> levels, std::span<const LevelCounts> counts,
             const Holders& holders)
        : sketches_(sketches),
          rule_(rule),
          documents_(documents),
          levels_(levels),
          counts_(counts),
          holders_(holders),
          common_(documents.size(), 0) {}

    // Its pairs with documents before which it comes, or with all if it is none of them.
    void compare(uint32_t document, bool among, std::vector<Pair>& out) {
        const Elements elements = sketches_.elements(document);
        met_.clear();
        holders_.find(elements, held_);
        constexpr size_t ahead = 8;
        for (size_t i = 0; i < held_.size(); ++i) {
            if (i + ahead < held_.size()) holders_.prefetch(held_[i + ahead]);
            for (const uint32_t number : holders_.of(held_[i]))
                if (common_[number]++ == 0) met_.push_back(number);
        }
        if (met_.empty()) return;
        const LevelCounts own(elements);
        const uint8_t own_level = sketches_.level_of(document);
        for (const uint32_t number : met_) {
            // What two sketches have in common they have at the coarser of their levels.
            const size_t common = std::exchange(common_[number], 0);
            const uint8_t level = std::max(own_level, levels_[number]);
            const size_t n = own.at(level), m = counts_[number].at(level);
            if (!rule_.suffices(common, std::min(n, m), std::max(n, m))) continue;
            const uint32_t other = documents_[number];
            if (other == document || (among && other < document)) continue;
            if (!sketches_.comparable(document, other)) continue;
            // As in the join: of two with equally many the later one is judged.
            const bool smaller = n < m || (n == m && document > other);
            if (!rule_.enough(sketches_, smaller ? document : other, std::min(n, m))) continue;
            Pair pair{std::min(document, other), std::max(document, other), 0, 0};
            if (sketches_.smallest) {
                const Elements mine = at_level(sketches_, document, level, own_);
                const Elements others = at_level(sketches_, other, level, other_);
                measure(sketches_, rule_.measure, mine, others, common, pair);
            } else {
                measure(rule_.measure, n, m, common, pair);
            }
            if (reaches(pair, rule_.floor)) out.push_back(pair);
        }
    }

   private:
    const SketchSet& sketches_;
    const JoinRule& rule_;
    std::span<const uint32_t> documents_;
    std::span<const uint8_t> levels_;  // of each of them
    std::span<const LevelCounts> counts_;
    const Holders& holders_;
    std::vector<uint32_t> common_;  // with each of them
    std::vector<uint32_t> met_;
    std::vector<uint64_t> held_;  // elements that they may have
    Place own_{SketchBuffer(0)}, other_;
};

}  // namespace

// What is known of the documents whose partners are looked for.
struct PartnerFinder::Documents {
    Documents(const SketchSet& sketches, std::span<const uint32_t> documents)
        : among(sketches.count, 0), holders(looked_at(sketches, documents)) {}

    std::vector<uint8_t> levels;
    std::vector<LevelCounts> counts;
    std::vector<uint8_t> among;  // of each of all documents: whether it is one of them
    Holders holders;

   private:
    // They lie all over the files, so they are read.
    std::vector<std::pair<uint64_t, uint32_t>> looked_at(const SketchSet& sketches,
                                                         std::span<const uint32_t> documents) {
        std::vector<std::pair<uint64_t, uint32_t>> all;
        SketchBuffer buffer(0);
        for (uint32_t number = 0; number < documents.size(); ++number) {
            const Elements elements = sketches.fetch(documents[number], buffer);
            for (const uint64_t element : elements) all.emplace_back(element, number);
            levels.push_back(sketches.level_of(documents[number]));
            counts.emplace_back(elements);
            among[documents[number]] = 1;
        }
        return all;
    }
};

PartnerFinder::PartnerFinder(const SketchSet& sketches, const JoinRule& rule,
                             std::span<const uint32_t> documents, std::span<const uint8_t> marks)
    : sketches_(sketches),
      rule_(rule),
      documents_(documents),
      marks_(marks),
      own_(std::make_unique<const Documents>(sketches, documents)) {}

PartnerFinder::~PartnerFinder() = default;

std::vector<Pair> PartnerFinder::find(size_t begin, size_t end, size_t threads) const {
    constexpr size_t block = 128;
    std::vector<std::vector<Pair>> found((end - begin + block - 1) / block);
    in_parallel(found.size(), threads, [&] {
        return [&, comparer = Comparer(sketches_, rule_, documents_, own_->levels, own_->counts,
                                       own_->holders)](size_t part) mutable {
            const size_t first = begin + part * block;
            for (size_t i = first; i < std::min(end, first + block); ++i) {
                const auto document = static_cast<uint32_t>(sketches_.visit(i));
                if (marks_[document] || own_->among[document])
                    comparer.compare(document, own_->among[document], found[part]);
            }
            sketches_.leave(first, std::min(end, first + block));
        };
    });
    std::vector<Pair> pairs;
    for (const auto& part : found) pairs.insert(pairs.end(), part.begin(), part.end());
    found = {};
    sort_pairs(pairs, threads);
    return pairs;
}

}  // namespace roughly
