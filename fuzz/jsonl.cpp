// Fuzzes the reader of JSON Lines: any bytes come through without a fault, and the columns it gives
// are whole, and the same for every instruction set.
#include "jsonl.hpp"

#include <algorithm>
#include <cstdlib>

using namespace roughly;

static void require(bool holds) {
    if (!holds) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view fields[] = {"text", "id"};
    const std::string_view lines_of{reinterpret_cast<const char*>(data), size};
    const JsonlColumns found = read_jsonl(lines_of, fields, Simd::plain);
    const size_t lines = found.line_begin.size();
    require(found.line_end.size() == lines && found.error.size() == lines);
    for (size_t i = 0; i < lines; ++i) {
        require(found.line_begin[i] >= 0 && found.line_begin[i] < found.line_end[i]);
        require(static_cast<size_t>(found.line_end[i]) <= size);
    }
    for (const JsonColumn& column : found.columns) {
        require(column.offsets.size() == lines + 1 && column.kind.size() == lines);
        require(static_cast<size_t>(column.offsets.back()) == column.size);
        for (size_t i = 0; i < lines; ++i) {
            require(column.offsets[i] <= column.offsets[i + 1]);
            require(!found.error[i] || column.kind[i] == static_cast<uint8_t>(JsonKind::missing));
        }
    }
    for (const Simd level : simd_levels()) {
        const JsonlColumns other = read_jsonl(lines_of, fields, level);
        require(other.error == found.error && other.line_end == found.line_end);
        for (size_t i = 0; i < found.columns.size(); ++i) {
            const JsonColumn &one = found.columns[i], &two = other.columns[i];
            require(one.offsets == two.offsets && one.kind == two.kind);
            require(std::equal(one.data.data(), one.data.data() + one.size, two.data.data()));
        }
    }
    return 0;
}
