/* Preloaded into a host.  Calls from libeffort to the C library fail, are short or slow, or raise a signal.  Calls by
 * the host and by MPI are unaffected.
 *
 *   FAULT_CALL=NAME|any   the function
 *   FAULT_AT=N            the N-th such call of the process, from 1; FAULT_ALWAYS=1: all calls from there on
 *   FAULT_WHAT=errno:N | short | slow:MICROSECONDS | signal:N | jump:SECONDS
 *   FAULT_RANK=R          on this rank only
 *   FAULT_COUNT=FILE      writes the number of such calls at exit */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EVERYWHERE __attribute__((visibility("default")))
#define NEXT(name)               \
  static __typeof__(&name) next; \
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name)

struct Range {
  uintptr_t first, end;
};
/* Code of libeffort, and of the libraries that it calls through: the C and C++ libraries, hwloc, and this one. */
static struct Range library[8], between[8];
static int n_library, n_between;
static const char *call, *what = "";
static long at, number;
static int always, on;
static atomic_long calls;
static __thread int inside;

static int note(struct dl_phdr_info* info, size_t bytes, void* unused) {
  (void)bytes;
  (void)unused;
  const char* name = strrchr(info->dlpi_name, '/');
  const int ours = name && strncmp(name, "/libeffort", 10) == 0;
  /* hwloc ends the process if it gets no memory. */
  const int hwloc = strcmp(call, "malloc") != 0 && name && strncmp(name, "/libhwloc", 9) == 0;
  const int passed = hwloc || (name && (strncmp(name, "/libfaults", 10) == 0 || strncmp(name, "/libstdc++", 10) == 0 ||
                                        strncmp(name, "/libc.so", 8) == 0));
  for (int i = 0; i < info->dlpi_phnum && (ours || passed); ++i) {
    const ElfW(Phdr)* p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
    const struct Range range = {info->dlpi_addr + p->p_vaddr, info->dlpi_addr + p->p_vaddr + p->p_memsz};
    if (ours && n_library < 8) library[n_library++] = range;
    if (passed && n_between < 8) between[n_between++] = range;
  }
  return 0;
}

static int within(const struct Range* ranges, int n, uintptr_t address) {
  for (int i = 0; i < n; ++i)
    if (address >= ranges[i].first && address < ranges[i].end) return 1;
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  const char *mine = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK"),
             *rank = getenv("FAULT_RANK");
  void* frame;
  call = getenv("FAULT_CALL");
  if (getenv("FAULT_AT")) at = atol(getenv("FAULT_AT"));
  if (getenv("FAULT_WHAT")) what = getenv("FAULT_WHAT");
  if (strchr(what, ':')) number = atol(strchr(what, ':') + 1);
  always = getenv("FAULT_ALWAYS") != NULL;
  backtrace(&frame, 1); /* loads what backtrace needs */
  if (call) dl_iterate_phdr(note, NULL);
  on = call && n_library > 0 && (!rank || !mine || strcmp(rank, mine) == 0);
}

__attribute__((destructor)) static void end(void) {
  const char* path = getenv("FAULT_COUNT");
  on = 0;
  FILE* f = path ? fopen(path, "w") : NULL;
  if (!f) return;
  fprintf(f, "%ld\n", (long)calls);
  fclose(f);
}

/* Whether the call comes from the library, directly or through one of these libraries. */
static int from_the_library(void) {
  void* frames[24];
  const int n = backtrace(frames, 24);
  for (int i = 0; i < n; ++i) {
    const uintptr_t address = (uintptr_t)frames[i];
    if (within(library, n_library, address)) return 1;
    if (!within(between, n_between, address)) return 0;
  }
  return 0;
}

/* Whether this call fails. Signals are raised and delays made here; the call is then made as usual. */
static int hit(const char* name) {
  if (!on || inside || (strcmp(call, name) != 0 && strcmp(call, "any") != 0)) return 0;
  inside = 1;
  const int error = errno, counted = from_the_library();
  inside = 0;
  errno = error;
  if (!counted) return 0;
  const long n = atomic_fetch_add(&calls, 1) + 1;
  if (n < at || at == 0 || (n > at && !always)) return 0;
  if (strncmp(what, "signal", 6) == 0) {
    kill(getpid(), (int)number);
    return 0;
  }
  if (strncmp(what, "slow", 4) == 0) {
    usleep((useconds_t)number);
    return 0;
  }
  return 1;
}

