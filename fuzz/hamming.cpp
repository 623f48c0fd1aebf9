// Values as bytes give them: compressed blocks are undone, whatever is no block is refused, and an
// index of any design finds what looking at each value finds, at every instruction set.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "hamming_index.hpp"
#include "xor_block.hpp"

using namespace roughly;

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

void decode_anything(const uint8_t* data, size_t size) {
    XorCodeLengths lengths{};
    std::copy(data, data + std::min(size, lengths.size()), lengths.begin());
    std::vector<uint64_t> block(xor_block_words);
    std::memcpy(block.data(), data, std::min(size, block.size() * 8));
    try {
        std::vector<uint64_t> values;
        XorBlockDecoder(lengths, 64).decode(block.data(), values);
    } catch (const std::invalid_argument&) {
    }
}

void undo(std::vector<uint64_t> values) {
    std::sort(values.begin(), values.end());
    const XorBlocks made = encode_xor_blocks(values, 64);
    const XorBlockDecoder decoder(made.lengths, 64);
    std::vector<uint64_t> again;
    for (size_t i = 0; i < made.keys.size(); ++i) {
        decoder.decode(&made.blocks[i * xor_block_words], again);
        require(again.back() == made.keys[i] && again.size() == made.ranks[i + 1]);
    }
    require(again == values);
}

void find(const std::vector<uint64_t>& values, Coding coding) {
    const std::vector<TableShape> wanted{
        {~uint64_t{0} << 32, 1, coding},
        {~uint64_t{0} >> 32, 1, coding == Coding::elias_fano ? Coding::pointer : coding, 0, 2}};
    BuiltHamming built = build_hamming(values, 64, wanted, 1);
    HammingShape shape{64, 3, values.size(), {}};
    std::vector<TableArrays> arrays;
    for (const BuiltTable& table : built.tables) {
        shape.tables.push_back(table.shape);
        arrays.emplace_back(table.arrays.begin(), table.arrays.end());
    }
    for (const Simd level : simd_levels()) {
        const HammingIndex index(shape, arrays, built.positions, level);
        require(index.values() == values);
        index.find(values, [&](size_t query, const std::vector<int64_t>& found) {
            std::vector<int64_t> near;
            for (size_t i = 0; i < values.size(); ++i)
                if (std::popcount(values[i] ^ values[query]) <= 3)
                    near.push_back(static_cast<int64_t>(i));
            require(found == near);
        });
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    decode_anything(data, size);
    std::vector<uint64_t> values(std::min<size_t>(size / 8, 64));
    if (!values.empty()) std::memcpy(values.data(), data, values.size() * 8);
    undo(values);
    for (const Coding coding : {Coding::plain, Coding::xor_block, Coding::elias_fano})
        find(values, coding);
    return 0;
}
