#include "expansion.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "parallel.hpp"
#include "posting.hpp"

namespace roughly {

namespace {

bool more_common(const ElementCount& x, const ElementCount& y) {
    return x.documents != y.documents ? x.documents > y.documents : x.element < y.element;
}

// The inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the right
// bits.
constexpr uint64_t inverse(uint64_t odd) {
    uint64_t x = odd;
    for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
    return x;
}

uint64_t unmixed(uint64_t key) {
    static const uint64_t factor = inverse(mixed(1));
    return key * factor;
}

void keep_most_common(std::vector<ElementCount>& counts, size_t most) {
    std::sort(counts.begin(), counts.end(), more_common);
    if (counts.size() > most) counts.resize(most);
}

}  // namespace

// Turns the occurrences of one bucket into lists.
class ListCollector::ListMaker {
   public:
    ListMaker(size_t cut_off, size_t most_common) : cut_off_(cut_off), most_common_(most_common) {}

    void make(std::vector<Occurrence>& occurrences, ElementLists& to) {
        std::sort(occurrences.begin(), occurrences.end(),
                  [](const Occurrence& x, const Occurrence& y) {
                      return x.key != y.key ? x.key < y.key : x.document < y.document;
                  });
        to.elements += occurrences.size();
        for (size_t begin = 0, end; begin < occurrences.size(); begin = end) {
            end = begin + 1;
            while (end < occurrences.size() && occurrences[end].key == occurrences[begin].key)
                ++end;
            if (end - begin > 1) add({occurrences.data() + begin, end - begin}, to);
        }
        keep_most_common(to.commonest, most_common_);
    }

   private:
    void add(std::span<const Occurrence> list, ElementLists& to) {
        const ElementCount counted{unmixed(list[0].key), static_cast<uint32_t>(list.size()),
                                   list[0].document};
        if (most_common_) to.commonest.push_back(counted);
        if (to.commonest.size() > 2 * most_common_ + 1024)
            keep_most_common(to.commonest, most_common_);
        if (list.size() > cut_off_) {
            to.cut_elements += list.size();
            return;
        }
        for (const Occurrence& occurrence : list) to.documents.push_back(occurrence.document);
        to.ends.push_back(to.documents.size());
    }

