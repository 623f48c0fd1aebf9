#include "level_join.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <mutex>
#include <utility>

#include "discard.hpp"
#include "intersection.hpp"
#include "mass.hpp"
#include "pair_sort.hpp"
#include "parallel.hpp"
#include "radix_sort.hpp"

namespace roughly {

namespace {

// A document as it is found under an element.
struct Entry {
    uint32_t group;  // it has no pairs inside, or no_hub
    uint32_t count;  // its elements at the level
    uint32_t document;
    uint32_t most;  // elements of a prober that first meets it here and reaches the floor
};

bool before(const Entry& x, const Entry& y) {
    if (x.group != y.group) return x.group < y.group;
    if (x.count != y.count) return x.count < y.count;
    return x.document < y.document;
}

// The documents indexed under one element, natives, then visitors, each in the order of `before`;
// and who probes with it. How many there are of each.
struct List {
    uint32_t natives;
    uint32_t visitors;
    uint32_t probes;
};

struct Probe {
    uint32_t document;
    uint32_t position;
};

// A document that probes. All that is looked at before there is a candidate lies here together: the
// documents' own arrays may be in files, and whoever goes through the documents in the order of
// their rows would touch those all over.
struct Probing {
    uint32_t document;
    uint32_t count : 31;  // its elements at the level
    uint32_t native : 1;
    uint32_t group;
    uint32_t begin;  // of its probes, which end where the next one's begin
};

// What the postings of a bucket give: lists in which two documents can meet. Entries and probes are
// those of all lists, one after the other.
struct Index {
    std::vector<Entry> entries;
    std::vector<List> lists;
    std::vector<Probe> probes;
};

class Indexer {
   public:
    Indexer(const LevelJoin& join, std::span<const uint32_t> groups)
        : join_(join), groups_(groups) {}

    // Postings of one bucket.
    void add(std::vector<Posting>& postings, Index& to) {
        sort(postings);
        for (size_t begin = 0; begin < postings.size();) {
            size_t end = begin + 1;
            while (end < postings.size() && postings[end].key == postings[begin].key) ++end;
            if (end - begin > 1) add_list({postings.data() + begin, end - begin}, to);
            begin = end;
        }
    }

   private:
    // By key, then by document. Keys are spread evenly, so their next bits divide them into pieces
    // of a few.
    void sort(std::vector<Posting>& postings) {
        const auto order = [](const Posting& x, const Posting& y) {
            return x.key != y.key ? x.key < y.key : x.document < y.document;
        };
        const int bits = std::clamp(static_cast<int>(std::bit_width(postings.size())) - 2, 1, 16);
        const auto piece = [bits](const Posting& posting) { return posting.key >> (32 - bits); };
        ends_.assign(size_t{1} << bits, 0);
        for (const Posting& posting : postings) ++ends_[piece(posting)];
        size_t before = 0;
        for (size_t& start : ends_) before += std::exchange(start, before);
        sorted_.resize(postings.size());
        for (const Posting& posting : postings) sorted_[ends_[piece(posting)]++] = posting;
        auto begin = sorted_.begin();
        for (const size_t end : ends_) {
            const auto next = sorted_.begin() + static_cast<std::ptrdiff_t>(end);
            if (next - begin > 1) std::sort(begin, next, order);
            begin = next;
        }
        postings.swap(sorted_);
    }

    bool native(uint32_t document) const {
        return join_.sketches.level_of(document) == join_.level;
    }

    uint32_t group(uint32_t document) const { return groups_.empty() ? no_hub : groups_[document]; }

