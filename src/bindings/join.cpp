#include "join.hpp"

#include <stdexcept>

#include "bindings.hpp"
#include "forest.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

// The columns as a view, after making sure that they belong together.
SketchView checked(const InputArray<uint64_t>& values, const InputArray<int64_t>& offsets,
                   const InputArray<uint32_t>& size, const InputArray<uint8_t>& level) {
    const size_t count = size.size();
    bool right = offsets.size() == count + 1 && level.size() == count && offsets.data()[0] == 0 &&
                 static_cast<size_t>(offsets.data()[count]) == values.size();
    for (size_t i = 0; right && i < count; ++i)
        right = offsets.data()[i] <= offsets.data()[i + 1] && level.data()[i] < 64;
    if (!right) throw std::invalid_argument("sketches: columns that do not belong together");
    return {values.data(), offsets.data(), size.data(), level.data(), count};
}

using PairTable = nb::ndarray<const uint32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;

// The rows as pairs, after making sure that they name documents there are.
std::span<const Pair> checked(const PairTable& table, size_t documents) {
    static_assert(sizeof(Pair) == 4 * sizeof(uint32_t));
    const std::span<const Pair> pairs(reinterpret_cast<const Pair*>(table.data()), table.shape(0));
    for (const Pair& pair : pairs)
        if (pair.a >= documents || pair.b >= documents)
            throw std::invalid_argument("pairs: a document beyond the last one");
    return pairs;
}

}  // namespace

void bind_join(nb::module_& module) {
    module.def(
        "join",
        [](InputArray<uint64_t> values, InputArray<int64_t> offsets, InputArray<uint32_t> size,
           InputArray<uint8_t> level, uint64_t numerator, uint64_t denominator, uint64_t smallest,
           size_t threads) {
            const SketchView sketches = checked(values, offsets, size, level);
            std::vector<Pair> pairs;
            {
                nb::gil_scoped_release release;
                pairs = join(sketches, {numerator, denominator}, smallest, threads);
            }
            return to_table<uint32_t, 4>(std::move(pairs));
        },
        "values"_a, "offsets"_a, "size"_a, "level"_a, "numerator"_a, "denominator"_a, "smallest"_a,
        "threads"_a,
        "Pairs of sketches whose resemblance reaches numerator / denominator: a, b, common, "
        "sampled.");
    module.def(
        "measure_pairs",
        [](InputArray<uint64_t> values, InputArray<int64_t> offsets, InputArray<uint32_t> size,
           InputArray<uint8_t> level, PairTable table, uint64_t smallest, size_t threads) {
            const SketchView sketches = checked(values, offsets, size, level);
            const auto given = checked(table, sketches.count);
            std::vector<Pair> pairs(given.begin(), given.end());
            {
                nb::gil_scoped_release release;
                measure(sketches, smallest, threads, pairs);
            }
            return to_table<uint32_t, 4>(std::move(pairs));
        },
        "values"_a, "offsets"_a, "size"_a, "level"_a, "pairs"_a, "smallest"_a, "threads"_a,
        "The same pairs with their common and sampled elements counted.");
    module.def(
        "spanning_forest",
        [](PairTable table, size_t documents) {
            const auto pairs = checked(table, documents);
            std::vector<Pair> links;
            {
                nb::gil_scoped_release release;
                links = spanning_forest(pairs, documents);
            }
            return to_table<uint32_t, 4>(std::move(links));
        },
        "pairs"_a, "documents"_a, "The pairs of a maximum spanning forest, heaviest first.");
    module.def(
        "components",
        [](PairTable links, size_t documents, uint64_t numerator, uint64_t denominator) {
            const auto pairs = checked(links, documents);
            std::vector<uint32_t> first;
            {
                nb::gil_scoped_release release;
                first = components(pairs, documents, {numerator, denominator});
            }
            return to_array(std::move(first));
        },
        "links"_a, "documents"_a, "numerator"_a, "denominator"_a,
        "For every document the first document of its cluster at that threshold.");
    module.def(
        "stars",
        [](PairTable table, size_t documents, uint64_t numerator, uint64_t denominator) {
            const auto pairs = checked(table, documents);
            std::vector<uint32_t> centre;
            {
                nb::gil_scoped_release release;
                centre = stars(pairs, documents, {numerator, denominator});
            }
            return to_array(std::move(centre));
        },
        "pairs"_a, "documents"_a, "numerator"_a, "denominator"_a,
        "For every document the centre of its star at that threshold.");
}

}  // namespace roughly
