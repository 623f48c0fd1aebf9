#include "sketch_set.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "bindings.hpp"
#include "expansion.hpp"
#include "frequency.hpp"
#include "level_join.hpp"
#include "mass.hpp"
#include "mass_key.hpp"
#include "measure.hpp"
#include "partner.hpp"
#include "posting.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

template <typename T>
using OutputArray = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using PairTable = nb::ndarray<const uint32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
template <typename T>
using SignatureTable =
    nb::ndarray<T, nb::shape<-1, Signature::words>, nb::c_contig, nb::device::cpu>;
using PostingTable = nb::ndarray<const uint32_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

Measure measure_argument(std::string_view name) {
    if (name == "resemblance") return Measure::resemblance;
    if (name == "containment") return Measure::containment;
    if (name == "contained") return Measure::contained;
    if (name == "agreement") return Measure::agreement;
    throw std::invalid_argument(
        "measure: unknown: want resemblance, containment, contained or agreement");
}

Ratio ratio_argument(std::pair<uint64_t, uint64_t> ratio) {
    if (ratio.first == 0 || ratio.first > ratio.second || ratio.second >> 32)
        throw std::invalid_argument("ratio: out of range: want more than 0 and at most 1");
    return {ratio.first, ratio.second};
}

// Chunks in open files, each from some byte on. Closes them in the end.
class FileReader : public SketchReader {
   public:
    explicit FileReader(std::vector<std::pair<int, int64_t>> files) : files_(std::move(files)) {}

    FileReader(const FileReader&) = delete;
    FileReader& operator=(const FileReader&) = delete;
    ~FileReader() override {
        for (const auto& [file, start] : files_) close(file);
    }

    size_t size() const { return files_.size(); }

    // Where the chunks are mapped; as long as any of them is released.
    void use_views(std::span<const SketchChunk> views) { views_ = views; }

    void release(size_t chunk, size_t first, size_t count) const override {
        const SketchChunk& view = views_[chunk];
        release_mapped(view.values + first, count * sizeof(uint64_t));
        if (view.frequency) release_mapped(view.frequency + first, count);
    }

    void read(size_t chunk, size_t first, size_t count, uint64_t* to) const override {
        const auto [file, start] = files_[chunk];
        auto* next = reinterpret_cast<char*>(to);
        auto left = static_cast<ssize_t>(count * sizeof(uint64_t));
        auto at = static_cast<off_t>(start + static_cast<int64_t>(first * sizeof(uint64_t)));
        while (left > 0) {
            const ssize_t got = pread(file, next, static_cast<size_t>(left), at);
            if (got <= 0) throw std::runtime_error("sketches: a file cannot be read any more");
            next += got;
            at += got;
            left -= got;
        }
    }

   private:
    std::vector<std::pair<int, int64_t>> files_;
    std::span<const SketchChunk> views_;
};

// A SketchSet together with the arrays that it looks at.
class OwningSketchSet {
   public:
    using Chunk = std::pair<InputArray<uint64_t>, InputArray<int64_t>>;

