#include "greedy.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

template <typename T, size_t columns>
using InputTable = nb::ndarray<const T, nb::shape<-1, static_cast<nb::ssize_t>(columns)>,
                               nb::c_contig, nb::device::cpu>;

template <typename T, size_t columns>
using OutputTable =
    nb::ndarray<T, nb::shape<-1, static_cast<nb::ssize_t>(columns)>, nb::c_contig, nb::device::cpu>;

template <typename T>
std::span<const T> view(const InputArray<T>& array) {
    return {array.data(), array.size()};
}

// The columns as candidates, after making sure that they belong together.
Candidates checked(const InputTable<uint32_t, 4>& pairs, const InputArray<uint8_t>& exact,
                   const InputTable<uint32_t, 2>& parts, const InputArray<uint32_t>& place,
                   const InputArray<uint32_t>& last, Ratio threshold, Ratio containment,
                   double errors) {
    static_assert(sizeof(Pair) == 4 * sizeof(uint32_t) && sizeof(Parts) == 2 * sizeof(uint32_t));
    const Candidates made{
        {reinterpret_cast<const Pair*>(pairs.data()), pairs.shape(0)},
        view(exact),
        {reinterpret_cast<const Parts*>(parts.data()), parts.shape(0)},
        view(place),
        view(last),
        threshold,
        containment,
        errors,
    };
    bool right = made.exact.size() == made.pairs.size() && made.last.size() == made.place.size() &&
                 (containment.denominator == 0 || made.parts.size() == made.pairs.size());
    for (const Pair& pair : made.pairs)
        right = right && pair.a < pair.b && pair.b < made.place.size();
    if (!right) throw std::invalid_argument("candidates: columns that do not belong together");
    return made;
}

}  // namespace

void bind_greedy(nb::module_& module) {
    module.def(
        "greedy_decide",
        [](InputTable<uint32_t, 4> pairs, InputArray<uint8_t> exact, InputTable<uint32_t, 2> parts,
           InputArray<uint32_t> place, InputArray<uint32_t> last,
           std::pair<uint64_t, uint64_t> threshold, std::pair<uint64_t, uint64_t> containment,
           double errors, bool reasons) {
            const Candidates candidates =
                checked(pairs, exact, parts, place, last, {threshold.first, threshold.second},
                        {containment.first, containment.second}, errors);
            Round round;
            {
                nb::gil_scoped_release release;
                round = decide(candidates, reasons);
            }
            return std::tuple(to_array(std::move(round.fate)), to_array(std::move(round.wanted)),
                              to_array(std::move(round.likely)));
        },
        "pairs"_a, "exact"_a, "parts"_a, "place"_a, "last"_a, "threshold"_a, "containment"_a,
        "errors"_a, "reasons"_a,
        "One round of the dedup rule: the fate of each document (0 undecided, 1 kept, 2 removed), "
        "the pairs that must be counted exactly before the next round, with those that may be the "
        "best reasons if these are wanted, and others that may be wanted then.");
    module.def(
        "number_anew",
        [](InputTable<uint32_t, 4> pairs, size_t count, OutputTable<uint32_t, 4> to) {
            const std::span<const Pair> given(reinterpret_cast<const Pair*>(pairs.data()),
                                              pairs.shape(0));
            const std::span<Pair> room(reinterpret_cast<Pair*>(to.data()), to.shape(0));
            std::vector<uint32_t> documents;
            {
                nb::gil_scoped_release release;
                bool right = room.size() == given.size();
                for (const Pair& pair : given) right = right && pair.a < count && pair.b < count;
                if (!right)
                    throw std::invalid_argument(
                        "pairs: want documents below the count, and as much room for them");
                documents = number_anew(given, count, room);
            }
            return to_array(std::move(documents));
        },
        "pairs"_a, "count"_a, "to"_a.noconvert(),
        "Writes pairs with their documents, of `count`, numbered anew in their order; the "
        "documents that have a pair.");
    module.def(
        "greedy_reasons",
        [](InputTable<uint32_t, 4> pairs, InputArray<uint8_t> exact, InputTable<uint32_t, 2> parts,
           InputArray<uint32_t> place, InputArray<uint32_t> last,
           std::pair<uint64_t, uint64_t> threshold, std::pair<uint64_t, uint64_t> containment,
           double errors, InputArray<uint8_t> fate, InputArray<uint32_t> documents,
           InputArray<uint32_t> places) {
            const Candidates candidates =
                checked(pairs, exact, parts, place, last, {threshold.first, threshold.second},
                        {containment.first, containment.second}, errors);
            bool right = fate.size() == place.size() && documents.size() == places.size();
            for (size_t i = 0; i < documents.size(); ++i)
                right = right && documents.data()[i] < place.size();
            if (!right) throw std::invalid_argument("documents: beyond the last one");
            std::vector<Reason> reasons;
            {
                nb::gil_scoped_release release;
                reasons = find_reasons(candidates, view(fate), view(documents), view(places));
            }
            return to_table<uint64_t, 2>(std::move(reasons));
        },
        "pairs"_a, "exact"_a, "parts"_a, "place"_a, "last"_a, "threshold"_a, "containment"_a,
        "errors"_a, "fate"_a, "documents"_a, "places"_a,
        "Why documents go: for each the pair with the best kept document before its place (2^64 - "
        "1: none), and 1 if it goes by containment only.");
}

}  // namespace roughly
