#include "token.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "unicode_table.hpp"
#include "utf8.hpp"

namespace roughly {

namespace {

constexpr size_t block_bytes = 64;
constexpr size_t general_bytes = 4096;  // how much the general path takes at a time

// The lower-case letter or the digit, or a space for an ASCII separator.
constexpr std::array<uint8_t, 128> ascii_fold = [] {
    std::array<uint8_t, 128> fold{};
    fold.fill(' ');
    for (uint8_t c = '0'; c <= '9'; ++c) fold[c] = c;
    for (uint8_t c = 'a'; c <= 'z'; ++c) fold[c] = fold[c - 32u] = c;
    return fold;
}();

// Writes tokens where a cursor points. A copy of the cursor, so that the compiler may keep it in
// registers; `cursor()` gives it back. With `spans`, notes where every token came from.
template <bool with_spans>
class Writer {
   public:
    Writer(const TokenCursor& cursor, std::vector<Span>* spans)
        : canonical_(cursor.canonical),
          position_(cursor.position),
          next_end_(cursor.next_end),
          in_word_(cursor.in_word),
          spans_(spans) {}

    TokenCursor cursor() const { return {canonical_, position_, next_end_, in_word_ != 0}; }

    // Where tokens end cannot be predicted, so this does not branch.
    void close_word() {
        canonical_[position_] = ' ';
        *next_end_ = position_;
        next_end_ += in_word_;
        position_ += in_word_;
        in_word_ = 0;
    }

    void ascii(uint8_t byte, uint64_t source) {
        const uint8_t folded = ascii_fold[byte];
        if constexpr (with_spans) {
            if (folded != ' ')
                word_bytes(&folded, 1, source, source + 1);
            else
                close_word();
            return;
        }
        // Every byte is written; it counts if it belongs to a token or closes one.
        const uint32_t belongs = folded != ' ';
        canonical_[position_] = folded;
        *next_end_ = position_;
        next_end_ += in_word_ & ~belongs;
        position_ += in_word_ | belongs;
        in_word_ = belongs;
    }

    void word_bytes(const uint8_t* bytes, size_t size, uint64_t begin, uint64_t end) {
        if constexpr (with_spans) {
            if (!in_word_) spans_->push_back({begin, end});
            spans_->back().end = end;
        }
        std::memcpy(canonical_ + position_, bytes, size);
        position_ += static_cast<uint32_t>(size);
        in_word_ = 1;
    }

    // A code point that folds to itself.
    void word_code_point(const uint8_t* text, size_t at, size_t next, size_t text_size) {
        if (with_spans || text_size - at < 4) {
            word_bytes(text + at, next - at, at, next);
            return;
        }
        std::memcpy(canonical_ + position_, text + at, 4);  // of which next - at count
        position_ += static_cast<uint32_t>(next - at);
        in_word_ = 1;
    }

    void solo(const uint8_t* bytes, size_t size, uint64_t begin, uint64_t end) {
        close_word();
        word_bytes(bytes, size, begin, end);
        close_word();
    }

    // Leaves no trace but in the span of the token before it.
    void transparent(uint64_t begin, uint64_t end) {
        if constexpr (with_spans)
            if (!spans_->empty() && spans_->back().end == begin) spans_->back().end = end;
    }

    void hangul(uint32_t code_point, uint64_t begin, uint64_t end) {
        // The arithmetic of Unicode 3.12: 19 leading, 21 vowel, 27 trailing jamo.
        const uint32_t index = code_point - 0xAC00;
        uint8_t bytes[12];
        size_t size = encode_utf8(0x1100 + index / 588, bytes);
        size += encode_utf8(0x1161 + index % 588 / 28, bytes + size);
        if (index % 28) size += encode_utf8(0x11A7 + index % 28, bytes + size);
        word_bytes(bytes, size, begin, end);
    }

    void expansion(uint16_t entry, uint64_t begin, uint64_t end) {
        const uint8_t* p = unicode_expansion + unicode_expansion_offset[entry - first_expansion];
        for (uint8_t pieces = *p++; pieces; --pieces) {
            const uint8_t kind = *p++;
            const uint8_t size = *p++;
            if (kind == word) word_bytes(p, size, begin, end);
            if (kind == UnicodeEntry::solo) solo(p, size, begin, end);
            if (kind == separator) close_word();
            p += size;
        }
    }

