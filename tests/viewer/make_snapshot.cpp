// Writes snapshots for the report's tests: make_snapshot KIND OUT.effort
// KIND: empty, one-rank, one-step, regions (2,000 of them), full (phases, strata over windows, rebalances, unit costs,
// slow nodes, call paths, two metrics), exact (with exact values), shared (one history for all nodes), like-amr,
// like-md, like-pic (loads like those of recorded runs), jolt (one step takes 50 times as long), wide (so large that
// the report adds pictures to the histories), large and large-shared (16,384 ranks x 1,024 steps x 32 regions, on 128
// and on 64 nodes), halo and halo-large (48 and 16,384 ranks with a communication matrix over 8 windows: 26 neighbours
// each, in the second half of the run only 6; and waits at collectives: in 5 windows for rank 7, in the last for rank
// 20), waits (the waits of halo without the matrix), followed (these and waits for messages, followed back to rank 3).
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "analytics/codec/history.hpp"
#include "analytics/codec/united_history.hpp"
#include "analytics/comm/thread_group.hpp"
#include "record/step_load_log.hpp"
#include "record/writer.hpp"
#include "tests/viewer/halo.hpp"

namespace {

using namespace effort;

struct Shape {
  std::int32_t ranks = 8, nodes = 1;
  std::int64_t steps = 60;
  int regions = 4;
  bool full = false, exact = false, united = false;
  /// The kind of recorded code that the loads resemble.
  enum class Like { mesh, amr, md, pic } like = Like::mesh;
  /// The step that takes 50 times as long as the others; -1: none.
  std::int64_t jolt = -1;
  bool halo = false;
  int wait_metrics = 0;  ///< of test::wait_metrics, the first
};

/// Noise in [0, 1) from a cheap hash.
double noise(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  return static_cast<double>(x >> 40) / static_cast<double>(1 << 24);
}

std::uint64_t key_of(int region, std::int32_t rank, std::int64_t step) {
  return static_cast<std::uint64_t>(region) * 1000003 + static_cast<std::uint64_t>(rank) * 10007 +
         static_cast<std::uint64_t>(step);
}

/// A mesh that is refined every 25 steps and leaves a few ranks with several times the blocks of the others; rare
/// stalls.
double amr_load(const Shape& shape, int region, std::int32_t rank, std::int64_t step) {
  const std::int64_t mesh = step / 25;
  const double blocks = noise(key_of(0, rank, mesh)) > 0.85 ? 4 + 3 * noise(key_of(1, rank, mesh)) : 1;
  const double stall = noise(key_of(region + 7, rank, step)) > 0.998 ? 20 : 0;
  return 2e-4 / (1 + region) * (blocks + stall + 0.1 * noise(key_of(region, rank, step))) *
         (step % 10 == 0 && region == shape.regions - 1 ? 6 : 1);
}

/// Two droplets that move over the ranks, neighbour lists every fourth step; most ranks have next to no work.
double md_load(const Shape& shape, int region, std::int32_t rank, std::int64_t step) {
  const double place = (rank + 0.5) / shape.ranks, time = static_cast<double>(step) / static_cast<double>(shape.steps);
  const double drops =
      std::exp(-std::pow((place - 0.2 - 0.3 * time) * 14, 2)) + std::exp(-std::pow((place - 0.8 + 0.3 * time) * 14, 2));
  return 1e-4 / (1 + region) * (0.05 + 5 * drops + 0.02 * noise(key_of(region, rank, step))) *
         (region % 4 == 1 && step % 4 != 0 ? 0 : 1);
}

/// A cloud that drifts over the ranks and loads one after the other.
double pic_load(const Shape& shape, int region, std::int32_t rank, std::int64_t step) {
  const double front = static_cast<double>(step % 100) / 100 * shape.ranks, distance = std::abs(rank - front);
  return 1e-3 / (1 + region) * (0.1 + std::pow(0.6, distance) + 0.03 * noise(key_of(region, rank, step)));
}

/// Load in seconds: a front that wanders over the ranks in some regions, steps of the mesh in others, noise in all.
double load(const Shape& shape, int region, std::int32_t rank, std::int64_t step) {
  if (shape.like == Shape::Like::amr) return amr_load(shape, region, rank, step);
  if (shape.like == Shape::Like::md) return md_load(shape, region, rank, step);
  if (shape.like == Shape::Like::pic) return pic_load(shape, region, rank, step);
  const double place = (rank + 0.5) / shape.ranks,
               time = static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(shape.steps, 1));
  const double front = std::exp(-std::pow((place - 0.15 - 0.7 * time) * 12, 2)), base = 1e-3 / (1 + region % 16);
  const double mesh = region % 3 == 0 ? 3 * front
                      : region % 3 == 1
                          ? 0.6 * (rank * 7 / shape.ranks % 3)
                          : 0.2 * static_cast<double>(step * 8 / std::max<std::int64_t>(shape.steps, 1) % 2);
  return base * (1 + mesh + 0.05 * noise(key_of(region, rank, step))) * (step == shape.jolt ? 50 : 1);
}

