// Files in memory, and memory that goes back to the system. Python's own `mmap` keeps a file
// descriptor for each map (until 3.13, which lets one say no), and a corpus of thousands of files
// would meet the limit on those.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
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

// All maps of files that there are.
class Mappings {
   public:
    void add(Mapping* mapping) {
        const std::lock_guard lock(mutex_);
        every_.emplace(mapping->address, mapping);
        if (is_large(mapping)) large_.emplace(mapping->address, mapping);
    }

    void unmap(Mapping* mapping) {
        const std::lock_guard lock(mutex_);
        every_.erase(mapping->address);
        if (is_large(mapping)) large_.erase(mapping->address);
        munmap(mapping->address, mapping->size);
    }

    // Of a shared map of a file nothing is lost: what is touched again is found again.
    void release() {
        const std::lock_guard lock(mutex_);
        release_all_of(every_);
    }

    // The same for large ones: these are few, and have most of the pages. A collection has
    // thousands of small ones, and going through them takes longer than looking again.
    void release_large() {
        const std::lock_guard lock(mutex_);
        release_all_of(large_);
    }

    // The pages that these bytes lie in, if they are of one of the maps.
    void release(const void* data, size_t size) {
        static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        const std::lock_guard lock(mutex_);
        const auto behind = every_.upper_bound(const_cast<void*>(data));
        if (behind == every_.begin()) return;
        const Mapping& map = *std::prev(behind)->second;
        const auto address = reinterpret_cast<uintptr_t>(data);
        if (address + size > reinterpret_cast<uintptr_t>(map.address) + map.size) return;
        const uintptr_t begin = address / page * page;
        madvise(reinterpret_cast<void*>(begin), address + size - begin, MADV_DONTNEED);
    }

   private:
    using ByAddress = std::map<void*, Mapping*>;

    static constexpr size_t least_large = size_t{4} << 20;

    static bool is_large(const Mapping* mapping) { return mapping->size >= least_large; }

    static void release_all_of(const ByAddress& maps) {
        for (const auto& [address, each] : maps) madvise(address, each->size, MADV_DONTNEED);
    }

    std::mutex mutex_;
    ByAddress every_;
    ByAddress large_;  // of these
};

// Never destroyed: arrays may go later than everything else.
Mappings& mappings() {
    static auto* const all = new Mappings;
    return *all;
}

template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig> mapped(int descriptor, size_t size,
                                                            int protection) {
    auto mapping = std::make_unique<Mapping>(Mapping{nullptr, size});
    if (size) {
        mapping->address = mmap(nullptr, size, protection, MAP_SHARED, descriptor, 0);
        if (mapping->address == MAP_FAILED) {
            PyErr_SetFromErrno(PyExc_OSError);
            throw nb::python_error();
        }
        mappings().add(mapping.get());
    }
    auto* data = static_cast<T*>(mapping->address);
    nb::capsule owner(mapping.release(), [](void* p) noexcept {
        const std::unique_ptr<Mapping> owned(static_cast<Mapping*>(p));
        if (owned->size) mappings().unmap(owned.get());
    });
    return {data, {size}, owner};
}

// What a process has in memory.
struct Resident {
    size_t all = 0;
    size_t of_files = 0;  // with libraries
};

// `descriptor` is of the system's own file about it.
Resident read_resident(int descriptor) {
    char text[128] = {};
    unsigned long long size = 0, all = 0, of_files = 0;
    const ssize_t got = pread(descriptor, text, sizeof text - 1, 0);
    if (got <= 0 || std::sscanf(text, "%llu %llu %llu", &size, &all, &of_files) != 3) return {};
    static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return {static_cast<size_t>(all) * page, static_cast<size_t>(of_files) * page};
}

bool is_near_its_peak() {
    constexpr size_t much = size_t{256} << 20;
    const int descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return true;
    const size_t now = read_resident(descriptor).all;
    close(descriptor);
    rusage usage{};
    if (now == 0 || getrusage(RUSAGE_SELF, &usage) != 0) return true;
    const size_t peak = static_cast<size_t>(usage.ru_maxrss) * 1024;
    return now >= much || now >= peak - peak / 5;
}

