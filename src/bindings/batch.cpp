#include "batch.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <string>
#include <tuple>

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
        [](nb::handle source, std::string_view content_type, size_t threads,
           std::string_view simd) {
            const ContentType type = content_type_argument(content_type);
            const Simd level = simd_argument(simd);
            const Documents documents = documents_from(source);
            Lists<uint8_t> lists;
            {
                nb::gil_scoped_release release;
                lists = token_batch(documents.views, type, threads, level);
            }
            return to_arrays(std::move(lists));
        },
        "source"_a, "content_type"_a, "threads"_a, "simd"_a = "",
        "The canonical forms of a batch of documents: bytes and offsets.");
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
