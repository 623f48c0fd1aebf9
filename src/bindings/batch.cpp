#include "batch.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "array.hpp"
#include "arrow.hpp"
#include "bindings.hpp"
#include "sketch.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

ContentType content_type_argument(std::string_view name) {
    if (name == "auto") return ContentType::automatic;
    if (name == "html") return ContentType::html;
    if (name == "text") return ContentType::text;
    throw std::invalid_argument("content_type: unknown: '" + std::string(name) +
                                "', want auto, html or text");
}

namespace {

template <typename T>
auto to_arrays(Lists<T>&& lists) {
    return std::tuple(to_array(std::move(lists.values)), to_array(std::move(lists.offsets)));
}

std::vector<DocumentView> taken(std::span<const DocumentView> documents,
                                const InputArray<int64_t>& rows) {
    std::vector<DocumentView> some;
    some.reserve(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
        if (static_cast<uint64_t>(rows(i)) >= documents.size())
            throw nb::index_error(("rows: no such document: " + std::to_string(rows(i)) +
                                   ", want less than " + std::to_string(documents.size()))
                                      .c_str());
        some.push_back(documents[static_cast<size_t>(rows(i))]);
    }
    return some;
}

}  // namespace

void bind_batch(nb::module_& module) {
    module.def(
        "html_batch",
        [](nb::handle source, size_t threads) {
            const Documents documents = documents_from(source);
            Lists<uint8_t> lists;
            {
                nb::gil_scoped_release release;
                lists = html_batch(documents.views, threads);
            }
            return to_arrays(std::move(lists));
        },
        "source"_a, "threads"_a, "The texts of a batch of HTML documents: bytes and offsets.");
    module.def(
        "token_batch",
        [](nb::handle source, std::string_view content_type, size_t threads, std::string_view simd,
           const std::optional<InputArray<int64_t>>& rows) {
            const ContentType type = content_type_argument(content_type);
            const Simd level = simd_argument(simd);
            Documents documents = documents_from(source);
            if (rows) documents.views = taken(documents.views, *rows);
            Lists<uint8_t> lists;
            {
                nb::gil_scoped_release release;
                lists = token_batch(documents.views, type, threads, level);
            }
            return to_arrays(std::move(lists));
        },
        "source"_a, "content_type"_a, "threads"_a, "simd"_a = "", "rows"_a = nb::none(),
        "The canonical forms of a batch of documents, or of these rows of it: bytes and offsets.");
    module.def(
        "shingle_batch",
        [](nb::handle source, size_t w, int bits, uint64_t seed, std::string_view content_type,
           size_t threads, std::string_view simd) {
            SketchParameters{.width = w, .bits = bits, .select = Select::all, .seed = seed}.check();
            const ContentType type = content_type_argument(content_type);
            const Simd level = simd_argument(simd);
            const Documents documents = documents_from(source);
            Lists<uint64_t> lists;
            {
                nb::gil_scoped_release release;
                lists = shingle_batch(documents.views, type, w, bits, Keys(seed), threads, level);
            }
            return to_arrays(std::move(lists));
        },
        "source"_a, "w"_a, "bits"_a, "seed"_a, "content_type"_a, "threads"_a, "simd"_a = "",
        "The fingerprints of a batch of documents, in document order: values and offsets.");
}

}  // namespace roughly
