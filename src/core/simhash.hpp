// From a document to its simhash (docs/simhash.md): Charikar's, as in section 2 of the 2007 paper.
// A feature is a run of terms, its hash the fingerprint of that shingle; bit i of the simhash is
// set when the features whose hash has bit i set have more than half of the weight. Weighing a
// feature by its count needs no table of terms: every occurrence is simply counted.
// The result depends on the documents and parameters alone, not on threads or instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "batch.hpp"
#include "feature_table.hpp"
#include "simd.hpp"
#include "term.hpp"

namespace roughly {

struct SimhashParameters {
    size_t first_width = 1;  // terms in a feature: runs of every width from here
    size_t last_width = 1;   // to here
    bool once = false;       // a feature weighs 1 however often it occurs, else its count
    bool stem = false;
    uint64_t seed = 0;
    const StopWords* stop_words = nullptr;
    const FeatureTable* weights = nullptr;  // of one occurrence each; not together with `once`
    uint32_t other_weight = 0;              // of features that are not in the table

    // Throws std::invalid_argument naming the parameter, the value seen and the value wanted.
    void check() const;
};

// One row a document. A document without features (or without weight) has no simhash: its row says
// 0 features, and its value means nothing.
struct SimhashColumns {
    std::vector<uint64_t> simhash;
    std::vector<uint32_t> features;  // occurrences, or different ones if each counts once
    std::vector<uint32_t> tokens;    // of the whole document, stop words included
};

// `html` says of every document whether it is HTML; if it is empty, the content type decides.
SimhashColumns simhash_batch(std::span<const DocumentView> documents,
                             const SimhashParameters& parameters, ContentType content_type,
                             size_t threads, Simd level, std::span<const uint8_t> html = {});

// Of features that the caller has weighed, arbitrary bytes: row i has those from offsets[i] to
// offsets[i + 1]. Weights are multiples of 2^-32 below 2^31; others are rounded. Throws
// std::invalid_argument for a weight or an offset out of range.
SimhashColumns simhash_pairs(std::span<const DocumentView> features,
                             std::span<const double> weights, std::span<const int64_t> offsets,
                             uint64_t seed, size_t threads, Simd level);

// Counts how many documents have each feature. Any thread may call it.
class FrequencyCounter {
   public:
    void add(std::span<const DocumentView> documents, const SimhashParameters& parameters,
             ContentType content_type, size_t threads, Simd level,
             std::span<const uint8_t> html = {});

    uint64_t documents() const;

    // All features with their counts, in the order of the features.
    std::vector<std::pair<uint64_t, uint32_t>> counts() const;

    // The table itself, to be used when nothing is added any more.
    const FeatureTable& table() const { return table_; }

   private:
    mutable std::mutex mutex_;
    FeatureTable table_;
    uint64_t documents_ = 0;
};

}  // namespace roughly