    OwningSketchSet(std::vector<Chunk> chunks, size_t chunk_rows, InputArray<uint32_t> rows,
                    InputArray<uint32_t> size, InputArray<uint8_t> level, uint64_t smallest,
                    std::vector<std::pair<int, int64_t>> files, bool words, bool shingles_only,
                    std::optional<InputArray<uint32_t>> visits)
        : chunks_(std::move(chunks)),
          words_(words),
          rows_(rows),
          size_(size),
          level_(level),
          given_visits_(visits),
          reader_(std::move(files)) {
        if (!std::has_single_bit(chunk_rows))
            throw std::invalid_argument("chunk_rows: want a power of two");
        if (rows.size() >= no_hub)
            throw std::invalid_argument("rows: too many: want fewer than 2^32");
        size_t row = 0;
        bool right = level.size() == size.size();
        for (size_t n = 0; right && n < chunks_.size(); ++n) {
            const auto& [values, offsets] = chunks_[n];
            const size_t count = std::min(chunk_rows, size.size() - row);
            right = row < size.size() && offsets.size() == count + 1 && offsets.data()[0] >= 0;
            for (size_t i = 0; right && i < count; ++i)
                right = offsets.data()[i] <= offsets.data()[i + 1] && level.data()[row + i] < 64;
            right = right && static_cast<size_t>(offsets.data()[count]) <= values.size();
            row += count;
            views_.push_back({values.data(), offsets.data(), nullptr});
        }
        right = right && row == size.size();
        for (size_t i = 0; right && i < rows.size(); ++i) right = rows.data()[i] < size.size();
        if (!right) throw std::invalid_argument("sketches: columns that do not belong together");
        if (reader_.size() != 0 && reader_.size() != chunks_.size())
            throw std::invalid_argument("files: want one for every chunk, or none");
        set_ = {views_,      std::countr_zero(chunk_rows),
                rows.data(), rows.size(),
                size.data(), level.data(),
                smallest,    reader_.size() ? &reader_ : nullptr};
        reader_.use_views(views_);
        set_.simd = simd_argument("");
        set_.shingles_only = words && shingles_only;
        if (visits) {
            right = visits->size() == rows.size();
            for (size_t i = 0; right && i < rows.size(); ++i)
                right =
                    visits->data()[i] < rows.size() &&
                    (i == 0 || rows.data()[visits->data()[i - 1]] < rows.data()[visits->data()[i]]);
            if (!right) throw std::invalid_argument("visits: want the order of the rows");
            set_.visits = visits->data();
        } else if (!std::is_sorted(rows.data(), rows.data() + rows.size())) {
            visits_.resize(rows.size());
            std::iota(visits_.begin(), visits_.end(), uint32_t{0});
            std::sort(visits_.begin(), visits_.end(),
                      [&](uint32_t x, uint32_t y) { return rows.data()[x] < rows.data()[y]; });
            set_.visits = visits_.data();
        }
    }
    OwningSketchSet(const OwningSketchSet&) = delete;
    OwningSketchSet& operator=(const OwningSketchSet&) = delete;

    const SketchSet& set() const { return set_; }

    // The set as a measure sees it: words do not count for containment.
    SketchSet set_for(Measure measure) const {
        SketchSet seen = set_;
        if (measure == Measure::containment || measure == Measure::contained)
            seen.shingles_only = words_;
        return seen;
    }

    bool reads_files() const { return reader_.size() != 0; }

    // Lets the pages of files go that the sketches of these documents lie in, and those of their
    // frequencies.
    void release(size_t begin, size_t end) const {
        check_range(begin, end);
        if (begin < end) set_.release(set_.visit(begin), set_.visit(end - 1));
    }

    const SketchSet& counted() const {
        if (frequencies_.size() != views_.size())
            throw std::invalid_argument("frequencies: not counted yet");
        return set_;
    }

    SketchSet counted_for(Measure measure) const {
        counted();
        return set_for(measure);
    }

    void use_frequencies(std::vector<InputArray<uint8_t>> frequencies) {
        check_lengths(frequencies);
        frequencies_ = std::move(frequencies);
        for (size_t n = 0; n < views_.size(); ++n) views_[n].frequency = frequencies_[n].data();
    }

    void use_condition(std::optional<InputArray<uint64_t>> category,
                       std::optional<InputArray<uint64_t>> simhash, int distance,
                       std::pair<uint32_t, uint32_t> least_size) {
        for (const auto& column : {category, simhash})
            if (column && column->size() != size_.size())
                throw std::invalid_argument("condition: want a value for every row");
        category_ = category;
        simhash_ = simhash;
        set_.condition = {category_ ? category_->data() : nullptr,
                          simhash_ ? simhash_->data() : nullptr,
                          distance,
                          {least_size.first, least_size.second}};
    }

    template <typename Arrays>
    void check_lengths(const Arrays& arrays) const {
        bool right = arrays.size() == chunks_.size();
        for (size_t n = 0; right && n < arrays.size(); ++n)
            right = arrays[n].size() == chunks_[n].first.size();
        if (!right) throw std::invalid_argument("frequencies: want one for every element");
    }

    void check_range(size_t begin, size_t end) const {
        if (begin > end || end > set_.count)
            throw std::invalid_argument("documents: want a range of those of the set");
    }

