#include "inverted.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <map>
#include <mutex>

#include "bindings.hpp"
#include "block_file.hpp"
#include "neighbour.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

using Fraction = std::pair<uint64_t, uint64_t>;
using Files = nb::typed<nb::list, BlockFile>;

auto scatter_chunk(InputArray<uint64_t> values, InputArray<int64_t> offsets, uint32_t first_row,
                   InputArray<uint8_t> left_out, InputArray<uint32_t> kept) {
    bool right = offsets.size() > 0 && offsets.data()[0] >= 0;
    const size_t rows = right ? offsets.size() - 1 : 0;
    for (size_t i = 0; right && i < rows; ++i) right = offsets.data()[i] <= offsets.data()[i + 1];
    right = right && static_cast<size_t>(offsets.data()[rows]) <= values.size() &&
            (left_out.size() == 0 || left_out.size() == rows) && kept.size() == rows;
    if (!right) throw std::invalid_argument("sketches: columns that do not belong together");
    Scattered made;
    {
        nb::gil_scoped_release release;
        made = scatter({values.data(), offsets.data(), nullptr}, rows, first_row,
                       left_out.size() ? left_out.data() : nullptr, kept.data());
    }
    return std::tuple(to_array(std::move(made.keys)), to_array(std::move(made.rows)),
                      to_array(std::move(made.ends)));
}

using Run = std::tuple<InputArray<uint64_t>, InputArray<uint32_t>, InputArray<uint64_t>>;

InvertedShape shape_argument(std::pair<int, int> shape) {
    const auto [bucket_bits, value_bits] = shape;
    if (bucket_bits < partition_bits || bucket_bits > 40 || value_bits < 1 ||
        value_bits >= bucket_bits)
        throw std::invalid_argument("shape: out of range");
    return {bucket_bits, value_bits};
}

auto invert_runs(std::pair<int, int> shape, std::vector<Run> runs, size_t first, size_t last,
                 uint64_t first_unit, size_t threads) {
    const InvertedShape bits = shape_argument(shape);
    bool right = first < last && last <= partitions;
    std::vector<ScatteredView> views;
    for (const auto& [keys, rows, ends] : runs) {
        right = right && ends.size() == partitions && keys.size() == rows.size();
        for (size_t i = 0; right && i < partitions; ++i)
            right =
                ends.data()[i] <= keys.size() && (i == 0 || ends.data()[i - 1] <= ends.data()[i]);
        views.push_back({keys.data(), rows.data(), ends.data()});
    }
    if (!right) throw std::invalid_argument("runs: they are not as `scatter` makes them");
    Inverted made;
    {
        nb::gil_scoped_release release;
        made = invert(bits, views, first, last, first_unit, threads);
    }
    return std::tuple(to_array(std::move(made.entries)), to_array(std::move(made.bucket_ends)),
                      to_array(std::move(made.lists)));
}

// The files of a segment's index. Its sketches are in files of their own, which a Python function
// opens: (BlockFile, first byte of the elements, first byte of the offsets) of a part.
class FileSource : public IndexSource {
   public:
    // Of all segments together: a process may not have many more files open.
    static constexpr size_t open_parts = 256;

    FileSource(std::vector<const BlockFile*> files, nb::object open_part, uint32_t part_rows)
        : files_(std::move(files)), open_part_(std::move(open_part)), part_rows_(part_rows) {}

    void read(IndexFile file, uint64_t offset, size_t bytes, void* to) const override {
        files_[static_cast<size_t>(file)]->read(offset, bytes, to);
    }

    void sketch(uint32_t row, std::vector<uint64_t>& to) const override {
        const std::shared_ptr<const Part> part = opened(row / part_rows_);
        int64_t ends[2];
        part->file->read(part->offsets + 8 * uint64_t{row % part_rows_}, sizeof ends, ends);
        if (ends[0] < 0 || ends[1] < ends[0])
            throw DamagedBlock("sketches: damaged: a sketch ends before it begins");
        to.resize(static_cast<size_t>(ends[1] - ends[0]));
        part->file->read(part->values + 8 * static_cast<uint64_t>(ends[0]), 8 * to.size(),
                         to.data());
    }

   private:
    struct Part {
        nb::object owner;
        const BlockFile* file;
        uint64_t values, offsets;

        Part() { ++all_open; }
        Part(const Part&) = delete;
        Part& operator=(const Part&) = delete;
        ~Part() {
            --all_open;
            nb::gil_scoped_acquire acquire;
            owner.reset();
        }
    };

