#include "xor_block.hpp"

#include <algorithm>
#include <bit>
#include <queue>
#include <stdexcept>

#include "bit_permutation.hpp"
#include "packed.hpp"

namespace roughly {

namespace {

constexpr unsigned longest_code = 24;
constexpr unsigned count_bits = 16;
constexpr size_t block_bits = xor_block_words * 64;

unsigned symbol_of(uint64_t difference) {
    return difference ? static_cast<unsigned>(std::bit_width(difference) - 1) : 64;
}

// Bits that follow a symbol's code.
unsigned tail_bits(unsigned symbol) { return symbol == 64 ? 0 : symbol; }

// The canonical codes, with their first bit lowest, as they are written.
std::array<uint64_t, xor_symbols> codes_of(const XorCodeLengths& lengths) {
    std::array<uint64_t, xor_symbols> codes{};
    uint64_t code = 0;
    for (unsigned length = 1; length <= longest_code; ++length) {
        code <<= 1;
        for (size_t symbol = 0; symbol < xor_symbols; ++symbol) {
            if (lengths[symbol] != length) continue;
            for (unsigned bit = 0; bit < length; ++bit)
                codes[symbol] |= (code >> bit & 1) << (length - 1 - bit);
            ++code;
        }
    }
    return codes;
}

}  // namespace

XorCodeLengths huffman_lengths(const std::array<uint64_t, xor_symbols>& counts) {
    for (unsigned flatten = 0;; ++flatten) {
        struct Node {
            uint64_t count;
            uint32_t order;  // of making, so that ties fall the same way everywhere
            bool operator>(const Node& other) const {
                return std::pair(count, order) > std::pair(other.count, other.order);
            }
        };
        std::priority_queue<Node, std::vector<Node>, std::greater<>> open;
        std::vector<std::pair<uint32_t, uint32_t>> children(xor_symbols);
        for (uint32_t symbol = 0; symbol < xor_symbols; ++symbol)
            if (counts[symbol]) open.push({(counts[symbol] >> flatten) | 1, symbol});
        XorCodeLengths lengths{};
        if (open.empty()) return lengths;
        if (open.size() == 1) {
            lengths[open.top().order] = 1;
            return lengths;
        }
        while (open.size() > 1) {
            const Node a = open.top();
            open.pop();
            const Node b = open.top();
            open.pop();
            open.push({a.count + b.count, static_cast<uint32_t>(children.size())});
            children.emplace_back(a.order, b.order);
        }
        std::vector<unsigned> depth(children.size());
        unsigned longest = 0;
        for (size_t node = children.size(); node-- > xor_symbols;)
            depth[children[node].first] = depth[children[node].second] = depth[node] + 1;
        for (size_t symbol = 0; symbol < xor_symbols; ++symbol) {
            if (!counts[symbol]) continue;
            longest = std::max(longest, depth[symbol]);
            lengths[symbol] = static_cast<uint8_t>(depth[symbol]);
        }
        if (longest <= longest_code) return lengths;
    }
}

XorBlocks encode_xor_blocks(std::span<const uint64_t> sorted, unsigned bits) {
    std::array<uint64_t, xor_symbols> counts{};
    for (size_t i = 1; i < sorted.size(); ++i) ++counts[symbol_of(sorted[i] ^ sorted[i - 1])];
    XorBlocks made;
    made.lengths = huffman_lengths(counts);
    const auto codes = codes_of(made.lengths);
    for (size_t begin = 0; begin < sorted.size();) {
        // How many fit, and then their bits: the count comes first.
        size_t used = count_bits + bits;
        size_t end = begin + 1;
        for (; end < sorted.size() && end - begin < 65535; ++end) {
            const unsigned symbol = symbol_of(sorted[end] ^ sorted[end - 1]);
            const size_t more = made.lengths[symbol] + tail_bits(symbol);
            if (used + more > block_bits) break;
            used += more;
        }
        PackedWriter writer;
        writer.append(end - begin, count_bits);
        writer.append(sorted[begin], bits);
        for (size_t i = begin + 1; i < end; ++i) {
            const uint64_t difference = sorted[i] ^ sorted[i - 1];
            const unsigned symbol = symbol_of(difference);
            writer.append(codes[symbol], made.lengths[symbol]);
            writer.append(difference & low_bits(tail_bits(symbol)), tail_bits(symbol));
        }
        std::vector<uint64_t> block = writer.finish();
        block.resize(xor_block_words);
        made.blocks.insert(made.blocks.end(), block.begin(), block.end());
        made.keys.push_back(sorted[end - 1]);
        made.ranks.push_back(begin);
        begin = end;
    }
    made.ranks.push_back(sorted.size());
    return made;
}

XorBlockDecoder::XorBlockDecoder(const XorCodeLengths& lengths, unsigned bits)
    : table_(size_t{1} << table_bits), bits_(bits) {
    uint64_t space = 0;
    for (const unsigned length : lengths) {
        if (length > longest_code) throw std::invalid_argument("xor blocks: a code is too long");
        if (length) space += uint64_t{1} << (longest_code - length);
    }
    if (space > uint64_t{1} << longest_code)
        throw std::invalid_argument("xor blocks: the code lengths are not those of a code");
    const auto codes = codes_of(lengths);
    for (size_t symbol = 0; symbol < xor_symbols; ++symbol) {
        const uint8_t length = lengths[symbol];
        if (length == 0) continue;
        const auto name = static_cast<uint8_t>(symbol);
        if (length > table_bits) {
            long_.push_back({codes[symbol], name, length});
            continue;
        }
        for (size_t rest = 0; rest < size_t{1} << (table_bits - length); ++rest)
            table_[rest << length | codes[symbol]] = {name, length};
    }
}

void XorBlockDecoder::decode(const uint64_t* block, std::vector<uint64_t>& values) const {
    size_t bit = 0;
    const auto peek = [&] {
        const size_t word = bit / 64;
        uint64_t ahead = word < xor_block_words ? block[word] >> bit % 64 : 0;
        if (bit % 64 && word + 1 < xor_block_words) ahead |= block[word + 1] << (64 - bit % 64);
        return ahead;
    };
    const size_t count = peek() & low_bits(count_bits);
    bit += count_bits;
    uint64_t value = peek() & low_bits(bits_);
    bit += bits_;
    if (count == 0) return;
    values.push_back(value);
    for (size_t i = 1; i < count; ++i) {
        uint64_t ahead = peek();
        unsigned symbol = table_[ahead & low_bits(table_bits)].symbol;
        unsigned length = table_[ahead & low_bits(table_bits)].length;
        if (length == 0) {
            for (const LongCode& code : long_)
                if ((ahead & low_bits(code.length)) == code.code)
                    symbol = code.symbol, length = code.length;
            if (length == 0) throw std::invalid_argument("xor blocks: a code that is none");
        }
        bit += length;
        if (symbol != 64) {
            ahead = length + symbol <= 64 ? ahead >> length : peek();
            value ^= uint64_t{1} << symbol | (ahead & low_bits(symbol));
            bit += symbol;
        }
        if (bit > block_bits) throw std::invalid_argument("xor blocks: a block ends too soon");
        values.push_back(value);
    }
}

}  // namespace roughly
