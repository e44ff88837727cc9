/* Counts the communicators and attribute keys that the library makes and frees.  Requires _GNU_SOURCE. */
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Communicators and keys of attributes that the library has made and not freed: it calls MPI by these names. */
static long communicators, keys;

#define EVERYWHERE __attribute__((visibility("default")))
#define NEXT(name)               \
  static __typeof__(&name) next; \
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name)

static int counted(int result, const MPI_Comm* made) {
  if (result == MPI_SUCCESS && *made != MPI_COMM_NULL) ++communicators;
  return result;
}

EVERYWHERE int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  NEXT(PMPI_Comm_dup);
  return counted(next(comm, made), made);
}
EVERYWHERE int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  NEXT(PMPI_Comm_split);
  return counted(next(comm, color, key, made), made);
}
EVERYWHERE int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  NEXT(PMPI_Comm_split_type);
  return counted(next(comm, type, key, info, made), made);
}
EVERYWHERE int PMPI_Comm_free(MPI_Comm* comm) {
  NEXT(PMPI_Comm_free);
  --communicators;
  return next(comm);
}
EVERYWHERE int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* drop, int* key,
                                       void* extra) {
  NEXT(PMPI_Comm_create_keyval);
  ++keys;
  return next(copy, drop, key, extra);
}
EVERYWHERE int PMPI_Comm_free_keyval(int* key) {
  NEXT(PMPI_Comm_free_keyval);
  --keys;
  return next(key);
}

#ifdef __cplusplus
}
#endif
