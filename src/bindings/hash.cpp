#include "hash.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstdio>
#include <string>
#include <vector>

#include "array.hpp"
#include "arrow.hpp"
#include "batch.hpp"
#include "bindings.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

void bind_hash(nb::module_& module) {
    module.def(
        "content_hash",
        [](const nb::bytes& data, std::string_view simd) {
            const Simd level = simd_argument(simd);
            Hash128 hash;
            {
                nb::gil_scoped_release release;
                hash = hash_bytes(level, bytes_of(data), data.size());
            }
            char text[33];
            std::snprintf(text, sizeof text, "%016llx%016llx",
                          static_cast<unsigned long long>(hash.high),
                          static_cast<unsigned long long>(hash.low));
            return std::string(text);
        },
        "data"_a, "simd"_a = "", "The equivalence hash of a byte string, 32 hexadecimal digits.");
    module.def(
        "content_hashes",
        [](nb::handle source, size_t threads) {
            const Documents documents = documents_from(source);
            const Simd level = simd_argument("");
            std::vector<Hash128> hashes(documents.views.size());
            {
                nb::gil_scoped_release release;
                const auto pieces = pieces_of(documents.views);
                in_parallel(pieces.size(), threads, [&] {
                    return [&](size_t piece) {
                        const auto first =
                            static_cast<size_t>(pieces[piece].data() - documents.views.data());
                        for (size_t i = 0; i < pieces[piece].size(); ++i) {
                            const DocumentView& document = pieces[piece][i];
                            hashes[first + i] = hash_bytes(level, document.data, document.size);
                        }
                    };
                });
            }
            return to_table<uint64_t, 2>(std::move(hashes));
        },
        "source"_a, "threads"_a,
        "The equivalence hashes of a batch of documents, as they are: their two halves.");
}

}  // namespace roughly
