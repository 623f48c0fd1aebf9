#include "batch.hpp"

#include <memory>

#include "html.hpp"
#include "parallel.hpp"
#include "shingle.hpp"
#include "token.hpp"

namespace roughly {

namespace {

constexpr size_t piece_bytes = size_t{1} << 18;

// What one thread needs for any of the steps, reused from document to document.
struct Scratch {
    HtmlText html;
    Tokens tokens;

    const Tokens& tokenized(DocumentView document, ContentType content_type, Simd level) {
        if (is_html(document, content_type)) {
            strip_html(document.data, document.size, html);
            document = {html.bytes.data(), html.size};
        }
        tokenize(level, document.data, document.size, tokens);
        return tokens;
    }
};

// make_worker() gives a function that appends a document's list to a vector.
template <typename T, typename MakeWorker>
Lists<T> lists_of(std::span<const DocumentView> documents, size_t threads,
                  MakeWorker&& make_worker) {
    const auto pieces = pieces_of(documents);
    std::vector<Lists<T>> parts(pieces.size());
    in_parallel(pieces.size(), threads, [&] {
        return [&, worker = make_worker()](size_t piece) mutable {
            for (const DocumentView& document : pieces[piece]) {
                worker(document, parts[piece].values);
                parts[piece].offsets.push_back(static_cast<int64_t>(parts[piece].values.size()));
            }
        };
    });
    Lists<T> all;
    size_t values = 0;
    for (const Lists<T>& part : parts) values += part.values.size();
    all.values.reserve(values);
    all.offsets.reserve(documents.size() + 1);
    for (const Lists<T>& part : parts) {
        const int64_t base = all.offsets.back();
        for (size_t i = 1; i < part.offsets.size(); ++i)
            all.offsets.push_back(base + part.offsets[i]);
        all.values.insert(all.values.end(), part.values.begin(), part.values.end());
    }
    return all;
}

}  // namespace

bool is_html(const DocumentView& document, ContentType content_type) {
    return content_type == ContentType::html ||
           (content_type == ContentType::automatic && sniff_html(document.data, document.size));
}

std::vector<std::span<const DocumentView>> pieces_of(std::span<const DocumentView> documents) {
    std::vector<std::span<const DocumentView>> pieces;
    size_t first = 0;
    size_t bytes = 0;
    for (size_t i = 0; i < documents.size(); ++i) {
        bytes += documents[i].size + 64;
        if (bytes < piece_bytes && i + 1 < documents.size()) continue;
        pieces.push_back(documents.subspan(first, i + 1 - first));
        first = i + 1;
        bytes = 0;
    }
    return pieces;
}

Lists<uint8_t> html_batch(std::span<const DocumentView> documents, size_t threads) {
    return lists_of<uint8_t>(documents, threads, [] {
        return [text = std::make_unique<HtmlText>()](const DocumentView& document,
                                                     std::vector<uint8_t>& out) {
            strip_html(document.data, document.size, *text);
            out.insert(out.end(), text->bytes.data(), text->bytes.data() + text->size);
        };
    });
}

Lists<uint8_t> token_batch(std::span<const DocumentView> documents, ContentType content_type,
                           size_t threads, Simd level) {
    return lists_of<uint8_t>(documents, threads, [&] {
        return [&, scratch = std::make_unique<Scratch>()](const DocumentView& document,
                                                          std::vector<uint8_t>& out) {
            const Tokens& tokens = scratch->tokenized(document, content_type, level);
            const uint8_t* const canonical = tokens.canonical.data();
            out.insert(out.end(), canonical, canonical + tokens.canonical_size);
        };
    });
}

Lists<uint64_t> shingle_batch(std::span<const DocumentView> documents, ContentType content_type,
                              size_t width, int bits, const Keys& keys, size_t threads,
                              Simd level) {
    return lists_of<uint64_t>(documents, threads, [&] {
        return [&, scratch = std::make_unique<Scratch>(),
                shingler = std::make_unique<Shingler>(width, bits, keys, level)](
                   const DocumentView& document, std::vector<uint64_t>& out) {
            const Tokens& tokens = scratch->tokenized(document, content_type, level);
            shingler->fingerprints(tokens, [&](const uint64_t* values, size_t count) {
                out.insert(out.end(), values, values + count);
            });
        };
    });
}

}  // namespace roughly
