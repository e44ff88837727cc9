// Arrays of totals that grow while another thread reads them.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace effort::measure {

/// Replaces an array by a longer one with the same content.  The old array stays in `owned`, because another thread may
/// still be reading it.  At most, this doubles the memory.
template <typename T, typename Copy>
void grow(std::atomic<T*>& array, std::vector<std::unique_ptr<T[]>>& owned, std::size_t old_size, std::size_t new_size,
          const Copy& copy) {
  auto fresh = std::make_unique<T[]>(new_size);
  if (const T* old = array.load(std::memory_order_relaxed))
    for (std::size_t i = 0; i < old_size; ++i) copy(fresh[i], old[i]);
  owned.push_back(std::move(fresh));  // may throw, so before the array can be seen
  array.store(owned.back().get(), std::memory_order_release);
}

template <typename T>
void copy_value(std::atomic<T>& to, const std::atomic<T>& from) {
  to.store(from.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

}  // namespace effort::measure
