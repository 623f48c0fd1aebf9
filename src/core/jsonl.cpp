#include "jsonl.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "utf8.hpp"

namespace roughly {

namespace {

const char* find(const char* p, const char* end, char byte) {
    const void* found = p < end ? std::memchr(p, byte, static_cast<size_t>(end - p)) : nullptr;
    return found ? static_cast<const char*>(found) : end;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// What the letter behind a backslash stands for; 0 if nothing.
constexpr auto escapes = [] {
    std::array<uint8_t, 256> made{};
    constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    for (size_t i = 0; i < names.size(); ++i)
        made[static_cast<uint8_t>(names[i])] = static_cast<uint8_t>(values[i]);
    return made;
}();

// Copies up to the first quote or backslash and returns where that is, or `end`. May write 15 bytes
// more than it moved `out`.
const char* copy_plain(const char* p, const char* end, uint8_t*& out) {
#if defined(__SSE2__)
    // The baseline of x86-64, so there is nothing to choose at run time.
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    for (; end - p >= 16; p += 16, out += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
        const __m128i special =
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
        const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special));
        if (mask) {
            const int plain = std::countr_zero(mask);
            out += plain;
            return p + plain;
        }
    }
#endif
    while (p < end && *p != '"' && *p != '\\') *out++ = static_cast<uint8_t>(*p++);
    return p;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Parses lines one after the other. Every function moves `p_` behind what it read and returns
// whether it was well-formed.
class LineParser {
   public:
    LineParser(std::string_view data, Simd level) : data_(data), level_(level) {}

    // Calls field(name) for every key, which returns the column that wants the value or nullptr.
    template <typename Field>
    bool object(const char* begin, const char* end, Field&& field) {
        p_ = begin;
        end_ = end;
        passed_over_.reserve(static_cast<size_t>(end - begin));
        skip_space();
        if (!take('{')) return false;
        skip_space();
        if (!take('}')) {
            do {
                skip_space();
                uint8_t* const key = passed_over_.data();
                uint8_t* key_end = key;
                if (!string(key_end)) return false;
                const std::string_view name(reinterpret_cast<const char*>(key),
                                            static_cast<size_t>(key_end - key));
                skip_space();
                if (!take(':')) return false;
                skip_space();
                JsonColumn* column = field(name);
                if (column ? !value_into(*column) : !skip_value()) return false;
                skip_space();
            } while (take(','));
            if (!take('}')) return false;
        }
        skip_space();
        return p_ == end_;
    }

   private:
    void skip_space() {
        while (p_ < end_ && is_space(*p_)) ++p_;
    }

    bool take(char c) {
        if (p_ == end_ || *p_ != c) return false;
        ++p_;
        return true;
    }

    // Writes the string without quotes and escapes, which never makes it longer.
    bool string(uint8_t*& out) {
        if (!take('"')) return false;
        for (;;) {
#if defined(__x86_64__)
            if (level_ == Simd::avx512) p_ = unescape_avx512(p_, end_, escapes.data(), out);
#endif
            p_ = copy_plain(p_, end_, out);
            if (p_ == end_) return false;
            if (*p_ == '"') {
                ++p_;
                return true;
            }
            if (!escaped(out)) return false;
        }
    }

    bool skip_string() {
        uint8_t* out = passed_over_.data();
        return string(out);
    }

    bool escaped(uint8_t*& out) {
        if (end_ - p_ < 2) return false;
        const char c = p_[1];
        p_ += 2;
        if (c == 'u') return escaped_code_point(out);
        const uint8_t value = escapes[static_cast<uint8_t>(c)];
        *out++ = value;
        return value != 0;
    }

    bool code_unit(uint32_t& unit) {
        if (end_ - p_ < 4) return false;
        unit = 0;
        for (int i = 0; i < 4; ++i) {
            const int digit = hex_digit(p_[i]);
            if (digit < 0) return false;
            unit = unit * 16 + static_cast<uint32_t>(digit);
        }
        p_ += 4;
        return true;
    }

    bool escaped_code_point(uint8_t*& out) {
        uint32_t code_point;
        if (!code_unit(code_point)) return false;
        if (code_point >= 0xD800 && code_point < 0xDC00 && end_ - p_ >= 6 && p_[0] == '\\' &&
            p_[1] == 'u') {
            const char* after_first = p_;
            uint32_t second;
            p_ += 2;
            if (!code_unit(second)) return false;
            if (second >= 0xDC00 && second < 0xE000)
                code_point = 0x10000 + ((code_point - 0xD800) << 10) + (second - 0xDC00);
            else
                p_ = after_first;
        }
        if (code_point >= 0xD800 && code_point < 0xE000) code_point = 0xFFFD;
        out += encode_utf8(code_point, out);
        return true;
    }

