#include "simd.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <string>

#include "bindings.hpp"

namespace nb = nanobind;

namespace roughly {

Simd simd_argument(std::string_view name) {
    if (!name.empty()) return simd_from_name(name);
    const char* wanted = std::getenv("ROUGHLY_SIMD");
    return wanted && *wanted ? simd_from_name(wanted) : simd_levels().back();
}

void bind_simd(nb::module_& module) {
    module.def(
        "simd_levels",
        [] {
            std::vector<std::string> names;
            for (Simd level : simd_levels()) names.emplace_back(simd_name(level));
            return names;
        },
        "Instruction sets usable on this machine, ascending; all give the same bytes.");
    module.def(
        "simd_level", [] { return std::string(simd_name(simd_argument(""))); },
        "The instruction set in use: ROUGHLY_SIMD of the environment, or the best.");
}

}  // namespace roughly