    std::vector<Pair> checked(const PairTable& table) const {
        const auto* first = reinterpret_cast<const Pair*>(table.data());
        std::vector<Pair> pairs(first, first + table.shape(0));
        for (const Pair& pair : pairs)
            if (pair.a >= set_.count || pair.b >= set_.count)
                throw std::invalid_argument("pairs: a document beyond the last one");
        return pairs;
    }

   private:
    std::vector<Chunk> chunks_;
    bool words_;
    InputArray<uint32_t> rows_, size_;
    InputArray<uint8_t> level_;
    std::optional<InputArray<uint32_t>> given_visits_;
    FileReader reader_;
    std::vector<InputArray<uint8_t>> frequencies_;
    std::optional<InputArray<uint64_t>> category_, simhash_;
    std::vector<SketchChunk> views_;
    std::vector<uint32_t> visits_;
    SketchSet set_;
};

using Fraction = std::pair<uint64_t, uint64_t>;

JoinRule join_rule(const SketchSet& set, std::string_view measure, Fraction floor) {
    const JoinRule rule{measure_argument(measure), ratio_argument(floor), set.smallest};
    if (rule.measure == Measure::contained || rule.measure == Measure::agreement)
        throw std::invalid_argument("measure: no join by that: want resemblance or containment");
    return rule;
}

size_t elements(const OwningSketchSet& self) {
    size_t total = 0;
    for (size_t i = 0; i < self.set().count; ++i) total += self.set().elements(i).size();
    return total;
}

void count(FrequencyTable& table, const OwningSketchSet& sketches, size_t begin, size_t end,
           size_t threads) {
    sketches.check_range(begin, end);
    nb::gil_scoped_release release;
    table.count(sketches.set(), begin, end, threads);
}

void write(const FrequencyTable& table, const OwningSketchSet& sketches, size_t begin, size_t end,
           size_t threads, std::vector<OutputArray<uint8_t>> out) {
    sketches.check_range(begin, end);
    sketches.check_lengths(out);
    std::vector<uint8_t*> arrays;
    for (auto& array : out) arrays.push_back(array.data());
    nb::gil_scoped_release release;
    table.write(sketches.set(), begin, end, threads, arrays);
}

void check_documents(const Masses& self, size_t begin, size_t end) {
    if (begin > end || end > self.documents())
        throw std::invalid_argument("documents: beyond the last one");
}

void add_documents(Masses& self, size_t begin, size_t end, size_t threads) {
    check_documents(self, begin, end);
    nb::gil_scoped_release release;
    self.add(begin, end, threads);
}

void find_hubs(const Masses& self, Fraction threshold, size_t begin, size_t end, size_t threads,
               OutputArray<uint32_t> hubs) {
    const Ratio ratio = ratio_argument(threshold);
    check_documents(self, begin, end);
    if (hubs.size() != self.documents())
        throw std::invalid_argument("hubs: want one of every document");
    nb::gil_scoped_release release;
    self.find_hubs(ratio, begin, end, threads, {hubs.data(), hubs.size()});
}

std::pair<Array<uint64_t>, Array<uint32_t>> list_heads(const Masses& self) {
    std::vector<uint64_t> keys;
    std::vector<uint32_t> documents;
    {
        nb::gil_scoped_release release;
        for (const auto& [key, document] : self.heads()) {
            keys.push_back(key);
            documents.push_back(document);
        }
    }
    return {to_array(std::move(keys)), to_array(std::move(documents))};
}

std::pair<Array<uint64_t>, Array<int64_t>> keys_of_masses(const OwningSketchSet& self,
                                                          uint8_t least_frequency, size_t keys,
                                                          size_t begin, size_t end,
                                                          size_t threads) {
    self.check_range(begin, end);
    const SketchSet& set = self.counted();
    Lists<uint64_t> made;
    {
        nb::gil_scoped_release release;
        made = mass_keys(set, {least_frequency, keys, 1}, begin, end, threads);
    }
    return {to_array(std::move(made.values)), to_array(std::move(made.offsets))};
}

