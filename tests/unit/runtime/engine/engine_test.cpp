// Whole nodes in one process: every rank is a thread with a recorder of its own, every node has an engine.
#include "runtime/engine/engine.hpp"
#include "analytics/codec/history.hpp"
#include "record/reader.hpp"
#include "runtime/engine/rank_client.hpp"
#include "runtime/measure/boundary.hpp"

#include "../thread_transport.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include <unistd.h>

using namespace effort;
using namespace effort::engine;
using effort::testing::ThreadTransport;

namespace {

std::string fresh_directory() {
  static int n = 0;
  const auto path = std::filesystem::temp_directory_path() /
                    ("effort-engine-" + std::to_string(getpid()) + "-" + std::to_string(n++));
  std::filesystem::create_directories(path);
  return path.string();
}

struct Seen {
  std::int64_t step;
  std::vector<std::byte> bytes;  // load, predicted, stratum, numbers
  node::HintNumbers numbers;
  bool overtaken;
  std::vector<double> load;
};

struct RankLog {
  std::vector<Seen> hints;
  std::int64_t off_at = -1;
  Status finalized = Status::internal;
};

struct World {
  std::vector<int> ranks_per_node{1};
  int steps = 45;
  config::Settings settings;
  std::function<double(int rank, int step)> load = [](int rank, int) { return 1.0 + rank; };
  std::function<int(int rank, const DeliveredHint&)> callback = [](int, const DeliveredHint&) { return 0; };
  std::function<void(int node, std::int64_t look)> before_look;
  std::function<void(int rank, int step, RankClient&)> before_step_ends = [](int, int, RankClient&) {};

  std::vector<RankLog> logs;
  std::vector<std::string> failures;

  World() {
    settings.load_metric = "units";
    settings.window = 10;
    settings.hint_lag = 2;
    settings.snapshot_dir = fresh_directory();
  }
  ~World() { std::filesystem::remove_all(settings.snapshot_dir); }

  int n_ranks() const { return std::accumulate(ranks_per_node.begin(), ranks_per_node.end(), 0); }

  void run() {
    const int nodes = static_cast<int>(ranks_per_node.size());
    logs.assign(static_cast<std::size_t>(n_ranks()), {});
    failures.assign(ranks_per_node.size(), "");
    run_thread_group(nodes, [&](Communicator& group) { run_node(group); });
  }

 private:
  void run_node(Communicator& group) {
    const int me = group.rank();
    const int n_local = ranks_per_node[static_cast<std::size_t>(me)];
    const int first = std::accumulate(ranks_per_node.begin(), ranks_per_node.begin() + me, 0);
    auto segment = node::Segment::make_private(n_local, {n_ranks(), n_local});
    ThreadTransport transport(group);
    exchange::DirectExecutor executor(transport);
    exchange::LeaderCommunicator comm(executor, me, group.size());
    NodeSetup setup;
    setup.n_ranks = n_ranks();
    setup.name = "engine_test";
    setup.job = "1";
    for (int l = 0; l < n_local; ++l) setup.ranks.push_back(first + l);
    if (me == 0)
      for (std::size_t n = 0; n < ranks_per_node.size(); ++n)
        for (int l = 0; l < ranks_per_node[n]; ++l) setup.node_of_rank.push_back(static_cast<std::int32_t>(n));
    Engine engine(
        settings, setup, *segment, comm, [&] { comm.fail(); }, nullptr);
    if (before_look) engine.before_look = [this, me](std::int64_t look) { before_look(me, look); };
    std::vector<std::thread> ranks;
    for (int l = 0; l < n_local; ++l) ranks.emplace_back([&, l] { run_rank(*segment, first + l, l); });
    engine.run();
    for (auto& r : ranks) r.join();
    failures[static_cast<std::size_t>(me)] = engine.failure();
  }

  void run_rank(node::Segment& segment, int rank, int local) {
    measure::Recorder recorder(settings.metrics, settings.load_metric, measure::LoadThreads::max);
    RankClient::Setup setup;
    setup.rank = rank;
    setup.n_ranks = n_ranks();
    setup.local = local;
    setup.first_look = first_look(settings);
    setup.tile = settings.tile_steps();
    RankClient client(setup, recorder, segment);
    RankLog& log = logs[static_cast<std::size_t>(rank)];
    // Ranks know the regions in different order, and rank 1 knows one more.
    auto& names = recorder.registry();
    if (rank % 2) names.region("other", measure::Kind::comm);
    const auto region = names.region("solve", measure::Kind::compute).id;
    if (rank == 1) names.region("only here", measure::Kind::compute);
    const auto metric = names.metric("units", "1").id;
    auto deliver = [&](const DeliveredHint& h) {
      log.hints.push_back(copy(h));
      return callback(rank, h);
    };
    for (int s = 0; s < steps; ++s) {
      measure::ThreadSlot& slot = recorder.slot();
      measure::open_region(slot, region);
      recorder.add_metric(metric, load(rank, s));
      measure::close_region(slot, region);
      before_step_ends(rank, s, client);
      if (client.progress_step(deliver) != Status::ok && log.off_at < 0) log.off_at = s;
    }
    log.finalized = client.finalize();
  }

