// Hamming indexes over arrays that NumPy owns: built in memory or mapped from a file.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings.hpp"
#include "hamming_index.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

// leading, radius, coding, head, extra, pointer, entries
using ShapeNumbers =
    std::tuple<uint64_t, unsigned, unsigned, unsigned, unsigned, unsigned, uint64_t>;

TableShape shape_from(const ShapeNumbers& numbers) {
    const auto& [leading, radius, coding, head, extra, pointer, entries] = numbers;
    if (coding > static_cast<unsigned>(Coding::pointer))
        throw std::invalid_argument("hamming table: an unknown coding");
    return {leading, radius, static_cast<Coding>(coding), head, extra, pointer, entries};
}

ShapeNumbers numbers_of(const TableShape& shape) {
    return {shape.leading, shape.radius, static_cast<unsigned>(shape.coding),
            shape.head,    shape.extra,  shape.pointer,
            shape.entries};
}

// An index and the arrays it looks at.
class OwnedHammingIndex {
   public:
    OwnedHammingIndex(unsigned bits, unsigned k, uint64_t count,
                      const std::vector<ShapeNumbers>& tables,
                      std::vector<std::vector<InputArray<uint64_t>>> arrays,
                      InputArray<uint64_t> positions, std::string_view simd)
        : arrays_(std::move(arrays)), positions_(std::move(positions)) {
        HammingShape shape{bits, k, count, {}};
        for (const ShapeNumbers& numbers : tables) shape.tables.push_back(shape_from(numbers));
        std::vector<TableArrays> views;
        for (const auto& table : arrays_) {
            if (table.size() > table_arrays)
                throw std::invalid_argument("hamming table: too many arrays");
            views.emplace_back();
            for (const auto& array : table) views.back().emplace_back(array.data(), array.size());
        }
        const std::span<const uint64_t> places{positions_.data(), positions_.size()};
        index_ = std::make_unique<HammingIndex>(std::move(shape), std::move(views), places,
                                                simd_argument(simd));
    }

    const HammingIndex& index() const { return *index_; }

    // Whether a query takes microseconds.
    bool quick() const {
        const HammingShape& shape = index_->shape();
        return shape.tables.empty() ? shape.count < 100'000 : shape.k < 4;
    }

    // Positions as an array, by the quickest way there is; empty ones, as most are, are made once.
    nb::object answer(const std::vector<int64_t>& positions) const {
        if (positions.empty()) return nothing_;
        const nb::bytes data(reinterpret_cast<const char*>(positions.data()),
                             positions.size() * sizeof(int64_t));
        return from_buffer_(data, dtype_);
    }

   private:
    nb::object from_buffer_ = nb::module_::import_("numpy").attr("frombuffer");
    nb::object dtype_ = nb::module_::import_("numpy").attr("dtype")("int64");
    nb::object nothing_ = from_buffer_(nb::bytes("", 0), dtype_);
    std::vector<std::vector<InputArray<uint64_t>>> arrays_;
    InputArray<uint64_t> positions_;
    std::unique_ptr<HammingIndex> index_;
};

using BuiltArrays =
    std::pair<std::vector<std::pair<ShapeNumbers, std::vector<Array<uint64_t>>>>, Array<uint64_t>>;

BuiltArrays build(InputArray<uint64_t> values, unsigned bits,
                  const std::vector<ShapeNumbers>& wanted, size_t threads) {
    std::vector<TableShape> shapes;
    for (const ShapeNumbers& numbers : wanted) shapes.push_back(shape_from(numbers));
    BuiltHamming built;
    {
        nb::gil_scoped_release release;
        built = build_hamming({values.data(), values.size()}, bits, shapes, threads);
    }
    std::vector<std::pair<ShapeNumbers, std::vector<Array<uint64_t>>>> tables;
    for (BuiltTable& table : built.tables) {
        tables.emplace_back(numbers_of(table.shape), std::vector<Array<uint64_t>>());
        for (auto& array : table.arrays) tables.back().second.push_back(to_array(std::move(array)));
    }
    return {std::move(tables), to_array(std::move(built.positions))};
}

using OneMatch = std::optional<std::tuple<uint64_t, uint64_t, uint32_t>>;

// As many queries as make starting a thread worth it.
constexpr size_t slice_queries = 1024;

