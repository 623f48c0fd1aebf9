// Which documents stay and which go, by the dedup rule: documents are taken in order, and one goes
// if and only if an earlier one that stays reaches the threshold with it, or contains it. Nothing
// goes by a chain.
//
// Counting a pair exactly is dear, and most pairs need not be: a pair matters only if its earlier
// document stays, and of a document that goes one that reaches the threshold is enough to know
// that, and those that may be the best reason to say why. So deciding goes in rounds. A round
// decides what the exact pairs allow and says which further pairs are wanted; it guesses from the
// estimates what will stay, so that a few rounds are enough, but no guess ever decides who goes. It
// also says which pairs may be wanted next: whoever has their documents at hand does well to count
// them, too. When all is decided, rounds that want reasons say what is to be counted for these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pair.hpp"

namespace roughly {

// How many sampled elements a pair's two documents have, for containment.
struct Parts {
    uint32_t a;
    uint32_t b;
};

// Pairs of documents, and what is known of them. A document is known by its number, from 0 in the
// order in which documents are taken.
struct Candidates {
    std::span<const Pair> pairs;      // a < b, each at most once
    std::span<const uint8_t> exact;   // 1 where a pair's counts are not an estimate
    std::span<const Parts> parts;     // one a pair; empty unless containment counts
    std::span<const uint32_t> place;  // of each document: ascending, leaves room for equivalents
    std::span<const uint32_t> last;   // the place of the last document that is equivalent to it
    Ratio threshold;
    Ratio containment;  // denominator 0: containment does not count
    double errors;      // standard errors by which an estimate may be too low: what cannot be the
                        // best by that is not counted
};

// Writes pairs whose documents are below `count` with these numbered anew, in their order, and says
// which they were: documents without a pair all stay, and take no room in what follows.
std::vector<uint32_t> number_anew(std::span<const Pair> pairs, size_t count, std::span<Pair> to);

enum class Fate : uint8_t { undecided = 0, kept = 1, removed = 2 };

struct Round {
    std::vector<uint8_t> fate;     // Fate, a document
    std::vector<uint64_t> wanted;  // pairs to be counted exactly before the next round, ascending
    std::vector<uint64_t> likely;  // others that may be wanted then, as far as is known, ascending
};

// While a document is undecided there are pairs wanted; when none is, all is decided. With
// `reasons` the pairs that may be the best one are wanted, too: when none is, whatever
// `find_reasons` looks at is exact. Without an estimate that is lower by more than its error it
// finds the best; with one it may find a reason that is not quite the best.
Round decide(const Candidates& candidates, bool reasons);

struct Reason {
    static constexpr uint64_t none = std::numeric_limits<uint64_t>::max();
    uint64_t pair;       // of the document that was asked for and the kept one
    uint64_t contained;  // 1 if it goes by containment only
};

// Why documents go: for each of `documents` at its place in `places` (its own, or that of one that
// is equivalent to it) the pair with the best of the kept documents before that place. Best is the
// largest resemblance among those that reach the threshold, else the largest containment; the
// earlier document where these are equal.
std::vector<Reason> find_reasons(const Candidates& candidates, std::span<const uint8_t> fate,
                                 std::span<const uint32_t> documents,
                                 std::span<const uint32_t> places);

}  // namespace roughly