    void add_list(std::span<const Posting> postings, Index& to) {
        const uint32_t common_group = group(postings[0].document);
        bool mass = common_group != no_hub;
        bool any_native = false;
        for (const Posting& posting : postings) {
            mass = mass && group(posting.document) == common_group;
            any_native = any_native || native(posting.document);
        }
        if (mass || !any_native) return;
        natives_.clear();
        visitors_.clear();
        for (const Posting& posting : postings) {
            const uint32_t count = join_.counts[posting.document];
            if (posting.position >= join_.rule.index_length(count)) continue;
            const uint32_t most = join_.rule.most_prober(count - posting.position, count);
            const Entry entry{group(posting.document), count, posting.document, most};
            (native(posting.document) ? natives_ : visitors_).push_back(entry);
        }
        if (natives_.empty() && visitors_.empty()) return;
        std::sort(natives_.begin(), natives_.end(), before);
        std::sort(visitors_.begin(), visitors_.end(), before);
        to.entries.insert(to.entries.end(), natives_.begin(), natives_.end());
        to.entries.insert(to.entries.end(), visitors_.begin(), visitors_.end());
        const size_t probes = to.probes.size();
        for (const Posting& posting : postings)
            if (posting.position < join_.rule.probe_length(join_.counts[posting.document]))
                to.probes.push_back({posting.document, posting.position});
        to.lists.push_back({static_cast<uint32_t>(natives_.size()),
                            static_cast<uint32_t>(visitors_.size()),
                            static_cast<uint32_t>(to.probes.size() - probes)});
    }

    const LevelJoin& join_;
    std::span<const uint32_t> groups_;
    std::vector<Entry> natives_, visitors_;
    std::vector<Posting> sorted_;
    std::vector<size_t> ends_;
};

// The documents that one document has met. There are few of them, so it takes little memory however
// many documents there are.
class MetDocuments {
   public:
    MetDocuments() : slots_(size_t{1} << 10) {}

    // Forgets all of them.
    void clear() {
        count_ = 0;
        if (++stamp_ != 0) return;
        std::fill(slots_.begin(), slots_.end(), Slot{});
        stamp_ = 1;
    }

    // Whether it was not there yet.
    bool add(uint32_t document) {
        Slot& slot = slots_[place(document)];
        if (slot.stamp == stamp_) return false;
        slot = {stamp_, document};
        if (2 * ++count_ > slots_.size()) grow();
        return true;
    }

   private:
    struct Slot {
        uint32_t stamp = 0;  // that of the present documents, or the slot is free
        uint32_t document = 0;
    };

    // Where a document is, or would be.
    size_t place(uint32_t document) const {
        const size_t mask = slots_.size() - 1;
        size_t at = mixed(document) >> (64 - std::bit_width(mask));
        while (slots_[at].stamp == stamp_ && slots_[at].document != document) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        std::vector<Slot> before(2 * slots_.size());
        before.swap(slots_);
        for (const Slot& slot : before)
            if (slot.stamp == stamp_) slots_[place(slot.document)] = slot;
    }

    std::vector<Slot> slots_;  // a power of two, at most half of them in use
    size_t count_ = 0;
    uint32_t stamp_ = 1;
};

// Finds the partners of one document after the other.
template <typename Lists>
class Prober {
   public:
    Prober(const LevelJoin& join, const Lists& lists) : join_(join), lists_(lists) {}

    void use_leaders(const Leaders& leaders) { leaders_ = leaders; }

    // The document that is the n-th of those that probe.
    void probe(size_t n, std::vector<Pair>& out) {
        const auto probes = lists_.probes(n);
        const Probing& probing = lists_.probing(n);
        document_ = probing.document;
        count_ = probing.count;
        group_ = probing.group;
        elements_ = {};
        met_.clear();
        candidates_.clear();
        led_candidates_.clear();
        if (!join_.rule.enough(join_.sketches, document_, count_)) return;
        const bool native = probing.native;
        for (size_t i = 0; i < probes.size(); ++i) {
            // The lists lie anywhere: to wait for one after the other would take most of the time.
            constexpr size_t ahead = 8;
            if (i + 2 * ahead < probes.size()) lists_.prefetch(probes[i + 2 * ahead].list);
            if (i + ahead < probes.size()) lists_.prefetch_entries(probes[i + ahead].list);
            const auto& probe = probes[i];
            range_ = join_.rule.partners(count_, count_ - probe.position);
            if (range_.least > range_.most) continue;
            scan(lists_.natives(probe.list));
            if (native) scan(lists_.visitors(probe.list));
        }
        for (const Entry& entry : candidates_)
            if (may_reach(entry)) verify(entry, out);
        // By now this document may have a leader.
        for (const Entry& entry : led_candidates_)
            if (!led(document_) && may_reach(entry)) verify(entry, out);
    }

