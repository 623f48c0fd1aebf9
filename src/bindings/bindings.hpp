// The topics of roughly._core, and what their files share.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

#include "array.hpp"
#include "batch.hpp"
#include "simd.hpp"
#include "token.hpp"

namespace roughly {

void bind_simd(nanobind::module_& module);
void bind_html(nanobind::module_& module);
void bind_token(nanobind::module_& module);
void bind_sketch(nanobind::module_& module);
void bind_compare(nanobind::module_& module);
void bind_batch(nanobind::module_& module);
void bind_hash(nanobind::module_& module);
void bind_distinct(nanobind::module_& module);
void bind_forest(nanobind::module_& module);
void bind_sketch_set(nanobind::module_& module);
void bind_jsonl(nanobind::module_& module);
void bind_checksum(nanobind::module_& module);
void bind_mapping(nanobind::module_& module);
void bind_greedy(nanobind::module_& module);
void bind_block_file(nanobind::module_& module);
void bind_inverted(nanobind::module_& module);
void bind_index_probe(nanobind::module_& module);
void bind_hamming(nanobind::module_& module);
void bind_hamming_stream(nanobind::module_& module);
void bind_simhash(nanobind::module_& module);

// The level named; "" is ROUGHLY_SIMD of the environment, or the best of this machine.
Simd simd_argument(std::string_view name);

// auto, html or text; throws std::invalid_argument for anything else.
ContentType content_type_argument(std::string_view name);

// Takes the pages that these bytes lie in out of memory, if they are in a file that `map_file` or
// `map_scratch` mapped: of a shared map nothing is lost.
void release_mapped(const void* data, size_t size);

inline const uint8_t* bytes_of(const nanobind::bytes& data) {
    return static_cast<const uint8_t*>(data.data());
}

// Tokens (and their spans in `data`, if asked for) of a document.
void tokenize_document(const nanobind::bytes& data, bool html, Simd level, Tokens& tokens,
                       std::vector<Span>* spans);

}  // namespace roughly
