#include "mass.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

#include "intersection.hpp"
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

// What is looked at of a head before its sketch is.
struct Head {
    uint32_t document;
    uint32_t size;   // distinct shingles
    uint32_t count;  // elements of its sketch
    uint8_t level;
};

// Finds the hub of one document after the other.
template <typename Heads>
class HubFinder {
   public:
    HubFinder(const SketchSet& sketches, Ratio threshold, const MassRule& rule, const Heads& heads,
              bool by_category)
        : sketches_(sketches),
          threshold_(threshold),
          rule_(rule),
          heads_(heads),
          by_category_(by_category) {}

    // Among all heads, or those after the one that was its hub at a lower threshold.
    uint32_t find(uint32_t document, uint32_t after) {
        if (after == no_hub) return no_hub;
        has_signature_ = false;
        bool failed = after != unknown_hub;
        std::array<uint32_t, most_keys * most_heads> tried;
        size_t tries = 0;
        for (const uint64_t key : Keys(sketches_, document, rule_)) {
            const uint64_t own = by_category_ ? sketches_.in_category(document, key) : key;
            for (const uint32_t number : heads_.of(own)) {
                const uint32_t head = heads_[number].document;
                if (head >= document) break;
                const auto end = tried.begin() + static_cast<std::ptrdiff_t>(tries);
                if (std::find(tried.begin(), end, number) != end) continue;
                tried[tries++] = number;
                if (failed)
                    failed = head != after;
                else if (resembles(document, number))
                    return head;
            }
        }
        return no_hub;
    }

   private:
    bool resembles(uint32_t document, uint32_t number) {
        const Head& head = heads_[number];
        const auto [less, more] = std::minmax({sketches_.size_of(document), head.size});
        if (uint128{less} * threshold_.denominator < uint128{more} * threshold_.numerator)
            return false;
        if (!sketches_.comparable(document, head.document)) return false;
        Pair pair{head.document, document, 0, 0};
        if (head.level != sketches_.level_of(document)) {
            const uint8_t level = std::max(head.level, sketches_.level_of(document));
            const Elements own = at_level(sketches_, document, level, own_);
            const Elements others = at_level(sketches_, head.document, level, other_);
            const size_t common = count_common(sketches_.simd, others, own);
            measure(sketches_, Measure::resemblance, others, own, common, pair);
        } else {
            // The same, only as far as it matters.
            const Elements own = sketches_.elements(document);
            const JoinRule join{Measure::resemblance, threshold_, sketches_.smallest};
            const size_t needed = join.needed(own.size(), head.count);
            if (std::min<size_t>(own.size(), head.count) < needed) return false;
            if (const Signature* others = heads_.signature(number)) {
                if (!std::exchange(has_signature_, true)) {
                    signature_ = {};
                    for (const uint64_t element : own) signature_.add(element);
                }
                if (signature_.most_common(*others, own.size(), head.count) < needed) return false;
            }
            const Elements others = sketches_.fetch(head.document, other_.read);
            const size_t common = count_common(sketches_.simd, own, others, needed);
            if (common < needed) return false;
            measure(sketches_, Measure::resemblance, others, own, common, pair);
        }
        return pair.sampled && reaches(pair, threshold_);
    }

    const SketchSet& sketches_;
    Ratio threshold_;
    MassRule rule_;
    const Heads& heads_;
    bool by_category_;
    // of the document, once it is needed
    Signature signature_;
    bool has_signature_ = false;
    Place own_{SketchBuffer(0)}, other_;
};

}  // namespace

// The first documents that have each key. When it is finished, all that are first of any key are
// numbered, in document order, and known by their numbers.
class Masses::Heads {
   public:
    explicit Heads(size_t limit) : limit_(limit) {}

    bool empty() const { return used_ == 0; }

    void add(uint64_t key, uint32_t document) {
        if (2 * (used_ + 1) > slots_.size()) grow();
        Slot& slot = slots_[place(key)];
        used_ += slot.count == 0;
        slot.key = key;
        // They come in any order.
        if (slot.count == limit_ && document > slot.members[limit_ - 1]) return;
        size_t i = slot.count < limit_ ? slot.count++ : limit_ - 1;
        for (; i > 0 && slot.members[i - 1] > document; --i) slot.members[i] = slot.members[i - 1];
        slot.members[i] = document;
    }

    void finish(const SketchSet& sketches, size_t signature_bytes, size_t threads) {
        std::vector<uint32_t> documents;
        for (const Slot& slot : slots_) documents.insert(documents.end(), slot.begin(), slot.end());
        std::sort(documents.begin(), documents.end());
        documents.erase(std::unique(documents.begin(), documents.end()), documents.end());
        for (Slot& slot : slots_)
            for (uint32_t& member : slot)
                member = static_cast<uint32_t>(
                    std::lower_bound(documents.begin(), documents.end(), member) -
                    documents.begin());
        heads_.resize(documents.size());
        if (documents.size() * sizeof(Signature) <= signature_bytes)
            signatures_.resize(documents.size());
        look_at(sketches, documents, threads);
    }

