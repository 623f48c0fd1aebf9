// Files in memory, and memory that goes back to the system. Python's own `mmap` keeps a file
// descriptor for each map (until 3.13, which lets one say no), and a corpus of thousands of files
// would meet the limit on those.
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

struct Mapping {
    void* address;
    size_t size;
};

void unmap(void* p) noexcept {
    const std::unique_ptr<Mapping> owned(static_cast<Mapping*>(p));
    if (owned->size) munmap(owned->address, owned->size);
}

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
    nb::capsule owner(mapping.release(), unmap);
    return Array<uint8_t>(data, {size}, owner);
}

// A copy in pages of 2 MiB, where the system has them: what is read at random places would spend as
// long on finding out where a small page is as on reading it.
Array<uint64_t> in_huge_pages(InputArray<uint64_t> words) {
#ifdef MADV_HUGEPAGE
    constexpr size_t page = size_t{2} << 20;
    const size_t bytes = words.size() * sizeof(uint64_t);
    const size_t size = (bytes / page + 2) * page;
    void* made = bytes < page ? MAP_FAILED
                              : mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made != MAP_FAILED) {
        auto mapping = std::make_unique<Mapping>(Mapping{made, size});
        // On a boundary, or the first page would be small.
        const auto address = reinterpret_cast<uintptr_t>(made);
        auto* begin = reinterpret_cast<uint64_t*>((address + page - 1) / page * page);
        madvise(begin, size - page, MADV_HUGEPAGE);
        {
            nb::gil_scoped_release release;
            std::memcpy(begin, words.data(), bytes);
        }
        nb::capsule owner(mapping.release(), unmap);
        return Array<uint64_t>(begin, {words.size()}, owner);
    }
#endif
    return to_array(std::vector<uint64_t>(words.data(), words.data() + words.size()));
}

// Stretches of a file, one behind the other; ends where the file does.
nb::bytes read_stretches(int descriptor, InputArray<int64_t> begin, InputArray<int64_t> end) {
    size_t total = 0;
    for (size_t i = 0; i < begin.size(); ++i) {
        if (i >= end.size() || begin.data()[i] < 0 || begin.data()[i] > end.data()[i])
            throw std::invalid_argument("stretches: want a beginning and an end of each");
        total += static_cast<size_t>(end.data()[i] - begin.data()[i]);
    }
    PyObject* made = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(total));
    if (!made) throw nb::python_error();
    size_t done = 0;
    int failure = 0;
    {
        nb::gil_scoped_release release;
        char* const to = PyBytes_AS_STRING(made);
        for (size_t first = 0; first < begin.size() && !failure;) {
            size_t next = first + 1;
            while (next < begin.size() && begin.data()[next] == end.data()[next - 1]) ++next;
            int64_t at = begin.data()[first];
            const int64_t last = end.data()[next - 1];
            while (at < last) {
                const ssize_t got =
                    pread(descriptor, to + done, static_cast<size_t>(last - at), at);
                if (got < 0 && errno == EINTR) continue;
                if (got < 0) failure = errno;
                if (got <= 0) break;
                done += static_cast<size_t>(got);
                at += got;
            }
            if (at < last) break;
            first = next;
        }
    }
    if (failure) {
        Py_DECREF(made);
        errno = failure;
        PyErr_SetFromErrno(PyExc_OSError);
        throw nb::python_error();
    }
    if (done < total && _PyBytes_Resize(&made, static_cast<Py_ssize_t>(done)) != 0)
        throw nb::python_error();
    return nb::steal<nb::bytes>(made);
}

}  // namespace

void bind_mapping(nb::module_& module) {
    module.def("read_stretches", read_stretches, "descriptor"_a, "begin"_a, "end"_a,
               "Stretches of an open file, one behind the other; less where the file is shorter.");
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
    module.def("in_huge_pages", in_huge_pages, "words"_a,
               "A copy in pages of 2 MiB, where the system has them.");
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
