#include "hamming_table.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "interpolation.hpp"
#include "xor_block.hpp"

namespace roughly {

namespace {

unsigned count_ones(uint64_t value) { return static_cast<unsigned>(std::popcount(value)); }

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

uint64_t shift_left(uint64_t value, unsigned count) { return count < 64 ? value << count : 0; }
uint64_t shift_right(uint64_t value, unsigned count) { return count < 64 ? value >> count : 0; }

// Ranges of values that agree with x in the leading bits, but for a flip.
class RangeTable : public SortedTable {
   public:
    RangeTable(const TableShape& shape, const TableContext& context)
        : permutation_(context.bits, shape.leading),
          context_(context),
          rest_(context.bits - count_ones(shape.leading)),
          flips_(flips_within(count_ones(shape.leading), shape.radius)) {}

    void probe(std::span<const uint64_t> queries, FoundValues* found) const override {
        for (const uint64_t x : queries) {
            const uint64_t permuted = permutation_.forward(x);
            Sink sink{this, found++};
            for (const uint64_t flip : flips_) {
                const uint64_t low = shift_left(shift_right(permuted, rest_) ^ flip, rest_);
                visit(low, low | low_bits(rest_), permuted, sink);
            }
        }
    }

   protected:
    struct Sink {
        const RangeTable* table;
        FoundValues* found;
        static void take(void* context, uint64_t, uint64_t value) {
            const auto* self = static_cast<Sink*>(context);
            self->found->add(self->table->permutation_.inverse(value));
        }
    };
    virtual void visit(uint64_t low, uint64_t high, uint64_t permuted, Sink& sink) const = 0;

    BitPermutation permutation_;
    TableContext context_;
    unsigned rest_;
    std::vector<uint64_t> flips_;
};

class PlainTable final : public RangeTable {
   public:
    PlainTable(const TableShape& shape, const TableArrays& arrays, const TableContext& context)
        : RangeTable(shape, context), values_(arrays.at(0)) {
        require(values_.size() == shape.entries, "plain table: not as many values as it says");
    }

    std::pair<uint64_t, uint64_t> equal_range(uint64_t value) const override {
        const size_t begin = first_from(value);
        return {begin, value == ~uint64_t{0} ? values_.size() : first_from(value + 1)};
    }

    void decode(std::vector<uint64_t>& values) const override {
        for (const uint64_t value : values_) values.push_back(permutation_.inverse(value));
    }

   private:
    size_t first_from(uint64_t value) const {
        return interpolation_search(values_.data(), values_.size(), value);
    }

    void visit(uint64_t low, uint64_t high, uint64_t permuted, Sink& sink) const override {
        // The range is short as a rule: its end is found while walking, in steps that grow.
        size_t begin = first_from(low);
        for (size_t step = 16; begin < values_.size() && values_[begin] <= high; step *= 2) {
            const size_t limit = std::min(values_.size(), begin + step);
            const size_t end = static_cast<size_t>(
                std::upper_bound(values_.begin() + static_cast<ptrdiff_t>(begin),
                                 values_.begin() + static_cast<ptrdiff_t>(limit), high) -
                values_.begin());
            context_.kernels->scan_values(values_.data(), begin, end, permuted, context_.k,
                                          Sink::take, &sink);
            if (end < limit) break;
            begin = end;
        }
    }

    std::span<const uint64_t> values_;
};

class XorBlockTable final : public RangeTable {
   public:
    XorBlockTable(const TableShape& shape, const TableArrays& arrays, const TableContext& context)
        : RangeTable(shape, context),
          blocks_(arrays.at(0)),
          keys_(arrays.at(1)),
          ranks_(arrays.at(2)),
          decoder_(lengths_of(arrays.at(3)), context.bits) {
        require(blocks_.size() == keys_.size() * xor_block_words &&
                    ranks_.size() == keys_.size() + 1 && ranks_.back() == shape.entries,
                "xor blocks: not as many values as they say");
    }

