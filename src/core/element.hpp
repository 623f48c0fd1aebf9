// What the stripper must know of HTML elements: the frozen lists of docs/algorithm.md, 1.4, as one
// table looked up by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roughly {

enum ElementTrait : uint16_t {
    separates = 1 << 0,
    reference_text = 1 << 1,   // RCDATA: text in which only references count
    raw_text = 1 << 2,         // text that counts as it stands
    hidden_raw_text = 1 << 3,  // text that does not count
    hides = 1 << 4,            // hides everything up to its end tag
    plain_text = 1 << 5,       // the rest of the document is text
    svg_root = 1 << 6,
    math_root = 1 << 7,
    html_in_svg = 1 << 8,
    html_in_math = 1 << 9,
    leaves_foreign = 1 << 10,      // its start tag ends foreign content
    end_leaves_foreign = 1 << 11,  // so does its end tag
    script_text = 1 << 12,         // hidden raw text with the escaped states
};

// A lower-case name of up to 16 bytes; longer ones are no element of ours.
struct ElementName {
    uint64_t low = 0;
    uint64_t high = 0;
    bool operator==(const ElementName&) const = default;

    constexpr void set(size_t i, uint8_t c) {
        if (i < 8)
            low |= uint64_t{c} << (8 * i);
        else
            high |= uint64_t{c} << (8 * (i - 8));
    }
};

struct Element {
    ElementName name;
    uint16_t traits = 0;
};

namespace element_table {

struct Named {
    std::string_view names;
    uint16_t traits;
};

// An element named twice has the traits of both lines.
inline constexpr Named lists[] = {
    {"address article aside audio blockquote body br button canvas caption center col colgroup dd "
     "details dialog dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 "
     "h2 "
     "h3 h4 h5 h6 head header hgroup hr html iframe img input legend li listing main marquee menu "
     "nav object ol optgroup option p plaintext pre rp rt search section select summary table "
     "tbody "
     "td textarea tfoot th thead title tr ul video xmp",
     separates},
    {"title textarea", reference_text},
    {"xmp", raw_text},
    {"script style iframe noembed noframes", hidden_raw_text},
    {"script", script_text},
    {"template noscript", hides},
    {"plaintext", plain_text},
    {"svg", svg_root},
    {"math", math_root},
    {"foreignobject desc title", html_in_svg},
    {"mi mo mn ms mtext annotation-xml", html_in_math},
    {"b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img "
     "li "
     "listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var",
     leaves_foreign},
    {"p br", end_leaves_foreign},
};

inline constexpr size_t slots = 512;

constexpr size_t slot_of(const ElementName& name) {
    return static_cast<size_t>(
        ((name.low ^ name.high * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u) >> 55);
}

constexpr std::array<Element, slots> build() {
    std::array<Element, slots> table{};
    for (const Named& list : lists) {
        for (size_t at = 0; at < list.names.size();) {
            ElementName name;
            size_t i = 0;
            for (; at < list.names.size() && list.names[at] != ' '; ++at, ++i)
                name.set(i, static_cast<uint8_t>(list.names[at]));
            ++at;
            size_t slot = slot_of(name);
            while (table[slot].name.low != 0 && table[slot].name != name) slot = (slot + 1) % slots;
            table[slot].name = name;
            table[slot].traits |= list.traits;
        }
    }
    return table;
}

inline constexpr std::array<Element, slots> table = build();

}  // namespace element_table

// The traits of the element, or 0.
inline uint16_t element_traits(const ElementName& name) {
    for (size_t slot = element_table::slot_of(name);; slot = (slot + 1) % element_table::slots) {
        const Element& element = element_table::table[slot];
        if (element.name.low == 0) return 0;
        if (element.name == name) return element.traits;
    }
}

}  // namespace roughly