    std::shared_ptr<const Part> opened(uint32_t number) const {
        {
            const std::lock_guard lock(mutex_);
            if (const auto found = parts_.find(number); found != parts_.end()) return found->second;
        }
        auto part = std::make_shared<Part>();
        {
            nb::gil_scoped_acquire acquire;
            nb::tuple made = nb::cast<nb::tuple>(open_part_(number));
            part->owner = made[0];
            part->file = nb::cast<const BlockFile*>(made[0]);
            part->values = nb::cast<uint64_t>(made[1]);
            part->offsets = nb::cast<uint64_t>(made[2]);
        }
        std::shared_ptr<const Part> let_go;  // outlives the lock: it wants the GIL
        const std::lock_guard lock(mutex_);
        if (all_open > open_parts && !parts_.empty()) {
            auto oldest = parts_.lower_bound(turn_++ * 2654435761u);
            if (oldest == parts_.end()) oldest = parts_.begin();
            let_go = oldest->second;
            parts_.erase(oldest);
        }
        parts_[number] = part;
        return part;
    }

    static inline std::atomic<size_t> all_open = 0;

    std::vector<const BlockFile*> files_;
    nb::object open_part_;
    uint32_t part_rows_;
    mutable std::mutex mutex_;
    mutable std::map<uint32_t, std::shared_ptr<const Part>> parts_;
    mutable uint32_t turn_ = 0;
};

Ratio ratio_argument(Fraction ratio) {
    if (ratio.second && (ratio.first == 0 || ratio.first > ratio.second || ratio.second >> 32))
        throw std::invalid_argument("ratio: out of range: want more than 0 and at most 1");
    return {ratio.first, ratio.second};
}

class OwningIndex {
   public:
    OwningIndex(Files files, nb::object open_part, uint32_t part_rows, std::pair<int, int> shape,
                uint32_t rows, InputArray<uint32_t> least_kept, InputArray<uint32_t> least_met,
                bool has_small)
        : files_(files),
          least_kept_(least_kept.data(), least_kept.data() + least_kept.size()),
          least_met_(least_met.data(), least_met.data() + least_met.size()),
          source_(pointers(files), std::move(open_part), part_rows),
          shape_(shape_argument(shape)),
          rows_(rows),
          has_small_(has_small) {
        if (part_rows == 0 || least_kept.size() == 0 || least_kept.size() > 64 ||
            least_met.size() > 64)
            throw std::invalid_argument("index: parameters out of range");
    }
    OwningIndex(const OwningIndex&) = delete;
    OwningIndex& operator=(const OwningIndex&) = delete;

    auto neighbours(InputArray<uint64_t> values, InputArray<int64_t> offsets,
                    InputArray<uint32_t> size, InputArray<uint8_t> level, Fraction resemblance,
                    Fraction contained, Fraction contains, uint64_t least_contained,
                    uint64_t smallest, InputArray<uint8_t> removed, size_t threads,
                    bool with_words) const {
        const size_t count = size.size();
        bool right = level.size() == count && offsets.size() == count + 1 &&
                     (removed.size() == 0 || removed.size() * 8 >= rows_);
        std::vector<Query> queries;
        for (size_t i = 0; right && i < count; ++i) {
            const int64_t begin = offsets.data()[i], end = offsets.data()[i + 1];
            right = 0 <= begin && begin <= end && static_cast<size_t>(end) <= values.size() &&
                    level.data()[i] < 64;
            queries.push_back({{values.data() + begin, static_cast<size_t>(end - begin)},
                               size.data()[i],
                               level.data()[i]});
        }
        if (!right) throw std::invalid_argument("queries: columns that do not belong together");
        const NeighbourRule rule{ratio_argument(resemblance),
                                 ratio_argument(contained),
                                 ratio_argument(contains),
                                 least_contained,
                                 smallest,
                                 with_words,
                                 simd_argument("")};
        std::vector<Neighbour> found;
        {
            nb::gil_scoped_release release;
            found = find_neighbours(index(removed), rule, queries, threads);
        }
        return to_table<uint32_t, 6>(std::move(found));
    }

    auto count(InputArray<uint64_t> elements) const {
        std::vector<uint32_t> counts;
        {
            nb::gil_scoped_release release;
            const InvertedIndex all{source_,    shape_,     rows_,  least_kept_,
                                    least_met_, has_small_, nullptr};
            counts = NeighbourProbe(all, {}).count({elements.data(), elements.size()});
        }
        return to_array(std::move(counts));
    }

