// Documents from Python without a copy: whatever speaks the Arrow C data interface (pyarrow,
// polars, DuckDB, pandas...) and holds strings or binary, or a list of such arrays and of bytes.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "sketch.hpp"

namespace roughly {

// Views into memory that `keep_alive` holds; nulls are empty documents.
struct Documents {
    std::vector<DocumentView> views;
    std::vector<nanobind::object> keep_alive;
};

// Raises TypeError for anything else. Needs the GIL; the views may be read without it.
Documents documents_from(nanobind::handle source);

}  // namespace roughly
