#include "simd.hpp"

#include <bit>
#include <stdexcept>
#include <string>

static_assert(std::endian::native == std::endian::little, "roughly needs a little-endian machine");

namespace roughly {

std::vector<Simd> simd_levels() {
    std::vector<Simd> levels{Simd::plain};
#if defined(__x86_64__)
    __builtin_cpu_init();
    // Every feature that CMakeLists.txt lets the compiler use in *_avx2.cpp and *_avx512.cpp.
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    if (avx2) levels.push_back(Simd::avx2);
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2"))
        levels.push_back(Simd::avx512);
#endif
    return levels;
}

const char* simd_name(Simd level) {
    switch (level) {
        case Simd::avx2: return "avx2";
        case Simd::avx512: return "avx512";
        default: return "plain";
    }
}

Simd simd_from_name(std::string_view name) {
    std::string usable;
    for (Simd level : simd_levels()) {
        if (name == simd_name(level)) return level;
        usable += usable.empty() ? simd_name(level) : std::string(", ") + simd_name(level);
    }
    throw std::invalid_argument("simd: no level '" + std::string(name) +
                                "' on this machine: wanted one of " + usable);
}

}  // namespace roughly