    auto sketch(uint32_t row) const {
        if (row >= rows_) throw std::invalid_argument("row: beyond the last one");
        std::vector<uint64_t> elements;
        {
            nb::gil_scoped_release release;
            source_.sketch(row, elements);
        }
        return to_array(std::move(elements));
    }

   private:
    static std::vector<const BlockFile*> pointers(const Files& files) {
        std::vector<const BlockFile*> found;
        for (const nb::handle file : files) found.push_back(nb::cast<const BlockFile*>(file));
        if (found.size() != 5) throw std::invalid_argument("files: want five");
        return found;
    }

    InvertedIndex index(const InputArray<uint8_t>& removed) const {
        return {source_,
                shape_,
                rows_,
                least_kept_,
                least_met_,
                has_small_,
                removed.size() ? removed.data() : nullptr};
    }

    Files files_;
    std::vector<uint32_t> least_kept_, least_met_;
    FileSource source_;
    InvertedShape shape_;
    uint32_t rows_;
    bool has_small_;
};

}  // namespace

void bind_inverted(nb::module_& module) {
    module.def(
        "inverted_shape",
        [](uint64_t rows, uint64_t postings) {
            if (rows >> 31) throw std::invalid_argument("rows: too many: want fewer than 2^31");
            const InvertedShape shape = inverted_shape(rows, postings);
            return std::pair(shape.bucket_bits, shape.value_bits);
        },
        "rows"_a, "postings"_a, "Bits of a bucket and of a value, for so many of them.");
    module.def(
        "scatter", &scatter_chunk, "values"_a, "offsets"_a, "first_row"_a, "left_out"_a, "kept"_a,
        "Postings of sketches by partition: keys, rows, where each partition ends. kept: of every "
        "row its elements but words.");
    module.def("invert", &invert_runs, "shape"_a, "runs"_a, "first"_a, "last"_a, "first_unit"_a,
               "threads"_a, "Entries, bucket ends and lists of partitions from first to last.");
    nb::class_<OwningIndex>(module, "InvertedIndex", "For every element the rows that have it.")
        .def(nb::init<Files, nb::object, uint32_t, std::pair<int, int>, uint32_t,
                      InputArray<uint32_t>, InputArray<uint32_t>, bool>(),
             "files"_a, "open_part"_a, "part_rows"_a, "shape"_a, "rows"_a, "least_kept"_a,
             "least_met"_a, "has_small"_a,
             "files: directory, entries, lists, rows, copies; open_part: number of a part -> "
             "(file, first byte of the elements, first byte of the offsets) of its sketches; "
             "least_kept: by level, the fewest elements of a document there that is not small; "
             "least_met: of one of that level or a finer one, at this level.")
        .def("neighbours", &OwningIndex::neighbours, "values"_a, "offsets"_a, "size"_a, "level"_a,
             "resemblance"_a, "contained"_a, "contains"_a, "least_contained"_a, "smallest"_a,
             "removed"_a, "threads"_a, "with_words"_a = false,
             "Of queries all rows that reach a floor, a denominator of 0 for none: query, row, "
             "common, sampled, elements of the query and of the row where they meet. Words of rows "
             "count "
             "if queries have them.")
        .def("count", &OwningIndex::count, "elements"_a,
             "For each element how many rows have it, copies not counted.")
        .def("sketch", &OwningIndex::sketch, "row"_a, "The elements of a row's sketch.");
    module.def(
        "coarser_levels",
        [](InputArray<uint64_t> values, InputArray<int64_t> offsets, InputArray<uint8_t> level) {
            const size_t rows = level.size();
            if (offsets.size() != rows + 1 ||
                static_cast<size_t>(offsets.data()[rows]) > values.size())
                throw std::invalid_argument("sketches: columns that do not belong together");
            std::vector<uint16_t> counts(rows * RowRecord::coarser_levels);
            {
                nb::gil_scoped_release release;
                count_coarser({values.data(), offsets.data(), nullptr}, level.data(), rows,
                              counts.data());
            }
            return to_array(std::move(counts));
        },
        "values"_a, "offsets"_a, "level"_a,
        "For every row its elements at the levels above its own, 2^16 - 1 for as many or more.");
    module.attr("COARSER_LEVELS") = RowRecord::coarser_levels;
    module.attr("LEAST_LARGE") = least_large;
    module.attr("PARTITIONS") = partitions;
    module.attr("LIST_UNIT") = list_unit;
}

}  // namespace roughly
