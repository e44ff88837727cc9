// The Fortran interfaces of the calls that are in no table, and those of communicators, windows and files.
#include "adapters/pmpi/wrappers_fortran.hpp"

#include "adapters/pmpi/session.hpp"

#include <dlfcn.h>

namespace effort::pmpi {
namespace {

/// Whether a function is one of this library's own.
bool is_ours(void* function) {
  Dl_info there{}, here{};
  return dladdr(function, &there) && dladdr(reinterpret_cast<void*>(&is_ours), &here) &&
         there.dli_fbase == here.dli_fbase;
}

}  // namespace

void* late_subroutine(const char* name, const void* return_address) {
  const char* const plain = name + 1;  // without the p
  Dl_info from{};
  void* module =
      dladdr(return_address, &from) && from.dli_fname ? dlopen(from.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  void* found = module ? dlsym(module, name) : nullptr;
  if (!found) found = dlsym(RTLD_NEXT, plain);  // the next one after ours
  if (!found && module) {
    found = dlsym(module, plain);
    if (found && is_ours(found)) found = nullptr;
  }
  if (module) dlclose(module);
  return found;
}

}  // namespace effort::pmpi

using namespace effort::pmpi;

#define EFFORT_PART "adapters/pmpi/calls/other_calls.inc"
#include "adapters/pmpi/calls/calls.inc"
#undef EFFORT_PART

// The calls that are not in the table.  In mpi_f08, ierror may be absent (null), and is passed on as it is.
#define EFFORT_INIT(symbol, n)                                  \
  extern "C" __attribute__((weak)) void p##symbol(EFFORT_P##n); \
  EFFORT_WRAPPER void symbol(EFFORT_P##n) {                     \
    const void* const back = __builtin_return_address(0);       \
    enter_init();                                               \
    target(p##symbol, "p" #symbol, back)(EFFORT_A##n);          \
    leave_init(back, __builtin_dwarf_cfa());                    \
  }
EFFORT_INIT(mpi_init_, 1)
EFFORT_INIT(mpi_init_f08_, 1)
EFFORT_INIT(mpi_init_thread_, 3)
EFFORT_INIT(mpi_init_thread_f08_, 3)

#define EFFORT_FINALIZE(symbol)                                  \
  extern "C" __attribute__((weak)) void p##symbol(void* ierror); \
  EFFORT_WRAPPER void symbol(void* ierror) {                     \
    const void* const back = __builtin_return_address(0);        \
    before_finalize(back, __builtin_dwarf_cfa());                \
    target(p##symbol, "p" #symbol, back)(ierror);                \
  }
EFFORT_FINALIZE(mpi_finalize_)
EFFORT_FINALIZE(mpi_finalize_f08_)

#define EFFORT_PCONTROL(symbol)                                      \
  extern "C" __attribute__((weak)) void p##symbol(const int* level); \
  EFFORT_WRAPPER void symbol(const int* level) {                     \
    const void* const back = __builtin_return_address(0);            \
    pcontrol(*level, back, __builtin_dwarf_cfa());                   \
    target(p##symbol, "p" #symbol, back)(level);                     \
  }
EFFORT_PCONTROL(mpi_pcontrol_)
EFFORT_PCONTROL(mpi_pcontrol_f08_)
