// Kokkos kernels whose teams work on rows: one source for Serial, OpenMP and devices.
//
//   simd::for_each_team(space, "effort::scale", matrix.extent(0), matrix.extent(1), KOKKOS_LAMBDA(const auto& team) {
//     simd::for_each(team, matrix.extent(1), [&](std::size_t j) { matrix(team.league_rank(), j) *= 2; });
//   });
//
// On a device the members of a team share the iterations of for_each().  On the host a team is one thread, which does
// them in vector registers: the kernel is compiled once for each instruction set (widest()).
#pragma once

#include "analytics/simd/widest.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace effort::simd {

/// Whether kernels of this space run on host threads.
template <typename Space>
inline constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

/// A team of one thread.  Not a member of Kokkos's team policy: the Serial space of Kokkos 3.4 keeps one state for all
/// such members, so that two threads of the host could not launch kernels at the same time.
template <typename Space, std::size_t Bytes>
struct SingleThread {
  using execution_space = Space;
  static constexpr std::size_t register_bytes = Bytes;
  int rank;
  int league_rank() const { return rank; }
};

/// Whether a team is one thread of the host.
template <typename Member>
inline constexpr bool one_thread = false;
template <typename Space, std::size_t Bytes>
inline constexpr bool one_thread<SingleThread<Space, Bytes>> = true;

namespace detail {

template <typename Space, typename Kernel>
struct HostKernel {
  Kernel kernel;
  InstructionSet set;
  void operator()(int rank) const {
#ifdef __CUDACC__  // accepts no vector types in functions that are also compiled for the device
    kernel(SingleThread<Space, 0>{rank});
#else
    run_with(set, [kernel = this->kernel, rank]<std::size_t Bytes>(Registers<Bytes>) {
      kernel(SingleThread<Space, Bytes>{rank});
    });
#endif
  }
};

}  // namespace detail

/// The instruction set for loops over rows of `width` values.
inline InstructionSet for_rows_of(std::size_t width) { return width < wide_from ? InstructionSet::narrow : best(); }

/// The number of teams that share `n` pieces of work, at least `least` pieces each.
template <typename Space>
std::size_t teams_for(const Space& space, std::size_t n, std::size_t least = 1) {
  const auto threads = static_cast<std::size_t>(std::max(1, static_cast<int>(space.concurrency())));
  return std::clamp<std::size_t>(n / least, 1, threads);
}

/// Runs kernel(team) for every league_rank() below `teams` and waits until all have finished.  The kernel is copied.
/// Any number of host threads may launch kernels at the same time.  On the host a single team runs in the calling
/// thread, since a launch would take longer than the work of a small window.
/// @param set  the instruction set for teams on the host; see for_rows_of()
template <typename Space, typename Kernel>
void for_each_team(const Space& space, const char* label, std::size_t teams, InstructionSet set, const Kernel& kernel) {
  const auto n = static_cast<int>(teams);
  if constexpr (on_host<Space>) {
    const detail::HostKernel<Space, Kernel> functor{kernel, set};
    if (n == 1) return functor(0);
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Space>(space, 0, n), functor);
  } else {
    using Execution = typename Space::execution_space;
    Kokkos::parallel_for(label, Kokkos::TeamPolicy<Execution>(space, n, Kokkos::AUTO), kernel);
  }
  space.fence();
}

/// Runs body(i) for 0 <= i < n, shared by the members of the team.  No iteration may read what another one writes.
/// Call barrier() before the team reads the results.
template <typename Member, typename Body>
KOKKOS_INLINE_FUNCTION void for_each(const Member& team, std::size_t n, const Body& body) {
  if constexpr (one_thread<Member>) {
    for_each(n, body);
  } else {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), body);
  }
}

/// Runs body() once per team.
template <typename Member, typename Body>
KOKKOS_INLINE_FUNCTION void once(const Member& team, const Body& body) {
  if constexpr (one_thread<Member>) {
    body();
  } else {
    Kokkos::single(Kokkos::PerTeam(team), body);
  }
}

/// Calls body(i, width) for the packs that start at i = 0, width, 2 width, ... < n, with width as a compile-time
/// constant.  On the host a pack fills a register; on a device its width is 1 and the team shares the calls.  No call
/// may read what another one writes.
/// @param n  a multiple of the widest pack's width
template <typename T, typename Member, typename Body>
KOKKOS_INLINE_FUNCTION void for_each_pack(const Member& team, std::size_t n, const Body& body) {
  if constexpr (one_thread<Member>) {
    constexpr std::size_t width = std::max<std::size_t>(1, Member::register_bytes / sizeof(T));
#pragma GCC unroll 8
    for (std::size_t i = 0; i < n; i += width) body(i, std::integral_constant<std::size_t, width>{});
  } else {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n),
                         [&](std::size_t i) { body(i, std::integral_constant<std::size_t, 1>{}); });
  }
}

/// Returns the largest value(i), 0 <= i < n, to every member of the team; all must call it.
template <typename Member, typename Value>
KOKKOS_INLINE_FUNCTION std::uint64_t largest(const Member& team, std::size_t n, const Value& value) {
  std::uint64_t most = 0;
  if constexpr (one_thread<Member>) {
    for (std::size_t i = 0; i < n; ++i) most = value(i) > most ? value(i) : most;
  } else {
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, n),
        [&](std::size_t i, std::uint64_t& result) { result = value(i) > result ? value(i) : result; },
        Kokkos::Max<std::uint64_t>(most));
  }
  return most;
}

/// Prefetches `n` values that will be read soon (on the host).
template <typename Member, typename T>
KOKKOS_INLINE_FUNCTION void prefetch(const Member&, const T* values, std::size_t n) {
  if constexpr (one_thread<Member>) {
    constexpr std::size_t line = 64 / sizeof(T);
    for (std::size_t i = 0; i < n; i += line) __builtin_prefetch(values + i, 0, 2);
  }
}

template <typename Member>
KOKKOS_INLINE_FUNCTION void barrier(const Member& team) {
  if constexpr (!one_thread<Member>) team.team_barrier();
}

}  // namespace effort::simd
