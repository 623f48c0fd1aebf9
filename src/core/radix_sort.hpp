// Sorting of many records by a key of up to 64 bits, stable: one pass by the leading bits on all
// threads, then every piece by itself where the cache holds it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace roughly {

// Sorts one piece by its keys' lowest `bits`, digit after digit; a digit that all have is left out.
template <typename Record, typename Key>
void sort_piece(Record* data, Record* scratch, size_t count, unsigned bits, Key key) {
    if (count < 48) {
        // Insertion: fewer than a digit's counters.
        for (size_t i = 1; i < count; ++i) {
            const Record moving = data[i];
            size_t at = i;
            for (; at > 0 && key(moving) < key(data[at - 1]); --at) data[at] = data[at - 1];
            data[at] = moving;
        }
        return;
    }
    Record* from = data;
    Record* to = scratch;
    for (unsigned shift = 0; shift < bits; shift += 8) {
        std::array<size_t, 256> place{};
        for (size_t i = 0; i < count; ++i) ++place[key(from[i]) >> shift & 0xFF];
        if (place[key(from[0]) >> shift & 0xFF] == count) continue;
        size_t sum = 0;
        for (size_t& here : place) sum += std::exchange(here, sum);
        for (size_t i = 0; i < count; ++i) to[place[key(from[i]) >> shift & 0xFF]++] = from[i];
        std::swap(from, to);
    }
    if (from != data) std::copy(from, from + count, data);
}

// `key` has `bits` bits and no more. The scratch has room for as many records.
template <typename Record, typename Key>
void radix_sort(Record* data, Record* scratch, size_t count, unsigned bits, Key key,
                size_t threads) {
    constexpr unsigned leading = 11;
    if (count < 65536 || bits <= leading) {
        sort_piece(data, scratch, count, bits, key);
        return;
    }
    const unsigned shift = bits - leading;
    const size_t slices = std::max<size_t>(threads, 1);
    const auto begin_of = [&](size_t slice) { return count * slice / slices; };
    std::vector<std::array<size_t, 1 << leading>> places(slices);
    in_parallel(slices, threads, [&] {
        return [&](size_t slice) {
            auto& place = places[slice];
            place.fill(0);
            for (size_t i = begin_of(slice); i < begin_of(slice + 1); ++i)
                ++place[key(data[i]) >> shift];
        };
    });
    std::vector<size_t> starts;
    size_t sum = 0;
    for (size_t digit = 0; digit < places[0].size(); ++digit) {
        starts.push_back(sum);
        for (auto& place : places) sum += std::exchange(place[digit], sum);
    }
    starts.push_back(sum);
    in_parallel(slices, threads, [&] {
        return [&](size_t slice) {
            auto& place = places[slice];
            for (size_t i = begin_of(slice); i < begin_of(slice + 1); ++i)
                scratch[place[key(data[i]) >> shift]++] = data[i];
        };
    });
    in_parallel(places[0].size(), threads, [&] {
        return [&](size_t digit) {
            const size_t begin = starts[digit];
            const size_t size = starts[digit + 1] - begin;
            std::copy(scratch + begin, scratch + begin + size, data + begin);
            sort_piece(data + begin, scratch + begin, size, shift, key);
        };
    });
}

}  // namespace roughly