   private:
    // All entries of one group after the other, of each only those of the right size.
    void scan(std::span<const Entry> entries) {
        const Entry* entry = entries.data();
        const Entry* const end = entry + entries.size();
        constexpr std::ptrdiff_t few = 16;
        if (end - entry <= few) {
            for (; entry < end; ++entry)
                if (entry->count >= range_.least && entry->count <= range_.most) candidate(*entry);
            return;
        }
        while (entry < end) {
            const uint32_t group = entry->group;
            const Entry* const group_end = std::partition_point(
                entry, end, [&](const Entry& other) { return other.group == group; });
            if (group == no_hub || group != group_) {
                entry = std::partition_point(entry, group_end, [&](const Entry& other) {
                    return other.count < range_.least;
                });
                for (; entry < group_end && entry->count <= range_.most; ++entry) candidate(*entry);
            }
            entry = group_end;
        }
    }

    void candidate(const Entry& entry) {
        const uint32_t other = entry.document;
        // Behind their first common element lie too few others, of either (`range_` has what is
        // left of the prober's). At a later one of their common elements the bounds may be too
        // small, but then they have met at the first.
        if (count_ > entry.most) return;
        // Of two with equally many elements the one that is later in document order probes.
        if (entry.count == count_ && other >= document_) return;
        if (group_ != no_hub && group_ == entry.group) return;
        const bool other_led = led(other);
        if (other_led && led(document_)) return;
        if (!met_.add(other)) return;
        // They are looked at when all are there: until then their signatures are on their way.
        if (!join_.signatures.empty()) prefetch(join_.signatures[other]);
        (other_led ? led_candidates_ : candidates_).push_back(entry);
    }

    // It may begin in the middle of a cache line.
    static void prefetch(const Signature& signature) {
        __builtin_prefetch(signature.bits.data());
        __builtin_prefetch(&signature.bits.back());
    }

    // Whether there may be enough that both have, by what can be told at a glance.
    bool may_reach(const Entry& entry) const {
        if (!join_.sketches.comparable(document_, entry.document)) return false;
        if (join_.signatures.empty()) return true;
        const Signature& others = join_.signatures[entry.document];
        const size_t most = join_.signatures[document_].most_common(others, count_, entry.count);
        return join_.rule.suffices(most, count_, entry.count);
    }

    void verify(const Entry& entry, std::vector<Pair>& out) {
        const uint32_t other = entry.document;
        if (!elements_.data()) {
            // Read like the others: it may soon be one of them.
            const Elements own = at_one_level(join_.sketches, document_, join_.level, other_place_);
            own_.assign(own.begin(), own.end());
            elements_ = own_;
        }
        const Elements others = at_one_level(join_.sketches, other, join_.level, other_place_);
        const size_t needed = join_.rule.needed(count_, entry.count);
        const size_t common = count_common(join_.sketches.simd, elements_, others, needed);
        if (common < needed) return;
        Pair pair{std::min(document_, other), std::max(document_, other), 0, 0};
        measure(join_.sketches, join_.rule.measure, elements_, others, common, pair);
        if (!reaches(pair, join_.rule.floor)) return;
        const bool leads = join_.rule.measure == Measure::resemblance && !leaders_.of.empty();
        const bool here = is_here(others);
        if ((!here && !leads) || is_with_hub(other)) return;
        if (here) out.push_back(pair);
        if (leads && reaches(pair, leaders_.surely) && !led(pair.a))
            std::atomic_ref(leaders_.of[pair.b]).store(pair.a, std::memory_order_relaxed);
    }

    // Whether one is the other's hub.
    bool is_with_hub(uint32_t other) const {
        return !join_.hubs.empty() &&
               (join_.hubs[document_] == other || join_.hubs[other] == document_);
    }

