/* unloaded LIBRARY: a plugin that loads the library, uses it and closes it before MPI_Finalize. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int failed = 0;
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  int (*init)(MPI_Comm, const void*);
  int (*step)(void);
  int (*finalize)(void);
  *(void**)&init = dlsym(library, "effort_init_mpi");
  *(void**)&step = dlsym(library, "effort_progress_step");
  *(void**)&finalize = dlsym(library, "effort_finalize");
  failed |= init(MPI_COMM_WORLD, NULL);
  for (int s = 0; s < 25; ++s) failed |= step();
  failed |= finalize();
  dlclose(library);
  MPI_Finalize();
  return failed != 0;
}
