// Distinct numbers: roughly._core.distinct.
#include "distinct.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "array.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

void bind_distinct(nb::module_& module) {
    module.def(
        "distinct",
        [](InputArray<uint64_t> numbers, unsigned bits) {
            if (bits < 1 || bits > 64)
                throw std::invalid_argument("bits: out of range: want 1 to 64");
            const std::span<const uint64_t> all(numbers.data(), numbers.size());
            DistinctNumbers found;
            bool fits = all.size() <= std::numeric_limits<uint32_t>::max();
            {
                nb::gil_scoped_release release;
                if (bits < 64)
                    fits = fits && std::none_of(all.begin(), all.end(),
                                                [&](uint64_t number) { return number >> bits; });
                if (fits) found = distinct(all, bits);
            }
            if (!fits) throw std::invalid_argument("numbers: too many, or more bits than said");
            return std::make_tuple(to_array(std::move(found.numbers)),
                                   to_array(std::move(found.counts)),
                                   to_array(std::move(found.places)));
        },
        "numbers"_a, "bits"_a,
        "The distinct numbers, ascending, how often each is there, and the place of every number "
        "among them.");
}

}  // namespace roughly
