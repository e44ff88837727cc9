/* Observes a run of LAMMPS from inside: the time of pair forces and neighbour lists, and when fix balance acts. */
#ifndef LAMMPS_MARKS_H
#define LAMMPS_MARKS_H

/* CPU seconds outside MPI in pair forces and neighbour lists, as delimited by LAMMPS's own timers. */
double work_seconds(void);

/* Whether this LAMMPS has the two functions that are wrapped. */
int lammps_has_marks(void);

/* Called right before and after each call of fix balance that may rebalance; may be NULL. */
typedef struct {
  int (*before)(void* user); /* 0: not now */
  void (*after)(void* user);
  void* user;
} balance_marks;
void mark_fix_balance(balance_marks marks);

#endif
