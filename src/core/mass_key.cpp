#include "mass_key.hpp"

#include <algorithm>
#include <utility>

#include "parallel.hpp"

namespace roughly {

namespace {

// The bits of a number, read backwards.
uint64_t backwards(uint64_t x) {
    x = ((x >> 1) & 0x5555555555555555u) | ((x & 0x5555555555555555u) << 1);
    x = ((x >> 2) & 0x3333333333333333u) | ((x & 0x3333333333333333u) << 2);
    x = ((x >> 4) & 0x0F0F0F0F0F0F0F0Fu) | ((x & 0x0F0F0F0F0F0F0F0Fu) << 4);
    return __builtin_bswap64(x);
}

void append_keys(const SketchSet& sketches, const MassRule& rule, size_t document,
                 std::vector<uint64_t>& work, Lists<uint64_t>& to) {
    const Elements elements = sketches.elements(document);
    const uint8_t* const frequency = sketches.frequencies(document);
    work.clear();
    for (size_t i = 0; i < elements.size(); ++i)
        if (frequency[i] >= rule.least_frequency) work.push_back(backwards(elements[i]));
    const size_t count = std::min(rule.keys, work.size());
    const auto middle = work.begin() + static_cast<std::ptrdiff_t>(count);
    std::partial_sort(work.begin(), middle, work.end());
    for (size_t i = 0; i < count; ++i) to.values.push_back(backwards(work[i]));
    to.offsets.push_back(static_cast<int64_t>(to.values.size()));
}

// Different numbers among very many that are mostly the same few.
class Distinct {
   public:
    void add(uint64_t number) {
        // Whoever was the last at its place is there, whoever was not is added again, which does no
        // harm.
        uint64_t& last = recent_[mixed(number) >> (64 - recent_bits)];
        if (last == number) return;
        last = number;
        numbers_.push_back(number);
        if (numbers_.size() == limit_) {
            tidy();
            limit_ = std::max(limit_, 2 * numbers_.size());
        }
    }

    // All of them, ascending.
    std::vector<uint64_t> take() {
        tidy();
        return std::move(numbers_);
    }

   private:
    void tidy() {
        std::sort(numbers_.begin(), numbers_.end());
        numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
    }

    static constexpr int recent_bits = 12;

    std::vector<uint64_t> recent_ = std::vector<uint64_t>(size_t{1} << recent_bits, ~uint64_t{0});
    std::vector<uint64_t> numbers_;
    size_t limit_ = size_t{1} << 16;
};

}  // namespace

Lists<uint64_t> mass_keys(const SketchSet& sketches, const MassRule& rule, size_t begin, size_t end,
                          size_t threads) {
    constexpr size_t block = 256;
    std::vector<Lists<uint64_t>> pieces((end - begin + block - 1) / block);
    in_parallel(pieces.size(), threads, [&] {
        return [&, work = std::vector<uint64_t>()](size_t piece) mutable {
            const size_t first = begin + piece * block;
            for (size_t i = first; i < std::min(end, first + block); ++i)
                append_keys(sketches, rule, i, work, pieces[piece]);
        };
    });
    Lists<uint64_t> all;
    for (const Lists<uint64_t>& piece : pieces) {
        const auto base = static_cast<int64_t>(all.values.size());
        all.values.insert(all.values.end(), piece.values.begin(), piece.values.end());
        for (size_t i = 1; i < piece.offsets.size(); ++i)
            all.offsets.push_back(base + piece.offsets[i]);
    }
    return all;
}

std::vector<uint64_t> frequent_counters(const SketchSet& sketches, uint8_t least_frequency,
                                        int bits, size_t begin, size_t end, size_t threads) {
    constexpr size_t block = 4096;
    std::vector<std::vector<uint64_t>> pieces((end - begin + block - 1) / block);
    in_parallel(pieces.size(), threads, [&] {
        return [&](size_t piece) {
            Distinct found;
            const size_t first = begin + piece * block;
            for (size_t i = first; i < std::min(end, first + block); ++i) {
                const size_t document = sketches.visit(i);
                const uint8_t* frequency = sketches.frequencies(document);
                for (const uint64_t element : sketches.elements(document))
                    if (*frequency++ >= least_frequency) found.add(mixed(element) >> (64 - bits));
            }
            pieces[piece] = found.take();
        };
    });
    std::vector<uint64_t> all;
    for (const auto& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

}  // namespace roughly
