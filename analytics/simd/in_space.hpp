// Gives kernels access to host data: in place on the host, by explicit copies on a device.
#pragma once

#include "analytics/simd/team.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace effort::simd {

/// A borrowed array in the memory of a space: what kernels work on.
template <typename Space, typename T>
using Array =
    Kokkos::View<T*, Kokkos::LayoutRight, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <typename T>
using HostArray = Array<Kokkos::HostSpace, T>;

/// An array that a kernel reads.  On a device the constructor copies it there.
template <typename Space, typename T>
class Input {
 public:
  Input(const T* data, std::size_t n) {
    if constexpr (on_host<Space>)
      array_ = Array<Space, const T>(data, n);
    else
      array_ = copy_ = Kokkos::create_mirror_view_and_copy(typename Space::memory_space{}, HostArray<const T>(data, n));
  }
  template <typename Range>
  explicit Input(const Range& range) : Input(range.data(), range.size()) {}

  const Array<Space, const T>& array() const { return array_; }

 private:
  Kokkos::View<const T*, Kokkos::LayoutRight, typename Space::memory_space> copy_;
  Array<Space, const T> array_;
};

/// An array that a kernel writes.  On a device fetch() copies it to the host.
template <typename Space, typename T>
class Output {
 public:
  /// The initial values are undefined.
  Output(T* data, std::size_t n) : host_(data, n) {
    if constexpr (on_host<Space>)
      array_ = Array<Space, T>(data, n);
    else
      array_ = copy_ = Copy(Kokkos::view_alloc(Kokkos::WithoutInitializing, "effort"), n);
  }
  template <typename Range>
  explicit Output(Range& range) : Output(range.data(), range.size()) {}

  const Array<Space, T>& array() const { return array_; }
  void fetch() const {
    if constexpr (!on_host<Space>) Kokkos::deep_copy(host_, copy_);
  }

 private:
  using Copy = Kokkos::View<T*, Kokkos::LayoutRight, typename Space::memory_space>;
  HostArray<T> host_;
  Copy copy_;
  Array<Space, T> array_;
};

/// Uninitialised memory for a kernel.  On the host it is aligned to cache lines, so that no register load crosses one.
/// It is not a view there, because allocating a view takes six times as long, which matters in small windows.
template <typename Space, typename T>
class Scratch {
 public:
  explicit Scratch(std::size_t n) {
    if constexpr (on_host<Space>) {
      memory_.reset(static_cast<T*>(::operator new[](n * sizeof(T), alignment)));
      array_ = Array<Space, T>(memory_.get(), n);
    } else {
      memory_ = Memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, "effort"), n);
      array_ = memory_;
    }
  }
  const Array<Space, T>& array() const { return array_; }

 private:
  static_assert(std::is_trivial_v<T>);
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, alignment); }
  };
  using Memory = std::conditional_t<on_host<Space>, std::unique_ptr<T[], Free>,
                                    Kokkos::View<T*, Kokkos::LayoutRight, typename Space::memory_space>>;
  Memory memory_;
  Array<Space, T> array_;
};

}  // namespace effort::simd
