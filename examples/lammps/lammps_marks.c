/* LAMMPS's library interface reports neither its timers nor fix balance.  These definitions therefore wrap two
 * functions of LAMMPS's classes, Timer::_stamp(ttype) and FixBalance::pre_exchange(), by the names that g++ and clang++
 * give them, as mpi_marks.c wraps MPI's.  In a LAMMPS that lacks them, or is linked statically, they are never called:
 * see lammps_has_marks(). */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "lammps_marks.h"

#include <dlfcn.h>
#include <string.h>

#include "mpi_marks.h"

#define STAMP "_ZN9LAMMPS_NS5Timer6_stampENS0_5ttypeE"
#define PRE_EXCHANGE "_ZN9LAMMPS_NS10FixBalance12pre_exchangeEv"
enum { section_pair = 1, section_neighbour = 4 }; /* Timer::PAIR, Timer::NEIGH */

void timer_stamp(void* timer, int section) __asm__(STAMP);
void fix_balance(void* fix) __asm__(PRE_EXCHANGE);

static double work, stamped;
static balance_marks marks;

double work_seconds(void) { return work; }
void mark_fix_balance(balance_marks m) { marks = m; }

/* C has no cast from an object's address to a function's. */
static void find_in_lammps(const char* name, void* function) {
  void* found = dlsym(RTLD_NEXT, name);
  memcpy(function, &found, sizeof found);
}

int lammps_has_marks(void) { return dlsym(RTLD_NEXT, STAMP) != NULL && dlsym(RTLD_NEXT, PRE_EXCHANGE) != NULL; }

void timer_stamp(void* timer, int section) {
  static void (*original)(void*, int);
  if (!original) find_in_lammps(STAMP, &original);
  if (section == section_pair || section == section_neighbour) work += compute_seconds() - stamped;
  original(timer, section);
  stamped = compute_seconds();
}

void fix_balance(void* fix) {
  static void (*original)(void*);
  if (!original) find_in_lammps(PRE_EXCHANGE, &original);
  if (marks.before && !marks.before(marks.user)) return;
  original(fix);
  if (marks.after) marks.after(marks.user);
}