Array<uint64_t> frequent(const OwningSketchSet& self, uint8_t least_frequency, int bits,
                         size_t begin, size_t end, size_t threads) {
    self.check_range(begin, end);
    if (bits < 1 || bits > 63) throw std::invalid_argument("bits: out of range: want 1 to 63");
    const SketchSet& set = self.counted();
    std::vector<uint64_t> made;
    {
        nb::gil_scoped_release release;
        made = frequent_counters(set, least_frequency, bits, begin, end, threads);
    }
    return to_array(std::move(made));
}

template <typename Entry, typename Value>
std::pair<Table<Value>, Array<uint64_t>> postings(const OwningSketchSet& self,
                                                  std::string_view measure, Fraction floor,
                                                  uint8_t level, size_t begin, size_t end,
                                                  size_t smallest_native, bool visited,
                                                  size_t threads, OutputArray<uint32_t> counts,
                                                  OutputArray<uint32_t> bounds,
                                                  SignatureTable<uint64_t> signatures) {
    const SketchSet set = self.counted_for(measure_argument(measure));
    const JoinRule rule = join_rule(set, measure, floor);
    if (counts.size() != set.count || bounds.size() != set.count || begin > end ||
        end > set.count || level > 63)
        throw std::invalid_argument("postings: want a range of the set's documents");
    if (signatures.shape(0) != 0 && signatures.shape(0) != set.count)
        throw std::invalid_argument("signatures: want one for each document, or none");
    Postings<Entry> made = [&] {
        nb::gil_scoped_release release;
        return make_postings<Entry>(
            set, rule, level, begin, end, smallest_native, visited, threads,
            {counts.data(), counts.size()}, {bounds.data(), bounds.size()},
            {reinterpret_cast<Signature*>(signatures.data()), signatures.shape(0)});
    }();
    constexpr size_t columns = sizeof(Entry) / sizeof(Value);
    return {to_table<Value, columns>(std::move(made.entries)),
            to_array(std::move(made.bucket_ends))};
}

using Run = std::pair<PostingTable, InputArray<uint64_t>>;

// A LevelIndex together with the set and the arrays that it looks at.
class OwningLevelIndex {
   public:
    OwningLevelIndex(const OwningSketchSet& sketches, std::string_view measure, Fraction floor,
                     uint8_t level, std::vector<Run> runs, InputArray<uint32_t> counts,
                     SignatureTable<const uint64_t> signatures, InputArray<uint32_t> hubs,
                     InputArray<uint32_t> groups, size_t least_contained, size_t first_bucket,
                     size_t last_bucket, size_t threads)
        : sketches_(sketches.counted_for(measure_argument(measure))),
          counts_(counts),
          signatures_(signatures),
          hubs_(hubs),
          groups_(groups) {
        JoinRule rule = join_rule(sketches_, measure, floor);
        rule.least_contained = least_contained;
        const size_t documents = sketches_.count;
        bool right = counts.size() == documents &&
                     (signatures.shape(0) == 0 || signatures.shape(0) == documents) &&
                     (hubs.size() == 0 || hubs.size() == documents) &&
                     (groups.size() == 0 || groups.size() == documents) &&
                     first_bucket < last_bucket && last_bucket <= buckets && level <= 63;
        for (size_t i = 0; right && i < hubs.size(); ++i)
            right = hubs.data()[i] == no_hub || hubs.data()[i] < i;
        size_t total = 0;
        std::vector<PostingRun> views;
        for (const auto& [entries, ends] : runs) {
            right = right && ends.size() == last_bucket - first_bucket;
            for (size_t i = 0; right && i < ends.size(); ++i)
                right = ends.data()[i] <= entries.shape(0) &&
                        (i == 0 || ends.data()[i - 1] <= ends.data()[i]);
            const auto* postings = reinterpret_cast<const Posting*>(entries.data());
            for (size_t i = 0; right && i < entries.shape(0); ++i)
                right = postings[i].document < documents;
            views.push_back({postings, ends.data()});
            total += entries.shape(0);
        }
        if (!right || total >> 32)
            throw std::invalid_argument("postings: they do not belong to these sketches");
        const LevelJoin join{
            sketches_,
            rule,
            level,
            {counts.data(), counts.size()},
            {reinterpret_cast<const Signature*>(signatures.data()), signatures.shape(0)},
            {hubs.data(), hubs.size()},
            {groups.data(), groups.size()},
            first_bucket,
            last_bucket};
        nb::gil_scoped_release release;
        index_ = std::make_unique<LevelIndex>(join, views, threads);
    }

