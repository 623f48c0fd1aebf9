#include "greedy.hpp"

#include <algorithm>
#include <bit>
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

// Of a document that is not decided: most have fewer, and those of a family that has very many are
// hardly all wanted.
constexpr size_t most_likely = 8;

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

// By how much an estimate of a resemblance may be too low: so many standard errors, and an element
// more, for where nearly all are common the error is that of one or two. Below a half it is that of
// a half, so that what is less by its error never becomes more.
double error_of(const Candidates& candidates, uint64_t pair, double ratio) {
    const double sampled = std::max<double>(candidates.pairs[pair].sampled, 1);
    const double likely = std::clamp(ratio, 0.5, 1.0);
    return candidates.errors * std::sqrt(likely * (1 - likely) / sampled) + 1 / sampled;
}

// Whether a pair that is no exact one may be a better reason than one of resemblance `best`.
bool may_be_best(const Candidates& candidates, uint64_t pair, double best) {
    return resemblance(candidates.pairs[pair]) + error_of(candidates, pair, best) >= best;
}

// One round: documents in their order, each by what was found out about the earlier ones.
class Decider {
   public:
    Decider(const Candidates& candidates, bool reasons)
        : candidates_(candidates),
          reasons_(reasons),
          earlier_(by_document(candidates.pairs, candidates.place.size(),
                               [](const Pair& pair) { return pair.b; })),
          fate_(candidates.place.size(), undecided),
          guess_(fate_),
          best_(fate_.size(), 0),
          choice_(candidates.pairs.size(), nothing) {}

    Round decide() {
        for (size_t document = 0; document < fate_.size(); ++document) {
            decide(document);
            if (reasons_) want_for_equivalents(document);
            if (fate_[document] == undecided) note_likely(document);
        }
        Round round;
        round.fate = std::move(fate_);
        for (uint64_t p = 0; p < choice_.size(); ++p)
            if (choice_[p] != nothing)
                (choice_[p] == wanted ? round.wanted : round.likely).push_back(p);
        return round;
    }

   private:
    enum Choice : uint8_t { nothing, likely, wanted };

    bool by_containment() const { return candidates_.containment.denominator != 0; }

    void decide(size_t document) {
        bool goes = false, open = false, may_go = false, seems_to_go = false;
        size_t failed = 0;
        asked_.clear();
        least_best_ = 0;
        for (const uint64_t p : earlier_.of(document)) {
            const uint32_t a = candidates_.pairs[p].a;
            if (fate_[a] == removed) continue;
            const bool exact = candidates_.exact[p];
            const bool certain = fate_[a] == kept;
            open |= !certain || !exact;
            if (guess_[a] != kept) continue;
            const bool removing = removes(candidates_, p);
            seems_to_go |= removing;
            if (removing) least_best_ = std::max(least_best_, at_least_by(p));
            if (!exact) {
                asked_.push_back(p);
            } else if (removing) {
                goes |= certain;
                may_go = true;
                best_[document] = std::max(best_[document], resemblance(candidates_.pairs[p]));
            } else {
                ++failed;
            }
        }
        fate_[document] = goes ? removed : open ? undecided : kept;
        guess_[document] = seems_to_go ? removed : kept;
        if (may_go) {
            if (reasons_) want_better(best_[document]);
            return;
        }
        // The most likely reason is enough; after it has failed twice as many.
        if (seems_to_go && !by_containment()) keep_best_asked(failed + 1);
        for (const uint64_t p : asked_) choice_[p] = wanted;
    }

    // Of those that are asked for whatever may be a better reason than one of resemblance `best`.
    void want_better(double best) {
        for (const uint64_t p : asked_)
            if (may_be_better(p, best)) choice_[p] = wanted;
    }

    // By containment another pair may be the better reason whatever its resemblance.
    bool may_be_better(uint64_t p, double best) const {
        return by_containment() || may_be_best(candidates_, p, best);
    }

    void keep_best_asked(size_t count) {
        const size_t few = std::min(count, asked_.size());
        std::partial_sort(asked_.begin(), asked_.begin() + static_cast<std::ptrdiff_t>(few),
                          asked_.end(), [&](uint64_t x, uint64_t y) {
                              const double p = resemblance(candidates_.pairs[x]);
                              const double q = resemblance(candidates_.pairs[y]);
                              return p != q ? p > q : x < y;
                          });
        asked_.resize(few);
    }

    // A document that is equivalent to an earlier one that went, and that comes after this one, may
    // have this one for its best.
    void want_for_equivalents(size_t document) {
        if (guess_[document] != kept) return;
        for (const uint64_t p : earlier_.of(document)) {
            const uint32_t a = candidates_.pairs[p].a;
            if (candidates_.exact[p] || guess_[a] != removed) continue;
            if (candidates_.last[a] <= candidates_.place[document]) continue;
            if (may_be_better(p, best_[a])) choice_[p] = wanted;
        }
    }

    // The resemblance that a pair has at least.
    double at_least_by(uint64_t p) const {
        const double estimate = resemblance(candidates_.pairs[p]);
        return candidates_.exact[p] ? estimate : estimate - error_of(candidates_, p, estimate);
    }

    // Of the document that was looked at last. What cannot be its best reason will not be wanted if
    // it goes.
    void note_likely(size_t document) {
        size_t left = most_likely;
        for (const uint64_t p : earlier_.of(document)) {
            if (left == 0) return;
            if (candidates_.exact[p] || choice_[p] == wanted) continue;
            if (fate_[candidates_.pairs[p].a] == removed) continue;
            if (!may_be_better(p, least_best_)) continue;
            choice_[p] = likely;
            --left;
        }
    }

    const Candidates& candidates_;
    const bool reasons_;
    ByDocument earlier_;
    std::vector<uint8_t> fate_;
    std::vector<uint8_t> guess_;
    std::vector<double> best_;  // resemblance of exact pairs by which they may go
    std::vector<Choice> choice_;
    // of the document that is looked at
    std::vector<uint64_t> asked_;  // pairs with such as seem to stay, not exact
    double least_best_ = 0;        // what its best reason has at least, if it seems to go
};

}  // namespace

std::vector<uint32_t> number_anew(std::span<const Pair> pairs, size_t count, std::span<Pair> to) {
    // A bit for every document, and of each word how many lie before it.
    std::vector<uint64_t> has_pair(count / 64 + 1);
    for (const Pair& pair : pairs)
        for (const uint32_t document : {pair.a, pair.b})
            has_pair[document / 64] |= uint64_t{1} << document % 64;
    std::vector<uint32_t> before(has_pair.size());
    std::vector<uint32_t> documents;
    for (size_t word = 0; word < has_pair.size(); ++word) {
        before[word] = static_cast<uint32_t>(documents.size());
        for (uint64_t left = has_pair[word]; left; left &= left - 1)
            documents.push_back(static_cast<uint32_t>(64 * word) +
                                static_cast<uint32_t>(std::countr_zero(left)));
    }
    const auto number = [&](uint32_t document) {
        const uint64_t lower = has_pair[document / 64] & ((uint64_t{1} << document % 64) - 1);
        return before[document / 64] + static_cast<uint32_t>(std::popcount(lower));
    };
    std::transform(pairs.begin(), pairs.end(), to.begin(), [&](const Pair& pair) {
        return Pair{number(pair.a), number(pair.b), pair.common, pair.sampled};
    });
    return documents;
}

Round decide(const Candidates& candidates, bool reasons) {
    return Decider(candidates, reasons).decide();
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
