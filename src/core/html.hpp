// HTML to text in one pass without a tree (docs/algorithm.md, 1.4). Takes any bytes, never fails,
// in time linear in the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "token.hpp"

namespace roughly {

// Whether a document whose type nobody told looks like HTML.
bool sniff_html(const uint8_t* data, size_t size);

struct HtmlText {
    Buffer<uint8_t> bytes;
    size_t size = 0;
};

void strip_html(const uint8_t* data, size_t size, HtmlText& text);

// A stretch of the text and where it came from: copied byte by byte, or decoded from a reference.
struct HtmlRun {
    uint64_t text_begin;
    Span source;
    bool copied;
};

void strip_html_with_runs(const uint8_t* data, size_t size, HtmlText& text,
                          std::vector<HtmlRun>& runs);

// Spans of the text, ascending, become spans of the source.
void map_to_source(const std::vector<HtmlRun>& runs, std::vector<Span>& spans);

}  // namespace roughly
