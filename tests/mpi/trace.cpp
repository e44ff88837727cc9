// The trace of a run holds, for every kept rank and window, exactly the calls that the rank made.
//   test_mpi_trace LEVEL DIRECTORY   LEVEL: init or multiple
#include "mpi_check.h"
#include "record/trace/reader.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace trace = effort::record::trace;
using trace::Kind;

namespace {

constexpr int steps = 45, kernels = 3, pinned = 1;

double compute(int amount) {
  volatile double x = 1;
  for (int i = 0; i < amount; ++i) x = x * 1.0000001 + 1e-9;
  return x;
}

/// A region that stays open over all steps, one per step, and several inside it.
void run(int rank) {
  effort_region_id all, solve, kernel;
  effort_work_id cells;
  effort_region("all", EFFORT_COMPUTE, &all);
  effort_region("solve", EFFORT_COMPUTE, &solve);
  effort_region("kernel", EFFORT_COMPUTE, &kernel);
  effort_work_unit("cells", &cells);
  effort_begin(all);
  for (int s = 0; s < steps; ++s) {
    effort_begin(solve);
    for (int k = 0; k < kernels; ++k) {
      effort_begin(kernel);
      compute(2000 * (1 + rank));
      effort_end(kernel);
    }
    effort_work(cells, 100.0 + rank);
    effort_end(solve);
    effort_progress_step();
  }
  effort_end(all);
}

/// The events that a step must have, as text: the step, then regions by name.
std::string expected_step(int step, int rank) {
  std::string text = "step " + std::to_string(step) + " +all +solve";
  for (int k = 0; k < kernels; ++k) text += " +kernel -kernel";
  return text + " work " + std::to_string(100 + rank) + " -solve -all";
}

std::string seen_step(const std::vector<trace::Event>& events, std::size_t& at,
                      const std::map<std::uint32_t, std::string>& regions) {
  std::string text;
  for (; at < events.size(); ++at) {
    const trace::Event& e = events[at];
    if (e.kind == Kind::step && !text.empty()) break;
    if (!text.empty()) text += ' ';
    const auto name = regions.count(e.id) ? regions.at(e.id) : std::string("?");
    if (e.kind == Kind::step) text += "step " + std::to_string(e.bytes);
    if (e.kind == Kind::enter) text += "+" + name;
    if (e.kind == Kind::leave) text += "-" + name;
    if (e.kind == Kind::work) {
      double amount = 0;
      std::memcpy(&amount, &e.bytes, sizeof amount);
      text += "work " + std::to_string(static_cast<int>(amount));
    }
  }
  return text;
}

void check_chunk(const trace::Reader& file, const trace::EventsInfo& chunk,
                 const std::map<std::uint32_t, std::string>& regions) {
  const trace::Window* window = file.window_of(chunk);
  CHECK(window);
  if (!window) return;
  const std::vector<trace::Event> events = file.rebuilt(chunk).events;
  CHECK(events.size() == chunk.events);
  const std::int64_t off = file.header().bound.allowed(window->end_ns - window->start_ns);
  for (std::size_t i = 0; i < events.size(); ++i) {
    CHECK(events[i].time_ns >= window->start_ns && events[i].time_ns <= window->end_ns + off);
    CHECK(i == 0 || events[i].time_ns >= events[i - 1].time_ns);
  }
  std::size_t at = 0;
  for (std::int64_t s = window->first_step; s <= window->last_step; ++s) {
    const std::string seen = seen_step(events, at, regions);
    // The first step begins without a record of its own, and the region that is open in all steps begins before it.
    std::string expected = expected_step(static_cast<int>(s), chunk.rank);
    if (s == 0) expected = expected.substr(std::strlen("step 0 "));
    if (seen != expected) std::fprintf(stderr, "rank %d, step %d: %s\n", chunk.rank, static_cast<int>(s), seen.c_str());
    CHECK(seen == expected);
  }
  CHECK(at == events.size());
}

void check_file(const trace::Reader& file, int n_ranks, std::set<std::pair<std::int32_t, std::int64_t>>& kept) {
  CHECK(file.problems().empty());
  CHECK(file.header().n_ranks == n_ranks);
  std::map<std::uint32_t, std::string> regions;
  for (const auto& r : file.names().regions) regions[r.id] = r.name;
  std::int64_t next = 0;
  for (const trace::Window& w : file.windows()) {
    CHECK(w.first_step == next);
    next = w.last_step + 1;
    CHECK(w.error >= 0 && w.error <= 0.08);
    int sampled = 0;
    for (const auto& s : w.strata) sampled += s.sample;
    CHECK(sampled >= 1);
    for (const auto& r : w.ranks) {
      CHECK(r.dropped_steps == 0);
      CHECK(r.probability > 0 && r.probability <= 1);
      kept.insert({r.rank, w.window});
    }
  }
  CHECK(next == steps);
  CHECK(file.header().n_nodes == 1 || !file.clocks().empty());
  for (const trace::Clock& c : file.clocks()) CHECK(c.bound_ns >= 0 && c.bound_ns < 60'000'000'000);
  for (const trace::EventsInfo& chunk : file.chunks()) check_chunk(file, chunk, regions);
}

void check_trace(const std::string& directory, int n_ranks) {
  std::set<std::pair<std::int32_t, std::int64_t>> kept;
  int traces = 0, files = 0, chunks = 0;
  std::set<std::string> jobs;  // of one run, although every process has a number of its own
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".trace") continue;
    ++traces;
    for (const auto& file : std::filesystem::directory_iterator(entry.path())) {
      const trace::Reader reader(file.path());
      check_file(reader, n_ranks, kept);
      jobs.insert(reader.header().name + " " + reader.header().job);
      chunks += static_cast<int>(reader.chunks().size());
      ++files;
    }
  }
  CHECK(traces == 1);
  CHECK(jobs.size() == 1);
  CHECK(files >= 1);
  CHECK(chunks == static_cast<int>(kept.size()));  // one thread in each rank
  int windows_of_pinned = 0, sets = 0;
  for (const auto& [rank, window] : kept) {
    windows_of_pinned += rank == pinned;
    sets = std::max(sets, static_cast<int>(window) + 1);
  }
  CHECK(windows_of_pinned == sets);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int provided = 0, rank = 0, n_ranks = 1;
  if (std::strcmp(argv[1], "multiple") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  const std::string directory = argv[2];
  if (rank == 0) std::filesystem::remove_all(directory);
  MPI_Barrier(MPI_COMM_WORLD);

  setenv("EFFORT_SNAPSHOT_DIR", directory.c_str(), 1);
  effort_config* config = nullptr;
  effort_config_new(&config);
  effort_config_set(config, "TRACE", "on");
  effort_config_set(config, "TRACE_PIN", std::to_string(pinned).c_str());
  CHECK(effort_init_mpi(MPI_COMM_WORLD, config) == EFFORT_OK);
  effort_config_free(config);
  run(rank);
  CHECK(effort_finalize() == EFFORT_OK);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    try {
      check_trace(directory, n_ranks);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      ++check_failed;
    }
  }
  const int all = failures_of_all();
  MPI_Finalize();
  if (rank == 0) std::printf("bad %d\n", all);
  return all != 0;
}
