// The instruction sets that have kernels of their own. Every level gives the same bytes; `plain`
// is the reference and the only one outside x86-64.
#pragma once

#include <string_view>
#include <vector>

namespace roughly {

enum class Simd { plain, avx2, avx512 };

// Levels this machine can run, ascending; never empty.
std::vector<Simd> simd_levels();

const char* simd_name(Simd level);

// Throws std::invalid_argument for a name that is unknown or that this machine cannot run.
Simd simd_from_name(std::string_view name);

}  // namespace roughly
