#include "hash.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstdio>
#include <string>

#include "bindings.hpp"

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
}

}  // namespace roughly
