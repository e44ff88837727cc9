// failure LEVEL [strict]: the background thread of the last rank's node runs out of memory.  All ranks switch off at
// the same step, and the host runs on.  Memory is refused by this program's own operator new, which the library uses.
#include "mpi_check.h"

#include <sys/prctl.h>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {
constexpr int all_steps = 200, fails_from = 45;
std::atomic<bool> refuse{false};
std::atomic<int> refused{0};

bool on_background_thread() {
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  return std::strcmp(name, "effort") == 0;
}
}  // namespace

void* operator new(std::size_t size) {
  if (refuse && on_background_thread()) {
    ++refused;
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (refuse && on_background_thread()) {
    ++refused;
    return nullptr;
  }
  return std::malloc(size ? size : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

static int count(const effort_hint*, void* user) {
  ++*static_cast<int*>(user);
  return 0;
}

int main(int argc, char** argv) {
  const char* level = argc > 1 ? argv[1] : "init";
  const int strict = argc > 2 && strcmp(argv[2], "strict") == 0;
  start_mpi(&argc, &argv, level);
  const int rank = my_rank(MPI_COMM_WORLD), last = ranks_of(MPI_COMM_WORLD) - 1;
  const char* const pairs[] = {"STRICT", strict ? "1" : "0", "WINDOW", "10", nullptr};
  effort_config* config = config_of(pairs);
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, config));
  effort_config_free(config);
  int calls = 0;
  CHECK_OK(effort_on_rebalance(count, &calls));
  effort_region_id solve;
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  int ended = -1, off_at = -1;  // first step that failed, first step that was switched off
  effort_status first = EFFORT_OK;
  for (int s = 0; s < all_steps; ++s) {
    if (rank == last && s == fails_from) refuse = true;
    if (off_at < 0) CHECK_OK(effort_add(solve, 1.0 + rank));
    const effort_status status = effort_progress_step();
    if (status != EFFORT_OK && ended < 0) {
      ended = s;
      first = status;
      if (status == EFFORT_ERR_INTERNAL) CHECK(strstr(effort_last_error(), "STRICT") != nullptr);
    }
    if (status == EFFORT_ERR_SWITCHED_OFF && off_at < 0) off_at = s;
    CHECK(ended < 0 || status == EFFORT_ERR_SWITCHED_OFF || (strict && off_at < 0 && status == EFFORT_ERR_INTERNAL));
    // STRICT's code may come at the step that switches off or earlier.
    if (strict && status == EFFORT_ERR_INTERNAL && effort_add(solve, 0.0) == EFFORT_ERR_SWITCHED_OFF) off_at = s;
    MPI_Barrier(MPI_COMM_WORLD);  // the host continues to communicate
  }
  // All ranks switch off at the same step, when the first hint without the failed node is due.
  CHECK(off_at > fails_from && off_at <= fails_from + 30);
  CHECK(same_everywhere(&off_at, sizeof off_at, MPI_COMM_WORLD));
  CHECK(same_everywhere(&calls, sizeof calls, MPI_COMM_WORLD));
  CHECK(calls >= 4);
  CHECK(strict || (first == EFFORT_ERR_SWITCHED_OFF && ended == off_at));
  if (rank == last) {
    CHECK(refused > 0);
    CHECK(!strict || (first == EFFORT_ERR_INTERNAL && ended <= off_at));
  }
  CHECK_FAILS(effort_finalize(), EFFORT_ERR_SWITCHED_OFF, nullptr);
  refuse = false;
  // Another session works.
  CHECK_OK(effort_init_mpi(MPI_COMM_WORLD, nullptr));
  CHECK_OK(effort_progress_step());
  CHECK_OK(effort_finalize());
  const int failed = failures_of_all();
  MPI_Finalize();
  return failed != 0;
}
