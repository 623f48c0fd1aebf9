// A checked file (docs/format.md) that is read piece by piece: unless asked for, no page of it is
// mapped, so memory does not grow with what was read, and a file that is cut short is an error and
// not a signal.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "array.hpp"
#include "simd.hpp"

namespace roughly {

// A block that is not as it was written, or not there.
struct DamagedBlock : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Any thread may read. Every block is checked when it is first touched.
class BlockFile {
   public:
    // Takes the descriptor over. `name` is for errors.
    BlockFile(std::string name, int descriptor, uint64_t size, InputArray<uint32_t> sums);
    BlockFile(const BlockFile&) = delete;
    BlockFile& operator=(const BlockFile&) = delete;
    ~BlockFile();

    void read(uint64_t offset, size_t bytes, void* to) const;

    // Maps the file, for good: for one that is small, or read a great many times.
    void map();
    uint64_t size() const { return size_; }

   private:
    void check(uint64_t block) const;
    void read_unchecked(uint64_t offset, size_t bytes, void* to) const;

    std::string name_;
    int descriptor_;
    uint64_t size_;
    std::vector<uint32_t> sums_;
    mutable std::unique_ptr<std::atomic<uint8_t>[]> checked_;  // 1 for every block that was
    Simd level_;
    std::atomic<const uint8_t*> mapped_ = nullptr;
};

}  // namespace roughly
