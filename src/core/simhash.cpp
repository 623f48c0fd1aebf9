#include "simhash.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "bit_count.hpp"
#include "buffer.hpp"
#include "fingerprint_set.hpp"
#include "html.hpp"
#include "parallel.hpp"
#include "shingle.hpp"
#include "weighted_bit.hpp"

namespace roughly {

namespace {

struct Row {
    uint64_t simhash;
    uint32_t features;
    uint32_t tokens;
};

constexpr size_t fetched_ahead = 16;
constexpr size_t no_limit = std::numeric_limits<size_t>::max();

// Everything one thread needs, reused from document to document.
class Worker {
   public:
    Worker(const SimhashParameters& parameters, const Keys& keys, Simd level)
        : parameters_(parameters),
          level_(level),
          terms_(keys, parameters.stop_words, parameters.stem),
          set_(level),
          counter_(level),
          weighted_(level) {
        for (size_t width = parameters.first_width; width <= parameters.last_width; ++width)
            shinglers_.emplace_back(width, 64, keys, level);
    }

    Row simhash(const DocumentView& document, bool html) {
        const auto tokens = static_cast<uint32_t>(take(document, html));
        if (parameters_.weights) return weighed(tokens);
        counter_.clear();
        if (parameters_.once) {
            Sequence<uint64_t> distinct;
            append_distinct(distinct);
            counter_.add(distinct.data(), distinct.size());
        } else {
            each_feature(
                [&](const uint64_t* values, size_t count) { counter_.add(values, count); });
        }
        return {counter_.majority(), static_cast<uint32_t>(counter_.count()), tokens};
    }

    // The different features of a document.
    void distinct(const DocumentView& document, bool html, Sequence<uint64_t>& out) {
        take(document, html);
        append_distinct(out);
    }

   private:
    // Makes the document's terms; returns how many tokens it had.
    size_t take(const DocumentView& document, bool html) {
        const uint8_t* text = document.data;
        size_t size = document.size;
        if (html) {
            strip_html(text, size, html_text_);
            text = html_text_.bytes.data();
            size = html_text_.size;
        }
        tokenize(level_, text, size, tokens_);
        term_count_ = tokens_.count;
        if (terms_.changes()) {
            hashes_.reserve(tokens_.count);
            shinglers_[0].hash_tokens(tokens_, 0, tokens_.count, hashes_.data());
            term_count_ = terms_.map(tokens_, hashes_.data());
        }
        return tokens_.count;
    }

    template <typename Take>
    void each_feature(Take&& take_chunk) {
        size_t width = parameters_.first_width;
        for (Shingler& shingler : shinglers_) {
            // All terms of a short document are its only run of the first width.
            if (width > parameters_.first_width && term_count_ < width) break;
            if (terms_.changes())
                shingler.fingerprints(hashes_.data(), term_count_, take_chunk);
            else
                shingler.fingerprints(tokens_, take_chunk);
            ++width;
        }
    }

    void append_distinct(Sequence<uint64_t>& out) {
        set_.clear(term_count_ * shinglers_.size(), 64);
        each_feature([&](const uint64_t* values, size_t count) { set_.add(values, count); });
        set_.size();
        set_.append_multiples(1, no_limit, out);
    }

    Row weighed(uint32_t tokens) {
        weighted_.clear();
        uint32_t features = 0;
        each_feature([&](const uint64_t* values, size_t count) {
            weights_.reserve(count);
            for (size_t i = 0; i < count; ++i) {
                // A large table is nowhere near: what comes soon is fetched while others are found.
                if (i + fetched_ahead < count)
                    parameters_.weights->fetch(values[i + fetched_ahead]);
                weights_[i] = parameters_.weights->find(values[i], parameters_.other_weight);
            }
            weighted_.add(values, weights_.data(), count);
            features += static_cast<uint32_t>(count);
        });
        return {weighted_.majority(), weighted_.total() ? features : 0, tokens};
    }

    const SimhashParameters& parameters_;
    Simd level_;
    std::vector<Shingler> shinglers_;
    TermMap terms_;
    FingerprintSet set_;
    BitCounter counter_;
    WeightedBits weighted_;
    HtmlText html_text_;
    Tokens tokens_;
    size_t term_count_ = 0;
    Buffer<uint64_t> hashes_;  // of the terms, where these are not the tokens
    Buffer<uint32_t> weights_;
};

void check_html(std::span<const DocumentView> documents, std::span<const uint8_t> html) {
    if (!html.empty() && html.size() != documents.size())
        throw std::invalid_argument("html: " + std::to_string(html.size()) + " flags for " +
                                    std::to_string(documents.size()) + " documents");
}

// use(worker, document, html, index) for every document.
template <typename Use>
void for_each_document(std::span<const DocumentView> documents, const SimhashParameters& parameters,
                       ContentType content_type, size_t threads, Simd level,
                       std::span<const uint8_t> html, Use&& use) {
    check_html(documents, html);
    parameters.check();
    const Keys keys(parameters.seed);
    const auto pieces = pieces_of(documents);
    in_parallel(pieces.size(), threads, [&] {
        return [&, worker = std::make_unique<Worker>(parameters, keys, level)](size_t piece) {
            for (const DocumentView& document : pieces[piece]) {
                const auto index = static_cast<size_t>(&document - documents.data());
                const bool is = html.empty() ? is_html(document, content_type) : html[index] != 0;
                use(*worker, document, is, index);
            }
        };
    });
}

// A weight as a number of 2^-32.
int64_t fixed(double weight) {
    const double scaled = std::nearbyint(std::ldexp(weight, 32));
    if (!(std::fabs(scaled) < 0x1p63))
        throw std::invalid_argument("weight: out of range: " + std::to_string(weight) +
                                    ", want a number between -2^31 and 2^31");
    return static_cast<int64_t>(scaled);
}

__extension__ using int128 = __int128;

// The features of one row, given in the place of tokens (docs/algorithm.md, section 5).
class PairWorker {
   public:
    PairWorker(const Keys& keys, Simd level) : shingler_(1, 64, keys, level) {}

