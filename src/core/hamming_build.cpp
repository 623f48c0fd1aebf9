// How the arrays of a Hamming index are made: the values are sorted once with their positions, and
// every further table is sorted from the distinct ones.
#include <algorithm>
#include <bit>
#include <memory>
#include <stdexcept>

#include "hamming_index.hpp"
#include "packed.hpp"
#include "parallel.hpp"
#include "radix_sort.hpp"
#include "xor_block.hpp"

namespace roughly {

namespace {

struct Placed {
    uint64_t value;
    uint64_t position;
};

unsigned width_of(uint64_t largest) { return static_cast<unsigned>(std::bit_width(largest)); }

// One bucket for one or two values is the smallest coding; none has more bits than the key.
unsigned head_bits(size_t count, unsigned key_bits) {
    return std::min({key_bits, width_of(count), 31u});
}

BuiltTable encode(const TableShape& wanted, std::span<const uint64_t> sorted, unsigned bits) {
    BuiltTable made{wanted, {}};
    made.shape.entries = sorted.size();
    switch (wanted.coding) {
        case Coding::plain: made.arrays.emplace_back(sorted.begin(), sorted.end()); break;
        case Coding::xor_block: {
            XorBlocks blocks = encode_xor_blocks(sorted, bits);
            std::vector<uint64_t> lengths(xor_symbols / 8 + 1);
            for (size_t i = 0; i < xor_symbols; ++i)
                lengths[i / 8] |= uint64_t{blocks.lengths[i]} << i % 8 * 8;
            made.arrays = {std::move(blocks.blocks), std::move(blocks.keys),
                           std::move(blocks.ranks), std::move(lengths)};
            break;
        }
        default: {
            const auto key_bits = static_cast<unsigned>(std::popcount(wanted.leading));
            made.shape.head = head_bits(sorted.size(), key_bits);
            const unsigned width = bits - made.shape.head;
            EliasFanoWriter writer(sorted.size(), made.shape.head, width);
            for (const uint64_t value : sorted)
                writer.append(width < 64 ? value >> width : 0, value & low_bits(width));
            EliasFanoWriter::Arrays arrays = writer.finish();
            made.arrays = {std::move(arrays.upper), std::move(arrays.samples),
                           std::move(arrays.lower)};
        }
    }
    return made;
}

// Sorted keys with the group of the first table in which their values are.
class PointerBuilder {
   public:
    PointerBuilder(const TableShape& wanted, size_t distinct, size_t count, unsigned bits)
        : shape_(wanted), permutation_(bits, wanted.leading), bits_(bits) {
        const auto key_bits = static_cast<unsigned>(std::popcount(wanted.leading));
        shape_.head = head_bits(distinct, key_bits);
        shape_.extra = std::min(wanted.extra, key_bits - shape_.head);
        shape_.pointer = width_of((count - 1) >> pointer_group_bits);
        if (shape_.head + shape_.extra + shape_.pointer > 64)
            throw std::invalid_argument("pointer table: too many values");
    }

    uint64_t entry(uint64_t value, size_t rank) const {
        const unsigned below = bits_ - shape_.head - shape_.extra;
        const uint64_t key = below < 64 ? permutation_.forward(value) >> below : 0;
        return key << shape_.pointer | rank >> pointer_group_bits;
    }

    unsigned entry_bits() const { return shape_.head + shape_.extra + shape_.pointer; }

    BuiltTable encode(std::vector<uint64_t>& sorted) {
        sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
        shape_.entries = sorted.size();
        const unsigned width = shape_.extra + shape_.pointer;
        EliasFanoWriter writer(sorted.size(), shape_.head, width);
        for (const uint64_t entry : sorted) writer.append(entry >> width, entry & low_bits(width));
        EliasFanoWriter::Arrays arrays = writer.finish();
        return {shape_,
                {std::move(arrays.upper), std::move(arrays.samples), std::move(arrays.lower)}};
    }

