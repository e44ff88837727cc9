// Traces in one process: threads that never stop begin and end regions while sessions end, threads come and go, the
// trace memory is too small, and the trace cannot be written.
#include "check.h"

#include <effort/effort.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::string directory = "trace-files";

void start(const char* key, const char* value) {
  effort_config* config = nullptr;
  CHECK_OK(effort_config_new(&config));
  CHECK_OK(effort_config_set(config, "TRACE", "on"));
  CHECK_OK(effort_config_set(config, key, value));
  CHECK_OK(effort_init(config));
  CHECK_OK(effort_config_free(config));
}

effort_region_id solve_region() {
  effort_region_id solve = -1;
  CHECK_OK(effort_region("solve", EFFORT_COMPUTE, &solve));
  return solve;
}

void steps(int n, int calls) {
  const effort_region_id solve = solve_region();
  for (int s = 0; s < n; ++s) {
    for (int i = 0; i < calls; ++i) {
      CHECK_OK(effort_begin(solve));
      CHECK_OK(effort_end(solve));
    }
    CHECK_OK(effort_progress_step());
  }
}

/// Traces in the directory; removes them.
int traces() {
  int n = 0;
  std::vector<fs::path> found;
  if (fs::exists(directory))
    for (const auto& entry : fs::directory_iterator(directory))
      if (entry.path().extension() == ".trace") found.push_back(entry.path());
  for (const fs::path& path : found) {
    for (const auto& file : fs::directory_iterator(path)) n += fs::file_size(file.path()) > 0;
    fs::remove_all(path);
  }
  return n;
}

/// Other threads keep recording while the session ends; they must not write into unmapped memory.
void threads_beyond_the_end() {
  std::atomic<bool> stop{false};
  std::vector<std::thread> team;
  for (int t = 0; t < 3; ++t)
    team.emplace_back([&stop] {
      while (!stop.load(std::memory_order_relaxed)) {
        effort_begin(1);  // the first region of every session; fails between sessions
        effort_end(1);
      }
    });
  for (int session = 0; session < 30; ++session) {
    start("TRACE_MEMORY", "262144");
    steps(12, 50);
    CHECK_OK(effort_finalize());
  }
  stop = true;
  for (auto& t : team) t.join();
  CHECK(traces() == 30);
}

void short_lived_threads() {
  start("TRACE_MEMORY", "262144");
  const effort_region_id solve = solve_region();
  for (int s = 0; s < 25; ++s) {
    std::vector<std::thread> team;
    for (int t = 0; t < 40; ++t)
      team.emplace_back([solve] {
        effort_begin(solve);
        effort_end(solve);
      });
    for (auto& t : team) t.join();
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_finalize());
  CHECK(traces() == 1);
}

void steps_larger_than_the_memory() {
  start("TRACE_MEMORY", "262144");
  steps(12, 100000);
  CHECK_OK(effort_finalize());
  CHECK(traces() == 1);
}

void no_budget() {
  start("TRACE_BUDGET", "0");
  steps(30, 10);
  CHECK_OK(effort_finalize());
  traces();
}

/// The host runs on, and the snapshot is written.
void nowhere_to_write() {
  fs::remove_all(directory);
  std::ofstream(directory) << "a file where the directory should be";
  start("TRACE_PIN", "0");
  steps(30, 10);
  effort_finalize();  // reports the snapshot that could not be written
  fs::remove(directory);
}

}  // namespace

int main() {
  setenv("EFFORT_SNAPSHOT_DIR", directory.c_str(), 1);
  fs::remove_all(directory);
  threads_beyond_the_end();
  short_lived_threads();
  steps_larger_than_the_memory();
  no_budget();
  nowhere_to_write();
  return failures() != 0;
}
