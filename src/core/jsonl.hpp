// Chosen fields of JSON Lines, as columns. A line must be one JSON object; lines of white space are
// passed over; a line that is no object is marked and has no fields. Lenient in three ways that
// JSON is not: strings may hold raw control characters, bytes need not be UTF-8 (they are passed
// on), and NaN, Infinity and -Infinity are numbers, for Python writes them. An escaped surrogate
// without its partner becomes U+FFFD. Of a repeated key the last one counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "buffer.hpp"
#include "simd.hpp"

namespace roughly {

enum class JsonKind : uint8_t { missing = 0, string = 1, null = 2, scalar = 3, nested = 4 };

struct JsonColumn {
    std::vector<int64_t> offsets{0};  // one more than lines
    Buffer<uint8_t> data;       // strings without quotes and escapes; other values as they stand
    size_t size = 0;            // of `data`
    std::vector<uint8_t> kind;  // JsonKind
};

struct JsonlColumns {
    JsonlColumns() = default;
    JsonlColumns(JsonlColumns&&) = default;  // moved, never copied

    std::vector<int64_t> line_begin;  // bytes of the input, one a line that is not blank
    std::vector<int64_t> line_end;    // without the newline
    std::vector<uint8_t> error;       // 1 where the line is no JSON object
    std::vector<JsonColumn> columns;  // in the order of the fields asked for
};

JsonlColumns read_jsonl(std::string_view data, std::span<const std::string_view> fields,
                        Simd level);

// Copies the inside of a string from `p` on without its escapes, as far as whole blocks go, and
// returns where it stopped: at the closing quote, at an escape that is not one letter, or before
// anything else but never inside an escape. `escapes` has for 128 letters what they stand for
// behind a backslash, 0 for none. May write 64 bytes from where `out` ends, but no more bytes than
// there are up to `end`.
const char* unescape_avx512(const char* p, const char* end, const uint8_t* escapes, uint8_t*& out);

}  // namespace roughly