    // The numbers of those of a key.
    std::span<const uint32_t> of(uint64_t key) const {
        const Slot& slot = slots_[place(key)];
        return {slot.members.data(), slot.count};
    }

    const Head& operator[](uint32_t number) const { return heads_[number]; }

    // Null where there was no room for them.
    const Signature* signature(uint32_t number) const {
        return signatures_.empty() ? nullptr : &signatures_[number];
    }

    std::vector<KeyHead> list() const {
        std::vector<KeyHead> all;
        for (const Slot& slot : slots_)
            for (const uint32_t member : slot)
                all.push_back(
                    {reversed(slot.key), heads_.empty() ? member : heads_[member].document});
        std::sort(all.begin(), all.end(), [](const KeyHead& x, const KeyHead& y) {
            return x.key != y.key ? x.key < y.key : x.document < y.document;
        });
        return all;
    }

   private:
    struct Slot {
        uint64_t key = 0;
        std::array<uint32_t, most_heads> members{};
        uint32_t count = 0;  // 0: nobody is here

        uint32_t* begin() { return members.data(); }
        uint32_t* end() { return members.data() + count; }
        const uint32_t* begin() const { return members.data(); }
        const uint32_t* end() const { return members.data() + count; }
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

    // Their sketches, in the order in which they lie.
    void look_at(const SketchSet& sketches, std::span<const uint32_t> documents, size_t threads) {
        std::vector<uint32_t> order(documents.size());
        std::iota(order.begin(), order.end(), uint32_t{0});
        if (sketches.visits)
            std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
                return sketches.rows[documents[x]] < sketches.rows[documents[y]];
            });
        constexpr size_t block = 256;
        in_parallel((order.size() + block - 1) / block, threads, [&] {
            return [&, buffer = SketchBuffer(0)](size_t piece) mutable {
                const size_t first = piece * block;
                for (size_t i = first; i < std::min(order.size(), first + block); ++i) {
                    const uint32_t number = order[i], document = documents[number];
                    const auto count = static_cast<uint32_t>(sketches.elements(document).size());
                    heads_[number] = {document, sketches.size_of(document), count,
                                      sketches.level_of(document)};
                    if (signatures_.empty()) continue;
                    for (const uint64_t element : sketches.fetch(document, buffer))
                        signatures_[number].add(element);
                }
            };
        });
    }

    size_t limit_;
    size_t used_ = 0;
    std::vector<Slot> slots_;
    std::vector<Head> heads_;  // once it is finished
    std::vector<Signature> signatures_;
};

Masses::Masses(const SketchSet& sketches, const MassRule& rule, bool by_category, size_t every)
    : sketches_(sketches),
      rule_{rule.least_frequency, std::min(rule.keys, most_keys), std::min(rule.heads, most_heads)},
      by_category_(by_category),
      every_(every),
      heads_(std::make_unique<Heads>(rule_.heads)) {}

Masses::~Masses() = default;

void Masses::add(size_t begin, size_t end, size_t threads) {
    if (finished_) throw std::invalid_argument("masses: finished: nothing can be added");
    // Finding the keys takes long, and only one can add them.
    constexpr size_t block = 64;
    std::vector<std::vector<Keys>> keys((end - begin + block - 1) / block);
    in_parallel(keys.size(), threads, [&] {
        return [&](size_t piece) {
            const size_t first = begin + piece * block, last = std::min(end, first + block);
            for (size_t i = next(first); i < last; i += every_)
                keys[piece].emplace_back(sketches_, sketches_.visit(i), rule_);
            sketches_.leave(first, last);
        };
    });
    size_t i = next(begin);
    for (const auto& piece : keys)
        for (const Keys& own : piece) {
            const auto document = static_cast<uint32_t>(sketches_.visit(i));
            i += every_;
            for (const uint64_t key : own) heads_->add(head_key(document, key), document);
        }
}

void Masses::finish(size_t signature_bytes, size_t threads) {
    if (finished_) throw std::invalid_argument("masses: finished already");
    heads_->finish(sketches_, signature_bytes, threads);
    finished_ = true;
}

void Masses::find_hubs(Ratio threshold, size_t begin, size_t end, size_t threads,
                       std::span<uint32_t> hubs) const {
    if (!finished_) throw std::invalid_argument("masses: not finished: want all to be added");
    constexpr size_t block = 64;
    in_parallel((end - begin + block - 1) / block, threads, [&] {
        return [&, finder = HubFinder<Heads>(sketches_, threshold, rule_, *heads_, by_category_)](
                   size_t piece) mutable {
            const size_t first = begin + piece * block, last = std::min(end, first + block);
            for (size_t i = next(first); i < last; i += every_) {
                const auto document = static_cast<uint32_t>(sketches_.visit(i));
                uint32_t& hub = hubs[document];
                hub = heads_->empty() ? no_hub : finder.find(document, hub);
            }
            sketches_.leave(first, last);
        };
    });
}

std::vector<Masses::KeyHead> Masses::heads() const { return heads_->list(); }

}  // namespace roughly
