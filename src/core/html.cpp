#include "html.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "element.hpp"
#include "entity_table.hpp"
#include "utf8.hpp"

namespace roughly {

namespace {

constexpr bool is_space(uint8_t c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}
constexpr uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; }
constexpr bool is_letter(uint8_t c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
constexpr bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
constexpr bool ends_name(uint8_t c) { return is_space(c) || c == '/' || c == '>'; }

bool begins_with(const uint8_t* p, const uint8_t* end, std::string_view lower_case) {
    if (static_cast<size_t>(end - p) < lower_case.size()) return false;
    for (size_t i = 0; i < lower_case.size(); ++i)
        if (lower(p[i]) != static_cast<uint8_t>(lower_case[i])) return false;
    return true;
}

const uint8_t* find(const uint8_t* p, const uint8_t* end, uint8_t byte) {
    const void* found = p < end ? std::memchr(p, byte, static_cast<size_t>(end - p)) : nullptr;
    return found ? static_cast<const uint8_t*>(found) : end;
}

// The place of the next `byte` at or after a position that only moves forward: every byte of the
// document is searched once, however often one asks.
class NextByte {
   public:
    NextByte(const uint8_t* begin, const uint8_t* end, uint8_t byte)
        : at_(roughly::find(begin, end, byte)), end_(end), byte_(byte) {}
    const uint8_t* from(const uint8_t* p) {
        if (at_ < p) at_ = roughly::find(p, end_, byte_);
        return at_;
    }

   private:
    const uint8_t* at_;
    const uint8_t* end_;
    uint8_t byte_;
};

// A character reference and the text it stands for; source_size 0 if there is none.
struct Reference {
    size_t source_size = 0;
    const char* text = nullptr;
    size_t text_size = 0;
    uint8_t own[4] = {};  // holds the text of a numeric reference
};

struct EntityRange {
    int begin = 0, end = 0;
};

// The names that begin with each letter, upper and lower case.
const auto& entity_ranges() {
    static const auto ranges = [] {
        std::array<std::array<EntityRange, 2>, 26> made{};
        for (int i = 0; i < entity_count; ++i) {
            const auto c = static_cast<uint8_t>(entity_table[i].name[0]);
            EntityRange& range = made[lower(c) - 'a'][c >= 'a'];
            if (range.end == 0) range.begin = i;
            range.end = i + 1;
        }
        return made;
    }();
    return ranges;
}

Reference named_reference(const uint8_t* p, const uint8_t* end) {
    // The range of names that agree with the text so far shrinks with every byte; the longest name
    // that was met whole wins. Equal prefixes sort next to each other, a whole name first.
    if (p + 1 == end || !is_letter(p[1])) return {};
    const EntityRange& range = entity_ranges()[lower(p[1]) - 'a'][p[1] >= 'a'];
    const Entity* first = entity_table + range.begin;
    const Entity* last = entity_table + range.end;
    const Entity* longest = nullptr;
    for (size_t i = 1; p + 1 + i < end; ++i) {
        const uint8_t c = p[1 + i];
        if (!is_letter(c) && !is_digit(c) && c != ';') break;
        const auto byte_at = [i](const Entity& e) {
            return i < e.name_size ? static_cast<int>(static_cast<uint8_t>(e.name[i])) : -1;
        };
        first = std::partition_point(first, last, [&](const Entity& e) { return byte_at(e) < c; });
        last = std::partition_point(first, last, [&](const Entity& e) { return byte_at(e) == c; });
        if (first == last) break;
        if (first->name_size == i + 1) longest = first;
    }
    if (!longest) return {};
    return {size_t{longest->name_size} + 1, longest->text, longest->text_size, {}};
}

// What numbers 80 to 9F mean, for pages that took them from windows-1252; 0 where nothing does.
constexpr uint16_t windows_1252[32] = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

Reference numeric_reference(const uint8_t* p, const uint8_t* end) {
    const uint8_t* at = p + 2;
    const bool hexadecimal = at < end && lower(*at) == 'x';
    if (hexadecimal) ++at;
    const uint8_t* digits = at;
    uint32_t value = 0;
    for (; at < end; ++at) {
        const uint8_t c = lower(*at);
        if (!is_digit(c) && !(hexadecimal && c >= 'a' && c <= 'f')) break;
        const uint32_t digit = is_digit(c) ? c - '0' : c - 'a' + 10u;
        value = std::min<uint32_t>(value * (hexadecimal ? 16 : 10) + digit, 0x110000);
    }
    if (at == digits) return {};
    if (at < end && *at == ';') ++at;
    if (value >= 0x80 && value < 0xA0 && windows_1252[value - 0x80])
        value = windows_1252[value - 0x80];
    if (value == 0 || value >= 0x110000 || (value >= 0xD800 && value < 0xE000)) value = 0xFFFD;
    Reference reference;
    reference.source_size = static_cast<size_t>(at - p);
    reference.text_size = encode_utf8(value, reference.own);
    return reference;
}

Reference reference_at(const uint8_t* p, const uint8_t* end) {
    return p + 1 < end && p[1] == '#' ? numeric_reference(p, end) : named_reference(p, end);
}

// Text written so far and, where asked, where it came from.
template <bool with_runs>
class Output {
   public:
    Output(const uint8_t* source, size_t size, HtmlText& text, std::vector<HtmlRun>* runs)
        : source_(source), source_end_(source + size), text_(text), runs_(runs) {
        // A reference of five bytes may stand for six (&nGt;); everything else shrinks.
        text.bytes.reserve(size + size / 5 + 1);
        out_ = text.bytes.data();
        if constexpr (with_runs) runs->clear();
    }

    void copy(const uint8_t* begin, const uint8_t* end) {
        if (begin == end) return;
        note(begin, end, true);
        constexpr size_t step = 32;  // Buffer::slack allows one step beyond
        if (static_cast<size_t>(source_end_ - begin) >= static_cast<size_t>(end - begin) + step) {
            uint8_t* out = out_;
            for (const uint8_t* p = begin; p < end; p += step, out += step)
                std::memcpy(out, p, step);
        } else {
            std::memcpy(out_, begin, static_cast<size_t>(end - begin));
        }
        out_ += end - begin;
    }

    void decoded(const uint8_t* begin, const Reference& reference) {
        note(begin, begin + reference.source_size, false);
        const void* bytes =
            reference.text ? static_cast<const void*>(reference.text) : reference.own;
        std::memcpy(out_, bytes, reference.text_size);
        out_ += reference.text_size;
    }

    void separate() { *out_++ = '\n'; }

    void finish() { text_.size = static_cast<size_t>(out_ - text_.bytes.data()); }

   private:
    void note(const uint8_t* begin, const uint8_t* end, bool copied) {
        if constexpr (with_runs)
            runs_->push_back(
                {static_cast<uint64_t>(out_ - text_.bytes.data()),
                 {static_cast<uint64_t>(begin - source_), static_cast<uint64_t>(end - source_)},
                 copied});
    }

    const uint8_t* source_;
    const uint8_t* source_end_;
    HtmlText& text_;
    std::vector<HtmlRun>* runs_;
    uint8_t* out_;
};

struct Tag {
    ElementName name;
    uint16_t traits = 0;
    bool self_closing = false;
    const uint8_t* after = nullptr;  // null when the document ends inside the tag
};

const uint8_t* skip_space(const uint8_t* p, const uint8_t* end) {
    while (p < end && is_space(*p)) ++p;
    return p;
}

// The attribute states of the WHATWG tokenizer, of which only the way out matters.
void skip_attributes(const uint8_t* p, const uint8_t* end, Tag& tag) {
    for (;;) {
        p = skip_space(p, end);  // before attribute name
        if (p == end) return;
        if (*p == '>') {
            tag.after = p + 1;
            return;
        }
        if (*p == '/') {
            if (p + 1 < end && p[1] == '>') {
                tag.self_closing = true;
                tag.after = p + 2;
                return;
            }
            ++p;
            continue;
        }
        ++p;  // attribute name; its first byte may be '='
        while (p < end && !ends_name(*p) && *p != '=') ++p;
        p = skip_space(p, end);  // after attribute name
        if (p == end || *p != '=') continue;
        p = skip_space(p + 1, end);  // before attribute value
        if (p == end) return;
        if (*p == '"' || *p == '\'') {
            p = find(p + 1, end, *p);
            if (p == end) return;
            ++p;
        } else {
            while (p < end && !is_space(*p) && *p != '>') ++p;
        }
    }
}

// p points at the first letter of the name.
Tag read_tag(const uint8_t* p, const uint8_t* end) {
    Tag tag;
    size_t i = 0;
    for (; p < end && !ends_name(*p); ++p, ++i)
        if (i < 16) tag.name.set(i, *p ? lower(*p) : 1);  // 0 would end the name early
    if (i <= 16) tag.traits = element_traits(tag.name);
    skip_attributes(p, end, tag);
    return tag;
}

// Where a comment whose inside begins at p ends.
const uint8_t* skip_comment(const uint8_t* p, const uint8_t* end) {
    const uint8_t* const begin = p;
    if (p < end && *p == '>') return p + 1;
    if (end - p >= 2 && p[0] == '-' && p[1] == '>') return p + 2;
    for (;; ++p) {
        p = find(p, end, '>');
        if (p == end) return end;
        if (p - begin >= 2 && p[-1] == '-' && p[-2] == '-') return p + 1;
        if (p - begin >= 3 && p[-1] == '!' && p[-2] == '-' && p[-3] == '-') return p + 1;
    }
}

// Whether `</name` followed by the end of a name stands at p, which points at '<'.
bool is_end_tag(const uint8_t* p, const uint8_t* end, std::string_view name) {
    return end - p > static_cast<std::ptrdiff_t>(name.size()) + 2 && p[1] == '/' &&
           begins_with(p + 2, end, name) && ends_name(p[2 + name.size()]);
}

const uint8_t* find_end_tag(const uint8_t* p, const uint8_t* end, std::string_view name) {
    for (p = find(p, end, '<'); p < end; p = find(p + 1, end, '<'))
        if (is_end_tag(p, end, name)) return p;
    return end;
}

// Where the script's end tag begins: `<!--` escapes, `<script` inside that escapes doubly, and only
// then is `</script` not the end.
const uint8_t* find_script_end(const uint8_t* p, const uint8_t* end) {
    enum { script, escaped, doubly_escaped } state = script;
    const uint8_t* dashes = nullptr;  // where the comment's dashes may begin to count as `-->`
    for (; p < end; ++p) {
        if (state == script) {
            p = find(p, end, '<');
            if (p == end) return end;
        }
        if (*p == '<') {
            if (state != doubly_escaped && is_end_tag(p, end, "script")) return p;
            if (state == script && begins_with(p, end, "<!--")) {
                state = escaped;
                dashes = p + 2;
                p += 3;
            } else if (state == escaped && begins_with(p, end, "<script") && end - p > 7 &&
                       ends_name(p[7])) {
                state = doubly_escaped;
            } else if (state == doubly_escaped && is_end_tag(p, end, "script")) {
                state = escaped;
            }
        } else if (*p == '>' && state != script && p - dashes >= 2 && p[-1] == '-' &&
                   p[-2] == '-') {
            state = script;
        }
    }
    return end;
}

template <bool with_runs>
class Stripper {
   public:
    Stripper(const uint8_t* data, size_t size, HtmlText& text, std::vector<HtmlRun>* runs)
        : begin_(data),
          end_(data + size),
          output_(data, size, text, runs),
          ampersand_(begin_, end_, '&'),
          nul_(begin_, end_, 0) {}

    void run() {
        const uint8_t* p = begin_;
        while (p < end_) {
            const uint8_t* less_than = find(p, end_, '<');
            text(p, less_than, true, !foreign());
            if (less_than == end_) break;
            p = markup(less_than);
        }
        output_.finish();
    }

   private:
    // Text from begin to end, unless hidden.
    void text(const uint8_t* begin, const uint8_t* end, bool references, bool drop_nul) {
        if (hidden_depth_) return;
        const uint8_t* p = begin;
        while (p < end) {
            const uint8_t* ampersand = references ? std::min(ampersand_.from(p), end) : end;
            const uint8_t* nul = drop_nul ? std::min(nul_.from(p), end) : end;
            const uint8_t* stop = std::min(ampersand, nul);
            output_.copy(p, stop);
            p = stop;
            if (p == end) return;
            if (p == nul) {
                ++p;
                continue;
            }
            const Reference reference = reference_at(p, end);
            if (reference.source_size)
                output_.decoded(p, reference);
            else
                output_.copy(p, p + 1);
            p += std::max<size_t>(reference.source_size, 1);
        }
    }

    // p points at '<'; returns where the data go on.
    const uint8_t* markup(const uint8_t* p) {
        const uint8_t next = p + 1 < end_ ? p[1] : 0;
        if (is_letter(next)) return start_tag(read_tag(p + 1, end_));
        if (next == '/' && p + 2 < end_) {
            if (is_letter(p[2])) return end_tag(read_tag(p + 2, end_));
            return after(find(p + 2, end_, '>'));
        }
        if (next == '!') {
            if (begins_with(p, end_, "<!--")) return skip_comment(p + 4, end_);
            if (foreign() && end_ - p >= 9 && std::memcmp(p, "<![CDATA[", 9) == 0)
                return character_data(p + 9);
            return after(find(p + 2, end_, '>'));
        }
        if (next == '?') return after(find(p + 2, end_, '>'));
        text(p, p + 1, false, false);
        return p + 1;
    }

    const uint8_t* after(const uint8_t* found) const { return found == end_ ? end_ : found + 1; }

    const uint8_t* character_data(const uint8_t* p) {
        const uint8_t* close = p;
        for (;; ++close) {
            close = find(close, end_, ']');
            if (close == end_) break;
            if (end_ - close >= 3 && close[1] == ']' && close[2] == '>') break;
        }
        text(p, close, false, false);
        return close == end_ ? end_ : close + 3;
    }

    const uint8_t* start_tag(const Tag& tag) {
        if (!tag.after) return end_;
        if (foreign() && (tag.traits & leaves_foreign)) leave_foreign();
        end_hiding_outside();
        const bool in_foreign = foreign();
        const bool opens = !(in_foreign && tag.self_closing);
        if (hidden_depth_) {
            if (opens && tag.name == hidden_by_) ++hidden_depth_;
        } else {
            if (tag.traits & separates) output_.separate();
            if (opens && (tag.traits & (in_foreign ? hides | hidden_raw_text : hides))) {
                hidden_by_ = tag.name;
                hidden_depth_ = 1;
                hidden_height_ = in_foreign ? depth_ : 0;
            }
        }
        if (in_foreign) {
            enter_from_foreign(tag);
            return tag.after;
        }
        if ((tag.traits & (svg_root | math_root)) && !tag.self_closing) push(tag);
        return raw_content(tag);
    }

    // The content of elements that hold no markup.
    const uint8_t* raw_content(const Tag& tag) {
        const uint8_t* p = tag.after;
        if (tag.traits & plain_text) {
            text(p, end_, false, false);
            return end_;
        }
        if (!(tag.traits & (reference_text | raw_text | hidden_raw_text))) return p;
        char name[16];
        size_t size = 0;
        for (; size < 16; ++size) {
            name[size] =
                static_cast<char>((size < 8 ? tag.name.low : tag.name.high) >> (8 * (size % 8)));
            if (!name[size]) break;
        }
        const uint8_t* close = tag.traits & script_text ? find_script_end(p, end_)
                                                        : find_end_tag(p, end_, {name, size});
        if (!(tag.traits & hidden_raw_text)) text(p, close, tag.traits & reference_text, false);
        return close;
    }

    const uint8_t* end_tag(const Tag& tag) {
        if (!tag.after) return end_;
        if (foreign() && (tag.traits & end_leaves_foreign)) leave_foreign();
        for (size_t i = depth_; i-- > 0;) {
            if (stack_[i].name == tag.name) {
                depth_ = i;
                break;
            }
        }
        end_hiding_outside();
        if (hidden_depth_ && tag.name == hidden_by_) --hidden_depth_;
        if (!hidden_depth_ && (tag.traits & separates)) output_.separate();
        return tag.after;
    }

    struct Entry {
        ElementName name;
        uint16_t root;  // svg_root or math_root, or 0 where content is HTML again
    };

    bool foreign() const { return depth_ && stack_[depth_ - 1].root; }

    void push(const Tag& tag) {
        constexpr uint16_t roots = svg_root | math_root;
        if (depth_ < std::size(stack_))
            stack_[depth_++] = {tag.name, static_cast<uint16_t>(tag.traits & roots)};
    }

    void leave_foreign() {
        while (foreign()) --depth_;
    }

    // What was hidden inside foreign content is not hidden beyond it.
    void end_hiding_outside() {
        if (depth_ < hidden_height_) hidden_depth_ = hidden_height_ = 0;
    }

    void enter_from_foreign(const Tag& tag) {
        if (tag.self_closing) return;
        const uint16_t html_again =
            stack_[depth_ - 1].root == svg_root ? html_in_svg : html_in_math;
        if (tag.traits & (html_again | svg_root | math_root)) push(tag);
    }

    const uint8_t* begin_;
    const uint8_t* end_;
    Output<with_runs> output_;
    NextByte ampersand_;
    NextByte nul_;
    ElementName hidden_by_;
    size_t hidden_depth_ = 0;   // nested elements of that name; 0 when nothing is hidden
    size_t hidden_height_ = 0;  // of the stack below when hiding began in foreign content
    Entry stack_[32];
    size_t depth_ = 0;
};

}  // namespace

bool sniff_html(const uint8_t* data, size_t size) {
    const uint8_t* end = data + size;
    const uint8_t* p = data;
    if (size >= 3 && p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF) p += 3;
    p = skip_space(p, end);
    if (p == end || *p != '<') return false;
    if (begins_with(p, end, "<!--")) return true;
    constexpr std::string_view openings[] = {
        "<!doctype html", "<html",    "<head",  "<script", "<iframe", "<h1",     "<div", "<font",
        "<table",         "<a",       "<style", "<title",  "<b",      "<body",   "<br",  "<p",
        "<meta",          "<link",    "<span",  "<ul",     "<ol",     "<center", "<h2",  "<h3",
        "<section",       "<article", "<main",  "<header", "<nav"};
    for (const std::string_view opening : openings) {
        const uint8_t* next = p + opening.size();
        if (begins_with(p, end, opening) && next < end && ends_name(*next)) return true;
    }
    if (!begins_with(p, end, "<?xml")) return false;
    const uint8_t* limit = end - p > 1024 ? p + 1024 : end;
    for (const uint8_t* q = find(p, limit, '<'); q < limit; q = find(q + 1, limit, '<'))
        if (begins_with(q, limit, "<html") || begins_with(q, limit, "<!doctype html")) return true;
    return false;
}

void strip_html(const uint8_t* data, size_t size, HtmlText& text) {
    Stripper<false>(data, size, text, nullptr).run();
}

void strip_html_with_runs(const uint8_t* data, size_t size, HtmlText& text,
                          std::vector<HtmlRun>& runs) {
    Stripper<true>(data, size, text, &runs).run();
}

void map_to_source(const std::vector<HtmlRun>& runs, std::vector<Span>& spans) {
    // Both are ascending, so one walk suffices. A separator belongs to no run, and no token holds
    // one.
    size_t run = 0;
    const auto run_of = [&](uint64_t position) -> const HtmlRun& {
        while (run + 1 < runs.size() && runs[run + 1].text_begin <= position) ++run;
        return runs[run];
    };
    for (Span& span : spans) {
        const HtmlRun& first = run_of(span.begin);
        const uint64_t begin =
            first.source.begin + (first.copied ? span.begin - first.text_begin : 0);
        const HtmlRun& last = run_of(span.end - 1);
        const uint64_t end =
            last.copied ? last.source.begin + (span.end - last.text_begin) : last.source.end;
        span = {begin, end};
    }
}

}  // namespace roughly