    std::pair<uint64_t, uint64_t> equal_range(uint64_t value) const override {
        // Many equal ones may fill blocks of which each has this key.
        size_t block = first_block(value);
        if (block == keys_.size()) return {0, 0};
        std::vector<uint64_t> values;
        decoder_.decode(&blocks_[block * xor_block_words], values);
        const auto [from, to] = std::equal_range(values.begin(), values.end(), value);
        const uint64_t begin = ranks_[block] + static_cast<uint64_t>(from - values.begin());
        uint64_t end = ranks_[block] + static_cast<uint64_t>(to - values.begin());
        while (end == ranks_[block + 1] && ++block < keys_.size()) {
            values.clear();
            decoder_.decode(&blocks_[block * xor_block_words], values);
            end += static_cast<uint64_t>(std::upper_bound(values.begin(), values.end(), value) -
                                         values.begin());
        }
        return {begin, end};
    }

    void decode(std::vector<uint64_t>& values) const override {
        const size_t begin = values.size();
        for (size_t block = 0; block < keys_.size(); ++block)
            decoder_.decode(&blocks_[block * xor_block_words], values);
        for (size_t i = begin; i < values.size(); ++i) values[i] = permutation_.inverse(values[i]);
    }

   private:
    static XorCodeLengths lengths_of(std::span<const uint64_t> bytes) {
        require(bytes.size() * 8 >= xor_symbols, "xor blocks: no code");
        XorCodeLengths lengths{};
        for (size_t i = 0; i < xor_symbols; ++i)
            lengths[i] = static_cast<uint8_t>(bytes[i / 8] >> i % 8 * 8);
        return lengths;
    }

    size_t first_block(uint64_t value) const {
        return interpolation_search(keys_.data(), keys_.size(), value);
    }

    void visit(uint64_t low, uint64_t high, uint64_t permuted, Sink& sink) const override {
        static thread_local std::vector<uint64_t> values;
        for (size_t block = first_block(low); block < keys_.size(); ++block) {
            values.clear();
            decoder_.decode(&blocks_[block * xor_block_words], values);
            const auto from = std::lower_bound(values.begin(), values.end(), low);
            const auto to = std::upper_bound(from, values.end(), high);
            context_.kernels->scan_values(values.data(), static_cast<size_t>(from - values.begin()),
                                          static_cast<size_t>(to - values.begin()), permuted,
                                          context_.k, Sink::take, &sink);
            if (to != values.end()) break;
        }
    }

    std::span<const uint64_t> blocks_, keys_, ranks_;
    XorBlockDecoder decoder_;
};

class EliasFanoTable final : public SortedTable {
   public:
    EliasFanoTable(const TableShape& shape, const TableArrays& arrays, const TableContext& context)
        : permutation_(context.bits, shape.leading),
          context_(context),
          values_(elias_fano_of(shape, arrays, context.bits)),
          flips_(flips_within(shape.head, shape.radius)) {
        require(shape.head <= count_ones(shape.leading),
                "elias-fano table: a bucket has more bits than the table's key");
    }

    void prepare(std::span<const uint64_t> queries) const override {
        const Asked asked(*this, queries);
        context_.kernels->prepare(values_.view(), asked.probes);
    }

    void probe(std::span<const uint64_t> queries, FoundValues* found) const override {
        const Asked asked(*this, queries);
        Sink sink{this, found, values_.view().width};
        context_.kernels->probe(values_.view(), asked.probes, Sink::take, &sink);
    }

    std::pair<uint64_t, uint64_t> equal_range(uint64_t value) const override {
        return values_.equal_range(value, *context_.kernels);
    }

    void decode(std::vector<uint64_t>& values) const override {
        values_.each([&](uint64_t value) { values.push_back(permutation_.inverse(value)); });
    }

