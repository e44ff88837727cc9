/* Preloaded into a host.  Calls from libeffort to the C library fail, are short or slow, or raise a signal.  Calls by
 * the host and by MPI are unaffected.
 *
 *   FAULT_CALL=NAME|any   the function
 *   FAULT_AT=N            the N-th such call of the process, from 1; FAULT_ALWAYS=1: all calls from there on
 *   FAULT_WHAT=errno:N | short | slow:MICROSECONDS | signal:N | jump:SECONDS
 *   FAULT_RANK=R          on this rank only
 *   FAULT_FIRED=FILE      a line is added to FILE when the N-th call is made and the fault happens
 *   FAULT_ALSO=NAME:ERRNO,...   these functions always fail, on all ranks, so that the library calls others instead
 *   FAULT_COUNT=FILE      at exit, FILE.RANK gets the number of calls of each function
 *
 * An open with O_TMPFILE is called tmpfile here. */
#define _GNU_SOURCE
#include <dirent.h>
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
#include <sys/syscall.h>
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
/* Code of libeffort, of hwloc, and of other libraries that it calls through: the C and C++ libraries, and this one. */
static struct Range library[8], between[8], hwloc[8];
static int n_library, n_between, n_hwloc;
static const char *call = "", *what = "", *also = "", *fired, *mine;
static long at, number;
static int always, counting, on, on_this_rank;
static atomic_long calls;
static __thread int inside;

static const char* const names[] = {
    "open",   "tmpfile", "fopen",  "write",     "read",           "pread",         "ftruncate",       "fsync",
    "linkat", "link",    "rename", "renameat2", "unlink",         "memfd_create",  "posix_fallocate", "mkdir",
    "mmap",   "opendir", "malloc", "shm_open",  "pthread_create", "aligned_alloc", "clock_gettime",
};
enum { n_names = sizeof names / sizeof *names };
static atomic_long counts[n_names];

static int note(struct dl_phdr_info* info, size_t bytes, void* unused) {
  (void)bytes;
  (void)unused;
  const char* name = strrchr(info->dlpi_name, '/');
  const int ours = name && strncmp(name, "/libeffort", 10) == 0;
  const int is_hwloc = name && strncmp(name, "/libhwloc", 9) == 0;
  const int passed = name && (strncmp(name, "/libfaults", 10) == 0 || strncmp(name, "/libstdc++", 10) == 0 ||
                              strncmp(name, "/libc.so", 8) == 0);
  for (int i = 0; i < info->dlpi_phnum && (ours || passed || is_hwloc); ++i) {
    const ElfW(Phdr)* p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
    const struct Range range = {info->dlpi_addr + p->p_vaddr, info->dlpi_addr + p->p_vaddr + p->p_memsz};
    if (ours && n_library < 8) library[n_library++] = range;
    if (passed && n_between < 8) between[n_between++] = range;
    if (is_hwloc && n_hwloc < 8) hwloc[n_hwloc++] = range;
  }
  return 0;
}

static int within(const struct Range* ranges, int n, uintptr_t address) {
  for (int i = 0; i < n; ++i)
    if (address >= ranges[i].first && address < ranges[i].end) return 1;
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  const char* rank = getenv("FAULT_RANK");
  void* frame;
  mine = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
  counting = getenv("FAULT_COUNT") != NULL;
  fired = getenv("FAULT_FIRED");
  if (getenv("FAULT_CALL")) call = getenv("FAULT_CALL");
  if (getenv("FAULT_ALSO")) also = getenv("FAULT_ALSO");
  if (getenv("FAULT_AT")) at = atol(getenv("FAULT_AT"));
  if (getenv("FAULT_WHAT")) what = getenv("FAULT_WHAT");
  if (strchr(what, ':')) number = atol(strchr(what, ':') + 1);
  always = getenv("FAULT_ALWAYS") != NULL;
  backtrace(&frame, 1); /* loads what backtrace needs */
  if (*call || *also || counting) dl_iterate_phdr(note, NULL);
  on = n_library > 0;
  on_this_rank = !rank || !mine || strcmp(rank, mine) == 0;
}