std::pair<Array<int64_t>, Array<int64_t>> find_many(const OwnedHammingIndex& self,
                                                    InputArray<uint64_t> queries, size_t threads) {
    std::vector<int64_t> positions;
    std::vector<int64_t> offsets(queries.size() + 1);
    {
        nb::gil_scoped_release release;
        const size_t slices = (queries.size() + slice_queries - 1) / slice_queries;
        std::vector<std::vector<int64_t>> found(slices);
        in_parallel(slices, threads, [&] {
            return [&](size_t slice) {
                const size_t end = std::min((slice + 1) * slice_queries, queries.size());
                const size_t begin = slice * slice_queries;
                auto& all = found[slice];
                self.index().find({queries.data() + begin, end - begin},
                                  [&](size_t i, const std::vector<int64_t>& some) {
                                      all.insert(all.end(), some.begin(), some.end());
                                      offsets[begin + i + 1] = static_cast<int64_t>(all.size());
                                  });
            };
        });
        for (size_t slice = 0; slice < slices; ++slice) {
            const auto before = static_cast<int64_t>(positions.size());
            const size_t end = std::min((slice + 1) * slice_queries, queries.size());
            for (size_t i = slice * slice_queries; i < end; ++i) offsets[i + 1] += before;
            positions.insert(positions.end(), found[slice].begin(), found[slice].end());
        }
    }
    return {to_array(std::move(offsets)), to_array(std::move(positions))};
}

// For each query the nearest value: its position (-1: none), the value, the distance.
std::tuple<Array<int64_t>, Array<uint64_t>, Array<uint8_t>> nearest_many(
    const OwnedHammingIndex& self, InputArray<uint64_t> queries, size_t threads) {
    std::vector<int64_t> positions(queries.size(), -1);
    std::vector<uint64_t> values(queries.size());
    std::vector<uint8_t> distances(queries.size(), 65);
    {
        nb::gil_scoped_release release;
        const size_t slices = (queries.size() + slice_queries - 1) / slice_queries;
        in_parallel(slices, threads, [&] {
            return [&](size_t slice) {
                const size_t end = std::min((slice + 1) * slice_queries, queries.size());
                const size_t begin = slice * slice_queries;
                self.index().nearest(
                    {queries.data() + begin, end - begin},
                    [&](size_t i, const HammingMatch& match) {
                        positions[begin + i] = static_cast<int64_t>(match.position);
                        values[begin + i] = match.simhash;
                        distances[begin + i] = static_cast<uint8_t>(match.distance);
                    });
            };
        });
    }
    return {to_array(std::move(positions)), to_array(std::move(values)),
            to_array(std::move(distances))};
}

}  // namespace

void bind_hamming(nb::module_& module) {
    module.def(
        "hamming_build", build, "values"_a, "bits"_a, "tables"_a, "threads"_a,
        "The tables of a Hamming index, each with its numbers (leading bits, radius, coding, "
        "head, extra, pointer, entries) and its arrays; then the positions.");
    nb::class_<OwnedHammingIndex>(module, "HammingTables",
                                  "All values within k bits of a query, exactly.")
        .def(nb::init<unsigned, unsigned, uint64_t, const std::vector<ShapeNumbers>&,
                      std::vector<std::vector<InputArray<uint64_t>>>, InputArray<uint64_t>,
                      std::string_view>(),
             "bits"_a, "k"_a, "count"_a, "tables"_a, "arrays"_a, "positions"_a, "simd"_a = "")
        .def(
            "find",
            [](const OwnedHammingIndex& self, uint64_t x) {
                static thread_local std::vector<int64_t> positions;
                positions.clear();
                const auto find = [&] {
                    self.index().find({&x, 1}, [&](size_t, const std::vector<int64_t>& found) {
                        positions.assign(found.begin(), found.end());
                    });
                };
                // What is over in microseconds is slowed down by letting others in.
                if (self.quick()) {
                    find();
                } else {
                    nb::gil_scoped_release release;
                    find();
                }
                return self.answer(positions);
            },
            nb::sig("def find(self, x: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), "
                    "order='C', writable=False)]"),
            "x"_a, "The positions of all values within k bits, ascending.")
        .def("find_many", find_many, "queries"_a, "threads"_a,
             "The positions for each query, one after the other, and where each query's begin.")
        .def(
            "matches",
            [](const OwnedHammingIndex& self, uint64_t x) {
                std::vector<std::tuple<uint64_t, uint64_t, uint32_t>> made;
                for (const HammingMatch& match : self.index().matches(x))
                    made.emplace_back(match.position, match.simhash, match.distance);
                return made;
            },
            "x"_a, "Position, value and distance of all within k bits, nearest first.")
        .def(
            "nearest",
            [](const OwnedHammingIndex& self, uint64_t x) {
                OneMatch one;
                const auto find = [&] {
                    self.index().nearest({&x, 1}, [&](size_t, const HammingMatch& match) {
                        one.emplace(match.position, match.simhash, match.distance);
                    });
                };
                if (self.quick()) {
                    find();
                } else {
                    nb::gil_scoped_release release;
                    find();
                }
                return one;
            },
            "x"_a, "Position, value and distance of the nearest within k bits, of these the first.")
        .def("nearest_many", nearest_many, "queries"_a, "threads"_a,
             "For each query the nearest value, of these the first: its position (-1: none), the "
             "value and the distance (65: none).")
        .def(
            "values",
            [](const OwnedHammingIndex& self) {
                std::vector<uint64_t> values;
                {
                    nb::gil_scoped_release release;
                    values = self.index().values();
                }
                return to_array(std::move(values));
            },
            "All values by position.");
}

}  // namespace roughly
