/* The system resources that a process holds, from /proc/self and the allocator. */
#ifndef EFFORT_TESTS_HELD_H
#define EFFORT_TESTS_HELD_H

#include "check.h"

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

struct Held {
  long threads, descriptors, mappings, resident, allocated; /* the last two in bytes */
};

static inline long entries_of(const char* directory) {
  long n = -2; /* itself and its parent */
  DIR* d = opendir(directory);
  if (!d) return -1;
  while (readdir(d)) ++n;
  closedir(d);
  return n;
}

static inline struct Held held_now(void) {
  struct Held held = {entries_of("/proc/self/task"), entries_of("/proc/self/fd"), 0, 0, 0};
  char line[512];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) held.mappings += strchr(line, '\n') != NULL;
  if (maps) fclose(maps);
  long pages = 0;
  FILE* statm = fopen("/proc/self/statm", "r");
  if (statm && fscanf(statm, "%*d %ld", &pages) == 1) held.resident = pages * sysconf(_SC_PAGESIZE);
  if (statm) fclose(statm);
  const struct mallinfo2 heap = mallinfo2();
  held.allocated = (long)(heap.uordblks + heap.hblkhd);
  return held;
}

/* Checks that the process holds the same resources as `before`.  The allocator counts memory that it retains for the
 * next thread as allocated.  That grew by 20 KiB over some thousand sessions, and then no more.  MPICH 4.2 by itself
 * touches 0.8 MiB more while communicators come and go, after 60 of them as after 3,000. */
static inline void check_held_is(const struct Held* before) {
#if defined(MPICH_VERSION)
  enum { kept_back = 1 << 16, touched_by_mpi = 1 << 20 };
#else
  enum { kept_back = 1 << 16, touched_by_mpi = 0 };
#endif
  const struct Held now = held_now();
  printf("threads %ld, descriptors %ld, mappings %ld; bytes resident %ld (%+ld), allocated %ld (%+ld)\n", now.threads,
         now.descriptors, now.mappings, now.resident, now.resident - before->resident, now.allocated,
         now.allocated - before->allocated);
  CHECK(now.threads == before->threads);
  CHECK(now.descriptors == before->descriptors);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these bring their own allocators */
  CHECK(now.mappings <= before->mappings + 2);
  CHECK(now.allocated - before->allocated < kept_back);
  CHECK(now.resident - before->resident < 4 * kept_back + touched_by_mpi);
#endif
}

/* Removes the files in a directory and gives their number. */
static inline int emptied(const char* path) {
  int files = 0;
  DIR* d = opendir(path);
  for (struct dirent* e = d ? readdir(d) : NULL; e; e = readdir(d)) {
    char name[700];
    snprintf(name, sizeof name, "%s/%s", path, e->d_name);
    if (unlink(name) == 0) ++files;
  }
  if (d) closedir(d);
  return files;
}

#endif