    size_t cut_off_;
    size_t most_common_;
};

ListCollector::ListCollector(size_t first_bucket, size_t last_bucket, size_t cut_off,
                             size_t most_common)
    : first_bucket_(first_bucket),
      width_(last_bucket - first_bucket),
      cut_off_(cut_off),
      most_common_(most_common) {}

ListCollector::~ListCollector() = default;

void ListCollector::add(const SketchSet& sketches, size_t begin, size_t end, size_t threads) {
    gathered_.resize(std::max(gathered_.size(), std::max<size_t>(threads, 1)));
    std::atomic<size_t> workers{0};
    constexpr size_t block = 1024;
    in_parallel((end - begin + block - 1) / block, threads, [&] {
        Buckets& own = gathered_[workers.fetch_add(1)];
        own.resize(width_);
        return [&](size_t piece) {
            const size_t first = begin + piece * block;
            for (size_t i = first; i < std::min(end, first + block); ++i) {
                const size_t document = sketches.visit(i);
                for (const uint64_t element : sketches.elements(document)) {
                    const uint64_t key = mixed(element);
                    const size_t bucket = bucket_of(key) - first_bucket_;
                    if (bucket < width_)
                        own[bucket].push_back({key, static_cast<uint32_t>(document)});
                }
            }
        };
    });
}

ElementLists ListCollector::finish(size_t threads) {
    std::erase_if(gathered_, [](const Buckets& own) { return own.empty(); });
    std::vector<ElementLists> parts(width_);
    in_parallel(width_, threads, [&] {
        return [&, maker = ListMaker(cut_off_, most_common_)](size_t bucket) mutable {
            std::vector<Occurrence> all;
            size_t total = 0;
            for (const Buckets& own : gathered_) total += own[bucket].size();
            all.reserve(total);
            for (Buckets& own : gathered_) {
                all.insert(all.end(), own[bucket].begin(), own[bucket].end());
                own[bucket] = std::vector<Occurrence>();  // `{}` would keep its memory
            }
            maker.make(all, parts[bucket]);
        };
    });
    gathered_.clear();

    ElementLists joined{};
    for (ElementLists& part : parts) {
        const uint64_t first = joined.documents.size();
        joined.documents.insert(joined.documents.end(), part.documents.begin(),
                                part.documents.end());
        for (const uint64_t end : part.ends) joined.ends.push_back(first + end);
        joined.commonest.insert(joined.commonest.end(), part.commonest.begin(),
                                part.commonest.end());
        joined.elements += part.elements;
        joined.cut_elements += part.cut_elements;
        part = {};
    }
    keep_most_common(joined.commonest, most_common_);
    return joined;
}

void count_expansions(const ListView& lists, std::span<uint64_t> expansions) {
    uint64_t begin = 0;
    for (const uint64_t end : lists.ends) {
        for (uint64_t i = begin; i < end; ++i) expansions[lists.documents[i]] += end - 1 - i;
        begin = end;
    }
}

std::vector<Pair> expand(std::span<const uint32_t> counts, std::span<const ListView> lists,
                         std::span<const uint64_t> expansions, Ratio floor, size_t begin,
                         size_t end, size_t threads, const std::function<void(size_t)>& done) {
    // Where each document's partners go, and how far they have been filled in.
    std::vector<uint64_t> starts(end - begin + 1, 0);
    for (size_t i = begin; i < end; ++i) starts[i - begin + 1] = starts[i - begin] + expansions[i];
    std::vector<std::atomic<uint64_t>> next(end - begin);
    for (size_t i = 0; i < next.size(); ++i) next[i].store(starts[i], std::memory_order_relaxed);
    const auto partners = std::make_unique_for_overwrite<uint32_t[]>(starts.back());

    for (size_t number = 0; number < lists.size(); ++number) {
        const ListView& view = lists[number];
        constexpr size_t block = 1 << 14;
        in_parallel((view.ends.size() + block - 1) / block, threads, [&] {
            return [&](size_t piece) {
                uint64_t first = piece ? view.ends[piece * block - 1] : 0;
                const size_t last_list = std::min(view.ends.size(), (piece + 1) * block);
                for (size_t list = piece * block; list < last_list; ++list) {
                    const uint32_t* const list_end = view.documents.data() + view.ends[list];
                    const uint32_t* d = std::lower_bound(view.documents.data() + first, list_end,
                                                         static_cast<uint32_t>(begin));
                    for (; d + 1 < list_end && *d < end; ++d) {
                        const auto after = static_cast<uint64_t>(list_end - d - 1);
                        const uint64_t to =
                            next[*d - begin].fetch_add(after, std::memory_order_relaxed);
                        std::memcpy(partners.get() + to, d + 1, after * sizeof(uint32_t));
                    }
                    first = view.ends[list];
                }
            };
        });
        done(number);
    }

    constexpr size_t block = 1024;
    std::vector<std::vector<Pair>> found((end - begin + block - 1) / block);
    in_parallel(found.size(), threads, [&] {
        return [&](size_t piece) {
            for (size_t i = piece * block; i < std::min(end - begin, (piece + 1) * block); ++i) {
                const auto a = static_cast<uint32_t>(begin + i);
                uint32_t* const first = partners.get() + starts[i];
                uint32_t* const last = partners.get() + starts[i + 1];
                std::sort(first, last);
                for (uint32_t *p = first, *run = first; p < last; p = run) {
                    while (run < last && *run == *p) ++run;
                    const auto common = static_cast<uint32_t>(run - p);
                    const Pair pair{a, *p, common, counts[a] + counts[*p] - common};
                    if (reaches(pair, floor)) found[piece].push_back(pair);
                }
            }
        };
    });
    std::vector<Pair> pairs;
    for (const auto& part : found) pairs.insert(pairs.end(), part.begin(), part.end());
    return pairs;
}

}  // namespace roughly
