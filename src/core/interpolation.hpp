// Interpolation search (2007 paper, 3.1): where values are spread evenly, few steps find a place
// among many; where they are not, halving takes over after some.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roughly {

// The first index whose value is not below `wanted`; `count` if there is none. `values` ascend.
inline size_t interpolation_search(const uint64_t* values, size_t count, uint64_t wanted) {
    size_t low = 0;  // everything before is below
    size_t high = count;
    for (int step = 0; high - low > 8; ++step) {
        size_t middle = low + (high - low) / 2;
        if (step < 8) {
            const uint64_t least = values[low];
            const uint64_t most = values[high - 1];
            if (wanted <= least) return low;
            if (wanted > most) return high;
            // least < wanted <= most, so this is inside.
            const double share =
                static_cast<double>(wanted - least) / static_cast<double>(most - least);
            middle = low + static_cast<size_t>(share * static_cast<double>(high - low - 1));
            if (middle >= high) middle = high - 1;
        }
        if (values[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < high && values[low] < wanted) ++low;
    return low;
}

}  // namespace roughly
