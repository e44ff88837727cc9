/* A host whose second session has a thread that made MPI calls in the first one.  By then the adapter's ids stand for
 * other regions.  The first session's snapshot goes to a separate folder. */
#define _GNU_SOURCE
#include <effort/effort_mpi.h>

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static pthread_barrier_t turn;
static int rank, wrong;

static void talk(int times) {
  for (int i = 0; i < times; ++i) {
    int got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 3, &got, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong |= got != 1 - rank;
  }
}

static void* worker(void* unused) {
  const int times[2] = {100, 300};
  for (int session = 0; session < 2; ++session) {
    pthread_barrier_wait(&turn);
    talk(times[session]);
    pthread_barrier_wait(&turn);
  }
  return unused;
}

static void have_worker_talk(void) {
  pthread_barrier_wait(&turn);
  pthread_barrier_wait(&turn);
}

int main(int argc, char** argv) {
  int level;
  const char* folder = getenv("EFFORT_SNAPSHOT_DIR");
  char* second = strdup(folder ? folder : ".");
  mkdir("first", 0777);
  setenv("EFFORT_SNAPSHOT_DIR", "first", 1);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int bad = !second || level != MPI_THREAD_MULTIPLE || effort_init_mpi(MPI_COMM_WORLD, NULL) != EFFORT_OK;
  pthread_t thread;
  bad |= pthread_barrier_init(&turn, NULL, 2) != 0 || pthread_create(&thread, NULL, worker, NULL) != 0;
  if (bad) MPI_Abort(MPI_COMM_WORLD, 2);
  have_worker_talk();
  bad |= effort_progress_step() != EFFORT_OK || effort_finalize() != EFFORT_OK;

  setenv("EFFORT_SNAPSHOT_DIR", second, 1);
  bad |= effort_init_mpi(MPI_COMM_WORLD, NULL) != EFFORT_OK;
  for (int i = 0; i < 8; ++i) {
    char name[16];
    effort_region_id region;
    snprintf(name, sizeof name, "other %d", i);
    bad |= effort_region(name, EFFORT_COMPUTE, &region) != EFFORT_OK;
  }
  have_worker_talk();
  bad |= effort_progress_step() != EFFORT_OK || effort_finalize() != EFFORT_OK;
  pthread_join(thread, NULL);
  MPI_Finalize();
  free(second);
  return bad || wrong;
}
