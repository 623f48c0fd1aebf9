#include "sketch.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "fingerprint_set.hpp"
#include "html.hpp"
#include "parallel.hpp"
#include "sketch_set.hpp"

namespace roughly {

namespace {

#include "minima.inl"

auto lower_minima(Simd level) {
#if defined(__x86_64__)
    if (level == Simd::avx512) return lower_minima_avx512;
    if (level == Simd::avx2) return lower_minima_avx2;
#else
    (void)level;
#endif
    return lower_each;
}

uint8_t adaptive_level(uint64_t threshold, size_t size) {
    uint8_t level = 0;
    for (uint128 bound = uint128{threshold} * 2; size >= bound; bound *= 2) ++level;
    return level;
}

// Everything one thread needs, reused from document to document.
class Worker {
   public:
    Worker(const SketchParameters& parameters, const Keys& keys, Simd level)
        : parameters_(parameters),
          keys_(keys),
          level_(level),
          shingler_(parameters.width, parameters.bits, keys, level),
          word_shingler_(1, parameters.bits, keys, level),
          set_(level),
          word_set_(level) {}

    void sketch(const DocumentView& document, bool html, SketchColumns& out) {
        const uint8_t* text = document.data;
        size_t size = document.size;
        if (html) {
            strip_html(text, size, html_text_);
            text = html_text_.bytes.data();
            size = html_text_.size;
        }
        tokenize(level_, text, size, tokens_);
        if (parameters_.hashes) {
            out.content.push_back(hash_bytes(level_, document.data, document.size));
            out.canonical.push_back(
                hash_bytes(level_, tokens_.canonical.data(), tokens_.canonical_size));
        }
        select(out);
    }

    void sketch(std::span<const DocumentView> features, SketchColumns& out) {
        size_t bytes = 0;
        for (const DocumentView& feature : features) bytes += feature.size + 2;
        if (bytes > std::numeric_limits<uint32_t>::max() - 64)
            throw std::length_error("features: too large: together they reach 4 GiB");
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
        if (parameters_.hashes) {
            const Hash128 hash = hash_features(features);
            out.content.push_back(hash);
            out.canonical.push_back(hash);
        }
        select(out);
    }

   private:
    // Of the sequence of features, or of their set where only that counts (w = 1): each with its
    // length before it.
    Hash128 hash_features(std::span<const DocumentView> features) const {
        std::vector<std::string_view> counted;
        for (const DocumentView& feature : features)
            counted.emplace_back(reinterpret_cast<const char*>(feature.data), feature.size);
        if (parameters_.width == 1) {
            std::sort(counted.begin(), counted.end());
            counted.erase(std::unique(counted.begin(), counted.end()), counted.end());
        }
        std::string joined;
        for (const std::string_view feature : counted) {
            const uint64_t size = feature.size();
            joined.append(reinterpret_cast<const char*>(&size), sizeof size).append(feature);
        }
        return hash_bytes(level_, reinterpret_cast<const uint8_t*>(joined.data()), joined.size());
    }

    void select(SketchColumns& out) {
        const bool minima = parameters_.select == Select::perm;
        if (minima) minima_.assign(parameters_.parameter, std::numeric_limits<uint64_t>::max());
        const auto lower = lower_minima(level_);
        set_.clear(shingler_.shingle_count(tokens_.count),
                   parameters_.words ? 63 : parameters_.bits);
        shingler_.fingerprints(tokens_, [&](uint64_t* fingerprints, size_t count) {
            if (parameters_.words)
                for (size_t i = 0; i < count; ++i) fingerprints[i] &= ~word_mark;
            set_.add(fingerprints, count);
            if (minima)
                lower(fingerprints, count, keys_.minima_xor.data(), keys_.minima_multiply.data(),
                      minima_.data(), minima_.size());
        });
        const size_t size = set_.size();
        const uint8_t level = parameters_.select == Select::adaptive
                                  ? adaptive_level(parameters_.parameter, size)
                                  : uint8_t{0};
        const size_t first = out.values.size();
        append_selected(size, level, out.values);
        if (size < parameters_.words) append_words(size, out.values);
        if (parameters_.hashes) {
            const auto* bytes = reinterpret_cast<const uint8_t*>(out.values.data() + first);
            out.sketch.push_back(
                hash_bytes(level_, bytes, (out.values.size() - first) * sizeof(uint64_t)));
        }
        out.offsets.push_back(static_cast<int64_t>(out.values.size()));
        out.size.push_back(static_cast<uint32_t>(size));
        out.tokens.push_back(static_cast<uint32_t>(tokens_.count));
        out.level.push_back(level);
    }

