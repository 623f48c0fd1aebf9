#include "checksum.hpp"

#include <nanobind/stl/string_view.h>

#include <stdexcept>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

// The bytes of anything that has the buffer protocol, held until this goes out of scope.
class BufferView {
   public:
    explicit BufferView(nb::handle source) {
        if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    }
    BufferView(const BufferView&) = delete;
    BufferView& operator=(const BufferView&) = delete;
    ~BufferView() { PyBuffer_Release(&view_); }

    const uint8_t* data() const { return static_cast<const uint8_t*>(view_.buf); }
    size_t size() const { return static_cast<size_t>(view_.len); }

   private:
    Py_buffer view_;
};

}  // namespace

void bind_checksum(nb::module_& module) {
    module.def(
        "crc32c",
        [](nb::handle buffer, uint32_t before, std::string_view simd) {
            const Simd level = simd_argument(simd);
            const BufferView view(buffer);
            nb::gil_scoped_release release;
            return crc32c(level, view.data(), view.size(), before);
        },
        "buffer"_a, "before"_a = 0, "simd"_a = "",
        "CRC32C of a buffer's bytes, or of these after the bytes whose checksum is `before`.");
    module.def(
        "crc32c_blocks",
        [](nb::handle buffer, size_t block_bytes, size_t threads, std::string_view simd) {
            if (block_bytes == 0)
                throw std::invalid_argument("block_bytes: out of range: 0, wanted 1 or more");
            const Simd level = simd_argument(simd);
            const BufferView view(buffer);
            std::vector<uint32_t> sums;
            {
                nb::gil_scoped_release release;
                sums = crc32c_blocks(level, view.data(), view.size(), block_bytes, threads);
            }
            return to_array(std::move(sums));
        },
        "buffer"_a, "block_bytes"_a, "threads"_a, "simd"_a = "",
        "CRC32C of each block of a buffer; the last block may be shorter.");
}

}  // namespace roughly
