// The sample for other tracers: which rank is notified when, and what is refused.
#include "check.h"

#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace {

effort_region_id solve;

void start(const char* design) {
  effort_config* config = nullptr;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "WINDOW", "5"));
  CHECK_OK(effort_config_set(config, "HINT_LAG", "2"));
  if (design) CHECK_OK(effort_config_set(config, "TRACE_DESIGN", design));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
}

void step() {
  CHECK_OK(effort_add(solve, 0.5));
  CHECK_OK(effort_progress_step());
}

struct Told {
  int sampled;
  std::int64_t step;
};
using Log = std::vector<Told>;

void note(int sampled, std::int64_t step, void* log) { static_cast<Log*>(log)->push_back({sampled, step}); }

/// The only rank of a run is always in the sample: from the first window on that begins after the first hint, which
/// comes after step 6.
void enters() {
  for (const char* design : {"subset", "global"}) {
    Log log;
    start(design);
    CHECK_OK(effort_on_sampling(note, &log));
    for (int s = 0; s < 30; ++s) {
      CHECK(effort_sampled() == (s >= 10));
      step();
      CHECK(log.size() == (s + 1 >= 10 ? 1u : 0u));
    }
    CHECK(log.size() == 1 && log[0].sampled == 1 && log[0].step == 10);
    CHECK_OK(effort_finalize());
    CHECK(effort_sampled() == 0);
    CHECK(log.size() == 1);
  }
}

bool error_names(const char* what) { return std::strstr(effort_last_error(), what) != nullptr; }

void refusals() {
  CHECK(effort_sampled() == 0);
  CHECK(effort_on_sampling(note, nullptr) == EFFORT_ERR_NOT_INITIALIZED);
  start(nullptr);
  CHECK(effort_on_sampling(note, nullptr) == EFFORT_ERR_CONFIG);
  CHECK(error_names("TRACE_DESIGN to subset or global"));
  CHECK_OK(effort_on_sampling(nullptr, nullptr));
  CHECK_OK(effort_finalize());

  Log log;
  start("subset");
  CHECK_OK(effort_on_sampling(note, &log));
  step();
  CHECK(effort_on_sampling(note, &log) == EFFORT_ERR_STATE);
  CHECK(error_names("before the first one"));
  CHECK_OK(effort_on_sampling(nullptr, nullptr));  // no more calls
  for (int s = 0; s < 20; ++s) step();
  CHECK(log.empty());
  CHECK(effort_sampled() == 1);
  CHECK_OK(effort_finalize());
}

void forbidden(int, std::int64_t, void* calls) {
  ++*static_cast<int*>(calls);
  CHECK(effort_progress_step() == EFFORT_ERR_CALLBACK);
  CHECK(effort_snapshot(nullptr) == EFFORT_ERR_CALLBACK);
  CHECK(effort_finalize() == EFFORT_ERR_CALLBACK);
  CHECK_OK(effort_begin(solve));
  CHECK_OK(effort_end(solve));
  throw std::runtime_error("the tracer has no memory");
}

void throws_and_makes_forbidden_calls() {
  int calls = 0;
  start("subset");
  CHECK_OK(effort_on_sampling(forbidden, &calls));
  for (int s = 0; s < 20; ++s) step();
  CHECK(calls == 1);
  CHECK_OK(effort_finalize());
}

std::jmp_buf before_step;

void leaving(int, std::int64_t, void* calls) {
  ++*static_cast<int*>(calls);
  std::longjmp(before_step, 1);
}

/// The step has ended when the function is called, so it is not lost.
void left_by_longjmp() {
  static int calls, left;
  calls = left = 0;
  start("subset");
  CHECK_OK(effort_on_sampling(leaving, &calls));
  for (volatile int s = 0; s < 20; s = s + 1) {
    if (setjmp(before_step) == 0)
      step();
    else
      ++left;
  }
  CHECK(calls == 1);
  CHECK(left == 1);
  CHECK_OK(effort_finalize());
}

}  // namespace

int main() {
  enters();
  refusals();
  throws_and_makes_forbidden_calls();
  left_by_longjmp();
  return failures() != 0;
}
