// out_of_memory LEVEL WHERE STRIDE: an allocation of a rank inside the library fails: once only that one, and once also
// all that follow.  WHERE: `host`, every STRIDE-th in the calls of rank 1; `background`, on the last rank's background
// thread, which makes 12,000 in a session, the first at every STRIDE-th place that a clean session comes through (a
// place is a stack of calls); `limit`, on rank 1 under limits of its address space (RLIMIT_AS) that begin after init.
// The rule after each session: nothing hangs, the host's own results are right, and all ranks begin or do not, hear the
// same hints, and switch off at the same step.
//
// All functions that allocate are refused, also on behalf of the C and C++ libraries when these are called by the
// library: not what MPI and hwloc allocate.
#include "counted_communicators.h"
#include "mpi_check.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include <execinfo.h>
#include <link.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

enum class Where { host, background, limit };
Where where = Where::host;
std::atomic<bool> armed{false}, ever{false};
std::atomic<long> left{0}, refused{0};
thread_local bool in_library = false;

bool on_background_thread() {
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  return std::strcmp(name, "effort") == 0;
}

/// A part of the code of effort, of this program, or of a C or C++ library.
struct Code {
  std::uintptr_t first, end;
  bool passes_on;  ///< it is a C or C++ library: its allocations are those of its caller
};
std::array<Code, 32> code;
std::size_t n_code = 0;

int note_code(dl_phdr_info* object, std::size_t, void*) {
  const std::string path = object->dlpi_name;
  const std::string name = path.substr(path.rfind('/') + 1);
  bool passes_on = false;
  for (const char* const start : {"libc.so", "libstdc++", "libc++", "libgcc_s", "ld-"})
    passes_on = passes_on || name.starts_with(start);
  if (!passes_on && !path.empty() && !name.starts_with("libeffort")) return 0;
  for (int i = 0; i < object->dlpi_phnum && n_code < code.size(); ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const std::uintptr_t first = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X)) code[n_code++] = {first, first + part.p_memsz, passes_on};
  }
  return 0;
}

const Code* code_at(std::uintptr_t address) {
  const auto end = code.begin() + static_cast<std::ptrdiff_t>(n_code);
  const auto at = std::find_if(code.begin(), end, [&](const Code& c) { return address >= c.first && address < c.end; });
  return at == end ? nullptr : &*at;
}

thread_local bool tracing = false;
/// The calls that have led to an allocation, innermost first.
struct Stack {
  void* frames[32];
  int n;
  Stack() {
    tracing = true;
    n = backtrace(frames, 32);
    tracing = false;
  }
};

/// @param caller  of the function that allocates
bool is_for_library(void* caller) {
  const Code* from = code_at(reinterpret_cast<std::uintptr_t>(caller));
  if (!from || !from->passes_on) return from != nullptr;
  const Stack stack;
  int i = 0;
  while (i < stack.n && stack.frames[i] != caller) ++i;
  for (; i < stack.n && from && from->passes_on; ++i) from = code_at(reinterpret_cast<std::uintptr_t>(stack.frames[i]));
  return from && !from->passes_on;
}

/// Places of the background thread's allocations, in the order of first use; without allocations of its own.
struct Places {
  std::array<std::uint64_t, 16384> known;
  std::size_t count = 0;
  bool record = false;       ///< add those that are met; refuse nothing
  std::uint64_t wanted = 0;  ///< the place to refuse at
  bool reached = false;
};
Places places;

std::uint64_t place() {
  const Stack stack;
  std::uint64_t hash = 14695981039346656037u;
  for (int i = 0; i < stack.n; ++i) hash = (hash ^ reinterpret_cast<std::uintptr_t>(stack.frames[i])) * 1099511628211u;
  return hash;
}

bool refuses_at_place() {
  if (places.reached) return ever;
  const std::uint64_t here = place();
  if (places.record) {
    const auto end = places.known.begin() + static_cast<std::ptrdiff_t>(places.count);
    if (places.count < places.known.size() && std::find(places.known.begin(), end, here) == end)
      places.known[places.count++] = here;
    return false;
  }
  return places.reached = here == places.wanted;
}

