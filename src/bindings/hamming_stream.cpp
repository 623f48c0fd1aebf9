// Hamming distances where values come and go: the part of a growing index that is in memory, joins
// of queries with stored values that pass by, the dedup rule, and the 2007 paper's compressed
// blocks.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "hamming_greedy.hpp"
#include "hamming_join.hpp"
#include "hamming_memory.hpp"
#include "parallel.hpp"
#include "xor_block.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

constexpr uint32_t none = 65;

// Position (-1: none), simhash, distance (65: none).
using MatchColumns = std::tuple<Array<int64_t>, Array<uint64_t>, Array<uint8_t>>;

MatchColumns columns_of(const std::vector<HammingMatch>& matches) {
    std::vector<int64_t> positions;
    std::vector<uint64_t> values;
    std::vector<uint8_t> distances;
    for (const HammingMatch& match : matches) {
        const bool found = match.distance < none;
        positions.push_back(found ? static_cast<int64_t>(match.position) : -1);
        values.push_back(match.simhash);
        distances.push_back(static_cast<uint8_t>(match.distance));
    }
    return {to_array(std::move(positions)), to_array(std::move(values)),
            to_array(std::move(distances))};
}

MatchColumns seen(HammingMemory& self, InputArray<uint64_t> values, InputArray<int64_t> positions,
                  InputArray<uint64_t> simhashes, InputArray<uint8_t> distances, uint64_t first) {
    if (positions.size() != values.size() || simhashes.size() != values.size() ||
        distances.size() != values.size())
        throw std::invalid_argument("seen: columns that do not belong together");
    std::vector<HammingMatch> known;
    {
        nb::gil_scoped_release release;
        known.reserve(values.size());
        for (size_t i = 0; i < values.size(); ++i)
            known.push_back({static_cast<uint64_t>(positions.data()[i]), simhashes.data()[i],
                             distances.data()[i]});
        self.seen({values.data(), values.size()}, known, first);
    }
    return columns_of(known);
}

void check_sizes(const InputArray<uint64_t>& values, const InputArray<uint32_t>& sizes) {
    if (sizes.size() != values.size())
        throw std::invalid_argument("greedy: columns that do not belong together");
}

std::tuple<Array<uint64_t>, Array<uint64_t>, Array<uint64_t>, Array<uint8_t>> encode(
    InputArray<uint64_t> sorted, unsigned bits) {
    XorBlocks made;
    {
        nb::gil_scoped_release release;
        const std::span<const uint64_t> values{sorted.data(), sorted.size()};
        if (bits < 1 || bits > 64) throw std::invalid_argument("bits: out of range");
        for (size_t i = 0; i < values.size(); ++i)
            if (values[i] & ~low_bits(bits) || (i && values[i] < values[i - 1]))
                throw std::invalid_argument("xor blocks: values are not sorted, or too large");
        made = encode_xor_blocks(values, bits);
    }
    std::vector<uint8_t> lengths(made.lengths.begin(), made.lengths.end());
    return {to_array(std::move(made.blocks)), to_array(std::move(made.keys)),
            to_array(std::move(made.ranks)), to_array(std::move(lengths))};
}

Array<uint64_t> decode(InputArray<uint64_t> blocks, InputArray<uint8_t> lengths, unsigned bits,
                       size_t threads) {
    if (lengths.size() != xor_symbols || blocks.size() % xor_block_words || bits < 1 || bits > 64)
        throw std::invalid_argument("xor blocks: not whole blocks, or not their code");
    std::vector<uint64_t> values;
    {
        nb::gil_scoped_release release;
        XorCodeLengths code;
        std::copy(lengths.data(), lengths.data() + xor_symbols, code.begin());
        const XorBlockDecoder decoder(code, bits);
        constexpr size_t slice_blocks = 1024;
        const size_t count = blocks.size() / xor_block_words;
        std::vector<std::vector<uint64_t>> parts((count + slice_blocks - 1) / slice_blocks);
        in_parallel(parts.size(), threads, [&] {
            return [&](size_t part) {
                const size_t end = std::min((part + 1) * slice_blocks, count);
                for (size_t block = part * slice_blocks; block < end; ++block)
                    decoder.decode(blocks.data() + block * xor_block_words, parts[part]);
            };
        });
        size_t size = 0;
        for (const auto& part : parts) size += part.size();
        values.reserve(size);
        for (const auto& part : parts) values.insert(values.end(), part.begin(), part.end());
    }
    return to_array(std::move(values));
}

}  // namespace

