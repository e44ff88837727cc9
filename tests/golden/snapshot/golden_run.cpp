#include "golden_run.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "analytics/codec/united_history.hpp"
#include "analytics/comm/thread_group.hpp"
#include "record/writer.hpp"

namespace effort::record::test {

double golden_load(int region, int rank, int step) {
  const double front = 1.0 / (1.0 + 0.25 * static_cast<double>((rank * 8 - step) * (rank * 8 - step)) / 16);
  const int noise = (region * 7919 + rank * 104729 + step * 1299709) % 97;
  return 1e-3 * static_cast<double>(region + 1) * (1 + 4 * front) + 1e-6 * static_cast<double>(noise);
}

std::vector<double> golden_step_loads() {
  std::vector<double> out(2 * golden_steps);
  for (int step = 0; step < golden_steps; ++step) {
    for (int rank = 0; rank < golden_ranks; ++rank) {
      double load = 0;
      for (int region = 0; region < 6; ++region) load += golden_load(region, rank, step);  // computing regions
      double& largest = out[static_cast<std::size_t>(step)];
      largest = std::max(largest, load);
      out[static_cast<std::size_t>(golden_steps + step)] += load / golden_ranks;
    }
  }
  return out;
}

namespace {

Series series_of(int region) {
  Series s;
  s.region = "region_" + std::to_string(region);
  s.kind = region == 7 ? Kind::wait : region == 6 ? Kind::comm : Kind::compute;
  for (int rank = 0; rank < golden_ranks; ++rank) {
    double sum = 0;
    for (int step = 0; step < golden_steps; ++step) sum += golden_load(region, rank, step);
    s.total += sum;
    if (sum > s.max_over_ranks) s.max_rank = rank;
    s.max_over_ranks = std::max(s.max_over_ranks, sum);
  }
  s.mean_over_ranks = s.total / golden_ranks;
  s.imbalance = s.max_over_ranks / s.mean_over_ranks - 1;
  return s;
}

Window window_of(int index) {
  Window w;
  w.first = 10 * index;
  w.last = w.first + 9;
  w.imbalance = 0.5 + 0.125 * index;
  w.gain_per_step = 0.015625;
  w.rebalance_cost = index < 2 ? -1 : 0.25;
  w.rebalance = index % 2 == 1;
  w.rebalanced = index == 1;
  w.rebalanced_at = index == 1 ? 22 : -1;
  w.strata = 2;
  w.advice = index < 2 ? 128u : 0u;
  w.prediction_error = index == 0 ? absent : 0.0625;
  w.load_balance = 0.75;
  w.worst_rank = index;
  w.worst_region_name = "region_5";
  return w;
}

/// The loads of a node's ranks in some steps of one region, [ranks][steps].
std::vector<double> block(int region, const std::vector<std::int32_t>& ranks, int first, int steps) {
  std::vector<double> out;
  for (std::int32_t rank : ranks) {
    for (int step = first; step < first + steps; ++step) out.push_back(golden_load(region, rank, step));
  }
  return out;
}

NodePart part_of(const Run& run, std::int32_t node, bool exact, bool united) {
  const std::vector<std::int32_t> ranks = run.ranks_of_node(node);
  NodePart part;
  part.node = node;
  ExactBlock raw;
  raw.first_step = golden_steps - 10;
  raw.steps = 10;
  for (int region = 0; region < golden_regions; ++region) {
    codec::History history(ranks.size(), codec::Target::passes(5));
    for (int first = 0; first < golden_steps; first += 10) history.append(block(region, ranks, first, 10), 10);
    if (!united) part.tiles.push_back({static_cast<std::uint32_t>(region), 0, history.serialize_final()});
    raw.series.push_back(static_cast<std::uint32_t>(region));
    const std::vector<double> values = block(region, ranks, golden_steps - 10, 10);
    raw.values.insert(raw.values.end(), values.begin(), values.end());
  }
  if (exact) part.exact.push_back(raw);
  if (node == 1)
    part.traffic = {{"MPI_Send [golden+0x10]"}, {{0, 5, 0, 0, 3, 24, 0.5}, {5, 7, 6, 0, 1, 1048576, 0.125}}};
  return part;
}

}  // namespace

Run golden_run() {
  Run run;
  run.version = "0.1.0";
  run.name = "golden";
  run.job = "1";
  run.place(std::vector<std::int32_t>{0, 0, 0, 0, 0, 1, 1, 1});
  run.steps = golden_steps;
  run.load_metric = "cpu_time";
  run.wall_seconds = 2.5;
  run.merged_steps = 3;
  run.own_cpu_seconds = {0.0625, 0.03125};
  run.own_bytes = {1 << 20, 1 << 19};
  run.metrics = {{"cpu_time", "s"}};
  run.modules = {{"golden", "/opt/golden/bin/golden", "00ff"}, {"libc.so.6", "/lib/libc.so.6", ""}};
  for (int region = 0; region < golden_regions; ++region) run.series.push_back(series_of(region));
  for (int index = 0; index < golden_steps / 10; ++index) run.windows.push_back(window_of(index));
  Strata strata;
  strata.first = 50;
  strata.last = 59;
  strata.label = {0, 0, 0, 0, 0, 1, 1, 1};
  strata.medoid_rank = {2, 6};
  for (int region = 0; region < golden_regions; ++region) strata.region.push_back("region_" + std::to_string(region));
  for (int i = 0; i < 2 * golden_regions; ++i) strata.region_load.push_back(0.001 * i);
  run.strata = {strata};
  run.moves = {{30, 39, 3, {{0, 2, 2}}}, {40, 49, 2, {{4, 1, 1}, {7, 1, 0}}}};
  const std::vector<double> loads = golden_step_loads();
  run.critical_path = std::accumulate(loads.begin(), loads.begin() + golden_steps, 0.0);
  run.mean_path = std::accumulate(loads.begin() + golden_steps, loads.end(), 0.0);
  codec::History steps(2, codec::Target::nrmse(1e-3));
  steps.append(loads, golden_steps);
  run.step_loads = steps.serialize_final();
  run.unit_costs = {{"cells", 2e-7, 1e-9}};
  run.window_costs = {{40, "cells", 1.5e-7, 2e-9}, {50, "cells", 2e-7, 1e-9}};
  run.speeds = {{5, 1}, {3, 1.25}};
  run.notes = {"3 steps merged: a ring was full"};
  return run;
}

std::vector<std::byte> golden_file(bool exact, bool united) {
  const Run run = golden_run();
  std::vector<std::vector<std::byte>> parts;
  for (std::int32_t node = 0; node < run.nodes; ++node) parts.push_back(encode_part(part_of(run, node, exact, united)));
  if (united) {
    parts.push_back(shared_histories(run, std::vector<int>(golden_regions, 0),
                                     [](int region, const std::vector<std::int32_t>& ranks, int first) {
                                       return block(region, ranks, first, golden_steps - first);
                                     }));
  }
  return encode(run, parts);
}

std::vector<std::byte> shared_histories(
    const Run& run, const std::vector<int>& first,
    const std::function<std::vector<double>(int series, const std::vector<std::int32_t>& ranks, int first)>& block) {
  std::vector<std::byte> out;
  run_thread_group(run.nodes, [&](Communicator& nodes) {
    const std::vector<std::int32_t> ranks = run.ranks_of_node(nodes.rank());
    codec::UnitedHistories united(nodes, codec::Target::passes(8));
    for (std::size_t s = 0; s < first.size(); ++s) {
      codec::History history(ranks.size(), codec::Target::passes(8), std::size_t{1} << 18, true);
      const auto steps = static_cast<std::size_t>(run.steps - first[s]);
      history.append(block(static_cast<int>(s), ranks, first[s]), steps);
      united.add({&history, ranks.size(), 0, steps});
    }
    std::vector<Tile> tiles;
    for (std::vector<std::byte>& bytes : united.finish()) {
      const auto s = static_cast<std::uint32_t>(tiles.size());
      tiles.push_back({s, first[s], std::move(bytes)});
    }
    if (nodes.rank() == 0) out = encode_united(tiles);
  });
  return out;
}

}  // namespace effort::record::test
