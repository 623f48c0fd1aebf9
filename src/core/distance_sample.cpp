#include "distance_sample.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "key.hpp"
#include "parallel.hpp"
#include "shingle.hpp"

namespace roughly {

namespace {

inline int bit_count(uint64_t value) { return std::popcount(value); }

#include "near_value.inl"

constexpr size_t rows_at_once = 64;

// The pairs of one distance that come first by their key.
class Drawn {
   public:
    explicit Drawn(size_t most) : most_(most) {}

    void add(uint64_t key, const DistancePair& pair) {
        if (kept_.size() == most_) {
            if (most_ == 0 || key >= kept_.front().first) return;
            std::pop_heap(kept_.begin(), kept_.end(), before);
            kept_.pop_back();
        }
        kept_.emplace_back(key, pair);
        std::push_heap(kept_.begin(), kept_.end(), before);
    }

    void append_to(std::vector<DistancePair>& out) {
        std::sort(kept_.begin(), kept_.end(), [](const auto& one, const auto& two) {
            return std::pair(one.second.a, one.second.b) < std::pair(two.second.a, two.second.b);
        });
        for (const auto& [key, pair] : kept_) out.push_back(pair);
    }

   private:
    using Keyed = std::pair<uint64_t, DistancePair>;
    // Keys of different pairs are different: they are a bijection of the positions.
    static bool before(const Keyed& one, const Keyed& two) { return one.first < two.first; }

    size_t most_;
    std::vector<Keyed> kept_;  // a heap, the largest key in front
};

}  // namespace

DistanceSample sample_distances(std::span<const uint64_t> simhashes, size_t least, size_t most,
                                size_t each, uint64_t seed, size_t threads, Simd level) {
    if (least > most || most > 64)
        throw std::invalid_argument("distance: out of range: " + std::to_string(least) + " to " +
                                    std::to_string(most) + ", want 0 to 64, ascending");
    if (simhashes.size() > UINT32_MAX)
        throw std::invalid_argument("simhashes: too many: " + std::to_string(simhashes.size()) +
                                    ", want fewer than 2^32");
    auto near = near_values;
#if defined(__x86_64__)
    if (level != Simd::plain) near = near_values_avx2;
#else
    (void)level;
#endif
    const Keys keys(seed);
    const size_t rows = simhashes.size();
    DistanceSample sample;
    std::vector<Drawn> drawn(most + 1, Drawn(each));
    std::mutex mutex;
    in_parallel((rows + rows_at_once - 1) / rows_at_once, threads, [&] {
        return [&, found = std::vector<uint32_t>(rows)](size_t piece) mutable {
            const size_t last = std::min(rows, (piece + 1) * rows_at_once);
            for (size_t a = piece * rows_at_once; a < last; ++a) {
                const size_t count = near(simhashes[a], simhashes.data() + a + 1, rows - a - 1,
                                          static_cast<uint32_t>(most), found.data());
                if (!count) continue;
                const std::lock_guard lock(mutex);
                for (size_t i = 0; i < count; ++i) {
                    const size_t b = a + 1 + found[i];
                    const auto distance =
                        static_cast<size_t>(std::popcount(simhashes[a] ^ simhashes[b]));
                    if (distance < least) continue;
                    ++sample.pairs[distance];
                    drawn[distance].add(permute<64>(uint64_t{a} << 32 | b, keys.permutation),
                                        {static_cast<uint32_t>(a), static_cast<uint32_t>(b),
                                         static_cast<uint32_t>(distance)});
                }
            }
        };
    });
    for (Drawn& of_distance : drawn) of_distance.append_to(sample.drawn);
    return sample;
}

}  // namespace roughly