std::string name_of(const Shape& shape, int region) {
  if (shape.full && region == 2)
    return "MPI_Send [app+0x1234 libsolver.so+0x88] > MPI_Recv [app+0x2345 libsolver.so+0x99]";
  if (shape.full && region == 3) return "MPI_Allreduce [app+0x1300 libsolver.so+0x88]";
  // Names as tools give to the code between two calls: long, and alike up to the last characters.
  if (shape.like != Shape::Like::mesh && region > 0)
    return "MPI_Waitall@libmdengine.so.0+0x2b" + std::to_string(3555 - 7 * region) +
           "->MPI_Sendrecv@libmdengine.so.0+0x2b0c" + std::to_string(10 + region);
  static const char* names[] = {"solve", "assemble", "advance", "halo"};
  return region < 4 ? names[region] : "region " + std::to_string(region);
}

record::Kind kind_of(int region) { return region % 4 == 3 ? record::Kind::comm : record::Kind::compute; }

/// The compressed histories of one node, its ranks' sums [regions][ranks], and the loads of its steps.
struct Part {
  record::NodePart part;
  std::vector<std::vector<double>> sums;
  std::vector<double> step_loads;  ///< [ranks][steps] of the compute regions, by the first metric
};

/// Adds a window's loads of a compute region to the loads of the steps.
void add_step_loads(Part& out, const std::vector<double>& block, std::int64_t first, std::int64_t n,
                    std::int64_t steps) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) / n, col = static_cast<std::int64_t>(i) % n;
    out.step_loads[static_cast<std::size_t>(row * steps + first + col)] += block[i];
  }
}

/// The messages of a node's ranks to their neighbours; messages to a late rank, number ranks / 3, take longer.
record::Traffic traffic_of(const Shape& shape, std::int64_t window, const std::vector<std::int32_t>& ranks) {
  const test::Grid grid(shape.ranks);
  record::Traffic out{{"halo"}, {}};
  for (std::int64_t first = 0; first + window <= shape.steps; first += window) {
    for (const std::int32_t rank : ranks) {
      const auto neighbours = grid.neighbours(rank);
      for (int k = 0; k < 26; ++k) {
        if (2 * first >= shape.steps && test::Grid::distance(k) > 1) continue;
        const std::int32_t to = neighbours[static_cast<std::size_t>(k)];
        const double bytes = static_cast<double>(test::bytes_to(k)), n = static_cast<double>(window);
        const double seconds = n * (1e-6 + 1e-10 * bytes) * (1 + noise(key_of(k, rank, first)));
        out.flows.push_back({first / window, rank, to, 0, n, n * bytes, to == shape.ranks / 3 ? 5 * seconds : seconds,
                             static_cast<std::int32_t>(std::bit_width(static_cast<unsigned>(test::bytes_to(k))))});
      }
    }
  }
  return out;
}

