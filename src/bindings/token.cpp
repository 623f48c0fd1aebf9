#include "token.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings.hpp"
#include "html.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

void tokenize_document(const nb::bytes& data, bool html, Simd level, Tokens& tokens,
                       std::vector<Span>* spans) {
    nb::gil_scoped_release release;
    const uint8_t* text = bytes_of(data);
    size_t size = data.size();
    HtmlText html_text;
    std::vector<HtmlRun> runs;
    if (html) {
        if (spans)
            strip_html_with_runs(text, size, html_text, runs);
        else
            strip_html(text, size, html_text);
        text = html_text.bytes.data();
        size = html_text.size;
    }
    if (!spans) {
        tokenize(level, text, size, tokens);
        return;
    }
    tokenize_with_spans(text, size, tokens, *spans);
    if (html) map_to_source(runs, *spans);
}

void bind_token(nb::module_& module) {
    module.def(
        "tokenize",
        [](const nb::bytes& data, bool html, std::string_view simd) {
            Tokens tokens;
            tokenize_document(data, html, simd_argument(simd), tokens, nullptr);
            return std::tuple(nb::bytes(tokens.canonical.data(), tokens.canonical_size),
                              to_array(std::vector<uint32_t>(tokens.ends.data(),
                                                             tokens.ends.data() + tokens.count)));
        },
        "data"_a, "html"_a, "simd"_a = "",
        "Canonical form, and one past the last byte of each token in it (a space stands there).");
    module.def(
        "token_spans",
        [](const nb::bytes& data, bool html) {
            Tokens tokens;
            std::vector<Span> spans;
            tokenize_document(data, html, Simd::plain, tokens, &spans);
            return to_table<uint64_t, 2>(std::move(spans));
        },
        "data"_a, "html"_a, "For each token, the bytes of `data` it came from: begin and end.");
}

}  // namespace roughly