static int fails(const char* name) {
  const int happens = hit(name) && strncmp(what, "errno", 5) == 0;
  if (happens) errno = (int)number;
  return happens;
}

#define OPENS(name, parameters, ...)                            \
  EVERYWHERE int name parameters {                              \
    NEXT(name);                                                 \
    mode_t mode = 0;                                            \
    if (flags & (O_CREAT | O_TMPFILE)) {                        \
      va_list more;                                             \
      va_start(more, flags);                                    \
      mode = va_arg(more, mode_t);                              \
      va_end(more);                                             \
    }                                                           \
    return fails("open") ? -1 : next(__VA_ARGS__, flags, mode); \
  }
OPENS(open, (const char* path, int flags, ...), path)
OPENS(open64, (const char* path, int flags, ...), path)
OPENS(openat, (int directory, const char* path, int flags, ...), directory, path)
OPENS(openat64, (int directory, const char* path, int flags, ...), directory, path)

/* A partial write counts as a success. */
EVERYWHERE ssize_t write(int fd, const void* data, size_t bytes) {
  NEXT(write);
  if (hit("write")) {
    if (strcmp(what, "short") == 0) return next(fd, data, bytes > 1 ? bytes / 2 : bytes);
    errno = (int)number;
    return -1;
  }
  return next(fd, data, bytes);
}
EVERYWHERE ssize_t writev(int fd, const struct iovec* parts, int n) {
  NEXT(writev);
  if (hit("write")) {
    if (strcmp(what, "short") == 0) return next(fd, parts, 1);
    errno = (int)number;
    return -1;
  }
  return next(fd, parts, n);
}

#define FAILS(result, name, parameters, failed, ...)    \
  EVERYWHERE result name parameters {                   \
    NEXT(name);                                         \
    return fails(#name) ? (failed) : next(__VA_ARGS__); \
  }
FAILS(ssize_t, read, (int fd, void* data, size_t bytes), -1, fd, data, bytes)
FAILS(ssize_t, pread, (int fd, void* data, size_t bytes, off_t from), -1, fd, data, bytes, from)
FAILS(int, ftruncate, (int fd, off_t bytes), -1, fd, bytes)
FAILS(int, posix_fallocate, (int fd, off_t from, off_t bytes), (int)number, fd, from, bytes)
FAILS(int, fsync, (int fd), -1, fd)
FAILS(int, link, (const char* from, const char* to), -1, from, to)
FAILS(int, linkat, (int d, const char* from, int e, const char* to, int flags), -1, d, from, e, to, flags)
FAILS(int, rename, (const char* from, const char* to), -1, from, to)
FAILS(int, mkdir, (const char* path, mode_t mode), -1, path, mode)
FAILS(int, memfd_create, (const char* name, unsigned flags), -1, name, flags)
FAILS(int, shm_open, (const char* name, int flags, mode_t mode), -1, name, flags, mode)
FAILS(void*, mmap, (void* to, size_t bytes, int protection, int flags, int fd, off_t from), MAP_FAILED, to, bytes,
      protection, flags, fd, from)
FAILS(FILE*, fopen, (const char* path, const char* mode), NULL, path, mode)
FAILS(FILE*, fopen64, (const char* path, const char* mode), NULL, path, mode)
FAILS(int, pthread_create, (pthread_t * t, const pthread_attr_t* a, void* (*f)(void*), void* x), (int)number, t, a, f,
      x)
FAILS(void*, malloc, (size_t bytes), NULL, bytes)
FAILS(void*, aligned_alloc, (size_t to, size_t bytes), NULL, to, bytes)

/* From the N-th call on, the clock is that many seconds ahead or behind. */
EVERYWHERE int clock_gettime(clockid_t clock, struct timespec* now) {
  NEXT(clock_gettime);
  const int result = next(clock, now);
  if (hit("clock_gettime") && strncmp(what, "jump", 4) == 0) now->tv_sec += number;
  return result;
}
