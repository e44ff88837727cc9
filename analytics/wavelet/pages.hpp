// Large pages for large arrays: faulting in small pages costs as much as a transform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace effort::wavelet {

/// Asks for large pages for untouched memory.  This is a hint only, so errors are ignored.
inline void use_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) & ~(page - 1);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(page - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

/// Uninitialised doubles.
inline std::unique_ptr<double[]> make_doubles(std::size_t n) {
  auto memory = std::make_unique_for_overwrite<double[]>(n);
  use_large_pages(memory.get(), n * sizeof(double));
  return memory;
}

/// `n` zeros.
template <typename T>
void make_zeros(std::vector<T>& values, std::size_t n) {
  values.clear();
  values.reserve(n);
  use_large_pages(values.data(), n * sizeof(T));
  values.resize(n);
}

}  // namespace effort::wavelet
