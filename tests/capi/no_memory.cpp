// no_memory STRIDE: an allocation of the process fails, from before the first effort_init on: in one session only the
// n-th one, in another the n-th and all that follow, for each n up to 400, which covers the init and the first steps,
// and then for every STRIDE-th n until a session makes no more allocations.  Each session runs in a child process of
// its own, which has not used the library before.  The rule: it ends by itself, and every call returns success or an
// error that tells of memory, or of being switched off for the lack of it.
//
// All allocations count, not only those by `operator new`: also those that the C and C++ libraries make for this one.
// What is freed is not used again but filled with a pattern, which must still be there at the end.
//
// With PIN=off, libhwloc is not called: it does not survive a failed allocation.
#include "check.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

std::atomic<bool> armed{false};
bool all_that_follow = false;
long wanted = 0;

/// Shared with the children.
struct Counts {
  std::atomic<long> allocations, refused;
};
Counts* counts = nullptr;

bool refuses() noexcept {
  if (!armed.load(std::memory_order_acquire)) return false;
  const long n = ++counts->allocations;
  if (n < wanted || (n > wanted && !all_that_follow)) return false;
  ++counts->refused;
  errno = ENOMEM;
  return true;
}

/// What a session has freed.
struct Freed {
  unsigned char* at;
  std::size_t bytes;
};
constexpr std::size_t most_freed = 1 << 16;
constexpr unsigned char pattern = 0xdb;
Freed freed[most_freed];
std::atomic<std::size_t> n_freed{0};

/// Whether nothing was freed twice, or written to afterwards.
bool freed_once_and_untouched() {
  Freed* const end = freed + std::min(n_freed.load(), most_freed);
  const auto touched = [](const Freed& f) {
    return std::any_of(f.at, f.at + f.bytes, [](unsigned char byte) { return byte != pattern; });
  };
  std::sort(freed, end, [](const Freed& a, const Freed& b) { return a.at < b.at; });
  return std::none_of(freed, end, touched) &&
         std::adjacent_find(freed, end, [](const Freed& a, const Freed& b) { return a.at == b.at; }) == end;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
void free(void* memory) {
  const std::size_t at = memory && armed.load(std::memory_order_acquire) ? n_freed++ : most_freed;
  if (at >= most_freed) return __libc_free(memory);
  freed[at] = {static_cast<unsigned char*>(memory), malloc_usable_size(memory)};
  std::memset(memory, pattern, freed[at].bytes);
}
void* malloc(std::size_t bytes) { return refuses() ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t n, std::size_t bytes) { return refuses() ? nullptr : __libc_calloc(n, bytes); }
void* realloc(void* old, std::size_t bytes) { return refuses() ? nullptr : __libc_realloc(old, bytes); }
void* memalign(std::size_t to, std::size_t bytes) { return refuses() ? nullptr : __libc_memalign(to, bytes); }
void* aligned_alloc(std::size_t to, std::size_t bytes) { return refuses() ? nullptr : __libc_memalign(to, bytes); }
int posix_memalign(void** out, std::size_t to, std::size_t bytes) {
  void* const memory = refuses() ? nullptr : __libc_memalign(to, bytes);
  if (!memory) return ENOMEM;
  *out = memory;
  return 0;
}
}
#pragma GCC visibility pop

namespace {

bool acceptable(effort_status s) {
  return s == EFFORT_OK || s == EFFORT_ERR_MEMORY || s == EFFORT_ERR_SWITCHED_OFF || s == EFFORT_ERR_IO;
}

/// Before any session, and after one that did not begin.
void expect(effort_status s, bool began) { CHECK(acceptable(s) || (!began && s == EFFORT_ERR_NOT_INITIALIZED)); }

int rebalance(const effort_hint*, void* calls) { return ++*static_cast<int*>(calls) % 2; }

void set(effort_config* config, const char* key, const char* value) {
  CHECK(acceptable(effort_config_set(config, key, value)));
}

/// A thread of the host, which has existed before memory runs out.
class OtherThread {
 public:
  /// Lets it use the library, and end.
  void use(bool began) {
    began_ = began;
    go_.store(true, std::memory_order_release);
    thread_.join();
  }

 private:
  void work() {
    while (!go_.load(std::memory_order_acquire)) usleep(100);
    effort_region_id region = 0;
    expect(effort_region("of another thread", EFFORT_COMPUTE, &region), began_);
    if (region > 0 && effort_begin(region) == EFFORT_OK) CHECK_OK(effort_end(region));
    CHECK(effort_region("", EFFORT_COMPUTE, &region) != EFFORT_OK && *effort_last_error());
  }

  std::atomic<bool> go_{false};
  bool began_ = false;
  std::thread thread_{[this] { work(); }};
};

void session(OtherThread& other) {
  int calls = 0;
  effort_config* config = nullptr;
  CHECK(acceptable(effort_config_new(&config)));
  if (config)
    for (const auto& [key, value] : {std::pair{"WINDOW", "3"}, {"SNAPSHOT_EVERY", "6"}, {"PIN", "off"}})
      set(config, key, value);
  const bool began = effort_init(config) == EFFORT_OK;
  CHECK_OK(effort_config_free(config));
  expect(effort_on_rebalance(rebalance, &calls), began);
  for (int s = 0; s < 13; ++s) {
    effort_region_id region = 0;
    char name[32];
    snprintf(name, sizeof name, "region %d", s % 4);
    expect(effort_region(name, EFFORT_COMPUTE, &region), began);
    if (region > 0 && effort_begin(region) == EFFORT_OK) CHECK_OK(effort_end(region));
    if (region > 0) expect(effort_add(region, 1.0), began);
    expect(effort_progress_step(), began);
    if (s == 0) other.use(began);
  }
  expect(effort_snapshot(nullptr), began);
  expect(effort_finalize(), began);
  CHECK_FAILS(effort_progress_step(), EFFORT_ERR_NOT_INITIALIZED, NULL);
}

/// A session whose n-th allocation fails.  Whether any did.
bool run(long n, bool all) {
  counts->allocations = counts->refused = 0;
  const int before = failures();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    OtherThread other;
    wanted = n;
    all_that_follow = all;
    armed = true;
    session(other);
    armed = false;
    CHECK(freed_once_and_untouched());
    _exit(failures() != before);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0))
    std::fprintf(stderr, "allocation %ld%s failed: %s %d\n", n, all ? " and all that follow" : "",
                 WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  return counts->refused > 0;
}

}  // namespace

int main(int argc, char** argv) {
  const long stride = argc > 1 ? std::atol(argv[1]) : 0;
  if (stride < 1) return 2;
  void* const shared = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  counts = new (shared) Counts;
  CHECK(!run(0, false));
  CHECK(counts->allocations > 1000);  // or it does not count what the library allocates
  long sessions = 0;
  for (const bool all : {false, true})
    for (long n = 1; run(n, all) && failures() < 20; n += n < 400 ? 1 : stride) ++sessions;
  std::printf("an allocation failed in %ld sessions\n", sessions);
  return failures() != 0;
}
