#include "block_file.hpp"

#include <nanobind/stl/string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "bindings.hpp"
#include "checksum.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace roughly {

namespace {

constexpr uint64_t block_bytes = 65536;

}  // namespace

BlockFile::BlockFile(std::string name, int descriptor, uint64_t size, InputArray<uint32_t> sums)
    : name_(std::move(name)), descriptor_(descriptor), size_(size), level_(simd_argument("")) {
    if (sums.size() != (size + block_bytes - 1) / block_bytes)
        throw std::invalid_argument("sums: want one for every block");
    sums_.assign(sums.data(), sums.data() + sums.size());
    checked_ = std::make_unique<std::atomic<uint8_t>[]>(sums_.size());
}

BlockFile::~BlockFile() {
    if (mapped_) munmap(const_cast<uint8_t*>(mapped_.load()), size_);
    close(descriptor_);
}

void BlockFile::map() {
    if (mapped_ || !size_) return;
    void* address = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor_, 0);
    const uint8_t* none = nullptr;
    if (address != MAP_FAILED &&
        !mapped_.compare_exchange_strong(none, static_cast<const uint8_t*>(address)))
        munmap(address, size_);  // Another thread was faster.
}

void BlockFile::read(uint64_t offset, size_t bytes, void* to) const {
    if (offset > size_ || bytes > size_ - offset)
        throw DamagedBlock(name_ + ": damaged: bytes " + std::to_string(offset) + " to " +
                           std::to_string(offset + bytes) + " are wanted, the file has " +
                           std::to_string(size_));
    if (!bytes) return;
    for (uint64_t block = offset / block_bytes; block <= (offset + bytes - 1) / block_bytes;
         ++block)
        if (!checked_[block].load(std::memory_order_relaxed)) check(block);
    read_unchecked(offset, bytes, to);
}

void BlockFile::check(uint64_t block) const {
    thread_local std::vector<uint8_t> data(block_bytes);
    const uint64_t begin = block * block_bytes;
    const auto size = static_cast<size_t>(std::min(block_bytes, size_ - begin));
    read_unchecked(begin, size, data.data());
    const uint32_t seen = crc32c(level_, data.data(), size);
    if (seen != sums_[block]) {
        char text[96];
        std::snprintf(text, sizeof text,
                      ": damaged: block at byte %llu has CRC32C %08x, wanted %08x",
                      static_cast<unsigned long long>(begin), seen, sums_[block]);
        throw DamagedBlock(name_ + text);
    }
    checked_[block].store(1, std::memory_order_relaxed);
}

void BlockFile::read_unchecked(uint64_t offset, size_t bytes, void* to) const {
    if (const uint8_t* mapped = mapped_.load(std::memory_order_acquire)) {
        std::memcpy(to, mapped + offset, bytes);
        return;
    }
    auto* next = static_cast<char*>(to);
    while (bytes) {
        const ssize_t got = pread(descriptor_, next, bytes, static_cast<off_t>(offset));
        if (got <= 0) throw DamagedBlock(name_ + ": damaged: it cannot be read any more");
        next += got;
        offset += static_cast<uint64_t>(got);
        bytes -= static_cast<size_t>(got);
    }
}

void bind_block_file(nb::module_& module) {
    nb::exception<DamagedBlock>(module, "DamagedBlock", PyExc_RuntimeError);
    nb::class_<BlockFile>(module, "BlockFile",
                          "A checked file that is read piece by piece, each block checked first.")
        .def(nb::init<std::string, int, uint64_t, InputArray<uint32_t>>(), "name"_a, "descriptor"_a,
             "size"_a, "sums"_a,
             "An open file, which is closed in the end, its size and its blocks' checksums.")
        .def("map", &BlockFile::map,
             "Maps it: for a file that is small, or read a great many times.")
        .def_prop_ro("size", &BlockFile::size, "Bytes.")
        .def(
            "read",
            [](const BlockFile& self, uint64_t offset, size_t bytes) {
                std::vector<uint8_t> data(bytes);
                {
                    nb::gil_scoped_release release;
                    self.read(offset, bytes, data.data());
                }
                return to_array(std::move(data));
            },
            "offset"_a, "bytes"_a, "Those bytes, checked.")
        .def(
            "search",
            [](const BlockFile& self, uint64_t count, InputArray<uint64_t> wanted) {
                std::vector<uint64_t> places;
                const size_t keys = wanted.size();
                const uint64_t* key = wanted.data();
                {
                    nb::gil_scoped_release release;
                    for (size_t i = 0; i < keys; ++i) {
                        uint64_t low = 0, high = count;
                        while (low < high) {
                            const uint64_t middle = low + (high - low) / 2;
                            uint64_t found;
                            self.read(8 * middle, sizeof found, &found);
                            if (found < key[i])
                                low = middle + 1;
                            else
                                high = middle;
                        }
                        for (uint64_t found; low < count; ++low) {
                            self.read(8 * low, sizeof found, &found);
                            if (found != key[i]) break;
                            places.push_back(i);
                            places.push_back(low);
                        }
                    }
                }
                return to_array(std::move(places));
            },
            "count"_a, "wanted"_a,
            "Of a file that begins with `count` ascending numbers: the place of each wanted one, "
            "as often as it is there: numbers of wanted ones and places by turns.");
}

}  // namespace roughly
