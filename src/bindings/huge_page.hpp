// Arrays in pages of 2 MiB, where the system has them: an index is read at random places, and with
// small pages finding out where a page is takes as long as reading it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace roughly {

// A copy of some words. Without huge pages, or without memory, it is the words themselves.
class HugeCopy {
   public:
    explicit HugeCopy(std::span<const uint64_t> words) : words_(words) {
#ifdef MADV_HUGEPAGE
        constexpr size_t page = size_t{2} << 20;
        if (words.size_bytes() < page) return;
        size_ = (words.size_bytes() / page + 2) * page;
        void* made =
            mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED) return;
        memory_ = made;
        // On a boundary, or the first page would be small.
        const auto address = reinterpret_cast<uintptr_t>(made);
        auto* begin = reinterpret_cast<uint64_t*>((address + page - 1) / page * page);
        madvise(begin, size_ - page, MADV_HUGEPAGE);
        std::memcpy(begin, words.data(), words.size_bytes());
        words_ = {begin, words.size()};
#endif
    }
    HugeCopy(const HugeCopy&) = delete;
    HugeCopy& operator=(const HugeCopy&) = delete;
    ~HugeCopy() {
        if (memory_) munmap(memory_, size_);
    }

    std::span<const uint64_t> words() const { return words_; }

   private:
    std::span<const uint64_t> words_;
    void* memory_ = nullptr;
    size_t size_ = 0;
};

}  // namespace roughly
