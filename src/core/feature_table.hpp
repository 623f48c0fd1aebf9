// A table from features (their 64-bit hashes) to 32-bit numbers: how many documents have each, or
// what each weighs. Open addressing; features are hashes already, so their leading bits are the
// place. One writer; when it is written, any thread may ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace roughly {

class FeatureTable {
   public:
    // Room for `expected` features before it must grow.
    explicit FeatureTable(size_t expected = 0);

    size_t size() const { return size_ + has_zero_; }

    // The number of a feature, made 0 if it has none yet.
    uint32_t& operator[](uint64_t feature);

    // The number of a feature, or `otherwise`.
    uint32_t find(uint64_t feature, uint32_t otherwise) const {
        if (feature == 0) return has_zero_ ? zero_ : otherwise;
        for (size_t at = place(feature);; at = (at + 1) & mask_) {
            if (slots_[at].feature == feature) return slots_[at].number;
            if (slots_[at].feature == 0) return otherwise;
        }
    }

    // Begins to bring the place of a feature into the cache.
    void fetch(uint64_t feature) const { __builtin_prefetch(&slots_[place(feature)]); }

    // All features with their numbers, in the order of the features.
    std::vector<std::pair<uint64_t, uint32_t>> sorted() const;

   private:
    struct Slot {
        uint64_t feature;  // 0: nothing is here
        uint32_t number;
    };

    size_t place(uint64_t feature) const { return feature >> shift_; }
    void allocate(int log_slots);
    void grow();

    std::vector<Slot> slots_;
    size_t mask_ = 0;
    int shift_ = 0;
    size_t size_ = 0;  // in the slots
    bool has_zero_ = false;
    uint32_t zero_ = 0;
};

}  // namespace roughly
