// Waiting at OpenMP barriers, measured through OMPT. Thread 0 computes while the others wait for it.
#include "snapshot_info.h"

#include <omp.h>

#include <atomic>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <time.h>

namespace {

constexpr int n_steps = 6, n_threads = 3;
constexpr double busy = 0.02;

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Computes for the given time by the clock; returns the time it took.
double compute(double seconds) {
  const double start = now();
  while (now() - start < seconds) {
  }
  return now() - start;
}

/// How often the other threads, which compute nothing themselves, found that floating-point flags were raised.
std::atomic<int> flags_found = 0;

void look_at_flags(bool first) {
  if (omp_get_thread_num() == 0) return;
  if (!first && std::fetestexcept(FE_ALL_EXCEPT) != 0) ++flags_found;
  std::feclearexcept(FE_ALL_EXCEPT);
}

const char* region_in(const char* json, const char* name) {
  for (const char* space : {"", " "})
    if (const char* at = strstr(json, (std::string("\"name\":") + space + "\"" + name + "\"").c_str())) return at;
  std::fprintf(stderr, "region '%s' is missing\n", name);
  CHECK(false);
  return "";
}

}  // namespace

int main() {
  const std::string dir = std::getenv("EFFORT_SNAPSHOT_DIR");
  if (std::system(("rm -rf '" + dir + "'").c_str()) != 0) return 1;
  effort_config* config = nullptr;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "METRICS", "time,calls,thread_sum,thread_max,thread_imbalance"));
  CHECK_OK(effort_config_set(config, "LOAD_THREADS", "sum"));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
  effort_region_id solve = 0;
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  double busy_total = 0, wall = 0;
  for (int s = 0; s < n_steps; ++s) {
    CHECK_OK(effort_begin(solve));
    const double start = now();
#pragma omp parallel num_threads(n_threads)
    {
      look_at_flags(s == 0);
      if (omp_get_thread_num() == 0) busy_total += compute(busy);
#pragma omp barrier
#pragma omp for schedule(static, 1)
      for (int i = 0; i < n_threads; ++i)
        if (i == 0) busy_total += compute(busy);
      look_at_flags(false);
      if (omp_get_thread_num() == 0) busy_total += compute(busy);
    }
    wall += now() - start;
    CHECK_OK(effort_end(solve));
    compute(busy);  // while the workers idle in the runtime, which does not count as waiting
    CHECK_OK(effort_progress_step());
  }
#pragma omp parallel num_threads(n_threads)
  {}  // wakes the workers, after which their waiting time in the last construct is known
  CHECK_OK(effort_progress_step());
  CHECK_OK(effort_finalize());
  CHECK(flags_found == 0);

  char newest[1024];
  CHECK(snapshots_in(dir.c_str(), newest, sizeof newest) == 1);
  const char* json = info_json(newest);
  const double waited = number_in(region_in(json, "omp barrier"), "\"time\":", "total");
  const double solved = number_in(region_in(json, "solve"), "\"time\":", "total");
  const double most = number_in(region_in(json, "solve"), "\"thread_max\":", "total");
  const double unequal = number_in(region_in(json, "solve"), "\"thread_imbalance\":", "total");
  std::fprintf(stderr, "busy %.4f wall %.4f waited %.4f solved %.4f max %.4f imbalance %.4f\n", busy_total, wall,
               waited, solved, most, unequal);
  // The others waited while thread 0 computed, except for their own way to the barrier, and not beyond the constructs.
  CHECK(waited <= n_threads * wall);
  CHECK(waited >= 0.5 * (n_threads - 1) * busy_total);
  // In a construct, every thread either computes or waits.
  CHECK(solved >= busy_total * 0.999);
  CHECK(solved + waited <= n_threads * wall * 1.001);
  CHECK(most >= busy_total * 0.99);
  CHECK(unequal > 0.3 * busy_total);
  return failures() != 0;
}
