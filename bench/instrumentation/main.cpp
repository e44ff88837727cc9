// Compares the cost of a begin/end pair with the floor in one run.  Chunks of under 0.2 ms are interleaved, and the
// result is the median of the ratios of the same round.  Then measures the cost of counters, per pair if they are read
// at boundaries and per step otherwise.
// usage: bench_instrumentation [rounds]
#include <effort/effort_inline.h>
#include <effort/effort.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <time.h>

#ifdef BENCH_SDE
#include <sde_lib.h>
#endif

extern "C" {
void fortran_pairs(effort_region_id region, int n);
int floor_begin(int region);
int floor_end(int region);
}

namespace {

int pairs = 4096;  // a chunk: 0.1 ms at 25 ns; less if a pair makes system calls

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <typename Body>
double ns_per_pair(const Body& body) {
  const double start = now();
  body();
  return (now() - start) * 1e9 / pairs;
}

effort_region_id regions[8];

void one() {
  for (int i = 0; i < pairs; ++i) {
    effort_begin(regions[0]);
    effort_end(regions[0]);
  }
}
void alternating() {
  for (int i = 0; i < pairs; ++i) {
    effort_begin(regions[i & 7]);
    effort_end(regions[i & 7]);
  }
}
void nested() {
  for (int i = 0; i < pairs / 8; ++i) {
    for (int d = 0; d < 8; ++d) effort_begin(regions[d]);
    for (int d = 7; d >= 0; --d) effort_end(regions[d]);
  }
}
void inlined() {
  for (int i = 0; i < pairs; ++i) {
    effort_begin_inline(regions[i & 7]);
    effort_end_inline(regions[i & 7]);
  }
}

/// Regions of a few operations on sums that stay in registers, unless a call takes the registers.
template <auto begin, auto end>
void sums() {
  double a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
  for (int i = 0; i < pairs; ++i) {
    const auto x = static_cast<double>(i & 255);
    begin(regions[0]);
    a += x, b += x * a, c -= x, d += x * c, e += x, f -= x * e, g += x, h += x * g;
    end(regions[0]);
  }
  [[maybe_unused]] static volatile double all;
  all = a + b + c + d + e + f + g + h;
}
void scopes() {
  static const effort::RegionId id("region 0");
  for (int i = 0; i < pairs; ++i) effort::Region scope(id);
}
void floor_pairs() {
  for (int i = 0; i < pairs; ++i) {
    floor_begin(0);
    floor_end(0);
  }
}

#ifdef BENCH_FORTRAN
void fortran() { fortran_pairs(regions[0], pairs); }
#endif

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

void compare(const char* what, void (*body)(), int rounds, double target, void (*floor_body)() = floor_pairs,
             const char* floor_name = "floor") {
  std::vector<double> ratio, floor, cost;
  for (int r = 0; r < rounds; ++r) {
    const double f = ns_per_pair(floor_body), c = ns_per_pair(body);
    if (r < rounds / 20) continue;  // warm-up
    floor.push_back(f);
    cost.push_back(c);
    ratio.push_back(c / f);
  }
  std::printf("%-32s %8.2f ns  %-5s %6.2f ns  ratio %5.2f", what, median(cost), floor_name, median(floor),
              median(ratio));
  if (target > 0) std::printf("  (target %.2f)", target);
  std::printf("\n");
}

/// A session that measures `metrics`, read per "region" or per "step".  The guard is off because it would sample these
/// loops.
bool start(const char* metrics, const char* read) {
  effort_config* cfg = nullptr;
  effort_config_new(&cfg);
  for (auto [key, value] :
       {std::pair{"METRICS", metrics}, {"READ_METRICS", read}, {"MAX_OVERHEAD", "0"}, {"WINDOW", "100000"}})
    effort_config_set(cfg, key, value);
  const bool good = effort_init(cfg) == EFFORT_OK;
  effort_config_free(cfg);
  if (!good) std::fprintf(stderr, "%s\n", effort_last_error());
  for (int i = 0; good && i < 8; ++i)
    effort_region(("region " + std::to_string(i)).c_str(), EFFORT_COMPUTE, &regions[i]);
  return good;
}

/// The cost that one more metric adds to the end of a step, in nanoseconds; `none` is the cost of a step without it.
double ns_per_step(const char* metrics) {
  // Few enough for the ring to hold all of them, so the result does not depend on the background thread.
  constexpr int chunk = 16, chunks = 100;
  if (!start(metrics, "step")) return 0;
  std::vector<double> cost;
  one();  // the thread's slot
  for (int c = 0; c < chunks; ++c) {
    const double begin = now();
    for (int i = 0; i < chunk; ++i) effort_progress_step();
    cost.push_back((now() - begin) * 1e9 / chunk);
  }
  effort_finalize();
  return median(cost);
}

void counters(int rounds, const std::string& sde) {
  struct Row {
    const char* name;
    std::string metrics;
    double target;
  };
  std::vector<Row> rows = {{"cpu_time", "time,cpu_time", 0},
                           {"page_faults", "time,page_faults", 0},
                           {"context_switches", "time,context_switches", 0}};
  if (!sde.empty()) rows.push_back({"1 SDE counter", "time," + sde, 2.7});
  for (const Row& row : rows) {
    pairs = row.target > 0 ? 4096 : 128;
    if (!start(row.metrics.c_str(), "region")) continue;
    compare((std::string(row.name) + ", per region").c_str(), one, std::max(rounds / 10, 40), row.target);
    effort_finalize();
  }
  rows.push_back({"rss", "time,rss", 0});
  const double none = ns_per_step("time");
  std::printf("%-32s %8.0f ns a step\n", "time alone", none);
  for (const Row& row : rows)
    if (std::string(row.name) != "cpu_time")
      std::printf("%-32s %8.0f ns a step more\n", (std::string(row.name) + ", per step").c_str(),
                  ns_per_step(row.metrics.c_str()) - none);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  effort_config* cfg = nullptr;
  effort_config_new(&cfg);
  effort_config_set(cfg, "DISABLE", "1");
  effort_init(cfg);
  compare("disabled", one, rounds, 0.35);
  effort_finalize();
  effort_config_free(cfg);

  if (!start("time", "step")) return 1;
  compare("1 region", one, rounds, 1.2);
  compare("8 regions alternating", alternating, rounds, 1.2);
  compare("8 regions nested", nested, rounds, 1.2);
  compare("8 alternating, inline", inlined, rounds, 1.1);
  compare("8 alternating, inline", inlined, rounds, 0, alternating, "calls");
  compare("around sums, inline", sums<effort_begin_inline, effort_end_inline>, rounds, 0,
          sums<effort_begin, effort_end>, "calls");
  compare("1 region, scope of C++", scopes, rounds, 1.3);
#ifdef BENCH_FORTRAN
  compare("1 region, Fortran", fortran, rounds, 1.1, one, "C");
#endif
  effort_finalize();

  std::string sde;
#ifdef BENCH_SDE
  static long long counter = 0;
  papi_sde_register_counter(papi_sde_init("bench"), "counter", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long,
                            &counter);
  sde = "sde:::bench::counter";
#endif
  counters(rounds, sde);
  return 0;
}
