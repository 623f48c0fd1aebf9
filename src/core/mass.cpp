#include "mass.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "measure.hpp"
#include "parallel.hpp"
#include "posting.hpp"

namespace roughly {

namespace {

constexpr size_t most_keys = 8;
constexpr size_t most_heads = 4;

// The bits of a number, read backwards.
uint64_t reversed(uint64_t x) {
    x = ((x >> 1) & 0x5555555555555555u) | ((x & 0x5555555555555555u) << 1);
    x = ((x >> 2) & 0x3333333333333333u) | ((x & 0x3333333333333333u) << 2);
    x = ((x >> 4) & 0x0F0F0F0F0F0F0F0Fu) | ((x & 0x0F0F0F0F0F0F0F0Fu) << 4);
    return __builtin_bswap64(x);
}

// The keys of a document, reversed, ascending.
class Keys {
   public:
    Keys(const SketchSet& sketches, size_t document, const MassRule& rule) {
        const Elements elements = sketches.elements(document);
        const uint8_t* const frequency = sketches.frequencies(document);
        for (size_t i = 0; i < elements.size(); ++i)
            if ((elements[i] & too_large_) == 0 && frequency[i] >= rule.least_frequency)
                add(reversed(elements[i]), rule.keys);
    }

    const uint64_t* begin() const { return keys_.data(); }
    const uint64_t* end() const { return keys_.data() + count_; }

   private:
    void add(uint64_t key, size_t limit) {
        if (count_ == limit && key >= keys_[count_ - 1]) return;
        size_t i = count_ < limit ? count_++ : count_ - 1;
        for (; i > 0 && keys_[i - 1] > key; --i) keys_[i] = keys_[i - 1];
        keys_[i] = key;
        // Most elements have a bit that makes them larger than the last key, which is seen before
        // they are reversed.
        if (count_ == limit && keys_[limit - 1])
            too_large_ = (uint64_t{1} << std::countl_zero(keys_[limit - 1])) - 1;
    }

    std::array<uint64_t, most_keys> keys_;
    uint64_t too_large_ = 0;  // bits of elements that cannot be keys any more
    size_t count_ = 0;
};

// Finds the hub of one document after the other.
template <typename Heads>
class HubFinder {
   public:
    HubFinder(const SketchSet& sketches, Ratio threshold, const MassRule& rule, const Heads& heads,
              std::span<const Signature> signatures)
        : sketches_(sketches),
          threshold_(threshold),
          rule_(rule),
          heads_(heads),
          signatures_(signatures) {}

    // Among all heads, or those after the one that was its hub at a lower threshold.
    uint32_t find(uint32_t document, uint32_t after) {
        if (after == no_hub) return no_hub;
        has_table_ = false;
        bool failed = after != unknown_hub;
        std::array<uint32_t, most_keys * most_heads> tried;
        size_t tries = 0;
        for (const uint64_t key : Keys(sketches_, document, rule_))
            for (const uint32_t head : heads_.of(sketches_.in_category(document, key))) {
                if (head >= document) break;
                const auto end = tried.begin() + static_cast<std::ptrdiff_t>(tries);
                if (std::find(tried.begin(), end, head) != end) continue;
                tried[tries++] = head;
                if (failed)
                    failed = head != after;
                else if (resembles(document, head))
                    return head;
            }
        return no_hub;
    }

   private:
    bool resembles(uint32_t document, uint32_t head) {
        if (!sketches_.comparable(document, head)) return false;
        const auto [less, more] =
            std::minmax({sketches_.size_of(document), sketches_.size_of(head)});
        if (uint128{less} * threshold_.denominator < uint128{more} * threshold_.numerator)
            return false;
        Pair pair{head, document, 0, 0};
        if (sketches_.level_of(head) != sketches_.level_of(document)) {
            const uint8_t level = std::max(sketches_.level_of(head), sketches_.level_of(document));
            const Elements own = at_level(sketches_, document, level, own_);
            const Elements others = at_level(sketches_, head, level, other_);
            const size_t common = count_common(others, own);
            measure(sketches_, Measure::resemblance, others, own, common, pair);
        } else {
            // The same, with a table that serves for all heads, and only as far as it matters.
            const Elements own = sketches_.elements(document);
            const JoinRule join{Measure::resemblance, threshold_, sketches_.smallest};
            const size_t others_size = sketches_.elements(head).size();
            const size_t needed = join.needed(own.size(), others_size);
            if (std::min(own.size(), others_size) < needed) return false;
            if (!signatures_.empty() && signatures_[document].most_common(
                                            signatures_[head], own.size(), others_size) < needed)
                return false;
            const Elements others = sketches_.fetch(head, other_.read);
            if (!std::exchange(has_table_, true)) table_.assign(own);
            const size_t common = table_.count_common(others, needed);
            if (common < needed) return false;
            measure(sketches_, Measure::resemblance, others, own, common, pair);
        }
        return pair.sampled && reaches(pair, threshold_);
    }