bool refuses(void* caller) {
  if (!armed.load(std::memory_order_relaxed) || tracing) return false;
  if (where == Where::host ? !in_library : !on_background_thread()) return false;
  const int error = errno;
  const bool counts = is_for_library(caller);
  errno = error;
  if (!counts) return false;
  if (where == Where::background) {
    if (!refuses_at_place()) return false;
  } else {
    const long n = --left;
    if (n > 0 || (n < 0 && !ever)) return false;
  }
  ++refused;
  errno = ENOMEM;
  return true;
}

}  // namespace

#define REFUSES refuses(__builtin_return_address(0))
#pragma GCC visibility push(default)
extern "C" {
void* malloc(std::size_t bytes) { return REFUSES ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t n, std::size_t bytes) { return REFUSES ? nullptr : __libc_calloc(n, bytes); }
void* realloc(void* old, std::size_t bytes) { return REFUSES ? nullptr : __libc_realloc(old, bytes); }
void* memalign(std::size_t to, std::size_t bytes) { return REFUSES ? nullptr : __libc_memalign(to, bytes); }
void* aligned_alloc(std::size_t to, std::size_t bytes) { return REFUSES ? nullptr : __libc_memalign(to, bytes); }
int posix_memalign(void** out, std::size_t to, std::size_t bytes) {
  void* const memory = REFUSES ? nullptr : __libc_memalign(to, bytes);
  if (!memory) return ENOMEM;
  *out = memory;
  return 0;
}
}
#pragma GCC visibility pop

namespace {

int rank, size;
std::string directory;

template <typename Call>
effort_status in(const Call& call) {
  in_library = true;
  const effort_status status = call();
  in_library = false;
  return status;
}

/// The host's own work: a sum whose value all ranks know.
void compute(int step) {
  long mine = step + rank, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == static_cast<long>(size) * step + static_cast<long>(size) * (size - 1) / 2);
}

int rebalance(const effort_hint* hint, void* calls) {
  const bool inside = in_library;
  in_library = false;
  ++*static_cast<int*>(calls);
  compute(static_cast<int>(hint->step));
  in_library = inside;
  return *static_cast<int*>(calls) % 2;
}

bool acceptable(effort_status s) { return s == EFFORT_OK || s == EFFORT_ERR_MEMORY || s == EFFORT_ERR_SWITCHED_OFF; }

void set_address_space(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
  setrlimit(RLIMIT_AS, &limit);
}

/// Bytes of address space in use.
rlim_t address_space() {
  long pages = 0;
  if (FILE* statm = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(statm, "%ld", &pages) != 1) pages = 0;
    std::fclose(statm);
  }
  return static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

struct Seen {
  int began, off_at, calls;
};

/// Runs one session and returns what must be the same on all ranks.
Seen session(rlim_t room) {
  constexpr int steps = 24;
  const char* const pairs[] = {"WINDOW",          "4",       "SNAPSHOT_EVERY", "12",   "SNAPSHOT_DIR",
                               directory.c_str(), "METRICS", "time,calls",     nullptr};
  effort_config* config = config_of(pairs);
  int calls = 0;
  Seen seen{0, -1, 0};
  seen.began = in([&] { return effort_init_mpi(MPI_COMM_WORLD, config); }) == EFFORT_OK;
  effort_config_free(config);
  if (!seen.began) return seen;
  if (room > 0) set_address_space(address_space() + room);
  CHECK_OK(in([&] { return effort_on_rebalance(rebalance, &calls); }));
  for (int s = 0; s < steps; ++s) {
    char name[32];
    snprintf(name, sizeof name, "region %d", s % 12);
    effort_region_id region = 0;
    effort_work_id cells = 0;
    CHECK(acceptable(in([&] { return effort_region(name, EFFORT_COMPUTE, &region); })));
    if (region > 0 && in([&] { return effort_begin(region); }) == EFFORT_OK) in([&] { return effort_end(region); });
    if (region > 0) CHECK(acceptable(in([&] { return effort_add(region, 1.0 + rank); })));
    if (in([&] { return effort_work_unit("cells", &cells); }) == EFFORT_OK)
      CHECK(acceptable(in([&] { return effort_work(cells, 100); })));
    const effort_status status = in([] { return effort_progress_step(); });
    CHECK(status == EFFORT_OK || status == EFFORT_ERR_SWITCHED_OFF);
    CHECK(seen.off_at < 0 || status == EFFORT_ERR_SWITCHED_OFF);
    if (status != EFFORT_OK && seen.off_at < 0) seen.off_at = s;
    if (s == 17) {
      const effort_status written = in([] { return effort_snapshot(nullptr); });
      CHECK(acceptable(written) || written == EFFORT_ERR_IO);
    }
    compute(s);
  }
  const effort_status ended = in([] { return effort_finalize(); });
  CHECK(acceptable(ended) || ended == EFFORT_ERR_IO);
  CHECK(effort_progress_step() == EFFORT_ERR_NOT_INITIALIZED);
  seen.calls = calls;
  return seen;
}