    // Begins where the line's part of the column begins, so a repeated key overwrites.
    bool value_into(JsonColumn& column) {
        const auto begin = static_cast<size_t>(column.offsets.back());
        const size_t wanted = begin + static_cast<size_t>(end_ - p_);
        if (column.data.capacity() < wanted) {
            // As much as all lines take if the others are like those so far, and a little more:
            // to grow is to copy.
            const auto done = static_cast<double>(p_ - data_.data());
            const double all =
                static_cast<double>(begin) / done * static_cast<double>(data_.size());
            column.data.reserve(std::max(wanted, static_cast<size_t>(1.05 * all)));
        }
        uint8_t* out = column.data.data() + begin;
        JsonKind kind = JsonKind::string;
        if (p_ < end_ && *p_ == '"') {
            if (!string(out)) return false;
        } else {
            const char* value = p_;
            if (!skip_value()) return false;
            kind = *value == 'n'                    ? JsonKind::null
                   : *value == '{' || *value == '[' ? JsonKind::nested
                                                    : JsonKind::scalar;
            if (kind != JsonKind::null) {
                std::memcpy(out, value, static_cast<size_t>(p_ - value));
                out += p_ - value;
            }
        }
        column.kind.back() = static_cast<uint8_t>(kind);
        column.size = static_cast<size_t>(out - column.data.data());
        return true;
    }

    bool skip_value() {
        if (p_ == end_) return false;
        if (*p_ == '"') return skip_string();
        if (*p_ == '{' || *p_ == '[') return skip_nested();
        return skip_scalar();
    }

    // Without recursion, so that depth costs memory and not the stack.
    bool skip_nested() {
        open_.clear();
        for (;;) {
            skip_space();
            if (p_ == end_) return false;
            if (*p_ == '{' || *p_ == '[') {
                open_.push_back(*p_++);
                skip_space();
                const bool empty = p_ < end_ && (*p_ == '}' || *p_ == ']');
                if (!empty && open_.back() == '{' && !skip_key()) return false;
                if (!empty) continue;
                if (!close()) return false;
            } else if (*p_ == '"' ? !skip_string() : !skip_scalar()) {
                return false;
            }
            // Behind a value: closing brackets, then a comma or the end.
            for (;;) {
                if (open_.empty()) return true;
                skip_space();
                if (p_ == end_) return false;
                if (*p_ == ',') {
                    ++p_;
                    skip_space();
                    if (open_.back() == '{' && !skip_key()) return false;
                    break;
                }
                if (!close()) return false;
            }
        }
    }

    bool skip_key() {
        if (!skip_string()) return false;
        skip_space();
        return take(':');
    }

    bool close() {
        if (p_ == end_ || *p_ != (open_.back() == '{' ? '}' : ']')) return false;
        ++p_;
        open_.pop_back();
        return true;
    }

    bool skip_scalar() {
        for (const std::string_view literal :
             {"true", "false", "null", "NaN", "Infinity", "-Infinity"}) {
            if (std::string_view(p_, static_cast<size_t>(end_ - p_)).starts_with(literal)) {
                p_ += literal.size();
                return true;
            }
        }
        take('-');
        if (!take('0') && !digits()) return false;
        if (take('.') && !digits()) return false;
        if (take('e') || take('E')) {
            if (!take('+')) take('-');
            return digits();
        }
        return true;
    }

    bool digits() {
        const char* begin = p_;
        while (p_ < end_ && *p_ >= '0' && *p_ <= '9') ++p_;
        return p_ > begin;
    }

    const std::string_view data_;
    const Simd level_;
    const char* p_ = nullptr;
    const char* end_ = nullptr;
    Buffer<uint8_t> passed_over_;  // where keys and unwanted strings are written
    std::vector<char> open_;
};

}  // namespace

JsonlColumns read_jsonl(std::string_view data, std::span<const std::string_view> fields,
                        Simd level) {
    JsonlColumns result;
    result.columns.resize(fields.size());
    const char* const end = data.data() + data.size();
    LineParser parser(data, level);
    for (const char* begin = data.data(); begin < end;) {
        const char* line_end = find(begin, end, '\n');
        const char* first = begin;
        while (first < line_end && is_space(*first)) ++first;
        if (first < line_end) {
            for (JsonColumn& column : result.columns) column.kind.push_back(0);
            const bool good =
                parser.object(begin, line_end, [&](std::string_view name) -> JsonColumn* {
                    for (size_t i = 0; i < fields.size(); ++i)
                        if (fields[i] == name) return &result.columns[i];
                    return nullptr;
                });
            result.line_begin.push_back(begin - data.data());
            result.line_end.push_back(line_end - data.data());
            result.error.push_back(!good);
            for (JsonColumn& column : result.columns) {
                if (!good) {
                    column.kind.back() = 0;
                    column.size = static_cast<size_t>(column.offsets.back());
                }
                column.offsets.push_back(static_cast<int64_t>(column.size));
            }
        }
        begin = line_end + 1;
    }
    return result;
}

}  // namespace roughly
