#include "forest.hpp"

#include <stdexcept>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

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

void bind_forest(nb::module_& module) {
    nb::class_<DocumentSets>(module, "DocumentSets",
                             "Documents that links have put together so far.")
        .def(nb::init<size_t>(), "documents"_a)
        .def(
            "add",
            [](DocumentSets& self, PairTable table) {
                const auto pairs = checked(table, self.size());
                std::vector<Pair> links;
                {
                    nb::gil_scoped_release release;
                    links = spanning_links(pairs, self);
                }
                return to_table<uint32_t, 4>(std::move(links));
            },
            "pairs"_a, "Those pairs, heaviest first, that put together what was apart.")
        .def(
            "first", [](DocumentSets& self) { return to_array(self.first()); },
            "For every document the first of those it was put together with.");
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
