// A simulated device.  Its kernels run on the host with the code for devices, in memory that is accessible only while a
// kernel or a deep copy runs.  Any other access ends the test with a segmentation fault.
#pragma once

#include "analytics/simd/team.hpp"

#include <Kokkos_Core.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <new>

namespace effort::test {

/// All memory of the device.
class Guard {
 public:
  static Guard& instance() {
    static Guard guard;
    return guard;
  }
  /// Kokkos keeps its own header before the data, which the host may write.
  void* allocate(std::size_t bytes) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t body = bytes - sizeof(Header) + page - 1;
    void* base = mmap(nullptr, page + body / page * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    char* const data = static_cast<char*>(base) + page;
    std::memset(data, 0xff, body / page * page);  // code that relies on zeros reads NaN
    pieces_[data] = body / page * page;
    protect(data, body / page * page, PROT_NONE);
    return data - sizeof(Header);
  }
  void deallocate(void* memory) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    char* const data = static_cast<char*>(memory) + sizeof(Header);
    munmap(data - page, page + pieces_.at(data));
    pieces_.erase(data);
  }
  void open() { protect_all(PROT_READ | PROT_WRITE); }
  void close() { protect_all(PROT_NONE); }
  std::size_t pieces() const { return pieces_.size(); }
  int kernels = 0;  ///< run so far

 private:
  using Header = Kokkos::Impl::SharedAllocationHeader;
  Guard() {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback([](const char*, std::uint32_t, std::uint64_t*) {
      ++instance().kernels;
      instance().open();
    });
    Kokkos::Tools::Experimental::set_end_parallel_for_callback([](std::uint64_t) { instance().close(); });
  }
  static void protect(char* data, std::size_t bytes, int how) {
    if (mprotect(data, bytes, how) != 0) throw std::bad_alloc();
  }
  void protect_all(int how) {
    for (const auto& [data, bytes] : pieces_) protect(data, bytes, how);
  }
  std::map<char*, std::size_t> pieces_;
};

struct GuardedMemory {
  using memory_space = GuardedMemory;
  using execution_space = Kokkos::Serial;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using size_type = std::size_t;
  static constexpr const char* name() { return "Guarded"; }
  void* impl_allocate(const char*, std::size_t bytes, std::size_t, Kokkos::Tools::SpaceHandle) const {
    return Guard::instance().allocate(bytes);
  }
  void impl_deallocate(const char*, void* memory, std::size_t, std::size_t, Kokkos::Tools::SpaceHandle) const {
    Guard::instance().deallocate(memory);
  }
};

struct GuardedName {
  static constexpr const char* get_name() { return "Guarded"; }
};

using DeviceMemory =
    Kokkos::Experimental::LogicalMemorySpace<GuardedMemory, Kokkos::Serial, GuardedName,
                                             Kokkos::Experimental::LogicalSpaceSharesAccess::no_shared_access>;

struct GuardedSpace : Kokkos::Serial {
  using memory_space = DeviceMemory;
};

}  // namespace effort::test

// Kernels run on the host, so Kokkos is told that the host can access the memory. Our own code takes it for a device.
template <>
inline constexpr bool effort::simd::on_host<effort::test::GuardedSpace> = false;

namespace Kokkos::Impl {
template <>
struct MemorySpaceAccess<Kokkos::HostSpace, effort::test::DeviceMemory> {
  enum : bool { assignable = false, accessible = true, deepcopy = true };
};
template <>
struct MemorySpaceAccess<effort::test::DeviceMemory, Kokkos::HostSpace> {
  enum : bool { assignable = false, accessible = true, deepcopy = true };
};

template <typename To, typename From>
struct GuardedCopy {
  GuardedCopy(void* to, const void* from, std::size_t bytes) {
    effort::test::Guard::instance().open();
    std::memcpy(to, from, bytes);
    effort::test::Guard::instance().close();
  }
  template <typename Space>
  GuardedCopy(const Space&, void* to, const void* from, std::size_t bytes) : GuardedCopy(to, from, bytes) {}
};
#define EFFORT_GUARDED_COPY(To, From)                        \
  template <typename Space>                                  \
  struct DeepCopy<To, From, Space> : GuardedCopy<To, From> { \
    using GuardedCopy<To, From>::GuardedCopy;                \
  };
EFFORT_GUARDED_COPY(Kokkos::HostSpace, effort::test::DeviceMemory)
EFFORT_GUARDED_COPY(effort::test::DeviceMemory, Kokkos::HostSpace)
EFFORT_GUARDED_COPY(effort::test::DeviceMemory, effort::test::DeviceMemory)
#undef EFFORT_GUARDED_COPY
}  // namespace Kokkos::Impl