__attribute__((destructor)) static void end(void) {
  char path[700];
  if (!counting || n_library == 0) return;
  on = 0;
  snprintf(path, sizeof path, "%s.%s", getenv("FAULT_COUNT"), mine ? mine : "0");
  FILE* f = fopen(path, "w");
  if (!f) return;
  for (int i = 0; i < n_names; ++i) fprintf(f, "%s %ld\n", names[i], (long)counts[i]);
  fclose(f);
}

/* Whether the call comes from the library, directly or through one of these libraries.  Allocations by hwloc are not
 * counted, because it ends the process if it gets no memory. */
static int from_the_library(int through_hwloc) {
  void* frames[24];
  const int n = backtrace(frames, 24);
  for (int i = 0; i < n; ++i) {
    const uintptr_t address = (uintptr_t)frames[i];
    if (within(library, n_library, address)) return 1;
    if (!within(between, n_between, address) && !(through_hwloc && within(hwloc, n_hwloc, address))) return 0;
  }
  return 0;
}

/* To be evaluated in the function that takes the place of another. */
#define CALLER ((uintptr_t)__builtin_return_address(0))

static int comes_from_the_library(const char* name, uintptr_t caller) {
  /* Most calls are MPI's, and need no trace of the stack. */
  if (!within(library, n_library, caller) && !within(between, n_between, caller) && !within(hwloc, n_hwloc, caller))
    return 0;
  inside = 1;
  const int error = errno, comes = from_the_library(strcmp(name, "malloc") != 0 && strcmp(name, "aligned_alloc") != 0);
  inside = 0;
  errno = error;
  return comes;
}

static void record(const char* name) {
  char line[100];
  const int error = errno;
  const int n = snprintf(line, sizeof line, "%s %s %ld\n", mine ? mine : "0", name, at);
  const int file = (int)syscall(SYS_openat, AT_FDCWD, fired, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file >= 0) {
    if (syscall(SYS_write, file, line, (size_t)n) != n) perror("record");
    syscall(SYS_close, file);
  }
  errno = error;
}

