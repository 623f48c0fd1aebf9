// Every step from a document to its shingles for a whole batch of documents, on several threads:
// the result depends on the documents alone. `sketch.hpp` has the last step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "key.hpp"
#include "simd.hpp"

namespace roughly {

struct DocumentView {
    const uint8_t* data;
    size_t size;
};

enum class ContentType { automatic, html, text };

// Whether a document of that content type is HTML.
bool is_html(const DocumentView& document, ContentType content_type);

// A list a document, one after the other.
template <typename T>
struct Lists {
    std::vector<T> values;
    std::vector<int64_t> offsets{0};  // where each list begins; one more than documents
};

// Consecutive documents of about 256 kB: what a thread takes at a time.
std::vector<std::span<const DocumentView>> pieces_of(std::span<const DocumentView> documents);

// The texts of HTML documents.
Lists<uint8_t> html_batch(std::span<const DocumentView> documents, size_t threads);

// The canonical forms.
Lists<uint8_t> token_batch(std::span<const DocumentView> documents, ContentType content_type,
                           size_t threads, Simd level);

// The fingerprints in document order, repeats kept.
Lists<uint64_t> shingle_batch(std::span<const DocumentView> documents, ContentType content_type,
                              size_t width, int bits, const Keys& keys, size_t threads, Simd level);

}  // namespace roughly
