// A growing array that never initialises its elements and keeps its memory for the next document.
// Every Buffer has `slack` elements beyond what was asked for, so that kernels may write a whole
// vector past the end of their output, and read one if they mask what they read.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace roughly {

template <typename T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

   public:
    static constexpr size_t slack = 64;

    Buffer() = default;
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    Buffer& operator=(Buffer&&) = delete;
    ~Buffer() { std::free(data_); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    size_t capacity() const { return capacity_; }
    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }

    // Room for at least `capacity` elements; keeps what is there.
    void reserve(size_t capacity) {
        if (capacity <= capacity_ && data_) return;
        resize(capacity > capacity_ * 3 / 2 ? capacity : capacity_ * 3 / 2);
    }

    // Gives back what is beyond the first elements, for whoever keeps them long.
    void shrink(size_t capacity) {
        if (capacity < capacity_) resize(capacity);
    }

   private:
    // Large ones have sizes that come again, so that what one gives back is right for the next:
    // else a process that makes and drops many of them takes more and more, in pieces too small for
    // any.
    void resize(size_t capacity) {
        constexpr size_t large = size_t{1} << 20;
        size_t bytes = (capacity + slack) * sizeof(T);
        if (bytes >= large) bytes = (bytes + large - 1) / large * large;
        void* moved = std::realloc(static_cast<void*>(data_), bytes);
        if (!moved) throw std::bad_alloc();
        data_ = static_cast<T*>(moved);
        capacity_ = bytes / sizeof(T) - slack;
    }

    T* data_ = nullptr;
    size_t capacity_ = 0;
};

// An array that grows at its end without initialising or copying what it grows by.
template <typename T>
class Sequence {
   public:
    const T* data() const { return elements_.data(); }
    size_t size() const { return size_; }
    void clear() { size_ = 0; }
    void reserve(size_t capacity) { elements_.reserve(capacity); }
    void shrink() { elements_.shrink(size_); }

    // Room for `most` elements behind the last; `keep` says how many of them now belong to it.
    T* room(size_t most) {
        elements_.reserve(size_ + most);
        return elements_.data() + size_;
    }
    void keep(size_t count) { size_ += count; }

    void append(const T* first, size_t count) {
        if (count) std::memcpy(room(count), first, count * sizeof(T));
        keep(count);
    }

   private:
    Buffer<T> elements_;
    size_t size_ = 0;
};

}  // namespace roughly
