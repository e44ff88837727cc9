// The flight recorder: windows of all ranks are saved at effort_snapshot, and when a rank is lost.
//   test_mpi_flight snapshot DIRECTORY
//   test_mpi_flight lost DIRECTORY      the last rank kills itself; "saved" is printed if its events are in the trace
#include "mpi_check.h"
#include "record/trace/reader.hpp"

#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>

#include <unistd.h>

namespace trace_file = effort::record::trace;
using trace_file::Kind;

namespace {

effort_region_id solve;

/// All ranks have the same large load, next to which interruptions are negligible.  A few ranks are then enough for the
/// sample, and most ranks are not kept.
void step() {
  effort_begin(solve);
  effort_add(solve, 500);
  effort_end(solve);
  effort_progress_step();
}

struct Seen {
  std::map<std::pair<std::int32_t, std::int64_t>, int> windows;  ///< rank and window: how often it is listed
  std::map<std::int32_t, std::set<std::int64_t>> steps;          ///< by rank: steps whose begin was seen
  int snapshot = 0, lost = 0;                                    ///< ranks kept for these reasons, once per window
  std::set<std::int64_t> numbers;                                ///< of windows
  int solves_of_last_step = 0;                                   ///< of the last rank, in the window of the loss
};

void look_at(const trace_file::Reader& file, int last_rank, Seen& seen) {
  for (const auto& w : file.windows()) {
    seen.numbers.insert(w.window);
    for (const auto& r : w.ranks) {
      ++seen.windows[{r.rank, w.window}];
      seen.snapshot += r.reasons == trace_file::reason_snapshot;
      seen.lost += r.reasons == trace_file::reason_lost;
    }
  }
  std::set<std::tuple<std::int32_t, std::int64_t>> decoded;
  for (const auto& chunk : file.chunks()) {
    CHECK(decoded.emplace(chunk.rank, chunk.window).second);
    for (const auto& e : file.rebuilt(chunk).events) {
      if (e.kind == Kind::step) seen.steps[chunk.rank].insert(static_cast<std::int64_t>(e.bytes));
      seen.solves_of_last_step += e.kind == Kind::enter && chunk.rank == last_rank && chunk.window == 3;
    }
  }
}

Seen look(const std::string& directory, int last_rank) {
  Seen seen;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    if (entry.path().extension() == ".trc") look_at(trace_file::Reader(entry.path()), last_rank, seen);
  return seen;
}

void init() {
  effort_config* config = nullptr;
  effort_config_new(&config);
  effort_config_set(config, "TRACE", "on");
  effort_config_set(config, "WINDOW", "10");
  effort_config_set(config, "HINT_LAG", "0");
  CHECK(effort_init_mpi(MPI_COMM_WORLD, config) == EFFORT_OK);
  effort_config_free(config);
  effort_region("solve", EFFORT_COMPUTE, &solve);
}

/// After a snapshot, every complete window holds every rank once; later windows hold only the chosen ranks.
void snapshot(const std::string& directory, int rank, int n_ranks) {
  init();
  for (int s = 0; s < 33; ++s) step();
  CHECK(effort_snapshot(nullptr) == EFFORT_OK);
  CHECK(effort_snapshot(nullptr) == EFFORT_OK);  // nothing is saved twice
  for (int s = 33; s < 60; ++s) step();
  CHECK(effort_finalize() == EFFORT_OK);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) return;
  const Seen seen = look(directory, n_ranks - 1);
  CHECK(seen.numbers == (std::set<std::int64_t>{0, 1, 2, 3, 4, 5}));
  CHECK(seen.snapshot > 0);
  CHECK(seen.lost == 0);
  for (const auto& [where, times] : seen.windows) CHECK(times == 1);
  int later = 0;
  for (int r = 0; r < n_ranks; ++r) {
    for (std::int64_t window = 0; window < 3; ++window) CHECK(seen.windows.count({r, window}) == 1);
    for (std::int64_t window = 3; window < 6; ++window) later += seen.windows.count({r, window});
    for (std::int64_t s = 1; s < 30; ++s) CHECK(seen.steps.at(r).count(s) == 1);
  }
  CHECK(later < 3 * n_ranks);
}

/// The last rank dies in its 34th step, inside a region.  The others live as long as the launcher lets them.
void lose(const std::string& directory, int rank, int n_ranks) {
  init();
  for (int s = 0; s < 33; ++s) step();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == n_ranks - 1) {
    effort_begin(solve);
    std::raise(SIGKILL);
  }
  for (int tries = 0; tries < 600; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const Seen seen = look(directory, n_ranks - 1);
    if (seen.solves_of_last_step != 4 || seen.lost == 0) continue;
    CHECK(seen.windows.size() == static_cast<std::size_t>(4 * n_ranks));
    if (rank == 0) std::printf(failures() == 0 ? "saved\n" : "wrong\n");
    std::fflush(stdout);
    _exit(0);
  }
  _exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int rank = 0, n_ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  const std::string directory = argv[2];
  if (rank == 0) std::filesystem::remove_all(directory);
  MPI_Barrier(MPI_COMM_WORLD);
  setenv("EFFORT_SNAPSHOT_DIR", directory.c_str(), 1);
  if (std::strcmp(argv[1], "lost") == 0) lose(directory, rank, n_ranks);
  snapshot(directory, rank, n_ranks);
  const int all = failures_of_all();
  MPI_Finalize();
  return all != 0;
}