    bool led(uint32_t document) const {
        return !leaders_.of.empty() &&
               std::atomic_ref(leaders_.of[document]).load(std::memory_order_relaxed) != no_hub;
    }

    // Whether the first element that both have belongs to the buckets that are joined.
    bool is_here(Elements others) {
        if (join_.has_all_buckets()) return true;
        const Elements own = join_.sketches.elements(document_);
        const uint8_t* const frequency = join_.sketches.frequencies(document_);
        const uint64_t mask = (uint64_t{1} << join_.level) - 1;
        uint64_t first = 0;
        int least = 256;
        for (size_t i = 0, j = 0; i < own.size(); ++i) {
            if (own[i] & mask || frequency[i] >= least) continue;
            while (j < others.size() && others[j] < own[i]) ++j;
            if (j < others.size() && others[j] == own[i]) {
                first = own[i];
                least = frequency[i];
            }
        }
        const size_t bucket = bucket_of(mixed(join_.sketches.in_category(document_, first)));
        return join_.first_bucket <= bucket && bucket < join_.last_bucket;
    }

    const LevelJoin& join_;
    const Lists& lists_;
    Leaders leaders_;
    MetDocuments met_;
    std::vector<Entry> candidates_;
    std::vector<Entry> led_candidates_;  // which have leaders
    Place other_place_;
    // of the probing document
    uint32_t document_ = 0;
    uint32_t count_ = 0;
    uint32_t group_ = no_hub;
    JoinRule::Range range_{};
    std::vector<uint64_t> own_;
    Elements elements_;  // in `own_`, once they are wanted
};

// Whose pairs are not looked for: a hub and those that have it, except hubs with another hub.
std::vector<uint32_t> groups_of(const LevelJoin& join) {
    if (!join.groups.empty()) return {};
    const std::span<const uint32_t> hubs = join.hubs;
    std::vector<uint32_t> groups(hubs.begin(), hubs.end());
    for (const uint32_t hub : hubs)
        if (hub != no_hub && hubs[hub] == no_hub) groups[hub] = hub;
    return groups;
}

}  // namespace

// Indexes of all buckets, one behind the other, in the end with the probes by document, in the
// order of SketchSet::visit.
class LevelIndex::Lists {
   public:
    struct ListProbe {
        uint32_t list;
        uint32_t position;
    };

    // `postings` are all that the lists are made of, fewer than 2^32. Room that is not used is
    // never touched.
    Lists(const SketchSet& sketches, size_t postings)
        : sketches_(sketches), places_(sketches.count) {
        entries_.reserve(postings);
        lists_.reserve(postings / 2 + 1);
        lists_.push_back({0, 0});
        by_list_.reserve(postings);
        probe_ends_.reserve(postings / 2);
    }

    // The next bucket's.
    void add(const Index& bucket) {
        auto entry = static_cast<uint32_t>(entries_.size());
        auto probe = static_cast<uint32_t>(by_list_.size());
        for (const List& list : bucket.lists) {
            lists_.back().visitors = entry + list.natives;
            lists_.push_back({entry += list.natives + list.visitors, 0});
            probe_ends_.push_back(probe += list.probes);
        }
        entries_.insert(entries_.end(), bucket.entries.begin(), bucket.entries.end());
        by_list_.insert(by_list_.end(), bucket.probes.begin(), bucket.probes.end());
        for (const Probe& each : bucket.probes) ++places_[each.document];
    }

    // When all have been added.
    void finish(const LevelJoin& join, std::span<const uint32_t> groups, size_t threads) {
        find_probing(join, groups, places_, threads);
        probes_.resize(by_list_.size());
        // Where a document's begin moves to where they end.
        const Probe* probe = by_list_.data();
        for (uint32_t list = 0; list < probe_ends_.size(); ++list)
            for (; probe < by_list_.data() + probe_ends_[list]; ++probe)
                probes_[places_[probe->document]++] = {list, probe->position};
        // Not `= {}`, which would empty them and keep their memory.
        places_ = std::vector<uint32_t>();
        by_list_ = std::vector<Probe>();
        probe_ends_ = std::vector<uint32_t>();
    }

