// Vectors of the core as NumPy arrays, which are read-only.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace roughly {

template <typename T>
using Array = nanobind::ndarray<nanobind::numpy, const T, nanobind::ndim<1>, nanobind::c_contig>;
template <typename T>
using Table = nanobind::ndarray<nanobind::numpy, const T, nanobind::ndim<2>, nanobind::c_contig>;
template <typename T>
using InputArray =
    nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// The array owns the vector.
template <typename T>
Array<T> to_array(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    const size_t size = owned->size();
    nanobind::capsule owner(owned.release(),
                            [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(data, {size}, owner);
}

// The same for a vector, or a Sequence, of structures made of nothing but `columns` values of type
// T.
template <typename T, size_t columns, typename Rows>
Table<T> to_table(Rows&& rows) {
    static_assert(!std::is_reference_v<Rows>, "it is moved");
    static_assert(sizeof(*rows.data()) == columns * sizeof(T));
    auto owned = std::make_unique<Rows>(std::move(rows));
    const T* data = reinterpret_cast<const T*>(owned->data());
    const size_t size = owned->size();
    nanobind::capsule owner(owned.release(),
                            [](void* p) noexcept { delete static_cast<Rows*>(p); });
    return Table<T>(data, {size, columns}, owner);
}

}  // namespace roughly
