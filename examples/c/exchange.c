#include "exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { tag_particles = 1, tag_ghosts = 2 };

void exchange_init(exchange* e, double cutoff, MPI_Comm comm) {
  *e = (exchange){.comm = comm, .cutoff = cutoff};
  MPI_Comm_rank(comm, &e->rank);
  MPI_Comm_size(comm, &e->n_ranks);
  const size_t n = (size_t)e->n_ranks;
  e->peers = resize(NULL, n, sizeof *e->peers);
  e->everyone = resize(NULL, n, sizeof *e->everyone);
  e->requests = resize(NULL, n, sizeof *e->requests);
  e->out = resize(NULL, n, sizeof *e->out);
  memset(e->out, 0, n * sizeof *e->out);
  for (int r = 0, k = 0; r < e->n_ranks; ++r) {
    if (r != e->rank) e->everyone[k++] = r;
  }
}

void exchange_free(exchange* e) {
  for (int r = 0; r < e->n_ranks; ++r) free(e->out[r].data);
  free(e->out);
  free(e->peers);
  free(e->everyone);
  free(e->requests);
  free(e->routes);
}

static void put(outbox* o, const void* item, size_t size) {
  if (o->n + size > o->capacity) {
    o->capacity = 2 * (o->n + size) + 4096;
    o->data = resize(o->data, o->capacity, 1);
  }
  memcpy(o->data + o->n, item, size);
  o->n += size;
}

/* Does box a, moved by the shift, come within the cutoff of box b? */
static int near(const box* a, const double shift[3], const box* b, double cutoff) {
  for (int d = 0; d < 3; ++d) {
    if (a->lo[d] + shift[d] - b->hi[d] > cutoff || b->lo[d] - (a->hi[d] + shift[d]) > cutoff) return 0;
  }
  return 1;
}

/* Always moves the lower rank's box, so both ranks of a pair get the same answer, rounding included. */
static int pair_is_near(const domain* d, int a, int b, const double shift[3], double cutoff) {
  const double back[3] = {-shift[0], -shift[1], -shift[2]};
  if (a < b) return near(&d->boxes[a], shift, &d->boxes[b], cutoff);
  return near(&d->boxes[b], back, &d->boxes[a], cutoff);
}

static void add_route(exchange* e, int rank, const double shift[3]) {
  if (e->n_routes == e->routes_capacity) {
    e->routes_capacity = 2 * e->routes_capacity + 32;
    e->routes = resize(e->routes, (size_t)e->routes_capacity, sizeof *e->routes);
  }
  e->routes[e->n_routes++] = (route){rank, {shift[0], shift[1], shift[2]}};
}

void exchange_plan(exchange* e, const domain* d) {
  e->n_peers = 0;
  e->n_routes = 0;
  for (int r = 0; r < d->n_ranks; ++r) {
    const int before = e->n_routes;
    for (int image = 0; image < 27; ++image) {
      const double shift[3] = {(image % 3 - 1) * d->length, (image / 3 % 3 - 1) * d->length,
                               (image / 9 - 1) * d->length};
      if (r == e->rank && image == 13) continue; /* the particles themselves */
      if (pair_is_near(d, e->rank, r, shift, e->cutoff)) add_route(e, r, shift);
    }
    if (r != e->rank && e->n_routes > before) e->peers[e->n_peers++] = r;
  }
}

static void send_all(exchange* e, const int* peers, int n_peers, int tag) {
  for (int k = 0; k < n_peers; ++k) {
    const outbox* o = &e->out[peers[k]];
    MPI_Isend(o->data, (int)o->n, MPI_BYTE, peers[k], tag, e->comm, &e->requests[k]);
  }
}

/* Waits for the message from one peer; returns its size in bytes. */
static size_t await(const exchange* e, int peer, int tag, MPI_Message* message) {
  MPI_Status status;
  int bytes = 0;
  MPI_Mprobe(peer, tag, e->comm, message, &status);
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  return (size_t)bytes;
}