    const SketchSet& sketches_;
    Ratio threshold_;
    MassRule rule_;
    const Heads& heads_;
    std::span<const Signature> signatures_;  // of all documents, or none
    ElementTable table_;                     // of the document, once it is needed
    Place own_{1}, other_;
    bool has_table_ = false;
};

}  // namespace

// The first documents that have each key.
class Masses::Heads {
   public:
    explicit Heads(size_t limit) : limit_(limit) {}

    bool empty() const { return used_ == 0; }

    std::span<const uint32_t> of(uint64_t key) const {
        const Slot& slot = slots_[place(key)];
        return {slot.documents.data(), slot.count};
    }

    void add(uint64_t key, uint32_t document) {
        if (2 * (used_ + 1) > slots_.size()) grow();
        Slot& slot = slots_[place(key)];
        used_ += slot.count == 0;
        slot.key = key;
        // They come in any order.
        if (slot.count == limit_ && document > slot.documents[limit_ - 1]) return;
        size_t i = slot.count < limit_ ? slot.count++ : limit_ - 1;
        for (; i > 0 && slot.documents[i - 1] > document; --i)
            slot.documents[i] = slot.documents[i - 1];
        slot.documents[i] = document;
    }

   private:
    struct Slot {
        uint64_t key = 0;
        std::array<uint32_t, most_heads> documents{};
        uint32_t count = 0;  // 0: nobody is here
    };

    // Where a key is, or would be.
    size_t place(uint64_t key) const {
        size_t at = mixed(key) & (slots_.size() - 1);
        while (slots_[at].count && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
        return at;
    }

    void grow() {
        std::vector<Slot> before(std::max<size_t>(2 * slots_.size(), 1024));
        before.swap(slots_);
        for (const Slot& slot : before)
            if (slot.count) slots_[place(slot.key)] = slot;
    }

    size_t limit_;
    size_t used_ = 0;
    std::vector<Slot> slots_;
};

Masses::Masses(const SketchSet& sketches, const MassRule& rule, bool with_signatures)
    : sketches_(sketches),
      rule_{rule.least_frequency, std::min(rule.keys, most_keys), std::min(rule.heads, most_heads)},
      heads_(std::make_unique<Heads>(rule_.heads)),
      signatures_(with_signatures ? sketches.count : 0) {}

Masses::~Masses() = default;

void Masses::add(size_t begin, size_t end, size_t threads) {
    // Finding the keys takes long, and only one can add them.
    constexpr size_t block = 256;
    std::vector<std::vector<Keys>> keys((end - begin + block - 1) / block);
    in_parallel(keys.size(), threads, [&] {
        return [&](size_t piece) {
            const size_t first = begin + piece * block;
            for (size_t i = first; i < std::min(end, first + block); ++i) {
                const size_t document = sketches_.visit(i);
                keys[piece].emplace_back(sketches_, document, rule_);
                if (signatures_.empty()) continue;
                for (const uint64_t element : sketches_.elements(document))
                    signatures_[document].add(element);
            }
        };
    });
    size_t i = begin;
    for (const auto& piece : keys)
        for (const Keys& own : piece) {
            const auto document = static_cast<uint32_t>(sketches_.visit(i++));
            for (const uint64_t key : own)
                heads_->add(sketches_.in_category(document, key), document);
        }
}

void Masses::find_hubs(Ratio threshold, size_t begin, size_t end, size_t threads,
                       std::span<uint32_t> hubs) const {
    constexpr size_t block = 256;
    in_parallel((end - begin + block - 1) / block, threads, [&] {
        return [&, finder = HubFinder<Heads>(sketches_, threshold, rule_, *heads_, signatures_)](
                   size_t piece) mutable {
            const size_t first = begin + piece * block;
            for (size_t i = first; i < std::min(end, first + block); ++i) {
                const auto document = static_cast<uint32_t>(sketches_.visit(i));
                uint32_t& hub = hubs[document];
                hub = heads_->empty() ? no_hub : finder.find(document, hub);
            }
        };
    });
}

}  // namespace roughly