    auto probe(size_t begin, size_t end, size_t threads, OutputArray<uint32_t> leaders,
               Fraction surely) const {
        if (begin > end || end > sketches_.count)
            throw std::invalid_argument("probe: want a range of the set's documents");
        if (leaders.size() != 0 && leaders.size() != sketches_.count)
            throw std::invalid_argument("leaders: want one for each document");
        const Leaders led{{leaders.data(), leaders.size()}, ratio_argument(surely)};
        std::vector<Pair> pairs;
        {
            nb::gil_scoped_release release;
            pairs = index_->probe(begin, end, threads, led);
        }
        return to_table<uint32_t, 4>(std::move(pairs));
    }

   private:
    SketchSet sketches_;
    InputArray<uint32_t> counts_;
    SignatureTable<const uint64_t> signatures_;
    InputArray<uint32_t> hubs_, groups_;
    std::unique_ptr<LevelIndex> index_;
};

using Common = std::tuple<uint64_t, uint32_t, uint32_t>;
using MadeLists =
    std::tuple<Array<uint32_t>, Array<uint64_t>, std::vector<Common>, uint64_t, uint64_t>;

MadeLists finish_lists(ListCollector& self, size_t threads) {
    ElementLists made;
    {
        nb::gil_scoped_release release;
        made = self.finish(threads);
    }
    std::vector<Common> commonest;
    for (const ElementCount& each : made.commonest)
        commonest.emplace_back(each.element, each.documents, each.first);
    return {to_array(std::move(made.documents)), to_array(std::move(made.ends)),
            std::move(commonest), made.elements, made.cut_elements};
}

using Lists = std::pair<InputArray<uint32_t>, InputArray<uint64_t>>;

ListView checked(const Lists& lists, size_t documents) {
    const auto& [members, ends] = lists;
    bool right =
        ends.size() == 0 ? members.size() == 0 : ends.data()[ends.size() - 1] == members.size();
    for (size_t i = 1; right && i < ends.size(); ++i) right = ends.data()[i - 1] <= ends.data()[i];
    for (size_t i = 0; right && i < members.size(); ++i) right = members.data()[i] < documents;
    if (!right) throw std::invalid_argument("lists: they do not belong to these sketches");
    return {{members.data(), members.size()}, {ends.data(), ends.size()}};
}

void add_expansions(const OwningSketchSet& self, Lists lists, OutputArray<uint64_t> expansions) {
    const ListView view = checked(lists, self.set().count);
    if (expansions.size() != self.set().count)
        throw std::invalid_argument("expansions: want one for each document");
    nb::gil_scoped_release release;
    count_expansions(view, {expansions.data(), expansions.size()});
}

// Takes a view of a mapped file out of this process's memory.
void let_go(const ListView& view) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto drop = [page](const void* data, size_t size) {
        // Whole pages: those at the edges are of the same file.
        const uintptr_t begin = reinterpret_cast<uintptr_t>(data) / page * page;
        const uintptr_t end = reinterpret_cast<uintptr_t>(data) + size;
        if (size) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    };
    drop(view.documents.data(), view.documents.size_bytes());
    drop(view.ends.data(), view.ends.size_bytes());
}

auto expand_lists(const OwningSketchSet& self, std::vector<Lists> lists, size_t mapped,
                  InputArray<uint32_t> counts, InputArray<uint64_t> expansions, Fraction floor,
                  size_t begin, size_t end, size_t threads) {
    const Ratio ratio = ratio_argument(floor);
    std::vector<ListView> views;
    const auto done = [&](size_t number) {
        if (number >= mapped) let_go(views[number]);
    };
    for (const Lists& each : lists) {
        views.push_back(checked(each, self.set().count));
        done(views.size() - 1);
    }
    if (expansions.size() != self.set().count || counts.size() != self.set().count || begin > end ||
        end > self.set().count)
        throw std::invalid_argument("expand: want a range of the set's documents");
    std::vector<Pair> pairs;
    {
        nb::gil_scoped_release release;
        pairs = expand({counts.data(), counts.size()}, views,
                       {expansions.data(), expansions.size()}, ratio, begin, end, threads, done);
    }
    return to_table<uint32_t, 4>(std::move(pairs));
}

