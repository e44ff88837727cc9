// Hosts with threads: a rank's load is the maximum over its threads, or the sum.
#include "check.h"

#include <effort/effort.hpp>

#include <omp.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int n_threads = 4, n_steps = 12;

effort_region_id solve;
effort_metric_id flops;
effort_work_id cells;

void start(const char* threads) {
  effort_config* config = nullptr;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "LOAD_METRIC", "flops"));
  CHECK_OK(effort_config_set(config, "LOAD_THREADS", threads));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  CHECK_OK(effort_metric_define("flops", "", &flops));
  CHECK_OK(effort_work_unit("cells", &cells));
}

void one_share(int thread) {
  effort::Region in_solve(solve);
  CHECK_OK(effort_metric(flops, 1.0 + thread));
  CHECK_OK(effort_work(cells, 1.0));
}

void expect(double load) {
  effort_hint h;
  if (!CHECK_OK(effort_hint_latest(&h))) return;
  CHECK(h.load[0] == load);
  CHECK_OK(effort_finalize());
}

// New threads in every step: their slots are returned and reused, and their measurements are kept.
void short_lived_threads(const char* threads, double load) {
  start(threads);
  for (int s = 0; s < n_steps; ++s) {
    std::vector<std::thread> team;
    std::atomic<int> here{0};
    for (int t = 0; t < n_threads; ++t)
      team.emplace_back([t, &here] {
        one_share(t);
        ++here;
        while (here < n_threads) std::this_thread::yield();  // all at once: each has a slot of its own
      });
    for (auto& t : team) t.join();
    CHECK_OK(effort_progress_step());
  }
  expect(load);
}

[[maybe_unused]] void openmp_threads(const char* threads, double load) {
  start(threads);
  for (int s = 0; s < n_steps; ++s) {
#pragma omp parallel num_threads(n_threads)
    one_share(omp_get_thread_num());
    CHECK_OK(effort_progress_step());
  }
  expect(load);
}

// Errors are kept per thread.
void messages_per_thread() {
  CHECK_OK(effort_init(nullptr));
  CHECK_FAILS(effort_begin(4711), EFFORT_ERR_UNKNOWN_ID, "4711");
  std::thread([] {
    CHECK(effort_last_error()[0] == '\0');
    CHECK_FAILS(effort_begin(4712), EFFORT_ERR_UNKNOWN_ID, "4712");
  }).join();
  CHECK(strstr(effort_last_error(), "4711") != nullptr);
  CHECK_OK(effort_finalize());
}

// Each thread has its own nesting.
void nesting_per_thread() {
  CHECK_OK(effort_init(nullptr));
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  CHECK_OK(effort_begin(solve));
  std::thread([] { CHECK_FAILS(effort_end(solve), EFFORT_ERR_NESTING, "none open"); }).join();
  CHECK_OK(effort_end(solve));
  CHECK_OK(effort_finalize());
}

// Regions begun and ended by threads while another ends steps and finalizes.
void steps_beside_measuring() {
  CHECK_OK(effort_init(nullptr));
  std::atomic<bool> stop{false};
  std::vector<std::thread> team;
  for (int t = 0; t < n_threads; ++t)
    team.emplace_back([&stop, t] {
      effort_region_id mine = -1;
      const std::string name = "thread " + std::to_string(t % 2);
      CHECK_OK(effort_region(name.c_str(), EFFORT_COMPUTE, &mine));
      while (!stop) {
        effort::Region scope(mine);
        std::this_thread::yield();
      }
    });
  for (int s = 0; s < 200; ++s) CHECK_OK(effort_progress_step());
  stop = true;
  for (auto& t : team) t.join();
  CHECK_OK(effort_finalize());
}

// effort.hpp: scopes and ids by name; errors are harmless.
void scopes() {
  {
    effort::RegionId early("too early");
    CHECK(early.get() == -1);
    effort::Region harmless(early);
  }
  CHECK_OK(effort_init(nullptr));
  {
    effort::RegionId a("a"), again("a", EFFORT_WAIT), w("w", EFFORT_WAIT);
    CHECK(a.get() > 0 && again.get() == a.get() && w.get() != a.get());
    effort::Region outer(a);
    {
      effort::Region inner(w);
      CHECK_FAILS(effort_end(a.get()), EFFORT_ERR_NESTING, "'w'");
    }
    effort::Region none(effort_region_id{99});
  }
  CHECK_FAILS(effort_end(1), EFFORT_ERR_NESTING, "none open");
  CHECK_OK(effort_finalize());
}

// A RegionId made before the first session serves two sessions, in which numeric ids denote different regions.
void in_each_session() {
  static const effort::RegionId scope("scope", EFFORT_WAIT);
  for (const char* first : {"scope", "checkpoint"}) {
    CHECK_OK(effort_init(nullptr));
    effort_region_id other = -1, mine = -1;
    CHECK_OK(effort_region(first, first == std::string("scope") ? EFFORT_WAIT : EFFORT_IO, &other));
    {
      const effort::Region open(scope);
      CHECK_OK(effort_region_find("scope", &mine));
      CHECK(scope.get() == mine);
      if (first != std::string("scope")) CHECK_FAILS(effort_end(other), EFFORT_ERR_NESTING, "'scope'");
    }
    CHECK_FAILS(effort_end(mine), EFFORT_ERR_NESTING, "none open");
    CHECK_OK(effort_region("scope", EFFORT_WAIT, &mine));
    CHECK_OK(effort_finalize());
  }
  const effort::Region outside(scope);
}

}  // namespace

int main() {
  short_lived_threads("max", n_threads);
  short_lived_threads("sum", n_threads * (n_threads + 1) / 2.0);
#ifdef __SANITIZE_THREAD__
  std::puts("skipped: OpenMP threads (ThreadSanitizer does not see the barriers of GCC's OpenMP library)");
#else
  openmp_threads("max", n_threads);
  openmp_threads("sum", n_threads * (n_threads + 1) / 2.0);
#endif
  messages_per_thread();
  nesting_per_thread();
  steps_beside_measuring();
  scopes();
  in_each_session();
  return failures() != 0;
}
