#include "fingerprint_set.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace roughly {

namespace {

// Larger documents start with room for this many and grow, for they may repeat themselves.
constexpr size_t largest_start = size_t{1} << 16;

size_t squeeze_values_plain(const uint64_t* values, size_t count, uint64_t mask, uint64_t* out) {
    uint64_t* next = out;
    for (size_t i = 0; i < count; ++i) {
        *next = values[i];
        next += (values[i] != 0) & ((values[i] & mask) == 0);
    }
    return static_cast<size_t>(next - out);
}

auto squeeze_values(Simd level) {
#if defined(__x86_64__)
    if (level == Simd::avx512) return squeeze_values_avx512;
    if (level == Simd::avx2) return squeeze_values_avx2;
#else
    (void)level;
#endif
    return squeeze_values_plain;
}

// Moves the multiples of an odd number to the front; returns how many. Multiplying by the inverse
// of `odd` modulo 2^64 maps the multiples of `odd`, and only them, onto 0 .. (2^64 - 1) / odd.
size_t keep_multiples_of_odd(uint64_t* values, size_t count, uint64_t odd) {
    uint64_t inverse = odd;  // right to 3 bits; each Newton step doubles that
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
    const uint64_t largest = std::numeric_limits<uint64_t>::max() / odd;
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
        const uint64_t value = values[i];
        values[kept] = value;
        kept += value * inverse <= largest;
    }
    return kept;
}

// Slots that all values are tried in together, before each is followed by itself.
constexpr size_t tries = 4;

void sort_nearly_sorted(uint64_t* first, uint64_t* last) {
    for (uint64_t* p = first + (first != last); p < last; ++p) {
        const uint64_t value = *p;
        uint64_t* hole = p;
        for (; hole > first && hole[-1] > value; --hole) *hole = hole[-1];
        *hole = value;
    }
}

}  // namespace

// A value lands less than this far behind its place; beyond it goes to the spill. Random values at
// the loads used here (at most a half; in large tables three quarters) stay well below.
size_t FingerprintSet::farthest() const { return log_slots_ <= 14 ? 64 : 1024; }

void FingerprintSet::allocate(int log_slots) {
    log_slots_ = std::min(log_slots, bits_);
    slots_.reserve(slot_count());
    std::memset(slots_.data(), 0, slot_count() * sizeof(uint64_t));
}

void FingerprintSet::clear(size_t expected, int bits) {
    bits_ = bits;
    count_ = 0;
    has_zero_ = false;
    spill_.clear();
    const size_t slots = 2 * std::max<size_t>(std::min(expected, largest_start), 16);
    allocate(static_cast<int>(std::bit_width(slots - 1)));
}

void FingerprintSet::add(const uint64_t* fingerprints, size_t count) {
    if ((count_ + count) * 4 > (size_t{3} << log_slots_)) grow(count);
    displaced_.reserve(count);
    uint64_t* const slots = slots_.data();
    uint64_t* const displaced = displaced_.data();
    const int shift = bits_ - log_slots_;
    size_t added = 0;
    size_t zeros = 0;
    // Tries values in the slots that are so far behind their own, and returns how many of them
    // found another value there. Whether a slot is free cannot be predicted, so nothing branches on
    // it.
    const auto try_slots = [&](const uint64_t* values, size_t values_count, size_t distance) {
        size_t kept = 0;
        for (size_t i = 0; i < values_count; ++i) {
            const uint64_t value = values[i];
            uint64_t& slot = slots[(value >> shift) + distance];
            const uint64_t there = slot;
            const uint64_t is_free = there == 0;
            const uint64_t now = there | (value & (0 - is_free));  // compilers branch for ?:
            slot = now;
            added += is_free;
            zeros += value == 0;
            displaced[kept] = value;
            kept += now != value;
        }
        return kept;
    };
    size_t left = try_slots(fingerprints, count, 0);
    for (size_t distance = 1; distance < tries; ++distance)
        left = try_slots(displaced, left, distance);
    count_ += added;
    for (size_t i = 0; i < left; ++i) add_displaced(displaced[i]);
    has_zero_ |= zeros != 0;
}

void FingerprintSet::add_displaced(uint64_t value) {
    if (value == 0) return;
    uint64_t* slot = slots_.data() + (value >> (bits_ - log_slots_));
    for (uint64_t* const last = slot + farthest(); slot < last; ++slot) {
        if (*slot == value) return;
        if (*slot == 0) {
            *slot = value;
            ++count_;
            return;
        }
    }
    spill_.push_back(value);
}

void FingerprintSet::grow(size_t more) {
    std::vector<uint64_t> values(slot_count() + Buffer<uint64_t>::slack);
    values.resize(squeeze_values_plain(slots_.data(), slot_count(), 0, values.data()));
    values.insert(values.end(), spill_.begin(), spill_.end());
    spill_.clear();
    count_ = 0;
    int log_slots = log_slots_;
    while ((values.size() + more) * 2 > (size_t{1} << log_slots)) ++log_slots;
    allocate(log_slots);
    for (const uint64_t value : values) add_displaced(value);
}

size_t FingerprintSet::size() {
    if (has_zero_) {
        // A zero fills no slot, so the free slots it met were counted in vain.
        const uint64_t* const slots = slots_.data();
        count_ = slot_count() - static_cast<size_t>(std::count(slots, slots + slot_count(), 0));
    }
    if (!spill_.empty()) {
        std::sort(spill_.begin(), spill_.end());
        spill_.erase(std::unique(spill_.begin(), spill_.end()), spill_.end());
    }
    return count_ + has_zero_ + spill_.size();
}

void FingerprintSet::append_multiples(uint64_t m, size_t limit, Sequence<uint64_t>& out) {
    const uint64_t even_mask = (m & -m) - 1;
    const uint64_t odd = m >> std::countr_zero(m);
    uint64_t* const kept = out.room(1 + count_ + spill_.size());
    size_t count = 0;
    if (has_zero_) kept[count++] = 0;
    count += squeeze_values(level_)(slots_.data(), slot_count(), even_mask, kept + count);
    for (const uint64_t value : spill_)
        if ((value & even_mask) == 0) kept[count++] = value;
    if (odd > 1) count = keep_multiples_of_odd(kept, count, odd);
    if (spill_.empty())
        sort_nearly_sorted(kept, kept + count);
    else
        std::sort(kept, kept + count);
    out.keep(std::min(limit, count));
}

}  // namespace roughly
