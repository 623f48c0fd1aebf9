#include "distinct.hpp"

#include "radix_sort.hpp"

namespace roughly {

namespace {

struct Record {
    uint64_t number;
    uint32_t at;
};

}  // namespace

DistinctNumbers distinct(std::span<const uint64_t> numbers, unsigned bits) {
    std::vector<Record> records(numbers.size());
    std::vector<Record> scratch(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) records[i] = {numbers[i], static_cast<uint32_t>(i)};
    radix_sort(
        records.data(), scratch.data(), records.size(), bits,
        [](const Record& record) { return record.number; }, 1);
    DistinctNumbers found;
    found.places.resize(numbers.size());
    for (const Record& record : records) {
        if (found.numbers.empty() || found.numbers.back() != record.number) {
            found.numbers.push_back(record.number);
            found.counts.push_back(0);
        }
        ++found.counts.back();
        found.places[record.at] = static_cast<uint32_t>(found.numbers.size() - 1);
    }
    return found;
}

}  // namespace roughly