   private:
    // Queries as the kernels take them.
    struct Asked {
        Asked(const EliasFanoTable& table, std::span<const uint64_t> queries)
            : probes{table.flips_.data(),
                     table.flips_.size(),
                     ~uint64_t{0},
                     table.context_.k,
                     heads,
                     values,
                     queries.size()} {
            const unsigned width = table.values_.view().width;
            for (size_t i = 0; i < queries.size(); ++i) {
                const uint64_t permuted = table.permutation_.forward(queries[i]);
                heads[i] = shift_right(permuted, width);
                values[i] = permuted & low_bits(width);
            }
        }
        Asked(const Asked&) = delete;
        uint64_t heads[most_together];
        uint64_t values[most_together];
        BucketProbes probes;
    };
    struct Sink {
        const EliasFanoTable* table;
        FoundValues* found;
        unsigned width;
        static void take(void* context, size_t query, uint64_t index, uint64_t bucket,
                         uint64_t entry) {
            const auto* self = static_cast<Sink*>(context);
            self->found[query].add(
                self->table->permutation_.inverse(shift_left(bucket, self->width) | entry),
                self->table->context_.is_first ? index : FoundValue::unknown);
        }
    };

    BitPermutation permutation_;
    TableContext context_;
    EliasFano values_;
    std::vector<uint64_t> flips_;
};

class PointerTable final : public HammingTable {
   public:
    PointerTable(const TableShape& shape, const TableArrays& arrays, const TableContext& context)
        : permutation_(context.bits, shape.leading),
          context_(context),
          shape_(shape),
          keys_(elias_fano_of(shape, arrays, context.bits)),
          flips_(flips_within(shape.head, shape.radius)) {
        require(context.first != nullptr, "pointer table: no first table to point to");
        require(shape.head + shape.extra <= count_ones(shape.leading),
                "pointer table: more bits than the table's key");
        const uint64_t groups =
            (context.first->size() + low_bits(pointer_group_bits)) >> pointer_group_bits;
        require(groups == 0 || shift_right(groups - 1, shape.pointer) == 0,
                "pointer table: pointers are too narrow");
    }

    void prepare(std::span<const uint64_t> queries) const override {
        const Asked asked(*this, queries);
        context_.kernels->prepare(keys_.view(), asked.probes);
    }

    void probe(std::span<const uint64_t> queries, FoundValues* found) const override {
        const Asked asked(*this, queries);
        static thread_local std::vector<Group> groups;
        groups.clear();
        Sink sink{this, queries.data(), found, &groups, 0};
        context_.kernels->probe(keys_.view(), asked.probes, Sink::take_group, &sink);
        const EliasFanoView& first = context_.first->view();
        for (const Group& group : groups) {
            const size_t begin = group.number << pointer_group_bits;
            const size_t end =
                std::min<size_t>(begin + (size_t{1} << pointer_group_bits), context_.first->size());
            if (begin >= end) continue;
            sink.query = group.query;
            context_.kernels->scan_packed(first.lower, first.width, begin, end,
                                          queries[group.query] & low_bits(first.width), context_.k,
                                          Sink::take_near, &sink);
        }
    }

   private:
    struct Asked {
        Asked(const PointerTable& table, std::span<const uint64_t> queries)
            : probes{table.flips_.data(),
                     table.flips_.size(),
                     low_bits(table.shape_.extra) << table.shape_.pointer,
                     table.shape_.radius,
                     heads,
                     values,
                     queries.size()} {
            const TableShape& shape = table.shape_;
            const unsigned below = table.context_.bits - shape.head - shape.extra;
            for (size_t i = 0; i < queries.size(); ++i) {
                const uint64_t key = shift_right(table.permutation_.forward(queries[i]), below);
                heads[i] = key >> shape.extra;
                values[i] = (key & low_bits(shape.extra)) << shape.pointer;
            }
        }
        Asked(const Asked&) = delete;
        uint64_t heads[most_together];
        uint64_t values[most_together];
        BucketProbes probes;
    };
    struct Group {
        size_t query;
        uint64_t number;
    };
    struct Sink {
        const PointerTable* table;
        const uint64_t* queries;
        FoundValues* found;
        std::vector<Group>* groups;
        size_t query;
        static void take_group(void* context, size_t query, uint64_t, uint64_t, uint64_t entry) {
            const auto* self = static_cast<Sink*>(context);
            const EliasFanoView& first = self->table->context_.first->view();
            const uint64_t group = entry & low_bits(self->table->shape_.pointer);
            const uint64_t* words = first.lower + (group << pointer_group_bits) * first.width / 64;
            __builtin_prefetch(words);
            __builtin_prefetch(words + 8);
            __builtin_prefetch(words + 11);
            self->groups->push_back({query, group});
        }
        // Near in the lower bits: rare enough to look for the others, unless it is known already.
        static void take_near(void* context, uint64_t index, uint64_t) {
            const auto* self = static_cast<Sink*>(context);
            FoundValues& found = self->found[self->query];
            if (found.has_rank(index)) return;
            const uint64_t value = self->table->context_.first->at(index);
            if (count_ones(value ^ self->queries[self->query]) <= self->table->context_.k)
                found.add(value, index);
        }
    };

