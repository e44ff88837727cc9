#include "sample_run.hpp"

#include "record/writer.hpp"

namespace effort::record::test {

namespace {

std::vector<std::byte> bytes(int count, int seed) {
  std::vector<std::byte> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<std::byte>((i * 37 + seed * 101) & 0xff));
  return out;
}

Series series(const char* region, Kind kind, const char* phase, std::uint32_t metric, double total) {
  Series s;
  s.region = region;
  s.kind = kind;
  s.phase = phase;
  s.metric = metric;
  s.total = total;
  s.mean_over_ranks = total / 5;
  s.max_over_ranks = total / 3;
  s.max_rank = static_cast<std::int32_t>(metric) + 2;
  s.imbalance = 5.0 / 3 - 1;
  s.nrmse = 0.01 / (1 + metric);
  return s;
}

Window window(std::int64_t first, std::int64_t last) {
  Window w;
  w.first = first;
  w.last = last;
  double value = 0.31 + static_cast<double>(first);
#define EFFORT_NUMBER(name, unknown, unit, meaning) w.name = value /= 1.1;
  EFFORT_WINDOW_NUMBERS(EFFORT_NUMBER)
#undef EFFORT_NUMBER
  if (first == 0) w.rebalance_cost = w.prediction_error = absent;
  w.rebalance = first == 0;
  w.rebalanced = first == 0;
  w.rebalanced_at = first == 0 ? 12 : -1;
  w.rebalances = first == 0 ? 3 : 0;
  w.strata = 2;
  w.advice = 128;
  w.worst_rank = 3;
  w.worst_region_name = "solve";
  w.wait_seconds = 2.5e-6;
  w.samples_unified = 4;
  w.samples_stratified = 3;
  return w;
}

Strata strata() {
  Strata s;
  s.first = 10;
  s.last = 19;
  s.label = {0, 1, 0, 1, 1};
  s.medoid_rank = {2, 3};
  s.region = {"solve", "halo"};
  s.region_load = {0.5, 0.01, 0.75, 0.02};
  return s;
}

}  // namespace

Run sample_run() {
  Run run;
  run.version = "0.1.0";
  run.name = "advect";
  run.job = "4711";
  const std::vector<std::int32_t> nodes = {0, 0, 1, 1, 0};
  run.place(nodes);
  run.steps = 24;
  run.window = 10;
  run.hint_lag = 3;
  run.load_metric = "cpu_time";
  run.wall_seconds = 12.75;
  run.critical_path = 9.875;
  run.mean_path = 1.0 / 3;
  run.step_loads = bytes(40, 9);
  run.merged_steps = 6;
  run.lost_snapshots = 1;
  run.own_cpu_seconds = {0.011, 0.013};
  run.own_bytes = {1 << 20, 1 << 21};
  run.metrics = {{"time", "s"}, {"cpu_time", "s"}};
  run.modules = {{"advect", "/opt/bin/advect", "0123abcd"}, {"libmesh.so.1", "/opt/lib/libmesh.so.1", ""}};
  run.series = {series("solve", Kind::compute, "", 0, 10.5), series("solve", Kind::compute, "", 1, 9.25),
                series("halo\nexchange", Kind::comm, "late", 0, 1.0 / 3)};
  run.windows = {window(0, 9), window(10, 19)};
  run.strata = {strata()};
  run.moves = {{0, 9, 3, {{0, 1, 2}, {3, 2, 0}}}};
  run.unit_costs = {{"cells", 1.5e-8, 2e-10}, {"particles", absent, absent}};
  run.window_costs = {{0, "cells", 1.25e-8, absent}, {10, "cells", 1.5e-8, 2e-10}};
  run.speeds = {{2, 1}, {3, 1.3}};
  run.notes = {"6 steps merged: a ring was full", "caf\xe9"};
  return run;
}

std::vector<NodePart> sample_parts() {
  NodePart first{0, {{0, 0, bytes(90, 1)}, {1, 0, bytes(1, 2)}, {2, 5, bytes(33, 3)}}, {}};
  ExactBlock early{0, 2, {0, 2}, {1, 2, 3, 4, 5, 6, 0, -1, 1e300, 5e-324, 0.1, 12}};
  ExactBlock late{2, 1, {1}, {7.5, 8.5, 9.5}};
  first.exact = {early, late};
  NodePart second{1, {{0, 0, bytes(200, 4)}, {2, 24, {}}}, {}};
  second.traffic = {{"MPI_Send [a+0x1]", "MPI_Recv [a+0x2]"},
                    {{0, 2, 3, 0, 12, 4096, 0.25}, {0, 3, 2, 1, 1, 8, 1e-6}, {1, 2, 0, 0, 3, 24, 0}}};
  return {first, second};
}

std::vector<std::byte> sample_file() {
  std::vector<std::vector<std::byte>> parts;
  for (const NodePart& part : sample_parts()) parts.push_back(encode_part(part));
  return encode(sample_run(), parts);
}

}  // namespace effort::record::test
