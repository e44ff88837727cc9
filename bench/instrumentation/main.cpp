// Cost of a begin/end pair against the floor, in one run: chunks of under 0.2 ms, interleaved, median of the ratios of
// the same round.  usage: bench_instrumentation [rounds]
#include <effort/effort.h>
#include <effort/effort_inline.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <time.h>

extern "C" {
int floor_begin(int region);
int floor_end(int region);
}

namespace {

constexpr int pairs = 4096;  // a chunk: 0.1 ms at 25 ns

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
void floor_pairs() {
  for (int i = 0; i < pairs; ++i) {
    floor_begin(0);
    floor_end(0);
  }
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

void compare(const char* what, void (*body)(), int rounds, double target) {
  std::vector<double> ratio, floor, cost;
  for (int r = 0; r < rounds; ++r) {
    const double f = ns_per_pair(floor_pairs), c = ns_per_pair(body);
    if (r < rounds / 20) continue;  // warm-up
    floor.push_back(f);
    cost.push_back(c);
    ratio.push_back(c / f);
  }
  std::printf("%-28s %8.2f ns  floor %6.2f ns  ratio %5.2f  (target %.2f)\n", what, median(cost), median(floor), median(ratio), target);
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

  if (effort_init(nullptr) != EFFORT_OK) {
    std::fprintf(stderr, "%s\n", effort_last_error());
    return 1;
  }
  for (int i = 0; i < 8; ++i) effort_region(("region " + std::to_string(i)).c_str(), EFFORT_COMPUTE, &regions[i]);
  compare("1 region", one, rounds, 1.3);
  compare("8 regions alternating", alternating, rounds, 1.3);
  compare("8 regions nested", nested, rounds, 1.3);
  compare("8 alternating, inline", inlined, rounds, 1.1);
  effort_finalize();
  return 0;
}