  Seen copy(const DeliveredHint& h) const {
    Seen s;
    s.step = h.step;
    s.numbers = *h.view.numbers;
    s.overtaken = h.overtaken;
    const auto n = static_cast<std::size_t>(h.n_ranks);
    s.load.assign(h.view.load, h.view.load + n);
    auto append = [&](const void* p, std::size_t bytes) {
      const auto* b = static_cast<const std::byte*>(p);
      s.bytes.insert(s.bytes.end(), b, b + bytes);
    };
    append(h.view.load, n * 8);
    append(h.view.predicted, n * 8);
    append(h.view.stratum, n * 4);
    append(h.view.medoid_rank, static_cast<std::size_t>(s.numbers.report.strata) * 4);
    append(h.view.stratum_region_load, static_cast<std::size_t>(s.numbers.report.strata * s.numbers.n_regions) * 8);
    append(&s.numbers.report.rebalance, sizeof(bool));
    append(&s.numbers.report.advice, sizeof(std::uint32_t));
#define EFFORT_NUMBER(name, unknown) append(&s.numbers.report.name, sizeof(double));
    EFFORT_WINDOW_NUMBERS(EFFORT_NUMBER)
#undef EFFORT_NUMBER
    return s;
  }
};

void check_same_everywhere(const World& w, std::size_t hints) {
  for (const RankLog& log : w.logs) {
    REQUIRE(log.hints.size() == hints);
    for (std::size_t i = 0; i < hints; ++i) {
      CHECK(log.hints[i].step == w.logs[0].hints[i].step);
      CHECK(log.hints[i].bytes == w.logs[0].hints[i].bytes);
    }
  }
}

}  // namespace

TEST_CASE("hints arrive HINT_LAG steps after each window, the same on all ranks and node splits") {
  std::optional<std::vector<std::byte>> reference;
  for (auto split : std::vector<std::vector<int>>{{6}, {3, 3}, {1, 2, 3}, {1, 1, 1, 1, 1, 1}}) {
    World w;
    w.ranks_per_node = split;
    w.run();
    check_same_everywhere(w, 4);
    std::vector<std::byte> all;
    for (std::size_t i = 0; i < 4; ++i) {
      const Seen& hint = w.logs[0].hints[i];
      CHECK(hint.step == static_cast<std::int64_t>(10 * i + 11));
      CHECK(hint.numbers.report.last == static_cast<std::int64_t>(10 * i + 9));
      for (int r = 0; r < 6; ++r) CHECK(hint.load[static_cast<std::size_t>(r)] == Catch::Approx(1.0 + r));
      CHECK(hint.numbers.report.imbalance == Catch::Approx(6 / 3.5 - 1));
      CHECK(hint.numbers.report.rebalance == 1);
      all.insert(all.end(), hint.bytes.begin(), hint.bytes.end());
    }
    if (!reference) reference = all;
    CHECK(*reference == all);
    for (const RankLog& log : w.logs) CHECK(log.finalized == Status::ok);
    int files = 0;
    for (const auto& f : std::filesystem::directory_iterator(w.settings.snapshot_dir))
      files += f.path().extension() == ".effort";
    CHECK(files == 1);
  }
}

TEST_CASE("a lag of a whole window, and of one step") {
  for (int lag : {1, 4}) {
    World w;
    w.ranks_per_node = {2, 1};
    w.settings.window = 4;
    w.settings.hint_lag = lag;
    w.steps = 17;
    w.run();
    const std::size_t due = static_cast<std::size_t>((17 - lag) / 4);
    check_same_everywhere(w, due);
    for (std::size_t i = 0; i < due; ++i) CHECK(w.logs[0].hints[i].step == static_cast<std::int64_t>(4 * i) + 3 + lag);
  }
}

TEST_CASE("after a rebalance a window begins with the first new step") {
  World w;
  w.ranks_per_node = {2, 2};
  w.steps = 60;
  // Rank 3 alone answers 1, at the first hint; the maximum counts.
  w.callback = [&](int rank, const DeliveredHint& h) { return rank == 3 && h.step == 11 ? 1 : 0; };
  w.run();
  for (const RankLog& log : w.logs) {
    REQUIRE(log.hints.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      const window::Report& n = log.hints[i].numbers.report;
      CHECK(n.first == (i == 1 ? 12 : static_cast<std::int64_t>(10 * i)));
      CHECK(n.last == static_cast<std::int64_t>(10 * i) + 9);
      CHECK((n.advice & 1u) == 0);
      CHECK(n.rebalance == 1);
    }
  }
}

