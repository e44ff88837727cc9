// Snapshots of whole nodes in one process.
#include "world.hpp"

#include <cstdio>

using namespace effort;
using namespace effort::engine;
using namespace effort::engine::test;

namespace {

struct Stored {
  std::vector<std::byte> solve;  ///< history of the region that counts
  double nrmse = -1;             ///< as the run states it
  std::string name;              ///< of the series
};

/// The last snapshot's history of the region with the metric "units": that of all nodes.
Stored last_history(const World& w) {
  Stored out;
  for (const auto& f : std::filesystem::directory_iterator(w.settings.snapshot_dir)) {
    record::Reader reader(f.path());
    reader.verify();
    const record::Run& run = reader.run();
    if (run.steps != w.steps) continue;
    REQUIRE(reader.nodes() == std::vector<std::int32_t>{run.nodes > 1 ? record::all_nodes : 0});
    for (const record::Tile& tile : reader.tiles(reader.nodes()[0])) {
      const record::Series& s = run.series[tile.series];
      if (s.region != "solve" || run.metrics[s.metric].name != "units") continue;
      CHECK(tile.first_step == 0);
      out = {tile.history, s.nrmse, s.region};
    }
  }
  return out;
}

}  // namespace

TEST_CASE("the last snapshot of several nodes is as small as one node's, at the same error") {
  const int n = 12, steps = 120;
  const auto load = [](int rank, int step) {
    const double front = std::abs(rank - 0.09 * step);
    return 1 + 3 / (1 + front * front) + 0.05 * ((rank * 104729 + step * 1299709) % 97) / 97.0;
  };
  std::size_t one = 0;
  for (const double bound : {0.02, 0.002}) {
    for (const std::vector<int>& split : {std::vector<int>{n}, {1, 8, 3}}) {
      World w;
      w.ranks_per_node = split;
      w.steps = steps;
      w.load = load;
      w.settings.precision = {config::Precision::Kind::nrmse, bound};
      w.settings.snapshot_every = 50;
      w.run();
      for (const std::string& failure : w.failures) CHECK(failure.empty());
      const Stored stored = last_history(w);
      const codec::Decoded back = codec::HistoryReader(stored.solve).read();
      REQUIRE(back.values.size() == static_cast<std::size_t>(n * steps));
      double squares = 0, least = 1e300, most = 0;
      for (int r = 0; r < n; ++r)
        for (int s = 0; s < steps; ++s) {
          const double truth = load(r, s);
          squares += std::pow(back.values[static_cast<std::size_t>(r * steps + s)] - truth, 2);
          least = std::min(least, truth);
          most = std::max(most, truth);
        }
      const double nrmse = std::sqrt(squares / (n * steps)) / (most - least);
      CHECK(nrmse <= bound);
      CHECK(nrmse <= stored.nrmse);
      if (split.size() == 1) one = stored.solve.size();
      CAPTURE(bound, split.size(), one, stored.solve.size());
      CHECK(static_cast<double>(stored.solve.size()) <= 1.05 * static_cast<double>(one) + 2);
    }
  }
}

TEST_CASE("step loads are kept far more precisely than the histories, the same on all node splits, in every snapshot") {
  const int n = 10, steps = 127;
  // One stall: the histories lose most of it, but the critical path consists of it.
  const auto load = [](int rank, int step) {
    return 1 + 0.1 * ((rank * 104729 + step * 1299709) % 97) / 97.0 + (rank == 3 && step == 41 ? 30 : 0);
  };
  std::map<std::int64_t, std::vector<std::byte>> stored;
  for (const std::vector<int>& split : {std::vector<int>{n}, {1, 6, 3}}) {
    World w;
    w.ranks_per_node = split;
    w.steps = steps;
    w.load = load;
    w.settings.precision = {config::Precision::Kind::passes, 2};
    w.settings.snapshot_every = 50;
    w.run();
    int files = 0;
    for (const auto& f : std::filesystem::directory_iterator(w.settings.snapshot_dir)) {
      record::Reader reader(f.path());
      const record::Run& run = reader.run();
      const auto so_far = static_cast<std::size_t>(run.steps);
      std::vector<double> truth(2 * so_far);
      for (std::size_t s = 0; s < so_far; ++s)
        for (int r = 0; r < n; ++r) {
          truth[s] = std::max(truth[s], load(r, static_cast<int>(s)));
          truth[so_far + s] += load(r, static_cast<int>(s)) / n;
        }
      const auto middle = truth.begin() + run.steps;
      CHECK(run.critical_path == Catch::Approx(std::accumulate(truth.begin(), middle, 0.0)).epsilon(1e-12));
      CHECK(run.mean_path == Catch::Approx(std::accumulate(middle, truth.end(), 0.0)).epsilon(1e-12));
      const codec::Decoded back = codec::HistoryReader(run.step_loads).read();
      REQUIRE(back.values.size() == truth.size());
      double squares = 0;
      for (std::size_t i = 0; i < truth.size(); ++i) squares += std::pow(back.values[i] - truth[i], 2);
      const auto [least, most] = std::minmax_element(truth.begin(), truth.end());
      CHECK(std::sqrt(squares / static_cast<double>(truth.size())) <= 1e-3 * (*most - *least));
      const auto [before, fresh] = stored.try_emplace(run.steps, run.step_loads);
      if (!fresh) CHECK(before->second == run.step_loads);
      ++files;
    }
    CHECK(files == 3);
  }
}

TEST_CASE("an unwritable snapshot directory is reported at the end and harms nothing") {
  World w;
  w.ranks_per_node = {1, 1};
  const std::string file = w.settings.snapshot_dir + "/file";
  std::filesystem::create_directories(w.settings.snapshot_dir);
  {
    std::FILE* f = std::fopen(file.c_str(), "w");
    std::fclose(f);
  }
  w.settings.snapshot_dir = file + "/below";
  w.settings.snapshot_every = 10;
  w.run();
  check_same_everywhere(w, 4);
  for (const RankLog& log : w.logs) CHECK(log.finalized == Status::io);
  w.settings.snapshot_dir = std::filesystem::path(file).parent_path();
}