void bind_hamming_stream(nb::module_& module) {
    nb::class_<HammingMemory>(module, "HammingMemory",
                              "Values that can be added to, and what is within k bits of one.")
        .def(
            "__init__",
            [](HammingMemory* self, unsigned bits, unsigned k, unsigned blocks, size_t capacity,
               std::string_view simd) {
                new (self) HammingMemory(bits, k, blocks, capacity, simd_argument(simd));
            },
            "bits"_a, "k"_a, "blocks"_a, "capacity"_a, "simd"_a = "")
        .def("__len__", &HammingMemory::size)
        .def(
            "add",
            [](HammingMemory& self, InputArray<uint64_t> values) {
                nb::gil_scoped_release release;
                for (size_t i = 0; i < values.size(); ++i) self.add(values.data()[i]);
            },
            "values"_a, "Adds all of them.")
        .def("add_one", &HammingMemory::add, "value"_a, "Adds one.")
        .def(
            "nearest",
            [](const HammingMemory& self, uint64_t x) {
                const HammingMatch match = self.nearest(x);
                std::optional<std::tuple<uint64_t, uint64_t, uint32_t>> one;
                if (match.distance < none)
                    one.emplace(match.position, match.simhash, match.distance);
                return one;
            },
            "x"_a, "Number, value and distance of the nearest within k bits, of these the first.")
        .def("forget", &HammingMemory::forget, "count"_a, "Takes the last ones back.")
        .def(
            "find",
            [](const HammingMemory& self, uint64_t x) {
                std::vector<int64_t> numbers;
                self.find(x, numbers);
                return to_array(std::move(numbers));
            },
            "x"_a, "The numbers of all values within k bits, ascending.")
        .def(
            "nearest_many",
            [](const HammingMemory& self, InputArray<uint64_t> queries) {
                std::vector<HammingMatch> found;
                {
                    nb::gil_scoped_release release;
                    for (size_t i = 0; i < queries.size(); ++i)
                        found.push_back(self.nearest(queries.data()[i]));
                }
                return columns_of(found);
            },
            "queries"_a,
            "For each query the nearest value, of these the first: its number (-1: none), the "
            "value and the distance (65: none).")
        .def("seen", seen, "values"_a, "positions"_a, "simhashes"_a, "distances"_a, "first"_a,
             "For each value in order its nearest match, given those elsewhere; a value without "
             "one is added. Columns as of nearest_many, with `first` added to numbers.")
        .def(
            "values",
            [](const HammingMemory& self) {
                return to_array(std::vector<uint64_t>(self.values().begin(), self.values().end()));
            },
            "All values in the order they were added.");
    nb::class_<HammingGreedy>(module, "HammingGreedy",
                              "The dedup rule for values of 64 bits: one goes if one that stays is "
                              "within k bits.")
        .def(
            "__init__",
            [](HammingGreedy* self, unsigned k, unsigned blocks, size_t capacity,
               std::pair<uint64_t, uint64_t> size_ratio, std::string_view simd) {
                new (self) HammingGreedy(k, blocks, capacity, {size_ratio.first, size_ratio.second},
                                         simd_argument(simd));
            },
            "k"_a, "blocks"_a, "capacity"_a, "size_ratio"_a = std::pair(uint64_t{0}, uint64_t{0}),
            "simd"_a = "")
        .def(
            "keep",
            [](HammingGreedy& self, InputArray<uint64_t> values, InputArray<uint32_t> sizes) {
                check_sizes(values, sizes);
                nb::gil_scoped_release release;
                self.keep({values.data(), values.size()}, {sizes.data(), sizes.size()});
            },
            "values"_a, "sizes"_a, "Values that stay in any case.")
        .def(
            "take",
            [](HammingGreedy& self, InputArray<uint64_t> values, InputArray<uint32_t> sizes) {
                check_sizes(values, sizes);
                std::vector<HammingMatch> found;
                {
                    nb::gil_scoped_release release;
                    found = self.take({values.data(), values.size()}, {sizes.data(), sizes.size()});
                }
                return columns_of(found);
            },
            "values"_a, "sizes"_a,
            "For each value in order the nearest that stays, of these the first: its number among "
            "all given (-1: none, so the value stays), the value and the distance (65: none).");
    nb::class_<HammingJoin>(module, "HammingJoin", "Queries, to be joined with values.")
        .def(
            "__init__",
            [](HammingJoin* self, InputArray<uint64_t> queries, unsigned bits, unsigned k,
               unsigned blocks, size_t threads, std::string_view simd) {
                const Simd level = simd_argument(simd);
                nb::gil_scoped_release release;
                new (self)
                    HammingJoin({queries.data(), queries.size()}, bits, k, blocks, level, threads);
            },
            "queries"_a, "bits"_a, "k"_a, "blocks"_a, "threads"_a, "simd"_a = "")
        .def(
            "probe",
            [](const HammingJoin& self, InputArray<uint64_t> stored, uint64_t first,
               size_t threads) {
                std::vector<HammingPair> pairs;
                {
                    nb::gil_scoped_release release;
                    pairs = self.probe({stored.data(), stored.size()}, first, threads);
                }
                return to_table<uint64_t, 2>(std::move(pairs));
            },
            "stored"_a, "first"_a, "threads"_a,
            "Rows (stored, query) of all pairs within k bits, sorted; stored values are numbered "
            "from `first`.");
    module.def("xor_blocks_encode", encode, "sorted"_a, "bits"_a,
               "Sorted values in blocks of 128 words: blocks, the last value of each, how many "
               "values come before each and in all, and the code's lengths.");
    module.def("xor_blocks_decode", decode, "blocks"_a, "lengths"_a, "bits"_a, "threads"_a,
               "The values of some blocks.");
}

}  // namespace roughly