Part part_of(const Shape& shape, const record::Run& run, std::int32_t node) {
  const std::vector<std::int32_t> ranks = run.ranks_of_node(node);
  Part out;
  out.part.node = node;
  constexpr std::int64_t window = 64;
  const auto loads = static_cast<std::uint32_t>(shape.regions * (shape.full ? 2 : 1));
  out.step_loads.assign(ranks.size() * static_cast<std::size_t>(shape.steps), 0.0);
  for (std::uint32_t s = 0; s < run.series.size(); ++s) {
    const int region = static_cast<int>(s) % shape.regions;
    codec::History history(ranks.size(), codec::Target::passes(5));
    std::vector<double> sums(ranks.size());
    for (std::int64_t first = 0; first < shape.steps; first += window) {
      const std::int64_t n = std::min(window, shape.steps - first);
      std::vector<double> block;
      for (std::size_t r = 0; r < ranks.size(); ++r)
        for (std::int64_t k = 0; k < n; ++k) {
          const double value = s >= loads ? test::waits(shape.ranks, test::wait_metrics[s - loads], ranks[r], first + k)
                                          : load(shape, region, ranks[r], first + k) *
                                                (s >= static_cast<std::uint32_t>(shape.regions) ? 2e6 : 1);
          block.push_back(value);
          sums[r] += value;
        }
      if (!shape.united) history.append(block, static_cast<std::size_t>(n));
      if (s < static_cast<std::uint32_t>(shape.regions) && kind_of(region) == record::Kind::compute)
        add_step_loads(out, block, first, n, shape.steps);
      if (shape.exact) out.part.exact.push_back({first, static_cast<std::int32_t>(n), {s}, block});
    }
    if (shape.steps > 0 && !shape.united) out.part.tiles.push_back({s, 0, history.serialize_final()});
    out.sums.push_back(std::move(sums));
  }
  if (shape.halo) out.part.traffic = traffic_of(shape, run.window, ranks);
  return out;
}

/// The stratum of every rank; groups of ranks wander through the strata from window to window.
std::vector<std::int32_t> labels_of(const Shape& shape, std::int32_t strata, std::int64_t window) {
  std::vector<std::int32_t> out;
  for (std::int32_t r = 0; r < shape.ranks; ++r)
    out.push_back(static_cast<std::int32_t>((static_cast<std::int64_t>(r) * strata + window * shape.ranks / 7) /
                                            shape.ranks % strata));
  return out;
}

void add_windows(record::Run& run, const Shape& shape) {
  record::StrataLog log;
  for (std::int64_t first = 0; first + run.window <= shape.steps; first += run.window) {
    record::Window w;
    w.first = first;
    w.last = first + run.window - 1;
    const auto index = first / run.window;
    w.imbalance = 0.4 + 0.3 * std::sin(static_cast<double>(index));
    w.gain_per_step = 1e-3;
    w.rebalance_cost = 0.02;
    w.rebalance = index % 3 == 1;
    w.rebalanced = index % 6 == 1;
    w.rebalanced_at = w.rebalanced ? w.last + 3 : -1;
    w.strata = std::min(3, shape.ranks);
    w.prediction_error = 0.05;
    w.load_balance = 1 / (1 + w.imbalance);
    w.communication_efficiency = 0.9;
    w.parallel_efficiency = 0.9 * w.load_balance;
    w.worst_rank = static_cast<std::int32_t>(index % shape.ranks);
    w.worst_region_name = "solve";
    run.windows.push_back(w);
    if (shape.full) {
      const double swing = 1 + 0.1 * std::sin(static_cast<double>(index));
      run.window_costs.push_back({first, "cells", 2e-7 * swing, 1e-8 / static_cast<double>(index + 1)});
      if (index > 0) run.window_costs.push_back({first, "particles", 3.5e-8 / swing, 4e-10});
    }
    record::Strata strata;
    strata.first = w.first;
    strata.last = w.last;
    strata.label = labels_of(shape, w.strata, index);
    for (std::int32_t c = 0; c < w.strata; ++c)
      strata.medoid_rank.push_back(
          static_cast<std::int32_t>(std::find(strata.label.begin(), strata.label.end(), c) - strata.label.begin()));
    for (int g = 0; g < shape.regions; ++g) strata.region.push_back(name_of(shape, g));
    for (int i = 0; i < w.strata * shape.regions; ++i) strata.region_load.push_back(1e-4 * (1 + i % 7));
    log.add(std::move(strata));
  }
  log.describe(run);
}

