// From a document to its sketch (docs/algorithm.md, section 4), one document or a batch of them.
// The result depends on the documents and parameters alone, not on threads or instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "batch.hpp"
#include "hash.hpp"
#include "key.hpp"
#include "shingle.hpp"
#include "simd.hpp"
#include "token.hpp"

namespace roughly {

enum class Select { all, mod, min, adaptive, perm };

struct SketchParameters {
    size_t width = 5;
    int bits = 64;  // 64 or 40
    Select select = Select::adaptive;
    uint64_t parameter = 200;  // M, K or T of the selection; unused by `all`
    uint64_t seed = 0;
    size_t words = 0;    // documents of fewer distinct shingles have words too; 0: none have
    bool hashes = true;  // whether documents and sketches are hashed too

    // Throws std::invalid_argument naming the parameter, the value seen and the value wanted.
    void check() const;
};

// One row a document.
struct SketchColumns {
    SketchColumns() = default;
    SketchColumns(SketchColumns&&) = default;  // moved, never copied

    Sequence<uint64_t> values;        // sketches, one after the other
    std::vector<int64_t> offsets{0};  // where each begins in `values`; one more than rows
    std::vector<uint32_t> size;       // distinct shingles
    std::vector<uint32_t> tokens;
    std::vector<uint8_t> level;  // of `adaptive`; else 0
    // Hashes, if these are asked for.
    std::vector<Hash128> content;    // of the document's bytes
    std::vector<Hash128> canonical;  // of its canonical form
    std::vector<Hash128> sketch;     // of its sketch, as bytes
};

// `html` says of every document whether it is HTML; if it is empty, the content type decides.
SketchColumns sketch_batch(std::span<const DocumentView> documents,
                           const SketchParameters& parameters, ContentType content_type,
                           size_t threads, Simd level, std::span<const uint8_t> html = {});

// One row; `tokens` counts the features. Features are arbitrary bytes.
SketchColumns sketch_features(std::span<const DocumentView> features,
                              const SketchParameters& parameters, Simd level);

// In document order, repeats kept.
std::vector<uint64_t> fingerprints(const Tokens& tokens, size_t width, int bits, uint64_t seed,
                                   Simd level);

// Hashes of `length` >= 1 consecutive values: at every position, or at multiples of `length` only.
std::vector<uint64_t> super_shingles(std::span<const uint64_t> values, size_t length, bool grouped,
                                     uint64_t seed);

// The kernels of perm:K: minima[j] = min(minima[j], (f ^ mask[j]) * multiplier[j]) over all f.
void lower_minima_avx2(const uint64_t* fingerprints, size_t count, const uint64_t* mask,
                       const uint64_t* multiplier, uint64_t* minima, size_t minima_count);
void lower_minima_avx512(const uint64_t* fingerprints, size_t count, const uint64_t* mask,
                         const uint64_t* multiplier, uint64_t* minima, size_t minima_count);

}  // namespace roughly
