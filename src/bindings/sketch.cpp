#include "sketch.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <string>

#include "arrow.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

Select select_argument(std::string_view name) {
    if (name == "all") return Select::all;
    if (name == "mod") return Select::mod;
    if (name == "min") return Select::min;
    if (name == "adaptive") return Select::adaptive;
    if (name == "perm") return Select::perm;
    throw std::invalid_argument("select: unknown: '" + std::string(name) +
                                "', want all, mod, min, adaptive or perm");
}

// A column as an array that keeps the columns alive.
template <typename T, typename Column>
auto column(Column SketchColumns::* member) {
    return [member](nb::handle self) {
        auto& values = nb::cast<SketchColumns&>(self).*member;
        return Array<T>(values.data(), {values.size()}, self);
    };
}

auto hash_column(std::vector<Hash128> SketchColumns::* member) {
    return [member](nb::handle self) {
        auto& values = nb::cast<SketchColumns&>(self).*member;
        return Table<uint64_t>(reinterpret_cast<uint64_t*>(values.data()), {values.size(), 2},
                               self);
    };
}

}  // namespace

void bind_sketch(nb::module_& module) {
    using Columns = SketchColumns;
    nb::class_<Columns>(module, "SketchColumns", "Sketches of a batch, a row a document.")
        .def_prop_ro("values", column<uint64_t>(&Columns::values), "Sketches, one after the other.")
        .def_prop_ro("offsets", column<int64_t>(&Columns::offsets),
                     "Where each sketch begins; one more than rows.")
        .def_prop_ro("size", column<uint32_t>(&Columns::size), "Distinct shingles.")
        .def_prop_ro("tokens", column<uint32_t>(&Columns::tokens), "Tokens.")
        .def_prop_ro("level", column<uint8_t>(&Columns::level),
                     "Level of adaptive sketches, else 0.")
        .def_prop_ro("content", hash_column(&Columns::content),
                     "Hash of the bytes, high and low half.")
        .def_prop_ro("canonical", hash_column(&Columns::canonical),
                     "Hash of the canonical form, high and low half.")
        .def_prop_ro("sketch", hash_column(&Columns::sketch),
                     "Hash of the sketch, high and low half.");

    module.def(
        "sketch_batch",
        [](nb::handle source, size_t w, int bits, std::string_view select, uint64_t parameter,
           uint64_t seed, std::string_view content_type, size_t threads, std::string_view simd,
           const std::optional<InputArray<uint8_t>>& html, size_t words, bool hashes) {
            const SketchParameters parameters{
                w, bits, select_argument(select), parameter, seed, words, hashes};
            const ContentType type = content_type_argument(content_type);
            const Simd level = simd_argument(simd);
            const Documents documents = documents_from(source);
            nb::gil_scoped_release release;
            return sketch_batch(
                documents.views, parameters, type, threads, level,
                html ? std::span(html->data(), html->size()) : std::span<const uint8_t>());
        },
        "source"_a, "w"_a, "bits"_a, "select"_a, "parameter"_a, "seed"_a, "content_type"_a,
        "threads"_a, "simd"_a = "", "html"_a = nb::none(), "words"_a = 0, "hashes"_a = true,
        "Sketches of a list of bytes or an Arrow array of strings or binary. `html` says of every "
        "document whether it is HTML, instead of the content type; documents of fewer shingles "
        "than `words` have single words too. Without `hashes` there are none.");
    module.def(
        "sketch_features",
        [](nb::handle source, size_t w, int bits, std::string_view select, uint64_t parameter,
           uint64_t seed, std::string_view simd) {
            const SketchParameters parameters{w, bits, select_argument(select), parameter, seed};
            const Simd level = simd_argument(simd);
            const Documents features = documents_from(source);
            nb::gil_scoped_release release;
            return sketch_features(features.views, parameters, level);
        },
        "source"_a, "w"_a, "bits"_a, "select"_a, "parameter"_a, "seed"_a, "simd"_a = "",
        "The sketch of one object with these features, as one row.");
    module.def(
        "fingerprints",
        [](const nb::bytes& data, bool html, size_t w, int bits, uint64_t seed,
           std::string_view simd) {
            Tokens tokens;
            const Simd level = simd_argument(simd);
            tokenize_document(data, html, level, tokens, nullptr);
            std::vector<uint64_t> values;
            {
                nb::gil_scoped_release release;
                values = fingerprints(tokens, w, bits, seed, level);
            }
            return to_array(std::move(values));
        },
        "data"_a, "html"_a, "w"_a, "bits"_a, "seed"_a, "simd"_a = "",
        "Fingerprint of every shingle in document order, repeats kept.");
    module.def(
        "super_shingles",
        [](InputArray<uint64_t> values, size_t length, bool grouped, uint64_t seed) {
            return to_array(super_shingles({values.data(), values.size()}, length, grouped, seed));
        },
        "values"_a, "length"_a, "grouped"_a, "seed"_a,
        "Hashes of `length` consecutive values, at every position or group by group.");
}

}  // namespace roughly
