/* Exchanges particles and ghosts in non-blocking messages with every rank whose box is near. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <mpi.h>

#include "domain.h"
#include "particles.h"

typedef struct outbox {
  char* data;
  size_t n, capacity; /* bytes */
} outbox;

/* A peer whose box may come within the cutoff of this rank's particles when these are moved by `shift`. */
typedef struct route {
  int rank;
  double shift[3];
} route;

typedef struct exchange {
  MPI_Comm comm;
  int rank, n_ranks;
  double cutoff;
  int* peers; /* ranks, this one excluded, whose boxes come within the cutoff of this one's, images included */
  int n_peers;
  route* routes;
  int n_routes, routes_capacity;
  outbox* out; /* [n_ranks] */
  MPI_Request* requests;
  int* everyone; /* all ranks but this one */
} exchange;

void exchange_init(exchange* e, double cutoff, MPI_Comm comm);
void exchange_free(exchange* e);

/* Finds peers and routes anew after the boxes have changed.  Not collective: every rank knows all boxes. */
void exchange_plan(exchange* e, const domain* d);

/* Sends every particle to the rank whose box holds it.  Collective.  `anywhere`: the boxes have changed, so a particle
 * may go to any rank; otherwise no particle may have moved by the cutoff or more. */
void exchange_migrate(exchange* e, const domain* d, particle_list* list, int anywhere);

/* Fills `ghosts` with the copies that this rank's forces need.  Collective. */
void exchange_ghosts(exchange* e, const domain* d, const particle_list* list, ghost_list* ghosts);

#endif