   private:
    TableShape shape_;
    BitPermutation permutation_;
    unsigned bits_;
};

void check(std::span<const uint64_t> values, unsigned bits, const std::vector<TableShape>& wanted) {
    if (bits < 1 || bits > 64) throw std::invalid_argument("bits: out of range");
    if (values.size() > hamming_largest_count)
        throw std::invalid_argument("hamming index: more than 2^31 - 1 values");
    for (const uint64_t value : values)
        if (value & ~low_bits(bits))
            throw std::invalid_argument("hamming index: a value has more bits than the index");
    for (const TableShape& table : wanted)
        if (table.leading & ~low_bits(bits))
            throw std::invalid_argument("hamming index: leading bits that no value has");
    if (wanted.empty()) return;
    const auto first = static_cast<unsigned>(std::popcount(wanted[0].leading));
    const bool highest = wanted[0].leading == (low_bits(bits) & ~low_bits(bits - first));
    if (!highest || wanted[0].coding == Coding::pointer)
        throw std::invalid_argument("hamming index: the first table is not in order of values");
}

}  // namespace

BuiltHamming build_hamming(std::span<const uint64_t> values, unsigned bits,
                           const std::vector<TableShape>& wanted, size_t threads) {
    check(values, bits, wanted);
    BuiltHamming made;
    const size_t count = values.size();
    if (wanted.empty()) {
        made.positions.assign(values.begin(), values.end());
        return made;
    }
    std::vector<uint64_t> sorted;
    {
        // Not set to zero first: touching so much memory takes a while, and here all threads do.
        const auto placed = std::make_unique_for_overwrite<Placed[]>(count);
        constexpr size_t slice = 1 << 20;
        in_parallel((count + slice - 1) / slice, threads, [&] {
            return [&](size_t piece) {
                const size_t end = std::min((piece + 1) * slice, count);
                for (size_t i = piece * slice; i < end; ++i) placed[i] = {values[i], i};
            };
        });
        {
            const auto scratch = std::make_unique_for_overwrite<Placed[]>(count);
            radix_sort(
                placed.get(), scratch.get(), count, bits,
                [](const Placed& record) { return record.value; }, threads);
        }
        PackedWriter positions;
        const unsigned width = count > 1 ? width_of(count - 1) : 0;
        positions.reserve(count * width);
        sorted.reserve(count);
        for (size_t i = 0; i < count; ++i) {
            positions.append(placed[i].position, width);
            sorted.push_back(placed[i].value);
        }
        made.positions = positions.finish();
    }
    made.tables.push_back(encode(wanted[0], sorted, bits));
    size_t distinct = 0;
    for (size_t i = 0; i < count; ++i) distinct += i == 0 || sorted[i] != sorted[i - 1];
    std::vector<uint64_t> table;
    std::vector<uint64_t> scratch;
    const auto each_distinct = [&](auto entry) {
        table.clear();
        table.reserve(distinct);
        for (size_t i = 0; i < count; ++i)
            if (i == 0 || sorted[i] != sorted[i - 1]) table.push_back(entry(sorted[i], i));
        scratch.resize(distinct);
    };
    const auto itself = [](uint64_t value) { return value; };
    for (size_t i = 1; i < wanted.size(); ++i) {
        if (wanted[i].coding == Coding::pointer && count > 0) {
            PointerBuilder builder(wanted[i], distinct, count, bits);
            each_distinct([&](uint64_t value, size_t rank) { return builder.entry(value, rank); });
            radix_sort(table.data(), scratch.data(), distinct, builder.entry_bits(), itself,
                       threads);
            made.tables.push_back(builder.encode(table));
        } else {
            const BitPermutation permutation(bits, wanted[i].leading);
            each_distinct([&](uint64_t value, size_t) { return permutation.forward(value); });
            radix_sort(table.data(), scratch.data(), distinct, bits, itself, threads);
            TableShape shape = wanted[i];
            if (shape.coding == Coding::pointer) shape.coding = Coding::elias_fano;
            made.tables.push_back(encode(shape, table, bits));
        }
    }
    return made;
}

}  // namespace roughly
