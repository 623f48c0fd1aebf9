#include "posting.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "parallel.hpp"

namespace roughly {

namespace {

// Numerators nearly always fit in 64 bits, where dividing takes a third of the time; that of a
// ratio and the sum of both are below 2^33.
uint128 divided(uint128 numerator, uint64_t denominator) {
    if (numerator >> 64) [[unlikely]]
        return numerator / denominator;
    return static_cast<uint64_t>(numerator) / denominator;
}

size_t divided_up(uint128 numerator, uint64_t denominator) {
    return static_cast<size_t>(divided(numerator + denominator - 1, denominator));
}

// ceil(floor * n)
size_t least_share(size_t n, Ratio floor) {
    return divided_up(uint128{floor.numerator} * n, floor.denominator);
}

// The smallest overlap with which sketches of n and m elements reach the floor as a share of their
// union: o / (n + m - o) >= p / q.
size_t least_overlap(size_t n, size_t m, Ratio floor) {
    return divided_up(uint128{floor.numerator} * (n + m), floor.numerator + floor.denominator);
}

// Makes the postings of one document after the other.
class PostingMaker {
   public:
    PostingMaker(const SketchSet& sketches, const JoinRule& rule, uint8_t level,
                 size_t least_partner)
        : sketches_(sketches), rule_(rule), level_(level), least_partner_(least_partner) {}

    // Elements that the document has at the level, or 0 if they are fewer than `least_count`; its
    // postings are appended to `out`.
    uint32_t make(size_t document, size_t least_count, uint32_t& bound, Signature* signature,
                  std::vector<KeyedPosting>& out) {
        const Elements all = sketches_.elements(document);
        if (all.size() < least_count) return 0;
        const uint8_t* frequency = sketches_.frequencies(document);
        Elements elements = all;
        if (sketches_.level_of(document) != level_) {
            reduce(all, frequency);
            elements = reduced_;
            frequency = reduced_frequency_.data();
        }
        const size_t count = elements.size();
        bound = static_cast<uint32_t>(count);
        if (count == 0 || count < least_count) return 0;
        const size_t length = std::max(probe_length(count), rule_.index_length(count));
        // Most documents are like no other one: elements that nobody else has fill their prefix,
        // and nothing is posted.
        const auto own = std::count(frequency, frequency + count, uint8_t{1});
        if (static_cast<size_t>(own) >= length) return static_cast<uint32_t>(count);
        starts_.fill(0);
        for (size_t i = 0; i < count; ++i) ++starts_[frequency[i]];
        uint32_t before = 0;
        for (uint32_t& start : starts_) before += std::exchange(start, before);
        // Elements are ascending, so those of equal frequency stay so.
        for (size_t i = 0; i < count; ++i) {
            const uint32_t position = starts_[frequency[i]]++;
            if (position < length && frequency[i] > 1)
                out.push_back({mixed(sketches_.in_category(document, elements[i])),
                               static_cast<uint32_t>(document), position});
        }
        if (signature) {
            *signature = {};
            for (const uint64_t element : elements) signature->add(element);
        }
        return static_cast<uint32_t>(count);
    }

   private:
    // Of the prefix with which a document probes, the part where it can meet the smallest partner.
    size_t probe_length(size_t count) const {
        size_t length = rule_.probe_length(count);
        while (length > 0 && rule_.partners(count, count - (length - 1)).most < least_partner_)
            --length;
        return length;
    }

    void reduce(Elements all, const uint8_t* frequency) {
        const uint64_t mask = (uint64_t{1} << level_) - 1;
        reduced_.resize(all.size());
        reduced_frequency_.resize(all.size());
        size_t kept = 0;
        for (size_t i = 0; i < all.size(); ++i) {
            reduced_[kept] = all[i];
            reduced_frequency_[kept] = frequency[i];
            kept += (all[i] & mask) == 0;
        }
        reduced_.resize(kept);
        reduced_frequency_.resize(kept);
    }

