// Errors of a callback: each has a defined outcome (docs/hints.md), and the run continues.
#include "check.h"

#include <pthread.h>

#include <stdexcept>
#include <thread>

namespace {

constexpr int window = 5, lag = 2;
effort_region_id solve;

void start() {
  effort_config* config = nullptr;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "WINDOW", "5"));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
}

void steps(int n) {
  for (int s = 0; s < n; ++s) {
    CHECK_OK(effort_add(solve, 0.5));
    CHECK_OK(effort_progress_step());
  }
}

int throwing(const effort_hint*, void* calls) {
  ++*static_cast<int*>(calls);
  throw std::runtime_error("no memory for the new mesh");
}

// A callback that throws has failed: no rebalance, no price, the next hint comes.
void throws() {
  int calls = 0;
  start();
  CHECK_OK(effort_on_rebalance(throwing, &calls));
  steps(4 * window);
  CHECK(calls == 3);
  effort_hint h;
  CHECK_OK(effort_hint_latest(&h));
  CHECK(h.rebalance_cost < 0 && !(h.advice & EFFORT_ADVICE_STALE));
  CHECK_OK(effort_finalize());
}

int large(const effort_hint*, void* calls) { return ++*static_cast<int*>(calls) == 1 ? 1000 : 0; }

// Any positive answer counts as 1.
void answers_beyond_one() {
  int calls = 0;
  start();
  CHECK_OK(effort_on_rebalance(large, &calls));
  steps(4 * window);
  effort_hint h;
  CHECK_OK(effort_hint_latest(&h));
  CHECK(h.rebalance_cost >= 0);
  CHECK_OK(effort_finalize());
}

int bracketed_twice(const effort_hint*, void* calls) {
  ++*static_cast<int*>(calls);
  CHECK_OK(effort_rebalance_begin());
  CHECK_FAILS(effort_rebalance_begin(), EFFORT_ERR_NESTING, "twice");
  CHECK_OK(effort_rebalance_end());
  CHECK_FAILS(effort_rebalance_end(), EFFORT_ERR_NESTING, "without");
  return 1;  // besides the brackets: one rebalance, one price
}

void brackets_inside() {
  int calls = 0;
  start();
  CHECK_OK(effort_on_rebalance(bracketed_twice, &calls));
  steps(3 * window);
  CHECK(calls == 2);
  effort_hint h;
  CHECK_OK(effort_hint_latest(&h));
  CHECK(h.rebalance_cost >= 0 && h.rebalance_cost < 10);
  CHECK_OK(effort_finalize());
}

int other_thread(const effort_hint*, void* code) {
  std::thread([&] {
    *static_cast<effort_status*>(code) = effort_begin(solve);
    effort_end(solve);
  }).join();
  return 0;
}

// Other threads may make measuring calls meanwhile.
void threads_inside() {
  effort_status code = EFFORT_ERR_INTERNAL;
  start();
  CHECK_OK(effort_on_rebalance(other_thread, &code));
  steps(2 * window);
  CHECK(code == EFFORT_OK);
  CHECK_OK(effort_finalize());
}

int cancelled(const effort_hint*, void* calls) {
  ++*static_cast<int*>(calls);
  pthread_cancel(pthread_self());
  pthread_testcancel();
  return 1;
}

int exiting(const effort_hint*, void* calls) {
  ++*static_cast<int*>(calls);
  pthread_exit(nullptr);
}

// A thread that ends in the callback unwinds through the library.  The callback counts as failed, its step ends, and
// another thread continues with the next steps.
void thread_ends_in(effort_rebalance_fn ending) {
  int calls = 0;
  start();
  CHECK_OK(effort_on_rebalance(ending, &calls));
  pthread_t thread;
  bool destroyed = false, returned = false;
  struct Stepping {
    bool *destroyed, *returned;
  } stepping{&destroyed, &returned};
  const auto run = [](void* argument) -> void* {
    const Stepping& of = *static_cast<Stepping*>(argument);
    struct Noticed {
      bool* destroyed;
      ~Noticed() { *destroyed = true; }
    } const noticed{of.destroyed};
    steps(2 * window);
    *of.returned = true;
    return nullptr;
  };
  CHECK(pthread_create(&thread, nullptr, run, &stepping) == 0);
  CHECK(pthread_join(thread, nullptr) == 0);
  CHECK(calls == 1 && destroyed && !returned);
  effort_hint h;
  CHECK_OK(effort_hint_latest(&h));
  CHECK(h.step == window + lag - 1 && h.rebalance_cost < 0);
  CHECK_OK(effort_on_rebalance(large, &calls));
  steps(3 * window);
  CHECK(calls > 1);
  CHECK_OK(effort_hint_latest(&h));
  CHECK(h.load[0] > 0.49 && h.load[0] < 0.51);
  CHECK_OK(effort_finalize());
}

}  // namespace

int main() {
  throws();
  answers_beyond_one();
  brackets_inside();
  threads_inside();
  thread_ends_in(cancelled);
  thread_ends_in(exiting);
  return failures() != 0;
}
