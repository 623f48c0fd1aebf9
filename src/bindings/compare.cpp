#include "compare.hpp"

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

// Runs `compute` on the tokens of both documents with the GIL released.
template <typename Compute>
auto on_tokens(const nb::bytes& a, bool a_html, const nb::bytes& b, bool b_html,
               Compute&& compute) {
    Tokens tokens_a, tokens_b;
    const Simd level = simd_argument("");
    tokenize_document(a, a_html, level, tokens_a, nullptr);
    tokenize_document(b, b_html, level, tokens_b, nullptr);
    nb::gil_scoped_release release;
    return compute(tokens_a, tokens_b, level);
}

}  // namespace

void bind_compare(nb::module_& module) {
    module.def(
        "passages",
        [](const nb::bytes& a, bool a_html, const nb::bytes& b, bool b_html, size_t w) {
            return to_table<uint32_t, 3>(
                on_tokens(a, a_html, b, b_html, [w](const Tokens& x, const Tokens& y, Simd level) {
                    return passages(x, y, w, level);
                }));
        },
        "a"_a, "a_html"_a, "b"_a, "b_html"_a, "w"_a,
        "Runs of common shingles, ascending in a: first token in a, first token in b, tokens.");
    module.def(
        "common_tokens",
        [](const nb::bytes& a, bool a_html, const nb::bytes& b, bool b_html, size_t w) {
            return to_array(
                on_tokens(a, a_html, b, b_html, [w](const Tokens& x, const Tokens& y, Simd level) {
                    return common_tokens(x, y, w, level);
                }));
        },
        "a"_a, "a_html"_a, "b"_a, "b_html"_a, "w"_a,
        "For every token of a, 1 if it lies in a shingle that b has too, else 0.");
}

}  // namespace roughly