// A PartnerFinder together with the arrays that it looks at.
class OwningPartnerFinder {
   public:
    OwningPartnerFinder(const OwningSketchSet& sketches, std::string_view measure, Fraction floor,
                        InputArray<uint32_t> documents, InputArray<uint8_t> marks)
        : sketches_(sketches.set_for(measure_argument(measure))),
          documents_(documents),
          marks_(marks) {
        const JoinRule rule = join_rule(sketches_, measure, floor);
        bool right = marks.size() == sketches_.count;
        for (size_t i = 0; right && i < documents.size(); ++i)
            right = documents.data()[i] < sketches_.count;
        if (!right) throw std::invalid_argument("partners: a document beyond the last one");
        nb::gil_scoped_release release;
        finder_ = std::make_unique<PartnerFinder>(sketches_, rule,
                                                  std::span(documents.data(), documents.size()),
                                                  std::span(marks.data(), marks.size()));
    }

    auto find(size_t begin, size_t end, size_t threads) const {
        if (begin > end || end > sketches_.count)
            throw std::invalid_argument("partners: want a range of the set's documents");
        std::vector<Pair> pairs;
        {
            nb::gil_scoped_release release;
            pairs = finder_->find(begin, end, threads);
        }
        return to_table<uint32_t, 4>(std::move(pairs));
    }

   private:
    SketchSet sketches_;
    InputArray<uint32_t> documents_;
    InputArray<uint8_t> marks_;
    std::unique_ptr<PartnerFinder> finder_;
};

auto measure_pairs(const OwningSketchSet& self, std::string_view name, PairTable table,
                   size_t threads) {
    const Measure kind = measure_argument(name);
    std::vector<Pair> pairs = self.checked(table);
    {
        nb::gil_scoped_release release;
        measure(self.set_for(kind), kind, threads, pairs);
    }
    return to_table<uint32_t, 4>(std::move(pairs));
}

}  // namespace

