#include "compare.hpp"

#include <cstring>
#include <span>
#include <vector>

#include "arrow.hpp"
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

// For every pair 1 if the bytes of both documents are the same, else 0.
std::vector<uint8_t> same_documents(std::span<const DocumentView> documents, InputArray<int64_t> a,
                                    InputArray<int64_t> b) {
    std::vector<uint8_t> same(a.size());
    for (size_t i = 0; i < same.size(); ++i) {
        const DocumentView &x = documents[static_cast<size_t>(a(i))],
                           &y = documents[static_cast<size_t>(b(i))];
        same[i] = x.size == y.size && (x.size == 0 || std::memcmp(x.data, y.data, x.size) == 0);
    }
    return same;
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
    module.def(
        "same_documents",
        [](nb::handle source, InputArray<int64_t> a, InputArray<int64_t> b) {
            const Documents documents = documents_from(source);
            for (const auto& numbers : {a, b})
                for (size_t i = 0; i < numbers.size(); ++i)
                    if (static_cast<uint64_t>(numbers(i)) >= documents.views.size())
                        throw nb::index_error("same_documents: no such document");
            if (a.size() != b.size())
                throw nb::value_error("same_documents: want as many in a as in b");
            std::vector<uint8_t> same;
            {
                nb::gil_scoped_release release;
                same = same_documents(documents.views, a, b);
            }
            return to_array(std::move(same));
        },
        "source"_a, "a"_a, "b"_a,
        "For every pair of documents, given by their numbers, 1 if their bytes are the same, else "
        "0.");
}

}  // namespace roughly