/// Leftovers of a refused session must not affect the next one.
void clean_session() {
  const Seen seen = session(0);
  CHECK(seen.began && seen.off_at == -1 && seen.calls == 5);
  compute(0);
}

/// Whether any allocation was refused.
bool run(int culprit, long n, bool all_that_follow) {
  const int before = failures();
  left = n;
  places.wanted = n > 0 && where == Where::background ? places.known[static_cast<std::size_t>(n - 1)] : 0;
  places.reached = false;
  ever = all_that_follow;
  refused = 0;
  if (where != Where::limit) armed = rank == culprit;
  const Seen seen = session(where == Where::limit && rank == culprit ? static_cast<rlim_t>(n) * 32768 : 0);
  armed = false;
  CHECK(communicators == 0);
  if (where == Where::limit) set_address_space(RLIM_INFINITY);
  long any = refused;
  MPI_Bcast(&any, 1, MPI_LONG, culprit, MPI_COMM_WORLD);
  CHECK(same_everywhere(&seen, sizeof seen, MPI_COMM_WORLD));
  if (failures() > before)
    std::fprintf(stderr, "rank %d: allocation %ld%s: began %d, off at %d, %d hints\n", rank, n,
                 all_that_follow ? " and all that follow" : "", seen.began, seen.off_at, seen.calls);
  if (rank == 0)
    for (const auto& entry : std::filesystem::directory_iterator(directory)) std::filesystem::remove(entry.path());
  return any > 0;
}

}  // namespace

/// The number of places at which the background thread of a clean session allocates.
static long find_places(int culprit) {
  places.record = true;
  run(culprit, 0, false);
  places.record = false;
  long n = static_cast<long>(places.count);
  MPI_Bcast(&n, 1, MPI_LONG, culprit, MPI_COMM_WORLD);
  CHECK(n > 100 && n < static_cast<long>(places.known.size()));
  return n;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  start_mpi(&argc, &argv, argv[1]);
  rank = my_rank(MPI_COMM_WORLD);
  size = ranks_of(MPI_COMM_WORLD);
  where = std::strcmp(argv[2], "host") == 0    ? Where::host
          : std::strcmp(argv[2], "limit") == 0 ? Where::limit
                                               : Where::background;
  const long stride = std::atol(argv[3]);
  const int culprit = where == Where::background ? size - 1 : std::min(1, size - 1);
  char name[64] = "/dev/shm/effort-test-XXXXXX";
  if (rank == 0 && !mkdtemp(name)) return 2;
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  directory = name;
  dl_iterate_phdr(note_code, nullptr);
  place();  // the first backtrace loads a library
  clean_session();
  const long last = where == Where::limit ? 20 : where == Where::background ? find_places(culprit) : LONG_MAX;
  long sessions = 0, refusals = 0;
  for (const bool all_that_follow : {false, true})
    for (long n = 1; n <= last; n += stride) {
      const bool any = run(culprit, n, all_that_follow);
      if (where == Where::host && !any) break;  // beyond the last allocation
      ++sessions;
      refusals += any;
    }
  if (where == Where::host) CHECK(sessions > 2);  // or the library does not call the functions above
  // The background thread's course varies a little from session to session.
  if (where == Where::background) CHECK(10 * refusals >= 9 * sessions);
  clean_session();
  if (rank == 0) {
    std::filesystem::remove_all(directory);
    std::printf("%ld sessions", sessions);
    if (where == Where::background) std::printf(" at %ld places; in %ld an allocation was refused", last, refusals);
    std::printf("\n");
  }
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