// While it is there, pages of mapped files leave memory when the process has nearly `bytes` of
// everything. Systems take such pages back only when they need room, and meanwhile they count. It
// looks every few milliseconds, more often when there is not much left. It begins a sixteenth
// below: until it looks again and all are gone, who touches pages all over the files gets others,
// and who takes memory for something new gets that.
class ResidentLimit {
   public:
    explicit ResidentLimit(size_t bytes) : limit_(bytes - bytes / 16) {
        descriptor_ = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
        if (descriptor_ >= 0) thread_ = std::thread([this] { watch(); });
    }
    ~ResidentLimit() { close(); }

    void close() {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
        }
        wake_.notify_all();
        if (thread_.joinable()) thread_.join();
        if (descriptor_ >= 0) ::close(descriptor_);
        descriptor_ = -1;
    }

   private:
    void watch() {
        // Of files: libraries, which cannot go. What there was at first may be more than these.
        size_t least = std::numeric_limits<size_t>::max();
        bool released = false;
        std::unique_lock lock(mutex_);
        auto interval = seldom;
        while (!wake_.wait_for(lock, interval, [this] { return ended_; })) {
            const Resident now = resident();
            interval = now.all > limit_ - limit_ / 8 ? often : seldom;
            least = std::min(least, now.of_files);
            const auto is_left_alone = [&](const Resident& seen) {
                return seen.all <= limit_ ||
                       (released && seen.of_files <= std::min(least, seen.of_files) + worth_it_);
            };
            if (is_left_alone(now)) continue;
            if (released) {
                mappings().release_large();
                if (is_left_alone(resident())) continue;
            }
            mappings().release();
            released = true;
        }
    }

    Resident resident() const { return read_resident(descriptor_); }

    static constexpr std::chrono::milliseconds seldom{5}, often{1};

    size_t limit_;
    // Who has little more than what cannot go would touch the rest again all the time.
    size_t worth_it_ = std::max(limit_ / 32, size_t{8} << 20);
    int descriptor_ = -1;
    bool ended_ = false;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::thread thread_;
};

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
        nb::capsule owner(mapping.release(), [](void* p) noexcept {
            const std::unique_ptr<Mapping> owned(static_cast<Mapping*>(p));
            munmap(owned->address, owned->size);
        });
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

void release_mapped(const void* data, size_t size) {
    if (size) mappings().release(data, size);
}

