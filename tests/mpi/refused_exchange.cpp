// refused_exchange LEVEL WHERE STRIDE [END]: MPI refuses an operation of the exchange among nodes, and all later ones,
// on one rank, as it does if it has no memory: every STRIDE-th operation of a session in turn, on each rank in turn.
// WHERE: `start`, it does not begin the operation; `test`, it begins it and then reports an error.
//
// The rule after each session: nothing hangs, the host's own results are right, and all ranks switch off at the same
// step.  After `test`, an operation may have been completed on some ranks only, so the steps may differ.
//
// With END there is one session more, in which an early operation is refused, and which is not finalized.  Then MPI is,
// and the main thread leaves: `thread_exit`, by pthread_exit, or `exit`.
#include "counted_communicators.h"
#include "mpi_check.h"

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <pthread.h>

namespace {

std::atomic<long> left{LONG_MAX}, refused{0};
bool when_tested = false;
std::atomic<bool> fails_test{false};

/// Whether MPI refuses to begin the operation that a node leader is about to begin.
bool refuses() {
  if (--left > 0) return false;
  ++refused;
  if (when_tested) fails_test = true;
  return !when_tested;
}

}  // namespace

// The names by which the library calls MPI for its exchange.
#define REFUSED(name, parameters, ...)        \
  extern "C" EVERYWHERE int name parameters { \
    NEXT(name);                               \
    if (refuses()) return MPI_ERR_OTHER;      \
    return next(__VA_ARGS__);                 \
  }
REFUSED(PMPI_Iallreduce, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* q), s, r, n,
        t, o, c, q)
REFUSED(PMPI_Iallgather,
        (const void* s, int m, MPI_Datatype u, void* r, int n, MPI_Datatype t, MPI_Comm c, MPI_Request* q), s, m, u, r,
        n, t, c, q)
REFUSED(PMPI_Iallgatherv,
        (const void* s, int m, MPI_Datatype u, void* r, const int* n, const int* d, MPI_Datatype t, MPI_Comm c,
         MPI_Request* q),
        s, m, u, r, n, d, t, c, q)
REFUSED(PMPI_Igatherv,
        (const void* s, int m, MPI_Datatype u, void* r, const int* n, const int* d, MPI_Datatype t, int root,
         MPI_Comm c, MPI_Request* q),
        s, m, u, r, n, d, t, root, c, q)
REFUSED(PMPI_Ialltoallv,
        (const void* s, const int* m, const int* e, MPI_Datatype u, void* r, const int* n, const int* d, MPI_Datatype t,
         MPI_Comm c, MPI_Request* q),
        s, m, e, u, r, n, d, t, c, q)
REFUSED(PMPI_Ibcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* q), b, n, t, root, c, q)
REFUSED(PMPI_Irecv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* q), b, n, t, from, tag,
        c, q)
extern "C" EVERYWHERE int PMPI_Testall(int n, MPI_Request* q, int* flag, MPI_Status* s) {
  NEXT(PMPI_Testall);
  return fails_test ? MPI_ERR_OTHER : next(n, q, flag, s);
}

namespace {

/// The host's own work: a sum whose value all ranks know.
void compute(int step) {
  const int rank = my_rank(MPI_COMM_WORLD), size = ranks_of(MPI_COMM_WORLD);
  long mine = step + rank, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == static_cast<long>(size) * step + static_cast<long>(size) * (size - 1) / 2);
}

int count(const effort_hint*, void* calls) { return ++*static_cast<int*>(calls) % 2; }

/// What must be the same on all ranks.
struct Seen {
  int off_at = -1, calls = 0;
  effort_status snapshot = EFFORT_OK, ended = EFFORT_OK;
};

Seen session(bool finalizes = true) {
  const char* const pairs[] = {"WINDOW", "4", nullptr};
  effort_config* config = config_of(pairs);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, config));
  effort_config_free(config);
  Seen seen;
  CHECK_OK(effort_on_rebalance(count, &seen.calls));
  effort_region_id solve;
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  for (int s = 0; s < 14; ++s) {
    if (seen.off_at < 0) effort_add(solve, 1.0 + my_rank(MPI_COMM_WORLD));
    const effort_status status = effort_progress_step();
    CHECK(status == EFFORT_OK || status == EFFORT_ERR_SWITCHED_OFF);
    CHECK(seen.off_at < 0 || status == EFFORT_ERR_SWITCHED_OFF);
    if (status != EFFORT_OK && seen.off_at < 0) seen.off_at = s;
    compute(s);
  }
  if (!finalizes) return seen;
  seen.ended = effort_finalize();
  CHECK(seen.ended == EFFORT_OK || seen.ended == EFFORT_ERR_SWITCHED_OFF);
  return seen;
}

/// @return whether any operation was refused
bool run(int culprit, long n) {
  const int before = check_failed;
  communicators = 0;
  refused = 0;
  left = my_rank(MPI_COMM_WORLD) == culprit ? n : LONG_MAX;
  const Seen seen = session();
  left = LONG_MAX;
  fails_test = false;
  long any = refused;
  MPI_Bcast(&any, 1, MPI_LONG, culprit, MPI_COMM_WORLD);
  if (any == 0 || !when_tested) {
    CHECK(same_everywhere(&seen, sizeof seen, MPI_COMM_WORLD));
    CHECK((any == 0) == (seen.ended == EFFORT_OK));
  }
  // Only that of the leaders may be kept: operations on it are pending.
  CHECK(communicators <= (any > 0));
  if (check_failed > before)
    std::fprintf(stderr, "rank %d: operation %ld on rank %d: off at %d, %d hints, ended with %d\n",
                 my_rank(MPI_COMM_WORLD), n, culprit, seen.off_at, seen.calls, seen.ended);
  return any > 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  start_mpi(&argc, &argv, argv[1]);
  when_tested = std::strcmp(argv[2], "test") == 0;
  const long stride = std::atol(argv[3]);
  const int size = ranks_of(MPI_COMM_WORLD);
  int culprit = 0, spared = 0;  // ranks that are not leaders refuse nothing
  long sessions = 0;
  for (long n = 1; spared < size; n += stride, culprit = (culprit + 1) % size) {
    const bool any = run(culprit, n);
    spared = any ? 0 : spared + 1;
    sessions += any;
  }
  CHECK(sessions > 5);
  if (my_rank(MPI_COMM_WORLD) == 0) std::printf("%ld sessions in which an operation was refused\n", sessions);
  if (argc > 4) {
    left = my_rank(MPI_COMM_WORLD) == 0 ? 30 : LONG_MAX;
    CHECK(session(false).off_at > 0);
    left = LONG_MAX;
  }
  const int failed = failures_of_all();
  MPI_Finalize();
  if (argc > 4 && failed == 0 && std::strcmp(argv[4], "thread_exit") == 0) pthread_exit(nullptr);
  return failed != 0;
}