/* Moves the particles that now belong to other ranks into the outboxes; the others close up and keep their order. */
static void pack_leavers(exchange* e, const domain* d, particle_list* list) {
  size_t kept = 0;
  for (size_t i = 0; i < list->n; ++i) {
    const particle* p = &list->at[i];
    const int owner = domain_owner(d, p->x);
    if (owner == e->rank) {
      if (kept != i) list->at[kept] = *p;
      ++kept;
    } else {
      put(&e->out[owner], p, sizeof *p);
    }
  }
  list->n = kept;
}

/* A particle for a rank that is not a peer would be lost. It can only occur if the time step is too long. */
static void check_leavers(exchange* e, const int* peers, int n_peers) {
  size_t reached = 0;
  size_t all = 0;
  for (int k = 0; k < n_peers; ++k) reached += e->out[peers[k]].n;
  for (int r = 0; r < e->n_ranks; ++r) all += e->out[r].n;
  if (reached != all) {
    fprintf(stderr, "particles: a particle moved further than the cutoff in one step (rank %d)\n", e->rank);
    MPI_Abort(e->comm, 4);
  }
}

void exchange_migrate(exchange* e, const domain* d, particle_list* list, int anywhere) {
  const int* peers = anywhere ? e->everyone : e->peers;
  const int n_peers = anywhere ? e->n_ranks - 1 : e->n_peers;
  for (int r = 0; r < e->n_ranks; ++r) e->out[r].n = 0;
  pack_leavers(e, d, list);
  check_leavers(e, peers, n_peers);
  send_all(e, peers, n_peers, tag_particles);
  for (int k = 0; k < n_peers; ++k) {
    MPI_Message message;
    const size_t bytes = await(e, peers[k], tag_particles, &message);
    particles_reserve(list, list->n + bytes / sizeof(particle));
    MPI_Mrecv(list->at + list->n, (int)bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    list->n += bytes / sizeof(particle);
  }
  MPI_Waitall(n_peers, e->requests, MPI_STATUSES_IGNORE);
}

/* Copies the particles of one route: those that land within the cutoff of the box. */
static void pack_route(outbox* o, const route* to, const box* b, double cutoff, const particle_list* list) {
  for (size_t i = 0; i < list->n; ++i) {
    const particle* p = &list->at[i];
    const ghost g = {{p->x[0] + to->shift[0], p->x[1] + to->shift[1], p->x[2] + to->shift[2]}, p->id};
    int inside = 1;
    for (int d = 0; d < 3; ++d) inside &= g.x[d] >= b->lo[d] - cutoff && g.x[d] <= b->hi[d] + cutoff;
    if (inside) put(o, &g, sizeof g);
  }
}

void exchange_ghosts(exchange* e, const domain* d, const particle_list* list, ghost_list* ghosts) {
  for (int r = 0; r < e->n_ranks; ++r) e->out[r].n = 0;
  for (int k = 0; k < e->n_routes; ++k) {
    const int to = e->routes[k].rank;
    pack_route(&e->out[to], &e->routes[k], &d->boxes[to], e->cutoff, list);
  }
  send_all(e, e->peers, e->n_peers, tag_ghosts);
  const outbox* self = &e->out[e->rank];
  ghosts->n = self->n / sizeof(ghost);
  ghosts_reserve(ghosts, ghosts->n);
  if (self->n > 0) memcpy(ghosts->at, self->data, self->n);
  for (int k = 0; k < e->n_peers; ++k) {
    MPI_Message message;
    const size_t bytes = await(e, e->peers[k], tag_ghosts, &message);
    ghosts_reserve(ghosts, ghosts->n + bytes / sizeof(ghost));
    MPI_Mrecv(ghosts->at + ghosts->n, (int)bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    ghosts->n += bytes / sizeof(ghost);
  }
  MPI_Waitall(e->n_peers, e->requests, MPI_STATUSES_IGNORE);
}
