/* The command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>

typedef enum balance_mode { BALANCE_NONE, BALANCE_OWN, BALANCE_HINTS } balance_mode;

typedef struct options {
  balance_mode balance;
  int interval;      /* steps between rebalances in mode own */
  int steps;         /* time steps */
  int64_t particles; /* in both droplets together */
  uint64_t seed;     /* seed of the thermal velocities */
} options;

/* Fills *o from the command line.  Returns 0, or 1 on an error, which is printed on stderr if `verbose`. */
int options_read(options* o, int argc, char** argv, int verbose);

const char* balance_name(balance_mode mode);

#endif