    // All words of a document that has few shingles; the more it has, the fewer words, the same
    // ones in every document of that size. Ascending, behind the shingles, for their mark is the
    // highest bit.
    void append_words(size_t shingles, Sequence<uint64_t>& out) {
        word_set_.clear(std::min(tokens_.count, 2 * parameters_.words), 63);
        word_shingler_.fingerprints(tokens_, [&](uint64_t* fingerprints, size_t count) {
            for (size_t i = 0; i < count; ++i) fingerprints[i] &= ~word_mark;
            word_set_.add(fingerprints, count);
        });
        const size_t size = std::max(shingles, word_set_.size());
        if (size >= parameters_.words) return;
        words_.clear();
        word_set_.append_multiples(1, size, words_);
        const size_t half = parameters_.words - parameters_.words / 2;
        const uint64_t bound = uint64_t{parameters_.words - size} << 32;
        uint64_t* const to = out.room(words_.size());
        size_t kept = 0;
        for (size_t i = 0; i < words_.size(); ++i) {
            const uint64_t word = words_.data()[i] | word_mark;
            if ((mixed(word) >> 32) * half < bound) to[kept++] = word;
        }
        out.keep(kept);
    }

    void append_selected(size_t size, uint8_t level, Sequence<uint64_t>& out) {
        constexpr size_t no_limit = std::numeric_limits<size_t>::max();
        switch (parameters_.select) {
            case Select::all: set_.append_multiples(1, no_limit, out); break;
            case Select::mod: set_.append_multiples(parameters_.parameter, no_limit, out); break;
            case Select::min: set_.append_multiples(1, parameters_.parameter, out); break;
            case Select::adaptive:
                set_.append_multiples(uint64_t{1} << level, no_limit, out);
                break;
            case Select::perm:
                if (size) out.append(minima_.data(), minima_.size());
        }
    }

