// Files in memory, and memory that goes back to the system. Python's own `mmap` keeps a file
// descriptor for each map (until 3.13, which lets one say no), and a corpus of thousands of files
// would meet the limit on those.
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <memory>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

struct Mapping {
    void* address;
    size_t size;
};

Array<uint8_t> map_file(int descriptor, size_t size) {
    auto mapping = std::make_unique<Mapping>(Mapping{nullptr, size});
    if (size) {
        mapping->address = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
        if (mapping->address == MAP_FAILED) {
            PyErr_SetFromErrno(PyExc_OSError);
            throw nb::python_error();
        }
    }
    auto* data = static_cast<uint8_t*>(mapping->address);
    nb::capsule owner(mapping.release(), [](void* p) noexcept {
        const std::unique_ptr<Mapping> owned(static_cast<Mapping*>(p));
        if (owned->size) munmap(owned->address, owned->size);
    });
    return Array<uint8_t>(data, {size}, owner);
}

}  // namespace

void bind_mapping(nb::module_& module) {
    module.def("map_file", map_file, "descriptor"_a, "size"_a,
               "The first bytes of an open file as an array that reads them when they are touched; "
               "it outlives the descriptor.");
    module.def(
        "release_pages",
        [](InputArray<uint8_t> mapped) {
            // Of a shared map of a file nothing is lost: what is touched again is read again.
            if (mapped.size())
                madvise(const_cast<uint8_t*>(mapped.data()), mapped.size(), MADV_DONTNEED);
        },
        "mapped"_a, "Takes an array of `map_file` out of this process's memory; it stays valid.");
    module.def(
        "give_back_memory",
        [] {
#ifdef __GLIBC__
            malloc_trim(0);
#endif
        },
        nb::call_guard<nb::gil_scoped_release>(),
        "Returns freed memory to the system; for the end of a phase that needed much.");
}

}  // namespace roughly
