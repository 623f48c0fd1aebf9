#include "index_probe.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <bit>

#include "array.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

using Fraction = std::pair<uint64_t, uint64_t>;
using Files = std::tuple<InputArray<uint64_t>, InputArray<uint64_t>, InputArray<uint32_t>,
                         InputArray<uint32_t>, InputArray<uint32_t>>;

template <typename T>
std::span<const T> view(const InputArray<T>& array) {
    return {array.data(), array.size()};
}

auto probe(Files files, std::pair<int, int> shape, Fraction floor, uint64_t smallest,
           InputArray<uint64_t> values, InputArray<int64_t> offsets, InputArray<uint32_t> size,
           InputArray<uint8_t> level, InputArray<uint32_t> own, InputArray<uint32_t> group_of,
           uint64_t most_rows, size_t threads) {
    const auto& [directory, entries, lists, rows, copies] = files;
    const auto [bucket_bits, value_bits] = shape;
    const size_t count = size.size();
    constexpr size_t words = sizeof(RowRecord) / sizeof(uint32_t);
    bool right = bucket_bits > 0 && bucket_bits < 41 && value_bits > 0 && value_bits < 63 &&
                 directory.size() == (size_t{1} << bucket_bits) + 1 && rows.size() % words == 0 &&
                 group_of.size() == rows.size() / words && floor.first > 0 &&
                 floor.first <= floor.second && !(floor.second >> 32);
    right = right && offsets.size() == count + 1 && level.size() == count && own.size() == count &&
            offsets.data()[0] >= 0 && static_cast<size_t>(offsets.data()[count]) <= values.size();
    for (size_t i = 0; right && i < count; ++i)
        right = offsets.data()[i] <= offsets.data()[i + 1] && level.data()[i] < 64;
    if (!right) throw std::invalid_argument("index: columns that do not belong together");
    const MappedIndex index{{bucket_bits, value_bits},
                            view(directory),
                            view(entries),
                            view(lists),
                            {reinterpret_cast<const RowRecord*>(rows.data()), rows.size() / words},
                            view(copies)};
    std::vector<Query> queries(count);
    for (size_t i = 0; i < count; ++i) {
        const auto begin = static_cast<size_t>(offsets.data()[i]);
        const auto end = static_cast<size_t>(offsets.data()[i + 1]);
        queries[i] = {{values.data() + begin, end - begin}, size.data()[i], level.data()[i]};
    }
    FoundCandidates found;
    {
        nb::gil_scoped_release release;
        found = probe_index(index, {floor.first, floor.second}, smallest, queries, view(own),
                            view(group_of), most_rows, threads);
    }
    const bool complete = found.complete;
    return std::pair(to_table<uint32_t, 2>(std::move(found.found)), complete);
}

}  // namespace

void bind_index_probe(nb::module_& module) {
    module.def("probe_index", &probe, "files"_a, "shape"_a, "floor"_a, "smallest"_a, "values"_a,
               "offsets"_a, "size"_a, "level"_a, "own"_a, "group_of"_a, "most_rows"_a, "threads"_a,
               "Groups of rows that may resemble queries at a floor, from the files of an index in "
               "memory (directory, entries, lists, rows, copies): query and group, and whether no "
               "more than most_rows rows had to be read.");
    module.attr("NO_GROUP") = no_group;
}

}  // namespace roughly
