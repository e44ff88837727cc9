// The cost of a pair of effort_begin and effort_end in a session that records a trace, compared with one that does not:
//   bench_recording [rounds]
// Sessions alternate.  Each yields the median of many short chunks; the output is the median over the sessions.
#include <effort/effort.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <time.h>

namespace {

constexpr int chunks = 300, pairs = 1000;

double now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Nanoseconds of a pair.
double session(const char* trace, const std::string& directory) {
  effort_config* config = nullptr;
  effort_config_new(&config);
  effort_config_set(config, "TRACE", trace);
  effort_config_set(config, "MAX_OVERHEAD", "0");  // the guard would skip calls
  effort_config_set(config, "SNAPSHOT_DIR", directory.c_str());
  effort_init(config);
  effort_config_free(config);
  effort_region_id region;
  effort_region("pair", EFFORT_COMPUTE, &region);
  std::vector<double> times;
  for (int c = 0; c < chunks; ++c) {
    const double start = now_ns();
    for (int i = 0; i < pairs; ++i) {
      effort_begin(region);
      effort_end(region);
    }
    times.push_back((now_ns() - start) / pairs);
    if (c % 10 == 9) effort_progress_step();
  }
  effort_finalize();
  return median(times);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  const std::string directory = std::filesystem::temp_directory_path() / "effort-bench-recording";
  std::vector<double> off, on, more;
  for (int r = 0; r < rounds; ++r) {
    off.push_back(session("off", directory));
    on.push_back(session("on", directory));
    more.push_back(on.back() - off.back());
    std::filesystem::remove_all(directory);
  }
  std::printf("begin and end: %.1f ns without a trace, %.1f ns with one: %.1f ns more for two boundaries\n",
              median(off), median(on), median(more));
}
