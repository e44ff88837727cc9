// The device of the tests: memory that the host cannot access.  Kokkos's own if it has one, a simulated one otherwise.
#pragma once

#include <Kokkos_Core.hpp>

#ifndef KOKKOS_ENABLE_CUDA

#include "guarded_space.hpp"

namespace effort::test {

using Device = GuardedSpace;

/// Kernels that have been launched on the device.
inline int kernels() { return Guard::instance().kernels; }
/// Arrays that exist on the device.
inline std::size_t arrays() { return Guard::instance().pieces(); }

}  // namespace effort::test

#else

#include <cstddef>
#include <cstring>

namespace effort::test {

using Device = Kokkos::Cuda;

/// Follows the device through Kokkos's hooks for tools.
class DeviceWatch {
 public:
  static DeviceWatch& instance() {
    static DeviceWatch watch;
    return watch;
  }
  int kernels = 0;
  std::size_t arrays = 0;

 private:
  DeviceWatch() {
    using namespace Kokkos::Tools::Experimental;
    set_begin_parallel_for_callback([](const char*, std::uint32_t, std::uint64_t*) { ++instance().kernels; });
    set_allocate_data_callback([](Kokkos_Profiling_SpaceHandle space, const char*, const void* data, std::uint64_t) {
      if (on_device(space, data)) ++instance().arrays;
    });
    set_deallocate_data_callback([](Kokkos_Profiling_SpaceHandle space, const char*, const void* data, std::uint64_t) {
      if (on_device(space, data)) --instance().arrays;
    });
  }
  // Kokkos also reports empty scratch memory, which is a null pointer and is never freed.
  static bool on_device(const Kokkos_Profiling_SpaceHandle& space, const void* data) {
    return data && std::strcmp(space.name, Device::memory_space::name()) == 0;
  }
};

inline int kernels() { return DeviceWatch::instance().kernels; }
inline std::size_t arrays() { return DeviceWatch::instance().arrays; }

}  // namespace effort::test

#endif