    const SketchSet& sketches_;
    JoinRule rule_;
    uint8_t level_;
    size_t least_partner_;
    std::array<uint32_t, 256> starts_;
    std::vector<uint64_t> reduced_;
    std::vector<uint8_t> reduced_frequency_;
};

}  // namespace

size_t JoinRule::probe_length(size_t n) const { return n - least_share(n, floor) + 1; }

size_t JoinRule::index_length(size_t n) const {
    if (measure == Measure::containment) return n;
    return n - needed(n, n) + 1;
}

size_t JoinRule::needed(size_t n, size_t m) const {
    if (measure == Measure::containment) return least_share(n, floor);
    // Of a union of which only the smallest are a sample, the overlap outside may be anything.
    return smallest ? least_share(std::max(n, m), floor) : least_overlap(n, m, floor);
}

uint32_t JoinRule::most_prober(size_t overlap, size_t m) const {
    // suffices(overlap, n, m), solved for n
    const bool of_union = measure != Measure::containment && !smallest;
    const uint128 shares = uint128{floor.denominator} + (of_union ? floor.numerator : 0);
    const uint128 most = divided(overlap * shares, floor.numerator);
    const size_t beside = of_union ? m : 0;
    if (most < beside || (measure != Measure::containment && smallest && most < m)) return 0;
    return static_cast<uint32_t>(
        std::min<uint128>(most - beside, std::numeric_limits<uint32_t>::max()));
}

JoinRule::Range JoinRule::partners(size_t n, size_t left) const {
    if (measure == Measure::containment)
        return {std::max(n, least_share(n, floor)), std::numeric_limits<size_t>::max()};
    const size_t least = least_share(n, floor);
    if (left < least) return {1, 0};
    // needed(n, m) <= left, solved for m
    const uint64_t shares = floor.denominator + (smallest ? 0 : floor.numerator);
    const uint128 most = divided(uint128{left} * shares, floor.numerator);
    const uint128 beside = smallest ? 0 : n;
    if (most < beside) return {1, 0};
    return {least, static_cast<size_t>(std::min<uint128>(most - beside, n))};
}

template <typename Entry>
Postings<Entry> make_postings(const SketchSet& sketches, const JoinRule& rule, uint8_t level,
                              size_t begin, size_t end, size_t smallest_native, bool visited,
                              size_t threads, std::span<uint32_t> counts,
                              std::span<uint32_t> bounds, std::span<Signature> signatures) {
    // A visitor must be large enough for the smallest native at least.
    const size_t least_visitor =
        rule.measure == Measure::containment ? 1 : least_share(smallest_native, rule.floor);
    const size_t least_partner = visited ? least_visitor : smallest_native;
    constexpr size_t block = 64;
    std::vector<std::vector<KeyedPosting>> parts((end - begin + block - 1) / block);
    // Of each part and bucket how many entries there are, then where the next one goes.
    std::vector<std::array<uint64_t, buckets>> places(parts.size());
    in_parallel(parts.size(), threads, [&] {
        return [&,
                maker = PostingMaker(sketches, rule, level, least_partner)](size_t part) mutable {
            const size_t first = begin + part * block;
            for (size_t i = first; i < std::min(end, first + block); ++i) {
                const size_t document = sketches.visit(i);
                const uint8_t own = sketches.level_of(document);
                if (own > level) continue;
                const size_t least = own == level ? 1 : least_visitor;
                if (bounds[document] < least) continue;
                counts[document] =
                    maker.make(document, least, bounds[document],
                               signatures.empty() ? nullptr : &signatures[document], parts[part]);
            }
            sketches.leave(first, std::min(end, first + block));
            places[part].fill(0);
            for (const KeyedPosting& posting : parts[part]) ++places[part][bucket_of(posting.key)];
        };
    });

    Postings<Entry> made{{}, std::vector<uint64_t>(buckets, 0)};
    uint64_t before = 0;
    for (size_t bucket = 0; bucket < buckets; ++bucket) {
        for (auto& place : places) before += std::exchange(place[bucket], before);
        made.bucket_ends[bucket] = before;
    }
    Entry* const entries = made.entries.room(before);
    made.entries.keep(before);
    in_parallel(parts.size(), threads, [&] {
        return [&](size_t part) {
            const std::vector<KeyedPosting> own = std::move(parts[part]);
            for (const KeyedPosting& posting : own)
                entries[places[part][bucket_of(posting.key)]++] = Entry(posting);
        };
    });
    return made;
}

template Postings<Posting> make_postings(const SketchSet&, const JoinRule&, uint8_t, size_t, size_t,
                                         size_t, bool, size_t, std::span<uint32_t>,
                                         std::span<uint32_t>, std::span<Signature>);
template Postings<KeyedPosting> make_postings(const SketchSet&, const JoinRule&, uint8_t, size_t,
                                              size_t, size_t, bool, size_t, std::span<uint32_t>,
                                              std::span<uint32_t>, std::span<Signature>);

}  // namespace roughly
