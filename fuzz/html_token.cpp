// Fuzzes the parsers of untrusted bytes: every document must come through html and token without a
// fault, at every instruction set with the same bytes, and every span must lie in the document.
#include <cstdlib>
#include <cstring>

#include "compare.hpp"
#include "html.hpp"
#include "sketch.hpp"

using namespace roughly;

static void require(bool holds) {
    if (!holds) std::abort();
}

static void check_tokens(const uint8_t* text, size_t size) {
    Tokens plain;
    tokenize(Simd::plain, text, size, plain);
    for (size_t i = 0; i < plain.count; ++i) {
        require(plain.ends[i] > plain.begin(i));
        require(plain.canonical[plain.ends[i]] == ' ');
    }
    for (Simd level : simd_levels()) {
        Tokens tokens;
        tokenize(level, text, size, tokens);
        require(tokens.count == plain.count && tokens.canonical_size == plain.canonical_size);
        require(std::memcmp(tokens.canonical.data(), plain.canonical.data(),
                            plain.canonical_size) == 0);
        require(std::memcmp(tokens.ends.data(), plain.ends.data(), 4 * plain.count) == 0);
    }
}

static void check_spans(const uint8_t* data, size_t size) {
    HtmlText text, again;
    std::vector<HtmlRun> runs;
    strip_html(data, size, text);
    strip_html_with_runs(data, size, again, runs);
    require(text.size == again.size);
    require(text.size == 0 || std::memcmp(text.bytes.data(), again.bytes.data(), text.size) == 0);
    Tokens tokens;
    std::vector<Span> spans;
    tokenize_with_spans(again.bytes.data(), again.size, tokens, spans);
    require(spans.size() == tokens.count);
    map_to_source(runs, spans);
    uint64_t last = 0;
    for (const Span& span : spans) {
        require(span.begin < span.end && span.end <= size && span.begin >= last);
        last = span.begin;
    }
    check_tokens(text.bytes.data(), text.size);
}

static void check_sketches(const uint8_t* data, size_t size) {
    const DocumentView document{data, size};
    for (Select select : {Select::adaptive, Select::mod, Select::min, Select::perm}) {
        const SketchParameters parameters{
            .width = 3, .bits = 64, .select = select, .parameter = 5, .seed = 1};
        const SketchColumns plain =
            sketch_batch({&document, 1}, parameters, ContentType::automatic, 1, Simd::plain);
        for (Simd level : simd_levels()) {
            const SketchColumns other =
                sketch_batch({&document, 1}, parameters, ContentType::automatic, 1, level);
            require(other.size == plain.size && other.values.size() == plain.values.size());
            require(other.sketch[0].high == plain.sketch[0].high &&
                    other.sketch[0].low == plain.sketch[0].low);
            require(other.canonical[0].low == plain.canonical[0].low);
        }
    }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    sniff_html(data, size);
    check_tokens(data, size);
    check_spans(data, size);
    check_sketches(data, size);
    // Two halves of one input have passages in common often enough.
    Tokens a, b;
    tokenize(Simd::plain, data, size / 2, a);
    tokenize(Simd::plain, data + size / 2, size - size / 2, b);
    for (const Passage& passage : passages(a, b, 2, Simd::plain))
        require(passage.a + passage.tokens <= a.count && passage.b + passage.tokens <= b.count);
    return 0;
}
