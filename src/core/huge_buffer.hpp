// Bytes in pages of 2 MiB, where the system has them: what is touched at random places of small
// pages spends as long on finding out where a page is as on touching it. Not initialised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace roughly {

class HugeBuffer {
   public:
    explicit HugeBuffer(size_t bytes) {
        constexpr size_t page = size_t{2} << 20;
        // Less than a page needs none.
        const size_t alignment = bytes < page ? 64 : page;
        const size_t size = (bytes + alignment - 1) / alignment * alignment;
        data_ = static_cast<uint8_t*>(std::aligned_alloc(alignment, size ? size : alignment));
        if (!data_) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
        if (alignment == page) madvise(data_, size, MADV_HUGEPAGE);  // a wish, which may fail
#endif
    }
    HugeBuffer(const HugeBuffer&) = delete;
    HugeBuffer& operator=(const HugeBuffer&) = delete;
    ~HugeBuffer() { std::free(data_); }

    uint8_t* data() { return data_; }
    const uint8_t* data() const { return data_; }

   private:
    uint8_t* data_;
};

}  // namespace roughly
