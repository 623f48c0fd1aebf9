#include "greedy.hpp"

#include <algorithm>
#include <cmath>

namespace roughly {

namespace {

constexpr auto undecided = static_cast<uint8_t>(Fate::undecided);
constexpr auto kept = static_cast<uint8_t>(Fate::kept);
constexpr auto removed = static_cast<uint8_t>(Fate::removed);

// Numbers of pairs by one of their documents: those of document d are at [starts[d], starts[d+1]).
struct ByDocument {
    std::vector<uint64_t> starts;
    std::vector<uint64_t> pairs;

    std::span<const uint64_t> of(size_t document) const {
        return {pairs.data() + starts[document], pairs.data() + starts[document + 1]};
    }
};

template <typename Document>
ByDocument by_document(std::span<const Pair> pairs, size_t documents, Document&& document) {
    ByDocument made{std::vector<uint64_t>(documents + 2, 0), std::vector<uint64_t>(pairs.size())};
    for (const Pair& pair : pairs) ++made.starts[document(pair) + 2];
    for (size_t d = 1; d <= documents; ++d) made.starts[d + 1] += made.starts[d];
    // Where a document's begin stands a place further on, and moves to where they end.
    for (uint64_t p = 0; p < pairs.size(); ++p)
        made.pairs[made.starts[document(pairs[p]) + 1]++] = p;
    return made;
}

bool at_least(uint64_t common, uint64_t whole, Ratio ratio) {
    return uint128{common} * ratio.denominator >= uint128{ratio.numerator} * whole;
}

// Of the pair's document that `later` says, in the other one.
uint32_t part(const Candidates& candidates, uint64_t pair, bool later) {
    const Parts& parts = candidates.parts[pair];
    return later ? parts.b : parts.a;
}

bool contains(const Candidates& candidates, uint64_t pair, bool later) {
    if (candidates.containment.denominator == 0) return false;
    const uint32_t whole = part(candidates, pair, later);
    return whole != 0 && at_least(candidates.pairs[pair].common, whole, candidates.containment);
}

// Whether a pair removes its later document, if the earlier one stays.
bool removes(const Candidates& candidates, uint64_t pair) {
    return reaches(candidates.pairs[pair], candidates.threshold) ||
           contains(candidates, pair, true);
}

double resemblance(const Pair& pair) {
    return pair.sampled ? static_cast<double>(pair.common) / pair.sampled : 0;
}

// Whether a pair that is no exact one may be a better reason than one of resemblance `best`: its
// estimate is too low by the margin, or by three and a half standard errors if it comes of few
// elements.
bool may_be_best(const Candidates& candidates, uint64_t pair, double best) {
    constexpr double errors = 3.5, largest = 0.5;  // standard deviation of one element
    const Pair& own = candidates.pairs[pair];
    const double error = errors * largest / std::sqrt(std::max<double>(own.sampled, 1));
    return resemblance(own) + std::max(candidates.margin, error) >= best;
}

}  // namespace

Round decide(const Candidates& candidates) {
    const size_t documents = candidates.place.size();
    const ByDocument earlier =
        by_document(candidates.pairs, documents, [](const Pair& pair) { return pair.b; });
    Round round;
    round.fate.assign(documents, undecided);
    std::vector<uint8_t> guess(documents, undecided);
    std::vector<double> best(documents, 0);  // resemblance of exact pairs by which they may go
    std::vector<uint8_t> wanted(candidates.pairs.size(), 0);
    std::vector<uint64_t> asked;  // pairs with documents that seem to stay, not exact
    for (size_t b = 0; b < documents; ++b) {
        bool goes = false, open = false, may_go = false, seems_to_go = false;
        size_t failed = 0;
        asked.clear();
        for (const uint64_t p : earlier.of(b)) {
            const uint32_t a = candidates.pairs[p].a;
            if (round.fate[a] == removed) continue;
            const bool exact = candidates.exact[p];
            const bool certain = round.fate[a] == kept;
            open |= !certain || !exact;
            if (guess[a] != kept) continue;
            const bool removing = removes(candidates, p);
            seems_to_go |= removing;
            if (!exact) {
                asked.push_back(p);
            } else if (removing) {
                goes |= certain;
                may_go = true;
                best[b] = std::max(best[b], resemblance(candidates.pairs[p]));
            } else {
                ++failed;
            }
        }
        round.fate[b] = goes ? removed : open ? undecided : kept;
        guess[b] = seems_to_go ? removed : kept;
        // By containment another pair may be the better reason whatever its resemblance.
        const bool all = !seems_to_go || candidates.containment.denominator != 0;
        if (!all && !may_go) {
            // The most likely reason is enough; after it has failed twice as many.
            const size_t few = std::min(failed + 1, asked.size());
            std::partial_sort(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(few),
                              asked.end(), [&](uint64_t x, uint64_t y) {
                                  const double p = resemblance(candidates.pairs[x]);
                                  const double q = resemblance(candidates.pairs[y]);
                                  return p != q ? p > q : x < y;
                              });
            asked.resize(few);
        }
        for (const uint64_t p : asked)
            wanted[p] |= all || !may_go || may_be_best(candidates, p, best[b]);
        // A document that is equivalent to an earlier one that went, and that comes after this one,
        // may have this one for its best.
        if (guess[b] == kept)
            for (const uint64_t p : earlier.of(b)) {
                const uint32_t a = candidates.pairs[p].a;
                if (guess[a] == removed && candidates.last[a] > candidates.place[b])
                    wanted[p] |= !candidates.exact[p] && (candidates.containment.denominator != 0 ||
                                                          may_be_best(candidates, p, best[a]));
            }
    }
    for (uint64_t p = 0; p < wanted.size(); ++p)
        if (wanted[p]) round.wanted.push_back(p);
    return round;
}

std::vector<Reason> find_reasons(const Candidates& candidates, std::span<const uint8_t> fate,
                                 std::span<const uint32_t> documents,
                                 std::span<const uint32_t> places) {
    const size_t count = candidates.place.size();
    const ByDocument as_later =
        by_document(candidates.pairs, count, [](const Pair& pair) { return pair.b; });
    const ByDocument as_earlier =
        by_document(candidates.pairs, count, [](const Pair& pair) { return pair.a; });
    std::vector<Reason> reasons;
    reasons.reserve(documents.size());
    for (size_t i = 0; i < documents.size(); ++i) {
        Reason best{Reason::none, 0};
        uint32_t best_document = 0;
        const auto consider = [&](uint64_t p, uint32_t other, bool later) {
            if (fate[other] != kept || candidates.place[other] >= places[i]) return;
            if (!candidates.exact[p]) return;  // not the best, or it would have been counted
            const Pair& pair = candidates.pairs[p];
            const bool near = reaches(pair, candidates.threshold);
            if (!near && !contains(candidates, p, later)) return;
            bool better = best.pair == Reason::none || (near && best.contained);
            if (!better && near == !best.contained) {
                const Pair& rival = candidates.pairs[best.pair];
                const bool rival_later = rival.b == documents[i];
                const uint64_t whole = near ? pair.sampled : part(candidates, p, later);
                const uint64_t rival_whole =
                    near ? rival.sampled : part(candidates, best.pair, rival_later);
                const uint64_t left = pair.common * rival_whole;
                const uint64_t right = rival.common * whole;
                better = left > right || (left == right && other < best_document);
            }
            if (better) {
                best = {p, !near};
                best_document = other;
            }
        };
        for (const uint64_t p : as_later.of(documents[i])) consider(p, candidates.pairs[p].a, true);
        for (const uint64_t p : as_earlier.of(documents[i]))
            consider(p, candidates.pairs[p].b, false);
        reasons.push_back(best);
    }
    return reasons;
}

}  // namespace roughly