    BitPermutation permutation_;
    TableContext context_;
    TableShape shape_;
    EliasFano keys_;
    std::vector<uint64_t> flips_;
};

}  // namespace

const std::vector<FoundValue>& FoundValues::finish() {
    if (values_.size() < 2) return values_;
    std::sort(values_.begin(), values_.end(), [](const FoundValue& a, const FoundValue& b) {
        return std::pair(a.value, a.rank) < std::pair(b.value, b.rank);
    });
    const auto same = [](const FoundValue& a, const FoundValue& b) { return a.value == b.value; };
    values_.erase(std::unique(values_.begin(), values_.end(), same), values_.end());
    return values_;
}

std::vector<uint64_t> flips_within(unsigned bits, unsigned radius) {
    constexpr size_t most = size_t{1} << 24;
    std::vector<uint64_t> flips{0};
    for (size_t begin = 0, ones = 0; ones < std::min(bits, radius); ++ones) {
        const size_t end = flips.size();
        for (size_t i = begin; i < end; ++i) {
            const unsigned from = flips[i] ? static_cast<unsigned>(std::bit_width(flips[i])) : 0;
            for (unsigned bit = from; bit < bits; ++bit)
                flips.push_back(flips[i] | uint64_t{1} << bit);
            require(flips.size() <= most, "hamming table: more than 2^24 probes");
        }
        begin = end;
    }
    return flips;
}

EliasFano elias_fano_of(const TableShape& shape, const TableArrays& arrays, unsigned bits) {
    const unsigned width =
        shape.coding == Coding::pointer ? shape.extra + shape.pointer : bits - shape.head;
    require(
        shape.head <= 31 && shape.entries < uint64_t{1} << 31 && shape.head <= bits && width <= 64,
        "elias-fano table: widths out of range");
    const size_t buckets = size_t{1} << shape.head;
    require(arrays.at(0).size() == (shape.entries + buckets) / 64 + 4 &&
                arrays.at(1).size() == ((buckets + ef_sample - 1) / ef_sample + 1) / 2 &&
                arrays.at(2).size() == shape.entries * width / 64 + 2,
            "elias-fano table: not as many values as it says");
    const auto* samples = reinterpret_cast<const uint32_t*>(arrays[1].data());
    return {{arrays[0].data(), samples, arrays[2].data(), shape.head, width}, shape.entries};
}

std::unique_ptr<SortedTable> make_sorted_table(const TableShape& shape, const TableArrays& arrays,
                                               const TableContext& context) {
    switch (shape.coding) {
        case Coding::plain: return std::make_unique<PlainTable>(shape, arrays, context);
        case Coding::xor_block: return std::make_unique<XorBlockTable>(shape, arrays, context);
        case Coding::elias_fano: return std::make_unique<EliasFanoTable>(shape, arrays, context);
        default: throw std::invalid_argument("hamming table: a coding without values");
    }
}

std::unique_ptr<HammingTable> make_pointer_table(const TableShape& shape, const TableArrays& arrays,
                                                 const TableContext& context) {
    return std::make_unique<PointerTable>(shape, arrays, context);
}

}  // namespace roughly
