// The MPI subroutines of Fortran: mpif.h and use mpi (mpi_send_), use mpi_f08 (mpi_send_f08_, or mpi_send_f08ts_ where
// choice buffers are descriptors).  Open MPI's call PMPI_ functions of C directly, so that wrapping C alone would miss
// them.  That includes Open MPI 6's subroutines for large counts (mpi_send_c_f08ts_); MPICH's call MPI_Send_c and
// others, which are wrapped.  All arguments are references, so one forwarding function per number of arguments
// suffices.
//
// Included once by each file that defines a part of them; there are several files so that they compile in parallel.
#pragma once

#include "adapters/pmpi/wrapper.hpp"

#include <cstddef>

#define EFFORT_WRAPPER extern "C" __attribute__((visibility("default"), aligned(64)))

namespace effort::pmpi {

/// The MPI library's subroutine if it was not loaded together with this library (but by a module opened later, with
/// MPI's Fortran part) or has no PMPI name (MPICH's mpi_f08).  Never null for a call that the host could make.
void* late_subroutine(const char* name, const void* return_address);

template <typename Function>
Function* target(Function* linked, const char* name, const void* return_address) {
  return __builtin_expect(linked != nullptr, 1) ? linked
                                                : reinterpret_cast<Function*>(late_subroutine(name, return_address));
}

namespace {

/// Calls the MPI library's subroutine on all paths but the short one.  All subroutines with the same number of
/// arguments share one type, so that the compiler generates these paths once per call.
template <typename Function>
struct Linked {
  Function* linked;
  const char* name;

  template <typename... T>
  std::nullptr_t operator()(T... given) const {
    target(linked, name, caller.return_address)(given...);
    return nullptr;
  }
};

}  // namespace

}  // namespace effort::pmpi

#define EFFORT_P1 void* a1  // NOLINT(bugprone-macro-parentheses): a parameter
#define EFFORT_A1 a1
#define EFFORT_P2 void *a1, void *a2
#define EFFORT_P3 EFFORT_P2, void* a3
#define EFFORT_P4 EFFORT_P3, void* a4
#define EFFORT_P5 EFFORT_P4, void* a5
#define EFFORT_P6 EFFORT_P5, void* a6
#define EFFORT_P7 EFFORT_P6, void* a7
#define EFFORT_P8 EFFORT_P7, void* a8
#define EFFORT_P9 EFFORT_P8, void* a9
#define EFFORT_P10 EFFORT_P9, void* a10
#define EFFORT_P11 EFFORT_P10, void* a11
#define EFFORT_P12 EFFORT_P11, void* a12
#define EFFORT_P13 EFFORT_P12, void* a13
#define EFFORT_P14 EFFORT_P13, void* a14
#define EFFORT_A2 a1, a2
#define EFFORT_A3 EFFORT_A2, a3
#define EFFORT_A4 EFFORT_A3, a4
#define EFFORT_A5 EFFORT_A4, a5
#define EFFORT_A6 EFFORT_A5, a6
#define EFFORT_A7 EFFORT_A6, a7
#define EFFORT_A8 EFFORT_A7, a8
#define EFFORT_A9 EFFORT_A8, a9
#define EFFORT_A10 EFFORT_A9, a10
#define EFFORT_A11 EFFORT_A10, a11
#define EFFORT_A12 EFFORT_A11, a12
#define EFFORT_A13 EFFORT_A12, a13
#define EFFORT_A14 EFFORT_A13, a14

#define EFFORT_FORTRAN(Name, symbol, n)                                                                            \
  extern "C" __attribute__((weak)) void p##symbol(EFFORT_P##n);                                                    \
  EFFORT_CAREFULLY void effort_careful_##symbol(EFFORT_P##n) {                                                     \
    const Linked<decltype(p##symbol)> next{p##symbol, "p" #symbol};                                                \
    through_other_paths<Call::Name, true>(next, EFFORT_A##n);                                                      \
  }                                                                                                                \
  EFFORT_WRAPPER void symbol(EFFORT_P##n) {                                                                        \
    const void* const back = __builtin_return_address(0);                                                          \
    const auto next = [back](auto... given) {                                                                      \
      target(p##symbol, "p" #symbol, back)(given...);                                                              \
      return nullptr;                                                                                              \
    };                                                                                                             \
    const auto carefully = [](auto... given) {                                                                     \
      effort_careful_##symbol(given...);                                                                           \
      return nullptr;                                                                                              \
    };                                                                                                             \
    through<Call::Name, true>(next, carefully, back, static_cast<std::byte*>(__builtin_dwarf_cfa()), EFFORT_A##n); \
  }
/// In all three interfaces; for calls.inc.
#define EFFORT_MPI_CALL(Name, name, kind, role, comm, n, parameters, arguments) \
  EFFORT_FORTRAN(Name, mpi_##name##_, n)                                        \
  EFFORT_FORTRAN(Name, mpi_##name##_f08_, n)                                    \
  EFFORT_FORTRAN(Name, mpi_##name##_f08ts_, n)