record::Run run_of(const Shape& shape, const std::string& name) {
  record::Run run;
  run.version = "0.1.0";
  run.name = name;
  run.job = "7";
  std::vector<std::int32_t> node_of_rank;
  for (std::int32_t r = 0; r < shape.ranks; ++r)
    node_of_rank.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(r) * shape.nodes / shape.ranks));
  run.place(node_of_rank);
  run.steps = shape.steps;
  run.load_metric = "time";
  run.metrics = {{"time", "s"}};
  if (shape.full) run.metrics.push_back({"instructions", "1"});
  run.wall_seconds = 5e-3 * static_cast<double>(shape.steps * shape.regions);
  run.own_cpu_seconds.assign(static_cast<std::size_t>(run.nodes), 0.01);
  run.own_bytes.assign(static_cast<std::size_t>(run.nodes), 1 << 20);
  for (std::uint32_t m = 0; m < run.metrics.size(); ++m) {
    for (int g = 0; g < shape.regions; ++g) {
      record::Series s;
      s.region = name_of(shape, g);
      s.kind = kind_of(g);
      if (shape.full) s.phase = g % 2 == 0 ? "set-up" : "time loop";
      s.metric = m;
      run.series.push_back(std::move(s));
    }
  }
  for (int m = 0; m < shape.wait_metrics; ++m) {
    const char* const metric = test::wait_metrics[m];
    record::Series s;
    s.region = "(step)";
    s.kind = record::Kind::wait;
    s.metric = static_cast<std::uint32_t>(run.metrics.size());
    run.metrics.push_back({metric, "s"});
    run.series.push_back(std::move(s));
  }
  add_windows(run, shape);
  if (shape.full) run.unit_costs = {{"cells", 2e-7, 1e-9}, {"particles", 3.5e-8, 4e-10}};
  if (shape.full) run.speeds = {{12, 1}, {12, 1.3}, {1, 1.1}, {23, 1}};
  if (shape.full) run.notes = {"a note with <b>markup</b> & \"quotes\" that must stay text"};
  return run;
}

void finish_series(record::Run& run, const std::vector<Part>& parts) {
  for (std::size_t s = 0; s < run.series.size(); ++s) {
    record::Totals totals;
    for (const Part& part : parts) {
      const std::vector<std::int32_t> ranks = run.ranks_of_node(part.part.node);
      for (std::size_t r = 0; r < ranks.size(); ++r) totals.add({part.sums[s][r], part.sums[s][r], ranks[r]});
    }
    run.series[s].set_totals(totals, run.ranks);
  }
}

/// Sets the critical path, the mean path and the loads of the steps, from all nodes' parts.
void finish_steps(record::Run& run, std::vector<Part>& parts) {
  const auto steps = static_cast<std::size_t>(run.steps);
  std::vector<double> loads(2 * steps);
  for (Part& part : parts) {
    for (std::size_t i = 0; i < part.step_loads.size(); ++i) {
      double& largest = loads[i % steps];
      largest = std::max(largest, part.step_loads[i]);
      loads[steps + i % steps] += part.step_loads[i] / run.ranks;
    }
    part.step_loads = {};
  }
  record::StepLoadLog log;
  log.append(loads);
  log.describe(run, true);
}