/* Whether this call fails. Signals are raised and delays made here; the call is then made as usual. */
static int hit(const char* name, uintptr_t caller) {
  if (!on || inside || !on_this_rank) return 0;
  const int meant = strcmp(call, name) == 0 || strcmp(call, "any") == 0;
  if ((!meant && !counting) || !comes_from_the_library(name, caller)) return 0;
  for (int i = 0; i < n_names && counting; ++i)
    if (strcmp(names[i], name) == 0) atomic_fetch_add(&counts[i], 1);
  if (!meant) return 0;
  const long n = atomic_fetch_add(&calls, 1) + 1;
  if (n < at || at == 0 || (n > at && !always)) return 0;
  if (n == at && fired) record(name);
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

/* The error of a function that always fails; 0 if it does not. */
static int fails_always(const char* name, uintptr_t caller) {
  const size_t length = strlen(name);
  if (!on || inside) return 0;
  for (const char* p = also; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
    if (strncmp(p, name, length) == 0 && p[length] == ':' && comes_from_the_library(name, caller))
      return atoi(p + length + 1);
  return 0;
}

static int fails(const char* name, uintptr_t caller) {
  const int error = hit(name, caller) && strncmp(what, "errno", 5) == 0 ? (int)number : fails_always(name, caller);
  if (error != 0) errno = error;
  return error != 0;
}

#define OPENS(name, parameters, ...)                                                          \
  EVERYWHERE int name parameters {                                                            \
    NEXT(name);                                                                               \
    mode_t mode = 0;                                                                          \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                      \
      va_list more;                                                                           \
      va_start(more, flags);                                                                  \
      mode = va_arg(more, mode_t);                                                            \
      va_end(more);                                                                           \
    }                                                                                         \
    const int unnamed = (flags & O_TMPFILE) == O_TMPFILE;                                     \
    return fails(unnamed ? "tmpfile" : "open", CALLER) ? -1 : next(__VA_ARGS__, flags, mode); \
  }
OPENS(open, (const char* path, int flags, ...), path)
OPENS(open64, (const char* path, int flags, ...), path)
OPENS(openat, (int directory, const char* path, int flags, ...), directory, path)
OPENS(openat64, (int directory, const char* path, int flags, ...), directory, path)

/* A partial write counts as a success. */
EVERYWHERE ssize_t write(int fd, const void* data, size_t bytes) {
  NEXT(write);
  if (hit("write", CALLER)) {
    if (strcmp(what, "short") == 0) return next(fd, data, bytes > 1 ? bytes / 2 : bytes);
    errno = (int)number;
    return -1;
  }
  return next(fd, data, bytes);
}
EVERYWHERE ssize_t writev(int fd, const struct iovec* parts, int n) {
  NEXT(writev);
  if (hit("write", CALLER)) {
    if (strcmp(what, "short") == 0) return next(fd, parts, 1);
    errno = (int)number;
    return -1;
  }
  return next(fd, parts, n);
}

#define FAILS(result, name, parameters, failed, ...)            \
  EVERYWHERE result name parameters {                           \
    NEXT(name);                                                 \
    return fails(#name, CALLER) ? (failed) : next(__VA_ARGS__); \
  }
FAILS(ssize_t, read, (int fd, void* data, size_t bytes), -1, fd, data, bytes)
FAILS(ssize_t, pread, (int fd, void* data, size_t bytes, off_t from), -1, fd, data, bytes, from)
FAILS(int, ftruncate, (int fd, off_t bytes), -1, fd, bytes)
FAILS(int, posix_fallocate, (int fd, off_t from, off_t bytes), (int)number, fd, from, bytes)
FAILS(int, fsync, (int fd), -1, fd)
FAILS(int, link, (const char* from, const char* to), -1, from, to)
FAILS(int, linkat, (int d, const char* from, int e, const char* to, int flags), -1, d, from, e, to, flags)
FAILS(int, rename, (const char* from, const char* to), -1, from, to)
FAILS(int, renameat2, (int d, const char* from, int e, const char* to, unsigned flags), -1, d, from, e, to, flags)
FAILS(int, unlink, (const char* path), -1, path)
FAILS(DIR*, opendir, (const char* path), NULL, path)
FAILS(int, mkdir, (const char* path, mode_t mode), -1, path, mode)
FAILS(int, memfd_create, (const char* name, unsigned flags), -1, name, flags)
FAILS(int, shm_open, (const char* name, int flags, mode_t mode), -1, name, flags, mode)
FAILS(void*, mmap, (void* to, size_t bytes, int protection, int flags, int fd, off_t from), MAP_FAILED, to, bytes,
      protection, flags, fd, from)
FAILS(FILE*, fopen, (const char* path, const char* mode), NULL, path, mode)
/* libstdc++ opens files by fopen64 up to GCC 12 and by fopen since GCC 13, so both count as fopen. */
EVERYWHERE FILE* fopen64(const char* path, const char* mode) {
  NEXT(fopen64);
  return fails("fopen", CALLER) ? NULL : next(path, mode);
}
FAILS(int, pthread_create, (pthread_t * t, const pthread_attr_t* a, void* (*f)(void*), void* x), (int)number, t, a, f,
      x)
FAILS(void*, malloc, (size_t bytes), NULL, bytes)
FAILS(void*, aligned_alloc, (size_t to, size_t bytes), NULL, to, bytes)

/* From the N-th call on, the clock is that many seconds ahead or behind. */
EVERYWHERE int clock_gettime(clockid_t clock, struct timespec* now) {
  NEXT(clock_gettime);
  const int result = next(clock, now);
  if (hit("clock_gettime", CALLER) && strncmp(what, "jump", 4) == 0) now->tv_sec += number;
  return result;
}