TEST_CASE("windows that end before a rebalance are stale, those with new steps are made of these") {
  World w;
  w.ranks_per_node = {2, 2};
  w.steps = 60;
  w.settings.hint_lag = 10;
  w.callback = [&](int rank, const DeliveredHint& h) { return rank == 3 && h.step == 19 ? 1 : 0; };
  w.run();
  const auto& hints = w.logs[0].hints;
  REQUIRE(hints.size() == 5);
  CHECK((hints[0].numbers.report.advice & 1u) == 0);
  CHECK((hints[1].numbers.report.advice & 1u) == 1);  // steps 10..19, the rebalance was at 19
  CHECK(hints[1].numbers.report.first == 10);
  CHECK(hints[1].numbers.report.rebalance == 0);
  CHECK((hints[2].numbers.report.advice & 1u) == 0);
  CHECK(hints[2].numbers.report.rebalance == 1);  // nothing changed: recommended again
  // With a load that is no time there is no price, however long the callback took.
  CHECK(hints[4].numbers.report.rebalance_cost < 0);
}

TEST_CASE("a rebalance between a window's end and its hint overtakes the hint, on all ranks") {
  World w;
  w.ranks_per_node = {2, 1, 2};
  w.steps = 60;
  w.before_step_ends = [](int, int step, RankClient& client) {
    if (step != 30) return;  // window 2 ended with step 29, its hint is due at the end of step 31
    client.rebalance_begin();
    client.rebalance_end();
  };
  w.run();
  for (const RankLog& log : w.logs) {
    REQUIRE(log.hints.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(log.hints[i].overtaken == (i == 2));
    CHECK(log.hints[3].numbers.report.first == 31);
  }
}

TEST_CASE(
    "the price of a rebalance: the longest computing where communication is marked, otherwise the shortest stay") {
  const auto united = [](std::vector<RebalanceAnswer> ranks) {
    RebalanceAnswer all = ranks[0];
    for (std::size_t r = 1; r < ranks.size(); ++r) all.add(ranks[r]);
    return all.seconds();
  };
  // step, price, computing, answer, bracketed
  CHECK(united({{5, 0.4, -1, 1, 1}, {5, 0.1, -1, 1, 1}, {5, 0.9, -1, 1, 1}}) == 0.1);
  CHECK(united({{5, 0.4, 0.3, 1, 1}, {5, 0.1, 0.1, 1, 1}, {5, 0.9, 0.2, 1, 1}}) == 0.3);
  CHECK(united({{5, 0.4, 0.3, 1, 1}, {5, 0.4, 0.1, 1, 1}, {5, 0.9, 0.2, 1, 1}}) ==
        0.4);  // by the wall clock, transfer included
  CHECK(united({{5, 0.1, -1, 1, 1}, {5, 0.5, 0.2, 1, 1}}) ==
        0.2);  // a rank without a mark has nothing to say beside others
  CHECK(united({{5, 9.0, 9.0, -5, 0}, {5, 0.2, 0.1, 1, 0}, {5, 8, 8, -5, 0}}) == 0.2);  // nor has one that failed
  CHECK(united({{5, -1, -1, 1, 1}, {5, 0.2, -1, 1, 1}}) == 0.2);  // nor one whose clock is not known
  CHECK(united({{5, -1, -1, 1, 1}, {5, -1, -1, 1, 1}}) < 0);
}

TEST_CASE("a step belongs to the distribution under which most of it ran") {
  const RebalanceAnswer early{5, 0, -1, 1, 4, 0.1, 4.0}, late{5, 0, -1, 1, 4, 3.9, 4.0}, answered{5, 0, -1, 1, 0, 0, 0};
  CHECK(early.last_old_step() == 4);
  CHECK(late.last_old_step() == 5);
  CHECK(answered.last_old_step() == 5);
}

TEST_CASE("a node that fails switches all ranks off at the same step, and finalize comes back") {
  World w;
  w.ranks_per_node = {2, 1, 2};
  w.steps = 60;
  w.before_look = [](int node, std::int64_t look) {
    if (node == 1 && look == 2) throw std::bad_alloc();
  };
  w.run();
  check_same_everywhere(w, 2);
  for (const RankLog& log : w.logs) {
    CHECK(log.off_at == 31);  // where the hint of window 2 was due
    CHECK(log.finalized == Status::switched_off);
  }
  for (const auto& f : w.failures) CHECK_FALSE(f.empty());
}

TEST_CASE("no steps at all, fewer than a window, and one rank") {
  for (int steps : {0, 1, 7, 10, 11}) {
    World w;
    w.ranks_per_node = {1, 1};
    w.steps = steps;
    w.run();
    for (const RankLog& log : w.logs) {
      CHECK(log.finalized == Status::ok);
      CHECK(log.hints.empty());
    }
  }
}

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

TEST_CASE("what every step took is kept far finer than the histories, the same on all node splits, in every snapshot") {
  const int n = 10, steps = 127;
  // One stall: it is all that the histories lose most of, and what a critical path is made of.
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

TEST_CASE("an unwritable snapshot directory is said at the end and harms nothing") {
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