   private:
    uint8_t* canonical_;
    uint32_t position_;
    uint32_t* next_end_;
    uint32_t in_word_;  // 0 or 1
    std::vector<Span>* spans_;
};

// Whether nothing but ASCII follows for a while, so that calling a kernel is worth it.
bool ascii_ahead(const uint8_t* text, size_t at, size_t size) {
    uint64_t words[4];
    if (size - at < sizeof words) return false;
    std::memcpy(words, text + at, sizeof words);
    return ((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080u) == 0;
}

// Code points that begin before `stop`, or before a stretch of ASCII if there is a kernel for it;
// returns where the next one begins.
template <bool with_spans>
size_t tokenize_general(Simd level, const uint8_t* text, size_t at, size_t stop, size_t size,
                        TokenCursor& cursor, std::vector<Span>* spans) {
    Writer<with_spans> writer(cursor, spans);
    while (at < stop) {
        if (text[at] < 0x80) {
            if (level != Simd::plain && ascii_ahead(text, at, size)) break;
            for (; at < stop && text[at] < 0x80; ++at) writer.ascii(text[at], at);
            continue;
        }
        const CodePoint c = decode_utf8(text + at, text + size);
        const size_t next = at + c.size;
        const uint16_t entry = unicode_lookup(c.value);
        switch (entry) {
            case word: writer.word_code_point(text, at, next, size); break;
            case solo:
                writer.close_word();
                writer.word_code_point(text, at, next, size);
                writer.close_word();
                break;
            case separator: writer.close_word(); break;
            case transparent: writer.transparent(at, next); break;
            case hangul: writer.hangul(c.value, at, next); break;
            default: writer.expansion(entry, at, next);
        }
        at = next;
    }
    cursor = writer.cursor();
    return at;
}

size_t tokenize_ascii(Simd level, const uint8_t* text, size_t size, TokenCursor& cursor) {
#if defined(__x86_64__)
    if (level == Simd::avx512) return tokenize_ascii_avx512(text, size, cursor);
    if (level == Simd::avx2) return tokenize_ascii_avx2(text, size, cursor);
#else
    (void)level, (void)text, (void)size, (void)cursor;
#endif
    return 0;
}

// U+FDFA, the longest expansion, gives 33 bytes in 4 tokens from 3 bytes; a solo code point of 2
// bytes gives 3. So a block, and the last code point that begins in it, give less than this.
constexpr size_t growth(size_t block) { return 12 * (block + 4); }

// Room for `more` canonical bytes, and as many tokens as can be in them.
void make_room(size_t more, Tokens& tokens, TokenCursor& cursor) {
    const size_t needed = cursor.position + more + 1;
    if (needed > UINT32_MAX - block_bytes)
        throw std::length_error("document: too large: its canonical form reaches 4 GiB");
    if (needed <= tokens.canonical.capacity() && tokens.canonical.data()) return;
    const std::ptrdiff_t count = cursor.next_end - tokens.ends.data();
    tokens.canonical.reserve(needed);
    tokens.ends.reserve(tokens.canonical.capacity() / 2 + 1);
    cursor.canonical = tokens.canonical.data();
    cursor.next_end = tokens.ends.data() + count;
}

template <bool with_spans>
void run(Simd level, const uint8_t* text, size_t size, Tokens& tokens, std::vector<Span>* spans) {
    TokenCursor cursor{tokens.canonical.data(), 0, tokens.ends.data(), false};
    make_room(size, tokens, cursor);
    size_t at = 0;
    while (at < size) {
        if (level != Simd::plain) {
            at += tokenize_ascii(level, text + at, size - at, cursor);
            if (size - at < block_bytes) {
                // The last block, padded with separators.
                uint8_t block[block_bytes] = {};
                std::memcpy(block, text + at, size - at);
                at += tokenize_ascii(level, block, block_bytes, cursor);
                if (at >= size) break;
            }
        }
        // Whatever this block becomes, what is left of the document must still fit.
        const size_t stop = std::min(size, at + general_bytes);
        make_room(growth(stop - at) + (size - at), tokens, cursor);
        at = tokenize_general<with_spans>(level, text, at, stop, size, cursor, spans);
    }
    Writer<with_spans> writer(cursor, spans);
    writer.close_word();
    tokens.canonical_size = writer.cursor().position;
    tokens.count = static_cast<size_t>(writer.cursor().next_end - tokens.ends.data());
}

}  // namespace

void tokenize(Simd level, const uint8_t* text, size_t size, Tokens& tokens) {
    run<false>(level, text, size, tokens, nullptr);
}

void tokenize_with_spans(const uint8_t* text, size_t size, Tokens& tokens,
                         std::vector<Span>& spans) {
    spans.clear();
    run<true>(Simd::plain, text, size, tokens, &spans);
}

}  // namespace roughly