    const SketchParameters& parameters_;
    const Keys& keys_;
    Simd level_;
    Shingler shingler_, word_shingler_;
    FingerprintSet set_, word_set_;
    Sequence<uint64_t> words_;
    HtmlText html_text_;
    Tokens tokens_;
    std::vector<uint64_t> minima_;
};

Keys keys_of(const SketchParameters& parameters) {
    return Keys(parameters.seed, parameters.select == Select::perm ? parameters.parameter : 0);
}

// How many values the sketches will have, with a word of six bytes for each shingle, as in most
// languages that are written with spaces; if these are not too many: to grow is to copy, until
// there are so many that pages are moved instead.
size_t expected_values(std::span<const DocumentView> documents,
                       const SketchParameters& parameters) {
    size_t values = 0;
    size_t largest = 0;  // for a moment there is room for all shingles of a document
    for (const DocumentView& document : documents) {
        const size_t shingles = document.size / 6 + 1;
        largest = std::max(largest, shingles);
        switch (parameters.select) {
            case Select::all: values += shingles; break;
            case Select::mod: values += shingles / parameters.parameter; break;
            case Select::min: values += std::min<uint64_t>(shingles, parameters.parameter); break;
            // From T up to twice that.
            case Select::adaptive:
                values += std::min<uint64_t>(shingles, parameters.parameter * 3 / 2);
                break;
            case Select::perm: values += parameters.parameter;
        }
    }
    return std::min(values + largest, size_t{1} << 19);
}

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

SketchColumns concatenate(std::vector<SketchColumns>& parts, size_t threads) {
    if (parts.size() == 1) return std::move(parts[0]);
    SketchColumns all;
    std::vector<size_t> starts;
    size_t values = 0;
    for (const SketchColumns& part : parts) {
        starts.push_back(values);
        values += part.values.size();
        const int64_t base = all.offsets.back();
        for (size_t i = 1; i < part.offsets.size(); ++i)
            all.offsets.push_back(base + part.offsets[i]);
        append(all.size, part.size);
        append(all.tokens, part.tokens);
        append(all.level, part.level);
        append(all.content, part.content);
        append(all.canonical, part.canonical);
        append(all.sketch, part.sketch);
    }
    // The sketches are most of it, and the pages that they go to are touched here first.
    uint64_t* const to = all.values.room(values);
    all.values.keep(values);
    in_parallel(parts.size(), threads, [&] {
        return [&](size_t i) {
            // A part goes when it is copied.
            const Sequence<uint64_t> from = std::move(parts[i].values);
            if (from.size())
                std::memcpy(to + starts[i], from.data(), from.size() * sizeof(uint64_t));
        };
    });
    return all;
}

}  // namespace

void SketchParameters::check() const {
    const auto refuse = [](const std::string& what) { throw std::invalid_argument(what); };
    if (width < 1 || width > 1000)
        refuse("w: out of range: " + std::to_string(width) + ", want 1 to 1000");
    if (bits != 64 && bits != 40)
        refuse("bits: unknown: " + std::to_string(bits) + ", want 64 or 40");
    if (select != Select::all && parameter < 1)
        refuse("select: parameter out of range: 0, want at least 1");
    if (select == Select::perm && bits != 64)
        refuse("select: perm needs 64 bits: " + std::to_string(bits) + " given");
    if (select == Select::perm && parameter > 1000000)
        refuse("select: too many permutations: " + std::to_string(parameter) +
               ", want at most 1000000");
    if (words && (bits != 64 || words > 256 ||
                  !(select == Select::all || (select == Select::adaptive && words <= parameter))))
        refuse("words: out of range: " + std::to_string(words) +
               ", want at most 256 and the T of adaptive:T, 64 bits, and all or adaptive:T");
}

SketchColumns sketch_batch(std::span<const DocumentView> documents,
                           const SketchParameters& parameters, ContentType content_type,
                           size_t threads, Simd level, std::span<const uint8_t> html) {
    if (!html.empty() && html.size() != documents.size())
        throw std::invalid_argument("html: " + std::to_string(html.size()) + " flags for " +
                                    std::to_string(documents.size()) + " documents");
    parameters.check();
    const Keys keys = keys_of(parameters);
    // One thread has nothing to put together.
    const auto pieces = threads <= 1 ? std::vector{documents} : pieces_of(documents);
    std::vector<SketchColumns> parts(std::max<size_t>(pieces.size(), 1));
    in_parallel(pieces.size(), threads, [&] {
        return [&, worker = std::make_unique<Worker>(parameters, keys, level)](size_t piece) {
            Sequence<uint64_t>& values = parts[piece].values;
            values.reserve(expected_values(pieces[piece], parameters));
            for (const DocumentView& document : pieces[piece]) {
                const bool is = html.empty()
                                    ? is_html(document, content_type)
                                    : html[static_cast<size_t>(&document - documents.data())];
                worker->sketch(document, is, parts[piece]);
            }
            values.shrink();
        };
    });
    return concatenate(parts, threads);
}

SketchColumns sketch_features(std::span<const DocumentView> features,
                              const SketchParameters& parameters, Simd level) {
    parameters.check();
    const Keys keys = keys_of(parameters);
    SketchColumns out;
    Worker(parameters, keys, level).sketch(features, out);
    return out;
}

std::vector<uint64_t> fingerprints(const Tokens& tokens, size_t width, int bits, uint64_t seed,
                                   Simd level) {
    SketchParameters{.width = width, .bits = bits, .select = Select::all, .seed = seed}.check();
    Shingler shingler(width, bits, Keys(seed), level);
    std::vector<uint64_t> all;
    all.reserve(shingler.shingle_count(tokens.count));
    shingler.fingerprints(tokens, [&](const uint64_t* values, size_t count) {
        all.insert(all.end(), values, values + count);
    });
    return all;
}

std::vector<uint64_t> super_shingles(std::span<const uint64_t> values, size_t length, bool grouped,
                                     uint64_t seed) {
    if (length < 1) throw std::invalid_argument("length: out of range: 0, want at least 1");
    const Keys keys(seed);
    std::vector<uint64_t> result;
    const auto hash = [&](size_t begin, size_t end) {
        uint64_t sum = 1;
        for (size_t i = begin; i < end; ++i) {
            sum = field_reduce(static_cast<uint128>(sum) * keys.super_shingle +
                               (values[i] & 0xFFFFFFFFu));
            sum = field_reduce(static_cast<uint128>(sum) * keys.super_shingle + (values[i] >> 32));
        }
        result.push_back(permute<64>(sum, keys.permutation));
    };
    if (!grouped && !values.empty() && values.size() < length) hash(0, values.size());
    for (size_t i = 0; i + length <= values.size(); i += grouped ? length : 1) hash(i, i + length);
    return result;
}

}  // namespace roughly
