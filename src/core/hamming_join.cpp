#include "hamming_join.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "parallel.hpp"

namespace roughly {

namespace {

// Stored values that are looked up in one table after the other, while the cache holds them.
constexpr size_t slice_values = 16384;

}  // namespace

HammingJoin::HammingJoin(std::span<const uint64_t> queries, unsigned bits, unsigned k,
                         unsigned blocks, Simd level, size_t threads)
    : bits_(bits), k_(k), kernels_(&hamming_kernels(level)) {
    if (queries.size() >= 0xFFFFFFFF) throw std::invalid_argument("queries: more than 2^32 - 2");
    const auto key_bits = std::min(24u, static_cast<unsigned>(std::bit_width(queries.size())));
    for (HammingBlock& block : hamming_blocks(bits, k, blocks, key_bits))
        tables_.push_back({std::move(block), {}, {}, {}, {}});
    in_parallel(tables_.size(), threads, [&] {
        return [&](size_t number) {
            Table& table = tables_[number];
            table.starts.assign((size_t{1} << table.block.bits) + 2, 0);
            // starts[key + 2] first counts, then starts[key + 1] moves on while values are put in.
            for (const uint64_t value : queries) ++table.starts[table.block.key(value) + 2];
            for (size_t i = 2; i < table.starts.size(); ++i) table.starts[i] += table.starts[i - 1];
            table.signatures.resize(queries.size() + 8);
            table.values.resize(queries.size());
            table.queries.resize(queries.size());
            for (size_t i = 0; i < queries.size(); ++i) {
                const uint32_t at = table.starts[table.block.key(queries[i]) + 1]++;
                table.signatures[at] = table.view().signature(queries[i]);
                table.values[at] = queries[i];
                table.queries[at] = static_cast<uint32_t>(i);
            }
        };
    });
}

bool HammingJoin::found_before(size_t table, uint64_t difference) const {
    for (size_t i = 0; i < table; ++i) {
        const HammingBlock& block = tables_[i].block;
        if (static_cast<unsigned>(std::popcount(block.key(difference))) <= block.radius)
            return true;
    }
    return false;
}

std::vector<HammingPair> HammingJoin::probe(std::span<const uint64_t> stored, uint64_t first,
                                            size_t threads) const {
    for (const uint64_t value : stored)
        if (value & ~low_bits(bits_))
            throw std::invalid_argument("stored: a value has more bits than the queries");
    const size_t slices = (stored.size() + slice_values - 1) / slice_values;
    std::vector<std::vector<HammingPair>> found(slices);
    in_parallel(slices, threads, [&] {
        return [&](size_t slice) {
            struct Sink {
                const HammingJoin* join;
                size_t table;
                std::span<const uint64_t> values;
                uint64_t first;
                std::vector<HammingPair>* found;
                static void take(void* context, uint64_t index, uint64_t at) {
                    const auto* self = static_cast<Sink*>(context);
                    const Table& table = self->join->tables_[self->table];
                    const uint64_t difference = self->values[index] ^ table.values[at];
                    if (self->join->found_before(self->table, difference)) return;
                    self->found->push_back({self->first + index, table.queries[at]});
                }
            };
            const size_t begin = slice * slice_values;
            const auto values =
                stored.subspan(begin, std::min(slice_values, stored.size() - begin));
            for (size_t number = 0; number < tables_.size(); ++number) {
                const Table& table = tables_[number];
                Sink sink{this, number, values, first + begin, &found[slice]};
                kernels_->probe_buckets(table.view(), values.data(), values.size(),
                                        table.block.flips.data(), table.block.flips.size(), k_,
                                        Sink::take, &sink);
            }
            std::sort(found[slice].begin(), found[slice].end());
        };
    });
    std::vector<HammingPair> all;
    for (const auto& some : found) all.insert(all.end(), some.begin(), some.end());
    return all;
}

}  // namespace roughly