    // Which of those that probe are among the documents from `begin` to `end`.
    std::pair<size_t, size_t> range(size_t begin, size_t end) const {
        return {first_from(begin), first_from(end)};
    }

    const Probing& probing(size_t n) const { return probing_[n]; }

    std::span<const ListProbe> probes(size_t n) const {
        return {probes_.data() + probing_[n].begin, probes_.data() + probing_[n + 1].begin};
    }

    // Fetches a list into the cache, and its entries when that has been done.
    void prefetch(uint32_t list) const { __builtin_prefetch(&lists_[list]); }
    void prefetch_entries(uint32_t list) const {
        __builtin_prefetch(entries_.data() + lists_[list].natives);
    }

    std::span<const Entry> natives(uint32_t list) const {
        return {entries_.data() + lists_[list].natives, entries_.data() + lists_[list].visitors};
    }

    std::span<const Entry> visitors(uint32_t list) const {
        return {entries_.data() + lists_[list].visitors,
                entries_.data() + lists_[list + 1].natives};
    }

   private:
    // Where a list's natives and visitors begin in the entries; they end where the next one's do.
    struct Begins {
        uint32_t natives;
        uint32_t visitors;
    };

    // Who probes, and where the probes of each document begin, in the place of how many there are.
    void find_probing(const LevelJoin& join, std::span<const uint32_t> groups,
                      std::span<uint32_t> places, size_t threads) {
        const auto count = static_cast<size_t>(
            std::count_if(places.begin(), places.end(), [](uint32_t n) { return n != 0; }));
        probing_.reserve(count + 1);
        uint32_t last_row = 0;
        for (uint32_t document = 0; document < places.size(); ++document) {
            if (!places[document]) continue;
            Probing probing{};
            probing.document = document;
            probing.count = join.counts[document] & 0x7FFFFFFFu;
            probing.native = sketches_.level_of(document) == join.level;
            probing.group = groups.empty() ? no_hub : groups[document];
            probing.begin = sketches_.rows[document];  // until they are in its order
            last_row = std::max(last_row, probing.begin);
            probing_.push_back(probing);
        }
        if (sketches_.visits) {
            std::vector<Probing> scratch(count);
            const auto row = [](const Probing& probing) { return probing.begin; };
            radix_sort(probing_.data(), scratch.data(), count,
                       static_cast<unsigned>(std::bit_width(last_row)), row, threads);
        }
        uint32_t before = 0;
        for (Probing& probing : probing_) {
            probing.begin = before;
            before += std::exchange(places[probing.document], before);
        }
        probing_.push_back({0, 0, 0, 0, before});
    }

    // The first that probes of the documents from the i-th on.
    size_t first_from(size_t i) const {
        const auto last = probing_.end() - 1;
        if (i == sketches_.count) return static_cast<size_t>(last - probing_.begin());
        const uint32_t row = sketches_.rows[sketches_.visit(i)];
        const auto found = std::partition_point(
            probing_.begin(), last,
            [&](const Probing& probing) { return sketches_.rows[probing.document] < row; });
        return static_cast<size_t>(found - probing_.begin());
    }

    const SketchSet& sketches_;
    std::vector<Probing> probing_;  // and one that ends them
    std::vector<ListProbe> probes_;
    std::vector<Begins> lists_;  // and one that ends them
    std::vector<Entry> entries_;
    // Until all are there: how many probes each document has, those of one list after the other,
    // and where each list's end.
    std::vector<uint32_t> places_;
    std::vector<Probe> by_list_;
    std::vector<uint32_t> probe_ends_;
};

// One for each thread that probes, which keeps the sketches that it has read for the next range of
// documents.
class LevelIndex::Probers {
   public:
    using One = Prober<Lists>;

    // Nobody else has it until it is destroyed.
    class Borrowed {
       public:
        explicit Borrowed(Probers& from) : from_(from), own_(from.take()) {}
        Borrowed(Borrowed&&) = default;
        ~Borrowed() {
            if (own_) from_.put(std::move(own_));
        }
        One* operator->() const { return own_.get(); }