void bind_sketch_set(nb::module_& module) {
    static_assert(sizeof(Posting) == 3 * sizeof(uint32_t));
    static_assert(sizeof(KeyedPosting) == 2 * sizeof(uint64_t));
    static_assert(sizeof(Signature) == Signature::words * sizeof(uint64_t));
    nb::class_<OwningSketchSet>(module, "SketchSet",
                                "Sketches in chunks, and those of them that take part in a join.")
        .def(
            nb::init<std::vector<OwningSketchSet::Chunk>, size_t, InputArray<uint32_t>,
                     InputArray<uint32_t>, InputArray<uint8_t>, uint64_t,
                     std::vector<std::pair<int, int64_t>>, bool, bool,
                     std::optional<InputArray<uint32_t>>>(),
            "chunks"_a, "chunk_rows"_a, "rows"_a, "size"_a, "level"_a, "smallest"_a,
            "files"_a = std::vector<std::pair<int, int64_t>>(), "words"_a = false,
            "shingles_only"_a = false, "visits"_a = nb::none(),
            "chunks: (values, offsets) of chunk_rows rows each; rows: those that take part, in "
            "document order; size, level: of all rows; smallest: the K of min:K, else 0; files: "
            "open "
            "file, which is closed in the end, and first byte of every chunk's values; words: "
            "whether short documents have words, which count for resemblance unless "
            "shingles_only; visits: the documents in the order of their rows, which is found if it "
            "is not given.")
        .def_prop_ro("reads_files", &OwningSketchSet::reads_files,
                     "Whether single sketches are read from their files, and not used in place.")
        .def("elements", &elements, "Elements of all documents that take part.")
        .def("use_frequencies", &OwningSketchSet::use_frequencies, "frequencies"_a,
             "Takes the frequencies, an array for each chunk, for what follows.")
        .def(
            "use_condition", &OwningSketchSet::use_condition, "category"_a.none(),
            "simhash"_a.none(), "distance"_a, "least_size"_a,
            "Only comparable documents are joined, or have hubs: of one category (a hash for every "
            "row), with simhashes (for every row) that differ in at most `distance` bits, and of "
            "sizes of which the smaller is at least that ratio of the larger; 0 for any.")
        .def("postings", &postings<Posting, uint32_t>, "measure"_a, "floor"_a, "level"_a, "begin"_a,
             "end"_a, "smallest_native"_a, "visited"_a, "threads"_a, "counts"_a, "bounds"_a,
             "signatures"_a,
             "Postings (key in the bucket, document, position) by bucket, and where each bucket "
             "ends; writes the documents' elements at the level into counts and bounds, which has "
             "no fewer before, and what they look like from afar into signatures, if there are "
             "any.")
        .def("keyed_postings", &postings<KeyedPosting, uint64_t>, "measure"_a, "floor"_a, "level"_a,
             "begin"_a, "end"_a, "smallest_native"_a, "visited"_a, "threads"_a, "counts"_a,
             "bounds"_a, "signatures"_a,
             "The same for whoever brings them together: whole keys; position and document.")
        .def("frequent_counters", &frequent, "least_frequency"_a, "bits"_a, "begin"_a, "end"_a,
             "threads"_a,
             "The counters, of 2^bits, of elements of documents from begin to end that have this "
             "frequency or a higher one, ascending.")
        .def("release", &OwningSketchSet::release, "begin"_a, "end"_a,
             "Takes the sketches of documents from begin to end, in the order of rows, and their "
             "frequencies out of memory, if it reads files.")
        .def("mass_keys", &keys_of_masses, "least_frequency"_a, "keys"_a, "begin"_a, "end"_a,
             "threads"_a,
             "The keys by which masses are found of documents from begin to end, in their order, "
             "and where each document's begin.")
        .def("add_expansions", &add_expansions, "lists"_a, "expansions"_a,
             "Adds to each document how often it comes before another one in a list.")
        .def("expand", &expand_lists, "lists"_a, "mapped"_a, "counts"_a, "expansions"_a, "floor"_a,
             "begin"_a, "end"_a, "threads"_a,
             "Pairs whose first document is from begin to end: a, b, common, sampled.")
        .def("measure", &measure_pairs, "measure"_a, "pairs"_a, "threads"_a,
             "The same pairs with their common and sampled elements counted.");
    nb::class_<FrequencyTable>(module, "FrequencyTable",
                               "Counters of how many documents have each element.")
        .def(
            "__init__",
            [](FrequencyTable* self, uint64_t elements, uint64_t bytes) {
                new (self) FrequencyTable(frequency_bits(elements), bytes);
            },
            "elements"_a, "bytes"_a)
        .def_prop_ro("passes", &FrequencyTable::passes,
                     "How often everything has to be counted and written, a part each time.")
        .def("clear", &FrequencyTable::clear, "number"_a, "Begins with a pass.")
        .def("count", &count, "sketches"_a, "begin"_a, "end"_a, "threads"_a,
             "Counts the elements of documents from begin to end.")
        .def("write", &write, "sketches"_a, "begin"_a, "end"_a, "threads"_a, "out"_a,
             "Writes their frequencies, into an array for each chunk.");
    nb::class_<Masses>(module, "Masses", "Where very many documents all resemble one another.")
        .def(
            "__init__",
            [](Masses* self, const OwningSketchSet& sketches, uint8_t least_frequency, size_t keys,
               size_t heads, bool by_category, size_t every) {
                if (least_frequency < 1 || keys < 1 || heads < 1 || every < 1)
                    throw std::invalid_argument("mass rule: out of range: want at least 1");
                new (self)
                    Masses(sketches.counted(), {least_frequency, keys, heads}, by_category, every);
            },
            nb::keep_alive<1, 2>(), "sketches"_a, "least_frequency"_a, "keys"_a, "heads"_a,
            "by_category"_a = true, "every"_a = 1,
            "Without `by_category` the heads of a key are the first documents of all. One document "
            "of `every` takes part.")
        .def("add", &add_documents, "begin"_a, "end"_a, "threads"_a,
             "Takes the keys of documents from begin to end; all come in their order.")
        .def("finish", &Masses::finish, nb::call_guard<nb::gil_scoped_release>(),
             "signature_bytes"_a, "threads"_a,
             "Ends the adding. Signatures of the heads, which spare looks at their sketches, are "
             "made if so many bytes have room for them.")
        .def("find_hubs", &find_hubs, "threshold"_a, "begin"_a, "end"_a, "threads"_a, "hubs"_a,
             "Writes their hubs, once it is finished, into an array of all documents' hubs, which "
             "are UNKNOWN_HUB before, or that of a lower threshold if it does not do here.")
        .def("heads", &list_heads,
             "The heads of each key, and the keys, which ascend; those of one in document order.");
    nb::class_<ListCollector>(module, "ListCollector",
                              "Documents under each element that two or more have.")
        .def(
            "__init__",
            [](ListCollector* self, size_t first_bucket, size_t last_bucket, size_t cut_off,
               size_t most_common) {
                if (first_bucket >= last_bucket || last_bucket > buckets)
                    throw std::invalid_argument("lists: want a range of buckets");
                new (self) ListCollector(first_bucket, last_bucket, cut_off, most_common);
            },
            "first_bucket"_a, "last_bucket"_a, "cut_off"_a, "most_common"_a)
        .def(
            "add",
            [](ListCollector& self, const OwningSketchSet& sketches, size_t begin, size_t end,
               size_t threads) {
                sketches.check_range(begin, end);
                nb::gil_scoped_release release;
                self.add(sketches.set(), begin, end, threads);
            },
            "sketches"_a, "begin"_a, "end"_a, "threads"_a,
            "Takes the elements of documents from begin to end.")
        .def("finish", &finish_lists, "threads"_a,
             "Documents by element, where each list ends, the commonest elements (element, "
             "documents, first document), how many elements there are, and how many of them the "
             "cut-off took.");
    nb::class_<OwningLevelIndex>(module, "LevelIndex",
                                 "Postings of one level by key, ready to be probed. Those it is "
                                 "made of, unless they lie in a file, are lost.")
        .def(nb::init<const OwningSketchSet&, std::string_view, Fraction, uint8_t, std::vector<Run>,
                      InputArray<uint32_t>, SignatureTable<const uint64_t>, InputArray<uint32_t>,
                      InputArray<uint32_t>, size_t, size_t, size_t, size_t>(),
             nb::keep_alive<1, 2>(), "sketches"_a, "measure"_a, "floor"_a, "level"_a, "runs"_a,
             "counts"_a, "signatures"_a, "hubs"_a, "groups"_a, "least_contained"_a,
             "first_bucket"_a, "last_bucket"_a, "threads"_a)
        .def("probe", &OwningLevelIndex::probe, "begin"_a, "end"_a, "threads"_a, "leaders"_a,
             "surely"_a,
             "Pairs found by documents from begin to end: a, b, common, sampled. With `leaders`, "
             "one of each document or NO_HUB, those of two that have one may be left out, and who "
             "reaches `surely` with an earlier one that has none gets it.");
    nb::class_<OwningPartnerFinder>(
        module, "PartnerFinder",
        "Pairs of some documents with each other and with marked ones that reach a floor.")
        .def(nb::init<const OwningSketchSet&, std::string_view, Fraction, InputArray<uint32_t>,
                      InputArray<uint8_t>>(),
             nb::keep_alive<1, 2>(), "sketches"_a, "measure"_a, "floor"_a, "documents"_a, "marks"_a)
        .def("find", &OwningPartnerFinder::find, "begin"_a, "end"_a, "threads"_a,
             "Those found at documents from begin to end: a, b, common, sampled.");
    module.attr("POSTING_BUCKETS") = buckets;
    module.attr("NO_HUB") = no_hub;
    module.attr("UNKNOWN_HUB") = unknown_hub;
    module.attr("SIGNATURE_WORDS") = Signature::words;
}

}  // namespace roughly