    Row simhash(std::span<const DocumentView> features, std::span<const double> weights) {
        size_t bytes = 0;
        for (const DocumentView& feature : features) bytes += feature.size + 2;
        if (bytes > std::numeric_limits<uint32_t>::max() - 64)
            throw std::length_error("features: too large: those of one document reach 4 GiB");
        tokens_.canonical.reserve(bytes);
        tokens_.ends.reserve(features.size());
        size_t at = 0;
        for (size_t i = 0; i < features.size(); ++i) {
            std::copy_n(features[i].data, features[i].size, tokens_.canonical.data() + at);
            at += features[i].size;
            tokens_.canonical[at++] = 1;  // a terminator, so that trailing zeros count
            tokens_.ends[i] = static_cast<uint32_t>(at);
            tokens_.canonical[at++] = ' ';
        }
        tokens_.canonical_size = at;
        tokens_.count = features.size();
        int128 sums[64] = {};
        int128 total = 0;
        uint32_t counted = 0;
        size_t next = 0;
        shingler_.fingerprints(tokens_, [&](const uint64_t* values, size_t count) {
            for (size_t i = 0; i < count; ++i) {
                const int64_t weight = fixed(weights[next++]);
                counted += weight != 0;
                total += weight;
                for (int bit = 0; bit < 64; ++bit)
                    if (values[i] >> bit & 1) sums[bit] += weight;
            }
        });
        uint64_t simhash = 0;
        for (int bit = 0; bit < 64; ++bit) simhash |= uint64_t{2 * sums[bit] > total} << bit;
        return {simhash, counted, static_cast<uint32_t>(features.size())};
    }

   private:
    Shingler shingler_;
    Tokens tokens_;
};

void set_row(SimhashColumns& out, size_t index, const Row& row) {
    out.simhash[index] = row.features ? row.simhash : 0;
    out.features[index] = row.features;
    out.tokens[index] = row.tokens;
}

SimhashColumns room_for(size_t rows) {
    SimhashColumns out;
    out.simhash.resize(rows);
    out.features.resize(rows);
    out.tokens.resize(rows);
    return out;
}

}  // namespace

void SimhashParameters::check() const {
    if (first_width < 1 || last_width < first_width || last_width > 1000)
        throw std::invalid_argument("width: out of range: " + std::to_string(first_width) + " to " +
                                    std::to_string(last_width) + ", want 1 to 1000, ascending");
    if (weights && once)
        throw std::invalid_argument("weights: not together with once: want one of the two");
}

SimhashColumns simhash_batch(std::span<const DocumentView> documents,
                             const SimhashParameters& parameters, ContentType content_type,
                             size_t threads, Simd level, std::span<const uint8_t> html) {
    SimhashColumns out = room_for(documents.size());
    for_each_document(documents, parameters, content_type, threads, level, html,
                      [&](Worker& worker, const DocumentView& document, bool is, size_t index) {
                          set_row(out, index, worker.simhash(document, is));
                      });
    return out;
}

SimhashColumns simhash_pairs(std::span<const DocumentView> features,
                             std::span<const double> weights, std::span<const int64_t> offsets,
                             uint64_t seed, size_t threads, Simd level) {
    const auto count = static_cast<int64_t>(features.size());
    const bool ascending = std::is_sorted(offsets.begin(), offsets.end());
    if (offsets.empty() || !ascending || offsets.front() < 0 || offsets.back() > count)
        throw std::invalid_argument("offsets: not ascending within the " + std::to_string(count) +
                                    " features");
    if (weights.size() != features.size())
        throw std::invalid_argument("weights: " + std::to_string(weights.size()) + " for " +
                                    std::to_string(count) + " features");
    const Keys keys(seed);
    const size_t rows = offsets.size() - 1;
    SimhashColumns out = room_for(rows);
    constexpr size_t rows_at_once = 64;
    in_parallel((rows + rows_at_once - 1) / rows_at_once, threads, [&] {
        return [&, worker = std::make_unique<PairWorker>(keys, level)](size_t piece) {
            const size_t last = std::min(rows, (piece + 1) * rows_at_once);
            for (size_t row = piece * rows_at_once; row < last; ++row) {
                const auto first = static_cast<size_t>(offsets[row]);
                const auto size = static_cast<size_t>(offsets[row + 1]) - first;
                set_row(
                    out, row,
                    worker->simhash(features.subspan(first, size), weights.subspan(first, size)));
            }
        };
    });
    return out;
}

void FrequencyCounter::add(std::span<const DocumentView> documents,
                           const SimhashParameters& parameters, ContentType content_type,
                           size_t threads, Simd level, std::span<const uint8_t> html) {
    std::mutex mutex;
    for_each_document(documents, parameters, content_type, threads, level, html,
                      [&](Worker& worker, const DocumentView& document, bool is, size_t) {
                          Sequence<uint64_t> distinct;
                          worker.distinct(document, is, distinct);
                          const std::lock_guard lock(mutex);
                          for (size_t i = 0; i < distinct.size(); ++i) ++table_[distinct.data()[i]];
                          ++documents_;
                      });
}

uint64_t FrequencyCounter::documents() const {
    const std::lock_guard lock(mutex_);
    return documents_;
}

std::vector<std::pair<uint64_t, uint32_t>> FrequencyCounter::counts() const {
    const std::lock_guard lock(mutex_);
    return table_.sorted();
}

}  // namespace roughly
