// Masses: where very many documents all resemble one another, a link of each to one of them, its
// hub, stands for all of their pairs.
//
// The rule depends on the sketches and the document order alone. A key of a document is one of its
// first `keys` elements of frequency `least_frequency` or more, in the order of their bits read
// backwards (so that documents of different levels have keys in common). The heads of a key are the
// first `heads` documents of each category, in document order, that have it as a key. The hub of a
// document is the first head, by the order of its keys and then in document order, that comes
// before it, is comparable with it, whose size (distinct shingles) allows for the threshold, and
// that it resembles at the threshold; most documents have none. The join then leaves out the pairs
// of two documents with the same hub: both are linked to it at the threshold or more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "pair.hpp"
#include "signature.hpp"
#include "sketch_set.hpp"

namespace roughly {

inline constexpr uint32_t no_hub = std::numeric_limits<uint32_t>::max();
inline constexpr uint32_t unknown_hub = no_hub - 1;  // nobody has looked for it yet

struct MassRule {
    uint8_t least_frequency = 100;
    size_t keys = 8;
    size_t heads = 4;
};

// The heads of all keys; then the hubs. Frequencies have been counted.
class Masses {
   public:
    // Without `by_category` the heads of a key are the first documents of all. One document of
    // `every` takes part, in the order of SketchSet::visit.
    Masses(const SketchSet& sketches, const MassRule& rule, bool by_category = true,
           size_t every = 1);
    ~Masses();

    size_t documents() const { return sketches_.count; }

    // Takes the keys of the documents from `begin` to `end`, in the order of SketchSet::visit.
    void add(size_t begin, size_t end, size_t threads);

    // When all have been added. With signatures of the heads, if those have room in so many bytes,
    // most heads that are no hubs are told at a glance.
    void finish(size_t signature_bytes, size_t threads);

    // Then: the hub of each of them, or no_hub, at its place among all. There lies unknown_hub
    // before, or the hub at a lower threshold if that does not do any more: then only heads after
    // it are looked at. no_hub stays what it is.
    void find_hubs(Ratio threshold, size_t begin, size_t end, size_t threads,
                   std::span<uint32_t> hubs) const;

    // When all have been added: by key, then in document order.
    struct KeyHead {
        uint64_t key;  // an element, in its category where these count
        uint32_t document;
    };
    std::vector<KeyHead> heads() const;

   private:
    class Heads;

    uint64_t head_key(size_t document, uint64_t key) const {
        return by_category_ ? sketches_.in_category(document, key) : key;
    }

    // The first that takes part, from the i-th on.
    size_t next(size_t i) const { return (i + every_ - 1) / every_ * every_; }

    SketchSet sketches_;
    MassRule rule_;
    bool by_category_;
    size_t every_;
    bool finished_ = false;
    std::unique_ptr<Heads> heads_;
};

}  // namespace roughly
