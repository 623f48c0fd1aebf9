#include "arrow.hpp"

#include <cstring>
#include <string>
#include <string_view>

namespace nb = nanobind;

namespace roughly {

namespace {

// The structures of the Arrow C data interface, as its specification lays them out.
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    int64_t flags;
    int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

bool is_null(const ArrowArray& array, int64_t row) {
    const auto* valid = static_cast<const uint8_t*>(array.buffers[0]);
    return valid && !(valid[row / 8] >> (row % 8) & 1);
}

template <typename Offset>
DocumentView offset_view(const ArrowArray& array, int64_t row) {
    const auto* offsets = static_cast<const Offset*>(array.buffers[1]);
    const auto* data = static_cast<const uint8_t*>(array.buffers[2]);
    return {data + offsets[row], static_cast<size_t>(offsets[row + 1] - offsets[row])};
}

// A string view: its length, then up to 12 bytes in place, or a prefix, a buffer and an offset.
DocumentView inline_view(const ArrowArray& array, int64_t row) {
    const auto* view = static_cast<const uint8_t*>(array.buffers[1]) + row * 16;
    int32_t length, buffer, offset;
    std::memcpy(&length, view, 4);
    if (length <= 12) return {view + 4, static_cast<size_t>(length)};
    std::memcpy(&buffer, view + 8, 4);
    std::memcpy(&offset, view + 12, 4);
    return {static_cast<const uint8_t*>(array.buffers[2 + buffer]) + offset,
            static_cast<size_t>(length)};
}

// What a capsule holds; it must not have been handed on to somebody else before.
template <typename Structure>
const Structure* structure(nb::handle capsule, const char* name) {
    if (!PyCapsule_IsValid(capsule.ptr(), name))
        throw nb::type_error("documents: wrong Arrow array: a capsule of another kind");
    const auto* held = static_cast<const Structure*>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (!held->release) throw nb::value_error("documents: Arrow array already released");
    return held;
}

void add_array(nb::handle source, Documents& documents) {
    nb::object capsules = source.attr("__arrow_c_array__")();
    if (!nb::isinstance<nb::tuple>(capsules) || nb::len(capsules) != 2)
        throw nb::type_error("documents: wrong Arrow array: want a schema and an array capsule");
    const auto& schema = *structure<ArrowSchema>(capsules[0], "arrow_schema");
    const auto& array = *structure<ArrowArray>(capsules[1], "arrow_array");
    const std::string_view format = schema.dictionary ? "dictionary" : schema.format;
    DocumentView (*view)(const ArrowArray&, int64_t) = nullptr;
    if (format == "u" || format == "z") view = offset_view<int32_t>;
    if (format == "U" || format == "Z") view = offset_view<int64_t>;
    if (format == "vu" || format == "vz") view = inline_view;
    if (!view && format != "n")
        throw nb::type_error(("documents: wrong Arrow type: format '" + std::string(format) +
                              "', want strings or binary")
                                 .c_str());
    // A list may have very many arrays: their views grow by themselves.
    if (documents.views.empty()) documents.views.reserve(static_cast<size_t>(array.length));
    for (int64_t i = 0; i < array.length; ++i) {
        const int64_t row = array.offset + i;
        const bool empty = !view || is_null(array, row);
        documents.views.push_back(empty ? DocumentView{nullptr, 0} : view(array, row));
    }
    documents.keep_alive.push_back(capsules);
}

void add_list(nb::list source, Documents& documents) {
    for (nb::handle item : source) {
        if (nb::hasattr(item, "__arrow_c_array__")) {
            add_array(item, documents);
            continue;
        }
        if (!nb::isinstance<nb::bytes>(item))
            throw nb::type_error("documents: wrong type in the list: want bytes or Arrow arrays");
        const nb::bytes bytes = nb::borrow<nb::bytes>(item);
        documents.views.push_back({static_cast<const uint8_t*>(bytes.data()), bytes.size()});
        documents.keep_alive.push_back(bytes);
    }
}

}  // namespace

Documents documents_from(nb::handle source) {
    Documents documents;
    if (nb::isinstance<nb::list>(source))
        add_list(nb::borrow<nb::list>(source), documents);
    else if (nb::hasattr(source, "__arrow_c_array__"))
        add_array(source, documents);
    else
        throw nb::type_error("documents: wrong type: want a list or an Arrow array");
    return documents;
}

}  // namespace roughly
