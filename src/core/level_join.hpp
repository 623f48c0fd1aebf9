// All pairs of documents that reach a floor at one level: an exact set-similarity join by prefix
// filtering, of the postings that posting.hpp makes. No pair is lost: every pair whose estimate
// reaches the floor is found, once, and only those.
//
// The postings may be joined in several parts, each of some buckets of keys. A pair is then found
// in the part that has the first element, in the common order, that both documents have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pair.hpp"
#include "posting.hpp"
#include "sketch_set.hpp"

namespace roughly {

// Postings of one level in buckets [first_bucket, last_bucket): of every run of documents those
// buckets' entries, in the order of the buckets. A run's `ends` count from its first entry.
struct PostingRun {
    const Posting* entries;
    const uint64_t* ends;  // last_bucket - first_bucket of them
};

struct LevelJoin {
    const SketchSet& sketches;
    JoinRule rule;
    uint8_t level;
    std::span<const uint32_t> counts;       // from make_postings
    std::span<const Signature> signatures;  // from make_postings, too; empty for none
    std::span<const uint32_t> hubs;         // mass.hpp; empty for none
    std::span<const uint32_t> groups;  // in which no pairs are looked for; empty: those of the hubs
    size_t first_bucket;
    size_t last_bucket;

    bool has_all_buckets() const { return first_bucket == 0 && last_bucket == buckets; }
};

// Documents that seem to be near duplicates of an earlier one, their leader. Pairs of two that have
// one may be left out: the caller looks at those of a document that turns out to matter for all
// that. Whoever reaches `surely` with an earlier document that has none at that moment gets it for
// a leader while pairs are found. Which it is, and which pairs are found before, is a matter of
// chance where several threads work.
struct Leaders {
    std::span<uint32_t> of;  // a document each, or no_hub; empty: every pair is wanted
    Ratio surely{1, 1};
};

// The postings by key, ready to be probed. What `join` names must outlive it. The entries of the
// runs are discarded while it is made: it takes their place.
class LevelIndex {
   public:
    LevelIndex(const LevelJoin& join, std::span<const PostingRun> runs, size_t threads);
    ~LevelIndex();

    // The pairs in which a document from `begin` to `end` is the prober, ascending by (a, b). Left
    // out are pairs of documents of the same group (no_hub is none), and of one with its hub, and
    // perhaps of two documents that have leaders.
    std::vector<Pair> probe(size_t begin, size_t end, size_t threads, Leaders leaders = {}) const;

   private:
    class Lists;
    class Probers;

    LevelJoin join_;
    std::vector<uint32_t> own_groups_;  // if there are hubs and no groups
    std::span<const uint32_t> groups_;
    std::unique_ptr<const Lists> lists_;
    std::unique_ptr<Probers> probers_;
};

}  // namespace roughly
