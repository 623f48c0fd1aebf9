// Memory whose content nobody wants any more, given back to the system before it is freed: so what
// is made of a large array can take the place of what it was made of, piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace roughly {

// The whole pages that the values take. What was in them is lost, unless it is a file's.
template <typename T>
void discard(std::span<const T> values) {
#if defined(__linux__)
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t begin = (reinterpret_cast<uintptr_t>(values.data()) + page - 1) / page * page;
    const uintptr_t end = reinterpret_cast<uintptr_t>(values.data() + values.size()) / page * page;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
#else
    static_cast<void>(values);
#endif
}

}  // namespace roughly