/// One history for all nodes per series, as the last snapshot of a run holds it.
std::vector<std::byte> united_part(const Shape& shape, const record::Run& run) {
  std::vector<std::byte> out;
  run_thread_group(run.nodes, [&](Communicator& nodes) {
    const std::vector<std::int32_t> ranks = run.ranks_of_node(nodes.rank());
    // A few passes over so many ranks at once would leave next to nothing to decode.
    const codec::Target target = shape.ranks > 1000 ? codec::Target::nrmse(0.01) : codec::Target::passes(5);
    codec::UnitedHistories united(nodes, target);
    for (std::uint32_t s = 0; s < run.series.size(); ++s) {
      codec::History history(ranks.size(), target, std::size_t{1} << 18, true);
      std::vector<double> block;
      for (const std::int32_t rank : ranks)
        for (std::int64_t step = 0; step < shape.steps; ++step)
          block.push_back(load(shape, static_cast<int>(s) % shape.regions, rank, step));
      history.append(block, static_cast<std::size_t>(shape.steps));
      united.add({&history, ranks.size(), 0, static_cast<std::size_t>(shape.steps)});
    }
    std::vector<record::Tile> tiles;
    for (std::vector<std::byte>& bytes : united.finish())
      tiles.push_back({static_cast<std::uint32_t>(tiles.size()), 0, std::move(bytes)});
    if (nodes.rank() == 0) out = record::encode_united(tiles);
  });
  return out;
}

Shape shape_of(const std::string& kind) {
  using Like = Shape::Like;
  if (kind == "empty") return {1, 1, 0, 0};
  if (kind == "one-rank") return {1, 1, 40, 3};
  if (kind == "one-step") return {16, 2, 1, 3};
  if (kind == "regions") return {12, 2, 50, 2000};
  if (kind == "full") return {48, 4, 120, 6, true};
  if (kind == "exact") return {12, 2, 40, 3, false, true};
  if (kind == "shared") return {100, 5, 90, 5, false, false, true};
  if (kind == "like-amr") return {64, 4, 150, 12, false, false, false, Like::amr};
  if (kind == "like-md") return {32, 2, 200, 32, false, false, true, Like::md};
  if (kind == "like-pic") return {32, 1, 200, 5, false, false, false, Like::pic};
  if (kind == "jolt") return {24, 2, 60, 3, false, false, false, Like::mesh, 0};
  if (kind == "halo" || kind == "halo-large" || kind == "waits" || kind == "followed") {
    Shape shape = kind == "halo-large" ? Shape{16384, 128, 80, 3} : Shape{48, 4, 80, 3};
    shape.halo = kind.starts_with("halo");
    shape.wait_metrics = kind == "followed" ? 6 : 3;
    return shape;
  }
  if (kind == "wide") return {4096, 8, 512, 3};
  if (kind == "large") return {16384, 128, 1024, 32};
  if (kind == "large-shared") return {16384, 64, 1024, 32, false, false, true};
  std::fprintf(stderr, "make_snapshot: unknown kind '%s'\n", kind.c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: make_snapshot KIND OUT.effort\n"), 2;
  const Shape shape = shape_of(argv[1]);
  std::filesystem::remove(argv[2]);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  record::Run run = run_of(shape, argv[1]);
  std::vector<Part> parts(static_cast<std::size_t>(shape.nodes));
  std::atomic<std::int32_t> next{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < (shape.ranks > 1000 ? 2 : 1); ++t)
    threads.emplace_back([&] {
      for (std::int32_t node = next++; node < shape.nodes; node = next++)
        parts[static_cast<std::size_t>(node)] = part_of(shape, run, node);
    });
  for (std::thread& t : threads) t.join();
  finish_series(run, parts);
  finish_steps(run, parts);
  std::vector<std::vector<std::byte>> coded;
  for (const Part& part : parts) coded.push_back(record::encode_part(part.part));
  if (shape.united) coded.push_back(united_part(shape, run));
  record::write_file(argv[2], record::encode(run, coded));
  return 0;
}
