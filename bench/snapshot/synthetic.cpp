// bench_snapshot OUT.effort [RANKS 16384] [STEPS 1024] [REGIONS 32] [NODES 64] [SHAPES 16]
//
// The run has a front of work that moves through the ranks, slow nodes, noise, and communication that fills the rest of
// a step.  Nodes share SHAPES different histories per region, so writing takes only a minute, but reading takes as long
// as for a real run.
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "analytics/codec/history.hpp"
#include "record/writer.hpp"

namespace {

namespace codec = effort::codec;
namespace record = effort::record;

struct Size {
  int ranks = 16384, steps = 1024, regions = 32, nodes = 64, shapes = 16;
  int local() const { return ranks / nodes; }
};

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Seconds of a rank of a shape in a step.
double load(const Size& size, int region, int shape, int row, int step) {
  const double where = (shape + static_cast<double>(row) / size.local()) / size.shapes,
               when = static_cast<double>(step) / size.steps;
  const double distance = 8 * (where - when - 0.02 * region);
  const double front = std::exp(-distance * distance);
  const double noise = static_cast<double>(mix(static_cast<std::uint64_t>(region) << 40 |
                                               static_cast<std::uint64_t>(shape * size.local() + row) << 20 |
                                               static_cast<std::uint64_t>(step)) >>
                                           11) *
                       0x1p-53;
  const double slow = shape % 7 == 3 ? 1.15 : 1.0;
  return 1e-3 / (1 + region) * slow * (region % 4 == 3 ? 2 - front : 1 + front) * (0.97 + 0.06 * noise);
}

struct Sums {
  double total = 0, largest = 0;
  int row = 0;
};

std::vector<std::byte> history_of(const Size& size, int region, int shape, Sums& sums) {
  constexpr int window = 64;
  const auto rows = static_cast<std::size_t>(size.local());
  codec::History history(rows, codec::Target::passes(5));
  std::vector<double> of_row(rows);
  for (int first = 0; first < size.steps; first += window) {
    const int count = std::min(window, size.steps - first);
    std::vector<double> block;
    for (std::size_t row = 0; row < rows; ++row) {
      for (int step = first; step < first + count; ++step) {
        block.push_back(load(size, region, shape, static_cast<int>(row), step));
        of_row[row] += block.back();
      }
    }
    history.append(block, static_cast<std::size_t>(count));
  }
  for (std::size_t row = 0; row < rows; ++row) {
    sums.total += of_row[row];
    if (of_row[row] > sums.largest) sums.row = static_cast<int>(row);
    sums.largest = std::max(sums.largest, of_row[row]);
  }
  return history.serialize_final();
}

record::Series series_of(const Size& size, int region, const std::vector<Sums>& sums) {
  static const std::array<const char*, 8> names = {"advance", "reaction", "diffusion", "halo",
                                                   "gravity", "assemble", "solve",     "allreduce"};
  record::Series s;
  s.region = std::string(names[static_cast<std::size_t>(region) % names.size()]) +
             (region < 8 ? "" : "_" + std::to_string(region / 8));
  s.kind = region % 4 == 3 ? (region % 8 == 3 ? record::Kind::comm : record::Kind::wait) : record::Kind::compute;
  for (int node = 0; node < size.nodes; ++node) {
    const Sums& part = sums[static_cast<std::size_t>(node % size.shapes)];
    s.total += part.total;
    if (part.largest > s.max_over_ranks) s.max_rank = node * size.local() + part.row;
    s.max_over_ranks = std::max(s.max_over_ranks, part.largest);
  }
  s.mean_over_ranks = s.total / size.ranks;
  s.imbalance = s.max_over_ranks / s.mean_over_ranks - 1;
  return s;
}

void add_windows(const Size& size, record::Run& run) {
  for (int first = 0; first < size.steps; first += run.window) {
    record::Window w;
    w.first = first;
    w.last = std::min(first + run.window, size.steps) - 1;
    w.imbalance = 0.35 + 0.1 * std::sin(0.05 * first);
    w.load_balance = 1 / (1 + w.imbalance);
    w.communication_efficiency = 0.9;
    w.parallel_efficiency = 0.9 * w.load_balance;
    w.ideal_saving = 0.2;
    w.gain_per_step = 1e-3 * w.imbalance;
    w.rebalance_cost = first > 200 ? 0.05 : -1;
    w.rebalance = first / run.window % 10 == 4;
    w.rebalanced = first / run.window % 20 == 4;
    w.rebalanced_at = w.rebalanced ? w.last + 3 : -1;
    w.strata = 2;
    w.prediction_error = first == 0 ? record::absent : 0.03;
    w.worst_rank = first * 7 % size.ranks;
    w.worst_region_name = "advance";
    run.windows.push_back(w);
  }
}

record::Run run_of(const Size& size) {
  record::Run run;
  run.version = "0.1.0";
  run.name = "synthetic";
  run.job = std::to_string(size.ranks);
  std::vector<std::int32_t> node_of_rank;
  for (int rank = 0; rank < size.ranks; ++rank) node_of_rank.push_back(rank / size.local());
  run.place(node_of_rank);
  run.steps = size.steps;
  run.load_metric = "time";
  run.metrics = {{"time", "s"}};
  run.wall_seconds = 6e-3 * size.steps;
  run.own_cpu_seconds.assign(static_cast<std::size_t>(size.nodes), 0.5);
  run.own_bytes.assign(static_cast<std::size_t>(size.nodes), 1 << 24);
  add_windows(size, run);
  record::Strata strata;
  strata.first = run.windows.empty() ? 0 : run.windows.back().first;
  strata.last = size.steps - 1;
  for (int rank = 0; rank < size.ranks; ++rank)
    strata.label.push_back(node_of_rank[static_cast<std::size_t>(rank)] % size.shapes % 7 == 3);
  strata.medoid_rank = {0, std::min(3 * size.local(), size.ranks - 1)};
  strata.region = {"advance"};
  strata.region_load = {1.2e-3, 1.4e-3};
  run.strata = {strata};
  run.unit_costs = {{"cells", 2e-7, 1e-9}};
  return run;
}

void write(const Size& size, const std::string& path) {
  record::Run run = run_of(size);
  std::vector<record::NodePart> parts(static_cast<std::size_t>(size.nodes));
  for (int region = 0; region < size.regions; ++region) {
    std::vector<Sums> sums(static_cast<std::size_t>(size.shapes));
    std::vector<std::vector<std::byte>> histories;
    for (int shape = 0; shape < std::min(size.shapes, size.nodes); ++shape)
      histories.push_back(history_of(size, region, shape, sums[static_cast<std::size_t>(shape)]));
    for (int node = 0; node < size.nodes; ++node) {
      parts[static_cast<std::size_t>(node)].node = node;
      parts[static_cast<std::size_t>(node)].tiles.push_back(
          {static_cast<std::uint32_t>(region), 0, histories[static_cast<std::size_t>(node % size.shapes)]});
    }
    run.series.push_back(series_of(size, region, sums));
  }
  std::vector<std::vector<std::byte>> encoded;
  for (const record::NodePart& part : parts) encoded.push_back(record::encode_part(part));
  const std::vector<std::byte> bytes = record::encode(run, encoded);
  record::write_file(path, bytes);
  std::printf("%zu bytes\n", bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_snapshot OUT.effort [RANKS] [STEPS] [REGIONS] [NODES] [SHAPES]\n");
    return 2;
  }
  Size size;
  const std::array<int*, 5> fields = {&size.ranks, &size.steps, &size.regions, &size.nodes, &size.shapes};
  for (int i = 2; i < argc && i < 7; ++i) *fields[static_cast<std::size_t>(i - 2)] = std::max(1, std::atoi(argv[i]));
  const Kokkos::ScopeGuard kokkos(argc, argv);
  try {
    write(size, argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_snapshot: %s\n", e.what());
    return 1;
  }
  return 0;
}
