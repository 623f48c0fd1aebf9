#include "jsonl.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

template <typename T>
Array<T> view(std::vector<T>& values, nb::handle owner) {
    return Array<T>(values.data(), {values.size()}, owner);
}

}  // namespace

void bind_jsonl(nb::module_& module) {
    nb::class_<JsonlColumns>(module, "JsonlColumns",
                             "Fields of JSON Lines, a row a line that is not blank.")
        .def_prop_ro(
            "line_begin",
            [](nb::handle self) { return view(nb::cast<JsonlColumns&>(self).line_begin, self); },
            "First byte of each line.")
        .def_prop_ro(
            "line_end",
            [](nb::handle self) { return view(nb::cast<JsonlColumns&>(self).line_end, self); },
            "One past its last byte, without the newline.")
        .def_prop_ro(
            "error",
            [](nb::handle self) { return view(nb::cast<JsonlColumns&>(self).error, self); },
            "1 where the line is no JSON object, else 0.")
        .def(
            "column",
            [](nb::handle self, size_t field) {
                auto& columns = nb::cast<JsonlColumns&>(self).columns;
                if (field >= columns.size()) throw nb::index_error("column: no such field");
                JsonColumn& column = columns[field];
                return std::tuple(view(column.offsets, self),
                                  Array<uint8_t>(column.data.data(), {column.size}, self),
                                  view(column.kind, self));
            },
            "field"_a,
            "Offsets, data and kind (0 missing, 1 string, 2 null, 3 number or boolean, 4 nested) "
            "of a field.");
    module.def(
        "jsonl_columns",
        [](const nb::bytes& data, const std::vector<std::string>& fields,
           const std::optional<size_t>& size, const std::string& simd) {
            const std::vector<std::string_view> names(fields.begin(), fields.end());
            const size_t read = size ? std::min(*size, data.size()) : data.size();
            const Simd level = simd_argument(simd);
            nb::gil_scoped_release release;
            return read_jsonl({data.c_str(), read}, names, level);
        },
        "data"_a, "fields"_a, "size"_a = nb::none(), "simd"_a = "",
        "The named fields of the JSON objects in `data`, or in its first `size` bytes, one a "
        "line.");
}

}  // namespace roughly
