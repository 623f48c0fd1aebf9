// roughly._core: the compiled kernels, a topic a file. Documents come as UTF-8 bytes, answers leave
// as NumPy arrays, and the GIL is released while the core works.
#include "bindings.hpp"

NB_MODULE(_core, module) {
    // Arrays that live until the interpreter ends are no fault of the user's.
    nanobind::set_leak_warnings(false);
    roughly::bind_simd(module);
    roughly::bind_html(module);
    roughly::bind_token(module);
    roughly::bind_batch(module);
    roughly::bind_sketch(module);
    roughly::bind_compare(module);
    roughly::bind_hash(module);
    roughly::bind_distinct(module);
    roughly::bind_forest(module);
    roughly::bind_sketch_set(module);
    roughly::bind_jsonl(module);
    roughly::bind_checksum(module);
    roughly::bind_mapping(module);
    roughly::bind_greedy(module);
    roughly::bind_block_file(module);
    roughly::bind_inverted(module);
    roughly::bind_index_probe(module);
    roughly::bind_hamming(module);
    roughly::bind_hamming_stream(module);
    roughly::bind_simhash(module);
}
