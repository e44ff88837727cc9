// Whole nodes in one process: every rank is a thread with a recorder of its own, every node has an engine.
#pragma once

#include "analytics/codec/history.hpp"
#include "record/reader.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/measure/boundary.hpp"
#include "runtime/session/rank_client.hpp"

#include "../thread_transport.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include <unistd.h>

namespace effort::engine::test {

using effort::testing::ThreadTransport;

inline std::string fresh_directory() {
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
  int calls = 1;             ///< of the region, in each step
  bool record_late = false;  ///< only from the end of the first step on, as after effort_init without MPI
  config::Settings settings;
  std::function<double(int rank, int step)> load = [](int rank, int) { return 1.0 + rank; };
  std::function<int(int rank, const session::DeliveredHint&)> callback = [](int, const session::DeliveredHint&) {
    return 0;
  };
  std::function<void(int node, std::int64_t look)> before_look;
  std::function<void(int rank, int step, session::RankClient&)> before_step_ends = [](int, int, session::RankClient&) {
  };

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
    auto segment = node::Segment::make_private(
        {n_local, {n_ranks(), n_local}, settings.trace.on ? recording::Memory::blocks_in(1 << 18) : 0});
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
    session::RankClient::Setup setup;
    setup.rank = rank;
    setup.n_ranks = n_ranks();
    setup.local = local;
    setup.first_look = first_look(settings);
    setup.tile = settings.tile_steps();
    session::RankClient client(setup, recorder, segment);
    RankLog& log = logs[static_cast<std::size_t>(rank)];
    // Ranks know the regions in different order, and rank 1 knows one more.
    auto& names = recorder.registry();
    if (rank % 2) names.region("other", measure::Kind::comm);
    const auto region = names.region("solve", measure::Kind::compute).id;
    if (rank == 1) names.region("only here", measure::Kind::compute);
    const auto metric = names.metric("units", "1").id;
    auto deliver = [&](const session::DeliveredHint& h) {
      log.hints.push_back(copy(h));
      return callback(rank, h);
    };
    for (int s = 0; s < steps; ++s) {
      if (s == 0 && !record_late) record(segment, local, recorder);
      measure::ThreadSlot& slot = recorder.slot();
      for (int call = 1; call < calls; ++call) {
        measure::open_region(slot, region);
        measure::close_region(slot, region);
      }
      measure::open_region(slot, region);
      recorder.add_metric(metric, load(rank, s));
      measure::close_region(slot, region);
      if (s == 0 && record_late) record(segment, local, recorder);
      before_step_ends(rank, s, client);
      if (client.progress_step(deliver) != Status::ok && log.off_at < 0) log.off_at = s;
    }
    log.finalized = client.finalize();
    recorder.stop_events();
  }

  static void record(node::Segment& segment, int local, measure::Recorder& recorder) {
    if (const recording::Memory memory = segment.trace(local)) recorder.record_events(memory);
  }

  Seen copy(const session::DeliveredHint& h) const {
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
#define EFFORT_NUMBER(name, unknown, unit, meaning) append(&s.numbers.report.name, sizeof(double));
    EFFORT_WINDOW_NUMBERS(EFFORT_NUMBER)
#undef EFFORT_NUMBER
    return s;
  }
};

inline void check_same_everywhere(const World& w, std::size_t hints) {
  for (const RankLog& log : w.logs) {
    REQUIRE(log.hints.size() == hints);
    for (std::size_t i = 0; i < hints; ++i) {
      CHECK(log.hints[i].step == w.logs[0].hints[i].step);
      CHECK(log.hints[i].bytes == w.logs[0].hints[i].bytes);
    }
  }
}

}  // namespace effort::engine::test