       private:
        Probers& from_;
        std::unique_ptr<One> own_;
    };

    Probers(const LevelJoin& join, const Lists& lists) : join_(join), lists_(lists) {}

   private:
    std::unique_ptr<One> take() {
        const std::lock_guard lock(mutex_);
        if (free_.empty()) return std::make_unique<One>(join_, lists_);
        std::unique_ptr<One> taken = std::move(free_.back());
        free_.pop_back();
        return taken;
    }

    void put(std::unique_ptr<One> prober) {
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(prober));
    }

    const LevelJoin& join_;
    const Lists& lists_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<One>> free_;
};

LevelIndex::LevelIndex(const LevelJoin& join, std::span<const PostingRun> runs, size_t threads)
    : join_(join), own_groups_(groups_of(join)) {
    groups_ = join.groups.empty() ? std::span<const uint32_t>(own_groups_) : join.groups;
    const size_t count = join.last_bucket - join.first_bucket;
    size_t postings = 0;
    for (const PostingRun& run : runs) postings += run.ends[count - 1];
    auto lists = std::make_unique<Lists>(join_.sketches, postings);
    // Some buckets at a time: there are never many that are not in one place with the others yet.
    // While some are made, one thread puts those before in their place.
    const size_t step = std::max<size_t>({count / 16, 4 * threads, 1});
    std::vector<Index> before;
    for (size_t begin = 0; begin < count; begin += step) {
        const size_t end = std::min(count, begin + step);
        std::vector<Index> made(end - begin);
        in_parallel(1 + end - begin, threads, [&] {
            return [&, indexer = Indexer(join_, groups_),
                    postings = std::vector<Posting>()](size_t number) mutable {
                if (number == 0) {
                    for (const Index& bucket : before) lists->add(bucket);
                    return;
                }
                const size_t bucket = begin + number - 1;
                postings.clear();
                for (const PostingRun& run : runs)
                    postings.insert(postings.end(),
                                    run.entries + (bucket ? run.ends[bucket - 1] : 0),
                                    run.entries + run.ends[bucket]);
                indexer.add(postings, made[number - 1]);
            };
        });
        before = std::move(made);
        for (const PostingRun& run : runs) {
            const Posting* const first = run.entries + (begin ? run.ends[begin - 1] : 0);
            discard(std::span(first, run.entries + run.ends[end - 1]));
        }
    }
    for (const Index& bucket : before) lists->add(bucket);
    lists->finish(join_, groups_, threads);
    lists_ = std::move(lists);
    probers_ = std::make_unique<Probers>(join_, *lists_);
}

LevelIndex::~LevelIndex() = default;

std::vector<Pair> LevelIndex::probe(size_t begin, size_t end, size_t threads,
                                    Leaders leaders) const {
    constexpr size_t block = 32;  // or whoever is done first would wait for the others
    const auto [first, last] = lists_->range(begin, end);
    std::vector<std::vector<Pair>> found((last - first + block - 1) / block);
    in_parallel(found.size(), threads, [&, from = first, to = last] {
        Probers::Borrowed prober(*probers_);
        prober->use_leaders(leaders);
        return [&, from, to, prober = std::move(prober)](size_t part) {
            const size_t own = from + part * block, own_end = std::min(to, own + block);
            for (size_t n = own; n < own_end; ++n) prober->probe(n, found[part]);
            // Pages that `is_here` has touched go, too, those of many documents at a time.
            constexpr size_t parts = 16;
            if (!join_.has_all_buckets() && part % parts == parts - 1)
                join_.sketches.release(lists_->probing(from + (part + 1 - parts) * block).document,
                                       lists_->probing(own_end - 1).document);
        };
    });
    std::vector<Pair> pairs;
    for (const auto& part : found) pairs.insert(pairs.end(), part.begin(), part.end());
    found = {};
    sort_pairs(pairs, threads);
    return pairs;
}

}  // namespace roughly