void bind_mapping(nb::module_& module) {
    module.def("read_stretches", read_stretches, "descriptor"_a, "begin"_a, "end"_a,
               "Stretches of an open file, one behind the other; less where the file is shorter.");
    module.def(
        "map_file",
        [](int descriptor, size_t size) {
            return mapped<const uint8_t>(descriptor, size, PROT_READ);
        },
        "descriptor"_a, "size"_a,
        "The first bytes of an open file as an array that reads them when they are touched; it "
        "outlives the descriptor.");
    module.def(
        "map_scratch",
        [](int descriptor, size_t size) {
            return mapped<uint8_t>(descriptor, size, PROT_READ | PROT_WRITE);
        },
        "descriptor"_a, "size"_a,
        "The same, to be written to as well. The file must have the room.");
    nb::class_<ResidentLimit>(module, "ResidentLimit",
                              "While it is there, pages of arrays of `map_file` and `map_scratch` "
                              "leave memory when this process has more than so much of it.")
        .def(nb::init<size_t>(), "bytes"_a)
        .def("close", &ResidentLimit::close, nb::call_guard<nb::gil_scoped_release>(),
             "Stops looking.")
        .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
        .def(
            "__exit__",
            [](ResidentLimit& self, nb::args) {
                nb::gil_scoped_release release;
                self.close();
            },
            nb::sig("def __exit__(self, *args: object) -> None"));
    module.def(
        "release_pages",
        [](InputArray<uint8_t> mapped) {
            if (mapped.size())
                madvise(const_cast<uint8_t*>(mapped.data()), mapped.size(), MADV_DONTNEED);
        },
        "mapped"_a, "Takes an array of `map_file` out of this process's memory; it stays valid.");
    module.def(
        "release_all_pages", [] { mappings().release(); }, nb::call_guard<nb::gil_scoped_release>(),
        "The same for all arrays of `map_file` and `map_scratch`: for whoever is about to take "
        "much memory at once.");
    module.def(
        "release_buffer",
        [](nb::handle buffer) {
            Py_buffer view;
            if (PyObject_GetBuffer(buffer.ptr(), &view, PyBUF_SIMPLE) != 0)
                throw nb::python_error();
            release_mapped(view.buf, static_cast<size_t>(view.len));
            PyBuffer_Release(&view);
        },
        "buffer"_a,
        "Takes the pages that a buffer lies in out of this process's memory, if it lies in an "
        "array of `map_file` or `map_scratch`; nothing is done to any other.");
    module.def("in_huge_pages", in_huge_pages, "words"_a,
               "A copy in pages of 2 MiB, where the system has them.");
    module.def(
        "allocate",
        [](int file, int64_t size) {
#ifdef __linux__
            // The C library's posix_fallocate writes to every block where the system cannot do it.
            if (size > 0) (void)fallocate(file, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size));
#endif
        },
        nb::call_guard<nb::gil_scoped_release>(), "file"_a, "size"_a,
        "Gets a file, by its descriptor, room for so many bytes before they are written: that is "
        "less work than room for each write. Its size stays; where there is no room nothing is "
        "said, and the writing fails.");
    module.def(
        "wait_until_written",
        [](int file, int64_t size) -> double {
            double seconds = std::numeric_limits<double>::infinity();
#ifdef __linux__
            constexpr unsigned all =
                SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
            int error = 0;
            {
                nb::gil_scoped_release release;
                const auto begin = std::chrono::steady_clock::now();
                if (sync_file_range(file, 0, static_cast<off_t>(size), all) != 0) error = errno;
                const auto end = std::chrono::steady_clock::now();
                if (error == 0) seconds = std::chrono::duration<double>(end - begin).count();
            }
            // Disks fail in many ways, and each is told but once.
            const bool cannot_ask = error == ENOSYS || error == EINVAL || error == ESPIPE ||
                                    error == EOPNOTSUPP || error == EPERM;
            if (error != 0 && !cannot_ask) {
                errno = error;
                PyErr_SetFromErrno(PyExc_OSError);
                nb::raise_python_error();
            }
#endif
            return seconds;
        },
        "file"_a, "size"_a,
        "Waits until the disk has taken the first so many bytes of a file, by its descriptor: for "
        "how many seconds, or infinity where the system does not say; OSError if the disk could "
        "not. They are not safe yet: the file's size and the disk's own cache are not seen to.");
    module.def(
        "sync_file_system",
        [](int file) {
            int failed = 0;
            {
                nb::gil_scoped_release release;
#ifdef __linux__
                failed = syncfs(file);
#else
                sync();
#endif
            }
            if (failed) {
                PyErr_SetFromErrno(PyExc_OSError);
                nb::raise_python_error();
            }
        },
        "file"_a,
        "Waits until all that was written to the file system of a file, by its descriptor, is on "
        "the disk: one wait for very many files.");
    module.def("is_near_its_peak", is_near_its_peak,
               "Whether this process has much memory, or nearly as much as it had before: if not, "
               "what it has freed may as well stay with it for the next phase.");
    module.def(
        "give_back_memory",
        [] {
#ifdef __GLIBC__
            malloc_trim(0);
#endif
        },
        nb::call_guard<nb::gil_scoped_release>(),
        "Returns freed memory to the system; for the end of a phase that needed much.");
    module.def(
        "share_freed_memory",
        [] {
#ifdef __GLIBC__
            mallopt(M_ARENA_MAX, 1);
            // Whatever its size, nothing goes back to the system by itself, only to come again.
            // Older libraries take no more than half of a heap for a threshold.
            if (!mallopt(M_MMAP_THRESHOLD, 1 << 30)) mallopt(M_MMAP_THRESHOLD, 32 << 20);
            mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
        },
        "Lets every thread have what another one has freed, before there are threads, and keeps "
        "all of it until `give_back_memory`; for a process that is one's own.");
}

}  // namespace roughly
