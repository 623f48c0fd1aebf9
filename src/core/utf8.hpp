// One code point from bytes that should be UTF-8. Ill-formed sequences give U+FFFD and consume
// their maximal subpart (Unicode 3.9), so every byte string has exactly one reading.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roughly {

struct CodePoint {
    uint32_t value;
    uint32_t size;  // bytes consumed, at least 1
};

inline CodePoint decode_utf8(const uint8_t* p, const uint8_t* end) {
    constexpr uint32_t replacement = 0xFFFD;
    const uint32_t lead = p[0];
    if (lead < 0x80) return {lead, 1};
    const size_t left = static_cast<size_t>(end - p);
    const auto continuation = [&](size_t i) { return i < left && (p[i] & 0xC0) == 0x80; };
    if (lead < 0xC2 || lead > 0xF4) return {replacement, 1};
    if (lead < 0xE0) {
        if (!continuation(1)) return {replacement, 1};
        return {(lead & 0x1F) << 6 | (p[1] & 0x3Fu), 2};
    }
    if (lead < 0xF0) {
        // The second byte is narrower after E0 (overlong) and ED (surrogates).
        if (!continuation(1) || (lead == 0xE0 && p[1] < 0xA0) || (lead == 0xED && p[1] > 0x9F))
            return {replacement, 1};
        if (!continuation(2)) return {replacement, 2};
        return {(lead & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu), 3};
    }
    if (!continuation(1) || (lead == 0xF0 && p[1] < 0x90) || (lead == 0xF4 && p[1] > 0x8F))
        return {replacement, 1};
    if (!continuation(2)) return {replacement, 2};
    if (!continuation(3)) return {replacement, 3};
    return {(lead & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu), 4};
}

// Writes at most 4 bytes; returns how many.
inline size_t encode_utf8(uint32_t c, uint8_t* out) {
    const auto tail = [&](uint32_t shift) {
        return static_cast<uint8_t>(0x80 | (c >> shift & 0x3F));
    };
    if (c < 0x80) {
        out[0] = static_cast<uint8_t>(c);
        return 1;
    }
    if (c < 0x800) {
        out[0] = static_cast<uint8_t>(0xC0 | c >> 6);
        out[1] = tail(0);
        return 2;
    }
    if (c < 0x10000) {
        out[0] = static_cast<uint8_t>(0xE0 | c >> 12);
        out[1] = tail(6);
        out[2] = tail(0);
        return 3;
    }
    out[0] = static_cast<uint8_t>(0xF0 | c >> 18);
    out[1] = tail(12);
    out[2] = tail(6);
    out[3] = tail(0);
    return 4;
}

}  // namespace roughly
