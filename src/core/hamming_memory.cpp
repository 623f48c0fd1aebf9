#include "hamming_memory.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace roughly {

namespace {

constexpr uint32_t none = 65;

}  // namespace

HammingMemory::HammingMemory(unsigned bits, unsigned k, unsigned blocks, size_t capacity,
                             Simd level)
    : bits_(bits), k_(k), kernels_(&hamming_kernels(level)) {
    const auto key_bits = std::min(24u, static_cast<unsigned>(std::bit_width(capacity)));
    for (HammingBlock& block : hamming_blocks(bits, k, blocks, key_bits)) {
        std::vector<uint32_t> heads(size_t{1} << block.bits);
        tables_.push_back({std::move(block), std::move(heads), {}});
    }
}

void HammingMemory::add(uint64_t value) {
    if (value & ~low_bits(bits_))
        throw std::invalid_argument("hamming index: a value has more bits than the index");
    if (values_.size() >= 0xFFFFFFFE) throw std::length_error("hamming index: too many values");
    values_.push_back(value);
    const auto number = static_cast<uint32_t>(values_.size());
    for (Table& table : tables_) {
        uint32_t& head = table.heads[table.block.key(value)];
        table.next.push_back(head);
        head = number;
    }
}

void HammingMemory::forget(size_t count) {
    for (count = std::min(count, values_.size()); count > 0; --count) {
        for (Table& table : tables_) {
            table.heads[table.block.key(values_.back())] = table.next.back();
            table.next.pop_back();
        }
        values_.pop_back();
    }
}

template <typename Take>
void HammingMemory::probe(uint64_t x, Take& take) const {
    const auto sink = [](void* context, size_t, uint64_t index, uint64_t, uint64_t value) {
        (*static_cast<Take*>(context))(index, value);
    };
    for (const Table& table : tables_) {
        const uint64_t head = table.block.key(x);
        const BucketProbes wanted{
            table.block.flips.data(), table.block.flips.size(), 0, k_, &head, &x, 1};
        kernels_->probe_chain({table.heads.data(), table.next.data(), values_.data()}, wanted, sink,
                              &take);
    }
}

void HammingMemory::find(uint64_t x, std::vector<int64_t>& numbers) const {
    const auto begin = static_cast<ptrdiff_t>(numbers.size());
    auto take = [&](uint64_t index, uint64_t) { numbers.push_back(static_cast<int64_t>(index)); };
    probe(x, take);
    std::sort(numbers.begin() + begin, numbers.end());
    numbers.erase(std::unique(numbers.begin() + begin, numbers.end()), numbers.end());
}

HammingMatch HammingMemory::nearest(uint64_t x) const {
    HammingMatch best{0, 0, none};
    auto take = [&](uint64_t index, uint64_t value) {
        const auto far = static_cast<uint32_t>(std::popcount(value ^ x));
        if (far < best.distance || (far == best.distance && index < best.position))
            best = {index, value, far};
    };
    probe(x, take);
    return best;
}

void HammingMemory::prepare_heads(uint64_t x) const {
    for (const Table& table : tables_)
        for (const uint64_t flip : table.block.flips)
            __builtin_prefetch(&table.heads[table.block.key(x) ^ flip]);
}

void HammingMemory::prepare_values(uint64_t x) const {
    for (const Table& table : tables_) {
        for (const uint64_t flip : table.block.flips) {
            const size_t number = table.heads[table.block.key(x) ^ flip];
            if (number == 0) continue;
            __builtin_prefetch(&values_[number - 1]);
            __builtin_prefetch(&table.next[number - 1]);
        }
    }
}

void HammingMemory::seen(std::span<const uint64_t> values, std::span<HammingMatch> known,
                         uint64_t first) {
    // Memory answers late: what a value needs is asked for while others are decided.
    constexpr size_t heads_ahead = 8, values_ahead = 4;
    for (size_t i = 0; i < values.size(); ++i) {
        if (i + heads_ahead < values.size()) prepare_heads(values[i + heads_ahead]);
        if (i + values_ahead < values.size()) prepare_values(values[i + values_ahead]);
        HammingMatch here = nearest(values[i]);
        here.position += first;
        if (here.distance < known[i].distance) known[i] = here;
        if (known[i].distance >= none) add(values[i]);
    }
}

}  // namespace roughly
