// The MPI functions of C.
#include "adapters/pmpi/session.hpp"
#include "adapters/pmpi/wrapper.hpp"

// MPI marks some of its functions as deprecated; hosts call them all the same.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// The wrappers have a section of their own that starts with a page: their position in a page changes the cost of a call
// that has just waited by up to 6 ns, and that should not depend on other code.
__asm__(".section .text.effort_wrappers,\"ax\",%progbits\n.balign 4096\n.previous");
#define EFFORT_WRAPPER extern "C" __attribute__((visibility("default"), section(".text.effort_wrappers"), aligned(64)))

using namespace effort::pmpi;

// Handles are passed on as machine words, regardless of their size in this build, so that calls reach an MPI unchanged
// for which this was not built.  The functions carry MPI's names only for the linker.
#define MPI_Comm Word
#define MPI_Datatype Word
#define MPI_File Word
#define MPI_Group Word
#define MPI_Info Word
#define MPI_Op Word
#define MPI_Request Word
#define MPI_Win Word
#define EFFORT_GIVEN(...) __VA_ARGS__  // a list of arguments without its parentheses
#define EFFORT_MPI_CALL(Name, name, kind, role, comm, n, parameters, arguments)                                \
  extern "C" EFFORT_MPI_REFERENCE int effort_next_##Name parameters __asm__("PMPI_" #Name);                    \
  EFFORT_CAREFULLY int effort_careful_##Name parameters {                                                      \
    const auto next = [](auto... given) { return effort_next_##Name(given...); };                              \
    return through_other_paths<Call::Name, false>(next, EFFORT_GIVEN arguments);                               \
  }                                                                                                            \
  EFFORT_WRAPPER int effort_wrap_##Name parameters __asm__("MPI_" #Name);                                      \
  int effort_wrap_##Name parameters {                                                                          \
    return through<Call::Name, false>(effort_next_##Name, effort_careful_##Name, __builtin_return_address(0),  \
                                      static_cast<std::byte*>(__builtin_dwarf_cfa()), EFFORT_GIVEN arguments); \
  }
#include "adapters/pmpi/calls/calls.inc"
#ifdef EFFORT_MPI_HAS_LARGE_COUNTS
#include "adapters/pmpi/calls/large_calls.inc"
#endif
#undef EFFORT_MPI_CALL
#undef MPI_Comm
#undef MPI_Datatype
#undef MPI_File
#undef MPI_Group
#undef MPI_Info
#undef MPI_Op
#undef MPI_Request
#undef MPI_Win

EFFORT_WRAPPER int MPI_Init(int* argc, char*** argv) {
  enter_init();
  const int code = PMPI_Init(argc, argv);
  leave_init(__builtin_return_address(0), __builtin_dwarf_cfa());
  return code;
}

EFFORT_WRAPPER int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  enter_init();
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  leave_init(__builtin_return_address(0), __builtin_dwarf_cfa());
  return code;
}

EFFORT_WRAPPER int MPI_Finalize() {
  before_finalize(__builtin_return_address(0), __builtin_dwarf_cfa());
  return PMPI_Finalize();
}

EFFORT_WRAPPER int MPI_Pcontrol(const int level, ...) {
  pcontrol(level, __builtin_return_address(0), __builtin_dwarf_cfa());
  return PMPI_Pcontrol(level);
}

#undef EFFORT_WRAPPER
