#include "html.hpp"

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

void bind_html(nb::module_& module) {
    module.def(
        "sniff_html", [](const nb::bytes& data) { return sniff_html(bytes_of(data), data.size()); },
        "data"_a, "Whether a document of unknown type looks like HTML.");
    module.def(
        "html_text",
        [](const nb::bytes& data) {
            HtmlText text;
            {
                nb::gil_scoped_release release;
                strip_html(bytes_of(data), data.size(), text);
            }
            return nb::bytes(text.bytes.data(), text.size);
        },
        "data"_a, "The text of an HTML document, block elements separated by newlines.");
}

}  // namespace roughly
